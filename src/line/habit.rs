//! Finds prefixes that only a whole log gives away: hosts of pdsh, pods of stern, ranks of `srun -l`, numbers of `cat -n`.
//!
//! `gpu-n02: ` before one line may be anything; before every line, with few names among many lines, it is a prefix. So the
//! beginning of an input is looked at before its first line is handed out, and what it shows holds for the whole.

use std::collections::{HashMap, HashSet};

use super::parts::{after, clock, digits, dns, host, letter, numbered, tells, word};
use super::{Envelope, clean, early};
use crate::time::Stamp;

/// How much of an input is looked at, in bytes.
pub(super) const SAMPLE: usize = 64 << 10;

/// Fewer lines than this show no habit.
const FEWEST: usize = 4;

/// Prefixes nest: numbers of `cat -n` before the pods of stern.
const DEPTH: usize = 3;

/// A prefix that stands before every line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `    12\ttext` of `cat -n` and nl, `12:text` of `grep -n`, `     12 text` of `less -N`.
    Number,
    /// `gpu-n02: text` of pdsh, dsh, clush and parallel's `--tag`.
    Host,
    /// `vit-worker-0 pytorch text` of stern.
    Stern,
    /// `ml vit-worker-0 pytorch text` of `stern --all-namespaces`.
    SternAll,
    /// `[vit-worker-0] text` and `[vit-worker-0 pytorch] text` of kubetail.
    Kubetail,
    /// `trainer-a | text` of Compose, where the name fills its column.
    Bar,
    /// `3: text` of `srun -l`, padded to the widest rank.
    Label,
    /// `[3] text` of MPICH's `-prepend-rank` and Intel MPI's `-l`.
    Rank,
    /// `10:00:00 text`: a time of the day, of which nothing is kept as it has no date.
    Clock,
    /// `[10:00:00] text` of CircleCI.
    Face,
    /// `trainer/0 text` of torchx: a role and its replica.
    Role,
    /// `[12.000002] text`: the kernel's stamps without their padding.
    Early,
}

const KINDS: [Kind; 12] = [
    Kind::Number,
    Kind::Host,
    Kind::Stern,
    Kind::SternAll,
    Kind::Kubetail,
    Kind::Bar,
    Kind::Label,
    Kind::Rank,
    Kind::Clock,
    Kind::Face,
    Kind::Role,
    Kind::Early,
];

/// A prefix in its parts.
struct Prefix<'a> {
    /// What tells one speaker from another.
    key: &'a str,
    /// A second name: the container of a pod.
    more: &'a str,
    /// What follows.
    rest: &'a str,
}

/// The prefixes that all lines of an input bear.
#[derive(Clone, Default)]
pub(super) struct Habits {
    kinds: Vec<Kind>,
    /// Hosts whose names alone do not show that they are names: they have no digit.
    plain: HashSet<String>,
    /// Whether two blanks stand after the time of the day, as Jenkins's Timestamper writes them.
    wide: bool,
}

impl Habits {
    /// Looks at the beginning of an input.
    pub(super) fn of(sample: &[u8]) -> Self {
        let mut habits = Self::default();
        let lines: Vec<_> = sample.split(|b| matches!(b, b'\n' | b'\r')).map(clean::clean).collect();
        let mut texts: Vec<&str> = lines.iter().map(|line| &**line).filter(|line| !line.trim().is_empty()).collect();
        // The last line of a full sample is cut somewhere.
        if sample.len() >= SAMPLE {
            texts.pop();
        }
        for _ in 0..DEPTH {
            let Some(kind) = KINDS.into_iter().find(|kind| !habits.kinds.contains(kind) && habits.shown(*kind, &texts)) else {
                break;
            };
            habits.kinds.push(kind);
            texts = texts.iter().map(|text| habits.prefix(kind, text).map_or(*text, |prefix| prefix.rest)).collect();
        }
        habits
    }

    /// Whether the lines bear a prefix of this kind.
    fn shown(&mut self, kind: Kind, texts: &[&str]) -> bool {
        if kind == Kind::Host {
            self.plain = plain(texts);
        }
        let prefixes: Vec<_> = texts.iter().filter_map(|text| self.prefix(kind, text)).collect();
        let wide = prefixes.iter().all(|prefix| prefix.rest.is_empty() || prefix.rest.starts_with(' '));
        let others = texts.len() - prefixes.len();
        // A prompt, a heading and a last word of the tool itself may stand without the prefix. A launcher says more below what
        // its ranks said, and a log may stand beside what a tool gathered; a traceback behind the prefix shows what it is.
        let fewest = if kind == Kind::Early { 1 } else { FEWEST };
        let others = match kind {
            Kind::Rank | Kind::Label | Kind::Host | Kind::Stern | Kind::SternAll | Kind::Kubetail
                if prefixes.len() >= others && prefixes.iter().any(|prefix| proves(prefix.rest)) =>
            {
                0
            }
            _ => others,
        };
        if prefixes.len() < fewest || prefixes.len() < 2 * others || others > 2.max(texts.len() / 10) {
            return false;
        }
        let mut count: HashMap<(&str, &str), usize> = HashMap::new();
        for prefix in &prefixes {
            *count.entry((prefix.key, prefix.more)).or_default() += 1;
        }
        match kind {
            Kind::Number => rises(&prefixes),
            Kind::Clock => {
                self.wide = wide;
                true
            }
            // A label before every line of a single rank is as likely a step that goes by slowly.
            Kind::Rank if count.len() == 1 => prefixes.len() == texts.len() && prefixes.iter().any(|prefix| proves(prefix.rest)),
            Kind::Face => true,
            Kind::Early => early::shown(prefixes.iter().map(|prefix| (prefix.key, prefix.rest))),
            Kind::Rank | Kind::Label => count.len() >= 2 && count.len() * 3 <= prefixes.len(),
            // An application's own words differ from line to line; those of a prefix do not.
            Kind::Stern | Kind::SternAll => prefixes.len() > FEWEST && count.len() * 3 <= prefixes.len(),
            Kind::Host | Kind::Kubetail | Kind::Bar | Kind::Role => count.len() * 2 <= prefixes.len(),
        }
    }

    /// Takes the prefix off a text and tells whose line it is.
    pub(super) fn peel<'a>(&self, text: &'a str, envelope: &mut Envelope) -> &'a str {
        let mut text = text;
        for kind in &self.kinds {
            let Some(Prefix { key, more, rest }) = self.prefix(*kind, text) else { continue };
            match kind {
                Kind::Number | Kind::Clock | Kind::Face => {}
                // honcho's and foreman's own word on their processes.
                Kind::Bar if key == "system" => {}
                Kind::Early => {
                    envelope.boot = early::micros(key).map(Stamp::Boot).or(envelope.boot);
                    envelope.by_kernel(true);
                }
                Kind::Host => envelope.host = Some(key.to_owned()),
                Kind::Stern | Kind::SternAll | Kind::Kubetail => {
                    envelope.pod = Some(key.to_owned());
                    envelope.container = Some(more.to_owned()).filter(|name| !name.is_empty());
                }
                Kind::Bar | Kind::Role => envelope.container = Some(key.to_owned()),
                Kind::Label | Kind::Rank => envelope.rank = key.parse().ok(),
            }
            text = rest;
        }
        text
    }

    /// Whether nothing was found.
    pub(super) fn is_empty(&self) -> bool {
        self.kinds.is_empty()
    }

    fn prefix<'a>(&self, kind: Kind, text: &'a str) -> Option<Prefix<'a>> {
        let one = |(key, rest)| Prefix { key, more: "", rest };
        match kind {
            Kind::Number => numbered(text).map(one),
            Kind::Host => host(text).filter(|(name, _)| tells(name) || self.plain.contains(*name)).map(one),
            Kind::Stern => stern(text),
            Kind::SternAll => {
                let (space, rest) = text.split_once(' ')?;
                dns(space).then(|| stern(rest))?
            }
            Kind::Kubetail => {
                let (names, rest) = super::kernel::bracketed(text)?;
                let (key, more) = names.split_once(' ').unwrap_or((names, ""));
                let named = dns(key) && key.contains('-') && letter(key) && (more.is_empty() || dns(more));
                named.then(|| Some(Prefix { key, more, rest: after(rest)? }))?
            }
            Kind::Bar => {
                let end = text.bytes().take(80).position(|b| !word(b))?;
                let (key, rest) = text.split_at_checked(end)?;
                let rest = rest.trim_start_matches(' ').strip_prefix('|').filter(|_| rest.starts_with(' '))?;
                letter(key).then(|| Some(Prefix { key, more: "", rest: after(rest)? }))?
            }
            Kind::Label => {
                let (digits, rest) = digits(text.trim_start_matches(' '), 4)?;
                Some(one((digits, after(rest.strip_prefix(':')?)?)))
            }
            Kind::Rank => {
                let (inside, rest) = super::kernel::bracketed(text)?;
                let (digits, nothing) = digits(inside, 4)?;
                nothing.is_empty().then(|| Some(one((digits, after(rest)?))))?
            }
            Kind::Face => {
                let (inside, rest) = super::kernel::bracketed(text).filter(|(inside, _)| inside.len() == 8)?;
                clock(inside)?;
                Some(Prefix { key: "", more: "", rest: after(rest)? }).filter(|prefix| !super::logging::levelled_at(prefix.rest))
            }
            Kind::Role => {
                let (key, rest) = text.split_once(' ').unwrap_or((text, ""));
                let (role, replica) = key.split_once('/')?;
                let named = role.starts_with(|c: char| c.is_ascii_alphabetic()) && role.bytes().all(word);
                (named && digits(replica, 4)?.1.is_empty()).then_some(Prefix { key, more: "", rest })
            }
            Kind::Early => early::stamped(text).map(one),
            Kind::Clock => {
                let rest = clock(text)?;
                let rest = if self.wide { rest.strip_prefix(' ').unwrap_or(rest) } else { rest };
                Some(Prefix { key: "", more: "", rest })
            }
        }
    }
}

/// Whether the numbers count up, as those of lines do.
fn rises(prefixes: &[Prefix<'_>]) -> bool {
    let numbers: Vec<u64> = prefixes.iter().filter_map(|prefix| prefix.key.parse().ok()).collect();
    numbers.windows(2).all(|pair| matches!(pair, [a, b] if a < b))
}

/// `pod container text`. The name of a pod has a hyphen, as nearly all of them do; a container's begins with a letter.
fn stern(text: &str) -> Option<Prefix<'_>> {
    let (key, rest) = text.split_once(' ')?;
    let (more, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let named = dns(key) && key.contains('-') && letter(key) && dns(more) && more.starts_with(|c: char| c.is_ascii_lowercase());
    named.then_some(Prefix { key, more, rest })
}

/// Whether no program says this after a word of its own.
fn proves(rest: &str) -> bool {
    rest.starts_with("  File \"") || rest == "Traceback (most recent call last):"
}

/// Hosts without a number, known by what they put their name before: a program that speaks for itself does not indent its
/// message, nor begin it with the heading of a traceback.
fn plain(texts: &[&str]) -> HashSet<String> {
    let prefixed = texts.iter().filter_map(|text| host(text));
    prefixed.filter(|(_, rest)| proves(rest)).map(|(name, _)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use crate::line::Line;
    use crate::line::tests::lines_in;

    /// The parts of a prefix's mould are put before each line of a crash.
    const CRASH: [&str; 7] = [
        "epoch 0 [   0/40]  loss 2.7000",
        "Traceback (most recent call last):",
        "  File \"train.py\", line 88, in <module>",
        "    main()",
        "",
        "RuntimeError: DataLoader worker (pid 31) is killed by signal: Killed. ",
        "DONE",
    ];

    #[test]
    fn prefixes_of_all_lines_go() {
        for moulds in [
            ["gpu-n01: ", "gpu-n02: "],
            ["alice: ", "bob: "],
            ["vit-worker-0 pytorch ", "vit-worker-1 pytorch "],
            ["ml vit-worker-0 pytorch ", "ml vit-worker-1 pytorch "],
            ["[vit-worker-0] ", "[vit-worker-1] "],
            ["[vit-worker-0 main] ", "[vit-worker-1 main] "],
            ["trainer-a | ", "trainer | "],
            [" 0: ", "12: "],
            ["[0] ", "[1] "],
            ["10:00:00 ", "10:00:01 "],
            ["[10:00:00] ", "[10:00:01] "],
            ["10.0.0.3: ", "10.0.0.4: "],
            ["trainer/0 ", "trainer/1 "],
            ["10:00:00.120  ", "10:00:01.130  "],
        ] {
            let mut text = String::from("$ logs\n");
            for line in CRASH {
                for mould in moulds {
                    text.push_str(&format!("{mould}{line}\n"));
                }
            }
            let all = lines_in(&text);
            let texts: Vec<_> = all.iter().skip(1).step_by(2).map(|line| line.text.trim_start_matches("0:")).collect();
            let expected: Vec<_> = CRASH.iter().map(|line| line.to_string()).collect();
            let trimmed: Vec<_> = texts.iter().map(|t| t.to_string()).collect();
            assert_eq!(trimmed, expected, "{moulds:?}");
            let who = |line: &Line<'_>| {
                let e = &line.envelope;
                (e.rank, e.host.clone(), e.pod.clone(), e.container.clone())
            };
            let (first, second) = (who(&all[1]), who(&all[2]));
            assert!(first != second || moulds[0].contains("10:0"), "{moulds:?}: {first:?}");
        }
    }

    #[test]
    fn numbers_of_lines_go_where_they_count_up() {
        for (mould, expected) in [
            (["     1\t", "     2\t", "     3\t", "     4\t"], true),
            (["     9 ", "    10 ", "    11 ", "    12 "], true),
            (["3:", "8:", "9:", "120:"], true),
            (["3:", "8:", "4:", "120:"], false),
        ] {
            let text: String = mould.iter().map(|number| format!("{number}  File \"x.py\", line 1, in f\n")).collect();
            let peeled = lines_in(&text).iter().all(|line| line.text == "  File \"x.py\", line 1, in f");
            assert_eq!(peeled, expected, "{mould:?}");
        }
    }

    #[test]
    fn a_single_rank_goes_where_all_lines_bear_it() {
        let crash = "Traceback (most recent call last):\n  File \"x\"\n    f()\nRuntimeError: x\n";
        let text: String = crash.lines().map(|line| format!("[0] {line}\n")).collect();
        let all = lines_in(&text);
        assert!(all.iter().map(|line| &*line.text).eq(crash.lines()));
        assert_eq!(lines_in("[0] a\n[0] b\n[0] c\n[0] d\n[0] e\n")[0].text, "[0] a");
        assert_eq!(lines_in(&format!("epoch 0\n{text}"))[1].text, "[0] Traceback (most recent call last):");
    }

    #[test]
    fn words_of_programs_stay() {
        for text in [
            "slurmstepd: error: a\nslurmstepd: error: b\nsrun: error: c\nsrun: error: d\nsrun: error: e\n",
            "python3: a\npython3: b\npython3: c\npython3: d\n",
            "step1: a\nstep2: b\nstep3: c\nstep4: d\nstep5: e\n",
            "epoch 0 [1/9]\nepoch 0 [2/9]\nepoch 0 [3/9]\nepoch 0 [4/9]\nepoch 0 [5/9]\n",
            "train/1 a\ntrain/2 b\ntrain/3 c\ntrain/4 d\n",
            "[INFO] a\n[INFO] b\n[INFO] c\n[INFO] d\n",
            "Name | Type\nconv | Conv2d\nfc | Linear\nbn | Norm\nrelu | ReLU\n",
        ] {
            let texts: Vec<_> = lines_in(text).into_iter().map(|line| line.text.into_owned()).collect();
            assert_eq!(texts, text.lines().collect::<Vec<_>>());
        }
    }
}
