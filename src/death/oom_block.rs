//! The kernel's OOM report: its lines, found one by one, put together into one report for each kill.
//!
//! A report needs a kill: a header alone may have been cut off or may have ended without one. A kill needs no header: after ten
//! reports in five seconds the kernel prints the kill alone, and so do a wrapped ring buffer and `dmesg -l err`.

use std::collections::HashMap;

use super::oom_numbers::Numbers;
use super::{OomReport, Victim};
use crate::fact::{Fact, OomLine, What};
use crate::time::Stamp;
use crate::units::{Bytes, HostPid};

/// A line that comes later than this after the rest of a report belongs to another one.
const GAP_SECONDS: u64 = 30;
/// The members of a group are killed at once.
const GROUP_SECONDS: u64 = 2;
/// How far the wall clocks of dmesg, syslog and the journal may differ for one event.
const CLOCK_SECONDS: u64 = 600;
/// How many lines of a report are worth quoting.
const QUOTES: usize = 12;

/// One report in the making.
#[derive(Default)]
struct Block<'a> {
    report: OomReport,
    numbers: Numbers,
    quotes: Vec<&'a Fact>,
    kills: Vec<&'a Fact>,
    /// The line that names the victim, should the kill line be lost.
    chosen: Option<&'a Fact>,
    skipped: bool,
    last: Option<&'a Fact>,
}

/// The reports among the facts of one input, in reading order; other facts are passed over.
pub(crate) fn group<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Vec<OomReport> {
    // Merged journals hold the lines of several machines; within one machine the kernel never mixes two reports.
    let mut open: Vec<(Option<&str>, Block<'a>)> = Vec::new();
    let mut done: Vec<OomReport> = Vec::new();
    let mut by_pid: HashMap<HostPid, Vec<usize>> = HashMap::new();
    for fact in facts {
        let What::Oom(line) = &fact.what else { continue };
        let host = fact.who.host.as_deref();
        let index = open.iter().position(|(of, _)| *of == host).unwrap_or_else(|| {
            open.push((host, Block::default()));
            open.len() - 1
        });
        let block = &mut open[index].1;
        if block.is_over(fact, line) {
            finish(std::mem::take(block), &mut done, &mut by_pid);
        }
        block.add(fact, line);
    }
    for (_, block) in open {
        finish(block, &mut done, &mut by_pid);
    }
    done.sort_by(|a, b| a.facts.first().map(|f| &f.place).cmp(&b.facts.first().map(|f| &f.place)));
    done
}

/// Keeps a report that has a kill, unless the same one was read before; of two the fuller stays.
fn finish(block: Block<'_>, done: &mut Vec<OomReport>, by_pid: &mut HashMap<HostPid, Vec<usize>>) {
    let Some(report) = block.close() else { return };
    let seen = report.victims.iter().filter_map(|v| by_pid.get(&v.pid)).flatten().copied().find(|at| done[*at].same(&report));
    match seen {
        Some(at) if done[at].facts.len() < report.facts.len() => done[at] = report,
        Some(_) => {}
        None => {
            for victim in &report.victims {
                by_pid.entry(victim.pid).or_default().push(done.len());
            }
            done.push(report);
        }
    }
}

impl<'a> Block<'a> {
    /// Whether a line opens another report.
    fn is_over(&self, fact: &Fact, line: &OomLine) -> bool {
        let Some(last) = self.last else { return false };
        let late = |limit: u64| seconds_between(last, fact).is_some_and(|gap| gap > limit);
        match line {
            OomLine::Invoked { .. } => true,
            OomLine::Reaped => false,
            _ if late(GAP_SECONDS) => true,
            _ if self.kills.is_empty() => false,
            OomLine::Group => false,
            OomLine::Killed { total_vm, .. } => {
                let again = self.report.victims.iter().any(|v| Some(v.pid) == fact.who.host_pid);
                // Linux 3.10 names those who shared the victim's memory in lines without sizes.
                let sharer = total_vm.is_none() && self.report.trigger.is_some();
                late(GROUP_SECONDS) || !(self.report.group || again || sharer)
            }
            _ => true,
        }
    }

    fn add(&mut self, fact: &'a Fact, line: &OomLine) {
        let report = &mut self.report;
        self.numbers.add(fact, line);
        match line {
            OomLine::Invoked { order } => {
                report.trigger.clone_from(&fact.who.process);
                report.sysrq = *order == -1;
            }
            OomLine::TaskIn { task, limit } => {
                report.memcg = Some(true);
                report.victim_cgroup = Some(task.clone());
                report.limit_cgroup = Some(limit.clone());
            }
            OomLine::StatsFor { path, .. } => {
                // The subtree's own cgroups follow the one whose limit was hit.
                report.limit_cgroup.get_or_insert_with(|| path.clone());
            }
            OomLine::Chosen { constraint, oom_memcg, global } | OomLine::ChosenHead { constraint, oom_memcg, global } => {
                report.memcg = Some(!global && (oom_memcg.is_some() || constraint == "CONSTRAINT_MEMCG"));
                report.constraint = Some(constraint.clone());
                if oom_memcg.is_some() {
                    report.limit_cgroup.clone_from(oom_memcg);
                }
                if fact.who.cgroup.is_some() {
                    report.victim_cgroup.clone_from(&fact.who.cgroup);
                }
            }
            OomLine::ChosenTail => report.victim_cgroup.clone_from(&fact.who.cgroup),
            OomLine::Skipped => self.skipped = true,
            OomLine::Announced { memcg } => report.memcg = report.memcg.or(Some(*memcg)),
            OomLine::Group => {
                report.group = true;
                report.victim_cgroup = report.victim_cgroup.take().or_else(|| fact.who.cgroup.clone());
            }
            OomLine::Killed { memcg, anon, shmem, .. } => {
                report.memcg = report.memcg.or(*memcg);
                self.kill(fact, *anon, *shmem);
            }
            _ => {}
        }
        if matches!(line, OomLine::Chosen { .. } | OomLine::ChosenTail) && fact.who.host_pid.is_some() {
            self.chosen = Some(fact);
        }
        if quotable(line) {
            self.quotes.push(fact);
        }
        if !matches!(line, OomLine::Reaped) {
            self.last = Some(fact);
        }
    }

    /// Adds a victim; with `memory.oom.group` the first one is logged twice.
    fn kill(&mut self, fact: &'a Fact, anon: Option<Bytes>, shmem: Option<Bytes>) {
        let pid = fact.who.host_pid.unwrap_or(HostPid(0));
        if self.report.victims.iter().any(|victim| victim.pid == pid) {
            return;
        }
        let process = fact.who.process.clone().unwrap_or_default();
        self.report.victims.push(Victim { pid, process, anon, shmem, fact: fact.clone() });
        self.kills.push(fact);
    }

    fn close(mut self) -> Option<OomReport> {
        if let Some(fact) = self.chosen.filter(|_| self.kills.is_empty() && !self.skipped) {
            // Linux 5.0 and later print the choice right before the kill; only its line was lost.
            self.kill(fact, None, None);
            self.report.kill_line_lost = true;
        }
        let kill = *self.kills.first()?;
        let mut report = self.report;
        (report.when, report.boot) = (kill.when, kill.boot);
        self.numbers.fill(&mut report);
        let totals = self.quotes.iter().any(|fact| stat_key(fact).is_some_and(|key| key.starts_with("total_")));
        // Where `total_` keys exist the plain ones count a cgroup without its children.
        self.quotes.retain(|fact| stat_key(fact).is_none_or(|key| key.starts_with("total_") == totals));
        self.quotes.truncate(QUOTES.saturating_sub(self.kills.len().min(4)));
        let room = QUOTES - self.quotes.len();
        report.facts = self.quotes.iter().copied().chain(self.kills.iter().copied().take(room)).cloned().collect();
        Some(report)
    }
}

fn stat_key(fact: &Fact) -> Option<&str> {
    match &fact.what {
        What::Oom(OomLine::Stat { key, .. }) => Some(key),
        _ => None,
    }
}

/// The lines that a reader needs to believe the report; kills are kept apart.
fn quotable(line: &OomLine) -> bool {
    match line {
        OomLine::Invoked { .. }
        | OomLine::TaskIn { .. }
        | OomLine::Chosen { .. }
        | OomLine::ChosenHead { .. }
        | OomLine::ChosenTail
        | OomLine::Group => true,
        OomLine::Usage { kind, .. } => kind == "memory",
        OomLine::StatsFor { pairs, .. } => !pairs.is_empty(),
        OomLine::Stat { key, .. } => ["anon", "rss", "shmem"].contains(&key.strip_prefix("total_").unwrap_or(key)),
        OomLine::MemInfo { key, .. } => key == "shmem" || key == "pages RAM",
        _ => false,
    }
}

/// The seconds between two facts, by a clock that both have.
fn seconds_between(a: &Fact, b: &Fact) -> Option<u64> {
    apart(a.boot, b.boot).or_else(|| apart(a.when, b.when))
}

fn apart(a: Option<Stamp>, b: Option<Stamp>) -> Option<u64> {
    match (a?, b?) {
        (Stamp::Boot(a), Stamp::Boot(b)) => Some(a.abs_diff(b) / 1_000_000),
        (Stamp::Wall(a), Stamp::Wall(b)) if a.zoned == b.zoned && a.dated == b.dated => {
            Some(a.at.as_second().abs_diff(b.at.as_second()))
        }
        _ => None,
    }
}

impl OomReport {
    /// Whether both tell of the same kill: read twice, from dmesg and from a journal. A victim with the same pid, name and
    /// sizes is shared, and no clock or host name speaks against it.
    pub fn same(&self, other: &Self) -> bool {
        let differ = |a: &Option<String>, b: &Option<String>| a.is_some() && b.is_some() && a != b;
        let clash = |gap: Option<u64>, limit: u64| gap.is_some_and(|gap| gap > limit);
        self.victims.iter().any(|a| {
            other.victims.iter().any(|b| {
                (a.pid, &a.process, a.anon, a.shmem) == (b.pid, &b.process, b.anon, b.shmem)
                    && !differ(&a.fact.who.host, &b.fact.who.host)
                    && !clash(apart(a.fact.boot, b.fact.boot), GROUP_SECONDS)
                    && !clash(apart(a.fact.when, b.fact.when), wall_limit(a.fact.when))
            })
        })
    }
}

/// Time since boot is one clock; wall clocks are several.
fn wall_limit(stamp: Option<Stamp>) -> u64 {
    if matches!(stamp, Some(Stamp::Boot(_))) { GROUP_SECONDS } else { CLOCK_SECONDS }
}
