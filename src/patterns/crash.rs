//! Reports of deadly signals by the process that got them, and faults of GPUs that a program reports.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Role, What, Who, Witness};

/// The wordings.
pub(super) const TABLE: &[Pattern] = &[
    // faulthandler, all versions (a rank or another pool, never a DataLoader worker: PyTorch replaces its handlers). Two
    // processes may write into each other's line.
    Pattern {
        id: "crash/faulthandler",
        witness: Witness::Program,
        stems: &["Fatal Python error: "],
        regex: concat!(
            r#"^(?:[^"'`#]*[^\w"'`#])?(?:Fatal Python error: )+"#,
            r"(?<signal>Bus error|Segmentation fault|Aborted|Floating[ -]point exception|Illegal instruction)(?:[A-Z].*)?\s*$"
        ),
        read: |caps| {
            let words = caps.get("signal").unwrap_or_default().replace('-', " ");
            let count = caps.line.text.matches("Fatal Python error: ").count();
            let signal = crate::units::Signal::from_description(&words);
            signal.map_or_else(Vec::new, |signal| vec![Claim::bare(What::Caught { signal, hint: false }); count])
        },
        samples: &[
            "Fatal Python error: Bus error",
            "test_die.py .Fatal Python error: Segmentation fault",
            "Fatal Python error: Fatal Python error: Bus errorBus error",
        ],
        near_misses: &[
            "Fatal Python error: init_import_site: Failed to import the site module",
            "\"Fatal Python error: Bus error\"",
            "what does Fatal Python error: Bus error mean?",
        ],
    },
    // glog (`@0x… received by PID`), absl's handler in Google's builds of XLA (`see go/…`, `on cpu`), and absl and Ray
    // (`received at time=`).
    Pattern {
        id: "crash/glog",
        witness: Witness::Program,
        stems: &["*** SIG"],
        regex: concat!(
            r"^(?:\((?<daemon>[a-z_]+)(?:, ip=[\d.]+)?\) )?(?:\[[^\]\[]*\] (?:logging\.cc:\d+: )?)?\*\*\* (?<signal>SIG[A-Z]+) ",
            r"(?:(?:\((?:@?0x[0-9a-f]+|@\(nil\))\)(?:, see \S+)? )?received by PID (?<pid>\d+) \(TID (?:0x)?[0-9a-f]+\)",
            r"(?: on cpu \d+)?(?: from PID \d+)?; stack trace: \*\*\*|received at time=\d+.*\*\*\*)\s*$"
        ),
        read: |caps| {
            let mut claims = caught(caps);
            // Ray shows which of its daemons speaks; it is none of the workers that are lost with it.
            for claim in claims.iter_mut().filter(|_| caps.get("daemon").is_some()) {
                claim.who.process = caps.text("daemon");
                claim.who.role = Role::Main;
            }
            claims
        },
        samples: &[
            "*** SIGBUS (@0x7f1c9a2f1000) received by PID 34 (TID 0x7f81381f0740) from PID 18446744071998189568; stack trace: ***",
            "*** SIGBUS (@0x7f98a0000000), see go/stacktraces#s15 received by PID 16738 (TID 16801) on cpu 20; stack trace: ***",
            "*** SIGSEGV (@(nil)), see gl__________41#s15 received by PID 16700 (TID 17533) on cpu 3; stack trace: ***",
            "*** SIGTERM received by PID 16738 (TID 16738) on cpu 20 from PID 16165; stack trace: ***",
            "*** SIGSEGV received at time=1700000000 on cpu 3 ***",
            "(raylet) *** SIGBUS received at time=1624040180 on cpu 14 ***",
            "(raylet, ip=10.0.0.3) *** SIGBUS received at time=1624040180 on cpu 14 ***",
            "[2023-05-01 10:00:00,123 E 12 12] logging.cc:361: *** SIGABRT received at time=1700000000 on cpu 3 ***",
        ],
        near_misses: &[
            "  [SignalInfo: *** SIGBUS (@0x7f) received by PID 34 (TID 0x7f) from PID 12 ***]",
            "*** SIGBUS means a bad address ***",
        ],
    },
    // Training loops that save their state when they are asked to end: PyTorch Lightning's signal connector (1.5 and later),
    // Megatron-LM, Composer, and scripts of one's own.
    Pattern {
        id: "crash/asked",
        witness: Witness::Program,
        stems: &["eceived SIGTERM", "aught SIGTERM", "ot SIGTERM", "signal SIGTERM", "signal 15", "receiving SIGTERM"],
        regex: r#"^(?:[^"'`#]{0,60}[\]:>] )?(?:[Rr]eceived|[Cc]aught|[Gg]ot|[Hh]andling|exiting program after receiving) (?:signal )?(?:SIGTERM|15)\b(?: ?\(\w+\)|: 15)?(?:[.,;!].{0,120}| -+ .{0,120}| signal[.,;!]?.{0,120})?\s*$"#,
        // Who carries on did not end of it.
        read: |caps| {
            let on = ["carrying on", "ignor", "ontinu", "ypass"].iter().any(|word| caps.line.text.contains(word));
            let what = What::Caught { signal: crate::units::Signal::TERM, hint: false };
            if on { Vec::new() } else { vec![Claim::bare(what)] }
        },
        samples: &[
            "Received SIGTERM, saving checkpoint",
            "[rank: 0] Received SIGTERM: 15",
            "Got signal 15",
            "exiting program after receiving SIGTERM.",
            "WARNING: caught SIGTERM; will stop after this step",
        ],
        near_misses: &[
            "Received Signals.SIGTERM death signal, shutting down workers",
            "Received 15 death signal, shutting down workers",
            "if it received SIGTERM, save",
            "*** SIGTERM received by PID 16738 (TID 16738) on cpu 20 from PID 16165; stack trace: ***",
            "Received SIGTERM handler at start",
            "caught SIGTERM, carrying on",
        ],
    },
    // UCX (ucs/debug/debug.c).
    Pattern {
        id: "crash/ucx",
        witness: Witness::Program,
        stems: &["Caught signal "],
        regex: r"^\[(?<host>[^:\]\s]+):(?<pid>\d+)\s*:\d+(?::\d+)?\] Caught signal (?<signal>\d+) \([^)]*\)",
        read: caught,
        samples: &[
            "[node01:3303 :0:3457] Caught signal 7 (Bus error: nonexistent physical address)",
            "[node01:3303 :0:3457] Caught signal 11 (Segmentation fault: address not mapped to object at address (nil))",
        ],
        near_misses: &["Caught signal 7 in the handler", "[node01:3303] Caught signal handler"],
    },
    // HPE's and SGI's MPT: the rank's own handler.
    Pattern {
        id: "crash/mpt",
        witness: Witness::Program,
        stems: &["MPT ERROR: Rank "],
        regex: r"^MPT ERROR: Rank (?<rank>\d+)\(g:\d+\) received signal (?<signal>SIG[A-Z]+)\(\d+\)\.?\s*$",
        read: |caps| {
            let who = Who { rank: caps.num("rank"), ..Who::default() };
            let signal = caps.signal("signal");
            signal.map(|signal| Claim::new(What::Caught { signal, hint: false }, who)).into_iter().collect()
        },
        samples: &["MPT ERROR: Rank 0(g:0) received signal SIGBUS(7)."],
        near_misses: &["MPT ERROR: MPI_COMM_WORLD rank 3 has terminated without calling MPI_Finalize()"],
    },
    // MVAPICH2's handler in each rank (src/mpid/ch3/channels/common/src/util/debug), 1.6 to 2.3.
    Pattern {
        id: "crash/mvapich",
        witness: Witness::Program,
        stems: &["][error_sighandler] Caught error: "],
        regex: r"^\[(?<host>[\w.-]+):mpi_rank_(?<rank>\d+)\]\[error_sighandler\] Caught error: [A-Z][\w ]* \(signal (?<signal>\d+)\)\s*$",
        read: |caps| {
            let who = Who { host: caps.text("host"), rank: caps.num("rank"), ..Who::default() };
            let signal = caps.signal("signal");
            signal.map(|signal| Claim::new(What::Caught { signal, hint: false }, who)).into_iter().collect()
        },
        samples: &["[o0219.ten.osc.edu:mpi_rank_673][error_sighandler] Caught error: Bus error (signal 7)"],
        near_misses: &["# [surface64:mpi_rank_0][error_sighandler] Caught error: Segmentation fault (signal 11)"],
    },
    // Open MPI (opal/util/stacktrace.c) and libpsm2.
    Pattern {
        id: "crash/mpi",
        witness: Witness::Program,
        stems: &["] Signal: ", " terminated with signal "],
        regex: concat!(
            r"^(?:\[(?<host>[^:\]\s]+):(?<pid>\d+)\] Signal: [A-Z][A-Za-z ]+ \((?<signal>\d+)\)\s*$",
            r"|(?<process>[\w.+-]+):(?<psmpid>\d+) terminated with signal (?<psmsignal>\d+) at PC=[0-9a-f]+ SP=[0-9a-f]+\.)"
        ),
        read: |caps| {
            let pid = caps.num("pid").or_else(|| caps.num("psmpid"));
            let signal = caps.signal("signal").or_else(|| caps.signal("psmsignal"));
            let who = Who {
                host: caps.text("host"),
                process: caps.text("process"),
                own_pid: pid.map(crate::units::OwnPid),
                ..Who::default()
            };
            signal.map(|signal| Claim::new(What::Caught { signal, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "[node01:12345] Signal: Bus error (7)",
            "memory_server:34 terminated with signal 7 at PC=7f81381f0523 SP=7fff111fdfa8.  Backtrace:",
        ],
        near_misses: &["[node01:12345] Signal code: Non-existant physical address (2)", "Command terminated by signal 9"],
    },
    // Julia's signal handler (src/signal-handling.c): the code of the signal is there from 1.9 on, the pid from 1.7.
    Pattern {
        id: "crash/julia",
        witness: Witness::Program,
        stems: &["signal (", "] signal "],
        regex: r"^(?:\s*From worker \d+:\s+)?(?:\[(?<pid>\d+)\] )?signal (?:\((?<signal>\d+)(?:\.\d+)?\)|(?<signal2>\d+) \(\d+\)): (?:Bus error|Segmentation fault|Aborted|Illegal instruction|Floating point exception)\s*$",
        read: |caps| {
            let who = Who { own_pid: caps.num("pid").map(crate::units::OwnPid), ..Who::default() };
            let signal = caps.signal("signal").or_else(|| caps.signal("signal2"));
            signal.map(|signal| Claim::new(What::Caught { signal, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "signal (7): Bus error",
            "[2411] signal (11.1): Segmentation fault",
            "      From worker 3:\t[2411] signal 7 (2): Bus error",
        ],
        near_misses: &["signal (15): Terminated", "got signal (7): Bus error", "signal: killed"],
    },
    // Go's runtime. Its `unexpected fault address` above says the same once more.
    Pattern {
        id: "crash/go",
        witness: Witness::Program,
        stems: &["[signal SIG"],
        regex: r"^\[signal (?<signal>SIG[A-Z]+): [a-z ]+ code=0x[0-9a-f]+ addr=0x[0-9a-f]+ pc=0x[0-9a-f]+\]\s*$",
        read: caught,
        samples: &["[signal SIGBUS: bus error code=0x2 addr=0x7f1c9a2f1000 pc=0x48b0c2]"],
        near_misses: &["[signal SIGTERM]"],
    },
    // Rust's ExitStatus, as cargo and others print it of their children.
    Pattern {
        id: "crash/rust",
        witness: Witness::Supervisor,
        stems: &["(signal: ", "signal: "],
        regex: r"^.*(?:process didn't exit successfully: .*\(signal: (?<signal>\d+)(?:, SIG[A-Z]+: [a-z ]+)?\)|\b(?:exited with|exit status:?|terminated by|failed with:?) signal: (?<status>\d+) \(SIG[A-Z]+\)(?: \(core dumped\))?)\s*$",
        read: |caps| {
            let signal = caps.signal("signal").or_else(|| caps.signal("status"));
            let what = signal.map(|signal| What::Ended { how: How::Signal(signal), hint: false });
            what.map(Claim::bare).into_iter().collect()
        },
        samples: &[
            "  process didn't exit successfully: `/tmp/x/target/debug/deps/a-1` (signal: 7, SIGBUS: access to undefined memory)",
            "error: worker exited with signal: 9 (SIGKILL)",
        ],
        near_misses: &["  process didn't exit successfully: `x` (exit status: 101)", "got signal: 9 (SIGKILL)"],
    },
    // Go's os/exec (`ProcessState.String`), as `go run`, Buildkite's agent and wrappers print it of their child.
    Pattern {
        id: "crash/go-exit",
        witness: Witness::Supervisor,
        stems: &["signal: "],
        regex: r#"^(?:exit status: |[Ee]rror: |task: Failed to run task "[^"]*": |(?:🚨 )?Error: The command was interrupted by a signal: )?signal: (?<signal>killed|bus error|segmentation fault|aborted|terminated|illegal instruction|floating point exception)(?: \(core dumped\))?\s*$"#,
        read: |caps| {
            let signal = caps.get("signal").and_then(crate::units::Signal::from_description);
            let what = signal.map(|signal| What::Ended { how: How::Signal(signal), hint: false });
            what.map(Claim::bare).into_iter().collect()
        },
        samples: &[
            "signal: killed",
            "task: Failed to run task \"train\": signal: killed",
            "🚨 Error: The command was interrupted by a signal: signal: killed",
            "exit status: signal: bus error",
            "signal: segmentation fault (core dumped)",
        ],
        near_misses: &["the wrapper printed signal: killed", "signal: killed by the user", "signal: interrupt"],
    },
    // HotSpot's error report.
    Pattern {
        id: "crash/java",
        witness: Witness::Program,
        stems: &["#  SIG"],
        regex: r"^#  (?<signal>SIG[A-Z]+) \(0x[0-9a-f]+\) at pc=0x[0-9a-f]+, pid=(?<pid>\d+), tid=\w+\s*$",
        read: caught,
        samples: &["#  SIGBUS (0x7) at pc=0x00007f2a3c0a1b80, pid=1, tid=23"],
        near_misses: &["#  SIGBUS is not caught here"],
    },
    // nvidia-smi and NVML, where a card does not answer.
    Pattern {
        id: "crash/gpu-lost",
        witness: Witness::Supervisor,
        stems: &["Unable to determine the device handle for "],
        regex: r"^(?:[Ee]rror: )?Unable to determine the device handle for (?:GPU|gpu) ?\S+: (?:GPU is lost\.|Unknown Error\b|Not Found\b).*$",
        read: |_| vec![Claim::bare(What::Gpu { xid: None })],
        samples: &[
            "Unable to determine the device handle for GPU 0000:87:00.0: GPU is lost.  Reboot the system to recover this GPU",
            "Unable to determine the device handle for GPU0000:87:00.0: Unknown Error",
        ],
        near_misses: &["Unable to determine the device handle for GPU means that it is gone"],
    },
    // ROCm's runtime (hsa-runtime/core/runtime), which then aborts the process.
    Pattern {
        id: "crash/rocm",
        witness: Witness::Program,
        stems: &["HW Exception by GPU node-", "emory access fault by GPU node-"],
        regex: r"^(?:HW Exception by GPU node-\d+ \(Agent handle: 0x[0-9a-f]+\) reason ?: ?.+|Memory access fault by GPU node-\d+(?: \(Agent handle: 0x[0-9a-f]+\))? on address (?:0x[0-9a-f]+|\(nil\))\..*)$",
        read: |_| vec![Claim::bare(What::Gpu { xid: None })],
        samples: &[
            "HW Exception by GPU node-1 (Agent handle: 0x1b0fc990) reason :GPU Hang",
            "Memory access fault by GPU node-1 (Agent handle: 0x55ac14d27600) on address 0x7f9587e00000. Reason: Page not present or supervisor privilege.",
        ],
        near_misses: &["HW Exception by GPU node-1 ... reason: GPU Hang", "Memory access fault by GPU node-1 on address..."],
    },
    // CUDA's and HIP's words for faults of a kernel or of the device, as PyTorch passes them on. A triggered assert is none: the
    // program checked its own numbers on the device.
    Pattern {
        id: "crash/gpu",
        witness: Witness::Program,
        stems: &["CUDA error", "HIP error: ", "cuda runtime error ("],
        regex: concat!(
            raised!(),
            r"(?:\s*what\(\): +)?(?:Failed: |\[[^\]]*\]:? )*(?:(?:CUDA|HIP) error: |cuda runtime error \(\d+\) : |CUDA error \S+ ')",
            r"(?:an illegal memory access was encountered|unspecified launch failure|uncorrectable (?:NVLink|ECC) error(?: encountered)?",
            r"|misaligned address|an illegal instruction was encountered|hardware stack error|the launch timed out and was terminated|unknown error)"
        ),
        read: |_| vec![Claim::bare(What::Gpu { xid: None })],
        samples: &[
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "  what():  CUDA error: unspecified launch failure",
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
            "  what():  Failed: CUDA error /workspace/DeepEP/csrc/deep_ep.cpp:89 'an illegal memory access was encountered'",
        ],
        near_misses: &[
            "RuntimeError: CUDA error: out of memory",
            "torch.AcceleratorError: CUDA error: device-side assert triggered",
            "if you see CUDA error: device-side assert triggered, run with",
        ],
    },
];

fn caught(caps: &Caps<'_>) -> Vec<Claim> {
    let who = Who { host: caps.text("host"), own_pid: caps.num("pid").map(crate::units::OwnPid), ..Who::default() };
    caps.signal("signal").map(|signal| Claim::new(What::Caught { signal, hint: false }, who)).into_iter().collect()
}
