//! Cgroup paths: which container, pod, job or unit a path names.
//!
//! Runtimes write the same three ids in a dozen shapes, and they nest (a pod in a kind node in Docker), so the last id of a
//! kind in the path is the one that is meant.

use crate::fact::Who;

/// What precedes a container's id in the name of its cgroup, with the engine's separator taken off.
const PREFIXES: [&str; 6] = ["docker", "cri-containerd", "crio", "libpod", "containerd", "crio-container"];

/// Whom a cgroup path stands for: container, pod uid, Slurm job and systemd unit, as far as the path tells.
pub(crate) fn identify(path: &str) -> Who {
    let mut who = Who { cgroup: Some(path.to_owned()), ..Who::default() };
    for part in path.split('/').filter(|part| !part.is_empty()) {
        let ecs_task = part.starts_with("ecstasks-");
        if let Some(id) = container(part).filter(|_| !ecs_task) {
            who.container = Some(id.to_owned());
        }
        if let Some(uid) = pod_uid(part) {
            who.pod_uid = Some(uid);
            // The container of an outer engine is the node that the pod runs on, not the pod's own.
            if container(part).is_none() {
                who.container = None;
            }
        }
        if let Some(job) = part.strip_prefix("job_").filter(|id| !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit())) {
            who.job = Some(job.to_owned());
        }
        if let Some(unit) = unit(part) {
            who.unit = Some(unit.to_owned());
        }
    }
    who
}

fn is_hex(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|b| b.is_ascii_hexdigit())
}

/// The 64-digit id in one element: alone, behind an engine's name, or behind the colons of containerd's driver mismatch.
fn container(part: &str) -> Option<&str> {
    let name = part.strip_suffix(".scope").unwrap_or(part);
    if is_hex(name, 64) {
        return Some(name);
    }
    let (prefix, id) = name.rsplit_once(['-', ':'])?;
    let engine = prefix.rsplit(':').next().unwrap_or(prefix);
    (is_hex(id, 64) && PREFIXES.contains(&engine)).then_some(id)
}

/// The pod's uid in one element: `pod<uid>`, or `kubepods-…-pod<uid with underscores>.slice` and what follows a colon.
fn pod_uid(part: &str) -> Option<String> {
    let name = part.split(':').next().unwrap_or(part);
    let name = name.strip_suffix(".slice").unwrap_or(name);
    let uid = match name.strip_prefix("pod") {
        Some(uid) => uid,
        None if name.contains("kubepods") => name.rsplit_once("-pod")?.1,
        None => return None,
    };
    let uid = uid.replace('_', "-");
    let digits = uid.bytes().filter(u8::is_ascii_hexdigit).count();
    let rest = uid.bytes().filter(|b| *b != b'-').count();
    // Static pods have 32 digits without dashes: the hash of their manifest.
    (digits == 32 && rest == 32).then_some(uid)
}

/// A service or scope of systemd. Slices only group units, and `\x2d` stays, because `systemctl` takes names as they are.
fn unit(part: &str) -> Option<&str> {
    ((part.ends_with(".scope") || part.ends_with(".service")) && !part.contains(':')).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3f1e2d4c5b6a79881726354453627180f1e2d3c4b5a69788a7b6c5d4e3f2a1b0";
    const NODE: &str = "dfd2555463ba6c34a3c7d1b6adc7aaa3cbbd1649e0efa4c127d4e77cdd83fac3";
    const UID: &str = "0b1c2d3e-4f50-6172-8394-a5b6c7d8e9f0";

    fn check(path: &str, container: bool, pod: Option<&str>, job: Option<&str>, unit: Option<&str>) {
        let path = path.replace("NODE", NODE).replace("UID", UID).replace("UxD", &UID.replace('-', "_")).replace("ID", ID);
        let unit = unit.map(|unit| unit.replace("NODE", NODE).replace("ID", ID));
        let who = identify(&path);
        assert_eq!(who.container.as_deref(), container.then_some(ID), "{path}");
        assert_eq!(who.pod_uid.as_deref(), pod, "{path}");
        assert_eq!(who.job.as_deref(), job, "{path}");
        assert_eq!(who.unit, unit, "{path}");
        assert_eq!(who.cgroup.as_deref(), Some(path.as_str()));
    }

    #[test]
    fn containers_are_found_in_every_engines_paths() {
        check("/docker/ID", true, None, None, None);
        check("/system.slice/docker-ID.scope", true, None, None, Some("docker-ID.scope"));
        check(
            "/user.slice/user-1000.slice/user@1000.service/user.slice/docker-ID.scope",
            true,
            None,
            None,
            Some("docker-ID.scope"),
        );
        check("/labparent.slice/docker-ID.scope", true, None, None, Some("docker-ID.scope"));
        check("/machine.slice/libpod-ID.scope/container", true, None, None, Some("libpod-ID.scope"));
        check("/libpod_parent/libpod-ID", true, None, None, None);
        check("/machine.slice/libpod-conmon-ID.scope", false, None, None, Some("libpod-conmon-ID.scope"));
        check("/ecs/5c1d0e7f9b2a/ID", true, None, None, None);
        check(
            "/ecstasks.slice/ecstasks-0123456789abcdef0123456789abcdef.slice/docker-ID.scope",
            true,
            None,
            None,
            Some("docker-ID.scope"),
        );
        check("/ecstasks.slice/ecstasks-0123456789abcdef0123456789abcdef.slice", false, None, None, None);
    }

    #[test]
    fn pods_are_found_under_both_drivers() {
        let uid = Some(UID);
        check("/kubepods/burstable/podUID/ID", true, uid, None, None);
        check("/kubepods/besteffort/podUID", false, uid, None, None);
        check("/kubepods/podUID/ID", true, uid, None, None);
        check("/kubepods/podUID/crio-ID", true, uid, None, None);
        check(
            "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUxD.slice/cri-containerd-ID.scope",
            true,
            uid,
            None,
            Some("cri-containerd-ID.scope"),
        );
        check("/kubepods.slice/kubepods-podUxD.slice/crio-ID.scope/container", true, uid, None, Some("crio-ID.scope"));
        check("/kubepods.slice/kubepods-podUxD.slice/crio-conmon-ID.scope", false, uid, None, Some("crio-conmon-ID.scope"));
        check("/kubepods.slice/kubepods-podUxD.slice/docker-ID.scope", true, uid, None, Some("docker-ID.scope"));
        check(
            "/system.slice/containerd.service/kubepods-burstable-podUxD.slice:cri-containerd:ID",
            true,
            uid,
            None,
            Some("containerd.service"),
        );
        check(
            "/kubepods/burstable/pod0123456789abcdef0123456789abcdef/ID",
            true,
            Some("0123456789abcdef0123456789abcdef"),
            None,
            None,
        );
        check("/kubepods/burstable", false, None, None, None);
    }

    #[test]
    fn the_innermost_container_of_nested_engines_counts() {
        let uid = Some(UID);
        check("/docker/NODE/kubelet/kubepods/burstable/podUID/ID", true, uid, None, None);
        check(
            "/system.slice/docker-NODE.scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/\
             kubelet-kubepods-burstable-podUxD.slice/cri-containerd-ID.scope",
            true,
            uid,
            None,
            Some("cri-containerd-ID.scope"),
        );
        check("/docker/NODE/kubelet/kubepods/burstable/podUID", false, uid, None, None);
        check(
            "/lxc.payload.c1/kubepods.slice/kubepods-podUxD.slice/cri-containerd-ID.scope",
            true,
            uid,
            None,
            Some("cri-containerd-ID.scope"),
        );
    }

    #[test]
    fn jobs_and_units_are_found() {
        check("/slurm/uid_1000/job_8156/step_batch/task_0", false, None, Some("8156"), None);
        check("/slurm_node1/uid_1000/job_8156", false, None, Some("8156"), None);
        check(
            "/system.slice/node1_slurmstepd.scope/job_8156/step_0/user/task_special",
            false,
            None,
            Some("8156"),
            Some("node1_slurmstepd.scope"),
        );
        check("/train.slice/slice-victim.service", false, None, None, Some("slice-victim.service"));
        check("/user.slice/user-1000.slice/session-3.scope", false, None, None, Some("session-3.scope"));
        check(
            "/user.slice/user-1000.slice/user@1000.service/app.slice/app-train.scope",
            false,
            None,
            None,
            Some("app-train.scope"),
        );
        check("/machine.slice/machine-qemu\\x2d33\\x2dvm.scope", false, None, None, Some("machine-qemu\\x2d33\\x2dvm.scope"));
        check("/lxc/web/ns", false, None, None, None);
        check("/lxc.payload.web/system.slice/train.service", false, None, None, Some("train.service"));
        check("/", false, None, None, None);
        check("", false, None, None, None);
    }
}
