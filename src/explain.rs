//! `coroner explain`: the list of causes, and the cause that somebody meant.

use std::io::{self, Write};

use coroner::verdict::{Cause, Class};

/// All classes, in the order of the contract.
const CLASSES: [Class; 4] = [Class::ShmExhaustion, Class::OomKill, Class::Unknown, Class::None];

/// Lists all causes by class, a line each.
pub(crate) fn list(out: &mut dyn Write) -> io::Result<()> {
    let width = Cause::ALL.iter().map(|cause| cause.slug().len()).max().unwrap_or(0);
    for (number, class) in CLASSES.into_iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        writeln!(out, "{} ({})", class.slug(), class.title())?;
        for cause in Cause::ALL.iter().filter(|cause| cause.class() == class) {
            writeln!(out, "  {:width$}   {}", cause.slug(), cause.title())?;
        }
    }
    Ok(())
}

/// The cause with this name, or the names of those that were perhaps meant.
pub(crate) fn find(name: &str) -> Result<Cause, Vec<&'static str>> {
    let name = name.trim().to_ascii_lowercase().replace([' ', '_'], "-");
    if let Some(cause) = Cause::from_slug(&name) {
        return Ok(cause);
    }
    let of_class = |cause: &&Cause| cause.class().slug() == name;
    let class: Vec<_> = Cause::ALL.iter().filter(of_class).map(|cause| cause.slug()).collect();
    if !class.is_empty() {
        return Err(class);
    }
    let words: Vec<&str> = name.split('-').filter(|word| word.len() >= 3).collect();
    let near = |slug: &&str| distance(slug, &name) <= slug.len().min(9) / 3 || words.iter().any(|word| slug.contains(word));
    Err(Cause::ALL.iter().map(|cause| cause.slug()).filter(near).take(8).collect())
}

/// How many letters must be changed, added or removed to make one word of the other.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (y, cell) in b.chars().zip(row.iter_mut().skip(1)) {
            let substituted = diagonal + usize::from(x != y);
            diagonal = *cell;
            left = substituted.min(left + 1).min(diagonal + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_is_listed_and_found() {
        let mut text = Vec::new();
        list(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        for cause in Cause::ALL {
            assert!(text.contains(cause.title()), "{}", cause.slug());
            assert_eq!(find(cause.slug()), Ok(*cause));
        }
        assert_eq!(find("OOM_cgroup"), Ok(Cause::OomCgroup));
    }

    #[test]
    fn every_page_has_the_same_headings_and_fits_a_screen() {
        let headings = ["## What it means", "## What proves it", "## What it is mistaken for", "## What to do", "## Sources"];
        for cause in Cause::ALL {
            let (slug, page) = (cause.slug(), cause.explanation());
            let lines: Vec<&str> = page.lines().collect();
            assert!(lines[0].starts_with(&format!("# {slug}: ")), "{slug}: {}", lines[0]);
            assert_eq!(lines[2], format!("Class: {}", cause.class().slug()), "{slug}");
            let found: Vec<&str> = lines.iter().copied().filter(|line| line.starts_with("## ")).collect();
            assert_eq!(found, headings, "{slug}");
            assert!((20..=45).contains(&lines.len()), "{slug} takes {} lines", lines.len());
            for line in &lines {
                assert!(line.chars().count() <= 100 && *line == line.trim_end(), "{slug}: {line}");
            }
            assert!(page.ends_with('\n') && !page.ends_with("\n\n"), "{slug}");
        }
    }

    #[test]
    fn a_page_names_no_cause_that_does_not_exist() {
        let slugs: Vec<&str> = Cause::ALL.iter().map(|cause| cause.slug()).collect();
        let families = ["oom-", "shm-", "sigkill-", "sigbus-"];
        for cause in Cause::ALL {
            for word in cause.explanation().split('`').skip(1).step_by(2) {
                let like_a_cause = families.iter().any(|family| word.starts_with(family)) && !word.contains([' ', ':']);
                assert!(!like_a_cause || word == "oom-kill" || slugs.contains(&word), "{}: {word}", cause.slug());
            }
        }
    }

    #[test]
    fn a_slip_names_what_was_meant() {
        assert_eq!(find("segfalt"), Err(vec!["segfault"]));
        assert!(find("oom").unwrap_err().contains(&"oom-host"));
        assert_eq!(find("shm-exhaustion").unwrap_err().len(), 4);
        assert_eq!(find("weather"), Err(Vec::new()));
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
