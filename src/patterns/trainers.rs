//! Launchers and trainers other than torchrun: DeepSpeed, Lightning, Composer, Horovod, MPI, UCX, nnU-Net.
//!
//! All of them end the other ranks once one is gone; those kills are clean-up and never the cause.

use super::pools::how;
use super::{Caps, Pattern};
use crate::fact::{Claim, How, Resource, Role, What, Who, Why, Witness};
use crate::units::{Bytes, Signal};

/// A rank's end by a return code of Python's `subprocess`.
fn ended(code: i64) -> What {
    What::Ended { how: how(code), hint: false }
}

fn rank(c: &Caps<'_>) -> Who {
    // mpirun prints pid 0 for a process whose pid it never learned.
    let pid = c.num("pid").filter(|pid| *pid != 0);
    Who { rank: c.num("rank"), host: c.text("host"), ..Who::own(Role::Rank, pid) }
}

fn coded(c: &Caps<'_>) -> Vec<Claim> {
    c.num("code").map(|code| Claim::new(ended(code), rank(c))).into_iter().collect()
}

fn signalled(c: &Caps<'_>) -> Vec<Claim> {
    let how = c.signal("signal").map_or(How::Vanished, How::Signal);
    vec![Claim::new(What::Ended { how, hint: false }, rank(c))]
}

fn cleanup(by: &'static str, signal: Option<Signal>, who: Who) -> Claim {
    Claim::new(What::Stopped { by, why: Why::Cleanup, signal }, who)
}

pub(super) const TABLE: &[Pattern] = &[
    // deepspeed/launcher/launch.py `sigkill_handler`: all ranks are named, dead ones too.
    Pattern {
        id: "deepspeed/cleanup",
        witness: Witness::Supervisor,
        stems: &["Killing subprocess "],
        regex: r"^(?:.*\[launch\.py:\d+:sigkill_handler\] )?Killing subprocess (?<pid>\d+)\s*$",
        read: |c| vec![cleanup("DeepSpeed", None, Who::own(Role::Rank, c.num("pid")))],
        samples: &[
            "[2023-07-20 15:45:13,980] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 3966",
            "Killing subprocess 97",
        ],
        near_misses: &["print(f\"Killing subprocess {process.pid}\")", "Killing subprocess tree of 97"],
    },
    // The same function; then `sys.exit` cuts the code to eight bits (-9 becomes 247).
    Pattern {
        id: "deepspeed/exit",
        witness: Witness::Supervisor,
        stems: &["exits with return code = "],
        regex: r"^.*\] exits with return code = (?<code>-?\d+)\s*$",
        read: coded,
        samples: &[
            "[2023-07-21 03:14:31,390] [ERROR] [launch.py:321:sigkill_handler] ['/opt/conda/bin/python', '-u', 'train_reward_model_gptj.py', '--local_rank=7'] exits with return code = -7",
            "-train_file', 'AdvertiseGen/train.json', '--per_device_train_batch_size', '4'] exits with return code = -7",
        ],
        near_misses: &[
            "logger.error(f\"{last_return_code} exits with return code = {code}\")",
            "a job that exits with return code = -7 got SIGBUS",
        ],
    },
    // deepspeed/launcher/launch.py, on success.
    Pattern {
        id: "deepspeed/success",
        witness: Witness::Supervisor,
        stems: &["exits successfully"],
        regex: r"^.*\[launch\.py:\d+:main\] Process \d+ exits successfully\.\s*$",
        read: |_| vec![Claim::new(What::Finished, Who::role(Role::Rank))],
        samples: &["[2023-07-21 03:14:31,390] [INFO] [launch.py:347:main] Process 5512 exits successfully."],
        near_misses: &["Process 5512 exits successfully most of the time"],
    },
    // lightning/fabric/strategies/launchers/subprocess_script.py, 2.1.0 and later. It then kills its own main process with
    // SIGKILL, so the shell prints `Killed` and 137 without any OOM.
    Pattern {
        id: "lightning/child",
        witness: Witness::Supervisor,
        stems: &["Forcefully terminating all other processes"],
        regex: r"Child process with PID (?<pid>\d+) terminated with code (?<code>-?\d+)\. Forcefully terminating all other processes to avoid zombies",
        read: |c| {
            let mut claims = coded(c);
            claims.push(cleanup("Lightning", Some(Signal::KILL), Who::role(Role::Rank)));
            claims
        },
        samples: &[
            "[rank: 1] Child process with PID 4021 terminated with code -9. Forcefully terminating all other processes to avoid zombies 🧟",
        ],
        near_misses: &[
            "f\"Child process with PID {proc.pid} terminated with code {code}. Forcefully terminating all other processes to avoid zombies\"",
        ],
    },
    // composer/cli/launcher.py of MosaicML.
    Pattern {
        id: "composer/exit",
        witness: Witness::Supervisor,
        stems: &[") exited with code "],
        regex: r"^(?:ERROR:composer\.cli\.launcher:|.*composer\.cli\.launcher.*: )?(?:Global )?[Rr]ank (?<rank>\d+) \(PID (?<pid>\d+)\) exited with code (?<code>-?\d+)\s*$",
        read: coded,
        samples: &[
            "ERROR:composer.cli.launcher:Global rank 0 (PID 2155) exited with code 1",
            "rank 1 (PID 2156) exited with code -7",
        ],
        near_misses: &["trainer-1 exited with code 137", "Global rank {rank} (PID {pid}) exited with code {code}"],
    },
    // horovod/runner/gloo_run.py: the number is a rank, and a signal is 128 + n.
    Pattern {
        id: "horovod/process",
        witness: Witness::Supervisor,
        stems: &[" exit with status code "],
        regex: r"^Process (?<rank>\d+) exit with status code (?<code>-?[1-9]\d*)\.\s*$",
        read: coded,
        samples: &["Process 3 exit with status code 137."],
        near_misses: &["Process 3 exit with status code {code}.", "Process 0 exit with status code 0."],
    },
    Pattern {
        id: "horovod/cleanup",
        witness: Witness::Supervisor,
        stems: &["Terminating remaining workers after failure of "],
        regex: r"^Terminating remaining workers after failure of Process \d+\.\s*$",
        read: |_| vec![cleanup("Horovod", None, Who::role(Role::Rank))],
        samples: &["Terminating remaining workers after failure of Process 3."],
        near_misses: &["print('Terminating remaining workers after failure of Process {idx}.'.format(idx=index))"],
    },
    // horovod/runner/gloo_run.py and js_run.py: two lines below the sentence; signals are 128 + n, and no pid is told.
    Pattern {
        id: "horovod/exit",
        witness: Witness::Supervisor,
        stems: &["Horovod detected that one or more processes exited"],
        regex: r"^(?:[\w.]*Error: )?Horovod detected that one or more processes exited with non-zero status, thus causing the job to be terminated\.",
        read: |_| vec![cleanup("Horovod", None, Who::role(Role::Job))],
        samples: &[
            "RuntimeError: Horovod detected that one or more processes exited with non-zero status, thus causing the job to be terminated. The first process to do so was:",
        ],
        near_misses: &["    raise RuntimeError('Horovod detected that one or more processes exited with non-zero '"],
    },
    Pattern {
        id: "horovod/code",
        witness: Witness::Supervisor,
        stems: &["Exit code: "],
        regex: r"^Exit code: (?<code>-?[1-9]\d*)$",
        read: coded,
        samples: &["Exit code: 135"],
        near_misses: &["      Exit Code:    137", "Exit code: 137, reason unknown", "Exit code: 0"],
    },
    // orte/tools/orterun (Open MPI): the pid is often 0.
    Pattern {
        id: "mpirun/signal",
        witness: Witness::Supervisor,
        stems: &[" noticed that process rank "],
        regex: r"^(?:mpirun|mpiexec|prterun|orterun) noticed that process rank (?<rank>\d+) with PID (?<pid>\d+) on node (?<host>\S+) exited on signal (?<signal>\d+)(?: \([^)]*\))?\.",
        read: signalled,
        samples: &[
            "mpirun noticed that process rank 1 with PID 0 on node gpu01 exited on signal 9 (Killed).",
            "mpirun noticed that process rank 3 with PID 20418 on node gpu02 exited on signal 7 (Bus error).",
        ],
        near_misses: &["mpirun noticed that process rank %d with PID %d on node %s exited on signal %d."],
    },
    // hydra of MPICH and Intel MPI: `EXIT CODE: 9` in the box is a signal number, which only the last line of the box tells.
    Pattern {
        id: "mpich/signal",
        witness: Witness::Supervisor,
        stems: &["YOUR APPLICATION TERMINATED WITH THE EXIT STRING: "],
        regex: r"^YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .*\(signal (?<signal>\d+)\)\s*$",
        read: signalled,
        samples: &["YOUR APPLICATION TERMINATED WITH THE EXIT STRING: Killed (signal 9)"],
        near_misses: &["YOUR APPLICATION TERMINATED WITH THE EXIT STRING: <text> (signal <n>)"],
    },
    // src/uct/sm/mm/posix/mm_posix.c: UCX writes the pages first, so it notices instead of dying of SIGBUS.
    Pattern {
        id: "ucx/shm",
        witness: Witness::Program,
        stems: &["Not enough memory to write total of "],
        regex: r"Not enough memory to write total of (?<bytes>\d+) bytes\. Please check that /dev/shm or the directory you specified has more available memory",
        read: |c| {
            let bytes = c.num("bytes").map(Bytes);
            vec![Claim::new(What::Refused { resource: Resource::Shm, errno: None, bytes, by: "UCX" }, Who::role(Role::Rank))]
        },
        samples: &[
            "[1689909271.133] [gpu01:3304 :0]       mm_posix.c:195  UCX  ERROR Not enough memory to write total of 4292720 bytes. Please check that /dev/shm or the directory you specified has more available memory.",
        ],
        near_misses: &[
            "Not enough memory to write total of %zu bytes. Please check that /dev/shm or the directory you specified has more available memory.",
        ],
    },
    // Open MPI's help text of its shared-memory components (help-opal-shmem-mmap.txt), 1.5 and later; the job may go on.
    Pattern {
        id: "openmpi/shm",
        witness: Witness::Program,
        stems: &["It appears as if there is not enough space for /dev/shm/"],
        regex: r"^It appears as if there is not enough space for /dev/shm/\S+ \(the shared-memory backing(?: file\).*)?\s*$",
        read: |_| vec![Claim::bare(What::ShmShort)],
        samples: &[
            "It appears as if there is not enough space for /dev/shm/vader_segment.3eef99a70454.0.c5600001.2 (the shared-memory backing",
        ],
        near_misses: &[
            "It appears as if there is not enough space for %s (the shared-memory backing",
            "It appears as if there is not enough space for /tmp/ompi.n1.0/x (the shared-memory backing",
        ],
    },
    // nnunetv2 and batchgenerators: a worker is gone, and the sentence points at prints that may not exist.
    Pattern {
        id: "nnunet/workers",
        witness: Witness::Program,
        stems: &["background workers are no longer alive", "background worker is 6 feet under"],
        regex: r"^(?:[\w.]*Error: )?(?:One or more background workers are no longer alive\. Exiting\.|Some background worker is 6 feet under\. Yuck\.|\d+ background workers are no longer alive)",
        read: |_| vec![Claim::new(What::Ended { how: How::Vanished, hint: true }, Who::role(Role::Worker))],
        samples: &[
            "RuntimeError: Some background worker is 6 feet under. Yuck. ",
            "RuntimeError: One or more background workers are no longer alive. Exiting. Please check the print statements above for the actual error message",
        ],
        near_misses: &[
            "    raise RuntimeError(\"One or more background workers are no longer alive. Exiting. Please check the \"",
        ],
    },
    // Kaldi's run.pl (also in ESPnet) ends its log with the code of the job it ran.
    Pattern {
        id: "kaldi/run-pl",
        witness: Witness::Arithmetic,
        stems: &["# Ended (code "],
        regex: r"^# Ended \(code (?<code>\d+)\) at ",
        read: |c| {
            let code = c.num("code");
            code.map(|code| match code {
                0 => Claim::new(What::Finished, Who::role(Role::Job)),
                code => Claim::new(What::Ended { how: How::Code(code), hint: false }, Who::role(Role::Job)),
            })
            .into_iter()
            .collect()
        },
        samples: &["# Ended (code 137) at Thu Dec 29 11:21:38 CST 2022, elapsed time 58 seconds"],
        near_misses: &["# Ended (code $ret) at "],
    },
];
