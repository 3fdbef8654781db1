//! Room as a log shows it: `df`, `free`, `mount`, banners, and the options of an echoed `docker run`.

use super::{Caps, Pattern};
use crate::fact::{Claim, Shm, What, Witness};
use crate::units::Bytes;

/// A number of a table whose unit may stand in its heading only.
fn cell(text: &str, bare: fn(u64) -> Bytes) -> Option<Bytes> {
    // Some languages write the decimal point as a comma.
    let text = text.replace(',', ".");
    match text.parse::<u64>() {
        Ok(number) => Some(bare(number)),
        Err(_) => text.parse().ok(),
    }
}

fn filesystem(c: &Caps<'_>) -> Vec<Claim> {
    let (Some(size), Some(used), Some(mount)) = (c.get("size"), c.get("used"), c.text("mount")) else { return Vec::new() };
    // Bare numbers are KiB blocks, unless that would make a file system smaller than a MiB: then they are MiB (`df -m`).
    let bare: fn(u64) -> Bytes = match size.parse::<u64>() {
        Ok(number) if number < 1024 => Bytes::mib,
        _ => Bytes::kib,
    };
    match (cell(size, bare), cell(used, bare)) {
        // `podman run --shm-size=0` mounts without a limit, which df shows as 0.
        (Some(Bytes(0)), _) => Vec::new(),
        (Some(size), Some(used)) => vec![Claim::bare(What::Filesystem { mount, size, used })],
        _ => Vec::new(),
    }
}

fn memory(c: &Caps<'_>) -> Vec<Claim> {
    let total = c.get("total").unwrap_or_default();
    // Bare numbers are KiB, MiB (`-m`) or GiB (`-g`): the unit that makes a machine of at least a GiB.
    let bare: fn(u64) -> Bytes = match total.parse::<u64>() {
        Ok(number) if number < 1 << 10 => |n| Bytes::mib(n.saturating_mul(1 << 10)),
        Ok(number) if number < 1 << 20 => Bytes::mib,
        _ => Bytes::kib,
    };
    let available = c.get("available").and_then(|text| cell(text, bare));
    cell(total, bare).map(|total| Claim::bare(What::Memory { total, available })).into_iter().collect()
}

/// The size of a file system and what is used of it, from numbers with names.
fn usage(text: &str) -> Option<What> {
    let value = |key: &str| {
        let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '=')));
        words
            .filter_map(|word| word.split_once('='))
            .find_map(|(name, value)| (name == key).then(|| value.parse::<u64>().ok())?)
    };
    let either = |key: &str| value(key).or_else(|| value(&format!("f_{key}")));
    let (size, used) =
        match (value("total"), value("used").or_else(|| Some(value("total")? - value("free")?.min(value("total")?)))) {
            (Some(total), Some(used)) => (total, used),
            _ => {
                let (unit, blocks, free) = (value("f_frsize").or_else(|| either("bsize"))?, either("blocks")?, either("bavail")?);
                (blocks.checked_mul(unit)?, blocks.saturating_sub(free).checked_mul(unit)?)
            }
        };
    (size > 0).then(|| What::Filesystem { mount: "/dev/shm".to_owned(), size: Bytes(size), used: Bytes(used) })
}

/// The options of a command line that set shared memory and memory.
fn options(c: &Caps<'_>) -> Vec<Claim> {
    let mut claims = Vec::new();
    let mut words = c.line.text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let (key, value) = match word.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (word, words.peek().copied()),
        };
        let value = value.map(|value| value.trim_matches(['"', '\'']));
        let size = || value.and_then(|value| value.parse::<Bytes>().ok());
        match key {
            "--shm-size" => claims.extend(size().map(|size| What::ShmOption(Shm::Sized(size)))),
            "--ipc" if value == Some("host") => claims.push(What::ShmOption(Shm::Host)),
            "--memory" | "-m" => claims.extend(size().map(What::MemoryOption)),
            _ => {}
        }
    }
    claims.into_iter().map(Claim::bare).collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // coreutils, busybox and BSD; the file system's type is a column of `df -T`. Scripts put a row of it behind words of theirs.
    Pattern {
        id: "resources/df",
        witness: Witness::Program,
        stems: &[
            "% /", "  0% /", "  1% /", "  2% /", "  3% /", "  4% /", "  5% /", "  6% /", "  7% /", "  8% /", "  9% /", " 10% /",
            " 11% /", " 12% /", " 13% /", " 14% /", " 15% /", " 16% /", " 17% /", " 18% /", " 19% /", " 20% /", " 21% /",
            " 22% /", " 23% /", " 24% /", " 25% /", " 26% /", " 27% /", " 28% /", " 29% /", " 30% /", " 31% /", " 32% /",
            " 33% /", " 34% /", " 35% /", " 36% /", " 37% /", " 38% /", " 39% /", " 40% /", " 41% /", " 42% /", " 43% /",
            " 44% /", " 45% /", " 46% /", " 47% /", " 48% /", " 49% /", " 50% /", " 51% /", " 52% /", " 53% /", " 54% /",
            " 55% /", " 56% /", " 57% /", " 58% /", " 59% /", " 60% /", " 61% /", " 62% /", " 63% /", " 64% /", " 65% /",
            " 66% /", " 67% /", " 68% /", " 69% /", " 70% /", " 71% /", " 72% /", " 73% /", " 74% /", " 75% /", " 76% /",
            " 77% /", " 78% /", " 79% /", " 80% /", " 81% /", " 82% /", " 83% /", " 84% /", " 85% /", " 86% /", " 87% /",
            " 88% /", " 89% /", " 90% /", " 91% /", " 92% /", " 93% /", " 94% /", " 95% /", " 96% /", " 97% /", " 98% /",
            " 99% /", "100% /",
        ],
        regex: r#"^(?:[^"'`#]*[|:,] )?\S+(?:\s+[a-z][\w.]*)?\s+(?<size>\d+(?:[.,]\d+)?[KMGTP]?i?B?)\s+(?<used>\d+(?:[.,]\d+)?[KMGTP]?i?B?)\s+\d+(?:[.,]\d+)?[KMGTP]?i?B?\s+\d+%\s+(?<mount>/[^\s"\\]*)\s*$"#,
        read: filesystem,
        samples: &[
            "shm              64M   64M     0 100% /dev/shm",
            "shm                65536 65536         0 100% /dev/shm",
            "shm                  tmpfs          64.0M         0     64.0M   0% /dev/shm",
            "/dev/rbd3        49G   49G     0 100% /prometheus",
            "temp folder was /dev/shm/joblib_memmapping_folder_2041, df: shm 64M 64M 0 100% /dev/shm",
        ],
        near_misses: &[
            r#"{"log":"tmpfs           256M     0  256M   0% /dev/shm\n","stream":"stdout","time":"2026-12-01T06:41:42.479324423Z"}"#,
            "Filesystem      Size  Used Avail Use% Mounted on",
            "epoch 3 64M 32M 0 100% /dev/shm is full",
        ],
    },
    // Python's `shutil.disk_usage` and `os.statvfs`, as programs print their answers for /dev/shm.
    Pattern {
        id: "resources/usage",
        witness: Witness::Program,
        stems: &["/dev/shm"],
        regex: r"^[^#`]*/dev/shm\b[^#`]*$",
        read: |c| usage(&c.line.text).map(Claim::bare).into_iter().collect(),
        samples: &[
            "shm: total=67108864 used=66584576 free=524288 (/dev/shm)",
            "/dev/shm: usage(total=67108864, used=0, free=67108864)",
            "/dev/shm statvfs: blocks=16384 bsize=4096 bavail=16384",
            "statvfs('/dev/shm') = os.statvfs_result(f_bsize=4096, f_frsize=4096, f_blocks=16384, f_bfree=16300, f_bavail=16300, f_files=1, f_ffree=1, f_favail=1, f_flag=6, f_namemax=255)",
        ],
        near_misses: &[
            "# /dev/shm: usage(total=67108864, used=0, free=67108864)",
            "/dev/shm free=lots",
            "/tmp: usage(total=1, used=0, free=1)",
        ],
    },
    // procps; the sixth number is `available` from 3.3.10.
    Pattern {
        id: "resources/free",
        witness: Witness::Program,
        stems: &["Mem:  "],
        regex: r"^Mem: {2,}(?<total>\d+(?:[.,]\d+)?[KMGTP]?i?B?)\s+\S+\s+\S+\s+\S+\s+\S+\s+(?<available>\d+(?:[.,]\d+)?[KMGTP]?i?B?)\s*$",
        read: memory,
        samples: &[
            "Mem:            15Gi       3.2Gi       1.1Gi       312Mi        11Gi        11Gi",
            "Mem:       65806520    12011232    40210120      311020    13585168    52882212",
        ],
        near_misses: &["Mem: 7.2G, batch 16", "Mem:  total used free"],
    },
    // Any program's own words about a file that it makes or fills there.
    Pattern {
        id: "resources/shm-use",
        witness: Witness::Program,
        stems: &[" /dev/shm/", "'/dev/shm/", "\"/dev/shm/"],
        regex: r#"^(?:[^#"'`]*[\s:\]])?(?i:ftruncate|mmap(?:ed|ing)?|fill(?:ed|ing)?|writ(?:e|es|ing|ten)|cach(?:e|ed|ing)|cop(?:y|ied|ying)|extract(?:ed|ing)?|stag(?:e|ed|ing)|unpack(?:ed|ing)?|allocat(?:e|ed|ing)|creat(?:e|ed|ing)|preload(?:ed|ing)?|load(?:ed|ing)?) (?:[^#`]{0,80}\b(?:to|into|in|at|from|file) )?["']?/dev/shm/[\w.-]+[^`]*$"#,
        // What failed there is somebody else's wording.
        read: |c| {
            let failed = ["rror", "No space left", "annot", "ailed"].iter().any(|word| c.line.text.contains(word));
            if failed { Vec::new() } else { vec![Claim::bare(What::ShmUse)] }
        },
        samples: &[
            "pid 1: ftruncate /dev/shm/lab_1_seg to 200 MiB succeeded",
            "INFO caching shard 12 into /dev/shm/imagenet-12.bin",
            "copying 40 files to /dev/shm/data",
        ],
        near_misses: &[
            "dd: error writing '/dev/shm/x': No space left on device",
            "# copy the data to /dev/shm/data first",
            "tmpfs on /dev/shm type tmpfs (rw,nosuid,nodev)",
        ],
    },
    // Calls that make objects in /dev/shm, where a program or its stack names one: Python's shared_memory (3.8 and later) and
    // its resource tracker, Julia's SharedArrays, R's mori, MPI's shared windows, and Intel MPI's count of its own segments.
    Pattern {
        id: "resources/shm-call",
        witness: Witness::Program,
        stems: &[
            "SharedMemory(create=True",
            "multiprocessing.shared_memory",
            " leaked shared_memory objects",
            "SharedArray{",
            "mori::share(",
            "MPI_Win_allocate_shared",
            "MPI startup(): shm segment size (",
        ],
        regex: concat!(
            r#"^(?:[^#"'`]*?[^\w.#"'`])?(?:SharedMemory\(create=True\b|multiprocessing\.shared_memory(?: |$)|\d+ leaked shared_memory objects|SharedArray\{\w+\}\("#,
            r"|mori::share\(|MPI_Win_allocate_shared\b|MPI startup\(\): shm segment size \()[^`]*$"
        ),
        read: |c| if c.line.text.contains("import ") { Vec::new() } else { vec![Claim::bare(What::ShmUse)] },
        samples: &[
            "SharedMemory(create=True, size=268435456) -> psm_5a1c33e0",
            "sharing embeddings through multiprocessing.shared_memory (180 MB)",
            "/usr/local/lib/python3.11/multiprocessing/resource_tracker.py:254: UserWarning: resource_tracker: There appear to be 61 leaked shared_memory objects to clean up at shutdown",
            "[ Info: allocating SharedArray{Float64}(5213, 5213, 2)",
            " 1: mori::share(X)",
            "[rank 2] opening MPI shared window: 12.5 GB (MPI_Win_allocate_shared)",
            "[0] MPI startup(): shm segment size (1068 MB per rank) * (4 local ranks) = 4275 MB total",
        ],
        near_misses: &[
            "from multiprocessing.shared_memory import SharedMemory",
            "# SharedMemory(create=True, size=n)",
            "    shm = 'SharedMemory(create=True, size=n)'",
        ],
    },
    // `mount` and /proc/mounts.
    Pattern {
        id: "resources/mount",
        witness: Witness::Program,
        stems: &[" /dev/shm "],
        regex: r"^\S+ (?:on )?/dev/shm (?:type )?tmpfs \(?[\w=,%/:]*\bsize=(?<size>\d+[kmgKMG]?)\b[^ )]*\)?(?: 0 0)?\s*$",
        read: |c| c.bytes("size").map(|size| Claim::bare(What::ShmOption(Shm::Sized(size)))).into_iter().collect(),
        samples: &[
            "shm on /dev/shm type tmpfs (rw,nosuid,nodev,noexec,relatime,size=65536k)",
            "shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k,inode64 0 0",
        ],
        near_misses: &["tmpfs on /dev/shm type tmpfs (rw,nosuid,nodev)", "shm on /dev/shm type tmpfs (rw,size=<n>)"],
    },
    // An echoed command: the trace of `set -x`, a prompt, or nothing before it. NVIDIA's banner shows an indented example.
    Pattern {
        id: "resources/run",
        witness: Witness::Program,
        stems: &["docker run ", "podman run ", "nerdctl run ", "docker create ", "docker container run "],
        regex: r"^(?:\++ |[\w@:~/.-]*\$ )?(?:sudo (?:-\w+ )*)?(?:nvidia-docker|docker|podman|nerdctl) (?:container )?(?:run|create) (?:.*\s)?(?:--shm-size[= ]|--ipc[= ]host|--memory[= ]|-m[ =]?\d).*[^.…\s]\s*$",
        read: options,
        samples: &[
            "+ sudo docker run --gpus all --runtime=runsc --shm-size=128g --ulimit memlock=-1 sha256:ed0dd99941b345cc53657e1f85d59ada53082e6482987b6f9fd3ca0e3de56c89",
            "$ docker run --rm --ipc=host --memory 4g trainer:1 python train.py",
        ],
        near_misses: &[
            "   docker run --gpus all --ipc=host --ulimit memlock=-1 --ulimit stack=67108864 ...",
            "If you are inside a Docker container, you can increase /dev/shm size by passing '--shm-size=8gb' to 'docker run' ",
        ],
    },
    // docker-compose.yml, as printed by `docker compose config` or `cat`.
    Pattern {
        id: "resources/compose",
        witness: Witness::Program,
        stems: &["shm_size: "],
        regex: r#"^\s*shm_size: ["']?(?<size>\d+(?:\.\d+)?\s?[a-zA-Z]*)["']?\s*$"#,
        read: |c| c.bytes("size").map(|size| Claim::bare(What::ShmOption(Shm::Sized(size)))).into_iter().collect(),
        samples: &["    shm_size: 8gb", "shm_size: '2gb'"],
        near_misses: &["shm_size: ${SHM}", "set shm_size: 8gb in your compose file"],
    },
    // The entry point of NVIDIA's images.
    Pattern {
        id: "resources/nvidia",
        witness: Witness::Program,
        stems: &["SHMEM allocation limit is set to the default of "],
        regex: r"^(?:NOTE: )?The SHMEM allocation limit is set to the default of (?<size>\d+ ?[KMG]B)\.",
        read: |c| c.bytes("size").map(|size| Claim::bare(What::ShmOption(Shm::Default(size)))).into_iter().collect(),
        samples: &["NOTE: The SHMEM allocation limit is set to the default of 64MB.  This may be"],
        near_misses: &["echo \"NOTE: The SHMEM allocation limit is set to the default of ${SIZE}.\""],
    },
    // Notebook and YOLO banners.
    Pattern {
        id: "resources/ram",
        witness: Witness::Program,
        stems: &["RAM: 1", "RAM: 2", "RAM: 3", "RAM: 4", "RAM: 5", "RAM: 6", "RAM: 7", "RAM: 8", "RAM: 9", " GB RAM, "],
        regex: r"^(?:RAM: (?<total>\d+(?:\.\d+)? ?[GT]i?B)|Setup complete .*\(\d+ CPUs, (?<total2>\d+(?:\.\d+)? GB) RAM, .*\))\s*$",
        read: |c| {
            let total = c.bytes("total").or_else(|| c.bytes("total2"));
            total.map(|total| Claim::bare(What::Memory { total, available: None })).into_iter().collect()
        },
        samples: &["RAM: 15.5 GB", "Setup complete ✅ (8 CPUs, 15.5 GB RAM, 33.4/78.2 GB disk)"],
        near_misses: &["GPU RAM: 15.5 GB", "RAM: plenty"],
    },
];
