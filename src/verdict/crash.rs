//! Rules for other signals: crashes, requests to end, and faults of the memory hardware.

use super::says::{sentence, subject};
use super::{Cause, Finding, Grade};
use crate::death::{Context, Death};
use crate::fact::{ContainerEvent, Poison, What, Why};
use crate::units::Signal;

/// The kernel says that memory itself was faulty.
pub(super) fn hardware(death: &Death, _: &Context) -> Option<Finding> {
    let fact = death.find(|w| matches!(w, What::Hardware(poison) if *poison != Poison::Corrected))?;
    let text = match fact.what {
        What::Hardware(Poison::Page) => {
            "The kernel found a faulty page of memory; a process that used it dies of SIGBUS.".to_owned()
        }
        _ => sentence(&format!("{} was ended by the kernel because of faulty memory.", subject(death))),
    };
    Some(Finding::new(Cause::HwMemoryError, Grade::Proven, text).because(fact, "the kernel names faulty memory"))
}

/// Signals that say themselves what kind of end it was.
pub(super) fn by_signal(death: &Death, _: &Context) -> Option<Finding> {
    let signal = death.signal?;
    let who = subject(death);
    // Who aborts for a reason that was told is judged by the reason.
    let told = |what: &What| {
        matches!(
            what,
            What::TimedOut { .. }
                | What::Gpu { .. }
                | What::Nccl
                | What::Stopped { why: Why::Watchdog, signal: Some(Signal::ABRT), .. }
        )
    };
    if signal == Signal::ABRT && death.find(told).is_some() {
        return None;
    }
    let (cause, text) = match signal {
        Signal::SEGV => (Cause::Segfault, format!("{who} crashed in native code (SIGSEGV).")),
        Signal::ABRT => {
            (Cause::Abort, format!("{who} aborted (SIGABRT): a failed assertion, an uncaught C++ exception or a runtime check."))
        }
        Signal::TERM => {
            let asked = death.event(|e| matches!(e, ContainerEvent::Kill(Signal::TERM) | ContainerEvent::Stopped)).is_some();
            let by = death.find(|w| matches!(w, What::Stopped { .. }));
            let sender = match (by.map(|f| &f.what), asked) {
                (Some(What::Stopped { by, .. }), _) => format!(" by {by}"),
                (_, true) => " by the container engine".to_owned(),
                _ => String::new(),
            };
            (Cause::Sigterm, format!("{who} was asked to end with SIGTERM{sender}; that is no lack of memory."))
        }
        Signal::INT | Signal(1) => (Cause::Interrupted, format!("{who} was interrupted ({signal}).")),
        Signal(4 | 5 | 8) => (Cause::Other, format!("{who} crashed in native code ({signal}).")),
        Signal::KILL | Signal::BUS => return None,
        other => (Cause::Other, format!("{who} was ended by {other}.")),
    };
    Some(Finding::new(cause, Grade::Proven, sentence(&text)))
}
