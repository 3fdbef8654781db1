//! Advice in the words of Kubernetes.

use super::{Case, Step, Words, shm_reason, with};
use crate::verdict::Cause;

/// A step as part of the pod's spec, or as a `kubectl` command.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let size = case.shm_size().map_or_else(|| "SIZE".to_owned(), |size| size.as_quantity());
    let limit = case.larger_limit().map_or_else(|| "LIMIT".to_owned(), |limit| limit.as_quantity());
    let pod = case.pod();
    match step {
        Step::RaiseShm => with(
            format!(
                "Mount a memory-backed volume at /dev/shm ({}), and raise resources.limits.memory by the same amount: its pages \
                 count against the limit.",
                shm_reason(case)
            ),
            volume(&size),
        ),
        Step::ShareHostShm => with(
            "Or use the node's /dev/shm, without isolation from other pods; most clusters forbid it.",
            "spec:\n  hostIPC: true",
        ),
        Step::RaiseMemory => with(
            match case.cause {
                Cause::OomCgroup => "Raise the container's memory limit. A larger /dev/shm would not have helped.",
                _ => "Raise the container's memory limit.",
            },
            format!("resources: {{requests: {{memory: {limit}}}, limits: {{memory: {limit}}}}}"),
        ),
        Step::RaiseBoth => with(
            "Raise resources.limits.memory: pages in /dev/shm count against it, so that a larger sizeLimit alone makes it worse. \
             Keep sizeLimit below the limit, so that a full /dev/shm is an error and no kill.",
            format!("resources: {{limits: {{memory: {limit}}}}}\n{}", volume(&size)),
        ),
        Step::ReserveMemory => with(
            "Request as much memory as the job uses: the kubelet evicts first what uses more than it asked for, and the \
             scheduler counts requests only.",
            format!("resources: {{requests: {{memory: {limit}}}, limits: {{memory: {limit}}}}}"),
        ),
        Step::FreeShm => with(
            "See what is left in /dev/shm: it outlives a container's restart and goes with the pod.",
            format!("kubectl exec {pod} -- sh -c 'df -h /dev/shm; ls -la /dev/shm'"),
        ),
        Step::FreeDisk => with(
            "See what fills the node's disk, and use a volume of its own for data and checkpoints.",
            format!("kubectl describe pod {pod}"),
        ),
        Step::CollectEvidence => with(
            "Fetch the pod's status, the log of the container that died and the kernel log of its node, and run coroner on all \
             files together.",
            format!("kubectl get pod {pod} -o json > pod.json\nkubectl logs --previous {pod} > train.log"),
        ),
        Step::LookAtSender => with(
            "See the events around the death: Killing, Unhealthy, Preempted and Evicted name the sender.",
            format!("kubectl describe pod {pod}"),
        ),
        Step::CheckSurroundings => with("See why the pod did not run.", format!("kubectl describe pod {pod}")),
        Step::TuneDaemon
        | Step::FewerInFlight
        | Step::FewerWorkers
        | Step::CloneViews
        | Step::SharingStrategy
        | Step::RaiseDescriptors
        | Step::CheckFile
        | Step::CheckHardware
        | Step::CheckGpu
        | Step::LessGpuMemory
        | Step::RaiseTime
        | Step::Checkpoint
        | Step::FixException
        | Step::CatchCrash
        | Step::TraceHang
        | Step::NcclDebug
        | Step::LeaveAlone => None,
    }
}

/// The volume and its mount, in few lines.
fn volume(size: &str) -> String {
    format!(
        "volumes: [{{name: dshm, emptyDir: {{medium: Memory, sizeLimit: {size}}}}}]\n\
         volumeMounts: [{{name: dshm, mountPath: /dev/shm}}]     # in the container"
    )
}
