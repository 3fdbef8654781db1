//! The numbers of the kernel's OOM report: cgroup statistics, the task table, Mem-Info, and the stack of the trigger.
//!
//! A record of many lines (statistics to 6.4, Mem-Info in all versions) arrives as lines or, from syslog and /dev/kmsg, as
//! one line joined by `#012` or `\x0a`; both are read.

use super::{Caps, Pattern};
use crate::fact::{Claim, OomLine, What, Who, Witness};
use crate::units::Bytes;

fn oom(line: OomLine) -> Vec<Claim> {
    vec![Claim::bare(What::Oom(line))]
}

/// The parts of a record whose line feeds a log daemon escaped.
fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').flat_map(|part| part.split("#012")).flat_map(|part| part.split("\\x0a")).flat_map(|part| part.split("\\n"))
}

/// The statistics that tell anonymous memory, shared memory and page cache apart.
const KEYS: [&str; 13] = [
    "anon",
    "file",
    "shmem",
    "cache",
    "rss",
    "inactive_anon",
    "active_anon",
    "inactive_file",
    "active_file",
    "mapped_file",
    "file_mapped",
    "kernel_stack",
    "pagetables",
];

/// As many of them begin a record, or stand in a line of their own that is worth reading.
const FIRST: usize = 9;

fn stats(c: &Caps<'_>) -> Vec<Claim> {
    let pair = |part: &str| {
        let (key, value) = part.trim().split_once(' ')?;
        let value = Bytes(value.parse().ok()?);
        let known = KEYS.iter().position(|known| *known == key.strip_prefix("total_").unwrap_or(key))?;
        Some((known, Claim::bare(What::Oom(OomLine::Stat { key: key.to_owned(), value }))))
    };
    let mut pairs = parts(&c.line.text).map(pair);
    match pairs.next().flatten() {
        Some((known, first)) if known < FIRST => std::iter::once(first).chain(pairs.flatten().map(|(_, claim)| claim)).collect(),
        _ => Vec::new(),
    }
}

fn stats_for(c: &Caps<'_>) -> Vec<Claim> {
    let Some(path) = c.text("path") else { return Vec::new() };
    let pair = |word: &str| {
        let (key, value) = word.split_once(':')?;
        Some((key.to_owned(), Bytes::kib(value.strip_suffix("KB")?.parse().ok()?)))
    };
    let pairs = c.get("pairs").map_or_else(Vec::new, |pairs| pairs.split_whitespace().filter_map(pair).collect());
    vec![Claim::new(What::Oom(OomLine::StatsFor { path: path.clone(), pairs }), Who { cgroup: Some(path), ..Who::default() })]
}

/// The counters of Mem-Info that say who filled the machine; all are in pages.
fn pages(c: &Caps<'_>) -> Vec<Claim> {
    let text = c.line.text.as_ref();
    let words = parts(text).flat_map(str::split_whitespace);
    let counter = |word: &str| {
        let (key, value) = word.split_once(':')?;
        let wanted = ["active_anon", "inactive_anon", "active_file", "inactive_file", "shmem"].contains(&key);
        let value = value.parse().ok()?;
        wanted.then(|| What::Oom(OomLine::MemInfo { key: key.to_owned(), value, kib: false }))
    };
    words.filter_map(counter).map(Claim::bare).collect()
}

fn row(c: &Caps<'_>) -> Vec<Claim> {
    // The name of a process may begin with digits, which then stand at the end of the numbers.
    let (numbers, digits) = c.get("numbers").and_then(|numbers| numbers.rsplit_once(' ')).unwrap_or_default();
    let numbers: Option<Vec<i64>> = numbers.split_ascii_whitespace().map(|number| number.parse().ok()).collect();
    let name = format!("{digits}{}", c.get("name").unwrap_or_default());
    let (Some(pid), Some(numbers)) = (c.num("pid"), numbers.filter(|numbers| (7..=10).contains(&numbers.len()))) else {
        return Vec::new();
    };
    if name.is_empty() {
        return Vec::new();
    }
    // `pid` is the thread that was looked at, `tgid` the process.
    let tgid = numbers.get(1).and_then(|tgid| u32::try_from(*tgid).ok());
    let values = std::iter::once(pid).chain(numbers).collect();
    vec![Claim::new(What::Oom(OomLine::TableRow { values }), Who::host(tgid, Some(name)))]
}

/// The wordings of the report's numbers.
pub(super) const TABLE: &[Pattern] = &[
    // To 5.2 all pairs stand behind the path, one line for each cgroup of the subtree (`shmem` from 4.12); from 5.3 the line
    // is just the heading. A path may hold colons (containerd with mixed cgroup drivers).
    Pattern {
        id: "kernel/stats-for",
        witness: Witness::Kernel,
        stems: &["Memory cgroup stats for "],
        regex: r"^Memory cgroup stats for (?<path>/\S*?):?(?:\s*\b(?<pairs>cache:\d+KB .*))?\s*$",
        read: stats_for,
        samples: &[
            "Memory cgroup stats for /grp:",
            "Memory cgroup stats for /system.slice/containerd.service/kubepods-burstable-pod1_2.slice:cri-containerd:3f1e:",
            "Memory cgroup stats for /machine.slice:cache:402110KB rss:16302044KB rss_huge:9011200KB shmem:120KB mapped_file:61020KB dirty:0KB writeback:0KB swap:0KB inactive_anon:120KB active_anon:16302010KB inactive_file:300110KB active_file:101880KB unevictable:0KB",
            "Memory cgroup stats for /docker/be82: cache:96KB rss:130976KB rss_huge:57344KB mapped_file:72KB inactive_anon:0KB active_anon:130932KB inactive_file:72KB active_file:16KB unevictable:0KB",
        ],
        near_misses: &["Memory cgroup stats for the job are printed below"],
    },
    // Linux 5.3 and later: bytes. cgroup v1 has v2's names to 6.4 and its own from 6.5, where the plain keys count one cgroup
    // alone and `total_` the subtree.
    Pattern {
        id: "kernel/stat",
        witness: Witness::Kernel,
        // `rss` alone is too short to be looked for in a large log; `rss_huge` stands below it, and brings the line before.
        stems: &[
            "anon 0", "anon 1", "anon 2", "anon 3", "anon 4", "anon 5", "anon 6", "anon 7", "anon 8", "anon 9", "file 0",
            "file 1", "file 2", "file 3", "file 4", "file 5", "file 6", "file 7", "file 8", "file 9", "shmem ", "cache ",
            "l_rss ", "rss_huge", "rss 1", "rss 2", "rss 3", "rss 4", "rss 5", "rss 6", "rss 7", "rss 8", "rss 9",
        ],
        regex: r"^\s*[a-z_]+ \d+(?:[\s#\\][^\n]*)?$",
        read: stats,
        samples: &[
            "anon 53248",
            "             shmem 66834432",
            "total_cache 0",
            "total_rss 83456000",
            "inactive_file 0",
            "anon 49152#012file 66846720#012kernel 212992#012kernel_stack 0#012shmem 66846720#012workingset_ref",
            "cache 0",
        ],
        near_misses: &["file 3 of 12", "@@stat anon 0 file 0 shmem 0 inactive_anon 0 ", "rss 83456000 bytes", "cache 512MB"],
    },
    // All versions: the columns differ (`cpu oom_adj` in 2.6.32, `nr_ptes` from 3.10, `nr_pmds` from 4.4, `pgtables_bytes` from
    // 4.15, `rss_anon rss_file rss_shmem` from 6.8), so rows are read by this head.
    Pattern {
        id: "kernel/table-head",
        witness: Witness::Kernel,
        stems: &["total_vm"],
        regex: r"^\[\s*pid\s*\]\s+(?<columns>uid\s+tgid\s+total_vm\s+rss\s.*\bname)\s*$",
        read: |c| {
            let columns = c.get("columns").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
            oom(OomLine::TableHead { columns })
        },
        samples: &[
            "[ pid ]   uid  tgid total_vm      rss cpu oom_adj oom_score_adj name",
            "[ pid ]   uid  tgid total_vm      rss nr_ptes nr_pmds swapents oom_score_adj name",
            "[  pid  ]   uid  tgid total_vm      rss rss_anon rss_file rss_shmem pgtables_bytes swapents oom_score_adj name",
        ],
        near_misses: &["columns: [ pid ] uid tgid total_vm rss name"],
    },
    // All versions. The kernel prints nine blanks before `oom_score_adj`; there is no word to find a row by.
    Pattern {
        id: "kernel/table-row",
        witness: Witness::Kernel,
        // The format has nine blanks before the column of scores. Rows are read below their heading, which `line` keeps open.
        stems: &[super::gate::BELOW],
        regex: r"^\[\s*(?<pid>\d+)\] (?<numbers>[ \d-]+)(?<name>[^ \d-].*)?$",
        read: row,
        samples: &[
            "[  14467]     0 14467    15946    15574    15296      278         0   159744        0             0 pt_data_worker",
            "[32470]     0 32470  1198447    35811     113        0             0 java",
            "[ 1242]     0  1242     2718      200   0       0             0 dhclient",
            "[   3702]     0  3702      256        1    57344        0          -998 pause",
        ],
        near_misses: &["[  12]     0.25  1.5  3       4         5 6 7 8 9 x", "[ 2690]         0 of 10"],
    },
    // All versions, one record of several lines, global OOM and page allocation failures (mm/show_mem.c).
    Pattern {
        id: "kernel/mem-info",
        witness: Witness::Kernel,
        stems: &["active_anon:", "active_file:", " shmem:", "mapped:"],
        regex: concat!(
            r"^\s*(?:active_anon:\d+ inactive_anon:\d+ isolated_anon:\d+|active_file:\d+ inactive_file:\d+ isolated_file:\d+",
            r"|mapped:\d+ shmem:\d+ pagetables:\d+).*$"
        ),
        read: pages,
        samples: &[
            "active_anon:3 inactive_anon:54495 isolated_anon:0",
            " active_file:0 inactive_file:0 isolated_file:0",
            " mapped:573 shmem:53175 pagetables:26",
            "active_anon:60300 inactive_anon:7525 isolated_anon:0\\x0a active_file:101 inactive_file:123 isolated_file:0\\x0a mapped:524 shmem:825 pagetables:450 bounce:0\\x0a free:4440",
        ],
        near_misses: &[
            "Node 0 active_anon:12kB inactive_anon:217980kB active_file:0kB inactive_file:0kB mapped:2292kB shmem:212700kB",
        ],
    },
    // All versions.
    Pattern {
        id: "kernel/mem-pages",
        witness: Witness::Kernel,
        stems: &[" pages RAM", " pages reserved"],
        regex: r"^(?<value>\d+) (?<key>pages RAM|pages reserved)\s*$",
        read: |c| match (c.text("key"), c.num("value")) {
            (Some(key), Some(value)) => oom(OomLine::MemInfo { key, value, kib: false }),
            _ => Vec::new(),
        },
        samples: &["81790 pages RAM", "18439 pages reserved"],
        near_misses: &["0 pages cma reserved", "0 pages HighMem/MovableOnly"],
    },
    // All versions with swap support.
    Pattern {
        id: "kernel/mem-swap",
        witness: Witness::Kernel,
        stems: &["Free swap", "Total swap"],
        regex: r"^(?<key>Free swap|Total swap)\s*= (?<value>\d+)kB\s*$",
        read: |c| match (c.text("key"), c.num("value")) {
            (Some(key), Some(value)) => oom(OomLine::MemInfo { key, value, kib: true }),
            _ => Vec::new(),
        },
        samples: &["Free swap  = 0kB", "Total swap = 2097148kB"],
        near_misses: &["Free swap space = 10 GB"],
    },
    // A frame of the trigger's stack; frames with `?` are leftovers of earlier calls. To 4.8 an address stands before the name.
    Pattern {
        id: "kernel/oom-stack",
        witness: Witness::Kernel,
        stems: &["shmem_", "do_anonymous_page"],
        regex: r"^\s*(?:\[<[[:xdigit:]]+>\] )?(?<function>shmem_\w+|do_anonymous_page)(?:\.\w+)*\+0x[[:xdigit:]]+/0x[[:xdigit:]]+",
        read: |c| c.text("function").map_or_else(Vec::new, |function| oom(OomLine::Stack { function })),
        samples: &[
            " shmem_fault+0x86/0x2f0",
            "do_anonymous_page+0x220/0xaa0",
            " [<ffffffff8173ba0d>] shmem_getpage_gfp+0x19/0x1b",
        ],
        near_misses: &[" ? shmem_file_write_iter+0x5b/0x90", "shmem_fault is called for tmpfs"],
    },
];
