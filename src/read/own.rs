//! Reports that this program wrote: they quote the lines of a death, and are none.

/// How much of a file tells whether it is a report, in bytes.
pub const HEAD: usize = 4 << 10;

/// The classes as slugs, and as people read them.
const CLASSES: [(&str, &str); 4] =
    [("shm-exhaustion", "SIGBUS shm exhaustion"), ("oom-kill", "SIGKILL OOM"), ("unknown", "unknown"), ("none", "nothing died")];

const GRADES: [&str; 3] = ["proven", "likely", "suspected"];

/// Titles of annotations that name no class.
const TITLES: [&str; 5] = ["not read", "skipped", "stopped", "more", "coroner"];

/// What stands in the head of each page.
const PAGE: &str = "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"";

/// Whether a file with this beginning is a report in one of the formats. Each is told by its first lines, which hold what no
/// log begins with.
pub fn is_report(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(head.get(..HEAD).unwrap_or(head));
    match text.as_bytes().first() {
        Some(b'{' | b'[' | b'<') => is_document(&text),
        Some(_) => is_text(&plain(&text)),
        None => false,
    }
}

/// A text without the colours that a report may have.
fn plain(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once('m').map_or(part, |(_, rest)| rest))
}

/// JSON in its dialects, XML and HTML.
fn is_document(text: &str) -> bool {
    let packed: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let sarif = packed.starts_with("{\"$schema\":") && packed.contains("\"driver\":{\"name\":\"coroner\"");
    let issue = text.strip_prefix("[\n  {\"check_name\":\"").and_then(|text| text.split_once("\",\"description\":\""));
    let issues = text == "[\n]\n" || issue.is_some_and(|(name, text)| is_slug(name) && text.contains("\",\"fingerprint\":\""));
    let tests = text.starts_with("<?xml") && text.contains("<testsuites name=\"coroner\"");
    let page = text.starts_with("<!DOCTYPE html>") && text.contains(PAGE);
    packed.starts_with("{\"schema\":\"coroner.") || sarif || issues || tests || page
}

/// The formats for people and for continuous integration.
fn is_text(text: &str) -> bool {
    let mut lines = text.lines();
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    let one = |line: &str| human(line) || brief(line) || markdown(line) || annotation(line);
    let many = first.starts_with("= ") && (brief(second) || second.strip_prefix("  ").is_some_and(human));
    let nothing = first == "nothing was read" || first.starts_with("= ") && second == "nothing was read";
    one(first) || many || nothing || summary(first) || first == "## Summary" && text.lines().nth(2).is_some_and(summary)
}

/// The rest of a line behind the name of a class that people read.
fn titled(line: &str) -> Option<&str> {
    CLASSES.iter().find_map(|(_, title)| line.strip_prefix(title))
}

/// `SIGKILL OOM   oom-cgroup, proven`
fn human(line: &str) -> bool {
    titled(line).and_then(|rest| rest.strip_prefix("   ")).is_some_and(|rest| rest == "clean" || is_cause(rest))
}

/// `oom-kill oom-cgroup proven SIGKILL pid=12: …`
fn brief(line: &str) -> bool {
    let mut words = line.split(' ');
    let mut next = || words.next().unwrap_or_default();
    let class = next();
    CLASSES.iter().any(|(slug, _)| *slug == class) && is_slug(next()) && GRADES.contains(&next().trim_end_matches(':'))
}

/// A heading of Markdown, of one incident or below the name of one among many.
fn markdown(line: &str) -> bool {
    let Some(heading) = line.strip_prefix("##").map(|rest| rest.trim_start_matches('#').trim_start()) else { return false };
    let is = |text: &str| match titled(text).map(|rest| rest.strip_prefix(": ").ok_or(rest)) {
        Some(Ok(cause)) => is_cause(&cause.replace('`', "")),
        Some(Err(rest)) => rest.is_empty(),
        None => false,
    };
    is(heading) || heading.match_indices(": ").any(|(at, _)| heading.get(at + 2..).is_some_and(is))
}

/// A workflow command that the format for GitHub writes.
fn annotation(line: &str) -> bool {
    let level = ["::error ", "::warning ", "::notice "].iter().any(|level| line.starts_with(level));
    let title = line.split_once("title=").map_or("", |(_, title)| title);
    let known = TITLES.iter().any(|known| title.strip_prefix(known).is_some_and(|rest| rest.starts_with("::")));
    level && (known || titled(title).is_some_and(|rest| rest.starts_with("%3A") || rest.starts_with("::")))
}

/// `9 incidents in 8 inputs` or `total 9 inputs=8`, which stand first where nothing died.
fn summary(line: &str) -> bool {
    let line = line.strip_prefix("total ").unwrap_or(line);
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let said = [" incident in ", " incidents in ", " inputs="].iter().any(|said| rest.starts_with(said));
    rest.len() < line.len() && said || line.starts_with("stopped before the end; this is what was known")
}

/// A cause with its grade, as `oom-cgroup, proven`.
fn is_cause(text: &str) -> bool {
    text.split_once(", ").is_some_and(|(slug, grade)| is_slug(slug) && GRADES.contains(&grade))
}

fn is_slug(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::is_report;

    #[test]
    fn colours_do_not_hide_a_report() {
        assert!(is_report(b"\x1b[1;31mSIGKILL OOM\x1b[0m   oom-cgroup, proven\n"));
        assert!(is_report(b"= a.log\n  \x1b[1;35munknown\x1b[0m   segfault, proven\n"));
        assert!(!is_report(b"\x1b[1;31mSIGKILL OOM\x1b[0m is what it was\n"));
    }

    #[test]
    fn logs_and_documents_are_no_reports() {
        for text in [
            "",
            "RuntimeError: DataLoader worker (pid 8107) is killed by signal: Killed. \n",
            "unknown   host, key changed\n",
            "nothing died here\n",
            "## Summary\n\nall is well\n",
            "::error file=a.py,line=1,title=Killed::oom\n",
            "= pytest\n  3 passed\n",
            "total 4096\n-rw-r--r-- 1 root root 0 train.log\n",
            "[]\n",
            "[{\"check_name\":\"oom-cgroup\"}]",
            "{\"schema\": \"other/1\"}",
            "<?xml version=\"1.0\"?>\n<testsuites name=\"pytest\">",
            "<!DOCTYPE html><html><title>SIGKILL OOM</title>",
        ] {
            assert!(!is_report(text.as_bytes()), "{text}");
        }
    }
}
