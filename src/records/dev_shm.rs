//! What is at /dev/shm of a Docker or Podman container: ShmSize is what was asked for, not what is mounted.
//!
//! `HostConfig.ShmSize` keeps its value under `--ipc=host`, `--ipc=none`, `--tmpfs /dev/shm` and every mount there, so the
//! mounts are asked first, then the IPC mode, and the size last.

use crate::fact::{Engine, Shm};
use crate::units::Bytes;

use super::Field;

/// The size that an engine gives to /dev/shm when nobody chooses one (`opts.DefaultShmSize` of moby 1.10 and later, a constant
/// before; `DefaultShmSize` of containers/common).
pub(super) fn default_size(engine: Engine) -> Bytes {
    match engine {
        Engine::Podman => Bytes(65_536_000),
        Engine::Docker | Engine::Kubernetes | Engine::Ecs => Bytes::mib(64),
    }
}

/// Whether a mount's target is /dev/shm.
pub(super) fn is_dev_shm(target: Option<&str>) -> bool {
    target.is_some_and(|target| matches!(target.trim_end_matches('/'), "/dev/shm" | "/run/shm"))
}

/// What is at /dev/shm, with the field that says so and its text.
pub(super) fn read<'a>(container: &Field<'a>, engine: Engine) -> Option<(Shm, Field<'a>, String)> {
    let host = container.at("HostConfig");
    if !host.is_object() {
        return None;
    }
    mounted(container, &host).or_else(|| by_mode(&host, engine))
}

/// The same for a `HostConfig` object that stands alone (`docker inspect --format '{{json .HostConfig}}'`).
pub(super) fn read_host<'a>(host: &Field<'a>, engine: Engine) -> Option<(Shm, Field<'a>, String)> {
    mounted(host, host).or_else(|| by_mode(host, engine))
}

/// A mount over /dev/shm, from the most telling list to the least: only two of the four know a size.
fn mounted<'a>(container: &Field<'a>, host: &Field<'a>) -> Option<(Shm, Field<'a>, String)> {
    for (target, options) in host.at("Tmpfs").members() {
        if is_dev_shm(Some(target)) {
            let words = options.text().unwrap_or_default();
            return Some((tmpfs_size(words), options, format!("HostConfig.Tmpfs {target} {words}").trim_end().to_owned()));
        }
    }
    for mount in host.at("Mounts").items() {
        let tmpfs = mount.at("Type").text() == Some("tmpfs");
        if tmpfs && is_dev_shm(mount.at("Target").text()) {
            let size = mount.at("TmpfsOptions").at("SizeBytes").count().filter(|size| *size > 0).map(Bytes);
            let text =
                format!("HostConfig.Mounts tmpfs at /dev/shm, {}", size.map_or_else(|| "no size".to_owned(), |s| s.to_string()));
            return Some((size.map_or(Shm::Unsized, Shm::Sized), mount, text));
        }
    }
    for mount in container.at("Mounts").items() {
        if !is_dev_shm(mount.any(&["Destination", "Target"]).text()) {
            continue;
        }
        let kind = mount.at("Type").text().unwrap_or("bind");
        let source = mount.at("Source").text().unwrap_or_default();
        let shm = match kind {
            "tmpfs" => podman_options(&mount).map_or(Shm::Unsized, |words| tmpfs_size(&words)),
            _ if is_dev_shm(Some(source)) => Shm::Host,
            _ => Shm::Elsewhere,
        };
        let text = format!("Mounts {kind} {source} at /dev/shm");
        return Some((shm, mount, text));
    }
    for bind in host.at("Binds").items() {
        let words = bind.text().unwrap_or_default();
        let mut parts = words.split(':');
        let (source, target) = (parts.next(), parts.next());
        if is_dev_shm(target) {
            let shm = if is_dev_shm(source) { Shm::Host } else { Shm::Elsewhere };
            let text = format!("HostConfig.Binds {words}");
            return Some((shm, bind, text));
        }
    }
    None
}

/// Podman lists the options of a mount as strings.
fn podman_options(mount: &Field<'_>) -> Option<String> {
    let words: Vec<_> = mount.at("Options").items().filter_map(|option| option.text()).collect();
    (!words.is_empty()).then(|| words.join(","))
}

/// The size in a tmpfs's mount options; a share of the machine's memory counts as no size of its own.
fn tmpfs_size(options: &str) -> Shm {
    let size = options.split(',').find_map(|option| option.trim().strip_prefix("size="));
    match size.and_then(|size| size.parse::<Bytes>().ok()) {
        Some(Bytes(0)) | None => Shm::Unsized,
        Some(size) => Shm::Sized(size),
    }
}

/// The IPC mode, and the size where the container has a /dev/shm of its own.
fn by_mode<'a>(host: &Field<'a>, engine: Engine) -> Option<(Shm, Field<'a>, String)> {
    let mode = host.at("IpcMode");
    let word = mode.text().unwrap_or_default();
    if word == "host" {
        return Some((Shm::Host, mode, "HostConfig.IpcMode host".to_owned()));
    }
    if word == "none" || word.starts_with("container:") || word.starts_with("ns:") {
        return Some((Shm::Elsewhere, mode, format!("HostConfig.IpcMode {word}")));
    }
    let size = host.at("ShmSize");
    let default = default_size(engine);
    let shown = if word.is_empty() { String::new() } else { format!(", IpcMode {word}") };
    let of_default = match engine {
        Engine::Podman => "Podman's default",
        Engine::Docker | Engine::Kubernetes | Engine::Ecs => "Docker's default",
    };
    match size.count() {
        // Podman takes `--shm-size=0` for "no limit"; Docker never stores a zero, so it means "not chosen" there.
        Some(0) if engine == Engine::Podman => Some((Shm::Unsized, size, format!("HostConfig.ShmSize 0 (no limit){shown}"))),
        Some(bytes) if bytes != 0 && bytes != default.0 => {
            Some((Shm::Sized(Bytes(bytes)), size, format!("HostConfig.ShmSize {}{shown}", Bytes(bytes))))
        }
        Some(_) => Some((Shm::Default(default), size, format!("HostConfig.ShmSize {default} ({of_default}){shown}"))),
        // Docker before 1.10 had no such field and always mounted 64 MiB.
        None if mode.is_told() => {
            Some((Shm::Default(default), mode, format!("no HostConfig.ShmSize ({of_default} is {default}){shown}")))
        }
        None => None,
    }
}
