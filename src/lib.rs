//! `coroner` reads what a dead training job left behind and says why its processes died.
//!
//! # The six nouns
//!
//! **Source → Line or Record → Fact → Death → Verdict → Report.** Each is a floor; lower floors never import higher ones.
//!
//! | floor | modules | makes |
//! |---|---|---|
//! | 0 | [`units`], [`time`], [`place`], [`note`] | values |
//! | 1 | [`input`], [`mod@line`], [`fact`], [`seen`] | sources, lines without their envelopes, the vocabulary of claims |
//! | 2 | [`patterns`], [`records`] | claims, from lines and from documents |
//! | 3 | [`read`] | facts: claims with their evidence |
//! | 4 | [`death`] | deaths: all facts about one dead process |
//! | 5 | [`verdict`] | causes, with what speaks for and against them |
//! | 6 | [`remedy`] | what to do, and the sizing formula |
//! | 7 | [`report`] | the only thing a renderer sees, and the renderers |
//! | 8 | [`examine`], [`context`] | the whole way of one incident, and the lines around its evidence |
//! | 9 | [`scan`] | many incidents, in parallel |
//! | 10 to 12 | `output`, `follow`, `tee`, `interrupt`, `explain`, `inputs`, `size`, then `pipe`, `cli`, then this file, `outputs`, `main` | wiring |
//!
//! # Invariants
//!
//! 1. Judging never sees text: from `death` upwards quoted text is only carried. What is compared there was read as a value:
//!    the name of a program, an exception, a function or a source file.
//! 2. Reading never judges: a pattern says what a line says.
//! 3. Reading never fails: any bytes give facts and notes.
//! 4. Patterns hold no state: what spans lines is put together in `death`, but for what one writer tore apart or put below a
//!    heading, which `line` does.
//! 5. No evidence without a place.
//! 6. The class follows from the cause.
//! 7. Unknown is a result: it is what remains, and it says what is lacking.
//! 8. A [`units::HostPid`] is no [`units::OwnPid`]; joining them takes a named join.
//! 9. Each dependency has its address (`tests/house.rs`).
//! 10. Domain types are not serializable; `report::json` holds frozen twins.
//! 11. What is passed over says nothing. Behind its beginning a large input is searched for the stems of the patterns
//!     (`patterns::index`); `line::sieve` reads only the lines that hold one and what their reading depends on, and `line::ahead`
//!     searches on other threads.

pub mod context;
pub mod death;
pub mod examine;
pub mod fact;
pub mod input;
pub mod line;
pub mod note;
pub mod patterns;
pub mod place;
pub mod read;
pub mod records;
pub mod remedy;
pub mod report;
pub mod scan;
pub mod seen;
pub mod time;
pub mod units;
pub mod verdict;
