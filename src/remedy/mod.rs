//! Remedies: what to do, said for the platform at hand.

pub mod sizing;

/// Where the job ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Platform {
    /// Docker Engine.
    Docker,
    /// Docker Compose.
    Compose,
    /// Kubernetes.
    Kubernetes,
    /// The training program itself.
    Code,
    /// Any platform.
    Any,
}

impl Platform {
    /// Those that can be asked for on the command line.
    pub const CHOICES: &[Self] = &[Self::Docker, Self::Compose, Self::Kubernetes];

    /// The public slug.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Docker => "docker",
            Self::Compose => "compose",
            Self::Kubernetes => "kubernetes",
            Self::Code => "pytorch",
            Self::Any => "any",
        }
    }
}

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// The step's public slug, as `raise-shm`.
    pub step: &'static str,
    /// Where it applies.
    pub platform: Platform,
    /// What to do and its price.
    pub text: String,
    /// The exact command, flag or YAML.
    pub command: Option<String>,
}
