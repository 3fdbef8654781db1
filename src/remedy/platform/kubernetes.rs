//! Advice in the words of Kubernetes.
//!
//! Snippets are strategic merge patches of a pod template: containers and volumes merge by name and mounts by path, so that what
//! is not named stays as it is.

use super::of_the_program;
use super::words::{Words, quoted, shell, shm_reason, with, yaml};
use crate::remedy::{Case, Step};

/// A step as a patch of the pod's template, or as a `kubectl` command.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let limit = case.limit_quantity();
    let pod = case.pod();
    match step {
        Step::RaiseShm => {
            // Where the limit is known, both are raised at once.
            let memory = case.limit_with_shm().map(|limit| limits(&limit.as_quantity()));
            let how = if memory.is_some() {
                "with the limit raised by as much"
            } else {
                "and raise resources.limits.memory by as much"
            };
            yaml(
                format!(
                    "Mount a memory volume at /dev/shm ({}), {how}: its pages count against the limit. A pod cannot be changed: patch the \
                     template of its Deployment or StatefulSet (`kubectl patch deployment NAME --patch-file shm.yaml`), or put it into \
                     the Job's manifest and make it anew. Other volumes and mounts stay.",
                    shm_reason(case)
                ),
                template(&volume(&case.shm_quantity()), &[mount(), memory.unwrap_or_default()], case),
            )
        }
        Step::ShareHostShm => yaml(
            "Or use the node's /dev/shm, without isolation from other pods; most clusters forbid it.",
            "spec:\n  template:\n    spec:\n      hostIPC: true",
        ),
        Step::RaiseMemory => yaml(
            format!(
                "Raise the memory limit of the container{} in the pod's template.{}",
                case.had_limit(),
                case.no_help_of_shm()
            ),
            template("", &[limits(&limit)], case),
        ),
        Step::RaiseBoth => yaml(
            "Raise resources.limits.memory: pages in /dev/shm count against it, so that a larger sizeLimit alone makes it worse. \
             Keep sizeLimit below the limit, so that a full /dev/shm is an error and no kill.",
            template(&volume(&case.shm_quantity()), &[mount(), limits(&limit)], case),
        ),
        Step::ReserveMemory => yaml(
            "Request as much memory as the job uses: the kubelet evicts first what uses more than it asked for, and the \
             scheduler counts requests only.",
            template("", &[limits(&limit)], case),
        ),
        Step::FreeShm => with(
            "See what is left in /dev/shm: it outlives a container's restart and goes with the pod.",
            format!("kubectl exec {pod}{} -- sh -c 'df -h /dev/shm; ls -la /dev/shm'", container_flag(case)),
        ),
        Step::FreeDisk => with(
            "See what fills the node's disk, and use a volume of its own for data and checkpoints.",
            format!("kubectl describe pod {pod}"),
        ),
        Step::CollectEvidence => with(
            "Fetch the pod's status, the log of the container that died and the kernel log of its node, and run coroner on all \
             files together.",
            format!(
                "kubectl get pod {pod} -o json > pod.json\nkubectl logs --previous {pod}{} > train.log",
                container_flag(case)
            ),
        ),
        Step::LookAtSender => with(
            "See the events around the death: Killing, Unhealthy, Preempted and Evicted name the sender.",
            format!("kubectl describe pod {pod}"),
        ),
        Step::CheckSurroundings => with("See why the pod did not run.", format!("kubectl describe pod {pod}")),
        Step::RaiseTime => yaml(
            "Raise the Job's deadline, or the grace period between SIGTERM and SIGKILL, in seconds.",
            "spec:\n  activeDeadlineSeconds: 604800\n  template:\n    spec:\n      terminationGracePeriodSeconds: 600",
        ),
        Step::TuneDaemon | Step::RaiseDescriptors => None,
        of_the_program!() => None,
    }
}

/// The option that names the container, if it is known.
fn container_flag(case: &Case<'_>) -> String {
    case.who.container_name.as_deref().map_or_else(String::new, |name| format!(" -c {}", shell(name)))
}

/// A patch of the pod's template with the very container.
fn template(volumes: &str, fields: &[String], case: &Case<'_>) -> String {
    let name = quoted(case.who.container_name.as_deref().unwrap_or("CONTAINER"));
    let kind = if case.init { "initContainers" } else { "containers" };
    let fields: Vec<&str> = fields.iter().map(String::as_str).filter(|field| !field.is_empty()).collect();
    format!("spec:\n  template:\n    spec:\n{volumes}      {kind}:\n      - name: {name}\n        {}", fields.join("\n        "))
}

/// The volume, in the template.
fn volume(size: &str) -> String {
    format!("      volumes:\n      - name: dshm\n        emptyDir: {{medium: Memory, sizeLimit: {size}}}\n")
}

/// Its mount, in the container.
fn mount() -> String {
    "volumeMounts: [{name: dshm, mountPath: /dev/shm}]".to_owned()
}

/// Request and limit of memory, in the container.
fn limits(limit: &str) -> String {
    format!("resources: {{requests: {{memory: {limit}}}, limits: {{memory: {limit}}}}}")
}
