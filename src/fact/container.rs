//! Containers as exit records and event logs describe them.

use crate::time::Stamp;
use crate::units::{Bytes, Signal};

/// Which program runs containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Docker.
    Docker,
    /// Podman.
    Podman,
    /// Kubernetes, whatever runs below it.
    Kubernetes,
    /// Amazon ECS.
    Ecs,
}

/// What an exit record says of a container's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Created, never started.
    Created,
    /// Running now.
    Running,
    /// Waiting to be started again.
    Restarting,
    /// Ended.
    Exited,
    /// Not told.
    Unknown,
}

/// The reason that an orchestrator gives for a container's end.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// `OOMKilled`: some process in the container was killed for memory.
    OomKilled,
    /// `Error`: a non-zero exit code.
    Error,
    /// `Completed`.
    Completed,
    /// `ContainerStatusUnknown`: the exit code 137 beside it is made up (kubelet).
    StatusUnknown,
    /// `StartError`, `RunContainerError`, `ContainerCannotRun`, `ImagePullBackOff`, …: it never ran.
    NotStarted,
    /// Any other word.
    Other(String),
}

/// What is mounted at a container's /dev/shm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shm {
    /// Not told.
    #[default]
    Unknown,
    /// A tmpfs of this size, chosen by somebody.
    Sized(Bytes),
    /// The engine's default size, as nobody chose one.
    Default(Bytes),
    /// The host's /dev/shm (`--ipc=host`, `hostIPC`, a bind mount).
    Host,
    /// A memory-backed volume without a size of its own: as large as the memory limit.
    Unsized,
    /// No /dev/shm of its own (`--ipc=none`, another container's).
    Elsewhere,
}

/// One container as an exit record describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct Container {
    /// Who runs it.
    pub engine: Engine,
    /// Its state.
    pub status: Status,
    /// The last exit code; `128 + n` for a signal.
    pub exit_code: Option<i64>,
    /// The runtime's flag: a process in the container was killed for memory since it was last started.
    pub oom_killed: Option<bool>,
    /// The orchestrator's reason.
    pub reason: Option<Reason>,
    /// When the described run started.
    pub started: Option<Stamp>,
    /// When the described run ended.
    pub finished: Option<Stamp>,
    /// How often it was started again.
    pub restarts: Option<u64>,
    /// Whether this is an earlier run (Kubernetes' `lastState`).
    pub previous: bool,
    /// The memory limit; `None` where the record does not tell.
    pub memory: Option<Limit>,
    /// What is at /dev/shm.
    pub shm: Shm,
    /// Whether a parent cgroup was set, so that a limit may sit above.
    pub parent_cgroup: bool,
    /// The OOM killer was switched off for it (`--oom-kill-disable`, cgroup v1): processes hang at the limit instead.
    pub oom_kill_disabled: bool,
    /// The image.
    pub image: Option<String>,
    /// The container runs before the main ones (`initContainers`).
    pub init: bool,
    /// It runs on AWS Fargate, which has no setting for /dev/shm.
    pub fargate: bool,
}

impl Container {
    /// A container of which nothing is known yet.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            status: Status::Unknown,
            exit_code: None,
            oom_killed: None,
            reason: None,
            started: None,
            finished: None,
            restarts: None,
            previous: false,
            memory: None,
            shm: Shm::Unknown,
            parent_cgroup: false,
            oom_kill_disabled: false,
            image: None,
            init: false,
            fargate: false,
        }
    }
}

impl Container {
    /// Whether it is only known to have ended, as `crictl ps` tells it: neither how nor why.
    pub fn untold(&self) -> bool {
        let ended = self.engine == Engine::Kubernetes && self.status == Status::Exited;
        ended && self.exit_code.is_none() && self.reason.is_none()
    }
}

/// A memory limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// None was set.
    Unlimited,
    /// This many bytes.
    Bytes(Bytes),
}

/// What happened to a container, as an engine's event log tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ContainerEvent {
    /// It was started.
    Started,
    /// A process in it was killed for memory.
    Oom,
    /// The engine sent it a signal.
    Kill(Signal),
    /// It was stopped on request.
    Stopped,
    /// Its main process ended.
    Died(Option<i64>),
    /// A process started by `exec` ended; not the container.
    ExecDied(Option<i64>),
}
