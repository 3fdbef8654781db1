//! Serving stacks: vLLM, SGLang, Triton.

use super::pools::how;
use super::{Caps, Pattern};
use crate::fact::{Claim, How, Resource, Role, What, Who, Witness};
use crate::units::Bytes;

fn vanished(hint: bool) -> Vec<Claim> {
    vec![Claim::new(What::Ended { how: How::Vanished, hint }, Who::role(Role::Engine))]
}

fn coded(c: &Caps<'_>) -> Vec<Claim> {
    let how = c.num("code").map_or(How::Vanished, how);
    // SGLang explains -9 by the OOM killer in advance; the code is testimony, the explanation is not.
    let hint = c.get("guess").is_some();
    let who = Who { process: c.text("process"), rank: c.num("rank"), ..Who::own(Role::Engine, c.num("pid")) };
    vec![Claim::new(What::Ended { how, hint }, who)]
}

/// `{'EngineCore_DP0': -9}`, often `{}` even after a silent SIGKILL.
fn cores(c: &Caps<'_>) -> Vec<Claim> {
    let list = c.get("cores").unwrap_or_default();
    let claims: Vec<_> = list
        .split(", ")
        .filter_map(|entry| entry.rsplit_once(": ")?.1.trim().parse().ok())
        .map(|code| Claim::new(What::Ended { how: how(code), hint: false }, Who::role(Role::Engine)))
        .collect();
    if claims.is_empty() { vanished(false) } else { claims }
}

/// Shared memory that was refused for want of room, or for another reason.
fn refused(c: &Caps<'_>, by: &'static str) -> Vec<Claim> {
    let error = c.get("error").unwrap_or_default();
    let full = error.contains("No space left on device");
    let resource = if full { Resource::Shm } else { Resource::ShmOther };
    let printed = error.split_once("[Errno ").and_then(|(_, rest)| rest.split(']').next()?.parse().ok());
    let errno = printed.or_else(|| error.contains("No such file or directory").then_some(2));
    vec![Claim::new(What::Refused { resource, errno, bytes: c.num("bytes").map(Bytes), by }, Who::role(Role::Engine))]
}

pub(super) const TABLE: &[Pattern] = &[
    // vllm/v1/executor/multiproc_executor.py: neither signal nor code.
    Pattern {
        id: "vllm/worker",
        witness: Witness::Program,
        stems: &[" died unexpectedly, shutting down executor"],
        regex: r"(?:Worker proc (?<process>[\w.-]+)|RayWorkerProc rank=\[?(?<rank>\d+)[\d, ]*\]?) died unexpectedly, shutting down executor\.",
        read: coded,
        samples: &[
            "(EngineCore pid=222) ERROR 05-01 10:11:12 [multiproc_executor.py:231] Worker proc VllmWorker-1 died unexpectedly, shutting down executor.",
            "ERROR 05-01 10:11:12 [ray_executor_v2.py:464] RayWorkerProc rank=[3] died unexpectedly, shutting down executor.",
        ],
        near_misses: &["\"Worker proc %s died unexpectedly, shutting down executor.\", died.name"],
    },
    // vllm/v1/engine/core_client.py: printed at the normal end of many runs as well, so it proves nothing.
    Pattern {
        id: "vllm/core",
        witness: Witness::Program,
        stems: &[" died unexpectedly, shutting down client"],
        regex: r"Engine core proc (?<process>[\w.-]+) (?<guess>died unexpectedly), shutting down client\.",
        read: coded,
        samples: &[
            "ERROR 05-01 10:11:12 [core_client.py:562] Engine core proc EngineCore_DP0 died unexpectedly, shutting down client.",
        ],
        near_misses: &["\"Engine core proc %s died unexpectedly, shutting down client.\""],
    },
    // vllm/v1/engine/exceptions.py.
    Pattern {
        id: "vllm/dead",
        witness: Witness::Program,
        stems: &["EngineDeadError: EngineCore encountered an issue"],
        regex: r"^(?:\([^)]*\) )?(?:ERROR [^\]]*\] )?(?:\w+\.)*EngineDeadError: EngineCore encountered an issue\.",
        read: |_| vanished(true),
        samples: &[
            "vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.",
        ],
        near_misses: &["raise EngineDeadError(\"EngineCore encountered an issue.\")"],
    },
    // vllm/v1/engine/utils.py: the dictionary holds exit codes.
    Pattern {
        id: "vllm/failed-cores",
        witness: Witness::Program,
        stems: &["Engine core initialization failed. "],
        regex: r"(?:^|[\]:] )Engine core initialization failed\. See root cause above\. Failed core proc\(s\): \{(?<cores>(?:'[^']*': -?\d+(?:, )?)*)\}",
        read: cores,
        samples: &[
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {'EngineCore_DP0': -9}",
            "RuntimeError: Engine core initialization failed. See root cause above. Failed core proc(s): {}",
        ],
        near_misses: &[
            "f\"Engine core initialization failed. See root cause above. Failed core proc(s): {failed}\"",
            "No available shared memory broadcast block found in 60 seconds. This typically happens when some processes are hanging or doing some time-consuming work (e.g. compilation, weight/kv cache quantization).",
        ],
    },
    // sglang/srt/utils/watchdog.py and entrypoints/engine.py, 0.5; the last form is older.
    Pattern {
        id: "sglang/subprocess",
        witness: Witness::Program,
        stems: &[
            "crashed with exit code ",
            " scheduler died during initialization (exit code: ",
            "Child process unexpectedly failed with ",
        ],
        regex: r"(?:Subprocess (?<process>\S+) \(pid=(?<pid>\d+)\) crashed with exit code (?<code>-?\d+)\. Triggering SIGQUIT|Rank (?<rank>\d+) scheduler died during initialization \(exit code: (?<code2>-?\d+)\)\.(?<guess> If exit code is -9)?|Child process unexpectedly failed with (?:exitcode=|an exit code )(?<code3>-?\d+)\. pid=(?<pid3>\d+))",
        read: |c| {
            let Some(code) = c.num("code").or_else(|| c.num("code2")).or_else(|| c.num("code3")) else { return Vec::new() };
            let pid = c.num("pid").or_else(|| c.num("pid3"));
            let who = Who { process: c.text("process"), rank: c.num("rank"), ..Who::own(Role::Engine, pid) };
            vec![Claim::new(What::Ended { how: how(code), hint: c.get("guess").is_some() }, who)]
        },
        samples: &[
            "[2026-01-09 10:00:01] Subprocess sglang::scheduler_TP0 (pid=3121) crashed with exit code -9. Triggering SIGQUIT for cleanup...",
            "RuntimeError: Rank 0 scheduler died during initialization (exit code: -9). If exit code is -9 (SIGKILL), a common cause is the OS OOM killer. Run `dmesg -T | grep -i oom` to check.",
            "[2025-01-09 10:00:01] Child process unexpectedly failed with an exit code 9. pid=3121",
            "[2025-05-09 10:00:01] Child process unexpectedly failed with exitcode=-9. pid=3121",
        ],
        near_misses: &["f\"Subprocess {name} (pid={pid}) crashed with exit code {code}. Triggering SIGQUIT for cleanup...\""],
    },
    // sglang/srt/managers/mm_utils.py: it goes on without shared memory.
    Pattern {
        id: "sglang/shm",
        witness: Witness::Program,
        stems: &["Failed to allocate shared memory for multimodal feature transport ("],
        regex: r"Failed to allocate shared memory for multimodal feature transport \((?<error>[^{}]*)\); falling back to inline transport",
        read: |c| refused(c, "SGLang"),
        samples: &[
            "Failed to allocate shared memory for multimodal feature transport ([Errno 28] No space left on device); falling back to inline transport. Consider increasing /dev/shm size.",
        ],
        near_misses: &[
            "f\"Failed to allocate shared memory for multimodal feature transport ({e}); falling back to inline transport. \"",
        ],
    },
    // triton-inference-server/python_backend, src/shm_manager.cc: the advice about --shm-size is printed for every error.
    Pattern {
        id: "triton/shm",
        witness: Witness::Program,
        stems: &["Unable to initialize shared memory key '", "Failed to increase the shared memory pool size "],
        regex: r"(?:Unable to initialize shared memory key '[^']*' to requested size \((?<bytes>\d+) bytes\)|Failed to increase the shared memory pool size (?:for key '[^']*' )?to (?<bytes2>\d+) bytes)\. .*Error: (?<error>[A-Z][^|]*?)\s*\|?\s*$",
        read: |c| {
            let mut claims = refused(c, "Triton");
            if let (Some(Claim { what: What::Refused { bytes, .. }, .. }), Some(more)) = (claims.first_mut(), c.num("bytes2")) {
                *bytes = Some(Bytes(more));
            }
            claims
        },
        samples: &[
            "E0816 02:11:24.811970 1 backend_model.cc:634] ERROR: Failed to create instance: Unable to initialize shared memory key 'triton_python_backend_shm_region_3' to requested size (67108864 bytes). If you are running Triton inside docker, use '--shm-size' flag to control the shared memory region size. Each Python backend model instance requires at least 64MBs of shared memory. Error: No space left on device",
            "tritonclient.utils.InferenceServerException: [500] Failed to increase the shared memory pool size for key 'triton_python_backend_shm_region_2' to 67108864 bytes. If you are running Triton inside docker, use '--shm-size' flag to control the shared memory region size. Error: No space left on device",
            "| pre_multi_skin         | 1       | UNAVAILABLE: Internal: Unable to initialize shared memory key '/pre_multi_skin_GPU_0' to requested size (67108864 bytes). If you are running Triton inside docker, use '--shm-size' flag to control the shared memory region size. Error: No such file or directory |",
        ],
        near_misses: &[
            "\"Unable to initialize shared memory key '\" + shm_region_name + \"' to requested size (\" + std::to_string(size)",
        ],
    },
    // python_backend, src/python_be.cc.
    Pattern {
        id: "triton/stub",
        witness: Witness::Program,
        stems: &["Stub process "],
        regex: r"Stub process '(?<process>[\w./-]+)' is (?:not healthy|unhealthy and it will be restarted)\.?",
        read: coded,
        samples: &[
            "Failed to process the request(s) for model instance 'detector_0_0', message: Stub process 'detector_0_0' is not healthy.",
            "Stub process 'detector_0_0' is unhealthy and it will be restarted.",
        ],
        near_misses: &["\"Stub process '\" + name + \"' is not healthy.\""],
    },
];
