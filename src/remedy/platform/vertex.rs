//! Advice for Google Vertex AI and Google Batch.

use super::of_the_program;
use super::words::{Words, only, shm_reason, with, yaml};
use crate::remedy::{Case, Step};

/// A step as fields of the job's specification.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let machine = |text: String| yaml(text, "workerPoolSpecs:\n- machineSpec: {machineType: n1-highmem-16}\n  replicaCount: 1");
    match step {
        Step::RaiseShm => yaml(
            format!(
                "A custom job of Vertex AI has no setting for /dev/shm (models have containerSpec.sharedMemorySizeMb): keep fewer \
                 batches in flight. Google Batch takes the engine's option ({}).",
                shm_reason(case)
            ),
            format!(
                "taskGroups:\n- taskSpec:\n    runnables:\n    - container: {{imageUri: {}, options: \"--shm-size={}\"}}",
                super::words::quoted(case.image.unwrap_or("IMAGE")),
                case.shm_flag()
            ),
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => {
            machine(format!("Take a machine type with more memory: the replica has all of it.{}", case.no_help_of_shm()))
        }
        Step::FreeDisk => yaml(
            "Give each replica a larger boot disk, in GB.",
            "workerPoolSpecs:\n- diskSpec: {bootDiskType: pd-ssd, bootDiskSizeGb: 500}",
        ),
        Step::RaiseTime => yaml("Raise the job's time-out.", "scheduling:\n  timeout: 604800s"),
        Step::CollectEvidence | Step::LookAtSender => with(
            "Fetch the job's record and its log: the error names the replica and its exit status.",
            "gcloud ai custom-jobs describe JOB --region=REGION --format=json > job.json\ngcloud logging read 'resource.labels.job_id=\"JOB\"' --format='value(textPayload)' > train.log",
        ),
        Step::CheckSurroundings => only("Look at the job's error and at quota and capacity of the region, and start it again."),
        Step::FreeShm | Step::TuneDaemon | Step::RaiseDescriptors => None,
        of_the_program!() => None,
    }
}
