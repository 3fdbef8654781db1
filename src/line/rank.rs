//! Takes off what launchers put before the lines of a rank: torchrun, MPI, Horovod, Ray, SkyPilot, `srun -l`, pdsh.

use super::Envelope;
use super::open::Rest;

/// Digits as a number, if there is nothing else.
fn number(text: &str) -> Option<u32> {
    (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
}

/// One blank after a prefix is the prefix's; those of a traceback stay.
fn after(rest: &str) -> Rest<'_> {
    Rest::Tail(rest.strip_prefix(' ').unwrap_or(rest))
}

/// The number in `rank3`, and in `rank 3`, `Rank 3`, `rank=3` and `rank: 3` as programs write it that log by themselves; whether
/// it is written close.
fn ranked(text: &str) -> Option<(u32, bool)> {
    let digits = text.strip_prefix("rank").or_else(|| text.strip_prefix("Rank"))?;
    let apart = digits.trim_start_matches([' ', ':', '=']);
    Some((number(apart)?, apart.len() == digits.len()))
}

/// `[rank0]: ` (PyTorch 2.2), `[rank 3] `, `[default0]:` (torchrun, the local rank), `[1,7]<stderr>:` (Open MPI), `[1]<stderr>:`
/// (Horovod) and `[1,mpirank:0,algo-1]<stderr>:` (SageMaker).
pub(super) fn bracket<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let (inside, rest) = super::kernel::bracketed(text)?;
    if let Some((rank, bare)) = ranked(inside) {
        // Without its colon a number that is written close to the word is as likely a name.
        let rest = rest.strip_prefix(':').or_else(|| rest.strip_prefix(' ').filter(|_| !bare).map(|_| rest))?;
        envelope.rank = Some(rank);
        return Some(after(rest));
    }
    // `[NID 04371] ` of Cray's ALPS: the node.
    if let Some(digits) = inside.strip_prefix("NID ") {
        number(digits)?;
        envelope.host = Some(format!("nid{digits}"));
        return rest.strip_prefix(' ').map(Rest::Tail);
    }
    if let Some(digits) = inside.strip_prefix("default") {
        number(digits)?;
        return rest.strip_prefix(':').map(Rest::Tail);
    }
    let rest = ["<stderr>:", "<stdout>:", "<stddiag>:"].iter().find_map(|stream| rest.strip_prefix(stream))?;
    // Open MPI 5 names the server and the job before the rank, and puts a blank after the colon.
    let (inside, rest) = match inside.split_once('@') {
        Some((server, inside)) if server.starts_with("prte") => (inside, rest.strip_prefix(' ').unwrap_or(rest)),
        _ => (inside, rest),
    };
    let rank = match inside.split_once(',') {
        Some((job, rank)) => {
            number(job)?;
            let named = rank.strip_prefix("mpirank:").and_then(|rank| rank.split(',').next());
            number(named.unwrap_or(rank))?
        }
        None => number(inside)?,
    };
    envelope.rank = Some(rank);
    Some(Rest::Tail(rest))
}

/// `(rank 3) `, `(RayTrainWorker pid=27497, ip=10.0.0.3) `, `(EngineCore pid=222) ` (vLLM), `(head, rank=0, pid=1) ` (SkyPilot). The pid is
/// the speaker's.
pub(super) fn parenthesis<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    let inside = text.strip_prefix('(')?;
    let end = inside.bytes().take(160).position(|b| matches!(b, b'(' | b')'))?;
    let (inside, rest) = inside.split_at_checked(end)?;
    let rest = rest.strip_prefix(')')?;
    if let Some((rank, false)) = ranked(inside) {
        envelope.rank = Some(rank);
        return rest.strip_prefix(' ').map(Rest::Tail);
    }
    let value = |key: &str| inside.split([' ', ',']).find_map(|word| word.strip_prefix(key)).and_then(number);
    let pid = value("pid=")?;
    let rest = if rest.is_empty() { rest } else { rest.strip_prefix(' ')? };
    envelope.speaker = Some(pid);
    envelope.rank = value("rank=").or(envelope.rank);
    Some(Rest::Tail(rest))
}

/// `0: ` and ` 7: ` of `srun -l`. The number is not kept: other programs number their lines too.
pub(super) fn label<'a>(text: &'a str, envelope: &Envelope) -> Option<Rest<'a>> {
    if envelope.kernel.is_some() {
        return None;
    }
    let digits = text.strip_prefix(' ').unwrap_or(text);
    let end = digits.bytes().take(6).position(|b| !b.is_ascii_digit()).filter(|end| (1..=4).contains(end))?;
    digits.get(end..)?.strip_prefix(": ").map(Rest::Tail)
}

/// `worker-0: `, `rank 3: ` and `ip-10-0-0-1: ` of pdsh, DeepSpeed and mpirun's relatives: a host whose name says that it is one.
pub(super) fn host<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    const STEMS: [&str; 13] =
        ["worker", "node", "gpu", "host", "master", "algo", "ip", "trainer", "slave", "compute", "head", "launcher", "rank"];
    if envelope.kernel.is_some() {
        return None;
    }
    let end = memchr::memchr(b':', text.as_bytes().get(..64).unwrap_or(text.as_bytes()))?;
    let (name, rest) = text.split_at_checked(end)?;
    if let Some((rank, false)) = ranked(name) {
        let rest = rest.strip_prefix(": ")?;
        envelope.rank = Some(rank);
        return Some(Rest::Tail(rest));
    }
    let numbers = STEMS.iter().find_map(|stem| name.strip_prefix(stem))?;
    let only = |b: u8| b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.');
    if !numbers.bytes().all(only) || !numbers.ends_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let rest = rest.strip_prefix(": ")?;
    match name.strip_prefix("rank").and_then(number) {
        Some(rank) => envelope.rank = Some(rank),
        None => envelope.host = Some(name.to_owned()),
    }
    Some(Rest::Tail(rest))
}

/// `fatal: [gpu1]: FAILED! => {…}` and `changed: [gpu1] => {…}` of Ansible: what the command wrote is in the object.
pub(super) fn ansible<'a>(text: &'a str, envelope: &mut Envelope) -> Option<Rest<'a>> {
    const WORDS: [&str; 5] = ["fatal: ", "failed: ", "changed: ", "ok: ", "unreachable: "];
    let rest = WORDS.iter().find_map(|word| text.strip_prefix(word))?;
    let (host, rest) = super::kernel::bracketed(rest)?;
    let (state, object) = rest.split_once("=> ")?;
    let object: serde_json::Value = serde_json::from_str(object).ok()?;
    let get = |key: &str| object.get(key).and_then(serde_json::Value::as_str).filter(|text| !text.is_empty());
    let texts: Vec<&str> = ["stdout", "stderr"].into_iter().filter_map(get).collect();
    if state.len() > 80 || texts.is_empty() {
        return None;
    }
    envelope.host = Some(host.to_owned());
    Some(Rest::Made(texts.join("\n")))
}

#[cfg(test)]
mod tests {
    use crate::line::peel;

    #[test]
    fn prefixes_of_ranks_go_and_tracebacks_keep_their_blanks() {
        for (text, expected, rank, speaker) in [
            ("[rank0]: Traceback (most recent call last):", "Traceback (most recent call last):", Some(0), None),
            ("[rank3]:   File \"x.py\", line 3, in f", "  File \"x.py\", line 3, in f", Some(3), None),
            ("[default0]:ERROR: Unexpected bus error", "ERROR: Unexpected bus error", None, None),
            ("[default0]:  File \"x.py\", line 3, in f", "  File \"x.py\", line 3, in f", None, None),
            ("[1,7]<stderr>:  File \"x.py\", line 3, in f", "  File \"x.py\", line 3, in f", Some(7), None),
            ("[1]<stderr>:Killed", "Killed", Some(1), None),
            ("[1,mpirank:0,algo-1]<stderr>:Killed", "Killed", Some(0), None),
            ("(RayTrainWorker pid=27497) Killed", "Killed", None, Some(27497)),
            ("(RayTrainWorker pid=27497, ip=10.0.0.3)   File \"x\"", "  File \"x\"", None, Some(27497)),
            ("(EngineCore pid=222) Killed", "Killed", None, Some(222)),
            ("(head, rank=0, pid=1) Killed", "Killed", Some(0), Some(1)),
            ("[prterun-gpu1-812@1,3]<stderr>:   File \"x\"", "  File \"x\"", Some(3), None),
            ("rank3: Killed", "Killed", Some(3), None),
            ("rank 3: Killed", "Killed", Some(3), None),
            ("2026-11-30 06:36:53,000 ERROR rank 3: RuntimeError: x", "RuntimeError: x", Some(3), None),
            ("[rank 3] Killed", "Killed", Some(3), None),
            ("[rank: 3]   File \"x.py\", line 3, in f", "  File \"x.py\", line 3, in f", Some(3), None),
            ("(Rank 3) Killed", "Killed", Some(3), None),
            ("[rank3] Killed", "[rank3] Killed", None, None),
            ("rank x: Killed", "rank x: Killed", None, None),
            ("[NID 04371] 2022-10-19 22:21:28 Apid 1: Killed", "Apid 1: Killed", None, None),
            (r#"fatal: [gpu1]: FAILED! => {"rc": 137, "stderr": "Killed", "stdout": ""}"#, "Killed", None, None),
            ("0: Killed", "Killed", None, None),
            ("worker-0: Killed", "Killed", None, None),
            ("ip-10-0-0-1: Killed", "Killed", None, None),
            ("(raylet) node_manager.cc:3040: x", "(raylet) node_manager.cc:3040: x", None, None),
            ("python3: can't open file", "python3: can't open file", None, None),
            ("slurmstepd: error: Detected 1 oom_kill event", "slurmstepd: error: Detected 1 oom_kill event", None, None),
            ("  File \"x\", line 3, in f", "  File \"x\", line 3, in f", None, None),
            ("12345: x", "12345: x", None, None),
        ] {
            let line = peel(text, 1);
            assert_eq!(line.text, expected, "{text}");
            assert_eq!((line.envelope.rank, line.envelope.speaker), (rank, speaker), "{text}");
            assert_eq!(line.envelope.kernel, None);
        }
    }
}
