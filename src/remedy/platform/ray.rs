//! Advice in the words of Ray and KubeRay.

use super::of_the_program;
use super::words::{Form, Words, form, shm_reason, with, yaml};
use crate::remedy::{Case, Step};

/// A step as options of `ray start`, or as part of a RayCluster.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let worker = |fields: &str| format!("spec:\n  workerGroupSpecs:\n  - groupName: GROUP\n    template:\n      spec:\n{fields}");
    let volume = format!(
        "        volumes:\n        - name: shared-mem\n          emptyDir: {{medium: Memory, sizeLimit: {}}}\n        containers:\n        - name: ray-worker\n          volumeMounts:\n          - {{name: shared-mem, mountPath: /dev/shm}}",
        case.shm_quantity()
    );
    let limit = case.limit_quantity();
    match step {
        Step::RaiseShm => yaml(
            format!(
                "KubeRay mounts a memory volume at /dev/shm, as large as the object store asks for, which takes 30 % of the memory; \
                 give it room for the batches as well ({}). In a container of your own it is --shm-size; \
                 `ray start --object-store-memory=BYTES` keeps the store small.",
                shm_reason(case)
            ),
            worker(&volume),
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::ReserveMemory => yaml(
            format!(
                "Raise the memory of the Ray pods; Ray reads the limit, so that requests and limits must be equal.{}",
                case.no_help_of_shm()
            ),
            worker(&format!(
                "        containers:\n        - name: ray-worker\n          resources: {{requests: {{memory: {limit}}}, limits: {{memory: {limit}}}}}"
            )),
        ),
        Step::RaiseBoth => yaml(
            "Raise the memory of the Ray pods with /dev/shm: the object store and the batches in it count against the limit.",
            worker(&format!("{volume}\n          resources: {{requests: {{memory: {limit}}}, limits: {{memory: {limit}}}}}")),
        ),
        Step::TuneDaemon => form(
            Form::Text,
            "Ray's memory monitor ended the worker at 95 % of the node's memory. Ask for memory in the task (`memory=` of \
             @ray.remote) so that fewer run at once, or raise the threshold; RAY_memory_monitor_refresh_ms=0 switches it off, and \
             the kernel kills then.",
            "RAY_memory_usage_threshold=0.98 ray start --head",
        ),
        Step::FreeShm => with(
            "See what fills /dev/shm on the node, and how much of it is the object store.",
            "df -h /dev/shm; ray memory --stats-only",
        ),
        Step::RaiseDescriptors => {
            with("Raise the limit of open files before Ray starts on each node.", "ulimit -n 65536; ray start --head")
        }
        Step::CollectEvidence => with(
            "Fetch Ray's logs of the node: raylet.out names each worker that the memory monitor ended and why.",
            "tar czf ray.tar.gz -C /tmp/ray/session_latest logs\ncoroner ray.tar.gz",
        ),
        Step::LookAtSender => {
            with("See what Ray says of the dead actor or worker.", "ray list actors --filter state=DEAD --detail")
        }
        Step::FreeDisk => with(
            "Objects that do not fit into memory are spilled to disk: see how much, and give Ray a folder with room.",
            "df -h /tmp/ray; ray memory --stats-only",
        ),
        Step::RaiseTime | Step::CheckSurroundings => None,
        of_the_program!() => None,
    }
}
