//! Joins: which container record, kernel report and sender belongs to which death, strongest join first.

mod containers;
mod faults;
mod reports;
mod senders;

pub(super) use containers::containers;
pub(super) use faults::{devices, faults};
pub(super) use reports::{limits, reports};
pub(super) use senders::senders;
