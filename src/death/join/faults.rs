//! The kernel's lines on faults, joined to the deaths that programs tell of: faulty memory, huge pages, segfaults.

use crate::death::identity::{Relation, clocks, compare, plausible};
use crate::death::{Death, merge_who};
use crate::fact::{What, Who};

/// Whether a death is known from the kernel's word on a fault alone.
fn is_fault(death: &Death) -> bool {
    death.facts.iter().all(|f| matches!(f.what, What::Hardware(_) | What::Trapped { .. }))
}

/// Merges each fault into the death of the same process: the same signal, and the same pid in one pid namespace or the same
/// program at the same time.
pub(in crate::death) fn faults(deaths: &mut Vec<Death>) {
    let mut at = 0;
    while at < deaths.len() {
        let target = is_fault(&deaths[at]).then(|| deaths.iter().position(|d| !is_fault(d) && belongs(&deaths[at], d))).flatten();
        let Some(target) = target else {
            at += 1;
            continue;
        };
        let fault = deaths.remove(at);
        let target = if target > at { target - 1 } else { target };
        let death = &mut deaths[target];
        merge_who(&mut death.who, &fault.who);
        death.facts.extend(fault.facts);
    }
}

fn belongs(fault: &Death, death: &Death) -> bool {
    let times: Vec<_> = fault.facts.iter().flat_map(|f| [f.when, f.boot]).flatten().collect();
    let (near, far) = clocks(death, &times);
    let place = Who { host_pid: None, ..fault.who.clone() };
    if death.signal != fault.signal || far.is_some() || matches!(compare(&death.who, &place), Relation::Other(_)) {
        return false;
    }
    let process = fault.who.process.as_deref().unwrap_or_default();
    let same_number = match (fault.who.host_pid, death.who.own_pid) {
        (Some(host), Some(own)) => host.0 == own.0,
        _ => false,
    };
    let named = !process.is_empty() && plausible(death, process);
    (same_number && (named || process.is_empty())) || (named && near.is_some_and(|gap| gap.sure))
}
