//! Commands that sudo logs: who ended a process by hand.

use super::{Caps, Pattern};
use crate::fact::{Claim, Role, What, Who, Why, Witness};
use crate::units::Signal;

/// The signal of `kill`'s options and the pids that follow; `kill` without an option sends SIGTERM.
fn killed(c: &Caps<'_>) -> Vec<Claim> {
    let named = c.signal("number").or_else(|| c.signal("name"));
    let signal = if c.get("option").is_some() { named } else { Some(Signal::TERM) };
    let Some(signal) = signal.filter(|signal| signal.0 > 0) else { return Vec::new() };
    let pids = c.get("pids").unwrap_or_default().split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
    let what = || What::Stopped { by: "an operator (sudo kill)", why: Why::Request, signal: Some(signal) };
    pids.map(|pid| Claim::new(what(), Who { role: Role::Unknown, ..Who::host(Some(pid), None) })).collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // sudo's lib/eventlog, any version, behind the envelope of the journal or of auth.log.
    Pattern {
        id: "sudo/kill",
        witness: Witness::Supervisor,
        stems: &["COMMAND=/bin/kill ", "COMMAND=/usr/bin/kill ", "COMMAND=kill "],
        regex: r"^\s*(?:sudo(?:\[\d+\])?: +)?[\w.@$-]+ : (?:[A-Z]+=\S+ ; )+COMMAND=(?:/usr)?(?:/bin/)?kill(?<option> -(?:s |-signal[= ])?(?:SIG)?(?:(?<number>\d+)|(?<name>[A-Z]+)))?(?: --)?(?<pids>(?: \d+)+)\s*$",
        read: killed,
        samples: &[
            "   user2 : TTY=pts/2 ; PWD=/home/user2 ; USER=root ; COMMAND=/usr/bin/kill -9 4412",
            "ops : PWD=/ ; USER=root ; COMMAND=/bin/kill -s TERM 4412 4413",
            "ops : TTY=pts/0 ; PWD=/root ; USER=root ; COMMAND=/usr/bin/kill 4412",
        ],
        near_misses: &[
            "user2 : command not allowed ; TTY=pts/2 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/kill -9 4412",
            "user2 : TTY=pts/2 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/kill -0 4412",
            "user2 : TTY=pts/2 ; PWD=/ ; USER=root ; COMMAND=/usr/bin/kill -l",
        ],
    },
];
