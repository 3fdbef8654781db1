//! The words of a piece of advice: text, and a command or snippet in the language of its platform.

use crate::remedy::Case;
use crate::remedy::sizing::Sizing;

/// The language of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// A command for a POSIX shell.
    Shell,
    /// A YAML document, or a part of one that parses by itself.
    Yaml,
    /// A JSON document.
    Json,
    /// Lines of TOML.
    Toml,
    /// Anything else: a unit file, Groovy, Python, a setting.
    Text,
}

impl Form {
    /// The name, as Markdown's fences take it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Shell => "sh",
            Self::Yaml => "yaml",
            Self::Json => "json",
            Self::Toml => "toml",
            Self::Text => "text",
        }
    }
}

/// The words of a piece of advice; none where the platform has no part in a step.
pub(super) type Words = Option<(String, Option<(Form, String)>)>;

/// Words with a shell command.
pub(super) fn with(text: impl Into<String>, command: impl Into<String>) -> Words {
    form(Form::Shell, text, command)
}

/// Words with a YAML snippet.
pub(super) fn yaml(text: impl Into<String>, snippet: impl Into<String>) -> Words {
    form(Form::Yaml, text, snippet)
}

/// Words with a JSON snippet.
pub(super) fn json(text: impl Into<String>, snippet: impl Into<String>) -> Words {
    form(Form::Json, text, snippet)
}

/// Words with a snippet in some language.
pub(super) fn form(form: Form, text: impl Into<String>, snippet: impl Into<String>) -> Words {
    Some((text.into(), Some((form, snippet.into()))))
}

/// Words without a command.
pub(super) fn only(text: impl Into<String>) -> Words {
    Some((text.into(), None))
}

/// A word for a POSIX shell. Names come from the inputs, and whoever copies a command must not run what stands in them.
pub(crate) fn shell(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+,=".contains(c);
    // A dash in front would make an option of it, quoted or not; no engine allows such a name.
    let word = word.trim_start_matches('-');
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let safe: String = word.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    format!("'{}'", safe.replace('\'', "'\\''"))
}

/// A word for YAML, in double quotes unless it is plainly a name. What would need an escape is shown as `?`: names of containers
/// have no such characters.
pub(super) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(plain) && !is_yaml_word(word) {
        return word.to_owned();
    }
    in_quotes(word)
}

/// A word in double quotes, as JSON, YAML and TOML read it.
pub(super) fn in_quotes(word: &str) -> String {
    let safe: String = word.chars().map(|c| if c.is_control() || "\"\\".contains(c) { '?' } else { c }).collect();
    format!("\"{safe}\"")
}

/// Words that YAML takes for something other than text.
fn is_yaml_word(word: &str) -> bool {
    ["null", "true", "false", "yes", "no", "on", "off", "y", "n"].contains(&word.to_ascii_lowercase().as_str())
}

/// What is said beside a size for /dev/shm.
pub(super) fn shm_reason(case: &Case<'_>) -> String {
    match (case.shm_had(), case.shm_size().and(case.sizing)) {
        (Some(had), Some(Sizing { bytes: Some(bytes), .. })) => format!("it had {had} and needs {bytes}"),
        (Some(had), _) => format!("it had {had}; the size is workers × prefetch + 3 batches"),
        (None, Some(Sizing { bytes: Some(bytes), .. })) => format!("it needs {bytes}"),
        (None, _) => "the size is workers × prefetch + 3 batches".to_owned(),
    }
}
