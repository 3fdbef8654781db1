//! Sections of the human format that need arithmetic or choice of words: when, who, memory, sizing.

use std::io;

use super::page::Page;
use super::text::{columns, pad, visible};
use super::{Entry, MemoryPicture};
use crate::fact::{Role, Who};
use crate::remedy::sizing::{Sizing, Term};
use crate::time::Stamp;
use crate::units::Bytes;

/// When a process died, by the clock that told it.
pub(super) fn when(entry: &Entry) -> Option<String> {
    entry.when.map(moment)
}

/// A moment, by the clock that told it.
pub(super) fn moment(stamp: Stamp) -> String {
    match stamp {
        Stamp::Wall(wall) => {
            let format = if wall.dated { "%Y-%m-%d %H:%M:%S" } else { "%b %d %H:%M:%S" };
            let zone = if wall.zoned { "UTC" } else { "by the log's clock" };
            format!("{} {zone}", wall.at.strftime(format))
        }
        Stamp::Boot(micros) => format!("{}.{:03} s after the machine booted", micros / 1_000_000, micros / 1000 % 1000),
    }
}

/// Who died, by every name that is known.
pub(super) fn who(entry: &Entry) -> Option<String> {
    let who = &entry.who;
    let mut parts = Vec::new();
    if let Some(role) = role(who) {
        parts.push(role);
    }
    let contained = who.container.is_some() || who.container_name.is_some() || who.pod.is_some();
    match who.own_pid {
        Some(pid) if contained => parts.push(format!("pid {pid} in the container")),
        Some(pid) => parts.push(format!("pid {pid}")),
        None => {}
    }
    if let Some(pid) = who.host_pid {
        parts.push(format!("pid {pid} on the host"));
    }
    if let (Some(process), Some(last)) = (&who.process, parts.last_mut()) {
        last.push_str(&format!(" ({process})"));
    } else if let Some(process) = &who.process {
        parts.push(process.clone());
    }
    match (&who.container_name, &who.container) {
        (Some(name), Some(id)) => parts.push(format!("container {name} ({})", short(id))),
        (Some(name), None) => parts.push(format!("container {name}")),
        (None, Some(id)) => parts.push(format!("container {}", short(id))),
        (None, None) => {}
    }
    if let Some(pod) = &who.pod {
        let namespace = who.namespace.as_ref().map_or_else(String::new, |namespace| format!("{namespace}/"));
        parts.push(format!("pod {namespace}{pod}"));
    }
    // A container's scope unit bears its id once more.
    let unit = if contained { &None } else { &who.unit };
    for (name, value) in [("unit", unit), ("job", &who.job), ("machine", &who.host)] {
        if let Some(value) = value {
            parts.push(format!("{name} {value}"));
        }
    }
    if entry.count > 1 {
        parts.push(format!("{} processes died so", entry.count));
    }
    let code = entry.exit_code.map(|code| format!("exit code {code}"));
    parts.extend(code);
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// What the process was to the job.
fn role(who: &Who) -> Option<String> {
    match (who.role, who.worker, who.rank) {
        (Role::Worker, Some(worker), _) => Some(format!("DataLoader worker {worker}")),
        (Role::Worker, None, _) => Some("a worker".to_owned()),
        (_, _, Some(rank)) => Some(format!("rank {rank}")),
        (Role::Rank, _, None) => Some("the training process".to_owned()),
        (Role::Launcher, _, None) => Some("the launcher".to_owned()),
        (Role::Main, _, None) => Some("the container's main process".to_owned()),
        (Role::Engine, _, None) => Some("an engine process".to_owned()),
        (Role::Unit, _, None) => Some("the unit's main process".to_owned()),
        (Role::Job, _, None) | (Role::Unknown, _, None) => None,
    }
}

/// The beginning of a container's id, as the engines show it.
pub(super) fn short(id: &str) -> &str {
    id.get(..12).unwrap_or(id)
}

/// What filled the memory.
pub(super) fn memory(page: &mut Page<'_>, picture: &MemoryPicture) -> io::Result<()> {
    let limit = picture.limit.map_or_else(String::new, |limit| format!(", limit {limit}"));
    let kinds = [("anonymous", picture.anon), ("shared memory", picture.shmem), ("page cache", picture.cache)];
    let kinds: Vec<String> = kinds.iter().filter_map(|(name, bytes)| Some(format!("{name} {}", (*bytes)?))).collect();
    if kinds.is_empty() && picture.tasks.is_empty() {
        return Ok(());
    }
    page.section(&format!("memory at the kill{limit}"))?;
    row(page, &kinds)?;
    let tasks: Vec<String> = picture
        .tasks
        .iter()
        .take(8)
        .map(|(process, rss, killed)| format!("{} {rss}{}", visible(process), if *killed { " (killed)" } else { "" }))
        .collect();
    row(page, &tasks)
}

/// Items side by side, on as many lines as they need.
fn row(page: &mut Page<'_>, items: &[String]) -> io::Result<()> {
    let mut line = String::new();
    for item in items {
        if !line.is_empty() && columns(&line) + columns(item) + 3 > page.width() {
            page.line(&std::mem::take(&mut line))?;
        }
        line.push_str(if line.is_empty() { "  " } else { "   " });
        line.push_str(item);
    }
    if line.is_empty() { Ok(()) } else { page.line(&line) }
}

/// What is known of the need while it cannot be worked out: what the inputs told, what is lacking, and what to type with it.
pub(super) fn sizing_in_brief(page: &mut Page<'_>, need: &Sizing, folder: &str) -> io::Result<()> {
    title(page, need, false)?;
    let spoken = |term: &Term| named(term, term.name);
    let told = need.terms.iter().filter(|term| term.value.is_some() && !EXTRA.contains(&term.name));
    let told = told.filter(|term| !term.from.starts_with("assumed") && !term.name.ends_with("bytes"));
    let told = told.filter_map(|term| {
        let from = term.from.strip_prefix(folder).unwrap_or(&term.from);
        Some(format!("{} {} ({from})", spoken(term), term.value?))
    });
    let mut told: Vec<String> = told.collect();
    told.extend(need.had.map(|had| format!("it had {had}")));
    if !told.is_empty() {
        page.hanging("  known     ", &told.join(", "))?;
    }
    let options = [("workers", " --workers N"), ("batch_bytes", " --batch-bytes SIZE")];
    // Of two values that differ neither counts.
    let lacks =
        |name: &str| need.terms.iter().find(|term| term.name == name && (term.value.is_none() || need.unknown.contains(&name)));
    let lacking: Vec<_> = options.iter().filter_map(|(name, option)| Some((lacks(name)?, *option))).collect();
    if !lacking.is_empty() {
        let terms: Vec<String> = lacking.iter().map(|(term, _)| spoken(term)).collect();
        let options: String = lacking.iter().map(|(_, option)| *option).collect();
        page.commands(&format!("  unknown   {}   ", terms.join(", ")), &format!("coroner size --from LOG{options}"))?;
    }
    need.remarks.iter().try_for_each(|remark| page.hanging("  ", remark))
}

/// The section's name, with the formula where there is room or where it must be shown.
fn title(page: &mut Page<'_>, need: &Sizing, must: bool) -> io::Result<()> {
    const HEADING: &str = "how large /dev/shm must be";
    let gap = page.width().saturating_sub(HEADING.len() + columns(need.formula));
    if gap >= 3 {
        return page.section(&format!("{HEADING}{}{}", " ".repeat(gap), need.formula));
    }
    page.section(HEADING)?;
    if must { page.hanging("  ", need.formula) } else { Ok(()) }
}

/// A term's name, with its loader where there are several.
fn named(term: &Term, name: &str) -> String {
    match term.loader {
        0 => name.replace('_', " "),
        loader => format!("loader {loader} {}", name.replace('_', " ")),
    }
}

/// The terms that count batches beyond those that are ordered.
const EXTRA: [&str; 4] = ["held", "look_ahead", "hand_over", "forked"];

/// How large /dev/shm must be, term by term.
pub(super) fn sizing(page: &mut Page<'_>, need: &Sizing, folder: &str) -> io::Result<()> {
    title(page, need, true)?;
    let width = need.terms.iter().map(|term| named(term, term.name).len()).max().unwrap_or(0);
    let mut extra: Vec<&Term> = need.terms.iter().filter(|term| EXTRA.contains(&term.name)).collect();
    for term in &need.terms {
        let (name, value, from) = if EXTRA.contains(&term.name) {
            // A loader's share a row, at the place of the first.
            let (parts, others) = extra.into_iter().partition::<Vec<_>, _>(|part| part.loader == term.loader);
            extra = others;
            if parts.is_empty() {
                continue;
            }
            let sum = parts.iter().filter_map(|part| part.value).fold(0_u64, u64::saturating_add);
            let part = |part: &&Term| Some(format!("{} {}", part.name.replace('_', " "), part.value?));
            ("extra_batches", sum.to_string(), parts.iter().filter_map(part).collect::<Vec<_>>().join(", "))
        } else {
            let value = match term.value {
                None => "unknown".to_owned(),
                Some(bytes) if term.name.ends_with("bytes") => Bytes(bytes).to_string(),
                Some(value) => value.to_string(),
            };
            (term.name, value, term.from.strip_prefix(folder).unwrap_or(&term.from).to_owned())
        };
        page.hanging(&format!("  {}   {}   ", pad(&named(term, name), width), pad(&value, 9)), &from)?;
    }
    let mut last = Vec::new();
    if let Some(had) = need.had {
        last.push(format!("It had {had}."));
    }
    match (need.bytes, need.recommended) {
        (Some(bytes), Some(size)) => last.push(format!("It needs {bytes}; {size} with head-room.")),
        (Some(bytes), None) => last.push(format!("It needs {bytes}.")),
        (None, _) => {}
    }
    if !last.is_empty() {
        page.hanging("  ", &last.join(" "))?;
    }
    for remark in &need.remarks {
        page.hanging("  ", remark)?;
    }
    Ok(())
}
