//! Ray: lost workers, kills by its memory monitor, and what it says of /dev/shm at start.

use super::Pattern;
use crate::fact::{Claim, How, Role, Shm, What, Who, Why, Witness};
use crate::units::{Bytes, Signal};

pub(super) const TABLE: &[Pattern] = &[
    // raylet: an end of file on a socket. The OOM killer is one of three guesses that are printed every time.
    Pattern {
        id: "ray/worker-died",
        witness: Witness::Supervisor,
        stems: &["A worker died or was killed while executing", "Worker unexpectedly exits with a connection error code 2"],
        regex: r"^(?:\([^)]*\) |\[[^\]]*\] |[\w.]+(?:\.cc:\d+)?: )*(?:A worker died or was killed while executing (?:a )?task.*? by an unexpected system error\.|(?:.*Worker exit detail: |[\s|│]*)?Worker unexpectedly exits with a connection error code 2\. End of file\.)(?:.*Worker PID: (?<pid>\d+))?(?:.*(?<memory>killed due to the node running low on memory))?",
        read: |c| {
            let what = match c.get("memory") {
                Some(_) => What::Stopped { by: "Ray", why: Why::Memory, signal: Some(Signal::KILL) },
                None => What::Ended { how: How::Vanished, hint: true },
            };
            vec![Claim::new(what, Who::own(Role::Engine, c.num("pid")))]
        },
        samples: &[
            "(raylet) A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker. RayTask ID: 16310a0f Worker ID: f1d6a8a8 Node ID: 3b2ab2a0 Worker IP address: 10.0.0.5 Worker port: 10031 Worker PID: 51233 Worker exit type: SYSTEM_ERROR Worker exit detail: Worker unexpectedly exits with a connection error code 2. End of file. There are some potential root causes. (1) The process is killed by SIGKILL by OOM killer due to high memory usage. (2) ray stop --force is called. (3) The worker is crashed unexpectedly due to SIGSEGV or other unexpected errors.",
            "A worker died or was killed while executing a task by an unexpected system error. To troubleshoot the problem, check the logs for the dead worker. Worker port: 10003 Worker PID: 69161 Worker exit type: SYSTEM_ERROR Worker exit detail: Task was killed due to the node running low on memory.",
            "Worker unexpectedly exits with a connection error code 2. End of file. Some common causes include: (1) the process was killed by the OOM killer due to high memory usage, (2) ray stop --force was called, or (3) the worker crashed unexpectedly due to SIGSEGV or another unexpected error.",
        ],
        near_misses: &[
            "# A worker died or was killed while executing a task by an unexpected system error.",
            "\"Worker unexpectedly exits with a connection error code 2. End of file.\"",
        ],
    },
    // python/ray/exceptions.py: the driver's view of the same.
    Pattern {
        id: "ray/crashed",
        witness: Witness::Program,
        stems: &[
            "ray.exceptions.WorkerCrashedError: ",
            "The actor died unexpectedly before finishing this task",
            "The actor is dead because its worker process has died",
        ],
        regex: r"^(?:\([^)]*\) )?(?:(?:\w+\.)*WorkerCrashedError: The worker died unexpectedly while executing this task|(?:(?:\w+\.)*\w+Error: |[\s|│]*)The actor died unexpectedly before finishing this task\.|(?:\s*|.*\. )The actor is dead because its worker process has died\.)",
        read: |_| vec![Claim::new(What::Ended { how: How::Vanished, hint: true }, Who::role(Role::Engine))],
        samples: &[
            "ray.exceptions.WorkerCrashedError: The worker died unexpectedly while executing this task. Check python-core-worker-*.log files for more information.",
            "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.",
            "The actor is dead because its worker process has died. Worker exit type: SYSTEM_ERROR Worker exit detail: Worker exits unexpectedly.",
        ],
        near_misses: &["except ray.exceptions.WorkerCrashedError: retry()"],
    },
    // python/ray/_private and gcs_actor_manager.cc: an actor that its own driver ended.
    Pattern {
        id: "ray/kill",
        witness: Witness::Supervisor,
        stems: &["The actor is dead because it was killed by `ray.kill`"],
        regex: r"^(?:\([^)]*\) )?[\s|│]*The actor is dead because it was killed by `ray\.kill`\.?",
        read: |_| {
            let what = What::Stopped { by: "ray.kill", why: Why::Request, signal: Some(Signal::KILL) };
            vec![Claim::new(what, Who::role(Role::Engine))]
        },
        samples: &["The actor is dead because it was killed by `ray.kill`."],
        near_misses: &["The actor is dead because its worker process has died."],
    },
    // raylet's memory monitor (2.2 and later): SIGKILL from user space, so no kernel record exists. The pid is of the
    // node's or container's namespace.
    Pattern {
        id: "ray/memory",
        witness: Witness::Supervisor,
        stems: &[
            "Ray killed this worker (ID: ",
            "due to the node running low on memory",
            "killed due to memory pressure (OOM)",
            "Ray killed ",
        ],
        regex: r"^(?:\([^)]*\) |\[[^\]]*\] |\w+\.cc:\d+: )*(?:\s+|.* exit_detail = )?(?:(?:\w+\.)*OutOfMemoryError: )?(?:Memory on the node \(IP: [^)]*\)(?: where the \w+(?: \(\w+ ID: .*?(?:pid=(?<pid>\d+))?(?:, memory used=[^)]*)?\))? was running)? was .* Ray killed (?:this worker \(ID: |[1-9]\d* worker)|(?:Task was|[1-9]\d* worker\(s\) were) killed due to the node running low on memory\.|[1-9]\d* Workers \(tasks / actors\) killed due to memory pressure \(OOM\))",
        read: |c| {
            let what = What::Stopped { by: "Ray", why: Why::Memory, signal: Some(Signal::KILL) };
            vec![Claim::new(what, Who::own(Role::Engine, c.num("pid")))]
        },
        samples: &[
            "Memory on the node (IP: 10.0.0.5, ID: 3b2ab2a0) where the task (task ID: 16310a0f, name=load, pid=51233, memory used=21.30GB) was running was 60.13GB / 62.00GB (0.969), which exceeds the memory usage threshold of 0.95. Ray killed this worker (ID: f1d6a8a8) because it was the most recently scheduled task; to see more information about memory usage on this node, use `ray logs raylet.out -ip 10.0.0.5`.",
            "    Memory on the node (IP: 172.17.0.2, ID: 3a4b6075) where the task was running was 32.91GB / 33.28GB (0.988698), which exceeds the memory usage threshold of 0.969955. Ray killed this worker (ID: 9eda340f) because it was the most recently scheduled task",
            "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.",
            "(raylet) 3 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 3b2ab2a0, IP: 10.0.0.5) over the last time period.",
            "(raylet) [2025-07-23 15:21:29,851 E 8120 8120] (raylet) node_manager.cc:3084: 2 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 3e1b09c7, IP: 10.20.0.5) over the last time period.",
            "ray.exceptions.OutOfMemoryError: 2 worker(s) were killed due to the node running low on memory.",
        ],
        near_misses: &[
            "(raylet) 0 Workers (tasks / actors) killed due to memory pressure (OOM), 1 Workers crashed due to other reasons at node (ID: 3b2ab2a0, IP: 10.0.0.5)",
            "Actor killed by GCS because the node running low on memory",
        ],
    },
    // ray/_private/services.py at start: what is left of /dev/shm, or all of it. Nothing died.
    Pattern {
        id: "ray/object-store",
        witness: Witness::Program,
        stems: &["instead of /dev/shm because /dev/shm has only ", "exceeds /dev/shm size ("],
        regex: r"(?:The object store is using \S+ instead of /dev/shm because /dev/shm has only (?<bytes>\d+) bytes available\.|The configured object store size \([\d.]+ ?GB\) exceeds /dev/shm size \((?<size>[\d.]+ ?GB)\)\.)",
        read: |c| {
            let bytes = c.num("bytes").map(Bytes).or_else(|| c.bytes("size"));
            bytes.map(|bytes| Claim::bare(What::ShmOption(Shm::Sized(bytes)))).into_iter().collect()
        },
        samples: &[
            "WARNING services.py:1996 -- WARNING: The object store is using /tmp instead of /dev/shm because /dev/shm has only 67108864 bytes available. This will harm performance! You may be able to free up space by deleting files in /dev/shm.",
            "ValueError: The configured object store size (12.5 GB) exceeds /dev/shm size (8.0 GB). This will harm performance.",
        ],
        near_misses: &["The object store is using {} instead of /dev/shm because /dev/shm has only {} bytes available."],
    },
];
