//! The roots of the stems: short pieces that are rare in the logs of healthy jobs, of which at least one stands in every stem.
//!
//! They are what a large input is searched for. At most 64 fit into one pass: above that number the search falls back, in
//! silence, to an automaton ten times slower (aho-corasick 1.1). Chosen by a greedy cover of all stems, weighed by how often
//! a piece stands in lines of the fixtures that say nothing; a test names a stem that has no root.

/// The roots of each pass.
#[rustfmt::skip]
pub(super) const ROOTS: [&[&str]; 4] = [
    &[
        "  Up", " Job", " RAM", " SIG", " code", " error", " event", " is ", " run ", " status", "(-n) ", "(-u) ",
        "(PID", "(blocks", "(limit", "(pid", "(return", "*** ", "-- Boot ", "-- Reboot", "-d: da", "-l: lo", ".error",
        "00 20", "30 20", "45 20", ": li", ": rad", ": ri", "COMMAND=", "Cannot", "Cause", "Check:", "Comm:",
        "Container", "Created", "DAMN", "EDAC", "Ended", "Errno", "Erro", "Evicted", "Exit", "Fail", "File ", "Free",
        "ImagePull", "Interrupt", "MSK 20", "Max ", "Mem:", "NCELLED", "NPROC", "OBAL_RANK:", "OOM ", "PID:", "Pod:",
        "RAM:", "RUNNING AT", "Replicas", "Result:",
    ],
    &[
        "Shared", "Stop", "T 20", "TOP-1", "Terminatin", "The ", "UCCESS", "UTC 20", "Usage", "VRM:", "WIB 20", "Work",
        "XIT CODE", "YCLE", "YOUR", "] trap", "_EXHAUSTED", "_SIZE", "_STATUS_AL", "_WORKERS", "abit", "actor's",
        "baris", "bort", "cache ", "can't", "ceed", "ciso", "container ", "crash", "create ", "d_alloc", "ddress sp",
        "dead", "dev/", "due to", "ed by", "eile", "esse", "estarting", "etermine the", "failed", "file ", "fork:",
        "g for clients", "gmen", "gpus", "has ", "heartbeat", "hler", "ied ", "ighilte", "ignal", "ijen", "illed",
        "imed out", "insufficient", "ize ", "journal", "kbytes", "kill:",
    ],
    &[
        "lcnt", "linha", "llegal", "lling", "max data", "max num", "memory al", "message", "missing", "mum time",
        "naccessibl", "ncdata", "neral", "nice", "nofiles", "non ", "none ", "nough", "nranks", "ob_id=", "ocal_rank:",
        "of mem", "oom-kill", "opped", "orch:", "orld", "orto", "ost ", "per_", "pettu", "pin_memory", "pm ERR",
        "pochs", "pod(s)", "ppear", "pped:", "present", "probe", "py in", "r-node", "raining", "raithe", "raro",
        "rc=-", "rc=1", "rc=2", "rch ", "rch=", "recovery", "redak", "reempted", "refetch", "regel", "request",
        "reset by", "right", "rkers", "rminated", "rncode", "rocess ", "rreur",
    ],
    &[
        "rss ", "running ", "sacrifice", "segfault", "served", "sharing", "shm_", "shmem", "sor:", "space left",
        "sr 0x", "tado", "tainer.cc", "tal swap", "task", "tats", "tch-size", "tch_size", "tcp/", "ting with", "tive_",
        "torch-", "torch_", "total_vm", "type=", "ueue.", "ully", "um_worker", "umped", "unable", "uncated", "unmap",
        "untered", "untime':", "unuh", "us-fejl", "usfout", "ussfe", "version", "vodila", "vrstica", "with result",
        "workflow:", "x0000", "xception", "xhausted: ", "xit ", "xitCode", "xit_code", "xit_status", "xitcode",
        "xited", "xpired", "y limit", "ylitys", "ymous_page", "ython-inpu", "zhiba", "zsh:",
    ],
];

/// Stems too short to have a root of four letters, in a pass of their own, as the shortest literal of a pass sets its pace; and
/// how journald writes a message that is not UTF-8 into JSON, as a list of numbers in which no stem can be seen.
pub(super) const SHORT: &[&str] = &["% /", "^C", NUMBERS[0], NUMBERS[1]];

/// The beginnings of such lists, as journalctl writes them and as tools write them anew.
pub(super) const NUMBERS: [&str; 2] = ["\"MESSAGE\":[", "\"MESSAGE\": ["];

/// The stem of rows that stand below a heading with a root; the reading of lines goes on below it (`line::assemble`). Progress
/// bars and tables are full of it, so it is not searched for.
pub(super) const BELOW: &str = "         ";
