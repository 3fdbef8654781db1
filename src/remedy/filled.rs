//! What filled a memory limit, and what workers took of it, from the kernel's own report.

use crate::death::{OomReport, Task};
use crate::units::Bytes;

/// How the kernel names the loader's workers from PyTorch 2.10 on; before, they are called as the interpreter is.
const WORKER: &str = "pt_data_worker";

/// What filled a limit when a process was killed for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    limit: Option<Bytes>,
    usage: Option<Bytes>,
    anon: Option<Bytes>,
    shmem: Option<Bytes>,
    cache: Option<Bytes>,
    /// The sizes are those of the process that was killed.
    of_victim: bool,
    workers: u64,
    /// The named workers', or processes of the interpreter among which the workers are.
    named: bool,
    /// Resident memory of the workers together.
    held: u64,
    /// And of the largest.
    largest: Bytes,
}

impl Filled {
    /// Counts the kernel's report.
    pub fn of(report: &OomReport) -> Self {
        let called = |test: &dyn Fn(&str) -> bool| report.tasks.iter().filter(|task| test(&task.process)).collect::<Vec<&Task>>();
        let mut workers = called(&|name| name == WORKER);
        let named = !workers.is_empty();
        if !named {
            workers = called(&|name| name.starts_with("python"));
        }
        let held = workers.iter().fold(0_u64, |sum, task| sum.saturating_add(task.rss.0));
        Self {
            limit: report.limit,
            usage: report.usage,
            anon: report.anon,
            shmem: report.shmem,
            cache: report.cache,
            of_victim: report.of_victim,
            workers: workers.len() as u64,
            named,
            held,
            largest: workers.iter().map(|task| task.rss).max().unwrap_or_default(),
        }
    }

    /// Whether the page cache was the largest part.
    pub fn is_cache(&self) -> bool {
        let others = self.anon.unwrap_or_default().max(self.shmem.unwrap_or_default());
        self.anon.is_some() && self.cache.is_some_and(|cache| cache > others)
    }

    /// What was in use beside shared memory.
    pub fn processes(&self) -> Option<Bytes> {
        self.usage?.0.checked_sub(self.shmem?.0).map(Bytes)
    }

    /// What filled it and who held it, as sentences; empty where the report has no numbers.
    pub fn words(&self) -> String {
        let mut parts: Vec<(&str, Bytes)> =
            [("anonymous memory", self.anon), ("shared memory", self.shmem), ("page cache", self.cache)]
                .into_iter()
                .filter_map(|(name, bytes)| Some((name, bytes?)))
                .collect();
        parts.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        let mut said = Vec::new();
        if let Some(((name, most), others)) = parts.split_first()
            && most.0 > 0
        {
            let others: Vec<String> = others.iter().map(|(name, bytes)| format!("{name} {bytes}")).collect();
            let rest = if others.is_empty() { String::new() } else { format!(" ({})", others.join(", ")) };
            let held: Vec<String> = parts.iter().map(|(name, bytes)| format!("{bytes} of {name}")).collect();
            let limit = self.limit.map_or_else(|| "the memory".to_owned(), |limit| format!("the limit of {limit}"));
            said.push(match self.of_victim {
                true => format!("The process that was killed held {}.", held.join(" and ")),
                false => format!("{} filled {limit}: {most}{rest}.", capital(name)),
            });
        }
        if let Some(mean) = self.mean() {
            let who = match (self.named, self.workers) {
                (true, 1) => "One worker".to_owned(),
                (true, number) => format!("{number} workers"),
                (false, number) => format!("{number} Python processes, the workers among them,"),
            };
            let each =
                if self.workers == 1 { String::new() } else { format!(", {mean} each in the mean and {} at most", self.largest) };
            // Forked workers share the parent's pages until somebody writes to them, and the kernel counts them in each.
            let whole = self.limit.unwrap_or(Bytes(u64::MAX)).0;
            let shared = if self.held > whole { "; pages that they share are counted in each" } else { "" };
            said.push(format!("{who} held {}{each}{shared}.", Bytes(self.held)));
        }
        said.join(" ")
    }

    /// How far fewer workers would have helped, as a sentence.
    pub fn fewer(&self) -> Option<String> {
        let mean = self.mean().filter(|_| self.named && self.workers > 1)?;
        let half = self.workers / 2;
        let freed = Bytes(mean.0.saturating_mul(self.workers - half));
        Some(format!("With {half} of the {} workers about {freed} would have been free.", self.workers))
    }

    /// Resident memory of one worker in the mean.
    fn mean(&self) -> Option<Bytes> {
        let many = self.named || self.workers > 1;
        (many && self.held > 0).then(|| self.held.checked_div(self.workers).map(Bytes)).flatten()
    }
}

/// A word at the beginning of a sentence.
fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::HostPid;

    fn task(pid: u32, process: &str, mib: u64) -> Task {
        Task { pid: HostPid(pid), process: process.to_owned(), rss: Bytes::mib(mib) }
    }

    #[test]
    fn the_kernels_numbers_become_sentences() {
        let tasks = vec![task(1, "python", 290), task(2, "pt_data_worker", 898), task(3, "pt_data_worker", 862)];
        let report = OomReport {
            limit: Some(Bytes::mib(2000)),
            anon: Some(Bytes::mib(1492)),
            shmem: Some(Bytes::kib(400)),
            cache: Some(Bytes(0)),
            tasks,
            ..OomReport::default()
        };
        let filled = Filled::of(&report);
        assert_eq!(
            filled.words(),
            "Anonymous memory filled the limit of 1.95 GiB: 1.46 GiB (shared memory 400 KiB, page cache 0 B). \
             2 workers held 1.72 GiB, 880 MiB each in the mean and 898 MiB at most."
        );
        assert_eq!(filled.fewer().as_deref(), Some("With 1 of the 2 workers about 880 MiB would have been free."));
        assert!(!filled.is_cache());
    }

    #[test]
    fn a_cache_and_an_empty_report_are_told_apart() {
        let cache = OomReport { anon: Some(Bytes::mib(10)), cache: Some(Bytes::mib(90)), ..OomReport::default() };
        assert!(Filled::of(&cache).is_cache());
        let empty = Filled::of(&OomReport::default());
        assert_eq!((empty.words(), empty.fewer(), empty.is_cache()), (String::new(), None, false));
        let line =
            OomReport { anon: Some(Bytes::mib(898)), shmem: Some(Bytes::mib(20)), of_victim: true, ..OomReport::default() };
        let told = "The process that was killed held 898 MiB of anonymous memory and 20 MiB of shared memory.";
        assert_eq!(Filled::of(&line).words(), told);
        let one = OomReport { tasks: vec![task(1, "python", 290)], ..OomReport::default() };
        assert_eq!(Filled::of(&one).words(), "");
        let old = OomReport { tasks: vec![task(1, "python3.11", 290), task(2, "python3.11", 310)], ..OomReport::default() };
        assert_eq!(
            Filled::of(&old).words(),
            "2 Python processes, the workers among them, held 600 MiB, 300 MiB each in the mean and 310 MiB at most."
        );
    }
}
