//! The kernel's lines on faults that end a process: segfaults, traps, fatal signals, faulty memory, GPU errors.
//!
//! A plain SIGBUS on a full tmpfs leaves no line here on x86; what speaks of SIGBUS is hardware, huge pages, or a kernel that
//! was told to print fatal signals.

use super::{Caps, Pattern};
use crate::fact::{Claim, How, Poison, What, Who, Witness};
use crate::units::Signal;

fn victim(c: &Caps<'_>) -> Who {
    Who::host(c.num("pid"), c.text("comm"))
}

fn trapped(c: &Caps<'_>, signal: Signal, fault: &str) -> Vec<Claim> {
    vec![Claim::new(What::Trapped { signal, fault: fault.to_owned() }, victim(c))]
}

/// The signal of an x86 exception (arch/x86/kernel/traps.c).
fn x86_signal(fault: &str) -> Signal {
    match fault {
        "invalid opcode" => Signal(4),
        "int3" => Signal(5),
        "divide error" | "fpu exception" | "simd exception" | "x87 exception" => Signal(8),
        "stack segment" | "alignment check" | "segment not present" => Signal::BUS,
        _ => Signal::SEGV,
    }
}

/// The wordings of faults.
pub(super) const TABLE: &[Pattern] = &[
    // kernel/auditsc.c `audit_core_dumps`: a process ended by a signal that dumps core; 1701 where auditd did not name it.
    Pattern {
        id: "audit/abend",
        witness: Witness::Kernel,
        stems: &["type=ANOM_ABEND ", "type=1701 "],
        regex: r#"^(?:node=\S+ )?(?:audit: )?type=(?:ANOM_ABEND|1701) (?:msg=)?audit\([\d.:]+\)\s?: .*\bpid=(?<pid>\d+) comm="(?<process>[^"]+)" .*\bsig=(?<signal>[1-9]\d*)\b"#,
        read: |c| {
            let how = c.signal("signal").map(How::Signal);
            let who = Who::host(c.num("pid"), c.text("process"));
            how.map(|how| Claim::new(What::Ended { how, hint: false }, who)).into_iter().collect()
        },
        samples: &[
            "type=ANOM_ABEND msg=audit(1710411072.118:4411): auid=1000 uid=1000 gid=1000 ses=3 subj=unconfined pid=30112 comm=\"python\" exe=\"/usr/bin/python3.10\" sig=7 res=1",
            "audit: type=1701 audit(1710411072.118:4411): auid=1000 uid=1000 gid=1000 ses=3 pid=30112 comm=\"python\" exe=\"/usr/bin/python3.10\" sig=11 res=1",
        ],
        near_misses: &["type=SYSCALL msg=audit(1710411072.118:4411): arch=c000003e syscall=9 pid=30112 comm=\"python\" sig=7"],
    },
    // x86, all versions (arch/x86/mm/fault.c); `likely on CPU` from 6.1, the offset in the brackets from 6.12. Rate limited,
    // and absent with debug.exception-trace=0.
    Pattern {
        id: "kernel/segfault",
        witness: Witness::Kernel,
        stems: &["]: segfault at "],
        regex: r"^(?<comm>.{1,16})\[(?<pid>\d+)\]: segfault at\s+\S+ [re]?ip\s+\S+ [re]?sp\s+\S+ error [[:xdigit:]]+",
        read: |c| trapped(c, Signal::SEGV, "segfault"),
        samples: &[
            "trap_segv[140]: segfault at 10 ip 00000000004017e1 sp 00007ffe65cfd730 error 6 in hog[401000+7a000] likely on CPU 0 (core 0, socket 0)",
            "s6-pause[107577]: segfault at 0 ip 00000000004005d7 sp 00007ffc3bfd6b90 error 4 in s6-pause[400000+2000]",
            "python[2201]: segfault at           (null) ip           (null) sp 00007ffd3c31e2a8 error 14 in python3.8[400000+23000]",
        ],
        near_misses: &["worker[12]: segfault at step 400"],
    },
    // x86, all versions (arch/x86/kernel/traps.c): "general protection" to 4.19, "general protection fault" later; the prefix
    // `traps:` is missing before 3.9.
    Pattern {
        id: "kernel/trap",
        witness: Witness::Kernel,
        stems: &["] trap a", "] trap b", "] trap c", "] trap d", "] trap i", "] trap o", "] trap s", "] general protection"],
        regex: r"^(?:traps: )?(?<comm>.{1,16})\[(?<pid>\d+)\] (?:trap )?(?<fault>[a-z][a-z0-9 ]*?) (?:rip|ip):[[:xdigit:]]+ (?:rsp|sp):[[:xdigit:]]+ error:[[:xdigit:]]+",
        read: |c| {
            let fault = c.text("fault").unwrap_or_default();
            trapped(c, x86_signal(&fault), &fault)
        },
        samples: &[
            "traps: trap_ill[141] trap invalid opcode ip:401ab6 sp:7ffca95f7540 error:0 in hog[401000+7a000]",
            "traps: trap_gp[129] general protection fault ip:401aab sp:7ffcb09eb7f0 error:0 in hog[401000+7a000]",
            "traps: python3[9120] general protection ip:7f2a3c1d sp:7ffcb09eb7f0 error:0 in libc-2.27.so[7f2a3c000000+1e7000]",
            "traps: trap_int3[143] trap int3 ip:401adf sp:7fff05ff87a0 error:0 in hog[401000+7a000]",
        ],
        near_misses: &["worker[12] trap set for SIGTERM"],
    },
    // lib/dump_stack.c, all architectures: whose registers follow; in an OOM report that is the trigger.
    Pattern {
        id: "kernel/current",
        witness: Witness::Kernel,
        stems: &[" Comm: "],
        regex: r"^CPU: \d+ (?:UID: \d+ )?PID: (?<pid>\d+) Comm: (?<comm>.{1,20}?) (?:Not tainted|Tainted: )",
        read: |c| vec![Claim::new(What::Current, victim(c))],
        samples: &[
            "CPU: 0 PID: 160 Comm: pt_data_worker Not tainted 5.10.0-32-amd64 #1 Debian 5.10.223-1",
            "CPU: 1 UID: 0 PID: 19488 Comm: python3.11 Not tainted 6.18.44 #1 PREEMPT(none)",
        ],
        near_misses: &["CPU: 96 cores, PID: none, Comm: unknown"],
    },
    // arch/arm64/kernel/traps.c, 4.17 and later, only with debug.exception-trace=1; it names no signal.
    Pattern {
        id: "kernel/unhandled",
        witness: Witness::Kernel,
        stems: &["]: unhandled exception: "],
        regex: r"^(?<comm>.{1,16})\[(?<pid>\d+)\]: unhandled exception: ",
        read: |c| vec![Claim::new(What::Current, victim(c))],
        samples: &[
            "pt_data_worker[145]: unhandled exception: DABT (lower EL), ESR 0x92000047, level 3 translation fault in hog[400000+7a000]",
        ],
        near_misses: &["worker[12]: unhandled exception in thread"],
    },
    // kernel/signal.c, all architectures, only with kernel.print-fatal-signals=1; the names from 6.12. The pid stands in the
    // `CPU: … PID: …` line that follows.
    Pattern {
        id: "kernel/fatal-signal",
        witness: Witness::Kernel,
        stems: &["potentially unexpected fatal signal "],
        regex: r"^(?:[^:]+: (?<comm>.+): )?potentially unexpected fatal signal (?<signal>\d+)\.",
        read: |c| c.signal("signal").map_or_else(Vec::new, |signal| trapped(c, signal, "fatal signal")),
        samples: &["potentially unexpected fatal signal 7.", "hog: pt_data_worker: potentially unexpected fatal signal 7."],
        near_misses: &["with print-fatal-signals the kernel writes: potentially unexpected fatal signal 7."],
    },
    // arm64 to 4.16 (arch/arm64/mm/fault.c). The later `unhandled exception: DABT` names no signal and looks the same for
    // SIGBUS and SIGSEGV, so it says nothing.
    Pattern {
        id: "kernel/arm64-fault",
        witness: Witness::Kernel,
        stems: &[", esr 0x"],
        regex: r"^(?<comm>.{1,16})\[(?<pid>\d+)\]: unhandled (?<fault>[a-z0-9 ()-]+?) \((?<signal>\d+)\) at 0x[[:xdigit:]]+, esr 0x[[:xdigit:]]+",
        read: |c| {
            let fault = c.text("fault").unwrap_or_default();
            c.signal("signal").map_or_else(Vec::new, |signal| trapped(c, signal, &fault))
        },
        samples: &["python[2204]: unhandled level 3 translation fault (11) at 0x00000010, esr 0x92000046"],
        near_misses: &[
            "pt_data_worker[145]: unhandled exception: DABT (lower EL), ESR 0x0000000092000047, level 3 translation fault in hog[400000+7f000]",
        ],
    },
    // mm/hugetlb.c, all versions: SIGBUS for a mapping that lost its reservation.
    Pattern {
        id: "kernel/hugepage-pool",
        witness: Witness::Kernel,
        stems: &[" killed due to inadequate hugepage pool"],
        regex: r"^PID (?<pid>\d+) killed due to inadequate hugepage pool",
        read: |c| trapped(c, Signal::BUS, "inadequate hugepage pool"),
        samples: &["PID 2201 killed due to inadequate hugepage pool"],
        near_misses: &["job killed due to inadequate hugepage pool"],
    },
    // mm/memory-failure.c, arch/x86/mm/fault.c: `MCE 0x…` to 4.4, `Memory failure: 0x…` later; "Killing" means SIGBUS and became
    // "Sending SIGBUS to" by 5.4; "forcibly killing" means SIGKILL.
    Pattern {
        id: "kernel/poison",
        witness: Witness::Kernel,
        stems: &[" due to hardware memory corruption", " because of failure to unmap corrupted page"],
        regex: concat!(
            r"^(?:MCE|MCE 0x[[:xdigit:]]+|Memory failure: 0x[[:xdigit:]]+): (?<act>Killing|Sending SIGBUS to|forcibly killing) ",
            r"(?<comm>.+):(?<pid>\d+) (?:due to hardware memory corruption|because of failure to unmap corrupted page)"
        ),
        read: |c| {
            let kill = c.get("act") == Some("forcibly killing");
            vec![Claim::new(What::Hardware(if kill { Poison::Kill } else { Poison::Bus }), victim(c))]
        },
        samples: &[
            "MCE 0x3365: Killing pt_data_worker:162 due to hardware memory corruption",
            "Memory failure: 0x3365: Killing pt_data_worker:162 due to hardware memory corruption",
            "Memory failure: 0x3365: Sending SIGBUS to pt_data_worker:162 due to hardware memory corruption",
            "MCE: Killing pt_data_worker:125 due to hardware memory corruption fault at 7fca3afd6000",
            "Memory failure: 0x3365: forcibly killing qemu-kvm:162 because of failure to unmap corrupted page",
        ],
        near_misses: &["Memory failure: 0x3365: Error sending signal to pt_data_worker:162: -3"],
    },
    // mm/memory-failure.c, 4.4 and later. On arm64 this is the only line of a SIGBUS for a faulty page.
    Pattern {
        id: "kernel/poison-page",
        witness: Witness::Kernel,
        stems: &["recovery action for "],
        regex: r"^(?:MCE|Memory failure:) 0x[[:xdigit:]]+: recovery action for .+: (?:Recovered|Delayed|Failed|Ignored)",
        read: |_| vec![Claim::bare(What::Hardware(Poison::Page))],
        samples: &["Memory failure: 0x3365: recovery action for dirty LRU page: Recovered"],
        near_misses: &["recovery action for checkpoint 12: Failed"],
    },
    // x86 (arch/x86/kernel/cpu/mce/core.c).
    Pattern {
        id: "kernel/mce-uncorrected",
        witness: Witness::Kernel,
        stems: &["Uncorrected hardware memory error in user-access"],
        regex: r"^(?:mce: )?Uncorrected hardware memory error in user-access at [[:xdigit:]]+",
        read: |_| vec![Claim::bare(What::Hardware(Poison::Uncorrected))],
        samples: &["mce: Uncorrected hardware memory error in user-access at 3f1e2d4c80"],
        near_misses: &["mce: [Hardware Error]: Machine check events logged"],
    },
    // x86, all versions. Bit 61 of the bank's status says whether the error was left uncorrected.
    Pattern {
        id: "kernel/mce-bank",
        witness: Witness::Kernel,
        stems: &["Machine Check: ", "Machine Check Exception: "],
        regex: r"^(?:mce: )?\[Hardware Error\]: CPU \d+: Machine Check(?: Exception)?: [[:xdigit:]]+ Bank \d+: (?<status>[[:xdigit:]]+)",
        read: |c| {
            let status = c.get("status").and_then(|hex| u64::from_str_radix(hex, 16).ok());
            let kind = |status: u64| if status & (1 << 61) == 0 { Poison::Corrected } else { Poison::Uncorrected };
            status.map(kind).map(What::Hardware).map(Claim::bare).into_iter().collect()
        },
        samples: &[
            "mce: [Hardware Error]: CPU 2: Machine Check: 0 Bank 7: 8c00004000010092",
            "mce: [Hardware Error]: CPU 10: Machine Check Exception: 5 Bank 1: bd80000000100134",
        ],
        near_misses: &["mce: [Hardware Error]: Machine check events logged"],
    },
    // EDAC drivers and APEI, all versions: CE is corrected and harmless, UE is not.
    Pattern {
        id: "kernel/edac",
        witness: Witness::Kernel,
        stems: &["EDAC MC", " CE memory", " UE memory", "[Hardware Error]: event severity: "],
        regex: r"^(?:EDAC (?:\S+ )?MC\d+: \d+ (?<kind>CE|UE) |\{\d+\}\[Hardware Error\]: event severity: (?<severity>corrected|recoverable|fatal))",
        read: |c| {
            let corrected = c.get("kind") == Some("CE") || c.get("severity") == Some("corrected");
            vec![Claim::bare(What::Hardware(if corrected { Poison::Corrected } else { Poison::Uncorrected }))]
        },
        samples: &[
            "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#0_DIMM#0 (channel:0 slot:0 page:0x3365 offset:0x0 grain:32)",
            "EDAC MC1: 1 UE memory scrubbing error on CPU_SrcID#1_MC#0_Chan#2_DIMM#0 (channel:2 slot:0)",
            "{1}[Hardware Error]: event severity: corrected",
            "{3}[Hardware Error]: event severity: recoverable",
        ],
        near_misses: &["EDAC MC: Ver: 3.0.0", "EDAC sbridge: Seeking for: PCI ID 8086:6fa0"],
    },
    // NVIDIA's driver; the pid is the host's and `<unknown>` in many Xids, `name` in newer drivers.
    Pattern {
        id: "kernel/xid",
        witness: Witness::Kernel,
        stems: &["NVRM: Xid ("],
        regex: r"^NVRM: Xid \([^)]*\): (?<xid>\d+)(?:, pid='?(?:(?<pid>\d+)|<unknown>)'?)?(?:, name=(?:<unknown>|(?<comm>[^,]+)))?(?:, |$)",
        read: |c| vec![Claim::new(What::Gpu { xid: c.num("xid") }, victim(c))],
        samples: &[
            "NVRM: Xid (PCI:0000:b4:00): 31, pid=2924364, name=pt_main_thread, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS",
            "NVRM: Xid (PCI:0000:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            "NVRM: Xid (PCI:0000:0a:00): 48, An uncorrectable double bit error (DBE) has been detected",
        ],
        near_misses: &["NVRM: loading NVIDIA UNIX x86_64 Kernel Module  535.54.03"],
    },
    // AMD's driver (amdgpu_device.c, Linux 4.15 and later), whatever hung: the memory of the card is lost to all who use it.
    Pattern {
        id: "kernel/amdgpu-reset",
        witness: Witness::Kernel,
        stems: &["GPU reset begin!"],
        regex: r"^amdgpu [0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.\d: (?:amdgpu: )?GPU reset begin!(?:\. Source: +\d+)?\s*$",
        read: |_| vec![Claim::bare(What::Gpu { xid: None })],
        samples: &[
            "amdgpu 0000:03:00.0: amdgpu: GPU reset begin!",
            "amdgpu 0000:00:01.0: GPU reset begin!",
            "amdgpu 0000:83:00.0: amdgpu: GPU reset begin!. Source:  4",
        ],
        near_misses: &["amdgpu 0000:03:00.0: amdgpu: GPU reset(1) succeeded!", "    \"GPU reset begin!\","],
    },
];
