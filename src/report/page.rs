//! A page of the human format: lines, wrapped text, sections and colour.

use std::io;

use colored::{Color, Colorize};

use super::Style;
use super::text::{columns, visible, wrap};

/// A page under construction.
pub(super) struct Page<'a> {
    style: &'a Style,
    out: &'a mut dyn io::Write,
}

impl<'a> Page<'a> {
    /// An empty page.
    pub(super) fn new(style: &'a Style, out: &'a mut dyn io::Write) -> Self {
        if style.color {
            // The terminal was looked at by the caller; `colored` must not decide again. It is never switched off here,
            // because text that wants no colour does not go through it.
            colored::control::set_override(true);
        }
        Self { style, out }
    }

    /// A line as it is.
    pub(super) fn line(&mut self, text: &str) -> io::Result<()> {
        writeln!(self.out, "{}", text.trim_end())
    }

    /// The columns of the page.
    pub(super) fn width(&self) -> usize {
        self.style.width.max(40)
    }

    /// Text that may come from anybody, wrapped behind an indentation; the first line starts with `lead` instead.
    pub(super) fn hanging(&mut self, lead: &str, text: &str) -> io::Result<()> {
        let indent = " ".repeat(columns(lead));
        let room = self.width().saturating_sub(columns(lead));
        for (number, line) in wrap(&visible(text), room).iter().enumerate() {
            self.line(&format!("{}{line}", if number == 0 { lead } else { &indent }))?;
        }
        Ok(())
    }

    /// A section's name, after an empty line.
    pub(super) fn section(&mut self, name: &str) -> io::Result<()> {
        self.line("")?;
        self.line(name)
    }

    /// A text in colour, where colour is wanted.
    pub(super) fn painted(&self, text: &str, color: Color) -> String {
        if self.style.color { text.color(color).bold().to_string() } else { text.to_owned() }
    }

    /// A command, whole, so that it can be copied.
    pub(super) fn commands(&mut self, indent: &str, command: &str) -> io::Result<()> {
        for line in command.lines() {
            let painted = self.painted(&visible(line), Color::Cyan);
            self.line(&format!("{indent}{painted}"))?;
        }
        Ok(())
    }
}
