//! Listings of /dev/shm: what a refused request leaves behind.

use super::{Caps, Pattern};
use crate::fact::{Claim, Setting, What, Witness};

/// The size of the file is the request; a listing does not know when it was made, so it tells of no death.
fn refused(c: &Caps<'_>) -> Vec<Claim> {
    let setting = Setting::RefusedBytes;
    c.num("bytes").map(|value| Claim::bare(What::Setting { setting, value })).into_iter().collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // `ls -ls` of coreutils and busybox. PyTorch 1.13 and later call their files torch_PID_RANDOM_COUNTER; one of 0 blocks was
    // given its size and refused its pages (seen with 2.15: 33554432 for a batch of 32 MiB).
    Pattern {
        id: "ls/empty-torch-file",
        witness: Witness::Program,
        stems: &[" torch_", "/torch_"],
        regex: r"^\s*0 -rw[-rwx]{7}[.+]? +\d+ +\S+ +\S+ +(?<bytes>[1-9]\d*) .*\d (?:/dev/shm/)?torch_\d+_\d+(?:_\d+)?$",
        read: refused,
        samples: &[
            "0 -rw-r--r-- 1 root root 33554432 Dec  1 10:28 /dev/shm/torch_13_1201845540_0",
            "    0 -rw-------  1 1000 1000 602112 2026-11-30 06:36 torch_814_22014_3",
        ],
        near_misses: &[
            "32768 -rw-r--r-- 1 root root 33554432 Dec  1 10:28 /dev/shm/torch_13_1201845540_0",
            "-rw-r--r-- 1 root root 33554432 Dec  1 10:28 torch_13_1201845540_0",
            "0 -rw-r--r-- 1 root root 0 Dec  1 10:28 torch_13_1201845540_0",
        ],
    },
];
