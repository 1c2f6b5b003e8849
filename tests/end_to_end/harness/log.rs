//! What a program has logged.

use std::sync::{Condvar, Mutex};

/// The log of a program so far.
#[derive(Default)]
pub(super) struct Log {
    pub(super) text: Mutex<String>,
    pub(super) grown: Condvar,
}

impl Log {
    pub(super) fn add(&self, line: &str) {
        let mut text = self.text.lock().unwrap();
        text.push_str(line);
        text.push('\n');
        self.grown.notify_all();
    }
}
