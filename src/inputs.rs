//! `coroner explain --inputs`: every form in which logs and exit data are read, how to get it, what it can prove.

use std::io::{self, Write};

use coroner::patterns::LOGS;
use coroner::records::{FORMATS, TEXTS};
use coroner::seen::Form;

/// All forms by heading, in the order of the lists that read them.
fn forms() -> [(&'static str, Vec<&'static Form>); 3] {
    [
        ("Logs", LOGS.iter().map(|(form, _)| form).collect()),
        ("Tables and text for people", TEXTS.iter().map(|format| &format.form).collect()),
        ("JSON and YAML", FORMATS.iter().map(|format| &format.form).collect()),
    ]
}

/// Lists all forms, for a terminal or as a table in Markdown.
pub(crate) fn list(out: &mut dyn Write, markdown: bool) -> io::Result<()> {
    if markdown {
        writeln!(out, "| input | how to get it | what it can prove |\n|---|---|---|")?;
        for form in forms().iter().flat_map(|(_, forms)| forms) {
            writeln!(out, "| {} | {} | {} |", cell(form.name), code(form.how), cell(form.proves))?;
        }
        return Ok(());
    }
    for (number, (heading, forms)) in forms().iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{heading}")?;
        for form in forms {
            writeln!(out, "  {}\n    get     {}\n    proves  {}", form.name, form.how, form.proves)?;
        }
    }
    Ok(())
}

/// A stroke would end the cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// A command as code: GitHub splits cells at strokes even there, unless they are escaped.
fn code(text: &str) -> String {
    format!("`{}`", cell(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_tells_all_three_and_no_name_is_given_twice() {
        let mut names = Vec::new();
        for form in forms().iter().flat_map(|(_, forms)| forms) {
            for text in [form.name, form.how, form.proves] {
                assert!(!text.is_empty() && text == text.trim() && !text.contains(['\n', '`']) && !text.ends_with('.'), "{text}");
            }
            names.push(form.name);
        }
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
