//! Platforms: where jobs run. Each says every step that it has a part in once, in its own flags and fields.

mod aws_batch;
mod azure_ml;
mod code;
mod compose;
mod determined;
mod devcontainer;
mod docker;
mod ecs;
mod enroot;
mod fargate;
mod general;
mod github;
mod gitlab;
mod jenkins;
mod kubernetes;
mod linux;
mod lxc;
mod nspawn;
mod podman;
mod ray;
mod sagemaker;
mod slurm;
mod systemd;
mod vertex;
mod words;

pub use words::Form;
pub(crate) use words::shell;

use words::Words;

use crate::fact::{Engine, Who};
use crate::remedy::{Advice, Case, Step};

/// The steps in which no platform has a part: they are of the program or of the machine.
macro_rules! of_the_program {
    () => {
        Step::FewerInFlight
            | Step::FewerWorkers
            | Step::CloneViews
            | Step::SharingStrategy
            | Step::CheckFile
            | Step::CheckHardware
            | Step::CheckGpu
            | Step::LessGpuMemory
            | Step::Checkpoint
            | Step::FixException
            | Step::CatchCrash
            | Step::TraceHang
            | Step::NcclDebug
            | Step::LeaveAlone
    };
}
use of_the_program;

macro_rules! platforms {
    ($($(#[$doc:meta])* $name:ident $slug:literal $file:ident)*) => {
        /// Where the job ran.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Platform { $($(#[$doc])* $name),* }

        impl Platform {
            /// All platforms; each can be asked for on the command line.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// The public slug.
            pub fn slug(self) -> &'static str {
                match self { $(Self::$name => $slug),* }
            }

            /// A step in the words of this platform.
            fn words(self, step: Step, case: &Case<'_>) -> Words {
                match self { $(Self::$name => $file::say(step, case)),* }
            }
        }
    };
}

platforms! {
    /// Docker Engine.
    Docker "docker" docker
    /// Docker Compose.
    Compose "compose" compose
    /// Podman.
    Podman "podman" podman
    /// Kubernetes.
    Kubernetes "kubernetes" kubernetes
    /// Slurm, with Apptainer or Singularity.
    Slurm "slurm" slurm
    /// Slurm with Enroot and Pyxis.
    Enroot "enroot" enroot
    /// Amazon ECS on EC2.
    Ecs "ecs" ecs
    /// Amazon ECS and AWS Batch on Fargate.
    Fargate "fargate" fargate
    /// AWS Batch on EC2.
    AwsBatch "aws-batch" aws_batch
    /// Amazon SageMaker.
    SageMaker "sagemaker" sagemaker
    /// Google Vertex AI and Google Batch.
    Vertex "vertex-ai" vertex
    /// Azure Machine Learning.
    AzureMl "azure-ml" azure_ml
    /// Ray and KubeRay.
    Ray "ray" ray
    /// Determined AI.
    Determined "determined" determined
    /// LXC, Incus and Proxmox.
    Lxc "lxc" lxc
    /// systemd-nspawn.
    Nspawn "systemd-nspawn" nspawn
    /// systemd units.
    Systemd "systemd" systemd
    /// Dev Containers of VS Code and others.
    DevContainer "devcontainer" devcontainer
    /// GitHub Actions.
    GitHub "github-actions" github
    /// GitLab Runner.
    GitLab "gitlab-runner" gitlab
    /// Jenkins.
    Jenkins "jenkins" jenkins
    /// A machine without containers.
    Linux "linux" linux
    /// The training program itself.
    Code "pytorch" code
    /// No platform in particular: the commonest in brief.
    Any "any" general
}

/// The platforms to speak for: those asked for, else the one that the evidence shows, else the commonest in
/// brief.
pub(super) fn choose(case: &Case<'_>) -> Vec<Platform> {
    if !case.platforms.is_empty() {
        return case.platforms.to_vec();
    }
    vec![shown(case).unwrap_or(Platform::Any)]
}

/// The platform that the evidence shows: who ran the container, else who spoke.
fn shown(case: &Case<'_>) -> Option<Platform> {
    let spoke = |prefix: &str| case.speakers.iter().any(|id| id.starts_with(prefix));
    let Who { pod, pod_uid, container, container_name, unit, .. } = case.who;
    // Runners show in the log of the job, engines in their own records; what a CI job is made of stands in its own file.
    let ci = [("github/", Platform::GitHub), ("gitlab/", Platform::GitLab), ("jenkins/", Platform::Jenkins)];
    if let Some((_, platform)) = ci.iter().find(|(prefix, _)| spoke(prefix)) {
        return Some(*platform);
    }
    // The agent of ECS names its containers so; what it started is not changed by hand.
    if container_name.as_ref().is_some_and(|name| name.starts_with("ecs-")) {
        return Some(if case.fargate { Platform::Fargate } else { Platform::Ecs });
    }
    match case.engine {
        Some(Engine::Docker) => return Some(Platform::Docker),
        Some(Engine::Podman) => return Some(Platform::Podman),
        Some(Engine::Kubernetes) => return Some(Platform::Kubernetes),
        Some(Engine::Ecs) => return Some(if case.fargate { Platform::Fargate } else { Platform::Ecs }),
        None => {}
    }
    if pod.is_some() || pod_uid.is_some() || spoke("k8s") {
        Some(Platform::Kubernetes)
    } else if spoke("slurm") {
        Some(Platform::Slurm)
    } else if spoke("ecs") {
        Some(Platform::Ecs)
    } else if container.is_some() || container_name.is_some() {
        Some(Platform::Docker)
    } else if spoke("ray/memory") || spoke("ray/object-store") {
        Some(Platform::Ray)
    } else {
        let nspawn = |unit: &String| unit.starts_with("systemd-nspawn@");
        unit.as_ref().map(|unit| if nspawn(unit) { Platform::Nspawn } else { Platform::Systemd })
    }
}

/// A step in the words of a platform; none where the platform has no part in it.
pub(super) fn say(platform: Platform, step: Step, case: &Case<'_>) -> Option<Advice> {
    let (text, command) = platform.words(step, case)?;
    let (form, command) = command.map_or((Form::Text, None), |(form, command)| (form, Some(command)));
    Some(Advice { step: step.slug(), platform, text, command, form })
}
