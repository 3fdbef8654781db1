//! Advice for Amazon SageMaker, where /dev/shm follows the instance.

use super::of_the_program;
use super::words::{Form, Words, form, only, with};
use crate::remedy::{Case, Step};

/// A step as settings of the estimator.
pub(super) fn say(step: Step, case: &Case<'_>) -> Words {
    let instance = |text: &str| form(Form::Text, text, "estimator = PyTorch(..., instance_type=\"LARGER_INSTANCE\")");
    match step {
        Step::RaiseShm => instance(
            "SageMaker has no setting for /dev/shm: its size follows the instance (aws/sagemaker-python-sdk issues 937 and 5592), and \
             processing jobs have a small one. Keep fewer batches in flight, or take an instance with more memory.",
        ),
        Step::ShareHostShm => None,
        Step::RaiseMemory | Step::RaiseBoth | Step::ReserveMemory => instance(&format!(
            "Take an instance with more memory: the training container has all of it.{}",
            case.no_help_of_shm()
        )),
        Step::FreeDisk => form(Form::Text, "Give the job a larger volume, in GiB.", "estimator = PyTorch(..., volume_size=200)"),
        Step::RaiseTime => form(Form::Text, "Give the job more time, in seconds.", "estimator = PyTorch(..., max_run=432000)"),
        Step::CollectEvidence | Step::LookAtSender => with(
            "Fetch the job's record and its log; there is no flag for an OOM kill, only the exit code in FailureReason.",
            "aws sagemaker describe-training-job --training-job-name JOB > job.json\naws logs tail /aws/sagemaker/TrainingJobs --log-stream-name-prefix JOB --since 1d > train.log",
        ),
        Step::CheckSurroundings => only("Look at SecondaryStatusTransitions of the job: Spot interruption, capacity, image."),
        Step::FreeShm | Step::TuneDaemon | Step::RaiseDescriptors => None,
        of_the_program!() => None,
    }
}
