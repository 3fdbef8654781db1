//! Shared memory that could not be had: PyTorch's MapAllocator, Python's semaphores and blocks, PostgreSQL and others.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Resource, Role, What, Who, Witness};
use crate::units::{Bytes, OwnPid};

/// MapAllocator's errors: torch 1.10 puts an internal assertion before the text, torch 0.4 an address of the source behind it.
macro_rules! allocator {
    ($text:literal) => {
        concat!(
            raised!(),
            r"(?:false ?INTERNAL ASSERT FAILED at [^,]+, please report a bug to PyTorch\. ?)?",
            $text,
            r"(?::? *: (?:[^()<>]{1,60}\((?<errno>\d+)\)|No space left on(?: device)?))?(?: at \S+)?[\s.:]*$"
        )
    };
}

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // torch 2.10 and later reserve the pages with posix_fallocate. 2.10 and 2.11 print a stale errno, so the call that failed
    // tells what was lacking, not the number.
    Pattern {
        id: "shm/torch-allocate",
        witness: Witness::Program,
        stems: &["unable to allocate shared memory(shm) for file"],
        regex: allocator!(r"unable to allocate shared memory\(shm\) for file(?: <(?<name>[^<>]+)>)?"),
        read: |caps| torch(caps, Some(Resource::Shm)),
        samples: &[
            "RuntimeError: unable to allocate shared memory(shm) for file </torch_16003_745145825_0>: No space left on device (28)",
            "RuntimeError: unable to allocate shared memory(shm) for file </torch_16003_745145825_0>: Resource temporarily unavailable (11)",
            "RuntimeError: unable to allocate shared memory(shm) for file </torch_16003_745145825_0>: Success (0)",
            "RuntimeError: unable to allocate shared memory(shm) for file ",
            "RuntimeError: unable to allocate shared memory(shm) for file </torch_16003_745145825_0>: No space left on ",
        ],
        near_misses: &[
            "        \"unable to allocate shared memory(shm) for file <\",",
            "RuntimeError: unable to allocate memory for file",
        ],
    },
    // The rest of such a message, where rich or a narrow terminal broke it before the name.
    Pattern {
        id: "shm/torch-rest",
        witness: Witness::Program,
        stems: &["</torch_"],
        regex: r"^<(?<name>/torch_\d+_\d+(?:_\d+)?)>: (?:No space left on(?: device(?: \((?<errno>28)\))?)?|(?<maps>Cannot allocate memory)(?: \(12\))?)\s*$",
        read: |caps| torch(caps, Some(if caps.get("maps").is_some() { Resource::Maps } else { Resource::Shm })),
        samples: &[
            "</torch_18832_2517339012_14>: No space left on ",
            "</torch_18832_2517339012_14>: No space left on device (28)",
            "</torch_18832_2517339012_14>: Cannot allocate memory (12)",
        ],
        near_misses: &[
            "</torch_18832_2517339012_14>: Permission denied (13)",
            "                              </torch_18832_2517339012_14>: No space left on device (28)",
            "see </torch_18832_2517339012_14>: No space left on device (28)",
        ],
    },
    // A one-byte write after ftruncate. torch 1.13 and later print errno.
    Pattern {
        id: "shm/torch-write",
        witness: Witness::Program,
        stems: &["unable to write to file <"],
        regex: allocator!(r"unable to write to file <(?<name>[^<>]+)>"),
        read: |caps| torch(caps, if errno(caps).is_none_or(|n| n == 28) { Some(Resource::Shm) } else { by_errno(caps) }),
        samples: &[
            "RuntimeError: unable to write to file </torch_16158_3570952464_1>: No space left on device (28)",
            "RuntimeError: unable to write to file </torch_812_3201777841>",
            " unable to write to file </torch_8246_90417733_0>: No space left on device (28)",
            "RuntimeError: falseINTERNAL ASSERT FAILED at \"/pytorch/aten/src/ATen/MapAllocator.cpp\":263, please report a bug to PyTorch. unable to write to file </torch_1094_1352>",
            "RuntimeError: unable to write to file </torch_18692_1954506624> at /pytorch/aten/src/TH/THAllocator.c:383",
        ],
        near_misses: &[
            "    raise RuntimeError(\"unable to write to file </torch_1_2>\")",
            "unable to write to file <path>, see above",
        ],
    },
    // shm_open. errno since torch 1.13: 28 means that the tmpfs has no inode left, 24 descriptors, 2 a name that is gone.
    Pattern {
        id: "shm/torch-open",
        witness: Witness::Program,
        stems: &["unable to open shared memory object <"],
        regex: allocator!(r"unable to open shared memory object <(?<name>[^<>]+)> in read-(?:write|only) mode"),
        read: |caps| torch(caps, if errno(caps) == Some(28) { Some(Resource::ShmInodes) } else { by_errno(caps) }),
        samples: &[
            "RuntimeError: unable to open shared memory object </torch_1_2004494542_0> in read-write mode: Permission denied (13)",
            "RuntimeError: unable to open shared memory object </torch_29919_1396182366> in read-write mode",
            "RuntimeError: unable to open shared memory object </torch_54163_1396_0> in read-write mode: Too many open files (24)",
        ],
        near_misses: &["RuntimeError: unable to open file <weights.bin> in read-only mode: No such file or directory (2)"],
    },
    // torch 1.8 and later. 12 is vm.max_map_count, RLIMIT_AS or the commit limit.
    Pattern {
        id: "shm/torch-mmap",
        witness: Witness::Program,
        stems: &[" bytes from file <"],
        regex: allocator!(r"unable to mmap (?<bytes>\d+) bytes from file <(?<name>[^<>]+)>"),
        read: |caps| torch(caps, if errno(caps) == Some(12) { Some(Resource::Maps) } else { by_errno(caps) }),
        samples: &[
            "RuntimeError: unable to mmap 3145728 bytes from file <filename not specified>: Cannot allocate memory (12)",
            "RuntimeError: unable to mmap 1024 bytes from file </torch_1206_1652209>: No space left on device (28)",
        ],
        near_misses: &["mapped 1024 bytes from file <a>"],
    },
    // ftruncate. No errno up to torch 1.10.
    Pattern {
        id: "shm/torch-resize",
        witness: Witness::Program,
        stems: &["> to the right size"],
        regex: allocator!(r"unable to (?:resize|stretch) file <(?<name>[^<>]+)> to the right size"),
        read: |caps| torch(caps, by_errno(caps)),
        samples: &[
            "RuntimeError: unable to resize file </torch_1206_1652209_3> to the right size: No space left on device (28)",
            "RuntimeError: unable to stretch file </torch_1206_1652209_3> to the right size",
        ],
        near_misses: &["unable to resize file <name> to the right size, as the README says"],
    },
    Pattern {
        id: "shm/torch-small",
        witness: Witness::Program,
        stems: &["smaller than the required mapping size <"],
        regex: concat!(
            raised!(),
            r"file <(?<name>[^<>]+)> size <?\d+>? is smaller than the required mapping size <?(?<bytes>\d+)>?\s*$"
        ),
        read: |caps| torch(caps, Some(Resource::ShmOther)),
        samples: &["RuntimeError: file </torch_55_9_1> size <0> is smaller than the required mapping size <4096>"],
        near_misses: &["the file is smaller than the required mapping size <4096>"],
    },
    Pattern {
        id: "shm/torch-unlink",
        witness: Witness::Program,
        stems: &["could not unlink the shared memory file "],
        regex: allocator!(r"could not unlink the shared memory file <?(?<name>[^<>: ]+)>?"),
        read: |caps| torch(caps, Some(Resource::ShmOther)),
        samples: &["RuntimeError: could not unlink the shared memory file /torch_10_3_0 : No such file or directory (2)"],
        near_misses: &["we could not unlink the shared memory file /torch_10_3_0"],
    },
    // TH's allocator, to torch 1.7.
    Pattern {
        id: "shm/torch-th-mmap",
        witness: Witness::Program,
        stems: &["unable to mmap memory: you tried to mmap "],
        regex: concat!(raised!(), r"\$ Torch: unable to mmap memory: you tried to mmap (?<bytes>\d+ ?GB)\."),
        read: |caps| refused(Resource::ShmOther, None, caps.bytes("bytes"), "PyTorch"),
        samples: &[
            "RuntimeError: $ Torch: unable to mmap memory: you tried to mmap 0GB. at /pytorch/aten/src/TH/THAllocator.c:317",
        ],
        near_misses: &["unable to mmap memory: you tried to mmap too much"],
    },
    // The same allocator on Windows, which has no /dev/shm; the codes are Windows' own. 8, 14 and 1455 are lack of memory.
    Pattern {
        id: "shm/torch-windows",
        witness: Witness::Program,
        stems: &[">, error code: <"],
        regex: concat!(
            raised!(),
            r"Couldn't (?:open shared (?:file mapping|event)|map view of shared file): <(?<name>[^<>]+)>, error code: <(?<code>\d+)>"
        ),
        read: |caps| {
            let code = caps.num::<u32>("code");
            let resource = if matches!(code, Some(8 | 14 | 1455)) { Resource::HostMemory } else { Resource::ShmOther };
            let pid = maker(caps.get("name").unwrap_or_default());
            let errno = code.filter(|code| *code == 2);
            let what = What::Refused { resource, errno, bytes: None, by: "PyTorch" };
            vec![Claim::new(what, Who { own_pid: pid, ..Who::default() })]
        },
        samples: &[
            "RuntimeError: Couldn't open shared file mapping: <torch_19544_2207418853_0>, error code: <1455>",
            "RuntimeError: Couldn't open shared event: <torch_19544_2207418853_0_event>, error code: <2>",
            "RuntimeError: Couldn't map view of shared file: <torch_19544_2207418853_0>, error code: <8>",
        ],
        near_misses: &["    \"Couldn't open shared file mapping: <\", filename, \">, error code: <\","],
    },
    // The helper of the `file_system` strategy (torch/lib/libshm). It names no size: it failed to start or is gone.
    Pattern {
        id: "shm/torch-manager",
        witness: Witness::Program,
        stems: &["torch_shm_manager", "Shared memory manager "],
        regex: concat!(
            raised!(),
            r#"(?:error executing torch_shm_manager at "|no response from torch_shm_manager at "|Shared memory manager connection has timed out"#,
            r#"|Shared memory manager didn't respond with an OK|torch_shm_manager at "[^"]*": could not generate a random directory)"#
        ),
        read: |_| refused(Resource::ShmOther, None, None, "PyTorch"),
        samples: &[
            "RuntimeError: error executing torch_shm_manager at \"/opt/venv/lib/python3.11/site-packages/torch/bin/torch_shm_manager\" at ../torch/lib/libshm/core.cpp:99",
            "RuntimeError: Shared memory manager connection has timed out",
        ],
        near_misses: &["  501 torch_shm_manager at \"x\" is running"],
    },
    // CPython's multiprocessing/reduction.py: the kernel dropped the descriptor, as the receiver has no room for it.
    Pattern {
        id: "shm/ancdata",
        witness: Witness::Program,
        stems: &[" items of ancdata"],
        regex: concat!(raised!(), r"received \d+ items of ancdata\s*$"),
        read: |_| refused(Resource::Descriptors, None, None, "Python"),
        samples: &["RuntimeError: received 0 items of ancdata"],
        near_misses: &["    raise RuntimeError('received %d items of ancdata' %"],
    },
    // CPython's text of an errno. Without a path, 28 may also come from sem_open, which the frames above tell.
    Pattern {
        id: "shm/oserror",
        witness: Witness::Program,
        stems: &["Error: [Errno ", "error: [Errno ", "Error: [WinError 1455]"],
        regex: concat!(
            r"^(?:E {2,}| ?|(?:ERROR: )?Could not install packages due to an )(?:[\w.]+[Ee]rror: ){1,2}\[(?:Errno (?<errno>11|12|13|17|2|22|23|24|28|30|38|122)|WinError (?<win>1455))\] ",
            r#"[^'"<]*(?:['"](?<path>[^'"]*)['"].*)?$"#
        ),
        read: oserror,
        samples: &[
            "OSError: [Errno 28] No space left on device",
            "OSError: [Errno 28] No space left on device: '/psm_1a2b3c4d'",
            "OSError: [Errno 28] No space left on device: '/workspace/checkpoints/last.ckpt'",
            "OSError: [Errno 24] Too many open files",
            "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device",
            "OSError: [Errno 12] Cannot allocate memory",
            "BlockingIOError: [Errno 11] Resource temporarily unavailable",
            "FileNotFoundError: [Errno 2] No such file or directory: '/psm_1a2b3c4d'",
            "OSError: [Errno 30] Read-only file system",
            "OSError: [WinError 1455] The paging file is too small for this operation to complete. Error loading \"C:\\x\\caffe2.dll\" or one of its dependencies.",
        ],
        near_misses: &[
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.csv'",
            "ConnectionRefusedError: [Errno 111] Connection refused",
            "log: retrying after OSError: [Errno 28] No space left on device",
            "PermissionError: [Errno 13] Permission denied: '/data'",
        ],
    },
    // PostgreSQL's dynamic shared memory (dsm_impl.c), which is in /dev/shm.
    Pattern {
        id: "shm/postgresql",
        witness: Witness::Program,
        stems: &["could not resize shared memory segment "],
        regex: r#"^(?:[^"'`]*: +)?could not resize shared memory segment "(?<name>/PostgreSQL\.\d+)" to (?<bytes>\d+) bytes: No space left on device$"#,
        read: |caps| refused(Resource::Shm, Some(28), caps.bytes("bytes"), "PostgreSQL"),
        samples: &[
            "ERROR:  could not resize shared memory segment \"/PostgreSQL.1417730652\" to 50438144 bytes: No space left on device",
            "2018-02-20 14:31:42.917 UTC [311] ERROR:  could not resize shared memory segment \"/PostgreSQL.1417730652\" to 50438144 bytes: No space left on device",
        ],
        near_misses: &[
            "\"could not resize shared memory segment \"/PostgreSQL.1\" to 1 bytes: No space left on device\"",
            "ERROR:  could not resize shared memory segment \"/PostgreSQL.1417730652\" to 50438144 bytes: Permission denied",
        ],
    },
    // src/backend/postmaster/postmaster.c, all versions.
    Pattern {
        id: "postgresql/process",
        witness: Witness::Supervisor,
        stems: &[" (PID "],
        regex: r"^(?:[^'`]*: +)?[a-z][\w ]* process(?:: [^'`]+?)? \(PID (?<pid>\d+)\) (?:was terminated by signal (?<signal>\d+)|exited with exit code (?<code>\d+))(?:: [A-Z][\w ]*)?$",
        read: |caps| {
            let how = match (caps.signal("signal"), caps.num("code")) {
                (Some(signal), _) => How::Signal(signal),
                (None, Some(code)) => How::Code(code),
                (None, None) => How::Vanished,
            };
            vec![Claim::new(What::Ended { how, hint: false }, Who::own(Role::Worker, caps.num("pid")))]
        },
        samples: &[
            "LOG:  worker process: parallel worker for PID 311 (PID 318) exited with exit code 1",
            "LOG:  server process (PID 2210) was terminated by signal 7: Bus error",
            "2018-02-20 14:31:42.920 UTC [1] LOG:  background worker process (PID 318) was terminated by signal 9: Killed",
        ],
        near_misses: &["\"server process (PID 2210) was terminated by signal 9: Killed\" means the OOM killer"],
    },
    // Programs that name a file in /dev/shm and the C library's text: coreutils, Java, and all that print perror().
    Pattern {
        id: "shm/file-full",
        witness: Witness::Program,
        stems: &["/dev/shm/", "shm_open"],
        regex: concat!(
            r#"^(?:[^#`].{0,160}?[ '"‘(])?(?:/dev/shm/[^'"’\s:)]+['"’)]?|shm_open(?:\([^)]*\))?(?: (?:failed|error))?)(?: \([^)]*\))?:? "#,
            r"(?:[^#]{0,60}: )?[Nn]o space left on device(?: \(28\)|\(os error 28\))?\.?$"
        ),
        read: |caps| {
            let text = &caps.line.text;
            // NCCL's and Python's own wordings say more and are read by their own patterns.
            if text.contains("NCCL") || text.contains("nccl") || text.contains("[Errno") {
                return Vec::new();
            }
            refused(Resource::Shm, Some(28), None, "a program")
        },
        samples: &["dd: error writing '/dev/shm/fill': No space left on device", "shm_open failed: No space left on device"],
        near_misses: &[
            "OSError: [Errno 28] No space left on device: '/dev/shm/x'",
            "include/shm.h:48 NCCL WARN Error: failed to extend /dev/shm/nccl-nyj23T to 10486116 bytes, error: No space left on device (28)",
            "If the files in /dev/shm/ are too large you may see: No space left on device",
        ],
    },
];

fn refused(resource: Resource, errno: Option<u32>, bytes: Option<Bytes>, by: &'static str) -> Vec<Claim> {
    vec![Claim::bare(What::Refused { resource, errno, bytes, by })]
}

fn errno(caps: &Caps<'_>) -> Option<u32> {
    caps.num("errno")
}

/// Whether a name is that of a POSIX shared memory object or of a file in /dev/shm.
fn in_shm(name: &str) -> bool {
    let object = name.strip_prefix('/').is_some_and(|rest| !rest.contains('/'));
    name.starts_with("/dev/shm")
        || (object && ["/torch_", "/psm_", "/sem.", "/wnsm_", "/mp-"].iter().any(|p| name.starts_with(p)))
}

fn by_errno(caps: &Caps<'_>) -> Option<Resource> {
    Some(match errno(caps) {
        Some(28) => Resource::Shm,
        Some(23 | 24) => Resource::Descriptors,
        _ => Resource::ShmOther,
    })
}

/// A refusal by MapAllocator. It also maps ordinary files (`torch.from_file`), whose path tells them from shared memory.
fn torch(caps: &Caps<'_>, resource: Option<Resource>) -> Vec<Claim> {
    let name = caps.get("name").unwrap_or_default();
    let file = !in_shm(name) && name.contains('/');
    let resource = match (file, resource) {
        (true, Some(Resource::Shm)) if errno(caps) == Some(28) => Some(Resource::Disk),
        (true, Some(Resource::Shm | Resource::ShmOther)) => None,
        (_, resource) => resource,
    };
    let who = Who { own_pid: maker(name), ..Who::default() };
    let what = |resource| What::Refused { resource, errno: errno(caps), bytes: caps.bytes("bytes"), by: "PyTorch" };
    resource.map(|resource| Claim::new(what(resource), who)).into_iter().collect()
}

/// The process that made an object of PyTorch's: the name holds its pid.
fn maker(name: &str) -> Option<OwnPid> {
    name.trim_start_matches('/').strip_prefix("torch_")?.split('_').next()?.parse().ok().map(OwnPid)
}

fn oserror(caps: &Caps<'_>) -> Vec<Claim> {
    let path = caps.get("path");
    let shm = path.is_some_and(in_shm);
    let number = errno(caps);
    let resource = match number {
        None => Resource::HostMemory,
        Some(28) if shm => Resource::Shm,
        Some(28 | 122) => Resource::Disk,
        Some(23 | 24) => Resource::Descriptors,
        Some(12) => Resource::HostMemory,
        Some(11) if path.is_none() => Resource::Threads,
        // sem_open has no path to print; neither has a kernel without /dev/shm (errno 38).
        Some(30 | 38) if path.is_none() => Resource::ShmOther,
        Some(2 | 13 | 17 | 22 | 30) if shm => Resource::ShmOther,
        _ => return Vec::new(),
    };
    refused(resource, number, None, "Python")
}

#[cfg(test)]
mod tests {
    use crate::fact::{Resource, What};
    use crate::patterns::tests::claims;
    use crate::units::OwnPid;

    fn lacking(text: &str) -> Option<Resource> {
        claims(text).into_iter().find_map(|claim| match claim.what {
            What::Refused { resource, .. } => Some(resource),
            _ => None,
        })
    }

    #[test]
    fn the_name_and_the_errno_tell_what_was_lacking() {
        for (text, resource) in [
            ("RuntimeError: unable to allocate shared memory(shm) for file </torch_1_2_3>: Success (0)", Resource::Shm),
            ("RuntimeError: unable to write to file </data/features.bin>: No space left on device (28)", Resource::Disk),
            (
                "RuntimeError: unable to open shared memory object </torch_1_2_3> in read-write mode: No space left on device (28)",
                Resource::ShmInodes,
            ),
            (
                "RuntimeError: unable to mmap 80 bytes from file <filename not specified>: Cannot allocate memory (12)",
                Resource::Maps,
            ),
            ("OSError: [Errno 28] No space left on device: '/psm_1a2b3c4d'", Resource::Shm),
            ("OSError: [Errno 28] No space left on device: '/dev/shm/cache'", Resource::Shm),
            ("OSError: [Errno 28] No space left on device: '/checkpoints/last.pt'", Resource::Disk),
            ("OSError: [Errno 28] No space left on device", Resource::Disk),
        ] {
            assert_eq!(lacking(text), Some(resource), "{text}");
        }
        assert_eq!(lacking("RuntimeError: unable to resize file </data/x.bin> to the right size"), None);
    }

    #[test]
    fn the_pid_in_the_name_is_the_maker_s() {
        let claims = claims("RuntimeError: unable to write to file </torch_16158_3570952464_1>: No space left on device (28)");
        assert!(claims.iter().any(|claim| claim.who.own_pid == Some(OwnPid(16158))));
    }
}
