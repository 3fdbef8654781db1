//! What the inputs tell that is not about one death: settings, sizes, versions, clocks.

use super::Death;
use super::identity::{SAME_TIME, agree, moments, other_machine};
use crate::fact::{Ceiling, Fact, Setting, What};
use crate::seen::{Input, Kind};
use crate::time::Stamp;
use crate::units::Bytes;

/// The circumstances of all deaths.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// Facts about settings, versions, file systems, memory and command lines.
    pub facts: Vec<Fact>,
    /// What was read.
    pub inputs: Vec<Input>,
    /// Frames of native stacks, as UCX and glog print them: what a process was doing when a signal came.
    pub frames: Vec<Fact>,
    /// When the kernel reported OOM kills, by every clock that its lines had.
    pub kill_times: Vec<Stamp>,
    /// How many OOM kills the kernel reported in all inputs, joined or not.
    pub oom_kills: usize,
    /// The training logs, by their place among the inputs, that tell of no death.
    pub silent: Vec<usize>,
}

/// How a kernel log relates to a moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cover {
    /// It reaches over the moment.
    Covers,
    /// It ends before or begins after the moment.
    Misses,
    /// The clocks cannot be compared, or the moment is not known.
    Unclear,
    /// No kernel log was given.
    Absent,
}

/// A log that tells of no death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SilentLog {
    /// It stops when the process died.
    Stops,
    /// It stops at another time, or has no clock that can be compared.
    Unsure,
}

/// How many native frames are kept.
const FRAMES: usize = 1024;

/// Whether a frame is of compiled code.
fn is_native(what: &What) -> bool {
    matches!(what, What::Frame { file, function: Some(_), .. } if !file.ends_with(".py") && !file.starts_with('<'))
}

impl Context {
    pub(super) fn new(facts: &[Fact], inputs: &[Input]) -> Self {
        let circumstantial = |what: &What| {
            matches!(
                what,
                What::Setting { .. }
                    | What::Version { .. }
                    | What::Filesystem { .. }
                    | What::Memory { .. }
                    | What::ShmOption(_)
                    | What::ShmUse
                    | What::ShmShort
                    | What::NoneKilled
                    | What::MemoryOption(_)
                    | What::Suppressed { .. }
                    | What::Ceiling { .. }
                    | What::Filled { .. }
                    | What::Finished
            ) || matches!(what, What::Container(c) if c.untold())
        };
        let kills = |what: &What| matches!(what, What::Oom(crate::fact::OomLine::Killed { .. }));
        Self {
            facts: facts.iter().filter(|fact| circumstantial(&fact.what)).cloned().collect(),
            frames: facts.iter().filter(|fact| is_native(&fact.what)).take(FRAMES).cloned().collect(),
            inputs: inputs.to_vec(),
            kill_times: facts.iter().filter(|fact| kills(&fact.what)).flat_map(|fact| [fact.when, fact.boot]).flatten().collect(),
            oom_kills: facts.iter().filter(|fact| kills(&fact.what)).count(),
            silent: Vec::new(),
        }
    }

    /// Notes which training logs tell of no death.
    pub(super) fn hear(&mut self, deaths: &[Death]) {
        let speaks = |input: &Input| {
            let here = |fact: &Fact| fact.place.input == input.name;
            deaths.iter().any(|death| death.facts.iter().any(here))
        };
        let silent = |input: &Input| input.kind == Kind::TrainingLog && !speaks(input);
        self.silent = (0..self.inputs.len()).filter(|at| silent(&self.inputs[*at])).collect();
    }

    /// For a death that is told of only by logs which many jobs share: the training log that tells of no death.
    /// Nothing where no such log was given, or where a program or a record tells of the death.
    pub fn silent_log(&self, death: &Death) -> Option<SilentLog> {
        let shared = |fact: &Fact| {
            let input = self.inputs.iter().find(|input| input.name == fact.place.input);
            input.is_some_and(|input| input.kind.is_shared())
        };
        if self.silent.is_empty() || !death.facts.iter().all(shared) {
            return None;
        }
        let when = moments(death);
        let near = |last: Stamp| when.iter().filter_map(|when| last.gap(*when)).any(|gap| gap.sure && gap.seconds <= SAME_TIME);
        let stops = self.silent.iter().filter_map(|at| self.inputs[*at].span).any(|(_, last)| near(last));
        Some(if stops { SilentLog::Stops } else { SilentLog::Unsure })
    }

    /// The settings of one kind, each with its fact.
    pub fn settings(&self, wanted: Setting) -> impl Iterator<Item = (&Fact, u64)> {
        self.facts.iter().filter_map(move |fact| match fact.what {
            What::Setting { setting, value } if setting == wanted => Some((fact, value)),
            _ => None,
        })
    }

    /// The lowest limit of a kind that was told, with its fact; nothing where none was told or there is no limit.
    pub fn ceiling(&self, wanted: Ceiling) -> Option<(&Fact, u64)> {
        let told = self.facts.iter().filter_map(|fact| match fact.what {
            What::Ceiling { of, value } if of == wanted => Some((fact, value?)),
            _ => None,
        });
        told.min_by_key(|(_, value)| *value)
    }

    /// The shared memory of a cgroup and its limit, as read beside some fact about it.
    pub fn filled(&self, beside: &Fact) -> Option<(&Fact, Bytes, Option<Bytes>)> {
        let cgroup = |fact: &Fact| agree(&fact.who.cgroup, &beside.who.cgroup);
        self.facts.iter().find_map(|fact| match fact.what {
            What::Filled { shmem, limit, .. } if fact.place.input == beside.place.input && cgroup(fact) => {
                Some((fact, shmem, limit))
            }
            _ => None,
        })
    }

    /// Containers that ended, of which no record here tells the exit code.
    pub fn unexplained(&self) -> impl Iterator<Item = &Fact> {
        self.facts.iter().filter(|fact| matches!(fact.what, What::Container(_)))
    }

    /// Whether a log says that lines were dropped near a moment.
    pub fn suppressed(&self, input: &Input, when: Option<Stamp>) -> bool {
        self.facts.iter().any(|f| {
            let near = when.zip(f.when.or(f.boot)).and_then(|(when, then)| when.gap(then)).is_none_or(|gap| gap.seconds < 300.0);
            matches!(f.what, What::Suppressed { .. }) && f.place.input == input.name && near
        })
    }

    /// The last `df` row of /dev/shm.
    pub fn dev_shm(&self) -> Option<(&Fact, Bytes, Bytes)> {
        self.filesystems().filter(|(_, mount, ..)| *mount == "/dev/shm").last().map(|(fact, _, size, used)| (fact, size, used))
    }

    /// The last row of another file system that is full.
    pub fn full_disk(&self) -> Option<&Fact> {
        let full = |size: Bytes, used: Bytes| size.0 > 0 && used.0 >= size.0 / 100 * 99;
        let pseudo = |mount: &str| {
            ["/dev", "/proc", "/sys", "/run", "/snap", "/boot"]
                .iter()
                .any(|root| mount == *root || mount.starts_with(&format!("{root}/")))
        };
        self.filesystems().filter(|(_, mount, size, used)| !pseudo(mount) && full(*size, *used)).last().map(|(fact, ..)| fact)
    }

    fn filesystems(&self) -> impl Iterator<Item = (&Fact, &str, Bytes, Bytes)> {
        self.facts.iter().filter_map(|fact| match &fact.what {
            What::Filesystem { mount, size, used } => Some((fact, mount.as_str(), *size, *used)),
            _ => None,
        })
    }

    /// PyTorch's version, if exactly one was named.
    pub fn torch(&self) -> Option<(&Fact, u32, u32)> {
        let mut found = None;
        for fact in &self.facts {
            if let What::Version { program: "torch", major, minor } = fact.what {
                match found {
                    Some((_, seen_major, seen_minor)) if (seen_major, seen_minor) != (major, minor) => return None,
                    _ => found = Some((fact, major, minor)),
                }
            }
        }
        found
    }

    /// Whether a kernel log of the given moment was read, of the machine in question where both are named.
    pub fn cover(&self, when: Option<Stamp>, host: Option<&str>) -> (Cover, Option<&Input>) {
        let mut best = (Cover::Absent, None);
        for input in
            self.inputs.iter().filter(|input| input.kernel_lines > 0 && matches!(input.kind, Kind::KernelLog | Kind::Journal))
        {
            let span = match when {
                Some(Stamp::Boot(_)) => input.boot_span,
                _ => input.span,
            };
            if host.zip(input.host.as_deref()).is_some_and(|(one, other)| other_machine(one, other)) {
                continue;
            }
            let here = match (when, span) {
                (Some(when), Some((first, last))) => {
                    let sure = [first, last].iter().all(|edge| when.gap(*edge).is_some_and(|gap| gap.sure));
                    match (first.before(when), when.before(last)) {
                        (Some(true), Some(true)) => Cover::Covers,
                        (Some(_), Some(_)) if sure => Cover::Misses,
                        _ => Cover::Unclear,
                    }
                }
                _ => Cover::Unclear,
            };
            if here == Cover::Covers || best.0 == Cover::Absent {
                best = (here, Some(input));
            }
        }
        best
    }
}
