//! NCCL and gloo: no room for a segment in /dev/shm, lost peers, watchdog time-outs, versions.
//!
//! NCCL 2.12 to 2.18 size their segments with `ftruncate` and say nothing at all when /dev/shm is full: the rank dies of
//! SIGBUS. The pid in NCCL's prefix is the rank's own.

use super::{Caps, Pattern};
use crate::fact::{Claim, Resource, Role, What, Who, Witness};

/// A rank by the pid that NCCL puts before its lines, or by its number.
fn rank(c: &Caps<'_>) -> Who {
    Who { rank: c.num("rank"), ..Who::own(Role::Rank, c.num("pid")) }
}

fn segment(c: &Caps<'_>) -> Vec<Claim> {
    let errno = c.num("errno");
    let resource = match errno {
        Some(28) => Resource::Shm,
        Some(24) => Resource::Descriptors,
        Some(_) => Resource::ShmOther,
        // NCCL 2.19 to 2.21 print no reason when `fallocate` fails, and it hardly fails for another. "Creating" without a
        // reason also follows a CUDA error, so it is no lack of room by itself.
        None if c.get("fallocate").is_some() || c.get("extend").is_some() => Resource::Shm,
        None => Resource::ShmOther,
    };
    vec![Claim::new(What::Refused { resource, errno, bytes: c.bytes("bytes").or_else(|| c.bytes("size")), by: "NCCL" }, rank(c))]
}

fn version(c: &Caps<'_>) -> Option<Claim> {
    Some(Claim::bare(What::Version { program: "nccl", major: c.num("major")?, minor: c.num("minor")? }))
}

fn failed(c: &Caps<'_>) -> Vec<Claim> {
    // The words behind an aborted communicator are another message, which says why.
    let lost = c.get("remote").is_some() || c.line.text.contains("remote process exited or there was a network error");
    if c.line.text.contains("caught collective operation timeout") {
        return Vec::new();
    }
    std::iter::once(Claim::new(if lost { What::PeerLost } else { What::Nccl }, rank(c))).chain(version(c)).collect()
}

fn timed_out(c: &Caps<'_>) -> Vec<Claim> {
    let seconds = c.num::<u64>("ran").or_else(|| c.num("limit")).map(|ms| ms / 1000);
    vec![Claim::new(What::TimedOut { seconds }, rank(c))]
}

pub(super) const TABLE: &[Pattern] = &[
    // src/include/shm.h and src/misc/shmutils.cc: `posix_fallocate` up to NCCL 2.11, `fallocate` from 2.19, the reason from
    // 2.22. The last words stand once more, without prefix, below `Last error:` (2.13 and later).
    Pattern {
        id: "nccl/segment",
        witness: Witness::Program,
        stems: &["Call to posix_fallocate failed", "failed to extend /dev/shm/nccl", "shared memory segment "],
        regex: r"^(?:(?:\[[^\]]*\]\s*)?[\w.-]+:(?<pid>\d+):\d+ \[\d+\] (?:\S+:\d+ )?NCCL WARN )?(?:(?<fallocate>Call to posix_fallocate failed ?: No space left on device)|(?:Error: (?<extend>failed to extend) /dev/shm/nccl-\S* to (?<bytes>\d+) bytes|Error while (?:creating|attaching to) shared memory segment (?:/dev/shm/)?nccl-\S* \(size (?<size>\d+)\))(?:, error: [^()]+ \((?<errno>\d+)\))?)\s*$",
        read: segment,
        samples: &[
            "train-job-worker-0:1:1193 [3] include/shm.h:28 NCCL WARN Call to posix_fallocate failed : No space left on device",
            "train-job-worker-0:1:1193 [3] include/shm.h:48 NCCL WARN Error while creating shared memory segment nccl-shm-recv-67d46e44608e631f-1-2-3 (size 9637888)",
            "h800-a:413:413 [3] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-nyj23T to 10486116 bytes, error: No space left on device (28)",
            "h800-a:413:413 [3] misc/shmutils.cc:87 NCCL WARN Error: failed to extend /dev/shm/nccl-nyj23T to 10486116 bytes",
            "Error while creating shared memory segment /dev/shm/nccl-nyj23T (size 10486112), error: No space left on device (28)",
            "[2026-05-22 10:26:17] 2b73b1e1fafa:13740:13740 [7] misc/shmutils.cc:132 NCCL WARN Error while attaching to shared memory segment /dev/shm/nccl- (size 0), error: No such file or directory (2)",
        ],
        near_misses: &[
            "h800-a:413:605 [3] proxy.cc:1587 NCCL WARN [Service thread] Accept failed No space left on device",
            "2b73b1e1fafa:13732:13732 [2] NCCL INFO MMAP imported shareable host buffer /dev/shm/nccl-I9oUed size 13832192 ptr 0x7f802659c000",
            "Error while creating shared memory segment is what NCCL prints when /dev/shm is too small",
        ],
    },
    // src/init.cc `ncclGetErrorString`, printed by torch below `DistBackendError` (2.0 and later) and `RuntimeError` before.
    Pattern {
        id: "nccl/result",
        witness: Witness::Program,
        stems: &[
            "ncclSystemError: ",
            "ncclUnhandledCudaError: ",
            "ncclInternalError: ",
            "ncclInvalidUsage: ",
            "ncclRemoteError: ",
        ],
        regex: r"^(?:nccl(?:SystemError: System call|UnhandledCudaError: Call to CUDA|InternalError: Internal check failed|InvalidUsage: This (?:usually|most likely) )|(?<remote>ncclRemoteError: A call failed)).*$",
        read: failed,
        samples: &[
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. ",
            "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
            "ncclInternalError: Internal check failed.",
        ],
        near_misses: &["  case ncclSystemError: return \"unhandled system error\";", "raise ncclSystemError: see the log"],
    },
    // torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp; `what()` is libstdc++'s word when nobody catches it.
    Pattern {
        id: "nccl/torch",
        witness: Witness::Program,
        stems: &["NCCL error in: ", "NCCL communicator was aborted on rank", "NCCL: unhandled system error"],
        regex: r"^(?:terminate called .*)?\s*(?:\[\w+\] ?)?(?:(?:what\(\): +)?(?:[\w.]*Error: )?(?:\[Rank (?<rank>\d+)\] )?NCCL error in: \S+:\d+, (?:unhandled|internal error|invalid usage|(?<remote>remote process exited or there was a network error)).*?(?:NCCL version (?<major>\d+)\.(?<minor>\d+)\S*)?|(?:[\w.]*Error: )?NCCL communicator was aborted on rank \d+\..*|\(\d+\) Unknown: +NCCL: unhandled system error\. .*)\s*$",
        read: failed,
        samples: &[
            "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3690, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.27.5",
            "RuntimeError: NCCL error in: ../torch/lib/c10d/ProcessGroupNCCL.cpp:825, unhandled system error, NCCL version 2.7.8",
            "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1970, remote process exited or there was a network error, NCCL version 2.20.5",
            "  (0) Unknown:  NCCL: unhandled system error. Set NCCL_DEBUG=WARN for detail.",
            "RuntimeError: NCCL communicator was aborted on rank 0.  Original reason for failure was: [Rank 0] NCCL watchdog thread terminated with exception: NCCL error: remote process exited or there was a network error",
        ],
        near_misses: &[
            "RuntimeError: NCCL communicator was aborted on rank 3.  Original reason for failure was: [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1808499 milliseconds before timing out.",
            "    raise RuntimeError(f\"NCCL error in: {file}, {text}\")",
            "if you see NCCL error in: your log, set NCCL_DEBUG=INFO",
        ],
    },
    // ProcessGroupNCCL.cpp `watchdogHandler`: a peer died, hung or was late; says nothing of memory.
    Pattern {
        id: "nccl/watchdog",
        witness: Witness::Program,
        stems: &["caught collective operation timeout: WorkNCCL("],
        regex: r"(?:^|[\s\]:])(?:\[Rank (?<rank>\d+)\] )?(?:Watchdog )?caught collective operation timeout: WorkNCCL\([^)]*?Timeout\(ms\)=(?<limit>\d+)\)(?: ran for (?<ran>\d+) milliseconds before timing out)?",
        read: timed_out,
        samples: &[
            "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=1, OpType=ALLREDUCE, Timeout(ms)=1800000) ran for 1803345 milliseconds before timing out.",
            "  what():  [Rank 3] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=10, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.",
        ],
        near_misses: &["a log with \"caught collective operation timeout: WorkNCCL(\" means that a peer was late"],
    },
    // ProcessGroupNCCL.cpp's heartbeat monitor (2.2 and later) and its copies for other devices: the watchdog itself hangs, and
    // the process is aborted for that.
    Pattern {
        id: "nccl/heartbeat",
        witness: Witness::Program,
        stems: &["CCL's watchdog got stuck for "],
        regex: r"(?:^|\] )ProcessGroup\w?CCL's watchdog got stuck for (?<seconds>\d+) seconds without making progress in monitoring",
        read: |c| vec![Claim::new(What::TimedOut { seconds: c.num("seconds") }, rank(c))],
        samples: &[
            "[PG ID 0 PG GUID 0(default_pg) Rank 2] ProcessGroupNCCL's watchdog got stuck for 600 seconds without making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API (e.g., CudaEventDestroy) hang blocking the watchdog",
        ],
        near_misses: &[
            "            \"ProcessGroupNCCL's watchdog got stuck for \",",
            "the ProcessGroupNCCL's watchdog got stuck for 480 seconds",
        ],
    },
    // TensorFlow's gRPC between workers and parameter servers: the other end is gone.
    Pattern {
        id: "tensorflow/peer",
        witness: Witness::Program,
        stems: &["UnavailableError: ", "AbortedError: "],
        regex: r"^(?:[\w.]+\.)?(?:UnavailableError|AbortedError): (?:[^'`]*: )?(?:Socket closed|Connection reset by peer|[Ff]ailed to connect to (?:all addresses|remote host)|Session \w+ is not found)\b.*$",
        read: |c| vec![Claim::new(What::PeerLost, rank(c))],
        samples: &["tensorflow.python.framework.errors_impl.UnavailableError: Socket closed"],
        near_misses: &[
            "except tf.errors.UnavailableError: Socket closed",
            "tensorflow.python.framework.errors_impl.UnavailableError: Queue is full",
        ],
    },
    // gloo's transport/tcp/pair.cc and NCCL's misc/socket.cc: the view of those who are left.
    Pattern {
        id: "nccl/peer",
        witness: Witness::Program,
        stems: &["/gloo/transport/tcp/", "Connection closed by remote peer"],
        regex: r"^(?:(?:[\w.]*Error: |.*what\(\): +)?\[\S*/gloo/transport/tcp/\S+:\d+\] (?:Connection closed by peer|(?:Read|Write|writev|readv).* error |Read error |.*Connection reset by peer|.*Broken pipe).*|.*[\w.-]+:(?<pid>\d+):\d+ \[\d+\] (?:\S+:\d+ )?NCCL WARN .*Connection closed by remote peer.*)$",
        read: |c| vec![Claim::new(What::PeerLost, rank(c))],
        samples: &[
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:12345",
            "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/pair.cc:534] Read error [10.0.0.7]:44410: Connection reset by peer",
            "gpu01:97:214 [0] include/socket.h:423 NCCL WARN Net : Connection closed by remote peer gpu02<54321>",
        ],
        near_misses: &[
            "gpu01:97:214 [0] NCCL INFO [Service thread] Connection closed by localRank 3",
            "#0 /gloo/transport/tcp/pair.cc:598",
        ],
    },
    // c10d's sockets: TCPStore.cpp and socket.cpp (1.8 and later), SMDDP, Horovod. The words are errno's.
    Pattern {
        id: "nccl/socket",
        witness: Witness::Program,
        stems: &["Connection reset by peer", "Connection closed by peer", "Error: Broken pipe", "Error: Socket Timeout"],
        regex: r"^(?:E {2,}| ?)(?:RuntimeError|(?:[\w.]+\.)?Dist(?:Network|Store|Backend)?Error): (?:\[\d+\] is setting up NCCL communicator and retrieving ncclUniqueId from \[\d+\] .* got error: )?(?:Connection reset by peer|Connection closed by peer|Broken pipe|Socket Timeout)(?:\. This may indicate .*|\..*)?\s*$",
        read: |c| vec![Claim::new(What::PeerLost, rank(c))],
        samples: &[
            "RuntimeError: Connection reset by peer",
            "RuntimeError: Broken pipe",
            "RuntimeError: Socket Timeout",
            "torch.distributed.DistBackendError: [1] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer",
            "torch.distributed.DistNetworkError: Connection reset by peer",
        ],
        near_misses: &[
            "ConnectionResetError: [Errno 104] Connection reset by peer",
            "RuntimeError: download failed: Connection reset by peer",
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Read error [10.0.0.7]:44410: Connection reset by peer",
        ],
    },
    // c10d's TCPStore, where not all ranks came (1.9 and later).
    Pattern {
        id: "nccl/store-timeout",
        witness: Witness::Program,
        stems: &[" seconds waiting for clients"],
        regex: r"^(?:E {2,}| ?)(?:(?:[\w.]+\.)?\w*Error: )?Timed out after (?<seconds>\d+) seconds waiting for clients\. \d+/\d+ clients joined\.",
        read: |c| vec![Claim::bare(What::TimedOut { seconds: c.num("seconds") })],
        samples: &[
            "torch.distributed.DistStoreError: Timed out after 1801 seconds waiting for clients. 1/2 clients joined.",
            "RuntimeError: Timed out after 301 seconds waiting for clients. 3/4 clients joined.",
        ],
        near_misses: &["Timed out after 3 seconds waiting for clients of the shop"],
    },
    // tsl's coordination service under JAX and TensorFlow.
    Pattern {
        id: "nccl/coordination",
        witness: Witness::Program,
        stems: &["(stopped sending heartbeats)", "heartbeat timeout"],
        regex: r"(?:UNAVAILABLE: |^)(?:The following tasks are unhealthy \(stopped sending heartbeats\)|Task \S+ heartbeat timeout\.)",
        read: |_| vec![Claim::bare(What::PeerLost)],
        samples: &[
            "Coordination agent is in error state: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):",
            "UNAVAILABLE: Task /job:jax_worker/replica:0/task:3 heartbeat timeout. This indicates that the remote task has failed",
        ],
        near_misses: &["raise the heartbeat timeout"],
    },
    // gloo's transport/tcp/unbound_buffer.cc.
    Pattern {
        id: "nccl/gloo-timeout",
        witness: Witness::Program,
        stems: &["/gloo/transport/tcp/"],
        regex: r"^(?:[\w.]*Error: |.*what\(\): +)?\[\S*/gloo/transport/tcp/\S+:\d+\] (?:Timed out waiting (?<limit>\d+)ms for \w+ operation to complete|Application timeout caused pair closure)",
        read: timed_out,
        samples: &[
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv operation to complete",
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:136] Application timeout caused pair closure",
        ],
        near_misses: &[
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:598] Connection closed by peer [127.0.0.1]:12345",
        ],
    },
    // src/init.cc `showVersion`.
    Pattern {
        id: "nccl/version",
        witness: Witness::Program,
        stems: &["NCCL version "],
        regex: r"^(?:[\w.-]+:\d+:\d+ \[\d+\] NCCL INFO )?(?:NCCL version |NCCL version: ?)(?<major>\d+)\.(?<minor>\d+)\.\d+(?:\+cuda\S+)?\s*$",
        read: |c| version(c).into_iter().collect(),
        samples: &[
            "NCCL version 2.18.1+cuda12.1",
            "NCCL version 2.8.3+cudaCUDA_MAJOR.CUDA_MINOR",
            "gpu01:97:97 [0] NCCL INFO NCCL version 2.21.5+cuda12.4",
        ],
        near_misses: &["this needs NCCL version 2.18.1 or later"],
    },
];
