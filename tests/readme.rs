//! The README's console blocks are run: what it shows is what the program prints.

#[test]
fn the_readme_shows_what_the_program_prints() {
    trycmd::TestCases::new().case("README.md");
}
