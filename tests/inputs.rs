//! The table of inputs in the README is the one that the program prints.

use std::fs;

use assert_cmd::Command;

/// How the block is marked.
const MARKS: [&str; 2] = ["<!-- inputs:begin -->", "<!-- inputs:end -->"];

fn printed(arguments: &[&str]) -> String {
    let output = Command::cargo_bin("coroner").expect("cargo builds it").args(arguments).output().expect("it runs");
    assert!(output.status.success());
    String::from_utf8(output.stdout).expect("what is printed is text")
}

#[test]
fn the_readme_holds_the_table_of_inputs() {
    let Ok(readme) = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")) else { return };
    let block = readme.split_once(MARKS[0]).and_then(|(_, rest)| rest.split_once(MARKS[1])).map(|(block, _)| block.trim());
    let table = printed(&["explain", "--inputs", "--markdown"]);
    assert!(
        block == Some(table.trim()),
        "README.md must hold the table of inputs between {} and {}; print it with `coroner explain --inputs --markdown`",
        MARKS[0],
        MARKS[1]
    );
}

#[test]
fn the_list_for_a_terminal_names_the_same_inputs() {
    let list = printed(&["explain", "--inputs"]);
    let table = printed(&["explain", "--inputs", "--markdown"]);
    for row in table.lines().skip(2) {
        let name = row.split(" | ").next().unwrap_or_default().trim_start_matches("| ").replace("\\|", "|");
        assert!(list.contains(&format!("\n  {name}\n")), "{name}");
    }
}
