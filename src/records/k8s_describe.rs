//! `kubectl describe pod`: a pod as indented text. Its events are lines like any others and are left to the patterns.

use crate::fact::{Claim, Container, Engine, Limit, Reason, Role, Shm, Status, What, Who, Witness};
use crate::seen::Form;
use crate::time::{Stamp, Wall};

use super::{Entry, Reading, TextFormat, dev_shm, k8s_evicted, k8s_pod, quantity};

/// kubernetes/kubectl pkg/describe/describe.go.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "k8s-describe",
    starts: &["Name:", "State:", "Last State:"],
    read: read_text,
    form: Form {
        name: "kubectl describe pod",
        how: "kubectl describe pod NAME",
        proves: "kill for memory, exit codes of this run and the last, eviction and its reason, limits, volume at /dev/shm",
    },
    samples: &[
        "Name:         a\nStatus:       Failed\nReason:       Evicted\nMessage:      The node was low on resource: memory. \n",
        "Name:         a\nContainers:\n  a:\n    Container ID:  containerd://945995da\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
        "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n",
    ],
};

/// The state of a container, or its last state.
#[derive(Default)]
struct State<'a> {
    line: u64,
    word: &'a str,
    reason: &'a str,
    code: Option<i64>,
    started: Option<Stamp>,
    finished: Option<Stamp>,
}

#[derive(Default)]
struct Described<'a> {
    line: u64,
    name: &'a str,
    id: Option<&'a str>,
    image: Option<&'a str>,
    init: bool,
    restarts: Option<u64>,
    memory: Option<Limit>,
    /// Whether its mounts were reached, below which nothing more is told of limits: a pager may have cut the text before.
    whole: bool,
    /// The volume at /dev/shm and the line that mounts it.
    shm: Option<(&'a str, u64)>,
    states: [State<'a>; 2],
}

#[derive(Default)]
struct Volume<'a> {
    name: &'a str,
    kind: &'a str,
    medium: &'a str,
    limit: &'a str,
}

#[derive(Default)]
struct Pod<'a> {
    who: Who,
    reason: Option<(&'a str, u64)>,
    message: &'a str,
    containers: Vec<Described<'a>>,
    volumes: Vec<Volume<'a>>,
}

/// Reads every pod that a text describes.
fn read_text(text: &str) -> Option<Reading> {
    if !text.lines().any(|line| line.starts_with("Name:")) {
        return read_states(text);
    }
    if !text.contains("Container ID:") && !text.contains("Evicted") {
        return None;
    }
    let mut reading = Reading::default();
    let mut pod: Option<Pod<'_>> = None;
    // The heading at the start of a line, and the one below a container's name.
    let (mut section, mut block) = ("", "");
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_end();
        let bare = line.trim_start();
        let indent = line.len() - bare.len();
        let Some((key, value)) = bare.split_once(':').map(|(key, value)| (key, value.trim())) else {
            if section != "Events" && block == "Mounts" && indent == 6 {
                mount(pod.as_mut(), bare, number);
            }
            continue;
        };
        if indent == 0 && key == "Name" {
            finish(&mut reading, pod.replace(Pod { who: Who { pod: owned(value), ..Who::default() }, ..Pod::default() }));
            (section, block) = ("", "");
            continue;
        }
        let Some(pod) = pod.as_mut() else { continue };
        match indent {
            0 => {
                (section, block) = (key, "");
                top(pod, key, value, number);
            }
            2 if section.ends_with("Containers") && value.is_empty() => {
                block = "";
                let init = section == "Init Containers";
                pod.containers.push(Described { line: number, name: key, init, ..Described::default() });
            }
            2 if section == "Volumes" && value.is_empty() => pod.volumes.push(Volume { name: key, ..Volume::default() }),
            4 if section == "Volumes" => volume(pod.volumes.last_mut(), key, value),
            4 if section.ends_with("Containers") => {
                block = key;
                if let Some(container) = pod.containers.last_mut() {
                    field(container, key, value, number);
                }
            }
            6 if section.ends_with("Containers") => {
                if let Some(container) = pod.containers.last_mut() {
                    inner(container, block, key, value);
                }
                if block == "Mounts" {
                    mount(Some(pod), bare, number);
                }
            }
            _ => {}
        }
    }
    finish(&mut reading, pod);
    (!reading.entries.is_empty()).then_some(reading)
}

/// Reads the states of containers that were pasted without the description around them.
fn read_states(text: &str) -> Option<Reading> {
    // Within another text they may be an example of a runbook.
    let first = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    if !first.starts_with("State:") && !first.starts_with("Last State:") || !text.contains("Exit Code:") {
        return None;
    }
    let mut pod = Pod::default();
    let mut block = "";
    for (number, line) in (1..).zip(text.lines()) {
        let Some((key, value)) = line.trim().split_once(':').map(|(key, value)| (key, value.trim())) else { continue };
        match key {
            "State" | "Last State" if matches!(value, "Terminated" | "Waiting" | "Running") => {
                let again = |c: &Described<'_>| !c.states[usize::from(key != "State")].word.is_empty();
                if pod.containers.last().is_none_or(again) {
                    pod.containers.push(Described { line: number, ..Described::default() });
                }
                block = key;
            }
            "Reason" | "Exit Code" | "Started" | "Finished" | "Restart Count" => {}
            _ => block = "",
        }
        let Some(container) = pod.containers.last_mut().filter(|_| !block.is_empty()) else { continue };
        if key == block {
            field(container, key, value, number);
        } else {
            inner(container, block, key, value);
        }
    }
    let mut reading = Reading::default();
    finish(&mut reading, Some(pod));
    (!reading.entries.is_empty()).then_some(reading)
}

fn owned(value: &str) -> Option<String> {
    (!value.is_empty() && value != "<none>").then(|| value.to_owned())
}

fn top<'a>(pod: &mut Pod<'a>, key: &str, value: &'a str, number: u64) {
    match key {
        "Namespace" => pod.who.namespace = owned(value),
        "Node" => pod.who.host = value.split('/').next().and_then(owned),
        "UID" => pod.who.pod_uid = owned(value),
        "Reason" => pod.reason = Some((value, number)),
        "Message" => pod.message = value,
        _ => {}
    }
}

fn field<'a>(container: &mut Described<'a>, key: &str, value: &'a str, number: u64) {
    match key {
        "Container ID" => container.id = value.rsplit("://").next().filter(|id| !id.is_empty()),
        "Image" => container.image = Some(value),
        "Restart Count" => container.restarts = value.parse().ok(),
        "Mounts" => container.whole = true,
        "State" | "Last State" => {
            let [current, last] = &mut container.states;
            let state = if key == "State" { current } else { last };
            *state = State { line: number, word: value, ..State::default() };
        }
        _ => {}
    }
}

fn inner<'a>(container: &mut Described<'a>, block: &str, key: &str, value: &'a str) {
    let [current, last] = &mut container.states;
    let state = match block {
        "State" => current,
        "Last State" => last,
        "Limits" if key == "memory" => {
            container.memory = quantity::parse(value).map(Limit::Bytes);
            return;
        }
        _ => return,
    };
    match key {
        "Reason" => state.reason = value,
        "Exit Code" => state.code = value.parse().ok(),
        "Started" => state.started = moment(value),
        "Finished" => state.finished = moment(value),
        _ => {}
    }
}

fn volume<'a>(volume: Option<&mut Volume<'a>>, key: &str, value: &'a str) {
    let Some(volume) = volume else { return };
    match key {
        "Type" => volume.kind = value,
        "Medium" => volume.medium = value,
        "SizeLimit" => volume.limit = value,
        _ => {}
    }
}

/// `/dev/shm from dshm (rw)`.
fn mount<'a>(pod: Option<&mut Pod<'a>>, line: &'a str, number: u64) {
    if let Some((path, rest)) = line.split_once(" from ")
        && dev_shm::is_dev_shm(Some(path))
        && let Some(container) = pod.and_then(|pod| pod.containers.last_mut())
    {
        container.shm = Some((rest.split(' ').next().unwrap_or_default(), number));
    }
}

/// `Mon, 02 Jan 2006 15:04:05 -0700`.
fn moment(text: &str) -> Option<Stamp> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut words = text.split_whitespace().skip(1);
    let (day, month, year, clock, zone) = (words.next()?, words.next()?, words.next()?, words.next()?, words.next()?);
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let (hours, minutes) = zone.split_at_checked(3)?;
    let at = format!("{year}-{month:02}-{day:0>2}T{clock}{hours}:{minutes}").parse().ok()?;
    Some(Stamp::Wall(Wall { at, zoned: true, dated: true }))
}

/// Makes the claims of one pod.
fn finish(reading: &mut Reading, pod: Option<Pod<'_>>) {
    let Some(pod) = pod else { return };
    let mut claim = |what, who: &Who, when, line, text| {
        let claim = Claim::new(what, who.clone());
        let (pointer, line, witness) = (String::new(), Some(line), Witness::Runtime);
        reading.entries.push(Entry { claim, when, pointer, line, text, witness });
    };
    for one in &pod.containers {
        let (shm, shm_text, shm_line) = shm_of(one, &pod.volumes);
        let named = Who { role: Role::Main, container_name: owned(one.name), ..pod.who.clone() };
        let [current, last] = &one.states;
        for (state, previous) in [(last, true), (current, false)] {
            let status = match state.word {
                "Terminated" => Status::Exited,
                "Running" => Status::Running,
                "Waiting" if last.word.is_empty() && state.reason == "CrashLoopBackOff" => Status::Restarting,
                "Waiting" if last.word.is_empty() => Status::Created,
                _ => continue,
            };
            let mut container = Container { status, previous, init: one.init, shm, ..Container::new(Engine::Kubernetes) };
            container.exit_code = state.code;
            container.reason = owned(state.reason).map(|word| k8s_pod::reason(&word));
            container.oom_killed = (container.reason == Some(Reason::OomKilled)).then_some(true);
            (container.started, container.finished) = (state.started, state.finished);
            (container.restarts, container.image) = (one.restarts, one.image.map(str::to_owned));
            container.memory = one.memory.or(one.whole.then_some(Limit::Unlimited));
            // The id is that of the current run.
            let who = Who { container: one.id.filter(|_| !previous).map(str::to_owned), ..named.clone() };
            let which = if previous { "Last State" } else { "State" };
            let mut text = format!("{} {which} {}", one.name, state.word).trim_start().to_owned();
            if !state.reason.is_empty() {
                text = format!("{text}, Reason {}", state.reason);
            }
            if let Some(code) = state.code {
                text = format!("{text}, Exit Code {code}");
            }
            if let Some(Limit::Bytes(bytes)) = one.memory {
                text = format!("{text}, Limits memory {bytes}");
            }
            claim(What::Container(Box::new(container)), &who, state.finished, state.line, text);
        }
        if shm != Shm::Unknown {
            claim(What::ShmOption(shm), &named, None, shm_line, shm_text);
        }
    }
    if let Some((reason, line)) = pod.reason {
        let at_shm = |volume: &str| {
            (!pod.containers.is_empty()).then(|| pod.containers.iter().any(|one| one.shm.is_some_and(|(name, _)| name == volume)))
        };
        if let Some(what) = k8s_evicted::removal(reason, pod.message, at_shm) {
            claim(what, &pod.who, None, line, format!("Reason: {reason}, Message: {}", pod.message));
        }
    }
}

fn shm_of(one: &Described<'_>, volumes: &[Volume<'_>]) -> (Shm, String, u64) {
    let Some((name, line)) = one.shm else {
        if !one.whole {
            return (Shm::Unknown, String::new(), one.line);
        }
        let size = dev_shm::default_size(Engine::Kubernetes);
        return (
            Shm::Default(size),
            format!("{} mounts nothing at /dev/shm, so it has the runtime's {size}", one.name),
            one.line,
        );
    };
    let found = volumes.iter().find(|volume| volume.name == name);
    let (shm, what) = match found {
        Some(volume) if volume.medium == "Memory" => match quantity::parse(volume.limit) {
            Some(bytes) => (Shm::Sized(bytes), format!("EmptyDir, Medium Memory, SizeLimit {bytes}")),
            None => (Shm::Unsized, "EmptyDir, Medium Memory, no SizeLimit".to_owned()),
        },
        Some(volume) => (Shm::Elsewhere, volume.kind.to_owned()),
        None => (Shm::Unknown, "not described".to_owned()),
    };
    (shm, format!("/dev/shm of {} from {name}: {what}", one.name), line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::EvictedFor;
    use crate::units::Bytes;

    const TEXT: &str = "Name:             trainer\nNamespace:        ml\nNode:             node-1/10.0.12.41\nStatus:           Running\nContainers:\n  trainer:\n    Container ID:  containerd://945995da\n    State:          Waiting\n      Reason:       CrashLoopBackOff\n    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n      Started:      Sun, 17 Sep 2023 10:25:19 +0800\n      Finished:     Sun, 17 Sep 2023 10:25:22 +0800\n    Restart Count:  5\n    Limits:\n      memory:  30Mi\n    Mounts:\n      /dev/shm from dshm (rw)\nVolumes:\n  dshm:\n    Type:       EmptyDir (a temporary directory that shares a pod's lifetime)\n    Medium:     Memory\n    SizeLimit:  8Gi\nEvents:  <none>\n";

    #[test]
    fn a_described_pod_is_read_with_either_line_end() {
        for text in [TEXT.to_owned(), TEXT.replace('\n', "\r\n")] {
            let entries = read_text(&text).unwrap().entries;
            let What::Container(container) = &entries[0].claim.what else { panic!("a container") };
            assert_eq!((container.exit_code, container.oom_killed, container.previous), (Some(137), Some(true), true));
            assert_eq!(container.memory, Some(Limit::Bytes(Bytes::mib(30))));
            assert_eq!(container.shm, Shm::Sized(Bytes::mib(8192)));
            assert_eq!(container.finished, moment("Sun, 17 Sep 2023 02:25:22 +0000"));
            assert_eq!((entries[0].line, entries[1].line), (Some(10), Some(19)));
            assert_eq!(entries[0].text, "trainer Last State Terminated, Reason OOMKilled, Exit Code 137, Limits memory 30 MiB");
        }
    }

    #[test]
    fn an_evicted_pod_tells_for_what() {
        let text =
            "Name:   a\nStatus:       Failed\nReason:       Evicted\nMessage:      The node was low on resource: memory. \n";
        assert_eq!(read_text(text).unwrap().entries[0].claim.what, What::Evicted(EvictedFor::Memory));
        assert_eq!(read_text("Name: a\nReason: Evicted or not\n"), None);
    }
}
