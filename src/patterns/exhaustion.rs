//! Memory, threads and disks that were refused to a living program: exceptions, not kills.

use super::Pattern;
use crate::fact::{Claim, Resource, Role, What, Who, Witness};
use crate::units::Bytes;

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // PyTorch's caching allocators. `torch.cuda.OutOfMemoryError` since 1.13, `torch.OutOfMemoryError` since 2.5.
    Pattern {
        id: "exhaustion/gpu",
        witness: Witness::Program,
        stems: &["out of memory"],
        regex: concat!(
            raised!(),
            r"(?:(?:CUDA|HIP|XPU|NPU|MLU|MUSA|MPS backend) out of memory\b(?:[^<]*?Tried to allocate (?<bytes>[\d.]+ (?:[KMGT]i?B|bytes)))?",
            r"|(?:CUDA|HIP|hip) error: out of memory)"
        ),
        read: |caps| refused(Resource::GpuMemory, caps.bytes("bytes"), "PyTorch"),
        samples: &[
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB. GPU 0 has a total capacity of 23.64 GiB of which 8.19 MiB is free. Process 2115 has 23.63 GiB memory in use.",
            "RuntimeError: CUDA out of memory. Tried to allocate 256.00 MiB (GPU 0; 15.90 GiB total capacity; 14.76 GiB already allocated; 97.75 MiB free; 15.08 GiB reserved in total by PyTorch)",
            "RuntimeError: CUDA error: out of memory",
            "RuntimeError: MPS backend out of memory (MPS allocated: 5.05 GB, other allocations: 2.97 GB, max allowed: 9.07 GB). Tried to allocate 1.34 GB on private pool.",
            "torch.cuda.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 GiB.",
        ],
        near_misses: &[
            "skipping batch: CUDA out of memory",
            "    if 'out of memory' in str(e):",
            "Killed process 12 (python): out of memory",
        ],
    },
    Pattern {
        id: "exhaustion/cublas",
        witness: Witness::Program,
        stems: &["_STATUS_ALLOC_FAILED"],
        regex: concat!(raised!(), r"(?:CUDA|cuDNN|HIP) error: (?:CUBLAS|CUDNN|HIPBLAS|CUSOLVER|CUSPARSE)_STATUS_ALLOC_FAILED\b"),
        read: |_| refused(Resource::GpuMemory, None, "PyTorch"),
        samples: &["RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"],
        near_misses: &["CUBLAS_STATUS_ALLOC_FAILED means that the GPU is full"],
    },
    // TensorFlow names the allocator: `GPU_0_bfc` is the device, `cpu` the host. Its graph executor tells only the type, and
    // the words on a line of their own.
    Pattern {
        id: "exhaustion/tensorflow",
        witness: Witness::Program,
        stems: &["OOM when allocating tensor with shape[", "ResourceExhaustedError: "],
        regex: concat!(
            r#"^(?:(?:[^"'`]*(?:ResourceExhaustedError|RESOURCE_EXHAUSTED|Resource exhausted)[^"'`]*)?OOM when allocating tensor with shape\[[^\]]*\].* by allocator (?<allocator>\w+)"#,
            r"|(?:[\w.]+\.)?ResourceExhaustedError: +(?:Graph execution error:\s*$|(?:\{\{.*\}\} ?)?failed to allocate memory\b))"
        ),
        read: |caps| {
            let host = caps.get("allocator").is_some_and(|name| name.eq_ignore_ascii_case("cpu") || name.contains("mklcpu"));
            refused(if host { Resource::HostMemory } else { Resource::GpuMemory }, None, "TensorFlow")
        },
        samples: &[
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[64,256,56,56] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]",
            "ResourceExhaustedError: OOM when allocating tensor with shape[200000,5000] and type float on /job:localhost/replica:0/task:0/device:CPU:0 by allocator cpu",
            "OOM when allocating tensor with shape[64,256,56,56] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: Graph execution error:",
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: {{function_node __wrapped__AddV2_device_/job:localhost/replica:0/task:0/device:GPU:0}} failed to allocate memory [Op:AddV2]",
        ],
        near_misses: &[
            "OOM when allocating tensor with shape[64] is a common error",
            "except tf.errors.ResourceExhaustedError: retry()",
        ],
    },
    // XLA under JAX and PyTorch/XLA; its client logs the failed execution before JAX raises it. Sizes are bytes to jaxlib 0.4.
    Pattern {
        id: "exhaustion/xla",
        witness: Witness::Program,
        stems: &["RESOURCE_EXHAUSTED: "],
        regex: concat!(
            raised!(),
            r"(?:Execution of replica \d+ failed: )?RESOURCE_EXHAUSTED: (?:XLA:TPU compile permanent error\. |Error (?:allocating device buffer|loading program): )?",
            r"(?:Out of memory (?:while trying to allocate|allocating) (?<bytes>\d[\d.]* ?(?:bytes|[KMGT]i?B))",
            r"|Failed to allocate request for \S+ \((?<request>\d+)B\) on device|Ran out of memory in memory space \w+|Attempting to (?:reserve|allocate) \S+)"
        ),
        read: |caps| refused(Resource::GpuMemory, caps.bytes("bytes").or_else(|| caps.bytes("request")), "XLA"),
        samples: &[
            "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 2147483648 bytes.",
            "XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 2.00GiB (2147483648B) on device ordinal 0",
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 12.50GiB.",
            "Execution of replica 0 failed: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 13421772800 bytes.",
            "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 1.00G. That was not possible. There are 512.0M free.; (0x0x0_HBM0)",
        ],
        near_misses: &["grpc: RESOURCE_EXHAUSTED: quota", "grpc._channel._InactiveRpcError: RESOURCE_EXHAUSTED: quota exceeded"],
    },
    // Windows' words for error 1455: the commit limit. Loading a DLL prints them without the number, Rust with its own.
    Pattern {
        id: "exhaustion/paging-file",
        witness: Witness::Program,
        stems: &["The paging file is too small for this operation to complete"],
        regex: concat!(
            raised!(),
            r"(?:DLL load failed(?: while importing \w+)?: )?The paging file is too small for this operation to complete\.(?: \(os error 1455\))?\s*$"
        ),
        read: |_| refused(Resource::HostMemory, None, "Windows"),
        samples: &[
            "ImportError: DLL load failed while importing _C: The paging file is too small for this operation to complete.",
            "OSError: The paging file is too small for this operation to complete. (os error 1455)",
        ],
        near_misses: &[
            "OSError: [WinError 1455] The paging file is too small for this operation to complete",
            "If The paging file is too small for this operation to complete. then enlarge it",
        ],
    },
    // c10's CPU allocator, and TH's before torch 1.0.
    Pattern {
        id: "exhaustion/cpu-allocator",
        witness: Witness::Program,
        stems: &["you tried to allocate "],
        regex: concat!(
            raised!(),
            r"(?:\[enforce fail at [^\]]+\] [^<]{0,120})?(?:DefaultCPUAllocator: (?:can't allocate memory|not enough memory)",
            r"|\$ Torch: not enough memory): you tried to allocate (?<bytes>\d+ ?(?:bytes|[KMGT]B))\b(?:.*Error code (?<errno>\d+))?"
        ),
        read: |caps| {
            let what = What::Refused {
                resource: Resource::HostMemory,
                errno: caps.num("errno"),
                bytes: caps.bytes("bytes"),
                by: "PyTorch",
            };
            vec![Claim::bare(what)]
        },
        samples: &[
            "RuntimeError: [enforce fail at alloc_cpu.cpp:75] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 400000000000 bytes. Error code 12 (Cannot allocate memory)",
            "RuntimeError: [enforce fail at ..\\c10\\core\\CPUAllocator.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 67108864 bytes. Buy new RAM!",
            "RuntimeError: $ Torch: not enough memory: you tried to allocate 12GB. Buy new RAM! at /pytorch/aten/src/TH/THGeneral.c:201",
        ],
        near_misses: &["the model is too large: you tried to allocate 12GB"],
    },
    // Python's exception, and numpy's that derive from it.
    Pattern {
        id: "exhaustion/memory-error",
        witness: Witness::Program,
        stems: &["MemoryError"],
        regex: concat!(
            r"^(?:E {2,}| ?)(?:[a-z_][\w.]*\.)?_?(?:Array)?MemoryError(?:: (?:Caught \w+ in DataLoader worker process (?<worker>\d+)\.",
            r"|Unable to allocate (?<bytes>[\d.]+ (?:[KMGTPE]i?B|bytes)) for an array.*|.*))?\s*$"
        ),
        read: |caps| {
            let numpy = caps.line.text.contains("numpy") || caps.get("bytes").is_some();
            let by = if numpy { "numpy" } else { "Python" };
            let what = What::Refused { resource: Resource::HostMemory, errno: None, bytes: caps.bytes("bytes"), by };
            let worker = caps.num("worker");
            let role = if worker.is_some() { Role::Worker } else { Role::Unknown };
            vec![Claim::new(what, Who { worker, ..Who::role(role) })]
        },
        samples: &[
            "MemoryError",
            "MemoryError: std::bad_alloc: out_of_memory",
            "MemoryError: Caught MemoryError in DataLoader worker process 1.",
            "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 1.00 TiB for an array with shape (137438953472,) and data type float64",
            "numpy.core._exceptions.MemoryError: Unable to allocate 7.45 GiB for an array with shape (1000000000,) and data type float64",
        ],
        near_misses: &["    except MemoryError:", "MemoryErrorRate: 3", "INFO: no MemoryError"],
    },
    Pattern {
        id: "exhaustion/bad-alloc",
        witness: Witness::Program,
        stems: &["bad_alloc"],
        regex: r"^(?:RuntimeError: (?:std::)?bad_alloc|terminate called after throwing an instance of 'std::bad_alloc')\s*$",
        read: |_| refused(Resource::HostMemory, None, "the C++ library"),
        samples: &["terminate called after throwing an instance of 'std::bad_alloc'", "RuntimeError: std::bad_alloc"],
        near_misses: &["terminate called after throwing an instance of 'c10::Error'", "  what():  std::bad_alloc"],
    },
    Pattern {
        id: "exhaustion/threads",
        witness: Witness::Program,
        stems: &["can't start new thread", "pthread_create failed", "Thread creation failed", "fork: "],
        regex: concat!(
            r"^(?:(?:E {2,}| ?)RuntimeError: can't start new thread|OpenBLAS blas_thread_init: pthread_create failed for thread \d+ of \d+: .*",
            r"|libgomp: Thread creation failed: Resource temporarily unavailable|[\w./-]+: fork: (?:retry: )?(?:Resource temporarily unavailable|(?<memory>Cannot allocate memory)))\s*$"
        ),
        read: |caps| {
            let resource = if caps.get("memory").is_some() { Resource::HostMemory } else { Resource::Threads };
            refused(resource, None, "a program")
        },
        samples: &[
            "RuntimeError: can't start new thread",
            "OpenBLAS blas_thread_init: pthread_create failed for thread 12 of 64: Resource temporarily unavailable",
            "libgomp: Thread creation failed: Resource temporarily unavailable",
            "bash: fork: retry: Resource temporarily unavailable",
            "-bash: fork: Cannot allocate memory",
        ],
        near_misses: &["RuntimeError: can't start new thread at interpreter shutdown", "git fork: x"],
    },
    // caffe2/serialize/inline_container.cc under torch.save, and numpy's tofile.
    Pattern {
        id: "exhaustion/disk-writer",
        witness: Witness::Program,
        stems: &["inline_container.cc", " requested and "],
        regex: concat!(
            raised!(),
            r"(?:\[enforce fail at inline_container\.cc:\d+\]\s?\. (?:PytorchStreamWriter failed writing (?:file|central directory)\b|unexpected pos \d+ vs \d+).*",
            r"|\d+ requested and \d+ written)\s*$"
        ),
        read: |_| refused(Resource::Disk, None, "PyTorch"),
        samples: &[
            "RuntimeError: [enforce fail at inline_container.cc:595] . unexpected pos 3712 vs 3606",
            "RuntimeError: [enforce fail at inline_container.cc:778] . PytorchStreamWriter failed writing file data/12: file write failed",
            "OSError: 15625000 requested and 0 written",
        ],
        near_misses: &[
            "RuntimeError: [enforce fail at inline_container.cc:145] . PytorchStreamReader failed reading zip archive: failed finding central directory",
            "3 requested and 0 written offers",
        ],
    },
    // Any program with perror's words at the end. What names shared memory, inotify or semaphores is something else.
    Pattern {
        id: "exhaustion/disk",
        witness: Witness::Program,
        stems: &["o space left on device"],
        regex: r#"^[^#].*[:,] ?[Nn]o space left on device(?: \(28\)| \(os error 28\))?\.?['"]?\s*$"#,
        read: |caps| {
            const OTHERS: [&str; 13] = [
                "shm",
                "SHM",
                "Shm",
                "NCCL",
                "nccl",
                "/torch_",
                "PostgreSQL",
                "[Errno",
                "inotify",
                "epoll",
                "semaphore",
                "semget",
                "shared memory",
            ];
            if OTHERS.iter().any(|word| caps.line.text.contains(word)) {
                return Vec::new();
            }
            let what = What::Refused { resource: Resource::Disk, errno: Some(28), bytes: None, by: "a program" };
            vec![Claim::bare(what)]
        },
        samples: &[
            "tar: model/weights.bin: Cannot write: No space left on device",
            "err=\"write to WAL: log samples: write /prometheus/wal/00004411: no space left on device\"",
            "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28 }): No space left on device (os error 28)",
        ],
        near_misses: &[
            "OSError: [Errno 28] No space left on device: '/data/x'",
            "dd: error writing '/dev/shm/fill': No space left on device",
            "inotify_add_watch failed: No space left on device",
            "# tail: no space left on device",
        ],
    },
    // The rest of Python's message of errno 28 (`shm/oserror`), where rich or a narrow terminal broke it before the path, which
    // tells shared memory from a disk.
    Pattern {
        id: "exhaustion/path",
        witness: Witness::Program,
        stems: &["'/dev/shm/", "'/psm_", "'/wnsm_"],
        regex: r"^(?:(?:on )?device: )?'(?:/dev/shm/[^']+|/psm_\w+|/wnsm_\w+)'\s*$",
        read: |_| refused(Resource::Shm, None, "Python"),
        samples: &["'/psm_1a2b3c4d'", "device: '/dev/shm/joblib_memmapping_folder_1/x.pkl'"],
        near_misses: &["'/data/psm_1'", "path = '/dev/shm/x'"],
    },
];

fn refused(resource: Resource, bytes: Option<Bytes>, by: &'static str) -> Vec<Claim> {
    vec![Claim::bare(What::Refused { resource, errno: None, bytes, by })]
}
