//! coroner
#![allow(missing_docs, dead_code, unused_imports)]
pub mod death;
pub mod fact;
pub mod input;
pub mod line;
pub mod note;
pub mod patterns;
pub mod place;
pub mod records;
pub mod remedy;
pub mod report;
pub mod seen;
pub mod time;
pub mod units;
pub mod verdict;
