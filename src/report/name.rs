//! What an incident is called, and up to when its inputs tell: a page that is found again needs both.

use super::Report;
use super::sections::short;
use super::text::visible;
use crate::time::Stamp;
use crate::verdict::Class;

/// What died, by the name that people gave it; else the folder or the file that tells of it.
pub(super) fn subject(report: &Report) -> Option<String> {
    let who = report.deaths.first().map(|root| &root.who);
    let named = who.and_then(|who| {
        let pod = who.pod.as_ref().map(|pod| match &who.namespace {
            Some(namespace) => format!("pod {namespace}/{pod}"),
            None => format!("pod {pod}"),
        });
        let job = || who.job.as_ref().map(|job| format!("job {job}"));
        let container =
            || who.container_name.as_deref().or(who.container.as_deref().map(short)).map(|id| format!("container {id}"));
        let unit = || who.unit.as_ref().map(|unit| format!("unit {unit}"));
        let host = || who.host.as_ref().map(|host| format!("machine {host}"));
        pod.or_else(job).or_else(container).or_else(unit).or_else(host)
    });
    let last = |path: &str, parts: usize| {
        let path = path.trim_end_matches(['/', '!']);
        path.rmatch_indices('/').nth(parts - 1).map_or(path, |(slash, _)| &path[slash + 1..]).to_owned()
    };
    let input = || match report.inputs.as_slice() {
        // A file may be called `stdout.log`: its folder says more.
        [only] => Some(last(&only.name, 2)),
        _ => Some(last(folder(report), 1)),
    };
    named.or_else(input).filter(|name| !["", "-", "."].contains(&&**name)).map(|name| visible(&name))
}

/// The folder of all inputs, with its last slash; empty where they have none in common.
pub(super) fn folder(report: &Report) -> &str {
    let mut names = report.inputs.iter().map(|input| &*input.name);
    let first = names.next().unwrap_or_default();
    let mut end = first.rfind('/').map_or(0, |slash| slash + 1);
    for name in names {
        while !name.starts_with(&first[..end]) {
            end = first[..end].trim_end_matches('/').rfind('/').map_or(0, |slash| slash + 1);
        }
    }
    &first[..end]
}

/// A sentence that names inputs, without the folder of all of them.
pub(super) fn without(text: &str, folder: &str) -> String {
    if folder.len() <= 1 {
        return text.to_owned();
    }
    let mut short = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(folder) {
        short.push_str(before);
        // Inside of a longer path the same letters are another folder.
        if short.ends_with(|c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '-' | '_')) {
            short.push_str(folder);
        }
        rest = after;
    }
    short + rest
}

/// The newest moment that the inputs tell of, by a clock that knows the year.
pub(super) fn newest(report: &Report) -> Option<Stamp> {
    let spans = report.inputs.iter().filter_map(|input| Some(input.span?.1));
    let deaths = report.deaths.iter().filter_map(|entry| entry.when);
    spans.chain(deaths).reduce(later).filter(|at| matches!(at, Stamp::Wall(wall) if wall.dated))
}

/// The later of two moments; one by a clock that knows the year goes before all others.
pub(super) fn later(one: Stamp, other: Stamp) -> Stamp {
    match (one, other) {
        (Stamp::Wall(a), Stamp::Wall(b)) if a.dated == b.dated => {
            if b.at > a.at {
                other
            } else {
                one
            }
        }
        (_, Stamp::Wall(b)) if b.dated => other,
        _ => one,
    }
}

/// The day of the death, or the last one that the inputs tell of.
pub(super) fn day(report: &Report) -> Option<String> {
    let death = report.deaths.first().and_then(|root| root.when);
    let at = death.filter(|at| matches!(at, Stamp::Wall(wall) if wall.dated)).or_else(|| newest(report));
    match at? {
        Stamp::Wall(wall) => Some(wall.at.strftime("%Y-%m-%d").to_string()),
        Stamp::Boot(_) => None,
    }
}

/// Class, incident and day in one line.
pub(super) fn title(report: &Report) -> String {
    let class = report.verdict.cause.class();
    let what = if class == Class::Unknown { report.verdict.cause.slug() } else { class.title() };
    let about: Vec<String> = [subject(report), day(report)].into_iter().flatten().collect();
    if about.is_empty() { what.to_owned() } else { format!("{what}: {}", about.join(", ")) }
}
