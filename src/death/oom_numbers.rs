//! The numbers of an OOM report: who filled the limit, told by the best of the sources that a kernel version prints.
//!
//! The statistics of the cgroup are complete. The task table and the kill line are not: shared memory that was written with
//! `write(2)`, or whose writer is gone, belongs to no process.

use crate::fact::{Fact, OomLine};
use crate::units::{Bytes, HostPid};

use super::{OomReport, Task};

/// What the lines of one report said, before it is known which of it counts.
#[derive(Default)]
pub(super) struct Numbers {
    usage: Option<(Bytes, Option<Bytes>)>,
    /// The statistics; to 5.2 the lines of a cgroup and those below it, added up.
    stats: Vec<(String, u64)>,
    /// The cgroups that are in the sums: a log may hold each line twice.
    cgroups: Vec<String>,
    /// Mem-Info, in pages.
    pages: Vec<(String, u64)>,
    columns: Vec<String>,
    rows: Vec<(Vec<i64>, String)>,
    /// The kill line's virtual size and pid, against which a row tells the page size.
    killed: Vec<(HostPid, u64)>,
}

impl Numbers {
    pub(super) fn add(&mut self, fact: &Fact, line: &OomLine) {
        match line {
            OomLine::Usage { kind, usage, limit } if kind == "memory" => self.usage = Some((*usage, *limit)),
            OomLine::StatsFor { path, pairs } if !self.cgroups.contains(path) => {
                self.cgroups.push(path.clone());
                pairs.iter().for_each(|(key, value)| add_to(&mut self.stats, key, value.0));
            }
            OomLine::Stat { key, value } => set(&mut self.stats, key, value.0),
            OomLine::MemInfo { key, value, kib: false } => set(&mut self.pages, key, *value),
            OomLine::TableHead { columns } => self.columns.clone_from(columns),
            OomLine::TableRow { values } => self.rows.push((values.clone(), fact.who.process.clone().unwrap_or_default())),
            OomLine::Killed { total_vm: Some(size), .. } => self.killed.extend(fact.who.host_pid.map(|pid| (pid, size.0))),
            _ => {}
        }
    }

    /// Writes the sizes and the task table into a report whose victims and scope are known.
    pub(super) fn fill(self, report: &mut OomReport) {
        let page = self.page_size();
        report.memcg = report.memcg.or_else(|| self.scope());
        if report.memcg == Some(false) {
            self.fill_machine(report, page);
        } else {
            self.fill_cgroup(report);
        }
        let most = |column: &str| self.column(column).max().map(|pages| Bytes(pages.saturating_mul(page)));
        report.of_victim = report.anon.is_none() && report.shmem.is_none();
        let held = |size: Option<Bytes>| size.filter(|size| size.0 > 0);
        // What processes had mapped is a lower bound, never a sum (each counts the same pages) and never a proof of absence.
        report.shmem = report
            .shmem
            .or_else(|| held(most("rss_shmem")))
            .or_else(|| held(report.victims.iter().filter_map(|victim| victim.shmem).max()));
        report.anon = report
            .anon
            .or_else(|| held(most("rss_anon")))
            .or_else(|| held(report.victims.iter().filter_map(|victim| victim.anon).max()));
        report.tasks = self.tasks(page);
    }

    /// Mem-Info is printed for the machine, usage and statistics for a cgroup.
    fn scope(&self) -> Option<bool> {
        let cgroup = self.usage.is_some() || !self.stats.is_empty();
        (cgroup || !self.pages.is_empty()).then_some(cgroup)
    }

    fn fill_cgroup(&self, report: &mut OomReport) {
        if let Some((usage, limit)) = self.usage {
            report.usage = Some(usage);
            report.limit = limit;
        }
        // From 6.5 cgroup v1's plain keys count the cgroup alone, `total_` its subtree.
        let stat = |keys: &[&str]| keys.iter().find_map(|key| get(&self.stats, key));
        let cache = stat(&["total_cache", "cache", "file"]);
        report.anon = stat(&["total_rss", "rss", "anon"]).map(Bytes);
        let shmem = stat(&["total_shmem", "shmem"]).or_else(|| {
            // Before 4.12: page cache that is on no file list is shared memory.
            let files = get(&self.stats, "inactive_file")?.saturating_add(get(&self.stats, "active_file")?);
            cache?.checked_sub(files)
        });
        report.shmem = shmem.map(Bytes);
        report.cache = cache.map(|cache| Bytes(cache.saturating_sub(shmem.unwrap_or(0))));
    }

    fn fill_machine(&self, report: &mut OomReport, page: u64) {
        let pages = |key: &str| get(&self.pages, key);
        let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
        let both = |a: &str, b: &str| Some(pages(a)?.saturating_add(pages(b)?));
        report.usage = pages("pages RAM").map(|ram| bytes(ram.saturating_sub(pages("pages reserved").unwrap_or(0))));
        report.shmem = pages("shmem").map(bytes);
        // Shared memory is kept on the lists of anonymous pages.
        report.anon = both("active_anon", "inactive_anon").map(|anon| bytes(anon.saturating_sub(pages("shmem").unwrap_or(0))));
        report.cache = both("active_file", "inactive_file").map(bytes);
    }

    /// The victim's virtual size stands in kB on its kill line and in pages in its row.
    fn page_size(&self) -> u64 {
        let of_row = |values: &Vec<i64>| {
            let pages = positive(values.get(3))?;
            let (_, bytes) = self.killed.iter().find(|(pid, _)| Some(u64::from(pid.0)) == positive(values.get(2)))?;
            [4096, 16384, 65536].into_iter().find(|page| pages.checked_mul(*page) == Some(*bytes))
        };
        self.rows.iter().find_map(|(values, _)| of_row(values)).unwrap_or(4096)
    }

    /// Where a column stands in a row: `pid` comes first and is not among the named ones.
    fn place_of(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column).map(|index| index + 1)
    }

    fn column(&self, column: &str) -> impl Iterator<Item = u64> {
        let place = self.place_of(column);
        self.rows.iter().filter_map(move |(values, _)| positive(values.get(place?)))
    }

    fn tasks(&self, page: u64) -> Vec<Task> {
        // `uid tgid total_vm rss` begin every version's table, so rows can be read without their head.
        let rss = self.place_of("rss").unwrap_or(4);
        let task = |(values, name): &(Vec<i64>, String)| {
            let pid = values.get(2).and_then(|tgid| u32::try_from(*tgid).ok())?;
            // Numbers beyond the columns are the beginning of a name such as `3 workers`.
            let surplus = values.get(self.columns.len()..).filter(|_| !self.columns.is_empty()).unwrap_or_default();
            let process = surplus.iter().map(|n| format!("{n} ")).chain([name.clone()]).collect();
            let rss = positive(values.get(rss))?.saturating_mul(page);
            Some(Task { pid: HostPid(pid), process, rss: Bytes(rss) })
        };
        self.rows.iter().filter_map(task).collect()
    }
}

fn positive(value: Option<&i64>) -> Option<u64> {
    value.and_then(|value| u64::try_from(*value).ok())
}

fn add_to(sums: &mut Vec<(String, u64)>, key: &str, value: u64) {
    match sums.iter_mut().find(|(known, _)| known == key) {
        Some((_, sum)) => *sum = sum.saturating_add(value),
        None => sums.push((key.to_owned(), value)),
    }
}

fn set(values: &mut Vec<(String, u64)>, key: &str, value: u64) {
    if get(values, key).is_none() {
        values.push((key.to_owned(), value));
    }
}

fn get(sums: &[(String, u64)], key: &str) -> Option<u64> {
    sums.iter().find(|(known, _)| known == key).map(|(_, value)| *value)
}
