//! The kernel's lines on faults and systemd's on cores, joined to the deaths that programs tell of: faulty memory, huge pages,
//! segfaults.

use crate::death::identity::{Relation, clocks, compare, plausible};
use crate::death::{Death, merge_who};
use crate::fact::{What, Who, Witness};
use crate::units::Signal;

/// The numbers of NVIDIA's driver after which a mapped device is gone or its memory is bad.
const LOST: [u32; 8] = [48, 62, 64, 79, 94, 95, 119, 154];

/// How far the driver's word and the end of a process that used the device may be apart, in seconds.
const SOON: f64 = 30.0;

/// Merges a lost GPU that the kernel tells of into the deaths by SIGBUS, SIGSEGV and SIGABRT right after it: the mappings of a
/// device that is gone cannot be touched.
pub(in crate::death) fn devices(deaths: &mut Vec<Death>) {
    // A reset of AMD's driver has no number.
    let lost = |w: &What| matches!(w, What::Gpu { xid } if xid.is_none_or(|xid| LOST.contains(&xid)));
    let by_driver = |d: &Death| d.facts.iter().all(|f| matches!(f.what, What::Gpu { .. }) && f.witness == Witness::Kernel);
    let mut at = 0;
    while at < deaths.len() {
        let gone = &deaths[at];
        let first = gone.find(lost).and_then(|f| f.when.or(f.boot)).filter(|_| by_driver(gone));
        let victim = first.and_then(|first| {
            deaths.iter().position(|d| {
                let crashed = matches!(d.signal, Some(Signal::BUS | Signal::SEGV | Signal::ABRT));
                let place = Who { host_pid: None, process: None, ..gone.who.clone() };
                let near = clocks(d, &[first]).0.is_some_and(|gap| gap.seconds <= SOON);
                crashed && near && d.hint().is_none() && !matches!(compare(&d.who, &place), Relation::Other(_))
            })
        });
        match victim {
            Some(victim) => {
                let facts = std::mem::take(&mut deaths[at].facts);
                deaths[victim].facts.extend(facts);
                deaths.remove(at);
            }
            None => at += 1,
        }
    }
}

/// Whether a death is known from the kernel's word on a fault alone.
fn is_fault(death: &Death) -> bool {
    death.facts.iter().all(|f| matches!(f.what, What::Hardware(_) | What::Trapped { .. }))
}

/// Whether it is known only that a process left a core, as systemd-coredump says of the machine's pid.
fn is_core(death: &Death) -> bool {
    death.vanished() && death.who.host_pid.is_some() && death.who.process.is_some() && death.who.own_pid.is_none()
}

/// Merges each fault, and the word on each core, into the death of the same process: the same signal, and the same pid in one pid namespace or the same
/// program at the same time.
pub(in crate::death) fn faults(deaths: &mut Vec<Death>) {
    let mut at = 0;
    while at < deaths.len() {
        let known = |d: &Death| !is_fault(d) && !is_core(d);
        let told = is_fault(&deaths[at]) || is_core(&deaths[at]);
        let target = told.then(|| deaths.iter().position(|d| known(d) && belongs(&deaths[at], d))).flatten();
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
    // A core tells no signal, and not every signal leaves one.
    let dumps = matches!(death.signal, Some(Signal::BUS | Signal::SEGV | Signal::ABRT | Signal(4 | 5 | 8)));
    let signals_agree = if is_core(fault) { dumps } else { death.signal == fault.signal };
    if !signals_agree || far.is_some() || matches!(compare(&death.who, &place), Relation::Other(_)) {
        return false;
    }
    let process = fault.who.process.as_deref().unwrap_or_default();
    let same_number = match (fault.who.host_pid, death.who.own_pid) {
        (Some(host), Some(own)) => host.0 == own.0,
        _ => false,
    };
    let named = !process.is_empty() && plausible(death, process);
    if is_core(fault) {
        return same_number && named;
    }
    (same_number && (named || process.is_empty())) || (named && near.is_some_and(|gap| gap.sure))
}
