//! systemd's service manager, systemd-oomd and systemd-coredump: how a unit's processes ended, and who ended them.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

/// The 64-digit container id in the name of a unit that a container engine made (`docker-<id>.scope`).
fn container(unit: &str) -> Option<String> {
    let name = unit.strip_suffix(".scope")?;
    let id = name.rsplit_once('-').map_or(name, |(_, id)| id);
    (id.len() == 64 && id.bytes().all(|b| b.is_ascii_hexdigit())).then(|| id.to_owned())
}

/// The unit a line is about, and the process where the line names one.
fn who(c: &Caps<'_>) -> Who {
    let unit = c.text("unit");
    Who { role: Role::Unit, container: unit.as_deref().and_then(container), unit, ..Who::host(c.num("pid"), c.text("comm")) }
}

/// The unit behind a cgroup path, where its last element is one.
fn behind(c: &Caps<'_>) -> Who {
    let cgroup = c.text("cgroup");
    let unit = cgroup.as_deref().and_then(|path| path.rsplit('/').next()).filter(|name| name.contains('.')).map(str::to_owned);
    Who { role: Role::Unit, container: unit.as_deref().and_then(container), unit, cgroup, ..Who::default() }
}

fn stopped(by: &'static str, why: Why, signal: Option<Signal>, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why, signal }, who)]
}

fn ended(c: &Caps<'_>) -> Vec<Claim> {
    let how = match c.get("code") {
        Some("exited") => c.num("status").map(How::Code),
        _ => c.num("status").map(|n| How::Signal(Signal(n))).or_else(|| c.signal("name").map(How::Signal)),
    };
    how.map(|how| Claim::new(What::Ended { how, hint: false }, who(c))).into_iter().collect()
}

fn result(c: &Caps<'_>) -> Vec<Claim> {
    match c.get("result").or_else(|| c.get("shown")) {
        Some("oom-kill") => vec![Claim::new(What::OomReported { by: "systemd", scope: Scope::Unknown }, who(c))],
        Some("timeout") => stopped("systemd", Why::StopTimeout, None, who(c)),
        Some("watchdog") => stopped("systemd", Why::Watchdog, None, who(c)),
        _ => Vec::new(),
    }
}

fn core(c: &Caps<'_>) -> Vec<Claim> {
    let how = c.signal("signal").map_or(How::Vanished, How::Signal);
    let who = Who::host(
        c.num("pid"),
        c.text("comm").or_else(|| c.get("exe").and_then(|exe| exe.rsplit('/').next()).map(str::to_owned)),
    );
    vec![Claim::new(What::Ended { how, hint: false }, who)]
}

/// The wordings of systemd.
pub(super) const TABLE: &[Pattern] = &[
    // All versions; a small `main` to v219. `Control process` is a helper command, not the program.
    Pattern {
        id: "systemd/main-exited",
        witness: Witness::Supervisor,
        stems: &["ain process exited, code="],
        regex: r"^(?<unit>\S+): [Mm]ain process exited, code=(?<code>exited|killed|dumped), status=(?<status>\d+)(?:/(?<name>\S+))?\s*$",
        read: ended,
        samples: &[
            "train-kill.service: Main process exited, code=killed, status=9/KILL",
            "train-sigbus.service: Main process exited, code=dumped, status=7/BUS",
            "train.service: main process exited, code=exited, status=1/FAILURE",
            "docker.service: Main process exited, code=exited, status=137/n/a",
        ],
        near_misses: &[
            "nginx.service: Control process exited, code=exited, status=1/FAILURE",
            "Main process exited, code=killed",
        ],
    },
    // systemctl status and show, all versions.
    Pattern {
        id: "systemd/status-main-pid",
        witness: Witness::Supervisor,
        stems: &["Main PID: "],
        regex: r"^\s*Main PID: (?<pid>\d+) \(code=(?<code>exited|killed|dumped), (?:signal|status)=(?:(?<status>\d+)(?:/\S+)?|(?<name>[A-Z0-9]+))\)",
        read: ended,
        samples: &["   Main PID: 328 (code=killed, signal=KILL)", " Main PID: 4411 (code=exited, status=1/FAILURE)"],
        near_misses: &["   Main PID: 4411 (python3)"],
    },
    // v229 and later: `oom-kill` from v243, also where systemd-oomd was the killer. A child's death under OOMPolicy=continue
    // gives `exit-code`. The other two forms are systemctl's.
    Pattern {
        id: "systemd/result",
        witness: Witness::Supervisor,
        stems: &["Failed with result '", "(Result: ", "Result=oom-kill"],
        regex: r"^(?:(?<unit>\S+): Failed with result '(?<result>oom-kill|timeout|watchdog)'\.|\s*Active: failed \(Result: (?<shown>oom-kill|timeout|watchdog)\)|Result=oom-kill$)",
        read: |c| {
            if c.line.text.starts_with("Result=") {
                vec![Claim::new(What::OomReported { by: "systemd", scope: Scope::Unknown }, who(c))]
            } else {
                result(c)
            }
        },
        samples: &[
            "train-anon.service: Failed with result 'oom-kill'.",
            "train-stoptimeout.service: Failed with result 'timeout'.",
            "psi-notify.service: Failed with result 'watchdog'.",
            "     Active: failed (Result: oom-kill) since Tue 2026-12-01 07:06:16 UTC; 4s ago",
            "Result=oom-kill",
        ],
        near_misses: &[
            "train-kill.service: Failed with result 'signal'.",
            "train-continue.service: Failed with result 'exit-code'.",
            "Unit train.service entered failed state.",
            "run-u412.service: Deactivated successfully.",
            "     Active: failed (Result: signal) since Tue 2026-12-01 07:06:16 UTC; 4s ago",
        ],
    },
    // systemd-run --wait, v236 and later; the status stands behind a stroke or a comma.
    Pattern {
        id: "systemd/run",
        witness: Witness::Supervisor,
        stems: &["Finished with result: ", "Main processes terminated with: "],
        regex: r"^\s*(?:Finished with result: (?<result>oom-kill|timeout|watchdog)|Main processes terminated with: code=(?<code>killed|dumped)(?:/|, )status=(?:(?<status>\d+)/)?(?<name>[A-Z0-9]+))\s*$",
        read: |c| if c.get("result").is_some() { result(c) } else { ended(c) },
        samples: &[
            "Finished with result: oom-kill",
            "Main processes terminated with: code=killed/status=KILL",
            "Main processes terminated with: code=killed, status=9/KILL",
        ],
        near_misses: &["Finished with result: success", "Main processes terminated with: code=exited/status=1"],
    },
    // v243 to v261, and the words of v262. The count in memory.events behind it holds kills below this cgroup and those of
    // the whole machine, so how far it reached is not told.
    Pattern {
        id: "systemd/oom",
        witness: Witness::Supervisor,
        stems: &[
            "A process of this unit has been killed by the OOM killer",
            "The kernel OOM killer killed some processes in this unit",
        ],
        regex: r"^(?<unit>\S+): (?:A process of this unit has been killed by the OOM killer|The kernel OOM killer killed some processes in this unit)\.",
        read: |c| vec![Claim::new(What::OomReported { by: "systemd", scope: Scope::Unknown }, who(c))],
        samples: &[
            "train-anon.service: A process of this unit has been killed by the OOM killer.",
            "libpod-bef6a95debc60f127e316856b5306c3a6ef94f02fa22d60bc45b5260a3e784fe.scope: A process of this unit has been killed by the OOM killer.",
            "train.slice: The kernel OOM killer killed some processes in this unit.",
        ],
        near_misses: &["Starting systemd-oomd.service - Userspace Out-Of-Memory (OOM) Killer..."],
    },
    // v247 (a number) and v252 (`some`).
    Pattern {
        id: "systemd/oomd-killed-unit",
        witness: Witness::Supervisor,
        stems: &["systemd-oomd killed "],
        regex: r"^(?<unit>\S+): systemd-oomd killed (?:\d+|some) process\(es\) in this unit\.",
        read: |c| stopped("systemd-oomd", Why::Memory, Some(Signal::KILL), who(c)),
        samples: &[
            "oomd-job.service: systemd-oomd killed 1 process(es) in this unit.",
            "oomd-job.service: systemd-oomd killed some process(es) in this unit.",
        ],
        near_misses: &["systemd-oomd killed my browser"],
    },
    // systemd-oomd itself: v247 and later; `Marked … for killing` from v262.
    Pattern {
        id: "systemd/oomd-killed",
        witness: Witness::Supervisor,
        stems: &[" due to memory pressure for ", " for killing due to ", " due to memory used (", " due to swap used ("],
        regex: r"^(?:Killed|Marked) (?<cgroup>/\S+) (?:for killing )?due to (?:memory pressure for |memory used \(|swap used \()",
        read: |c| stopped("systemd-oomd", Why::Memory, Some(Signal::KILL), behind(c)),
        samples: &[
            "Killed /system.slice/oomd-job.service due to memory pressure for /system.slice/oomd-job.service being 12.60% > 1.00% for > 2s with reclaim activity",
            "Killed /user.slice/user-1000.slice/user@1000.service/app.slice/train.scope due to memory used (16490000384) / total (16710594560) and swap used (8100000000) / total (8589930496) being more than 90.00%",
            "Killed /system.slice/train.service due to swap used (8100000000) / total (8589930496) being more than 90.00%",
            "Marked /system.slice/train.service for killing due to memory pressure for /system.slice being 82.10% > 60.00% for > 20s with reclaim activity",
        ],
        near_misses: &[
            "Memory pressure for /memorylimited.slice is 0.00%",
            "Considered 1 cgroups for killing, top candidates were:",
            "Memory pressure for /system.slice is greater than 60 for more than 20 seconds and there was reclaim activity",
        ],
    },
    // v219 and later: after the stop's time-out, of a watchdog (SIGABRT), or for the rest of a unit under OOMPolicy=kill.
    Pattern {
        id: "systemd/killing",
        witness: Witness::Supervisor,
        stems: &[": Killing process "],
        regex: r"^(?<unit>\S+): Killing process (?<pid>\d+) \((?<comm>.*)\) with signal (?<signal>SIG\w+)\.",
        read: |c| {
            let signal = c.signal("signal");
            stopped("systemd", if signal == Some(Signal::ABRT) { Why::Watchdog } else { Why::StopTimeout }, signal, who(c))
        },
        samples: &[
            "flux.service: Killing process 1640 (flux-broker-0) with signal SIGKILL.",
            "psi-notify.service: Killing process 2210 (psi-notify) with signal SIGABRT.",
        ],
        near_misses: &["launcher: Killing process 1640"],
    },
    // v252 and later: `systemctl kill` or the D-Bus call behind it.
    Pattern {
        id: "systemd/kill-request",
        witness: Witness::Supervisor,
        stems: &[" on client request."],
        regex: r"^(?<unit>\S+): Sent signal (?<signal>SIG\w+) to (?:main |control |)process (?<pid>\d+) \((?<comm>.*)\) on client request\.",
        read: |c| stopped("systemd", Why::Request, c.signal("signal"), who(c)),
        samples: &["train-kill.service: Sent signal SIGKILL to main process 397 (sleep) on client request."],
        near_misses: &["train.service: Sent signal on client request."],
    },
    // All versions: `State '…' timed out.` from v240, bare words before. States of starting are no stop.
    Pattern {
        id: "systemd/stop-timeout",
        witness: Witness::Supervisor,
        stems: &[" timed out. Killing.", " timed out. Terminating.", " timed out. Aborting."],
        regex: r"^(?<unit>\S+?):? (?:State '(?:stop|final)[\w-]*'|(?:stop|final)-[\w-]+|Stopping) timed out\. (?<act>Killing|Terminating|Aborting)\.",
        read: |c| {
            let signal = match c.get("act") {
                Some("Killing") => Signal::KILL,
                Some("Aborting") => Signal::ABRT,
                _ => Signal::TERM,
            };
            stopped("systemd", Why::StopTimeout, Some(signal), who(c))
        },
        samples: &[
            "train-stoptimeout.service: State 'stop-sigterm' timed out. Killing.",
            "train.service stop-sigterm timed out. Killing.",
            "session-3.scope: Stopping timed out. Killing.",
        ],
        near_misses: &[
            "train.service: State 'stop-sigterm' timed out. Skipping SIGKILL.",
            "kdump.service: start operation timed out. Terminating.",
        ],
    },
    // RuntimeMaxSec=, v229 and later.
    Pattern {
        id: "systemd/runtime-limit",
        witness: Witness::Supervisor,
        stems: &[" reached runtime time limit. Stopping."],
        regex: r"^(?<unit>\S+): (?:Service|Scope) reached runtime time limit\. Stopping\.",
        read: |c| stopped("systemd", Why::TimeLimit, None, who(c)),
        samples: &["train-runtimemax.service: Service reached runtime time limit. Stopping."],
        near_misses: &["train: reached runtime time limit. Stopping."],
    },
    // WatchdogSec=, all versions; sends SIGABRT.
    Pattern {
        id: "systemd/watchdog",
        witness: Witness::Supervisor,
        stems: &["atchdog timeout (limit "],
        regex: r"^(?<unit>\S+): [Ww]atchdog timeout \(limit .+\)!",
        read: |c| stopped("systemd", Why::Watchdog, Some(Signal::ABRT), who(c)),
        samples: &["psi-notify.service: Watchdog timeout (limit 10s)!"],
        near_misses: &["Watchdog timeout (limit 10s)"],
    },
    // systemd-coredump, all versions; the signal stands in the line from v256 only. `Message:` is coredumpctl's.
    Pattern {
        id: "systemd/coredump",
        witness: Witness::Supervisor,
        stems: &[" dumped core.", " terminated abnormally with"],
        regex: r"^\s*(?:Message: )?Process (?<pid>\d+) \((?<comm>.*)\) of user \d+ (?:dumped core\.|terminated abnormally without generating a coredump\.|terminated abnormally with signal (?<signal>\d+)/\w+, processing)",
        read: core,
        samples: &[
            "Process 343 (pt_data_worker) of user 0 dumped core.",
            "       Message: Process 343 (pt_data_worker) of user 0 dumped core.",
            "Process 343 (python) of user 1000 terminated abnormally without generating a coredump.",
            "Process 343 (python) of user 1000 terminated abnormally with signal 7/BUS, processing...",
        ],
        near_misses: &["Process 343 dumped core."],
    },
    // coredumpctl info, all versions.
    Pattern {
        id: "systemd/coredump-signal",
        witness: Witness::Supervisor,
        stems: &[" Signal: "],
        regex: r"^\s+Signal: (?<signal>\d+) \([A-Z0-9]+\)\s*$",
        read: core,
        samples: &["        Signal: 7 (BUS)"],
        near_misses: &["  Signal: Bus error (7)", "[node1:343] *** Process received signal ***"],
    },
    // coredumpctl list: a name of the signal from v250, its number before. The time may already be peeled.
    Pattern {
        id: "systemd/coredump-list",
        witness: Witness::Supervisor,
        stems: &[" present ", " missing ", " truncated ", " inaccessible ", " none ", " journal "],
        regex: r"^(?:\w{3} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+)?\s*(?<pid>\d+)\s+\d+\s+\d+\s+(?<signal>SIG[A-Z0-9]+|\d+)\s+(?:present|missing|truncated|inaccessible|none|journal)\s+(?<exe>/\S+)",
        read: core,
        samples: &[
            "Tue 2026-12-01 06:55:54 UTC 343   0   0 SIGBUS present  /opt/hog 20.0K",
            "Mon 2024-05-06 11:02:13 CEST   9120  1000  1000  11 missing   /usr/bin/python3.8",
        ],
        near_misses: &["TIME                        PID UID GID SIG    COREFILE EXE        SIZE", "12 3 4 none present"],
    },
    // journalctl between the boots of a journal: with the id from v250, `-- Reboot --` before.
    Pattern {
        id: "systemd/boot",
        witness: Witness::Supervisor,
        stems: &["-- Boot ", "-- Reboot --"],
        regex: r"^-- (?:Boot [0-9a-f]{32}|Reboot) --\s*$",
        read: |_| vec![Claim::bare(What::Boot)],
        samples: &["-- Boot 41d2a8e0f0b74a41a0c1ff3bd9ce4a10 --", "-- Reboot --"],
        near_misses: &["-- No entries --", "-- Reboot -- see above"],
    },
    // journald (all versions) and rsyslog 8: lines that never reached the log. Only the first two lose the kernel's.
    Pattern {
        id: "systemd/lost-messages",
        witness: Witness::Supervisor,
        stems: &[" kernel messages", "/dev/kmsg buffer overrun", "Suppressed ", "messages lost due to rate-limiting"],
        regex: r"^(?:Missed (?<missed>\d+) kernel messages$|/dev/kmsg buffer overrun, some messages lost\.|Suppressed (?<count>\d+) messages from \S+$|\S+: (?<lost>\d+) messages lost due to rate-limiting \()",
        read: |c| {
            let count = ["missed", "count", "lost"].iter().find_map(|group| c.num(group));
            vec![Claim::bare(What::Suppressed { count })]
        },
        samples: &[
            "Missed 24 kernel messages",
            "/dev/kmsg buffer overrun, some messages lost.",
            "Suppressed 1532 messages from train.service",
            "imuxsock: 317 messages lost due to rate-limiting (200 allowed within 5 seconds)",
        ],
        near_misses: &[
            "imuxsock from <dockerd:1210>: begin to drop messages due to rate-limiting",
            "Suppressed 3 messages from the user",
        ],
    },
];
