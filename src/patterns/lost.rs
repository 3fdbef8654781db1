//! A parent's news that a child process is gone: notebooks, web servers, task queues, data clusters, workflow engines.
//!
//! Most of these parents know no signal, and some add a guess at memory to every message.

use super::pools::how;
use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

fn gone(role: Role) -> Vec<Claim> {
    vec![Claim::new(What::Ended { how: How::Vanished, hint: false }, Who::role(role))]
}

/// A process that ended, in the words of a parent; `guess` is its explanation of a signal that it did not send.
fn ended(c: &Caps<'_>) -> Vec<Claim> {
    let signal = ["signal", "signal2", "signal3"].iter().find_map(|group| c.signal(group)).map(How::Signal);
    let code = ["code", "code2", "code3"].iter().find_map(|group| c.num(group)).map(how);
    let who = Who { process: c.text("process"), ..Who::own(Role::Worker, c.num("pid")) };
    let how = signal.or(code).unwrap_or(How::Vanished);
    if how == How::Code(0) {
        return Vec::new();
    }
    vec![Claim::new(What::Ended { how, hint: c.get("guess").is_some() }, who)]
}

fn stopped(by: &'static str, why: Why, signal: Option<Signal>, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why, signal }, who)]
}

pub(super) const TABLE: &[Pattern] = &[
    // nbclient and nbconvert under papermill; jupyter_client's restarter; what the notebook, Colab and VS Code show.
    Pattern {
        id: "jupyter/kernel",
        witness: Witness::Supervisor,
        stems: &[
            "DeadKernelError: ",
            "KernelRestarter: restarting kernel (",
            " appears to have died. It will restart automatically",
            "The Kernel crashed while executing code in the ",
            "The kernel has died, and the automatic restart has failed",
            "Your session crashed for an unknown reason",
        ],
        regex: concat!(
            r"^(?:(?:[\w.]+\.)?DeadKernelError: Kernel died|(?:\[[A-Z] [^\]]*\] )?\w*KernelRestarter: restarting kernel \(\d+/\d+\)",
            r"|(?:Kernel Restarting:? )?The kernel (?:for \S+ )?appears to have died\. It will restart automatically\.",
            r"|The Kernel crashed while executing code in the (?:current|previous) cell|(?:Dead kernel:? )?The kernel has died, and the automatic restart has failed\.|Your session crashed for an unknown reason\.)"
        ),
        read: |_| gone(Role::Rank),
        samples: &[
            "nbclient.exceptions.DeadKernelError: Kernel died",
            "[I 10:11:12.123 NotebookApp] KernelRestarter: restarting kernel (1/5), keep random ports",
            "AsyncIOLoopKernelRestarter: restarting kernel (1/5), keep random ports",
            "The kernel for train.ipynb appears to have died. It will restart automatically.",
            "The Kernel crashed while executing code in the current cell or a previous cell. Please review the code in the cell(s) to identify a possible cause of the failure.",
            "Your session crashed for an unknown reason.",
            "Dead kernel: The kernel has died, and the automatic restart has failed. It is possible the kernel cannot be restarted.",
        ],
        near_misses: &[
            "    raise DeadKernelError(\"Kernel died\")",
            "If you see \"The kernel appears to have died. It will restart automatically.\", use less memory",
            "Kernel restarted: 1f2e",
        ],
    },
    // Colab's and Kaggle's banners. Both have another one for crashes that they cannot explain, so this is their word, though
    // given from afar.
    Pattern {
        id: "jupyter/out-of-memory",
        witness: Witness::Program,
        stems: &[
            "Your session crashed after using all available RAM",
            "Your notebook tried to allocate more memory than is available",
        ],
        regex: r"^(?:Your session crashed after using all available RAM\.|Your notebook tried to allocate more memory than is available\. It has restarted\.)",
        read: |_| {
            let what = What::OomReported { by: "the notebook's platform", scope: Scope::Unknown };
            vec![Claim::new(what, Who::role(Role::Rank))]
        },
        samples: &[
            "Your session crashed after using all available RAM. If you are interested in access to high-RAM runtimes, you may want to check out Colab Pro.",
            "Your notebook tried to allocate more memory than is available. It has restarted.",
        ],
        near_misses: &["It says: Your session crashed after using all available RAM."],
    },
    // gunicorn/arbiter.py: 20.1 and later guess at memory for every SIGKILL, their own after a time-out too; 20.0 and older
    // print a number.
    Pattern {
        id: "gunicorn/worker",
        witness: Witness::Supervisor,
        stems: &["Worker (pid:", "Worker with pid "],
        regex: r"^(?:\[[^\]]*\] )*Worker (?:\(pid:(?<pid>\d+)\) was sent (?<signal>SIG\w+)!(?<guess> Perhaps out of memory\?)?|with pid (?<pid2>\d+) was terminated due to signal (?<signal2>\d+)|\(pid:(?<pid3>\d+)\) exited with code (?<code>[1-9]\d*)\.?)\s*$",
        read: |c| {
            let pid = c.num("pid").or_else(|| c.num("pid2")).or_else(|| c.num("pid3"));
            let mut claims = ended(c);
            for claim in &mut claims {
                claim.who.own_pid = pid.map(crate::units::OwnPid);
            }
            claims
        },
        samples: &[
            "[2024-05-03 10:00:00 +0000] [7] [ERROR] Worker (pid:12) was sent SIGKILL! Perhaps out of memory?",
            "[WARNING] Worker with pid 12 was terminated due to signal 9",
            "Worker (pid:12) exited with code 3",
        ],
        near_misses: &["Worker (pid:12) was sent %s!", "[2024-05-03 10:00:00 +0000] [12] [INFO] Worker exiting (pid: 12)"],
    },
    // The same file: the worker gets SIGABRT, then SIGKILL.
    Pattern {
        id: "gunicorn/timeout",
        witness: Witness::Supervisor,
        stems: &["WORKER TIMEOUT (pid:"],
        regex: r"^(?:\[[^\]]*\] )*WORKER TIMEOUT \(pid:(?<pid>\d+)\)\s*$",
        read: |c| stopped("gunicorn", Why::Watchdog, None, Who::own(Role::Worker, c.num("pid"))),
        samples: &["[2024-05-03 10:00:00 +0000] [7] [CRITICAL] WORKER TIMEOUT (pid:12)"],
        near_misses: &["self.log.critical(\"WORKER TIMEOUT (pid:%s)\", pid)"],
    },
    // uvicorn/supervisors/multiprocess.py, 0.30 and later; uWSGI's core/master_utils.c.
    Pattern {
        id: "uvicorn/child",
        witness: Witness::Supervisor,
        stems: &["Child process [", "DAMN ! worker "],
        regex: r"^(?:(?:INFO|WARNING): +)?(?:Child process \[(?<pid>\d+)\] died|DAMN ! worker \d+ \(pid: (?<pid2>\d+)\) died(?:, killed by signal (?<signal>\d+))? :\( trying respawn \.\.\.)\s*$",
        read: |c| {
            let mut claims = ended(c);
            for claim in &mut claims {
                claim.who.own_pid = c.num("pid").or_else(|| c.num("pid2")).map(crate::units::OwnPid);
            }
            claims
        },
        samples: &[
            "INFO:     Child process [12] died",
            "DAMN ! worker 1 (pid: 12) died, killed by signal 9 :( trying respawn ...",
        ],
        near_misses: &["Child process [12] started", "a Child process [12] died"],
    },
    // celery's worker and billiard/pool.py, 3 to 5.
    Pattern {
        id: "celery/lost",
        witness: Witness::Supervisor,
        stems: &["Worker exited prematurely: ", " exited with 'signal ", " exited with 'exitcode "],
        regex: concat!(
            r"^(?:\[[^\]]*\] )?(?:(?:Task handler raised error: )?(?:[\w.]+\.)?WorkerLostError(?:: |\(['\x22])Worker exited prematurely: (?:signal (?<signal>\d+)|exitcode (?<code>\d+))",
            r"|Process '(?<process>[\w:-]+)' pid:(?<pid>\d+) exited with '(?:signal (?<signal2>\d+)|exitcode (?<code2>\d+)))"
        ),
        read: ended,
        samples: &[
            "billiard.exceptions.WorkerLostError: Worker exited prematurely: signal 9 (SIGKILL) Job: 1.",
            "[2024-05-03 10:00:00,000: ERROR/MainProcess] Task handler raised error: WorkerLostError('Worker exited prematurely: signal 9 (SIGKILL) Job: 1.')",
            "[2024-05-03 10:00:00,000: ERROR/MainProcess] Process 'ForkPoolWorker-1' pid:12 exited with 'signal 9 (SIGKILL)'",
            "WorkerLostError: Worker exited prematurely: exitcode 155 Job: 3.",
        ],
        near_misses: &[
            "'Worker exited prematurely: {0} Job: {1}.'",
            "raise WorkerLostError('Worker exited prematurely: signal 9')",
        ],
    },
    // airflow: standard_task_runner and local_task_job_runner, 1.10 to 2.x; psutil names a negative status `Negsignal`.
    Pattern {
        id: "airflow/exit",
        witness: Witness::Supervisor,
        stems: &["Task exited with return code ", " terminated with exit code Negsignal.", "returned a non-zero exit code -"],
        regex: concat!(
            r"^(?:\[[^\]]*\] )?(?:\{[^}]*\} \w+ - )?(?:Task exited with return code (?:Negsignal\.(?<signal>SIG\w+)|(?<code>-\d+|1[3-9]\d))",
            r"|Process psutil\.Process\(pid=(?<pid>\d+),.*\) \(\d+\) terminated with exit code Negsignal\.(?<signal2>SIG\w+)",
            r"|(?:[\w.]*AirflowException: )?Bash command failed\. The command returned a non-zero exit code (?<code2>-\d+)\.)\s*$"
        ),
        read: ended,
        samples: &[
            "{local_task_job_runner.py:266} INFO - Task exited with return code -9",
            "[2022-11-17, 03:22:40 UTC] {local_task_job.py:164} INFO - Task exited with return code Negsignal.SIGKILL",
            "Task exited with return code Negsignal.SIGKILL",
            "Process psutil.Process(pid=12, name='airflow task runner', status='terminated', exitcode=<Negsignal.SIGKILL: -9>, started='10:00:00') (12) terminated with exit code Negsignal.SIGKILL",
            "airflow.exceptions.AirflowException: Bash command failed. The command returned a non-zero exit code -9.",
        ],
        near_misses: &[
            "Task exited with return code 0",
            "Task exited with return code 1",
            "self.log.info('Task exited with return code %s', return_code)",
        ],
    },
    // airflow/task/task_runner/standard_task_runner.py, 2.2 and later: said of every -9.
    Pattern {
        id: "airflow/killed",
        witness: Witness::Supervisor,
        stems: &[" was killed before it finished (likely due to running out of memory)"],
        regex: r"^Job \S+ was killed before it finished \(likely due to running out of memory\)\.?(?: .*)?\s*$",
        read: |_| vec![Claim::new(What::Ended { how: How::Signal(Signal::KILL), hint: true }, Who::role(Role::Worker))],
        samples: &["Job 5 was killed before it finished (likely due to running out of memory)"],
        near_misses: &["            \"Job %s was killed before it finished (likely due to running out of memory)\","],
    },
    Pattern {
        id: "airflow/terminated",
        witness: Witness::Supervisor,
        stems: &["State of this instance has been externally set to "],
        regex: r"^(?:\{[^}]*\} \w+ - )?State of this instance has been externally set to \w+\. (?:Terminating instance|Taking the poison pill)\.\s*$",
        read: |_| stopped("Airflow", Why::Request, None, Who::role(Role::Job)),
        samples: &[
            "{local_task_job.py:208} WARNING - State of this instance has been externally set to failed. Terminating instance.",
        ],
        near_misses: &["State of this instance has been externally set to %s. Terminating instance."],
    },
    // distributed/nanny.py and scheduler.py, all versions.
    Pattern {
        id: "dask/worker",
        witness: Witness::Supervisor,
        stems: &["Worker process ", "KilledWorker: "],
        regex: r"^(?:distributed\.\w+ - \w+ - )?(?:Worker process (?<pid>\d+) was killed by (?:signal (?<signal>\d+)|unknown signal)|(?:[\w.]+\.)?KilledWorker: (?:Attempted to run task .* on \d+ different workers, but all those workers died|\('))",
        read: ended,
        samples: &[
            "distributed.nanny - INFO - Worker process 456 was killed by signal 9",
            "distributed.scheduler.KilledWorker: Attempted to run task 'load-1' on 4 different workers, but all those workers died while running it. The last worker that attempt to run the task was tcp://10.0.0.5:4411.",
        ],
        near_misses: &["Worker process 456 was created", "except KilledWorker: retry()"],
    },
    // distributed/nanny.py and worker_memory.py: the nanny sends SIGTERM at 95 % of the worker's own limit.
    Pattern {
        id: "dask/memory",
        witness: Witness::Supervisor,
        stems: &["% memory budget. Restarting"],
        regex: r"^(?:distributed\.[\w.]+ - \w+ - )?Worker (?:\S+ \(pid=(?<pid>\d+)\) )?exceeded \d+% memory budget\. Restarting(?:\.\.\.)?\s*$",
        read: |c| stopped("Dask", Why::Memory, Some(Signal::TERM), Who::own(Role::Worker, c.num("pid"))),
        samples: &[
            "distributed.nanny - WARNING - Worker exceeded 95% memory budget. Restarting",
            "distributed.nanny.memory - WARNING - Worker tcp://10.0.0.5:4411 (pid=456) exceeded 95% memory budget. Restarting...",
        ],
        near_misses: &["Worker exceeded 80% memory budget. Pausing", "A Worker exceeded 95% memory budget. Restarting helps"],
    },
    // rq/worker.py: `os.waitpid`'s raw status, in which a signal is its number (with a core, 128 more) and a code is in the
    // upper byte. `None` means that somebody else has waited for it, as RQ does when it kills.
    Pattern {
        id: "rq/horse",
        witness: Witness::Supervisor,
        stems: &[
            "orse terminated unexpectedly; waitpid returned ",
            "orse process was terminated unexpectedly (waitpid returned ",
            "orse was terminated unexpectedly (waitpid returned ",
        ],
        regex: r"^(?:\d\d:\d\d:\d\d )?(?:Moving job to FailedJobRegistry \()?[Ww]ork-horse (?:process )?(?:was )?terminated unexpectedly(?:; | \()waitpid returned (?:(?<status>\d+)|None)(?: \(signal \d+\))?[;) ]*\s*$",
        read: |c| {
            let how = match c.num::<u32>("status") {
                Some(status) if status & 0x7f != 0 => How::Signal(Signal((status & 0x7f) as u8)),
                Some(status) => How::Code(i64::from(status >> 8)),
                None => How::Vanished,
            };
            vec![Claim::new(What::Ended { how, hint: false }, Who::role(Role::Worker))]
        },
        samples: &[
            "Moving job to FailedJobRegistry (Work-horse terminated unexpectedly; waitpid returned 9 (signal 9); )",
            "Moving job to FailedJobRegistry (Work-horse terminated unexpectedly; waitpid returned None; )",
            "Moving job to FailedJobRegistry (work-horse terminated unexpectedly; waitpid returned 256)",
            "Work-horse process was terminated unexpectedly (waitpid returned 11)",
        ],
        near_misses: &["    exc_string = f'Work-horse terminated unexpectedly; waitpid returned {ret_val}{signal_msg}; '"],
    },
    Pattern {
        id: "rq/kill",
        witness: Witness::Supervisor,
        stems: &["Killed horse pid "],
        regex: r"^(?:\d\d:\d\d:\d\d )?Killed horse pid (?<pid>\d+)\s*$",
        read: |c| stopped("RQ", Why::Request, Some(Signal::KILL), Who::own(Role::Worker, c.num("pid"))),
        samples: &["Killed horse pid 49", "22:30:52 Killed horse pid 49"],
        near_misses: &["    self.log.info('Killed horse pid %s', self.horse_pid)"],
    },
    // Prefect's process worker (2.10 and later) explains -9 in advance; Dagster's multiprocess executor.
    Pattern {
        id: "prefect/process",
        witness: Witness::Supervisor,
        stems: &[
            "exited with status code: ",
            "Multiprocess executor: child process for step ",
            " exited with non-zero status code ",
        ],
        regex: concat!(
            r"^(?:[^'`]*\| )?(?:(?:Reported flow run '[^']*' as crashed: )?Flow run (?:process|infrastructure) exited with non-zero status code (?<code3>-?[1-9]\d*)\.|Process (?:for flow run )?(?:\d+|'[^']*') exited with status code: (?<code>-?[1-9]\d*)(?<guess>; This indicates that .*)?",
            r"|(?:.* - )?Multiprocess executor: child process for step \S+ unexpectedly exited with code (?<code2>-?[1-9]\d*))\s*$"
        ),
        read: ended,
        samples: &[
            "Process for flow run 'fast-owl' exited with status code: -9; This indicates that the process exited due to a SIGKILL signal. Typically, this is either caused by manual cancellation or high memory usage causing the operating system to terminate the process.",
            "Multiprocess executor: child process for step train unexpectedly exited with code -9",
            "Reported flow run '0ab3' as crashed: Flow run process exited with non-zero status code -9.",
        ],
        near_misses: &[
            "Process for flow run 'fast-owl' exited with status code: 0",
            "f\"Process {name} exited with status code: {code}\"",
        ],
    },
];
