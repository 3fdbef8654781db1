//! The human format: who died of what and how sure that is on the first two lines, then the evidence and the remedy.

use std::io;

use colored::Color;

use super::name::{folder, without};
use super::page::Page;
use super::sections::{memory, sizing, sizing_in_brief, when, who};
use super::text::{columns, cut, fold, pad, visible};
use super::{Entry, Report, Style};
use crate::note::Note;
use crate::remedy::Advice;
use crate::seen::{Input, Kind};
use crate::verdict::{Class, Evidence, Lacking, Verdict};

/// Most pieces of evidence, and most deaths after the root, under one heading; the JSON report has them all.
const MOST: usize = 6;
/// Widest column of places.
const PLACE: usize = 30;
/// Width of the column of witnesses, the longest being `supervisor` and `arithmetic`.
const WITNESS: usize = 12;

/// Writes the report.
pub(super) fn write(report: &Report, style: &Style, out: &mut dyn io::Write) -> io::Result<()> {
    let page = &mut Page::new(style, out);
    if report.is_blank() && !report.notes.is_empty() {
        // "Nothing died" would be an answer, and there is none.
        page.line("nothing was read")?;
        return notes(page, &report.notes, "");
    }
    heading(page, &report.verdict)?;
    page.hanging("", &report.verdict.summary)?;
    match report.deaths.split_first() {
        Some((root, rest)) => {
            death(page, root, folder(report))?;
            others(page, rest)?;
        }
        None => nothing(page, report)?,
    }
    notes(page, &report.notes, folder(report))
}

fn heading(page: &mut Page<'_>, verdict: &Verdict) -> io::Result<()> {
    let class = verdict.cause.class();
    let title = page.painted(class.title(), color(class));
    let grade = match class {
        Class::None => String::new(),
        Class::ShmExhaustion | Class::OomKill | Class::Unknown => format!(", {}", verdict.grade.slug()),
    };
    page.line(&format!("{title}   {}{grade}", verdict.cause.slug()))
}

fn death(page: &mut Page<'_>, entry: &Entry, folder: &str) -> io::Result<()> {
    let facts = [("when", when(entry)), ("who", who(entry))];
    if facts.iter().any(|(_, text)| text.is_some()) {
        page.line("")?;
    }
    for (name, text) in facts {
        if let Some(text) = text {
            page.hanging(&format!("  {}", pad(name, 7)), &text)?;
        }
    }
    judgement(page, &entry.verdict, folder)?;
    if let Some(picture) = &entry.memory {
        memory(page, picture)?;
    }
    match &entry.sizing {
        Some(need) if need.bytes.is_some() => sizing(page, need, folder)?,
        Some(need) => sizing_in_brief(page, need, folder)?,
        None => {}
    }
    remedy(page, &entry.remedy)
}

fn judgement(page: &mut Page<'_>, verdict: &Verdict, folder: &str) -> io::Result<()> {
    let lists = [("because", &verdict.because), ("set aside", &verdict.aside), ("against", &verdict.against)];
    let all: Vec<&Evidence> = lists.iter().flat_map(|(_, list)| list.iter()).collect();
    let places: Vec<String> = all.iter().map(|e| place(e, &all)).collect();
    let width = places.iter().map(|place| columns(place)).max().unwrap_or(0).min(PLACE);
    let mut places = places.into_iter();
    for (name, list) in lists {
        let here: Vec<String> = places.by_ref().take(list.len()).collect();
        if !list.is_empty() {
            page.section(name)?;
            evidence(page, list, &here, width, folder)?;
        }
    }
    if !verdict.lacking.is_empty() {
        page.section("lacking")?;
        lacking(page, &verdict.lacking)?;
    }
    Ok(())
}

/// Where a piece of evidence stands: the file's name, with its folders where another input has the same name. A field's
/// pointer is left out, as its quotation names the field.
fn place(evidence: &Evidence, all: &[&Evidence]) -> String {
    let place = &evidence.fact.place;
    let last = |path: &str| path.rsplit('/').next().unwrap_or(path).to_owned();
    let name = last(&place.input);
    let shared = all.iter().any(|e| e.fact.place.input != place.input && last(&e.fact.place.input) == name);
    let name = if shared || name.is_empty() { place.input.to_string() } else { name };
    visible(&place.number().map_or(name.clone(), |line| format!("{name}:{line}")))
}

fn evidence(page: &mut Page<'_>, list: &[Evidence], places: &[String], width: usize, folder: &str) -> io::Result<()> {
    for (number, (Evidence { fact, says }, place)) in list.iter().zip(places).take(MOST).enumerate() {
        let lead = format!("  {}   {}", pad(&cut(place, PLACE), width), pad(fact.witness.name(), WITNESS));
        let room = page.width().saturating_sub(columns(&lead)).max(20);
        let (text, says) = (visible(&fact.text), visible(&without(says, folder)));
        let one = format!("{text}: {says}");
        let apart = format!("{}   {says}", text.trim());
        // A field of a record reads on into what it means; a line of a log stays apart from what is said about it.
        let lines = if fact.place.line.is_none() && columns(&one) <= room {
            vec![one]
        } else if columns(&apart) <= room {
            vec![apart]
        } else {
            // The first piece carries the verdict and gets two lines, which hold most messages whole; so do records, all of whose
            // fields count. The others get one.
            // The cut allows for the blanks that are lost at the break.
            let most = if (number == 0 || fact.place.line.is_none()) && columns(&text) > room { room * 2 - 12 } else { room };
            let text = cut(&text, most);
            // A word that fills a line is an id, which the quotation or the JSON report has whole.
            let long = says.split(' ').any(|word| columns(word) > room);
            [fold(&text, room), if long { vec![cut(&says, room)] } else { fold(&says, room) }].concat()
        };
        for (number, line) in lines.iter().enumerate() {
            let lead = if number == 0 { lead.clone() } else { " ".repeat(columns(&lead)) };
            page.line(&format!("{lead}{line}"))?;
        }
    }
    match list.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => page.line(&format!("  and {more} more; --format json has them all")),
    }
}

fn lacking(page: &mut Page<'_>, list: &[Lacking]) -> io::Result<()> {
    for Lacking { what, how, would } in list {
        let lead = format!("  {}   ", visible(what));
        match how {
            // The command stands beside what it fetches where there is room for both.
            Some(how) if !how.contains('\n') && columns(&lead) + columns(&visible(how)) <= page.width() => {
                page.commands(&lead, how)?;
            }
            _ => {
                page.hanging("  ", what)?;
                page.commands("      ", how.as_deref().unwrap_or_default())?;
            }
        }
        if !would.is_empty() {
            page.hanging("      would ", would.strip_prefix("would ").unwrap_or(would))?;
        }
    }
    Ok(())
}

pub(super) fn remedy(page: &mut Page<'_>, list: &[Advice]) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    page.section("do this")?;
    for (number, advice) in list.iter().enumerate() {
        page.hanging(&format!("  {}  ", number + 1), &advice.text)?;
        if let Some(command) = &advice.command {
            page.commands("       ", command)?;
        }
    }
    Ok(())
}

/// The deaths after the root, a line each.
fn others(page: &mut Page<'_>, others: &[Entry]) -> io::Result<()> {
    if others.is_empty() {
        return Ok(());
    }
    page.section("other deaths")?;
    let width = (others.len() + 1).to_string().len();
    for (index, Entry { verdict, follows, count, .. }) in others.iter().enumerate().take(MOST) {
        let times = if *count > 1 { format!(" ({count} times)") } else { String::new() };
        let link = follows.map_or_else(String::new, |root| format!("; follows from death {}", root + 1));
        let lead = format!("  {}  ", pad(&(index + 2).to_string(), width));
        // The class follows from the cause; who died must be in the line.
        let text = format!(
            "{}, {}: {}{times}{link}",
            verdict.cause.slug(),
            verdict.grade.slug(),
            verdict.summary.trim_end_matches('.'),
        );
        page.line(&format!("{lead}{}", cut(&visible(&text), page.width().saturating_sub(columns(&lead)))))?;
    }
    match others.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => page.line(&format!("  and {more} more; --format json has them all")),
    }
}

/// What was read, and what to fetch if the job died all the same.
fn nothing(page: &mut Page<'_>, report: &Report) -> io::Result<()> {
    page.section("read")?;
    let name = |input: &Input| visible(input.name.strip_prefix(folder(report)).unwrap_or(&input.name));
    let width = report.inputs.iter().map(|input| columns(&name(input))).max().unwrap_or(0).min(PLACE);
    for input in report.inputs.iter().take(20) {
        let name = pad(&cut(&name(input), PLACE), width);
        page.line(&format!("  {name}   {}   {}", pad(input.kind.name(), 14), counted(input.lines, "line")))?;
    }
    match report.inputs.len() {
        0 => page.line("  nothing")?,
        n if n > 20 => page.line(&format!("  and {} more", n - 20))?,
        _ => {}
    }
    judgement(page, &report.verdict, folder(report))?;
    if !report.verdict.lacking.is_empty() {
        return Ok(());
    }
    let has = |wanted: fn(&Kind) -> bool| report.inputs.iter().any(|input| wanted(&input.kind));
    let hints = [
        (has(|kind| *kind == Kind::TrainingLog), "the job's log", "with standard error, to its very end"),
        (has(|kind| matches!(kind, Kind::Record(_))), "the exit data", "docker inspect NAME   or   kubectl get pod NAME -o json"),
        (
            has(|kind| matches!(kind, Kind::KernelLog | Kind::Journal)),
            "the host's kernel log",
            "journalctl -k --since '1 hour ago'",
        ),
    ];
    let mut lacking = hints.iter().filter(|(read, _, _)| !read).peekable();
    if lacking.peek().is_some() {
        page.section("if the job did die, fetch and add")?;
    }
    for (_, what, how) in lacking {
        let painted = page.painted(how, Color::Cyan);
        page.line(&format!("  {}   {painted}", pad(what, 22)))?;
    }
    Ok(())
}

pub(super) fn notes(page: &mut Page<'_>, list: &[Note], folder: &str) -> io::Result<()> {
    if list.is_empty() {
        return Ok(());
    }
    page.section("notes")?;
    for note in list {
        page.hanging("  ", &without(&format!("{}: {}", note.input, note.text), folder))?;
    }
    Ok(())
}

/// The colour of a class.
pub(super) fn color(class: Class) -> Color {
    match class {
        Class::ShmExhaustion => Color::Yellow,
        Class::OomKill => Color::Red,
        Class::Unknown => Color::Magenta,
        Class::None => Color::Green,
    }
}

/// A number with its noun.
pub(super) fn counted(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}
