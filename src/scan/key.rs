//! What a file is of, told by its name: what remains without endings, views of an incident and parts of a job.

use crate::input::rotation;

/// Names of files that tell of the whole folder: the several views of one incident.
const VIEWS: [&str; 41] = [
    "alloc",
    "console",
    "container",
    "current",
    "daemon",
    "describe",
    "df",
    "dmesg",
    "docker",
    "err",
    "error",
    "errors",
    "events",
    "init",
    "inspect",
    "istio-proxy",
    "job",
    "journal",
    "kern",
    "kernel",
    "kubectl",
    "log",
    "main",
    "messages",
    "nvidia-smi",
    "out",
    "output",
    "pod",
    "previous",
    "run",
    "sacct",
    "sidecar",
    "std_log",
    "stderr",
    "stdout",
    "syslog",
    "system",
    "train",
    "trainer",
    "training",
    "wandb",
];

/// Words before the number of a job that say which of its streams this is, as in `output_4711.log`.
const STREAMS: [&str; 7] = ["err", "error", "log", "out", "output", "stderr", "stdout"];

/// Words before a number that tell a part of one job.
const PARTS: [&str; 14] = [
    "attempt",
    "chief",
    "gpu",
    "host",
    "launcher",
    "local_rank",
    "master",
    "node",
    "proc",
    "process",
    "ps",
    "rank",
    "restart",
    "worker",
];

/// What stands between words.
const BORDERS: [char; 3] = ['-', '_', '.'];

/// Hexadecimal digits that make the id of a container; any fewer may be a word.
const HEX: usize = 12;

/// What a file is of; `None` where its name says nothing but what kind of file it is. A number that neither counts
/// rotations nor follows the word for a part is the number of a job.
pub(super) fn key(name: &str) -> Option<String> {
    let bare = bare(name);
    let mut rest = bare.as_str();
    loop {
        if rest.is_empty() {
            return None;
        }
        let view = || VIEWS.iter().find_map(|word| before(rest, word));
        let stream = || STREAMS.iter().find_map(|word| behind(rest, word)).filter(|number| is_number(number));
        let Some(shorter) = view().or_else(|| last_part(rest)).or_else(|| first_part(rest)).or_else(stream) else {
            return Some(rest.to_owned());
        };
        rest = shorter;
    }
}

/// The name without endings and marks of rotation, in lower case; a job's number stays, with whatever stream it follows.
pub(super) fn bare(name: &str) -> String {
    let name = name.to_lowercase();
    let mut rest = name.as_str();
    loop {
        let (log, _) = rotation::piece(rest);
        match rotation::without_ending(log) {
            Some(stem) => rest = stem,
            None if log.len() < rest.len() => rest = log,
            None => break,
        }
    }
    // The kubelet's links: a pod, its namespace, and a container with its id.
    if let [pod, namespace, container] = rest.split('_').collect::<Vec<_>>().as_slice() {
        let id = container.rsplit_once('-').map_or("", |(_, id)| id);
        if id.len() >= HEX && id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return format!("{pod}_{namespace}");
        }
    }
    // `name.o123` and `name.e123` are the streams of one job of PBS or Grid Engine, `name.out.4711` of a shell's.
    let words: Vec<&str> = rest.split('.').collect();
    let mut kept = Vec::new();
    for (index, word) in words.iter().enumerate() {
        let number = words.get(index + 1).is_some_and(|next| is_number(next));
        if index > 0 && number && STREAMS.contains(word) {
            continue;
        }
        let digits = word.strip_prefix('p').unwrap_or(word).strip_prefix(['o', 'e']);
        let digits = digits.filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        let digits = digits.filter(|text| text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'[' | b']')));
        kept.push(if index > 0 { digits.unwrap_or(word) } else { word });
    }
    kept.join(".")
}

/// Whether one name is another one with a number behind it: `train_2` beside `train` is another run.
pub(super) fn is_next(name: &str, first: &str) -> bool {
    name.strip_prefix(first).is_some_and(|rest| is_number(rest.trim_start_matches(BORDERS)))
}

/// What stands before a word at the end of a text.
fn before<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_suffix(word)?;
    (rest.is_empty() || rest.ends_with(BORDERS)).then(|| rest.trim_end_matches(BORDERS))
}

/// What stands behind a word at the beginning of a text.
fn behind<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(word)?;
    rest.starts_with(BORDERS).then(|| rest.trim_start_matches(BORDERS))
}

/// What stands before a part with its number, or its letter: `rank3`, `rank_3`, `node-b`.
fn last_part(text: &str) -> Option<&str> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let letter = || text.strip_suffix(|c: char| c.is_ascii_lowercase()).filter(|rest| rest.ends_with(BORDERS));
    let stem = if digits.len() < text.len() { digits } else { letter()? }.trim_end_matches(BORDERS);
    PARTS.iter().find_map(|word| before(stem, word))
}

/// What stands behind a part with its number: `run5` of `rank0_run5`.
fn first_part(text: &str) -> Option<&str> {
    let mut cuts = text.match_indices(BORDERS).map(|(at, _)| text.split_at(at));
    cuts.rfind(|(part, _)| last_part(part) == Some("")).map(|(_, rest)| rest.trim_start_matches(BORDERS))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn names_tell_what_a_file_is_of() {
        let id = "0a1b2c3d4e5f".repeat(5);
        let link = format!("trainer-0_ml_main-{id}.log");
        for (name, of) in [
            ("train.log", None),
            ("dmesg.txt", None),
            ("rank3.log", None),
            ("rank_3.log.gz", None),
            ("node-b-dmesg.txt", None),
            ("local_rank_1.out", None),
            ("dmesg.0", None),
            ("0.log", Some("0")),
            ("4711.log", Some("4711")),
            ("8812345671.log", Some("8812345671")),
            ("lr0.1.log", Some("lr0.1")),
            ("seed.2.txt", Some("seed.2")),
            ("train_2.log", Some("train_2")),
            ("frank_3.log", Some("frank_3")),
            ("slurm-123.out", Some("slurm-123")),
            ("slurm-123.err", Some("slurm-123")),
            ("slurm-123_4.out", Some("slurm-123_4")),
            ("slurm-123-node2.out", Some("slurm-123")),
            ("4711_0_log.err", Some("4711_0")),
            ("output_4711.log", Some("4711")),
            ("bert.o4711", Some("bert.4711")),
            ("bert.pe4711", Some("bert.4711")),
            ("bert.e4711.2", Some("bert.4711.2")),
            ("train.err.4711", Some("train.4711")),
            ("resnet-7f9c-describe.txt", Some("resnet-7f9c")),
            ("resnet-7f9c.log.1.gz", Some("resnet-7f9c")),
            ("resnet-7f9c.log-20261130", Some("resnet-7f9c")),
            ("trainer-0_main.log", Some("trainer-0")),
            ("bert-worker-1.log", Some("bert")),
            ("bert-master-0.log", Some("bert")),
            ("run5_rank0.log", Some("run5")),
            ("rank0_run5.log", Some("run5")),
            (link.as_str(), Some("trainer-0_ml")),
            (".hidden", Some(".hidden")),
            ("", None),
        ] {
            assert_eq!(key(name).as_deref(), of, "{name}");
        }
    }
}
