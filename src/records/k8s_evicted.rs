//! Why Kubernetes took a pod off its node: the reasons and messages of pod status, conditions and events.

use crate::fact::{EvictedFor, What, Why};

/// What a pod's `status.reason` and message, or an event's, say of its removal. `volume_at_shm` tells whether a volume is
/// mounted at /dev/shm, where the pod's specification is known.
///
/// The messages are those of pkg/kubelet/eviction/helpers.go and pkg/kubelet/nodeshutdown.
pub(super) fn removal(reason: &str, message: &str, volume_at_shm: impl Fn(&str) -> Option<bool>) -> Option<What> {
    let stopped = |why| Some(What::Stopped { by: "kubelet", why, signal: None });
    match reason {
        // Karpenter drains nodes under the kubelet's word, and Volcano, Kueue and the descheduler have words of their own.
        "Evicted" if message.starts_with("Evicted pod") => Some(What::Evicted(EvictedFor::Preemption)),
        "Evict" if message.contains("because of preempt") => Some(What::Evicted(EvictedFor::Preemption)),
        "EvictedDueToPreempted" => Some(What::Evicted(EvictedFor::Preemption)),
        "ScaleDown" if message.starts_with("deleting pod for node scale down") => Some(What::Evicted(EvictedFor::Preemption)),
        _ if message.contains(" node by sigs.k8s.io/descheduler") => Some(What::Evicted(EvictedFor::Preemption)),
        "Evicted" => Some(What::Evicted(evicted_for(message, volume_at_shm))),
        "Preempting" | "Preempted" | "TaintManagerEviction" if message.starts_with("Cancelling") => None,
        "Preempting"
        | "Preempted"
        | "TaintManagerEviction"
        | "PreemptionByScheduler"
        | "PreemptionByKubeScheduler"
        | "DeletionByTaintManager"
        | "EvictionByEvictionAPI" => Some(What::Evicted(EvictedFor::Preemption)),
        "NodeShutdown" | "Shutdown" => Some(What::Evicted(EvictedFor::Shutdown)),
        "Terminated" if message.contains("node shutdown") => Some(What::Evicted(EvictedFor::Shutdown)),
        "TerminationByKubelet" if message.contains("node shutdown") => Some(What::Evicted(EvictedFor::Shutdown)),
        "TerminationByKubelet" => Some(What::Evicted(evicted_for(message, volume_at_shm))),
        "DeadlineExceeded" => stopped(Why::TimeLimit),
        "NodeLost" | "DeletionByPodGC" | "UnexpectedAdmissionError" | "NodeAffinity" | "Unschedulable" => {
            Some(What::Infrastructure)
        }
        _ if reason.starts_with("OutOf") => Some(What::Infrastructure),
        _ => None,
    }
}

/// For what, by the message; a container's name may stand in it, so only the fixed beginnings are looked at.
fn evicted_for(message: &str, volume_at_shm: impl Fn(&str) -> Option<bool>) -> EvictedFor {
    let message = message.trim_start();
    if let Some(rest) = message.strip_prefix("Usage of EmptyDir volume \"") {
        let name = rest.split('"').next().unwrap_or_default();
        return EvictedFor::Volume(volume_at_shm(name).or(name.contains("shm").then_some(true)));
    }
    // Folded YAML and older kubelets add `Pod ` before the sentence.
    let message = message.strip_prefix("Pod ").unwrap_or(message);
    let resource = [
        "The node was low on resource: ",
        "The node was low on resource [",
        "The node had condition: [",
        "The node had condition: ",
    ]
    .iter()
    .find_map(|start| message.strip_prefix(start));
    match resource {
        Some(rest)
            if rest.starts_with("memory") || rest.starts_with("MemoryPressure") || rest.starts_with("allocatableMemory") =>
        {
            EvictedFor::Memory
        }
        Some(rest)
            if [
                "ephemeral-storage",
                "inodes",
                "pids",
                "nodefs",
                "imagefs",
                "containerfs",
                "storage",
                "DiskPressure",
                "PIDPressure",
            ]
            .iter()
            .any(|word| rest.starts_with(word)) =>
        {
            EvictedFor::Disk
        }
        Some(_) => EvictedFor::Unknown,
        None if message.starts_with("ephemeral local storage usage exceeds")
            || message.starts_with("Pod ephemeral local storage usage exceeds")
            || message.contains("exceeded its local ephemeral storage limit") =>
        {
            EvictedFor::Disk
        }
        None => EvictedFor::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_an_eviction_is_told_by_its_message() {
        for (message, reason) in [
            (
                "The node was low on resource: memory. Container a was using 27484Ki, which exceeds its request of 0. ",
                EvictedFor::Memory,
            ),
            ("The node was low on resource: ephemeral-storage. Container memory was using 1Gi. ", EvictedFor::Disk),
            ("The node had condition: [MemoryPressure]. ", EvictedFor::Memory),
            ("The node had condition: [DiskPressure]. ", EvictedFor::Disk),
            ("Pod ephemeral local storage usage exceeds the total limit of containers 1Gi. ", EvictedFor::Disk),
            ("Container a exceeded its local ephemeral storage limit \"1Gi\". ", EvictedFor::Disk),
            ("Usage of EmptyDir volume \"dshm\" exceeds the limit \"1Gi\". ", EvictedFor::Volume(Some(true))),
            ("Usage of EmptyDir volume \"cache\" exceeds the limit \"1Gi\". ", EvictedFor::Volume(None)),
            ("", EvictedFor::Unknown),
        ] {
            assert_eq!(removal("Evicted", message, |_| None), Some(What::Evicted(reason)), "{message}");
        }
        for (word, message) in [
            ("Evicted", "Evicted pod: Underutilized"),
            ("Evict", "Pod is evicted, because of preempt"),
            ("EvictedDueToPreempted", "Preempted to accommodate a workload due to prioritization in the ClusterQueue"),
            ("ScaleDown", "deleting pod for node scale down"),
            ("RemoveDuplicates", "pod evicted from gpu-1 node by sigs.k8s.io/descheduler"),
        ] {
            assert_eq!(removal(word, message, |_| None), Some(What::Evicted(EvictedFor::Preemption)), "{message}");
        }
    }
}
