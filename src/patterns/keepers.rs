//! Keepers of processes below systemd: supervisord and PM2, and what auditd records of signals.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Why, Witness};
use crate::units::{HostPid, OwnPid, Signal};

fn stopped(by: &'static str, why: Why, signal: Option<Signal>, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why, signal }, who)]
}

/// A program of supervisord, by its name and perhaps its pid.
fn program(c: &Caps<'_>) -> Who {
    let pid = c.num("pid").or_else(|| c.num("pid2")).map(OwnPid);
    Who { process: c.text("process").or_else(|| c.text("process2")), own_pid: pid, ..Who::role(Role::Main) }
}

/// A number that auditd prints in hexadecimal.
fn hex<T: TryFrom<u64>>(text: &str) -> Option<T> {
    u64::from_str_radix(text.trim_start_matches("0x"), 16).ok()?.try_into().ok()
}

/// The signal that a system call sent, and to whom. A negative pid is a whole process group, of which no member is named.
fn audited(c: &Caps<'_>) -> Vec<Claim> {
    let target = c.get("pid").and_then(hex::<u32>).filter(|pid| *pid < 1 << 22);
    let number = c.get("third").or_else(|| c.get("signal"));
    let signal = number.and_then(|text| Signal::from_name(text).or_else(|| hex::<u8>(text).map(Signal)));
    let (Some(pid), Some(signal)) = (target, signal.filter(|signal| signal.0 > 0)) else { return Vec::new() };
    let (by, why) = match c.get("comm").unwrap_or_default() {
        "earlyoom" => ("earlyoom", Why::Memory),
        "systemd-oomd" => ("systemd-oomd", Why::Memory),
        "systemd" => ("systemd", Why::Request),
        "kill" | "pkill" | "killall" => ("the command kill", Why::Request),
        _ => ("a process that the audit log names", Why::Request),
    };
    stopped(by, why, Some(signal), Who { host_pid: Some(HostPid(pid)), ..Who::default() })
}

pub(super) const TABLE: &[Pattern] = &[
    // supervisor/process.py, 3.0 and later: after `stopwaitsecs`, and what it says of each signal with `loglevel=debug`.
    Pattern {
        id: "supervisord/killing",
        witness: Witness::Supervisor,
        stems: &["killing '", "killing "],
        regex: r"^(?:[^'`]*(?:DEBG|WARN) )?killing (?:'(?<process>[^']+)' \((?<pid>\d+)\) with SIGKILL|(?<process2>\S+) \(pid (?<pid2>\d+)\) (?:process group )?with signal (?<signal>SIG\w+))\s*$",
        read: |c| match c.signal("signal") {
            Some(signal) if signal != Signal::KILL => stopped("supervisord", Why::Request, Some(signal), program(c)),
            _ => stopped("supervisord", Why::StopTimeout, Some(Signal::KILL), program(c)),
        },
        samples: &[
            "2024-02-02 17:44:30,512 WARN killing 'trainer' (9) with SIGKILL",
            "killing 'trainer' (9) with SIGKILL",
            "2024-02-02 17:44:20,511 DEBG killing trainer (pid 9) with signal SIGTERM",
        ],
        near_misses: &["killing 'trainer' on request", "the launcher is killing trainer (pid 9)"],
    },
    // The same file: how a program went that it was told to stop. An end by the stop signal is the end that was asked for.
    Pattern {
        id: "supervisord/stopped",
        witness: Witness::Supervisor,
        stems: &["stopped: "],
        regex: r"^(?:[^'`]*(?:INFO|WARN) )?stopped: (?<process>\S+) \(terminated by (?<signal>SIG\w+)(?: \(core dumped\))?\)\s*$",
        read: |c| {
            let Some(signal) = c.signal("signal") else { return Vec::new() };
            let mut claims = vec![Claim::new(What::Ended { how: How::Signal(signal), hint: false }, program(c))];
            if matches!(signal, Signal::TERM | Signal::INT) {
                claims.extend(stopped("supervisord", Why::Request, Some(signal), program(c)));
            }
            claims
        },
        samples: &[
            "2024-02-02 17:44:30,701 WARN stopped: trainer (terminated by SIGKILL)",
            "stopped: trainer (terminated by SIGTERM)",
        ],
        near_misses: &["stopped: trainer (exit status 0)", "the job has stopped: terminated by SIGKILL"],
    },
    // Docker Swarm's `docker service ps`: the code of a task, and a health check that failed.
    Pattern {
        id: "docker/swarm-task",
        witness: Witness::Runtime,
        stems: &["task: non-zero exit ("],
        regex: r#"(?:^|[\s"])task: non-zero exit \((?<code>\d+)\)(?<health>: dockerexec: unhealthy container)?(?:"|…|\s|$)"#,
        read: |c| {
            let Some(code) = c.num("code") else { return Vec::new() };
            let mut claims = vec![Claim::new(What::Ended { how: How::Code(code), hint: false }, Who::role(Role::Main))];
            if c.get("health").is_some() {
                claims.extend(stopped("Docker Swarm", Why::Probe, None, Who::role(Role::Main)));
            }
            claims
        },
        samples: &[
            "x1ab   train.1   t:1   n1   Shutdown   Failed 5 minutes ago   \"task: non-zero exit (135)\"",
            "x1ab   \\_ train.1   t:1   n1   Shutdown   Failed 5 minutes ago   \"task: non-zero exit (137): dockerexec: unhealthy container\"",
        ],
        near_misses: &["task: non-zero exit", "task: complete"],
    },
    // PM2's God daemon; it names SIGINT whenever a program ended by itself.
    Pattern {
        id: "pm2/exit",
        witness: Witness::Supervisor,
        stems: &["] exited with code ["],
        regex: r"^(?:PM2 +\| |PM2 log: )?App \[(?<process>[^\]:]+)(?::\d+)?\] exited with code \[(?<code>\d+)\] via signal \[(?<signal>SIG\w+)\]\s*$",
        read: |c| {
            let how = match (c.signal("signal").filter(|signal| *signal != Signal::INT), c.num("code")) {
                (Some(signal), _) => How::Signal(signal),
                (None, Some(code)) if code != 0 => How::Code(code),
                _ => return Vec::new(),
            };
            vec![Claim::new(What::Ended { how, hint: false }, program(c))]
        },
        samples: &[
            "PM2        | App [train:0] exited with code [0] via signal [SIGKILL]",
            "PM2 log: App [train:0] exited with code [0] via signal [SIGKILL]",
        ],
        near_misses: &["PM2        | App [train:0] exited with code [] via signal []", "App [train:0] online"],
    },
    // PM2's worker, `--max-memory-restart`.
    Pattern {
        id: "pm2/memory",
        witness: Witness::Supervisor,
        stems: &["restarted because it exceeds --max-memory-restart value"],
        regex: r"^(?:PM2 +\| |PM2 log: )?\[PM2\]\[WORKER\] Process \S+ restarted because it exceeds --max-memory-restart value\b",
        read: |_| stopped("PM2", Why::Memory, None, Who::role(Role::Main)),
        samples: &[
            "PM2        | [PM2][WORKER] Process 0 restarted because it exceeds --max-memory-restart value (current_memory=9131421696 max_memory_limit=8589934592 [octets])",
        ],
        near_misses: &["a Process 0 restarted because it exceeds --max-memory-restart value"],
    },
    // The same daemon's lib/God/Methods.js, after `kill_timeout`, whatever it wanted the program stopped for.
    Pattern {
        id: "pm2/force",
        witness: Witness::Supervisor,
        stems: &[", sending it SIGKILL now..."],
        regex: r"^(?:PM2 +\| |PM2 log: )?Process with pid (?<pid>\d+) still alive after \d+ms, sending it SIGKILL now\.\.\.\s*$",
        read: |c| stopped("PM2", Why::StopTimeout, Some(Signal::KILL), Who::own(Role::Main, c.num("pid"))),
        samples: &["PM2 log: Process with pid 8121 still alive after 1600ms, sending it SIGKILL now..."],
        near_misses: &["pid=8121 msg=failed to kill - retrying in 100ms"],
    },
    // auditd's record of kill, tkill and tgkill on x86-64 and arm64, where a rule watches them; `ausearch -i` spells it out.
    Pattern {
        id: "audit/kill",
        witness: Witness::Supervisor,
        stems: &["type=SYSCALL msg=audit("],
        regex: concat!(
            r"^(?:node=\S+ )?type=SYSCALL msg=audit\([^)]+\) ?: arch=(?:(?:c000003e|x86_64) syscall=(?:62|kill|200|tkill)|(?:c00000b7|aarch64) syscall=(?:129|kill|130|tkill)",
            r"|(?:c000003e|x86_64|c00000b7|aarch64) syscall=(?<group>234|131|tgkill)) success=yes exit=0 a0=(?<pid>(?:0x)?[0-9a-f]+) a1=(?<signal>SIG\w+|(?:0x)?[0-9a-f]+)",
            r#"(?: a2=(?<third>SIG[A-Z]\w+))?.* comm="?(?<comm>[^" ]+)"?"#
        ),
        read: audited,
        samples: &[
            "type=SYSCALL msg=audit(1718020411.204:88213): arch=c000003e syscall=62 success=yes exit=0 a0=4c7a a1=9 a2=0 a3=7f2b11 items=0 ppid=19870 pid=19871 auid=1017 uid=0 gid=0 euid=0 suid=0 fsuid=0 egid=0 sgid=0 fsgid=0 tty=pts4 ses=411 comm=\"kill\" exe=\"/usr/bin/kill\" subj=unconfined key=\"kill_rule\"",
            "type=SYSCALL msg=audit(06/10/2024 11:53:31.204:88213) : arch=x86_64 syscall=kill success=yes exit=0 a0=0x4c7a a1=SIGKILL a2=0x0 a3=0x0 items=0 ppid=1 pid=2 comm=bash exe=/usr/bin/bash",
        ],
        near_misses: &[
            "type=SYSCALL msg=audit(1718020411.204:88213): arch=c000003e syscall=62 success=no exit=-1 a0=4c7a a1=9 comm=\"kill\"",
            "type=SYSCALL msg=audit(1718020411.204:88213): arch=c000003e syscall=59 success=yes exit=0 a0=55 a1=56 comm=\"python\"",
        ],
    },
];
