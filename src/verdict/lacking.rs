//! What is missing for a surer verdict, and the command that gets it on the platform at hand.

use super::{Cause, Grade, Lacking};
use crate::death::{Context, Cover, Death};
use crate::fact::{Engine, EvictedFor, Fact, What};
use crate::seen::Kind;
use crate::time::Stamp;

/// What would settle the question of one death.
pub(super) fn of(death: &Death, context: &Context, cause: Cause, grade: Grade) -> Vec<Lacking> {
    let mut all = Vec::new();
    match cause {
        Cause::OomSuspected | Cause::SigkillUnexplained | Cause::ExitedUnexpectedly => {
            all.extend(kernel_log(death, context));
            all.extend(record(death, "tell whether the memory limit was reached (OOMKilled), and which limit it was"));
            if cause == Cause::SigkillUnexplained && context.cover(death.when(), death.who.host.as_deref()).0 == Cover::Covers {
                all.push(lacking(
                    "who may send signals on the machine",
                    None,
                    "name a batch system, a cron job, systemd-oomd or an operator",
                ));
            }
            if cause == Cause::ExitedUnexpectedly {
                all.push(lacking(
                    "the program's own output, from the start to the last line",
                    None,
                    "show the signal or the exception",
                ));
            }
        }
        Cause::ShmSuspected | Cause::ShmSigbus if grade < Grade::Proven => {
            if context.dev_shm().is_none() {
                let how = match engine(death) {
                    Some(Engine::Kubernetes) => format!("kubectl exec {} -- df -h /dev/shm", name(death, "POD")),
                    Some(Engine::Docker | Engine::Podman) => format!("docker exec {} df -h /dev/shm", name(death, "CONTAINER")),
                    _ => "df -h /dev/shm".to_owned(),
                };
                all.push(lacking(
                    "the fill of /dev/shm while the job runs",
                    Some(how),
                    "show it full, or rule it out (it empties when the processes die)",
                ));
            }
            all.extend(record(death, "tell the size of /dev/shm (ShmSize, or the volume at /dev/shm)"));
            if context.torch().is_none() {
                let how = "python -c 'import torch; print(torch.__version__)'";
                all.push(lacking(
                    "PyTorch's version",
                    Some(how.to_owned()),
                    "tell whether its own batches can cause SIGBUS at all (before 2.10)",
                ));
            }
        }
        Cause::DiskFull if death.find(|w| *w == What::Evicted(EvictedFor::Volume(None))).is_some() => {
            all.push(lacking(
                "the pod's specification",
                Some(format!("kubectl get pod {} -o yaml", name(death, "POD"))),
                "tell whether the volume is memory, and mounted at /dev/shm",
            ));
        }
        Cause::SigbusOther => {
            all.push(lacking(
                "what the process had mapped: a memmap, a data set or weights on another file system",
                None,
                "name the file that was truncated, or the disk that failed",
            ));
            all.extend(kernel_log(death, context));
        }
        Cause::Timeout => all.push(lacking(
            "where the processes hang",
            Some("py-spy dump --pid PID".to_owned()),
            "tell a lost worker from a slow one",
        )),
        Cause::Other => all.push(lacking("the program's own output", None, "show the signal or the exception")),
        _ => {}
    }
    all
}

/// What to fetch where nothing died as far as the inputs tell.
pub(super) fn of_nothing(context: &Context) -> Vec<Lacking> {
    if let Some(ended) = context.unexplained().next() {
        return vec![inspect(ended, "tell whether it died at all, of what, and whether it was killed for memory")];
    }
    let records = context.inputs.iter().any(|i| matches!(i.kind, Kind::Record(_)));
    if records || context.inputs.is_empty() {
        return Vec::new();
    }
    vec![lacking(
        "the exit record, if the job did die",
        Some("docker inspect NAME, or kubectl get pod NAME -o json".to_owned()),
        "tell the exit code and whether it was killed for memory; a killed main process writes nothing",
    )]
}

/// The record of a container of which a table tells only that it ended.
fn inspect(ended: &Fact, would: &str) -> Lacking {
    let name = ended.who.container_name.as_deref().unwrap_or("that ended");
    let id = ended.who.container.as_deref().map_or_else(|| "ID".to_owned(), shell);
    lacking(
        &format!("exit code and reason of container {name}, which the table does not show"),
        Some(format!("crictl inspect {id}")),
        would,
    )
}

fn lacking(what: &str, how: Option<String>, would: &str) -> Lacking {
    Lacking { what: what.to_owned(), how, would: would.to_owned() }
}

/// The kernel log, unless one of that time was read.
fn kernel_log(death: &Death, context: &Context) -> Option<Lacking> {
    let (cover, _) = context.cover(death.when(), death.who.host.as_deref());
    if cover == Cover::Covers {
        return None;
    }
    let node = death.who.host.clone().map_or_else(|| "the machine".to_owned(), |host| format!("node {host}"));
    let (what, how) = match death.when() {
        Some(when @ Stamp::Wall(_)) => (
            format!("the kernel log of {node} around {}", when.hms()),
            match when.window(60) {
                Some((since, until)) => format!("journalctl -k --since '{since}' --until '{until}'"),
                None => "dmesg -T".to_owned(),
            },
        ),
        _ => (format!("the kernel log of {node} at that time"), "dmesg -T | grep -i -E 'oom|killed process'".to_owned()),
    };
    Some(lacking(&what, Some(how), "show an out-of-memory kill with its cgroup, or rule it out"))
}

/// How Slurm's accounting is asked.
const SACCT: &str = "sacct -j ID --json";

/// Batch systems and clouds by the speakers and formats that are theirs: how each is asked for a job's end, and the formats
/// which that question gives.
const ACCOUNTING: [(&[&str], &[&str], &str); 14] = [
    (&["slurm"], &["slurm-jobs", "slurm-sacct", "slurm-scontrol", "slurm-seff"], SACCT),
    (&["pbs"], &["pbs/status"], "qstat -xf ID"),
    (&["lsf"], &[], "bhist -l ID"),
    (&["sge"], &["sge-qacct"], "qacct -j ID"),
    (&["condor"], &[], "condor_history -l ID"),
    (&["yarn", "spark"], &[], "yarn logs -applicationId ID"),
    (&["nomad"], &["nomad-alloc"], "nomad alloc status -json ALLOC"),
    (&["k8s-workload"], &[], "kubectl get pods -o yaml"),
    (&["aws-batch"], &["aws-batch"], "aws batch describe-jobs --jobs ID"),
    (&["ecs"], &["ecs-tasks"], "aws ecs describe-tasks --tasks ID"),
    (&["sagemaker"], &[], "aws logs tail /aws/sagemaker/TrainingJobs --log-stream-name-prefix ID"),
    (&["vertex"], &[], "gcloud ai custom-jobs stream-logs ID"),
    (&["cloud-run"], &[], "gcloud logging read 'resource.type=cloud_run_job AND ID'"),
    (&["google-batch"], &[], "gcloud logging read 'labels.job_uid:ID'"),
];

/// The batch system or cloud that speaks of a death, by the first that does.
fn accounting(death: &Death) -> Option<(&'static [&'static str], &'static str)> {
    death.facts.iter().find_map(|fact| {
        let of = |(speakers, ..): &&(&[&str], &[&str], &str)| {
            speakers
                .iter()
                .any(|name| fact.id.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '-'])))
        };
        ACCOUNTING.iter().find(of).map(|(_, read, how)| (*read, *how))
    })
}

/// The record of the container, unless there is one.
fn record(death: &Death, would: &str) -> Option<Lacking> {
    // A table of containers may tell that one ended without telling how.
    if death.containers().any(|(_, container)| !container.untold()) {
        return None;
    }
    if let Some((ended, _)) = death.containers().next() {
        return Some(inspect(ended, would));
    }
    let asked = accounting(death);
    // What has been read need not be fetched.
    if asked.is_some_and(|(read, _)| death.facts.iter().any(|fact| read.contains(&fact.id))) {
        return None;
    }
    let (what, how) = match (&death.who.pod, &death.who.container_name, engine(death)) {
        (Some(pod), _, _) => ("the pod's status", format!("kubectl get pod {} -o json", shell(pod))),
        _ if asked.is_some() || death.who.container_name.is_none() && death.who.job.is_some() => {
            let job = death.who.job.as_deref().and_then(|j| j.split('.').next()).map_or_else(|| "ID".to_owned(), shell);
            ("the job's accounting", asked.map_or(SACCT, |(_, how)| how).replace("ID", &job))
        }
        (None, Some(container), _) => ("the container's record", format!("docker inspect {}", shell(container))),
        (None, None, Some(Engine::Kubernetes)) => ("the pod's status", "kubectl get pod POD -o json".to_owned()),
        _ => (
            "the container's or pod's record, if it ran in one",
            "docker inspect NAME, or kubectl get pod NAME -o json".to_owned(),
        ),
    };
    Some(lacking(what, Some(how), would))
}

fn engine(death: &Death) -> Option<Engine> {
    let of_record = death.facts.iter().find_map(|fact| match &fact.what {
        What::Container(container) => Some(container.engine),
        _ => None,
    });
    of_record.or(death.who.pod.is_some().then_some(Engine::Kubernetes))
}

fn name(death: &Death, placeholder: &str) -> String {
    let known = death.who.pod.as_ref().or(death.who.container_name.as_ref()).or(death.who.container.as_ref());
    known.map_or_else(|| placeholder.to_owned(), |name| shell(name))
}

/// A name from a log is not to be trusted in a command line.
fn shell(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@".contains(c);
    // A name that begins with a dash would be read as an option.
    if name.starts_with('-') {
        return "NAME".to_owned();
    }
    if !name.is_empty() && name.chars().all(plain) { name.to_owned() } else { format!("'{}'", name.replace('\'', "'\\''")) }
}
