//! `scontrol show job` and `seff`: one Slurm job as `key=value` pairs, or as `Key: value` lines.

use std::collections::HashMap;

use crate::fact::{How, Role, What, Who, Witness};
use crate::seen::Form;
use crate::time::Stamp;
use crate::units::Bytes;

use super::{Reading, TextFormat, slurm_state, texts};

/// Slurm's src/scontrol, also with `--oneliner`.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "slurm-scontrol",
    starts: &["JobId="],
    read,
    form: Form {
        name: "scontrol show job",
        how: "scontrol show job ID",
        proves: "kill for memory in a job, signal, time limit, memory request; kept for some minutes after the end",
    },
    samples: &[
        "JobId=1 JobName=oom\n   UserId=root(0) GroupId=root(0) MCS_label=N/A\n   JobState=OUT_OF_MEMORY Reason=OutOfMemory Dependency=(null)\n   Requeue=1 Restarts=0 BatchFlag=0 Reboot=0 ExitCode=0:125\n   StartTime=2026-12-01T07:21:38 EndTime=2026-12-01T07:21:40 Deadline=N/A\n   NodeList=labvm\n   MinCPUsNode=1 MinMemoryNode=64M MinTmpDiskNode=0\n",
        "JobId=3 JobName=bus JobState=FAILED Reason=RaisedSignal:7(Bus_error) ExitCode=0:7 EndTime=2026-12-01T07:21:44 NodeList=gpu[01-02]\n",
    ],
};

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut job: Option<(u64, HashMap<&str, &str>)> = None;
    for (number, line) in texts::numbered(text) {
        let bare = line.trim_start();
        if bare.starts_with("JobId=") {
            finish(&mut reading, job.replace((number, HashMap::new())));
        } else if bare.is_empty() || !line.starts_with([' ', '\t']) {
            finish(&mut reading, job.take());
        }
        let Some((state_line, pairs)) = &mut job else { continue };
        for (key, value) in bare.split_whitespace().filter_map(|pair| pair.split_once('=')) {
            if key == "JobState" {
                *state_line = number;
            }
            pairs.entry(key).or_insert(value);
        }
    }
    finish(&mut reading, job);
    reading.told()
}

fn finish(reading: &mut Reading, job: Option<(u64, HashMap<&str, &str>)>) {
    let Some((line, pairs)) = job else { return };
    let value = |key: &str| pairs.get(key).copied().unwrap_or_default();
    let (code, signal) = slurm_state::exit(value("ExitCode"));
    let Some(what) = slurm_state::end(value("JobState"), code, signal) else { return };
    if matches!(what, What::Ended { how: How::Code(0), .. }) {
        return;
    }
    let host = slurm_state::host(value("NodeList"));
    let who = Who { job: Some(value("JobId").to_owned()), host, ..Who::role(Role::Job) };
    let text = format!(
        "JobId={} JobState={} Reason={} ExitCode={}",
        value("JobId"),
        value("JobState"),
        value("Reason"),
        value("ExitCode")
    );
    reading.say(Witness::Supervisor, line, &who, Stamp::parse(value("EndTime")), what, text);
    if let Some(bytes) = slurm_state::memory(value("MinMemoryNode")) {
        let text = format!("MinMemoryNode={}", value("MinMemoryNode"));
        reading.say(Witness::Supervisor, line, &who, None, What::MemoryOption(bytes), text);
    }
}

/// Slurm's contribs/seff.
pub(super) const SEFF: TextFormat = TextFormat {
    id: "slurm-seff",
    starts: &["Job ID: "],
    read: read_seff,
    form: Form { name: "seff", how: "seff ID", proves: "kill for memory in a job, time limit, memory request" },
    samples: &[
        "Job ID: 4711\nCluster: lab\nUser/Group: ada/ml\nState: OUT_OF_MEMORY (exit code 0)\nNodes: 1\nCores per node: 4\nMemory Utilized: 15.92 GB\nMemory Efficiency: 99.51% of 16.00 GB\n",
    ],
};

fn read_seff(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let mut who = Who::role(Role::Job);
    for (number, line) in texts::numbered(text) {
        let Some((key, value)) = line.trim_start().split_once(": ") else { continue };
        match key {
            "Job ID" => who.job = Some(value.trim().to_owned()),
            "State" if who.job.is_some() => {
                let Some((state, rest)) = value.split_once(" (exit code ") else { continue };
                let code = rest.trim_end_matches(')').parse().ok();
                let ended =
                    slurm_state::end(state, code, None).filter(|what| *what != What::Ended { how: How::Code(0), hint: false });
                if let Some(what) = ended {
                    reading.say(Witness::Supervisor, number, &who, None, what, line.trim());
                }
            }
            "Memory Efficiency" if !reading.entries.is_empty() => {
                let size = value.rsplit_once(" of ").map(|(_, size)| size.split(" (").next().unwrap_or(size));
                if let Some(bytes) = size.and_then(|size| size.parse::<Bytes>().ok()) {
                    reading.say(Witness::Supervisor, number, &who, None, What::MemoryOption(bytes), line.trim());
                }
            }
            _ => {}
        }
    }
    reading.told()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Scope;

    #[test]
    fn each_job_of_a_text_is_read() {
        let text = format!("{}\n{}", FORMAT.samples[0], FORMAT.samples[1]);
        let entries = read(&text).unwrap().entries;
        let jobs: Vec<_> = entries.iter().map(|entry| (entry.claim.who.job.as_deref().unwrap(), entry.line.unwrap())).collect();
        assert_eq!(jobs, [("1", 3), ("1", 3), ("3", 9)]);
        assert!(entries[0].when.is_some() && entries[0].claim.who.host.as_deref() == Some("labvm"));
        assert_eq!(entries[1].claim.what, What::MemoryOption(Bytes::mib(64)));
        assert_eq!(read("JobId=5 JobState=RUNNING ExitCode=0:0\n"), None);
    }

    #[test]
    fn seff_tells_state_and_request() {
        let entries = read_seff(SEFF.samples[0]).unwrap().entries;
        assert_eq!(entries[0].claim.what, What::OomReported { by: "Slurm", scope: Scope::Cgroup });
        assert_eq!(entries[1].claim.what, What::MemoryOption(Bytes::mib(16 << 10)));
    }
}
