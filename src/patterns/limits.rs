//! Limits as a log shows them: `ulimit -a`, `/proc/PID/limits`, `prlimit`, and `ipcs -l` for shared memory of System V.
//!
//! System V shared memory has nothing to do with /dev/shm: neither its limits nor its segments say anything about the fill of
//! that file system, so that the rows of `ipcs -m` are not read.

use super::{Caps, Pattern};
use crate::fact::{Ceiling, Claim, What, Witness};

/// The ceiling that a word of one of the tables names, with the bytes that one of its units stands for.
fn named(word: &str) -> Option<(Ceiling, u64)> {
    Some(match word {
        "open files" | "nofiles" | "file descriptors" | "Max open files" | "NOFILE" => (Ceiling::OpenFiles, 1),
        "max user processes" | "process" | "processes" | "Max processes" | "NPROC" | "RLIMIT_NPROC" => (Ceiling::Processes, 1),
        "virtual memory" | "vmemory(kbytes)" | "address space" => (Ceiling::AddressSpace, 1024),
        "Max address space" | "AS" => (Ceiling::AddressSpace, 1),
        "data seg size" | "data(kbytes)" => (Ceiling::Data, 1024),
        "Max data size" | "DATA" => (Ceiling::Data, 1),
        "max locked memory" | "locked memory(kbytes)" | "locked-in-memory size" => (Ceiling::LockedMemory, 1024),
        "Max locked memory" | "MEMLOCK" => (Ceiling::LockedMemory, 1),
        // Blocks of 512 or 1024 bytes, by the shell and its mode; only nothing, something and everything matter.
        "core file size" | "coredump(blocks)" => (Ceiling::CoreDump, 512),
        "Max core file size" | "CORE" => (Ceiling::CoreDump, 1),
        "max seg size" => (Ceiling::Segment, 1024),
        "max total shared memory" => (Ceiling::AllSegments, 1024),
        "max number of segments" => (Ceiling::Segments, 1),
        _ => return None,
    })
}

/// What is so large that the kernel means no limit by it: `ipcs` prints SHMMAX and SHMALL so since Linux 3.16.
const ENDLESS: u64 = 1 << 60;

fn ceiling(c: &Caps<'_>) -> Vec<Claim> {
    let Some((of, unit)) = c.get("name").and_then(named) else { return Vec::new() };
    let value = match c.get("value") {
        Some("unlimited" | "-1") => None,
        Some(digits) => match digits.parse::<u64>() {
            Ok(number) => Some(number.saturating_mul(unit)).filter(|value| *value < ENDLESS),
            Err(_) => return Vec::new(),
        },
        None => return Vec::new(),
    };
    vec![Claim::bare(What::Ceiling { of, value })]
}

pub(super) const TABLE: &[Pattern] = &[
    // bash's builtins/ulimit.def, any version.
    Pattern {
        id: "limits/bash",
        witness: Witness::Program,
        stems: &["(blocks, -c) ", "(kbytes, -d) ", "(kbytes, -l) ", " (-n) ", " (-u) ", "(kbytes, -v) "],
        regex: r"^(?<name>core file size|data seg size|max locked memory|open files|max user processes|virtual memory) +\((?:(?:blocks|kbytes), )?-[cdlnuv]\) +(?<value>\d+|unlimited)\s*$",
        read: ceiling,
        samples: &[
            "core file size              (blocks, -c) 0",
            "data seg size               (kbytes, -d) unlimited",
            "max locked memory           (kbytes, -l) 8192",
            "open files                          (-n) 1024",
            "max user processes                  (-u) 96364",
            "virtual memory              (kbytes, -v) 8388608",
        ],
        near_misses: &["stack size                  (kbytes, -s) 8192", "raise open files (-n) 1024 with ulimit"],
    },
    // dash's src/miscbltin.c and zsh's Builtins/rlimits.c, any version.
    Pattern {
        id: "limits/shells",
        witness: Witness::Program,
        stems: &[
            "nofiles  ",
            "process  ",
            "vmemory(kbytes) ",
            "data(kbytes) ",
            "coredump(blocks) ",
            "locked memory(kbytes) ",
            "-n: file descriptors",
            "-u: processes",
            "-v: address space",
            "-d: data seg size",
            "-l: locked-in-memory size",
        ],
        regex: r"^(?:-[ndulv]: +)?(?<name>nofiles|process|vmemory\(kbytes\)|data\(kbytes\)|coredump\(blocks\)|locked memory\(kbytes\)|file descriptors|processes|address space|data seg size|locked-in-memory size)(?: \(kbytes\))? +(?<value>\d+|unlimited)\s*$",
        read: ceiling,
        samples: &[
            "nofiles              20000",
            "process              96364",
            "vmemory(kbytes)      unlimited",
            "locked memory(kbytes) 8192",
            "-n: file descriptors                1024",
            "-v: address space (kbytes)          8388608",
        ],
        near_misses: &["process 12 exited", "nofiles: 20000", "-n: number of workers 8"],
    },
    // Linux fs/proc/base.c: soft limit, hard limit, unit.
    Pattern {
        id: "limits/proc",
        witness: Witness::Program,
        stems: &[
            "Max open files ",
            "Max processes ",
            "Max address space ",
            "Max data size ",
            "Max locked memory ",
            "Max core file size ",
        ],
        regex: r"^(?<name>Max (?:open files|processes|address space|data size|locked memory|core file size)) +(?<value>\d+|unlimited) +(?:\d+|unlimited) +(?:files|processes|bytes)\s*$",
        read: ceiling,
        samples: &[
            "Max open files            1024                 1048576              files     ",
            "Max processes             96364                96364                processes ",
            "Max address space         unlimited            unlimited            bytes     ",
        ],
        near_misses: &["Max open files: 1024", "Max stack size            8388608              unlimited            bytes     "],
    },
    // util-linux 2.21 and later.
    Pattern {
        id: "limits/prlimit",
        witness: Witness::Program,
        stems: &["max number of ", " address space ", "max data ", "max size of ", "max core file size"],
        regex: r"^(?<name>NOFILE|NPROC|AS|DATA|MEMLOCK|CORE) +(?:max )?(?:number of|address space|data|locked-in-memory|core file)[a-z -]* {2,}(?<value>\d+|unlimited) +(?:\d+|unlimited) (?:files|processes|bytes)\s*$",
        read: ceiling,
        samples: &[
            "NOFILE     max number of open files               20000     20000 files",
            "AS         address space limit                unlimited unlimited bytes",
            "MEMLOCK    max locked-in-memory address space   8388608   8388608 bytes",
        ],
        near_misses: &["NOFILE 1024", "DATA loader ready"],
    },
    // OpenBLAS driver/others/blas_server.c, below its word on a thread that could not be started.
    Pattern {
        id: "limits/openblas",
        witness: Witness::Program,
        stems: &["blas_thread_init: RLIMIT_NPROC "],
        regex: r"^OpenBLAS blas_thread_init: (?<name>RLIMIT_NPROC) (?<value>\d+|-1) current, (?:\d+|-1) max\s*$",
        read: ceiling,
        samples: &["OpenBLAS blas_thread_init: RLIMIT_NPROC 1024 current, 1024 max"],
        near_misses: &["OpenBLAS blas_thread_init: RLIMIT_NPROC unknown"],
    },
    // util-linux sys-utils/ipcs.c: `ipcs -l` and `ipcs -lm`.
    Pattern {
        id: "limits/ipcs",
        witness: Witness::Program,
        stems: &["max seg size (kbytes) = ", "max total shared memory (kbytes) = ", "max number of segments = "],
        regex: r"^(?<name>max seg size|max total shared memory|max number of segments)(?: \(kbytes\))? = (?<value>\d+)\s*$",
        read: ceiling,
        samples: &[
            "max seg size (kbytes) = 18014398509465599",
            "max total shared memory (kbytes) = 8388608",
            "max number of segments = 4096",
        ],
        near_misses: &["max seg size (bytes) = 65536", "------ Shared Memory Limits --------"],
    },
];
