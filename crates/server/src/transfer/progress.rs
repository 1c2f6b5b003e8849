//! The progress bar of a command.

use std::io::{self, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, if that is a terminal. It disappears at the end.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// A bar that counts `total` records.
    pub(crate) fn of_records(total: u64, is_shown: bool) -> Self {
        Self::new(Some(total), "{bar:40} {pos} of about {len} records, {eta} to go", is_shown)
    }

    /// A bar that counts the bytes of a file. If `total` is unknown, it shows only how many were read.
    pub(crate) fn of_bytes(total: Option<u64>, is_shown: bool) -> Self {
        let template = match total {
            Some(_) => "{bar:40} {bytes} of {total_bytes}, {eta} to go; {msg}",
            None => "{spinner} {bytes}; {msg}",
        };
        Self::new(total, template, is_shown)
    }

    fn new(total: Option<u64>, template: &str, is_shown: bool) -> Self {
        if !is_shown || !io::stderr().is_terminal() {
            return Self(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
        // An invalid template must not fail the command.
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        Self(bar.with_style(style))
    }

    /// Shows how much is done.
    pub(crate) fn show(&self, done: u64) {
        self.0.set_position(done);
    }

    /// Shows how much is done, and a few words.
    pub(crate) fn show_with(&self, done: u64, words: String) {
        self.0.set_message(words);
        self.0.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
