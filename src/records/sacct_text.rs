//! `sacct` as a table: with strokes (`-P`, `-p`) or with columns below a line of dashes.

use std::collections::HashMap;

use crate::fact::{How, Role, What, Who, Witness};
use crate::seen::Form;
use crate::time::Stamp;

use super::{Reading, TextFormat, slurm_state, texts};

/// Slurm's src/sacct; the columns are the user's choice.
pub(super) const FORMAT: TextFormat = TextFormat {
    id: "slurm-sacct",
    starts: &["JobID", "User", "Account", "Cluster", "JobName"],
    read,
    form: Form {
        name: "sacct as a table",
        how: "sacct -j ID -P -o JobID,JobName,State,ExitCode,DerivedExitCode,ReqMem,End,NodeList",
        proves: "kill for memory in a job, signal, time limit, preemption; 9:0 may stand for exit code 137",
    },
    samples: &[
        "JobID|JobName|State|ExitCode|DerivedExitCode|MaxRSS|ReqMem\n1|oom|OUT_OF_MEMORY|0:125|0:125||64M\n1.0|oom|OUT_OF_MEMORY|0:125||65228K|\n7|ex137|FAILED|9:0|137:0||100M\n",
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n------------ ---------- ---------- ---------- ---------- ---------- -------- \n4                 kill9      debug       root          1     FAILED      0:9 \n12             batchoom      debug       root          1 OUT_OF_ME+    0:125 \n13            cancelled      debug       root          1 CANCELLED+      0:0 \n",
    ],
};

/// Where the cells of a table are.
enum Layout<'a> {
    /// Between strokes.
    Strokes(Vec<&'a str>),
    /// Below dashes, each column with its first character and its length.
    Dashes(Vec<(&'a str, usize, usize)>),
}

impl<'a> Layout<'a> {
    /// The layout that a line of headings, and the line below it, stand for.
    fn of(head: &'a str, below: Option<&str>) -> Option<Self> {
        let wanted = |names: &mut dyn Iterator<Item = &str>| {
            let names: Vec<&str> = names.collect();
            names.iter().any(|name| *name == "JobID" || *name == "JobIDRaw") && names.contains(&"State")
        };
        if head.contains('|') {
            let names: Vec<&str> = head.split('|').map(str::trim).collect();
            return wanted(&mut names.iter().copied()).then_some(Self::Strokes(names));
        }
        let dashes = below.filter(|line| line.starts_with("--") && line.chars().all(|c| c == '-' || c == ' '))?;
        let names: Vec<&str> = head.split_whitespace().collect();
        if !wanted(&mut names.iter().copied()) {
            return None;
        }
        let mut columns = Vec::new();
        let mut at = 0;
        for (name, dash) in names.iter().zip(dashes.split(' ').filter(|dash| !dash.is_empty())) {
            columns.push((*name, at, dash.len()));
            at += dash.len() + 1;
        }
        Some(Self::Dashes(columns))
    }

    fn row(&self, line: &'a str) -> HashMap<&'a str, &'a str> {
        match self {
            Self::Strokes(names) => names.iter().copied().zip(line.split('|').map(str::trim)).collect(),
            Self::Dashes(columns) => {
                let offset = |column: usize| line.char_indices().nth(column).map_or(line.len(), |(at, _)| at);
                let cell = |from: usize, len: usize| line.get(offset(from)..offset(from + len)).unwrap_or_default().trim();
                columns.iter().map(|(name, from, len)| (*name, cell(*from, *len))).collect()
            }
        }
    }
}

fn read(text: &str) -> Option<Reading> {
    let mut reading = Reading::default();
    let lines: Vec<(u64, &str)> = texts::numbered(text).collect();
    let mut layout: Option<Layout<'_>> = None;
    let mut job = Job::default();
    for (at, (number, line)) in lines.iter().enumerate() {
        if let Some(found) = Layout::of(line, lines.get(at + 1).map(|(_, below)| *below)) {
            layout = Some(found);
        } else if let Some(table) = &layout {
            let row = table.row(line);
            if line.trim().is_empty() || line.starts_with("$ ") {
                layout = None;
            } else {
                job.row(&mut reading, *number, line, &row);
            }
        }
    }
    reading.told()
}

/// The job whose rows are being read.
#[derive(Default)]
struct Job {
    id: String,
    said: Vec<What>,
    derived: Option<i64>,
    when: Option<Stamp>,
}

impl Job {
    fn row(&mut self, reading: &mut Reading, number: u64, line: &str, row: &HashMap<&str, &str>) {
        let cell = |name: &str| row.get(name).copied().unwrap_or_default();
        // The raw id is the one that cgroups, logs and paths have, for a task of an array too.
        let id = if cell("JobIDRaw").is_empty() { cell("JobID") } else { cell("JobIDRaw") };
        if !id.starts_with(|c: char| c.is_ascii_digit()) {
            return;
        }
        let (base, step) = id.split_once('.').map_or((id, None), |(base, step)| (base, Some(step)));
        let (code, signal) = slurm_state::exit(cell("ExitCode"));
        let ended = Stamp::parse(cell("End"));
        if base != self.id || step.is_none() {
            let (derived, _) = slurm_state::exit(cell("DerivedExitCode"));
            *self = Self { id: base.to_owned(), derived, when: ended, ..Self::default() };
        }
        let code = slurm_state::whole_code(code, self.derived);
        let host = slurm_state::host(cell("NodeList"));
        let who = Who { job: Some(base.to_owned()), host, ..Who::role(Role::Job) };
        let Some(what) = slurm_state::end(cell("State"), code, signal) else { return };
        // A step repeats what its job says, and only its death adds something.
        let repeats =
            step.is_some() && (self.said.contains(&what) || (!self.said.is_empty() && !slurm_state::tells_death(&what)));
        if repeats || matches!(what, What::Ended { how: How::Code(0), .. }) {
            return;
        }
        self.said.push(what.clone());
        let when = ended.or(self.when);
        reading.say(Witness::Supervisor, number, &who, when, what, line.trim());
        if let Some(bytes) = slurm_state::memory(cell("ReqMem")).filter(|_| step.is_none()) {
            reading.say(Witness::Supervisor, number, &who, None, What::MemoryOption(bytes), line.trim());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::Why;
    use crate::units::Signal;

    fn ends(text: &str) -> Vec<(Option<String>, What)> {
        let entries = read(text).map(|reading| reading.entries).unwrap_or_default();
        let told = entries.into_iter().filter(|entry| !matches!(entry.claim.what, What::MemoryOption(_)));
        told.map(|entry| (entry.claim.who.job, entry.claim.what)).collect()
    }

    #[test]
    fn both_layouts_tell_the_same() {
        let strokes = ends(FORMAT.samples[0]);
        assert_eq!(strokes.len(), 2);
        assert_eq!(strokes[1], (Some("7".to_owned()), What::Ended { how: How::Code(137), hint: false }));
        let columns = ends(FORMAT.samples[1]);
        assert_eq!(columns[0].1, What::Ended { how: How::Signal(Signal::KILL), hint: false });
        assert_eq!(columns[2].1, What::Stopped { by: "Slurm", why: Why::Request, signal: None });
    }

    #[test]
    fn a_table_ends_at_a_blank_line() {
        let text = "JobID|State|ExitCode\n1|RUNNING|0:0\n2|COMPLETED|0:0\n\n3|FAILED|1:0\n";
        assert_eq!(ends(text), []);
        assert_eq!(
            ends("JobID|State|ExitCode\n3_7|FAILED|1:0"),
            [(Some("3_7".to_owned()), What::Ended { how: How::Code(1), hint: false })]
        );
    }
}
