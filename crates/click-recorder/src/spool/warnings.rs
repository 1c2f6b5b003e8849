//! What the spool tells operators, at most now and then.

use super::Spool;
use super::backlog::Backlog;
use super::batch_file::{BatchFile, FileError, set_aside};

impl Spool {
    /// Sets a broken file aside, and counts its clicks as lost.
    pub(super) fn set_aside_file(&self, file: BatchFile) {
        let (path, clicks) = (file.path().to_owned(), file.held().clicks);
        drop(file);
        set_aside(&path);
        self.metrics.lost(clicks);
        tracing::error!(path = %path.display(), clicks, "a broken file of the spool was set aside");
    }

    pub(super) fn warn_of_full(&mut self, why: &'static str) {
        if self.warnings.is_due() {
            let Backlog { batches, clicks, bytes, .. } = self.backlog();
            tracing::error!(batches, clicks, bytes, "{why}: new clicks are dropped");
        }
    }

    pub(super) fn warn_of_disk(&mut self, error: &FileError) {
        if self.warnings.is_due() {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let batches = self.in_memory.batches;
            let folder = self.folder.display();
            tracing::error!(
                %folder, %error, cause, batches,
                "the spool of clicks cannot be written: clicks wait in memory, and are dropped when that is full"
            );
        }
    }
}
