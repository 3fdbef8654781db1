//! Hosted applications and functions: Heroku, Fly.io, Cloud Foundry, Hugging Face, AWS Lambda. Their routers and supervisors
//! count memory themselves or pass on what the kernel did.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

fn main(what: What) -> Vec<Claim> {
    vec![Claim::new(what, Who::role(Role::Main))]
}

fn stopped(by: &'static str, why: Why, signal: Option<Signal>) -> Vec<Claim> {
    main(What::Stopped { by, why, signal })
}

/// A status with the platform's word on memory beside it.
fn short(by: &'static str, c: &Caps<'_>) -> Vec<Claim> {
    let mut claims = main(What::OomReported { by, scope: Scope::Cgroup });
    claims.extend(c.num("code").into_iter().flat_map(|code| main(What::Ended { how: How::Code(code), hint: false })));
    claims
}

pub(super) const TABLE: &[Pattern] = &[
    // Heroku's dyno manager. R14 is a warning; R15 is above twice the quota and followed by SIGKILL.
    Pattern {
        id: "heroku/error",
        witness: Witness::Supervisor,
        stems: &["Error R15 (Memory quota vastly exceeded", "Error R12 (Exit timeout"],
        regex: r"^Error (?:(?<memory>R15 \(Memory quota vastly exceeded\))|R12 \(Exit timeout\))(?: -> .*)?\s*$",
        read: |c| match c.get("memory") {
            Some(_) => stopped("Heroku", Why::Memory, Some(Signal::KILL)),
            None => stopped("Heroku", Why::StopTimeout, Some(Signal::KILL)),
        },
        samples: &[
            "Error R15 (Memory quota vastly exceeded)",
            "Error R12 (Exit timeout) -> At least one process failed to exit within 30 seconds of SIGTERM",
        ],
        near_misses: &["Error R14 (Memory quota exceeded)", "see Error R15 (Memory quota vastly exceeded)"],
    },
    // Fly.io's init reads the kernel's log of the machine.
    Pattern {
        id: "fly/oom",
        witness: Witness::Supervisor,
        stems: &["Process appears to have been OOM killed!"],
        regex: r"^(?:INFO )?Process appears to have been OOM killed!\s*$",
        read: |_| main(What::OomReported { by: "Fly.io's init", scope: Scope::Host }),
        samples: &["Process appears to have been OOM killed!", "INFO Process appears to have been OOM killed!"],
        near_misses: &["grep 'Process appears to have been OOM killed!'"],
    },
    // Cloud Foundry's Diego: the status of an instance, and the event of its crash.
    Pattern {
        id: "cf/exit",
        witness: Witness::Runtime,
        stems: &["(out of memory)"],
        regex: r"^(?:(?:APP/PROC/WEB|App instance exited.*): )?(?:Exit status|Exited with status) (?<code>\d+) \(out of memory\)\s*$",
        read: |c| short("Cloud Foundry", c),
        samples: &["Exit status 137 (out of memory)", "APP/PROC/WEB: Exited with status 137 (out of memory)"],
        near_misses: &["Exit status 1 (out of memory?)", "Exit status 0"],
    },
    // Hugging Face's Spaces and Endpoints.
    Pattern {
        id: "huggingface/memory",
        witness: Witness::Runtime,
        stems: &["Memory limit exceeded ("],
        regex: r"^(?:(?:runtime error )?Exit code: (?<code>\d+)\. Reason: )?Memory limit exceeded \(\d+(?:\.\d+)?[KMGT]i?B?\)\s*$",
        read: |c| short("Hugging Face", c),
        samples: &["Exit code: 137. Reason: Memory limit exceeded (16Gi)", "Memory limit exceeded (16Gi)"],
        near_misses: &["warning: Memory limit exceeded (soft)"],
    },
    // AWS Lambda's runtime: how the function's process ended, and the time limit of one call.
    Pattern {
        id: "lambda/exit",
        witness: Witness::Supervisor,
        stems: &["Runtime exited with error: signal: "],
        regex: r"(?:^|\s)(?:Error: )?Runtime exited with error: signal: (?<signal>killed|bus error|segmentation fault|aborted|terminated)(?: \(core dumped\))?(?:\s|$)",
        read: |c| {
            let signal = c.get("signal").and_then(Signal::from_description);
            signal.map_or_else(Vec::new, |signal| main(What::Ended { how: How::Signal(signal), hint: false }))
        },
        samples: &[
            "RequestId: 4a11c1be-0001-4c22-9f2b-5a1c0a1b2c3d Error: Runtime exited with error: signal: killed",
            "Error: Runtime exited with error: signal: killed Runtime.ExitError",
        ],
        near_misses: &["Runtime exited with error: exit status 1", "\"Runtime exited with error: signal: killed\""],
    },
    Pattern {
        id: "lambda/timeout",
        witness: Witness::Supervisor,
        stems: &[" Task timed out after "],
        regex: r"(?:^|\s)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12} Task timed out after [\d.]+ seconds\s*$",
        read: |_| stopped("AWS Lambda", Why::TimeLimit, None),
        samples: &["4a11c1be-0001-4c22-9f2b-5a1c0a1b2c3d Task timed out after 900.10 seconds"],
        near_misses: &["my own Task timed out after 3 seconds"],
    },
];
