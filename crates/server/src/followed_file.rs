//! A file that the program reads again when it changes.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::task::JoinHandle;

/// How often a file is checked.
const INTERVAL: Duration = Duration::from_secs(1);

/// Detects when a file must be read again.
#[derive(Debug)]
pub(crate) struct FollowedFile {
    path: PathBuf,
    seen: Mutex<Seen>,
}

/// The states of the file; `None` if it did not exist.
#[derive(Debug)]
struct Seen {
    /// When the file was last read, successfully or not.
    when_read: Option<Stamp>,
    /// At the last look.
    last: Option<Stamp>,
}

/// Metadata that changes when a file is written, or when others may read it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    modified: Option<SystemTime>,
    length: u64,
    status: Status,
}

/// On systems with inodes: what distinguishes a file from another that was moved into its place, and the instant at which its
/// owner or its mode last changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Status {
    inode: u64,
    changed: (i64, i64),
}

impl Stamp {
    fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        let (modified, length) = (metadata.modified().ok(), metadata.len());
        Some(Self { modified, length, status: status(&metadata) })
    }
}

#[cfg(unix)]
fn status(metadata: &Metadata) -> Status {
    use std::os::unix::fs::MetadataExt as _;

    Status { inode: metadata.ino(), changed: (metadata.ctime(), metadata.ctime_nsec()) }
}

#[cfg(not(unix))]
fn status(_: &Metadata) -> Status {
    Status::default()
}

impl FollowedFile {
    /// Follows the file at `path`. Call this before the first read: the next look then sees a change in
    /// between.
    pub(crate) fn new(path: PathBuf) -> Self {
        let stamp = Stamp::at(&path);
        Self { path, seen: Mutex::new(Seen { when_read: stamp.clone(), last: stamp }) }
    }

    /// The path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Looks at the file, and returns whether to read it again: it has changed since the last read, but not
    /// since the last look. So a file that is still being written is not read.
    pub(crate) fn must_be_read(&self) -> bool {
        let stamp = Stamp::at(&self.path);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_settled = seen.last == stamp;
        seen.last.clone_from(&stamp);
        if !is_settled || seen.when_read == stamp {
            return false;
        }
        seen.when_read = stamp;
        true
    }
}

/// Calls `look` once a second, on a thread that may block, until the task is aborted.
pub(crate) fn follow<T: Send + Sync + 'static>(followed: &Arc<T>, look: fn(&T)) -> JoinHandle<()> {
    let followed = Arc::clone(followed);
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let followed = Arc::clone(&followed);
            if let Err(error) = tokio::task::spawn_blocking(move || look(&followed)).await {
                tracing::error!(%error, "checking a file for changes panicked; the node goes on checking it");
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("followed.txt");
        fs::write(&path, text).unwrap();
        (folder, path)
    }

    /// A new key is often readable for its owner only at first.
    #[cfg(unix)]
    #[test]
    fn d180_a_file_that_gets_another_mode_must_be_read_again() {
        use std::os::unix::fs::PermissionsExt as _;

        let (_folder, path) = file("a key");
        let followed = FollowedFile::new(path.clone());
        assert!(!followed.must_be_read());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let looks = [(); 3].map(|()| followed.must_be_read());
        assert_eq!(looks, [false, true, false]);
    }

    /// The first look sees the change, the second that the file has settled.
    #[track_caller]
    fn is_read_when_settled(file: &FollowedFile) {
        assert!(!file.must_be_read(), "it may still be being written");
        assert!(file.must_be_read());
        assert!(!file.must_be_read(), "it was read");
    }

    #[test]
    fn a_change_is_read_once_when_it_has_settled() {
        let (_folder, path) = file("one");
        let followed = FollowedFile::new(path.clone());
        assert!(!followed.must_be_read());
        fs::write(&path, "three").unwrap();
        is_read_when_settled(&followed);
    }

    #[test]
    fn a_file_moved_into_place_is_read_despite_equal_size_and_time() {
        let (folder, path) = file("one");
        let followed = FollowedFile::new(path.clone());
        let modified = fs::metadata(&path).unwrap().modified().unwrap();
        let new = folder.path().join("new.txt");
        fs::write(&new, "two").unwrap();
        fs::File::options().write(true).open(&new).unwrap().set_modified(modified).unwrap();
        fs::rename(&new, &path).unwrap();
        is_read_when_settled(&followed);
    }

    #[test]
    fn a_deleted_and_recreated_file_is_read_each_time() {
        let (_folder, path) = file("one");
        let followed = FollowedFile::new(path.clone());
        fs::remove_file(&path).unwrap();
        is_read_when_settled(&followed);
        fs::write(&path, "three").unwrap();
        is_read_when_settled(&followed);
    }

    #[test]
    fn a_file_still_being_written_is_not_read() {
        let (_folder, path) = file("one");
        let followed = FollowedFile::new(path.clone());
        for text in ["", "thr", "three"] {
            fs::write(&path, text).unwrap();
            assert!(!followed.must_be_read(), "{text}");
        }
        assert!(followed.must_be_read());
    }
}
