//! User-space OOM daemons: earlyoom, nohang, Meta's oomd, Talos, and the observers of bcc and bpftrace.
//!
//! They send their signals themselves, so the kernel's log holds no OOM report of such a kill.

use super::{Caps, Pattern};
use crate::fact::{Claim, Role, Scope, What, Who, Why, Witness};
use crate::units::Signal;

fn stopped(by: &'static str, signal: Option<Signal>, who: Who) -> Vec<Claim> {
    vec![Claim::new(What::Stopped { by, why: Why::Memory, signal }, who)]
}

fn victim(c: &Caps<'_>) -> Who {
    Who::host(c.num("pid"), c.text("comm"))
}

/// The wordings of user-space OOM daemons.
pub(super) const TABLE: &[Pattern] = &[
    // earlyoom 1.3 and later: `uid` from 1.4, `oom_score` and `cmdline` from 1.8.
    Pattern {
        id: "oomd/earlyoom",
        witness: Witness::Supervisor,
        stems: &["sending SIGTERM to process ", "sending SIGKILL to process "],
        regex: r#"^sending (?<signal>SIGTERM|SIGKILL) to process (?<pid>\d+) (?:uid \d+ )?"(?<comm>.*?)": (?:badness|oom_score) -?\d+"#,
        read: |c| stopped("earlyoom", c.signal("signal"), victim(c)),
        samples: &[
            "sending SIGTERM to process 468 uid 0 \"python3\": badness 800, VmRSS 93 MiB",
            "sending SIGKILL to process 1234 \"python\": badness 800, VmRSS 9311 MiB",
            "sending SIGTERM to process 29410 uid 1000 \"cluster\": oom_score 1264, oom_score_adj 300, VmRSS 23964 MiB, cmdline \"/opt/cluster run\"",
        ],
        near_misses: &[
            "sending SIGTERM when mem <=  4.00% and swap <= 10.00%,",
            "    ^ new victim (higher badness)",
            "mem avail:   325 of   468 MiB (69.44%), swap free:    0 of    0 MiB ( 0.00%)",
            "low memory! at or below SIGTERM limits: mem 70.00%, swap 100.00%",
            "sending SIGTERM to process 12",
        ],
    },
    // earlyoom 1.2.
    Pattern {
        id: "oomd/earlyoom-1.2",
        witness: Witness::Supervisor,
        stems: &["Killing process '"],
        regex: r"^Killing process '(?<comm>.*?)' with signal (?<signal>\d+), pid: (?<pid>\d+), badness: -?\d+, VmRSS: \d+ MiB",
        read: |c| stopped("earlyoom", c.signal("signal"), victim(c)),
        samples: &["Killing process 'python3' with signal 15, pid: 2201, badness: 812, VmRSS: 9311 MiB"],
        near_misses: &["Killing process 'python3' on port 8000"],
    },
    // nohang, all versions; its message spans lines and names the victim elsewhere.
    Pattern {
        id: "oomd/nohang",
        witness: Witness::Supervisor,
        stems: &["Sending SIGTERM to the victim", "Sending SIGKILL to the victim"],
        regex: r"^\s*Sending (?<signal>SIGTERM|SIGKILL) to the victim\b",
        read: |c| stopped("nohang", c.signal("signal"), Who::default()),
        samples: &["  Sending SIGTERM to the victim", "Sending SIGKILL to the victim"],
        near_misses: &["The victim doesn't respond on corrective action in 1.003s", "Not Sending SIGTERM to the victim"],
    },
    // nohang 0.2: whom it will send its next signal to.
    Pattern {
        id: "oomd/nohang-victim",
        witness: Witness::Supervisor,
        stems: &["TOP-1 of victims: "],
        regex: r"^TOP-1 of victims: (?<comm>.+) \(pid (?<pid>\d+), badness \d+\)",
        read: |c| vec![Claim::new(What::Current, victim(c))],
        samples: &["TOP-1 of victims: python (pid 30331, badness 904)"],
        near_misses: &["TOP-15 of victims"],
    },
    // Meta's oomd writes into /dev/kmsg (BaseKillPlugin.cpp, Log.cpp); `(dry)` is a rehearsal.
    Pattern {
        id: "oomd/oomd",
        witness: Witness::Supervisor,
        stems: &["oomd kill: "],
        regex: r"^oomd kill: [\d.]+ [\d.]+ [\d.]+ (?<cgroup>\S+) \d+ ruleset:\[.*?\] detectorgroup:\[.*?\] killer:\[?\w+\]? v2",
        read: |c| {
            let cgroup = c.text("cgroup");
            let unit = cgroup.as_deref().and_then(|path| path.rsplit('/').next()).filter(|name| name.contains('.'));
            let who = Who { role: Role::Unit, unit: unit.map(str::to_owned), ..Who::default() };
            stopped("oomd", Some(Signal::KILL), Who { cgroup, ..who })
        },
        samples: &[
            "oomd kill: 27.36 10.74 2.58 system.slice/train.service 2110808064 ruleset:[protection against low swap] detectorgroup:[low swap] killer:kill_by_swap_usage v2",
            "oomd kill: 71.92 64.10 31.88 workload.slice/train.service 122406567936 ruleset:[protection against thrashing] detectorgroup:[workload pressure] killer:[kill_by_memory_size_or_growth] v2",
        ],
        near_misses: &[
            "oomd kill: 27.36 10.74 2.58 system.slice/train.service 2110808064 ruleset:[a] detectorgroup:[b] killer:(dry)kill_by_swap_usage v2",
        ],
    },
    // Talos Linux's runtime.OOMController (1.12 and later) kills a pod's cgroup from user space; seen in its `talosctl dmesg`.
    Pattern {
        id: "oomd/talos",
        witness: Witness::Supervisor,
        stems: &["[talos] Sending SIGKILL to cgroup "],
        regex: r#"^(?:\w+: +\w+: \[[^\]]*\]: )?\[talos\] Sending SIGKILL to cgroup \{.*"cgroup": "(?:/sys/fs/cgroup)?(?<cgroup>/[^"]+)""#,
        read: |c| {
            let cgroup = c.text("cgroup");
            let pod = cgroup.as_deref().and_then(|path| path.split('/').find_map(|part| part.strip_prefix("pod")));
            let pod_uid = pod.filter(|uid| uid.len() == 36).map(str::to_owned);
            stopped("Talos", Some(Signal::KILL), Who { cgroup, pod_uid, ..Who::default() })
        },
        samples: &[
            r#"user: warning: [2026-01-12T20:27:31.913975631Z]: [talos] Sending SIGKILL to cgroup {"component": "controller-runtime", "controller": "runtime.OOMController", "cgroup": "/sys/fs/cgroup/kubepods/burstable/pod5d0e9b31-7a42-4c18-8f60-2b9a1c3d4e5f"}"#,
        ],
        near_misses: &[
            r#"[talos] OOM controller triggered {"component": "controller-runtime", "controller": "runtime.OOMController"}"#,
        ],
    },
    // macOS: xnu's kern_memorystatus.c, as `log show` prints it; `with pid` to macOS 12.
    Pattern {
        id: "macos/memory",
        witness: Witness::Supervisor,
        stems: &["killing largest compressed process ", "memorystatus: killing_specific_process pid "],
        regex: r"^(?:memorystatus: killing_specific_process pid (?<pid3>\d+) \[(?<comm3>[^\]]+)\] \((?:vm-|memory|jetsam)[^)]*\) .*|(?:low swap|memorystatus): killing largest compressed process (?:with pid (?<pid>\d+) \((?<comm>[^)]+)\) and size \d+ MB|(?<comm2>\S.*) \[(?<pid2>\d+)\] \d+ MB))\s*$",
        read: |c| {
            let pid = c.num("pid").or_else(|| c.num("pid2")).or_else(|| c.num("pid3"));
            let process = c.text("comm").or_else(|| c.text("comm2")).or_else(|| c.text("comm3"));
            let who = Who { process, ..Who::own(Role::Unknown, pid) };
            vec![Claim::new(What::OomReported { by: "the kernel of macOS", scope: Scope::Host }, who)]
        },
        samples: &[
            "low swap: killing largest compressed process with pid 29670 (mongod) and size 1 MB",
            "memorystatus: killing largest compressed process python3.12 [43928] 64604 MB",
            "memorystatus: killing_specific_process pid 4411 [python3.11] (vm-compressor-space-shortage 180) 1024KB - memorystatus_available_pages: 12",
        ],
        near_misses: &[
            "printf(\"low swap: killing largest compressed process with pid %d (%s) and size %llu MB\\n\"",
            "memorystatus: set memory pressure critical",
        ],
    },
    // bcc and bpftrace `oomkill`: they watch the kernel's killer.
    Pattern {
        id: "oomd/bcc-oomkill",
        witness: Witness::Supervisor,
        stems: &["OOM kill of PID "],
        regex: r#"^(?:\d\d:\d\d:\d\d )?Triggered by PID \d+ \(".*?"\), OOM kill of PID (?<pid>\d+) \("(?<comm>.*?)"\), \d+ pages"#,
        read: |c| vec![Claim::new(What::OomReported { by: "oomkill", scope: Scope::Unknown }, victim(c))],
        samples: &[
            "21:03:39 Triggered by PID 3297 (\"ntpd\"), OOM kill of PID 22516 (\"python3\"), 3850642 pages, loadavg: 0.99 0.39 0.30 3/282 22724",
        ],
        near_misses: &["Tracing OOM kills... Ctrl-C to stop."],
    },
];
