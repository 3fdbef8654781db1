//! Slurm: slurmstepd, srun, slurmd and slurmctld. Checked against 24.11.5; older wordings by version beside each pattern.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

/// A job or job step by its id (`12`, `12.0`, `12.batch`), and the machine where the line tells it.
fn step(c: &Caps<'_>) -> Who {
    let job = c.text("job");
    Who { job, host: c.text("host"), ..Who::role(Role::Job) }
}

fn cancelled(c: &Caps<'_>) -> Vec<Claim> {
    let reason = c.get("reason").unwrap_or_default().to_ascii_uppercase();
    let why = if reason.contains("TIME LIMIT") {
        Why::TimeLimit
    } else if reason.contains("PREEMPTION") {
        Why::Preemption
    } else if reason.contains("NODE FAILURE") {
        return vec![Claim::new(What::Infrastructure, step(c))];
    } else if reason.contains("TASK FAILURE") || (reason.is_empty() && c.get("step").is_some()) {
        // srun cancels its step after one task has died; somebody's request names the job.
        Why::Cleanup
    } else {
        Why::Request
    };
    vec![Claim::new(What::Stopped { by: "Slurm", why, signal: c.signal("signal") }, step(c))]
}

fn task(c: &Caps<'_>) -> Vec<Claim> {
    let who = Who { host: c.text("host"), rank: c.num("tasks"), ..Who::role(Role::Rank) };
    let words = c.get("words").unwrap_or_default().trim_end();
    let what = match c.num("code") {
        Some(code) => What::Ended { how: How::Code(code), hint: false },
        // srun says so when any process of the step was killed for memory, also where the task itself ended otherwise.
        None if words == "Out Of Memory" => What::OomReported { by: "Slurm", scope: Scope::Cgroup },
        None => match Signal::from_description(words) {
            Some(signal) => What::Ended { how: How::Signal(signal), hint: false },
            None => return Vec::new(),
        },
    };
    vec![Claim::new(what, who)]
}

pub(super) const TABLE: &[Pattern] = &[
    // src/plugins/task/cgroup/task_cgroup_memory.c: `oom_kill event in StepId=` from 23.02, `oom-kill event(s) in StepId=`
    // from 20.11, `in step` from 18.08. It counts kills of the whole step.
    Pattern {
        id: "slurm/oom-kill",
        witness: Witness::Supervisor,
        stems: &["oom_kill event", "oom-kill event"],
        regex: r"^(?:(?:\[[\w.+]+\]|slurmstepd\S*:|srun:)\s+)?error: Detected [1-9]\d* oom[-_]kill event(?:s|\(s\))? in (?:StepId=|step )(?<job>\d+\.\w+)(?: cgroup)?\. Some of ",
        read: |c| vec![Claim::new(What::OomReported { by: "Slurm", scope: Scope::Cgroup }, step(c))],
        samples: &[
            "slurmstepd-labvm: error: Detected 1 oom_kill event in StepId=1.0. Some of the step tasks have been OOM Killed.",
            "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=191.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.",
            "slurmstepd: error: Detected 3 oom-kill event(s) in step 4711.0 cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler.",
        ],
        near_misses: &[
            "[12.batch] task/cgroup: task_cgroup_memory_check_oom: StepId=12.batch hit memory limit at least once during execution. This may or may not result in some failure.",
            "error: Detected %lu oom_kill event in %ps. Some of the step tasks have been OOM Killed.",
        ],
    },
    // src/interfaces/jobacct_gather.c with OverMemoryKill: Slurm's own SIGKILL, so the kernel logs nothing.
    Pattern {
        id: "slurm/exceeded",
        witness: Witness::Supervisor,
        stems: &["exceeded memory limit (", "xceeded job memory limit", "xceeded step memory limit"],
        regex: r"^(?:slurmstepd\S*|srun|slurmd\S*): (?:error: )?(?:(?:StepId=|Step |Job |JobId=)(?<job>\d+(?:\.\w+)?) exceeded (?:virtual )?memory limit \(\d+ > \d+\), being killed|Exceeded (?:job|step) memory limit)\s*$",
        read: |c| vec![Claim::new(What::Stopped { by: "Slurm", why: Why::Memory, signal: Some(Signal::KILL) }, step(c))],
        samples: &[
            "slurmstepd-node7: error: Step 2207731.0 exceeded memory limit (52917772 > 20971520), being killed",
            "slurmstepd: error: Exceeded job memory limit",
            "srun: Exceeded job memory limit",
        ],
        near_misses: &[
            "slurmstepd: error: Exceeded step memory limit at some point.",
            "slurmstepd: error: Exceeded job memory limit at some point.",
        ],
    },
    // src/srun/launch.c: the task numbers are a range list.
    Pattern {
        id: "slurm/task",
        witness: Witness::Supervisor,
        stems: &["srun: error: "],
        regex: r"^srun: error: (?<host>\S+): tasks? (?<tasks>\d+(?:[-,]\d+)*): (?:Exited with exit code (?<code>\d+)|(?<words>[A-Z][\w ]+?)(?: \(core dumped\))?)\s*$",
        read: task,
        samples: &[
            "srun: error: labvm: task 0: Out Of Memory",
            "srun: error: labvm: task 0: Bus error",
            "srun: error: gpu[01-04]: tasks 0-3,7: Killed",
            "srun: error: gpu003: task 0: Exited with exit code 1",
            "srun: error: gpu003: task 0: Segmentation fault (core dumped)",
        ],
        near_misses: &[
            "srun: error: Unable to allocate resources: Invalid partition name specified",
            "srun: forcing job termination",
        ],
    },
    // src/slurmd/slurmstepd/req.c.
    Pattern {
        id: "slurm/cancelled",
        witness: Witness::Supervisor,
        stems: &[" CANCELLED AT "],
        regex: r"^(?:(?:\[[\w.+]+\]|slurmstepd\S*:|srun:)\s+)?(?:error|slurmstepd\S*): \*\*\* (?:JOB|(?<step>STEP|StepId=)|JobId=) ?(?<job>\d+(?:\.\w+)?) (?:ON (?<host>\S+) )?CANCELLED AT \S+(?: (?:DUE )?(?:to SIGNAL (?<signal>\w+)|(?<reason>[^*]+?)))? ?\*\*\*",
        read: cancelled,
        samples: &[
            "slurmstepd-labvm: error: *** JOB 14 ON labvm CANCELLED AT 2026-12-01T07:24:42 ***",
            "slurmstepd: error: *** JOB 7518 ON node07 CANCELLED AT 2022-06-10T17:11:35 DUE TO TIME LIMIT ***",
            "slurmstepd: error: *** STEP 10.0 ON labvm CANCELLED AT 2026-12-01T07:23:51 DUE TO PREEMPTION ***",
            "slurmstepd: error: *** JOB 88 ON gpu3 CANCELLED AT 2024-05-03T10:00:00 DUE TO NODE FAILURE, SEE SLURMCTLD LOG FOR DETAILS ***",
        ],
        near_misses: &["error: *** %s %u ON %s CANCELLED AT %s ***"],
    },
    // src/srun: the rest of a step is ended after a task died; tasks killed by it say `Killed` too.
    Pattern {
        id: "slurm/cleanup",
        witness: Witness::Supervisor,
        stems: &["srun: Force Terminated ", "srun: Terminating ", "_step_signal: Terminating ", "srun: Job step aborted: "],
        regex: r"^srun: (?:Force Terminated (?:StepId=|job step |job )(?<job>\d+(?:\.\w+)?)|(?:launch/slurm: _step_signal: )?Terminating (?:StepId=|job step )(?<job2>\d+(?:\.\w+)?)|Job step aborted: Waiting up to \d+ seconds for job step to finish\.)",
        read: |c| {
            let job = c.text("job").or_else(|| c.text("job2"));
            vec![Claim::new(What::Stopped { by: "Slurm", why: Why::Cleanup, signal: None }, Who { job, ..Who::role(Role::Job) })]
        },
        samples: &[
            "srun: Force Terminated StepId=4.0",
            "srun: launch/slurm: _step_signal: Terminating StepId=4.0",
            "srun: Job step aborted: Waiting up to 32 seconds for job step to finish.",
        ],
        near_misses: &["srun: Terminating on request"],
    },
    // slurmctld's job_mgr.c: the batch script's end. `WEXITSTATUS 0` is no death.
    Pattern {
        id: "slurm/controller",
        witness: Witness::Supervisor,
        stems: &["_job_complete: JobId="],
        regex: r"_job_complete: JobId=(?<job>\d+)\S* (?:(?<oom>OOM failure)|WTERMSIG (?<signal>\d+)|WEXITSTATUS (?<code>[1-9]\d*))\s*$",
        read: |c| {
            let what = match (c.get("oom"), c.signal("signal"), c.num("code")) {
                (Some(_), ..) => What::OomReported { by: "Slurm", scope: Scope::Cgroup },
                (_, Some(signal), _) => What::Ended { how: How::Signal(signal), hint: false },
                (_, _, Some(code)) => What::Ended { how: How::Code(code), hint: false },
                _ => return Vec::new(),
            };
            vec![Claim::new(what, step(c))]
        },
        samples: &[
            "_job_complete: JobId=12 OOM failure",
            "[2026-12-01T07:24:43.807] _job_complete: JobId=14 WTERMSIG 9",
            "_job_complete: JobId=7 WEXITSTATUS 137",
        ],
        near_misses: &["_job_complete: JobId=12 done", "_job_complete: JobId=12 WEXITSTATUS 0"],
    },
    // slurmd's mgr.c at verbose level.
    Pattern {
        id: "slurm/stepd",
        witness: Witness::Supervisor,
        stems: &["exited. Killed by signal "],
        regex: r"(?:^|\s)task (?<rank>\d+) \((?<pid>\d+)\) exited\. Killed by signal (?<signal>\d+)\.?$",
        read: |c| {
            let how = c.signal("signal").map_or(How::Vanished, How::Signal);
            let who = Who { rank: c.num("rank"), ..Who::host(c.num("pid"), None) };
            vec![Claim::new(What::Ended { how, hint: false }, who)]
        },
        samples: &["[2026-12-01T07:22:10.100] [3.0] task 0 (9702) exited. Killed by signal 7."],
        near_misses: &["[2026-12-01T07:22:10.100] [3.0] task 0 (9702) exited with exit code 0."],
    },
    // slurmstepd's mgr.c at verbose level, from 20.02.
    Pattern {
        id: "slurm/died",
        witness: Witness::Supervisor,
        stems: &["get_exit_code task "],
        regex: r"(?:^|\s)(?:\[(?<job>\d+\.\w+)\] )?get_exit_code task (?<rank>\d+) died by signal: (?<signal>\d+)\s*$",
        read: |c| {
            let Some(signal) = c.signal("signal") else { return Vec::new() };
            let who = Who { job: c.text("job"), rank: c.num("rank"), ..Who::role(Role::Rank) };
            vec![Claim::new(What::Ended { how: How::Signal(signal), hint: false }, who)]
        },
        samples: &["[2026-12-01T07:21:44.534] [3.0] get_exit_code task 0 died by signal: 7"],
        near_misses: &["[3.0] get_exit_code task 0 killed by cmd"],
    },
    // slurmctld: job_mgr.c, job_scheduler.c and the preemption plug-ins.
    Pattern {
        id: "slurm/ended-by-controller",
        witness: Witness::Supervisor,
        stems: &["Time limit exhausted for JobId=", "REQUEST_KILL_JOB JobId=", " has been ", "Killing JobId="],
        regex: r"(?:^|\s)(?:(?<time>Time limit exhausted for) JobId=(?<job>\d+)|REQUEST_KILL_JOB JobId=(?<job2>\d+)\S* uid \d+|preempted JobId=(?<job3>\d+)\S* has been (?<preempted>killed|requeued|checkpointed|suspended|canceled) to reclaim|Killing JobId=(?<job4>\d+)\S* on (?<failed>failed|DOWN) node)",
        read: |c| {
            let job = ["job", "job2", "job3", "job4"].iter().find_map(|group| c.text(group));
            let who = Who { job, ..Who::role(Role::Job) };
            let why = match (c.get("time"), c.get("preempted")) {
                (Some(_), _) => Why::TimeLimit,
                (_, Some(_)) => Why::Preemption,
                _ => Why::Request,
            };
            let what =
                if c.get("failed").is_some() { What::Infrastructure } else { What::Stopped { by: "Slurm", why, signal: None } };
            vec![Claim::new(what, who)]
        },
        samples: &[
            "[2026-12-01T07:24:43.807] Time limit exhausted for JobId=21",
            "[2026-12-01T07:24:39.504] _slurm_rpc_kill_job: REQUEST_KILL_JOB JobId=13 uid 0",
            "preempted JobId=7 has been requeued to reclaim resources for JobId=8",
            "Killing JobId=9 on failed node node7",
        ],
        near_misses: &["preempted JobId=7 has been considered", "REQUEST_KILL_JOB JobId=%u uid %u"],
    },
    // slurmctld's agent.c and job_mgr.c: the subject of the job's mail.
    Pattern {
        id: "slurm/mail",
        witness: Witness::Supervisor,
        stems: &["Job_id="],
        regex: r"(?:^|Subject: )S(?:lurm|LURM) (?:Array \w+ )?Job_id=(?<job>\d+)\S*(?: \(\S+\))? Name=.* (?:Ended|Failed), Run time \S+, (?:(?<oom>OUT_OF_MEMORY)|(?<time>TIMEOUT)|(?<node>NODE_FAIL)|(?<preempted>PREEMPTED)|(?<cancelled>CANCELLED)|(?:FAILED|COMPLETED|MIXED))(?:, ExitCode (?:\[\d+-)?(?<code>\d+)\]?)?\s*$",
        read: |c| {
            let stopped = |why| What::Stopped { by: "Slurm", why, signal: None };
            let has = |group: &str| c.get(group).is_some();
            let what = match c.num("code") {
                _ if has("oom") => What::OomReported { by: "Slurm", scope: Scope::Cgroup },
                _ if has("time") => stopped(Why::TimeLimit),
                _ if has("node") => What::Infrastructure,
                _ if has("preempted") => stopped(Why::Preemption),
                _ if has("cancelled") => stopped(Why::Request),
                Some(code) if code != 0 => What::Ended { how: How::Code(code), hint: false },
                _ => return Vec::new(),
            };
            vec![Claim::new(what, step(c))]
        },
        samples: &[
            "Subject: Slurm Job_id=4711 Name=train Ended, Run time 00:10:00, OUT_OF_MEMORY",
            "SLURM Job_id=4711 Name=train Failed, Run time 00:10:00, FAILED, ExitCode 137",
            "Slurm Job_id=4711 Name=train Failed, Run time 1-00:00:05, TIMEOUT, ExitCode 0",
        ],
        near_misses: &[
            "Slurm Job_id=4711 Name=train Began, Queued time 00:00:01",
            "Slurm Job_id=4711 Name=train Ended, Run time 00:10:00, COMPLETED, ExitCode 0",
        ],
    },
];
