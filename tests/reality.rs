//! The formula against real PyTorch: two settings of `benches/shm/measure.py`, where the machine can run them.
//!
//! It needs root (each run has a /dev/shm of its own) and a Python with PyTorch: the one that `CORONER_PYTHON` names, else
//! `python3`. With `CORONER_TORCH=1` a machine that cannot run it fails the test; otherwise it says why it is skipped.

use std::process::Command;

/// What the script ends with where the machine cannot run it.
const SKIPPED: i32 = 77;

#[test]
fn the_formula_is_enough_and_not_much_more() {
    let wanted = std::env::var_os("CORONER_TORCH").is_some_and(|value| value == "1");
    let python = std::env::var("CORONER_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/shm/measure.py");
    let run = Command::new(&python).args([script, "--short", "--coroner", env!("CARGO_BIN_EXE_coroner")]).output();
    let skip = |why: &str| {
        assert!(!wanted, "CORONER_TORCH=1, but {why}");
        eprintln!("skipped: {why}");
    };
    let output = match run {
        Ok(output) => output,
        Err(error) => return skip(&format!("{python} cannot be started: {error}")),
    };
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    match output.status.code() {
        Some(SKIPPED) => skip(said.trim().trim_start_matches("skipped: ")),
        code => {
            println!("{said}");
            assert_eq!(code, Some(0), "{said}{errors}");
            assert_eq!(said.lines().filter(|line| line.starts_with("| ") && line.contains(',')).count(), 2, "{said}");
        }
    }
}
