//! The clock of the machine, as a script prints it: `date` with a zone gives the zone of what stands below it without one.

use super::{Caps, Pattern};
use crate::fact::{Claim, What, Witness};
use crate::time;

fn clock(c: &Caps<'_>) -> Vec<Claim> {
    let told = c.get("date").and_then(time::date);
    told.map(|(at, offset)| Claim::bare(What::Clock { at, offset })).into_iter().collect()
}

pub(super) const TABLE: &[Pattern] = &[
    // coreutils and busybox `date`, any version, alone or behind a few words of a script. The regex takes any word for a zone;
    // only those that mean one offset are read (`crate::time::date`).
    Pattern {
        id: "clock/date",
        witness: Witness::Program,
        // In a large log the zone of most words is not looked for: these stems are short, and longer ones are in every stamp.
        stems: &["T 20", "00 20", "30 20", "45 20", "UTC 20", "MSK 20", "WIB 20"],
        regex: r"^(?:[A-Z#=+*-][\w #=*-]{0,40}(?:: | at | on ))?(?<date>(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (?:[A-Z][a-z]{2} [ \d]?\d|[ \d]?\d [A-Z][a-z]{2}) \d\d:\d\d:\d\d (?:[AP]M )?(?:[A-Z]{3,5}|[+-]\d{4}) \d{4})(?:\s|$)",
        read: clock,
        samples: &[
            "Tue Dec  1 12:08:25 UTC 2026",
            "Tue Dec  1 12:08:25 JST 2026",
            "Tue Dec  1 12:08:25 WIB 2026",
            "Tue Dec  1 12:08:25 PM CEST 2026",
            "Mon Nov 30 14:30:01 +0800 2026 start on ai-box",
            "Job started at: Tue  1 Dec 12:08:25 -0500 2026",
        ],
        // CST is the time of China, of the middle of America and of Cuba.
        near_misses: &["Tue Dec  1 12:08:25 CST 2026", "Tue Dec  1 12:08:25 2026", "Tue Dec  1 12:08 UTC 2026"],
    },
];
