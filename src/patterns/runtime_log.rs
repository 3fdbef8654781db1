//! The logs of container engines and of the kubelet: whom they stopped, with which signal, and what ended.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Why, Witness};
use crate::units::Signal;

/// The container, pod and namespace that a line names.
fn who(caps: &Caps<'_>) -> Who {
    Who {
        container: caps.text("id"),
        container_name: caps.text("name"),
        pod: caps.text("pod"),
        namespace: caps.text("namespace"),
        pod_uid: caps.text("uid"),
        ..Who::role(Role::Main)
    }
}

fn stopped(caps: &Caps<'_>, by: &'static str, why: Why, signal: Option<Signal>) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why, signal }, who(caps))]
}

pub(super) const TABLE: &[Pattern] = &[
    // moby/moby container stop and daemon shutdown, 1.x to 28: SIGKILL after the grace period.
    Pattern {
        id: "dockerd/force",
        witness: Witness::Runtime,
        stems: &["failed to exit within "],
        regex: r"^Container (?:(?<id>[[:xdigit:]]{12,64}) )?failed to exit within \d+m?s?(?: seconds| milliseconds)? of (?:signal \d+|SIG\w+|kill)? ?- using the force",
        read: |caps| stopped(caps, "dockerd", Why::StopTimeout, Some(Signal::KILL)),
        samples: &[
            "Container 1548f86b822315dd42e5cb48afc5a5fa2f801c362f742c023440c893d031969d failed to exit within 10 seconds of signal 15 - using the force",
            "Container failed to exit within 10s of signal 15 - using the force",
        ],
        near_misses: &["a container that failed to exit within 10 seconds of signal 15 is killed"],
    },
    // containers/podman libpod/oci_conmon_common.go, 1.x to 5.x.
    Pattern {
        id: "podman/force",
        witness: Witness::Runtime,
        stems: &["resorting to SIGKILL"],
        regex: r"^StopSignal SIG\w+(?:\(\d+\))? failed to stop container (?<name>\S+) in \d+ seconds, resorting to SIGKILL",
        read: |caps| stopped(caps, "podman", Why::StopTimeout, Some(Signal::KILL)),
        samples: &["StopSignal SIGTERM failed to stop container trainer in 10 seconds, resorting to SIGKILL"],
        near_misses: &["after 10 seconds podman stop is resorting to SIGKILL"],
    },
    // pkg/kubelet/kuberuntime/kuberuntime_container.go, 1.20 and later.
    Pattern {
        id: "kubelet/killing",
        witness: Witness::Supervisor,
        stems: &["Killing container with a grace period"],
        regex: r#"^"Killing container with a grace period(?: override)?" pod="(?<namespace>[^"/]+)/(?<pod>[^"]+)" (?:podUID="?(?<uid>[\w-]+)"? )?containerName="(?<name>[^"]+)" containerID="\w+://(?<id>[[:xdigit:]]+)""#,
        read: |caps| stopped(caps, "kubelet", Why::Request, None),
        samples: &[
            r#""Killing container with a grace period" pod="speech/asr-train-5d4f6bd7c8-k2x9p" podUID=5d4dcc51-3d46-454c-a340-b67c01ffff31 containerName="asr-train" containerID="containerd://99098b260ff3ac1c97570cf1dcb92107c907cbeac0ddd60132f96aa87e5a4bb1" gracePeriod=30"#,
        ],
        near_misses: &["Killing container with a grace period of 30 s"],
    },
    // pkg/kubelet/kubelet.go, 1.21 and later: the probe that leads to a restart.
    Pattern {
        id: "kubelet/probe",
        witness: Witness::Supervisor,
        stems: &["SyncLoop (probe)"],
        regex: r#"^"SyncLoop \(probe\)" probe="(?:liveness|startup)" status="(?:unhealthy|unknown)" pod="(?<namespace>[^"/]+)/(?<pod>[^"]+)""#,
        read: |caps| match caps.get("pod") {
            Some(_) => stopped(caps, "kubelet", Why::Probe, None),
            None => Vec::new(),
        },
        samples: &[r#""SyncLoop (probe)" probe="liveness" status="unhealthy" pod="speech/asr-train-5d4f6bd7c8-k2x9p""#],
        near_misses: &[r#""SyncLoop (probe)" probe="readiness" status="ready" pod="speech/asr-train-5d4f6bd7c8-k2x9p""#],
    },
    // pkg/kubelet/pleg/generic.go, 1.24 and later.
    Pattern {
        id: "kubelet/finished",
        witness: Witness::Runtime,
        stems: &["container finished\""],
        regex: r#"^"Generic \(PLEG\): container finished" podID="?(?<uid>[\w-]+)"? containerID="(?<id>[[:xdigit:]]+)" exitCode=(?<code>-?\d+)"#,
        read: |caps| {
            let Some(code) = caps.num("code") else { return Vec::new() };
            vec![Claim::new(What::Ended { how: How::Code(code), hint: false }, who(caps))]
        },
        samples: &[
            r#""Generic (PLEG): container finished" podID=5d4dcc51-3d46-454c-a340-b67c01ffff31 containerID="99098b260ff3ac1c97570cf1dcb92107c907cbeac0ddd60132f96aa87e5a4bb1" exitCode=137"#,
        ],
        near_misses: &[r#""container finished" exitCode=137"#],
    },
    // containerd internal/cri/server/container_stop.go: SIGKILL, after the grace period of a stop.
    Pattern {
        id: "containerd/kill",
        witness: Witness::Runtime,
        stems: &["Kill container \""],
        regex: r#"^Kill container "(?<id>[[:xdigit:]]{64})"$"#,
        read: |caps| stopped(caps, "containerd", Why::StopTimeout, Some(Signal::KILL)),
        samples: &[r#"Kill container "99098b260ff3ac1c97570cf1dcb92107c907cbeac0ddd60132f96aa87e5a4bb1""#],
        near_misses: &[r#"Kill container "trainer" if it hangs"#],
    },
];
