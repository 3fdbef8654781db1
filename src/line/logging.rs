//! Takes off what logging libraries put before a message: Python's logging, glog, klog, loguru, DeepSpeed, vLLM, rich.

use super::Envelope;
use super::open::Rest;
use super::pairs;
use crate::time::{self, Stamp};

/// The levels of logging libraries, longer words first where one begins another.
const LEVELS: [&str; 11] =
    ["DEBUG", "INFO", "WARNING", "WARN", "ERROR", "CRITICAL", "FATAL", "NOTICE", "TRACE", "SUCCESS", "SEVERE"];

/// What follows a level at the beginning of a text.
fn level(text: &str) -> Option<&str> {
    let rest = LEVELS.iter().find_map(|level| text.strip_prefix(level))?;
    (!rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')).then_some(rest)
}

/// Whether a text begins with a level, as after the clock of rich.
pub(super) fn levelled_at(text: &str) -> bool {
    level(text.trim_start_matches(' ')).is_some()
}

/// A word that a logger or module is named by.
fn name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 96 && text.chars().all(|c| c.is_alphanumeric() || "._-/<>:".contains(c))
}

/// A source file with a line, as `torch/distributed/run.py:793` and `launch.py:145:main`.
fn source(text: &str) -> bool {
    text.split_once(':').is_some_and(|(file, line)| {
        line.starts_with(|c: char| c.is_ascii_digit())
            && file.contains('.')
            && name(file)
            && !text.contains(' ')
            && text.len() <= 200
    })
}

/// `W1201 07:17:55.968000 20601 torch/distributed/run.py:793] ` of glog, klog and PyTorch (2.3 and later).
fn glog<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let text = text.strip_prefix(['I', 'W', 'E', 'F', 'V', 'D', 'C'])?;
    let (stamp, rest) = time::glog(text)?;
    let (head, rest) = rest.split_once(']')?;
    let mut words = head.split_ascii_whitespace();
    let (first, second) = (words.next()?, words.next());
    let place = second.unwrap_or(first);
    if !source(place) || words.next().is_some() {
        return None;
    }
    envelope.speaker = second.and_then(|_| first.parse().ok()).or(envelope.speaker);
    envelope.saw(stamp);
    Some(Rest::Tail(rest.strip_prefix(' ').unwrap_or(rest)))
}

/// Prefixes that begin with a letter.
pub(super) fn word<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    match text.as_bytes() {
        [b'A'..=b'Z', b'0'..=b'9', ..] => return glog(text, envelope),
        [b't', b'i' | b's', ..] => return pairs::pairs(text, envelope),
        [b'A'..=b'Z', b'A'..=b'Z', ..] => {}
        // ctime(3) and the like stand before messages too, but then a separator follows.
        _ => {
            let (stamp, rest) = super::open::timed(text).then(|| time::ctime(text))??;
            // horovodrun writes the rank and the stream right after the year: `Fri Sep 25 16:52:53 2020[0]<stderr>:`.
            if let Some(rest) = super::rank::bracket(rest, envelope).filter(|_| rest.contains(">:")) {
                envelope.saw(stamp);
                return Some(rest);
            }
            let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(" - "))?;
            envelope.saw(stamp);
            return Some(Rest::Tail(rest));
        }
    }
    let rest = level(text)?;
    // `ERROR:torch.distributed.elastic.multiprocessing.api:failed …`, the default of Python's logging.
    if let Some(rest) = rest.strip_prefix(':') {
        let (logger, rest) = rest.split_once(':')?;
        return (name(logger) && !rest.starts_with("//")).then_some(Rest::Tail(rest));
    }
    // `ERROR 02-19 10:00:00 [engine.py:100] ` of vLLM.
    let (stamp, rest) = time::slashed(rest.strip_prefix(' ')?)?;
    let (place, rest) = super::kernel::bracketed(rest.trim_start_matches(' '))?;
    if !source(place) {
        return None;
    }
    envelope.saw(stamp);
    Some(Rest::Tail(rest.strip_prefix(' ').unwrap_or(rest)))
}

/// Stamps without a zone before a message, and what stands between them and it: `2023-01-01 10:00:00,123 - mmdet - INFO - `.
pub(super) fn stamped<'a>(stamp: Stamp, rest: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    if !rest.is_empty() && !rest.starts_with([' ', ':', '\t', '|', ',', ';']) {
        return None;
    }
    envelope.saw(stamp);
    Some(Rest::Tail(detailed(rest, envelope)))
}

/// What follows level, logger and source, in the orders that the known libraries write them in after a stamp.
fn detailed<'a>(rest: &'a str, envelope: &mut Envelope) -> &'a str {
    // PostgreSQL names its process after the zone.
    if let Some((pid, after)) = rest.strip_prefix(' ').and_then(super::kernel::bracketed)
        && let (Ok(pid), Some(after)) = (pid.parse(), after.strip_prefix(' '))
    {
        envelope.speaker = Some(pid);
        return after;
    }
    // torch_xla's xla_dist: the worker's address and its number.
    if let Some((host, message)) = rest.strip_prefix(' ').and_then(worker) {
        envelope.host = Some(host.to_owned());
        return message;
    }
    dashed(rest)
        .or_else(|| airflow(rest))
        .or_else(|| metaflow(rest))
        .or_else(|| loguru(rest))
        .or_else(|| tensorflow(rest))
        .or_else(|| ray(rest))
        .or_else(|| rest.strip_prefix(": "))
        .or_else(|| rest.strip_prefix(" - "))
        .or_else(|| levelled(rest.trim_start_matches(' ')))
        .or_else(|| rest.strip_prefix(' '))
        .unwrap_or(rest)
}

/// `10.164.0.33 [0] `: an address, a number, and the message.
fn worker(rest: &str) -> Option<(&str, &str)> {
    let (host, rest) = rest.split_once(' ')?;
    host.parse::<std::net::Ipv4Addr>().ok()?;
    let (number, rest) = super::kernel::bracketed(rest)?;
    number.parse::<u32>().ok()?;
    Some((host, if rest.is_empty() { rest } else { rest.strip_prefix(' ')? }))
}

/// `11:02:41.787 | ERROR   | prefect.flow_runs.worker - ` of Prefect: only the time of the day, which may be gone already, and for a
/// run its name.
pub(super) fn prefect(text: &str) -> Option<Rest<'_>> {
    let message = columns(super::parts::clock(text).unwrap_or(text))?;
    let run = ["Flow run '", "Task run '"].iter().find_map(|run| message.strip_prefix(run)?.split_once("' - "));
    Some(Rest::Tail(run.map_or(message, |(_, message)| message)))
}

/// ` [3119/train/20115 (pid 2244)] ` of Metaflow: run, step and task, with the pid of the local process that watches it.
fn metaflow(rest: &str) -> Option<&str> {
    let (task, message) = super::kernel::bracketed(rest.strip_prefix(' ')?)?;
    let (path, pid) = task.strip_suffix(')')?.split_once(" (pid ")?;
    pid.parse::<u32>().ok()?;
    (path.matches('/').count() == 2 && name(path)).then(|| message.strip_prefix(' '))?
}

/// ` {subprocess.py:93} INFO - ` of Airflow.
fn airflow(rest: &str) -> Option<&str> {
    let (place, rest) = rest.strip_prefix(" {")?.split_once("} ")?;
    source(place).then(|| level(rest))??.strip_prefix(" - ")
}

/// `train: ` after a level: a logger's name, where what follows begins as a message does. Programs that speak of a failure
/// put their names there too, and so do those who tell of one.
fn logger(rest: &str) -> Option<&str> {
    const WORDS: [&str; 22] = [
        "python",
        "python3",
        "bash",
        "sh",
        "srun",
        "slurmstepd",
        "kernel",
        "systemd",
        "mpirun",
        "torchrun",
        "error",
        "signal",
        "reason",
        "cause",
        "status",
        "state",
        "message",
        "exception",
        "caught",
        "result",
        "output",
        "text",
    ];
    let (word, message) = rest.split_once(": ")?;
    let known = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'.');
    let named = word.len() <= 64 && word.starts_with(|c: char| c.is_ascii_lowercase()) && word.bytes().all(known);
    let begun = message.starts_with(|c: char| c.is_ascii_uppercase()) || message.starts_with("  ");
    (named && begun && !WORDS.contains(&word) && !word.ends_with(".sh")).then_some(message)
}

/// ` - mmdet - INFO - ` and ` - INFO - __main__ - `.
fn dashed(rest: &str) -> Option<&str> {
    let (first, rest) = rest.strip_prefix(" - ")?.split_once(" - ")?;
    if level(first.trim_end()).is_some_and(str::is_empty) {
        return match rest.split_once(" - ") {
            Some((logger, message)) if name(logger) => Some(message),
            _ => Some(rest),
        };
    }
    let (second, message) = rest.split_once(" - ")?;
    (name(first.trim_end()) && level(second.trim_end()).is_some_and(str::is_empty)).then_some(message)
}

/// ` | INFO     | module:function:12 - ` of loguru.
fn loguru(rest: &str) -> Option<&str> {
    columns(rest.strip_prefix(' ')?)
}

/// The same without the blank that follows the time.
fn columns(rest: &str) -> Option<&str> {
    let (word, rest) = rest.strip_prefix("| ")?.split_once('|')?;
    if !level(word.trim()).is_some_and(str::is_empty) {
        return None;
    }
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let placed = rest.split_once(" - ").filter(|(place, _)| name(place));
    // fairseq has a third column for the logger: ` | ERROR | stderr | `.
    let column = || rest.split_once(" | ").filter(|(logger, _)| name(logger));
    Some(placed.or_else(column).map_or(rest, |(_, message)| message))
}

/// `: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1406] ` of TensorFlow.
fn tensorflow(rest: &str) -> Option<&str> {
    let rest = rest.strip_prefix(": ")?.strip_prefix(['I', 'W', 'E', 'F'])?.strip_prefix(' ')?;
    let (place, message) = rest.split_once("] ")?;
    source(place).then_some(message)
}

/// `\tINFO worker.py:1234 -- ` of Ray.
fn ray(rest: &str) -> Option<&str> {
    let (place, message) = level(rest.strip_prefix('\t')?)?.strip_prefix(' ')?.split_once(" -- ")?;
    source(place).then_some(message)
}

/// `[INFO] [launch.py:145:main] ` of DeepSpeed, `INFO     __main__   ` and a bare `INFO `.
fn levelled(rest: &str) -> Option<&str> {
    if let Some((word, after)) = super::kernel::bracketed(rest) {
        level(word).filter(|more| more.is_empty())?;
        let after = after.trim_start_matches(' ');
        return Some(match super::kernel::bracketed(after) {
            Some((place, message)) if source(place) => message.strip_prefix(' ').unwrap_or(message),
            _ => after.strip_prefix(": ").unwrap_or(after),
        });
    }
    // Frigate and others name the logger first: `frigate.app                    INFO    : `.
    if let Some((_, after)) = rest.split_once(' ').filter(|(logger, _)| name(logger) && logger.contains('.')) {
        return level(after.trim_start_matches(' '))?.trim_start_matches(' ').strip_prefix(": ");
    }
    let after = level(rest)?;
    let message = after.strip_prefix(':').unwrap_or(after).trim_start_matches(' ');
    Some(if after.starts_with(' ') { logger(message).unwrap_or(message) } else { message })
}

/// Stamps in brackets: `[2023-07-20 15:44:55,020] [INFO] [launch.py:315:sigkill_handler] `, `[03/02 07:12:22 detectron2]: `,
/// `[INFO|2025-04-04 03:11:20] loader:143 >> `, `[W1201 07:17:55.968123 file.cpp:1250] `, `[22:47:02] WARNING  `.
pub(super) fn bracket<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (inside, rest) = text.strip_prefix('[')?.split_once(']')?;
    match inside.as_bytes() {
        [b'I' | b'W' | b'E' | b'F', b'0'..=b'9', ..] => return glog(text.get(1..)?, envelope),
        [a, b, b':', ..] if inside.len() == 8 && a.is_ascii_digit() && b.is_ascii_digit() => {
            // rich shows the time of the day only on the first of several lines of a second.
            return rich(rest)
                .or_else(|| level(rest.trim_start_matches(' ')).map(|rest| Rest::Tail(rest.trim_start_matches(' '))));
        }
        _ => {}
    }
    if let Some((word, more)) = inside.split_once('|') {
        level(word).filter(|more| more.is_empty())?;
        let (place, message) = rest.split_once(" >> ").filter(|(place, _)| place.len() <= 120)?;
        let stamp = time::prefix(more).or_else(|| time::prefix(place.trim_start())).map(|(stamp, _)| stamp);
        if let Some(stamp) = stamp {
            envelope.saw(stamp);
        }
        return Some(Rest::Tail(message));
    }
    // Airflow puts a comma after the date, Optuna and others the letter of the level before it.
    if let Some((date, clock)) = inside.split_once(", ").filter(|(date, _)| date.len() == 10) {
        envelope.saw(Stamp::parse(&format!("{date} {clock}")).or_else(|| Stamp::parse(&format!("{date}T{clock}")))?);
        return airflow(rest).map(Rest::Tail);
    }
    let inside = match inside.split_at_checked(2) {
        Some(("I " | "W " | "E " | "C " | "F " | "D ", date)) if date.starts_with(|c: char| c.is_ascii_digit()) => date,
        _ => inside,
    };
    let (stamp, more) = time::prefix(inside).or_else(|| time::coarse(inside))?;
    if let Some(message) = rest.strip_prefix(": ").filter(|_| more.starts_with(' ') && name(more.trim_start())) {
        envelope.saw(stamp);
        return Some(Rest::Tail(message));
    }
    // Ray puts level, process and thread into the bracket: `[2026-12-01 06:55:40,304 E 123 456] `.
    let inner = more.is_empty()
        || more.split_ascii_whitespace().all(|word| matches!(word, "I" | "W" | "E" | "C" | "F") || word.parse::<u32>().is_ok());
    if !inner {
        return None;
    }
    envelope.saw(stamp);
    Some(Rest::Tail(detailed(rest, envelope)))
}

/// ` WARNING  Sending process 14 closing signal SIGTERM         api.py:699` of rich: a level at the left, the source at the
/// right edge. Lines that a message goes on in have neither and stay as they are.
pub(super) fn rich<'a>(text: &'a str) -> Option<Rest<'a>> {
    let rest = level(text.trim_start_matches(' '))?;
    if !rest.starts_with(' ') {
        return None;
    }
    let (message, place) = rest.trim_end().rsplit_once("  ").or_else(|| rest.trim_end().rsplit_once(' '))?;
    let (file, line) = place.trim_start().split_once(':')?;
    let numbered = !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
    (numbered && file.ends_with(".py") && name(file)).then(|| Rest::Made(message.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    #[test]
    fn prefixes_of_logging_libraries_go() {
        for (text, expected, speaker) in [
            (
                "W1201 07:17:55.968000 20601 torch/distributed/elastic/multiprocessing/api.py:1028] Sending process 1",
                "Sending process 1",
                Some(20601),
            ),
            ("I0102 15:04:05.123456       1 file.go:12] \"msg\" k=\"v\"", "\"msg\" k=\"v\"", Some(1)),
            ("[rank0]:[W1201 07:17:55.968123 ProcessGroupNCCL.cpp:1250] Warning: x", "Warning: x", None),
            (
                "[2023-07-20 15:44:55,020] [INFO] [launch.py:315:sigkill_handler] Killing subprocess 123",
                "Killing subprocess 123",
                None,
            ),
            ("ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9)", "failed (exitcode: -9)", None),
            ("WARNING:root:x", "x", None),
            ("2021-07-08 08:28:11 10.164.0.33 [0] Killed", "Killed", None),
            ("2021-07-08 08:28:11 10.164.0.33 [0]   File \"x\"", "  File \"x\"", None),
            ("[2024-02-11, 10:01:00 UTC] {subprocess.py:93} INFO -   File \"x\"", "  File \"x\"", None),
            ("[2024-02-11T10:01:00.123+0000] {x.py:93} INFO - Killed", "Killed", None),
            ("[2024-02-11, 10:01:00 UTC] x", "[2024-02-11, 10:01:00 UTC] x", None),
            ("2021-07-08 08:28:11,123 - Killed", "Killed", None),
            ("2026-09-12 08:10:21,123 ERROR train: Killed", "Killed", None),
            ("2026-09-12 08:10:21,123 ERROR train:   File \"x\"", "  File \"x\"", None),
            ("2026-09-12 08:10:21,123 INFO loss: 0.3", "loss: 0.3", None),
            ("2026-09-12 08:10:21,123 ERROR reason: OOMKilled", "reason: OOMKilled", None),
            ("2026-09-12 08:10:21,123 ERROR RuntimeError: x", "RuntimeError: x", None),
            ("2026-09-12 08:10:21,123 ERROR torch.OutOfMemoryError: x", "torch.OutOfMemoryError: x", None),
            ("2026-09-12 08:10:21,123 ERROR slurmstepd: error: x", "slurmstepd: error: x", None),
            ("2026-09-12 08:10:21,123 ERROR bash: line 1: 12 Killed", "bash: line 1: 12 Killed", None),
            ("2024-02-11 10:01:00 | ERROR | stderr | Killed", "Killed", None),
            ("2024-02-11 10:01:00 | INFO | epoch 001 | x", "epoch 001 | x", None),
            ("[E 2024-02-11 10:01:00,123] Killed", "Killed", None),
            ("11:02:41.787 | ERROR   | prefect.flow_runs - Killed", "Killed", None),
            ("11:02:41.787 | ERROR   | Flow run 'big-owl' - Killed", "Killed", None),
            ("| ERROR   | prefect.flow_runs - Killed", "Killed", None),
            ("11:02:41.787 | 12 | 13", "11:02:41.787 | 12 | 13", None),
            ("2025-12-01 10:02:55.380 [3119/train/20115 (pid 2244)] Killed", "Killed", None),
            ("2025-12-01 10:02:55.380 [3119/train/20115 (pid 2244)]   File \"x\"", "  File \"x\"", None),
            ("[E 12 x] Killed", "[E 12 x] Killed", None),
            ("Fri Sep 25 16:52:53 2020[0]<stderr>:Killed", "Killed", None),
            ("Fri Sep 25 16:52:53 2020[0]<stderr>:  File \"x\"", "  File \"x\"", None),
            ("ERROR: Unexpected bus error encountered in worker.", "ERROR: Unexpected bus error encountered in worker.", None),
            ("2023-01-01 10:00:00,123 - mmdet - INFO - Epoch [23]", "Epoch [23]", None),
            ("12/23/2024 11:39:58 - INFO - __main__ - audio_dir", "audio_dir", None),
            ("2022-02-20 06:16:55 INFO epoch 11", "epoch 11", None),
            ("2024-01-01 10:00:00.123 | INFO     | a.b:run:12 - message", "message", None),
            ("2021-06-20 09:11:30.038175: I tensorflow/stream_executor/dso_loader.cc:49] Opened", "Opened", None),
            ("2024-01-01 10:00:00,123\tINFO worker.py:1234 -- Connected", "Connected", None),
            ("[2024-01-01 10:00:00,123 E 12 34] (raylet) node_manager.cc:3040: x", "(raylet) node_manager.cc:3040: x", None),
            ("[2022-07-11 19:26:58] frigate.app                    INFO    : Capture", "Capture", None),
            ("[03/02 07:12:22 detectron2]: Rank of current process", "Rank of current process", None),
            ("[INFO|2025-04-04 03:11:20] llamafactory.data.loader:143 >> Loading", "Loading", None),
            ("[INFO|trainer.py:1234] 2025-04-04 03:11:20,123 >> Saving", "Saving", None),
            ("2018-02-20 14:03:11.208 UTC [1] ERROR:  could not resize", "ERROR:  could not resize", Some(1)),
            (
                "(EngineCore pid=222) ERROR 12-01 07:00:00 [core.py:700] Traceback (most recent call last):",
                "Traceback (most recent call last):",
                Some(222),
            ),
            (
                " WARNING  Sending process 14 closing signal SIGTERM         api.py:699",
                "Sending process 14 closing signal SIGTERM",
                None,
            ),
            ("[22:47:02] WARNING  scikit-learn version", "scikit-learn version", None),
            ("  File \"x.py\", line 3, in f", "  File \"x.py\", line 3, in f", None),
            ("           Bus error. It is possible", "           Bus error. It is possible", None),
            ("[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog", "[E ProcessGroupNCCL.cpp:828] [Rank 0] Watchdog", None),
            ("INFO:     Uvicorn running on http://0.0.0.0:8000", "INFO:     Uvicorn running on http://0.0.0.0:8000", None),
            (
                "│ /site-packages/torch/utils/data/dataloader.py:1011 │",
                "│ /site-packages/torch/utils/data/dataloader.py:1011 │",
                None,
            ),
        ] {
            let line = peel(text, 1);
            assert_eq!(line.text, expected, "{text}");
            assert_eq!(line.envelope.speaker, speaker, "{text}");
            assert_eq!(line.envelope.kernel, None, "{text}");
        }
    }
}
