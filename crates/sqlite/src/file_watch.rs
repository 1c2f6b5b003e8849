//! Noticing that the file of the open database was replaced, moved or removed.
//!
//! Connections hold on to the file that they opened, whatever its name comes to mean. So without a check, the program would
//! go on writing to a file that has no name any more. Worse, SQLite would play the write-ahead log of that file into the new
//! one beside it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::backup::copy_to;
use crate::connection::{self, Task};
use crate::database_file::DatabaseFile;
use crate::deadline::Deadline;
use crate::failure::Failure;
use crate::open_error::OpenError;

/// How often the name is looked up.
const PERIOD: Duration = Duration::from_millis(250);

/// How long after a failed attempt to save the open database the next one follows.
const SAVED_AGAIN_AFTER: Duration = Duration::from_secs(10);

/// The file of an open database, as all threads of the store see it.
#[derive(Debug, Clone)]
pub(crate) struct OpenFile {
    file: DatabaseFile,
    /// Whether another file has its name, or none.
    is_replaced: Arc<AtomicBool>,
}

impl OpenFile {
    pub(crate) fn new(file: DatabaseFile) -> Self {
        Self { file, is_replaced: Arc::default() }
    }

    pub(crate) const fn file(&self) -> &DatabaseFile {
        &self.file
    }

    /// Whether another file has its name, or none. Then nothing may be written or opened again. Connections are not closed
    /// either, because SQLite tidies up by name when the last one closes.
    pub(crate) fn is_replaced(&self) -> bool {
        self.is_replaced.load(Ordering::Acquire)
    }

    /// Refuses changes after the file was replaced.
    pub(crate) fn may_be_written(&self) -> Result<(), Failure> {
        if self.is_replaced() {
            return Err(Failure::Unwritable(format!(
                "the file {} was replaced or removed while it was open",
                self.file.path().display()
            )));
        }
        Ok(())
    }

    fn set_replaced(&self, is_replaced: bool) {
        self.is_replaced.store(is_replaced, Ordering::Release);
    }
}

/// The thread that looks whether the file still has its name.
pub(crate) struct FileWatch {
    /// `None` only while the watch is being dropped.
    running: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl FileWatch {
    /// Starts the thread. The store must have opened the file before.
    pub(crate) fn start(open: &OpenFile, time_limit: Duration) -> Result<Self, OpenError> {
        let Some(mut watcher) = Watcher::new(open, time_limit)? else {
            return Ok(Self { running: None, thread: None });
        };
        let (running, end) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("sqlite-watch".to_owned())
            .spawn(move || watcher.run(&end))
            .map_err(OpenError::NoThread)?;
        Ok(Self { running: Some(running), thread: Some(thread) })
    }
}

impl Drop for FileWatch {
    /// Waits for the thread, which first saves an open database whose file was replaced.
    fn drop(&mut self) {
        self.running = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that watches the database file has panicked");
        }
    }
}

/// The identity of a file, whatever its names are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    /// The identity of the file at a path; `None` if no file is there. After an error, both are possible.
    fn at(path: &Path) -> std::io::Result<Option<Self>> {
        match std::fs::metadata(path) {
            #[cfg(unix)]
            Ok(metadata) => {
                use std::os::unix::fs::MetadataExt as _;
                Ok(Some(Self { device: metadata.dev(), inode: metadata.ino() }))
            }
            // Other systems do not let an open file be replaced.
            #[cfg(not(unix))]
            Ok(_) => Ok(Some(Self { device: 0, inode: 0 })),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// A file that SQLite keeps beside the database while it is open.
struct Companion {
    path: PathBuf,
    identity: Identity,
}

struct Watcher {
    open: OpenFile,
    identity: Identity,
    companions: Vec<Companion>,
    /// A connection of its own, which saves the open database while the other threads serve. `None` once that is done.
    connection: Option<SqliteConnection>,
    failed_at: Option<Instant>,
}

impl Watcher {
    fn new(open: &OpenFile, time_limit: Duration) -> Result<Option<Self>, OpenError> {
        let path = open.file.path();
        let connection = connection::open(&open.file, Task::Copy, time_limit, &Arc::new(Deadline::none()))?;
        let Ok(Some(identity)) = Identity::at(path) else {
            tracing::warn!(path = %path.display(), "cannot watch the database file: it would not be noticed if it was replaced");
            return Ok(None);
        };
        let companion = |suffix| {
            let mut path = path.as_os_str().to_owned();
            path.push(suffix);
            let path = PathBuf::from(path);
            let identity = Identity::at(&path).ok()??;
            Some(Companion { path, identity })
        };
        let companions = ["-wal", "-shm"].into_iter().filter_map(companion).collect();
        Ok(Some(Self {
            open: open.clone(),
            identity,
            companions,
            connection: Some(connection),
            failed_at: None,
        }))
    }

    /// Looks until the store is dropped, and once more then: the last look may be older than what happened to the file.
    fn run(&mut self, end: &Receiver<()>) {
        let is_over = || end.recv_timeout(PERIOD) != Err(RecvTimeoutError::Timeout);
        loop {
            let mut is_last = is_over();
            if !self.has_name() {
                // Refuse changes at once, but look twice: moving a file away and back takes two steps.
                self.open.set_replaced(true);
                is_last = is_last || is_over();
                if !self.has_name() {
                    self.save_for_good(&is_over);
                    let _ = end.recv();
                    return;
                }
                self.open.set_replaced(false);
                tracing::warn!(path = %self.path().display(), "the database file was missing for a moment");
            }
            if is_last {
                return;
            }
        }
    }

    /// Saves the open database of a replaced file.
    fn save_for_good(&mut self, is_over: &impl Fn() -> bool) {
        self.part_from_file();
        self.save_if_due();
        while self.connection.is_some() && !is_over() {
            self.save_if_due();
        }
        if self.connection.is_some() {
            // The store is being dropped: the last chance.
            self.failed_at = None;
            self.save_if_due();
        }
        // Never closed; see `OpenFile::is_replaced`.
        std::mem::forget(self.connection.take());
    }

    fn path(&self) -> &Path {
        self.open.file.path()
    }

    /// Whether the file and its companions still have their names, as far as the system tells. Without them, other processes
    /// would write a log of their own, and share no locks with this one.
    fn has_name(&self) -> bool {
        let is_there =
            |path: &Path, identity| Identity::at(path).map_or(true, |found| found == Some(identity));
        is_there(self.path(), self.identity)
            && self.companions.iter().all(|Companion { path, identity }| is_there(path, *identity))
    }

    /// Reports that the file is replaced, and deletes its companions, so that SQLite does not take them for those of the
    /// new file.
    fn part_from_file(&self) {
        let path = self.path().display();
        tracing::error!(
            %path,
            "the database file was replaced or removed while the program was using it: changes are refused from now on, and \
             the open database will be saved beside it. Only the saved file has the latest changes. Stop the program, \
             choose which file to use, and start it again"
        );
        for Companion { path, identity } in &self.companions {
            if !matches!(Identity::at(path), Ok(Some(found)) if found == *identity) {
                continue;
            }
            if let Err(error) = std::fs::remove_file(path) {
                tracing::error!(path = %path.display(), %error, "a file of the replaced database was not deleted: delete it");
            }
        }
    }

    /// Saves the open database beside its name, unless an attempt failed a moment ago.
    fn save_if_due(&mut self) {
        let Some(connection) = &mut self.connection else { return };
        if self.failed_at.is_some_and(|failed_at| failed_at.elapsed() < SAVED_AGAIN_AFTER) {
            return;
        }
        let path = self.open.file.path();
        match save(connection, &self.open.file) {
            Ok(saved) => {
                let (path, saved) = (path.display(), saved.display());
                tracing::error!(%path, %saved, "the database that was open is saved");
                std::mem::forget(self.connection.take());
            }
            Err(error) => {
                tracing::error!(
                    path = %path.display(), %error,
                    "the database that was open is not saved yet: it is lost if the program stops now"
                );
                self.failed_at = Some(Instant::now());
            }
        }
    }
}

#[derive(QueryableByName)]
struct Now {
    #[diesel(sql_type = Text)]
    now: String,
}

/// Copies the open database to a new file beside its name. It lacks the keys of visitors, because no job would destroy
/// them in time (D48).
fn save(
    connection: &mut SqliteConnection,
    file: &DatabaseFile,
) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let Now { now } = diesel::sql_query("SELECT strftime('%Y%m%dT%H%M%SZ') AS now").get_result(connection)?;
    let mut name = file.path().as_os_str().to_owned();
    name.push(format!(".replaced-{now}"));
    Ok(copy_to(connection, file, Path::new(&name))?.path)
}
