//! Whom a claim is about.

use crate::units::{HostPid, OwnPid};

/// What a process is to the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Role {
    /// Not told.
    #[default]
    Unknown,
    /// A DataLoader or pool worker.
    Worker,
    /// A training rank, or the only training process.
    Rank,
    /// torchrun's agent, mpirun, DeepSpeed's launcher and the like.
    Launcher,
    /// The main process of a container.
    Main,
    /// A serving engine or an actor of a framework.
    Engine,
    /// The main process of a systemd unit.
    Unit,
    /// A whole job or job step.
    Job,
}

/// Whom a claim is about. Every field may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Who {
    /// What the process is to the job.
    pub role: Role,
    /// The process id in the initial pid namespace.
    pub host_pid: Option<HostPid>,
    /// The process id in the process's own namespace.
    pub own_pid: Option<OwnPid>,
    /// The program's or thread's name (`comm` in kernel logs, at most 15 bytes there).
    pub process: Option<String>,
    /// A DataLoader worker's index (0 …), not a pid.
    pub worker: Option<u32>,
    /// The global rank.
    pub rank: Option<u32>,
    /// A container's id, whole (64 hex digits) or its beginning.
    pub container: Option<String>,
    /// A container's name.
    pub container_name: Option<String>,
    /// A pod's name.
    pub pod: Option<String>,
    /// A pod's uid, with dashes.
    pub pod_uid: Option<String>,
    /// A Kubernetes namespace.
    pub namespace: Option<String>,
    /// A cgroup path.
    pub cgroup: Option<String>,
    /// A systemd unit.
    pub unit: Option<String>,
    /// A batch job's id.
    pub job: Option<String>,
    /// The machine.
    pub host: Option<String>,
}

impl Who {
    /// A process in a role.
    pub fn role(role: Role) -> Self {
        Self { role, ..Self::default() }
    }

    /// A process by the pid that its own namespace gives it.
    pub fn own(role: Role, pid: Option<u32>) -> Self {
        Self { role, own_pid: pid.map(OwnPid), ..Self::default() }
    }

    /// A process by the pid that the kernel gives it.
    pub fn host(pid: Option<u32>, process: Option<String>) -> Self {
        Self { host_pid: pid.map(HostPid), process, ..Self::default() }
    }
}
