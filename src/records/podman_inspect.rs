//! `podman inspect` of containers: Docker's shape with another default for /dev/shm.

use serde_json::Value;

use crate::fact::Engine;
use crate::seen::Form;

use super::docker_inspect::{is_podman, looks_inspected, read_containers};
use super::{Format, first};

/// libpod's `define.InspectContainerData`, version 1 and later.
pub(super) const FORMAT: Format = Format {
    id: "podman-inspect",
    sniff: |document: &Value| first(document).is_some_and(|one| looks_inspected(one) && is_podman(one)),
    read: |document| read_containers(document, Engine::Podman),
    form: Form {
        name: "podman inspect (JSON)",
        how: "podman inspect NAME",
        proves: "kill for memory inside a container, exit code, memory limit, size of /dev/shm",
    },
    samples: &[
        r#"[{"Id":"c181180e36bc1a13f8f2d22db08a394d0cf5ad78f727e7edd045a5d83bb74431","State":{"OciVersion":"1.2.0","Status":"exited","Running":false,"OOMKilled":true,"Pid":0,"ExitCode":137,"Error":"","StartedAt":"2026-12-01T07:16:21.003203879Z","FinishedAt":"2026-12-01T07:16:22.43591753Z","CheckpointedAt":"0001-01-01T00:00:00Z"},"ImageName":"localhost/lab-c:busy","OCIRuntime":"crun","Name":"lab-c-podman54v2-oom-main","RestartCount":0,"HostConfig":{"IpcMode":"shareable","Cgroups":"default","Tmpfs":{},"ShmSize":65536000,"Memory":134217728,"CgroupParent":""},"Mounts":[]}]"#,
    ],
};
