//! The operator's list of hosts that links must not lead to, in a file (D24).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use signpost_app::ports::TargetBlocklist;
use signpost_domain::HostBlocklist;
use tokio::task::JoinHandle;

use crate::followed_file::{self, FollowedFile};

/// How many invalid lines one message names, at most.
const NAMED_LINES: usize = 3;

/// A list that follows its file. If the file is broken or gone, the last good list stays in force, and the
/// program logs one warning.
#[derive(Debug)]
pub(crate) struct TargetBlocklistFile {
    file: FollowedFile,
    list: RwLock<Arc<HostBlocklist>>,
    version: AtomicU64,
}

/// Why a list could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BlocklistFileError {
    /// The file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// Lines of the file are not hosts.
    #[error("{}: {lines}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The first of the lines.
        lines: String,
    },
}

impl TargetBlocklistFile {
    /// Reads the list.
    ///
    /// # Errors
    /// The file cannot be read, or some of its lines are not hosts.
    pub(crate) fn open(path: PathBuf) -> Result<Self, BlocklistFileError> {
        let file = FollowedFile::new(path);
        let list = read(file.path())?;
        Ok(Self { file, list: RwLock::new(Arc::new(list)), version: AtomicU64::new(0) })
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    /// Reads the file again if it has changed.
    fn look(&self) {
        if !self.file.must_be_read() {
            return;
        }
        match read(self.path()) {
            Ok(list) => {
                tracing::info!(hosts = list.len(), "the target blocklist was read again");
                *self.list.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(list);
                self.version.fetch_add(1, Ordering::Release);
            }
            Err(error) => {
                tracing::warn!(%error, "the target blocklist is broken; the last good list stays in force");
            }
        }
    }

    /// Follows the file until the task is aborted.
    pub(crate) fn follow(self: &Arc<Self>) -> JoinHandle<()> {
        followed_file::follow(self, Self::look)
    }
}

impl TargetBlocklist for TargetBlocklistFile {
    fn current(&self) -> Arc<HostBlocklist> {
        Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }
}

/// The empty list of an installation without `target-blocklist`.
#[derive(Debug, Default)]
pub(crate) struct EmptyBlocklist(Arc<HostBlocklist>);

impl TargetBlocklist for EmptyBlocklist {
    fn current(&self) -> Arc<HostBlocklist> {
        Arc::clone(&self.0)
    }

    fn version(&self) -> u64 {
        0
    }
}

fn read(path: &Path) -> Result<HostBlocklist, BlocklistFileError> {
    let text = fs::read_to_string(path)
        .map_err(|error| BlocklistFileError::Unreadable { path: path.to_owned(), error })?;
    HostBlocklist::parse(&text).map_err(|errors| {
        let mut lines: Vec<String> = errors.iter().take(NAMED_LINES).map(ToString::to_string).collect();
        if let more @ 1.. = errors.len().saturating_sub(NAMED_LINES) {
            lines.push(format!("and {more} more"));
        }
        BlocklistFileError::Invalid { path: path.to_owned(), lines: lines.join("; ") }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("blocklist.txt");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    /// The first look sees the change, the second that the file has settled.
    fn look_until_settled(list: &TargetBlocklistFile) {
        list.look();
        list.look();
    }

    #[test]
    fn d24_a_change_of_the_file_is_followed() {
        let (_folder, path) = file("evil.example\n");
        let list = TargetBlocklistFile::open(path.clone()).unwrap();
        assert!(list.current().contains("evil.example"));
        fs::write(&path, "# lifted\nworse.example\n").unwrap();
        look_until_settled(&list);
        assert!(!list.current().contains("evil.example"));
        assert!(list.current().contains("worse.example"));
    }

    #[test]
    fn d24_the_last_good_list_stays_when_the_file_breaks_or_goes_away() {
        let (_folder, path) = file("evil.example\n");
        let list = TargetBlocklistFile::open(path.clone()).unwrap();
        fs::write(&path, "not a host\n").unwrap();
        look_until_settled(&list);
        assert!(list.current().contains("evil.example"));
        fs::remove_file(&path).unwrap();
        look_until_settled(&list);
        assert!(list.current().contains("evil.example"));
        fs::write(&path, "").unwrap();
        look_until_settled(&list);
        assert!(list.current().is_empty());
    }

    #[test]
    fn d24_a_file_still_being_written_is_not_read() {
        let (_folder, path) = file("evil.example\n");
        let list = TargetBlocklistFile::open(path.clone()).unwrap();
        fs::write(&path, "").unwrap();
        list.look();
        fs::write(&path, "evil.example\nworse.example\n").unwrap();
        list.look();
        assert!(list.current().contains("evil.example"));
        list.look();
        assert!(list.current().contains("worse.example"));
    }

    #[test]
    fn a_missing_or_broken_file_is_refused_with_the_reason() {
        let (folder, path) = file("ok.example\na b\nc d\ne f\ng h\n");
        let message = TargetBlocklistFile::open(path).unwrap_err().to_string();
        assert!(message.contains("line 2: \"a b\" is not a host; "), "{message}");
        assert!(message.ends_with("; and 1 more"), "{message}");
        let missing = folder.path().join("missing.txt");
        let message = TargetBlocklistFile::open(missing).unwrap_err().to_string();
        assert!(message.starts_with("cannot read ") && message.contains("missing.txt"), "{message}");
    }
}
