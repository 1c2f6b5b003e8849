//! Batches that wait for the store. Each is written to a file before it is sent, and deleted afterwards.
//!
//! Each process writes its own file, and takes over those of dead processes. Their batches keep source and number, so the
//! store recognizes those that it has. Without a usable disk, batches wait in memory. A disk that is nearly full counts as
//! unusable.

mod backlog;
mod batch_file;
mod private_files;
mod warnings;

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use signpost_app::ports::{EncodedClicks, Randomness, RandomnessUnavailable};
use signpost_app::with_causes;
use signpost_clicks::BuiltSegment;
use signpost_domain::Timestamp;
use signpost_domain::analytics::ClickSource;

pub use self::backlog::SpoolLimits;
pub(crate) use self::backlog::{Backlog, PendingBatch, SpoolFull};
use self::backlog::{Location, new_source, size};
use self::batch_file::{BatchFile, FileError, FileTotals, FiledBatch, remove, set_aside};
use self::private_files::create_folder;
use crate::reporting::{LogPace, RecorderMetrics};
use signpost_click_store::FreeSpace;

/// The extension of spool files.
const EXTENSION: &str = "spool";

/// How long the spool waits after a disk failure before it tries again.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The waiting batches.
pub(crate) struct Spool {
    folder: PathBuf,
    limits: SpoolLimits,
    randomness: Arc<dyn Randomness>,
    metrics: RecorderMetrics,
    /// The source of new batches, and the number of the next.
    source: ClickSource,
    next_number: u64,
    /// The file of this process. `None` until there is something to write, or while the disk fails.
    own: Option<BatchFile>,
    /// Batches that could not be written. All belong to this process and follow those in its file.
    memory: VecDeque<EncodedClicks>,
    in_memory: FileTotals,
    leftovers: Vec<BatchFile>,
    /// Whether the next batch comes from a leftover, if there is one.
    is_leftovers_turn: bool,
    failed_at: Option<Instant>,
    /// Why the last write failed, with its causes.
    failure: String,
    free_space: FreeSpace,
    warnings: LogPace,
}

impl Spool {
    /// Creates the spool of a folder. It creates the folder only when needed, and does nothing yet.
    pub(crate) fn new(
        folder: &Path,
        limits: SpoolLimits,
        randomness: Arc<dyn Randomness>,
        metrics: RecorderMetrics,
    ) -> Result<Self, RandomnessUnavailable> {
        Ok(Self {
            folder: folder.to_owned(),
            limits,
            source: new_source(randomness.as_ref())?,
            randomness,
            metrics,
            next_number: 1,
            own: None,
            memory: VecDeque::new(),
            in_memory: FileTotals::default(),
            leftovers: Vec::new(),
            is_leftovers_turn: false,
            failed_at: None,
            failure: String::new(),
            free_space: FreeSpace::of_system(),
            warnings: LogPace::default(),
        })
    }

    /// Creates the file of this process, so that the first batch need not wait.
    pub(crate) fn create_file(&mut self) {
        if let Err(error) = self.write(None) {
            self.warn_of_disk(&error);
        }
    }

    /// Accepts a segment as the next batch, on disk if possible.
    pub(crate) fn put(&mut self, segment: BuiltSegment) -> Result<(), SpoolFull> {
        let BuiltSegment { clicks, first, last, data } = segment;
        let (source, number) = (self.source, self.next_number);
        let batch = EncodedClicks { source, number, clicks, first, last, segment: data };
        let on_disk = self.files().map(|file| file.held().bytes).sum::<u64>();
        if on_disk + self.in_memory.bytes + size(&batch) > self.limits.on_disk {
            self.warn_of_full("the spool has reached its limit");
            return Err(SpoolFull);
        }
        match self.write(Some(&batch)) {
            Ok(()) => {}
            Err(error) if self.in_memory.bytes + size(&batch) <= self.limits.in_memory => {
                self.warn_of_disk(&error);
                self.in_memory.add(&batch);
                self.memory.push_back(batch);
            }
            Err(error) => {
                self.warn_of_disk(&error);
                return Err(SpoolFull);
            }
        }
        self.next_number += 1;
        Ok(())
    }

    /// Tries to write the batches in memory to a disk that may be writable again.
    pub(crate) fn write_memory(&mut self) {
        if !self.memory.is_empty()
            && let Err(error) = self.write(None)
        {
            self.warn_of_disk(&error);
        }
    }

    /// Writes the batches in memory, and then `batch`.
    fn write(&mut self, batch: Option<&EncodedClicks>) -> Result<(), FileError> {
        if self.failed_at.is_some_and(|failed_at| failed_at.elapsed() < RETRY_INTERVAL) {
            return Err(io::Error::other("the disk failed a moment ago").into());
        }
        let written = match self.free_space.check(&self.folder) {
            Ok(()) => self.write_now(batch),
            Err(nearly_full) => Err(FileError::Unusable(Box::new(nearly_full))),
        };
        match &written {
            Ok(()) => {
                if self.failed_at.take().is_some() {
                    tracing::info!("the spool of clicks can be written again");
                }
                self.memory.clear();
                self.in_memory = FileTotals::default();
            }
            Err(error) => {
                self.failed_at = Some(Instant::now());
                self.failure = with_causes(error);
            }
        }
        written
    }

    /// Why the last write failed. `None` if it succeeded.
    pub(crate) fn failure(&self) -> Option<&str> {
        self.failed_at.map(|_| self.failure.as_str())
    }

    fn write_now(&mut self, batch: Option<&EncodedClicks>) -> Result<(), FileError> {
        let mut file = match self.own.take() {
            Some(file) if file.has_its_name() => file,
            Some(file) => self.replace(file)?,
            None => self.new_file()?,
        };
        match file.write(self.memory.iter().chain(batch)) {
            Err(FileError::Broken(error)) => {
                // Its content is lost, and later batches must not follow a gap.
                self.set_aside_file(file);
                self.start_source();
                Err(FileError::Broken(error))
            }
            outcome => {
                self.own = Some(file);
                outcome
            }
        }
    }

    /// A new file with the batches of one that was removed or replaced: no process would find them after the end of this one.
    fn replace(&mut self, mut lost: BatchFile) -> Result<BatchFile, FileError> {
        let replaced = lost.all().and_then(|batches| {
            let mut file = self.new_file()?;
            file.write(batches.iter())?;
            Ok(file)
        });
        match &replaced {
            Ok(file) => {
                let (path, batches) = (lost.path().display(), file.held().batches);
                tracing::warn!(%path, batches, "a file of the spool was removed or replaced, and is written anew");
            }
            // Its batches can still be read.
            Err(_) => self.own = Some(lost),
        }
        replaced
    }

    fn new_file(&self) -> Result<BatchFile, FileError> {
        create_folder(&self.folder)?;
        let name =
            new_source(self.randomness.as_ref()).map_err(|error| io::Error::other(error.to_string()))?;
        let path = self.folder.join(format!("{:032x}.{EXTENSION}", u128::from_be_bytes(name.0)));
        // A full disk accepts an empty file, and each attempt has a new name.
        BatchFile::open(path.clone()).inspect_err(|_| remove(&path))
    }

    /// The next batch for the store. Batches of one source come in the order of their numbers.
    pub(crate) fn next(&mut self) -> Result<Option<PendingBatch>, FileError> {
        self.is_leftovers_turn = !self.is_leftovers_turn;
        if self.is_leftovers_turn
            && let Some(waiting) = self.next_leftover()
        {
            return Ok(Some(waiting));
        }
        match self.own.as_mut().map_or(Ok(None), BatchFile::oldest) {
            Ok(Some(FiledBatch { row, batch })) => {
                let path = self.own.as_ref().map(|file| file.path().to_owned()).unwrap_or_default();
                return Ok(Some(PendingBatch { location: Location::File(path, row), batch }));
            }
            Ok(None) => {}
            Err(FileError::Broken(error)) => {
                tracing::error!(%error, "the spool is broken");
                if let Some(file) = self.own.take() {
                    self.set_aside_file(file);
                    self.start_source();
                }
            }
            Err(error) => return Err(error),
        }
        if let Some(batch) = self.memory.front() {
            return Ok(Some(PendingBatch { location: Location::Memory, batch: batch.clone() }));
        }
        Ok(self.next_leftover())
    }

    /// The next batch of a dead process. It deletes empty files, and sets broken ones aside.
    fn next_leftover(&mut self) -> Option<PendingBatch> {
        while let Some(file) = self.leftovers.first_mut() {
            match file.oldest() {
                Ok(Some(filed)) if signpost_clicks::read(&filed.batch.segment, |_| ()).is_err() => {
                    tracing::error!(path = %file.path().display(), "a batch of clicks in the spool is malformed");
                    self.metrics.lost(u64::from(filed.batch.clicks));
                    file.forget(&filed);
                }
                Ok(Some(FiledBatch { row, batch })) => {
                    return Some(PendingBatch {
                        location: Location::File(file.path().to_owned(), row),
                        batch,
                    });
                }
                Ok(None) => self.leftovers.remove(0).remove(),
                Err(FileError::Broken(error)) => {
                    tracing::error!(path = %file.path().display(), %error, "a file of the spool is broken");
                    let file = self.leftovers.remove(0);
                    self.set_aside_file(file);
                }
                // The next search of the folder finds it again.
                Err(FileError::InUse | FileError::Unusable(_)) => drop(self.leftovers.remove(0)),
            }
        }
        None
    }

    /// Removes a batch that the store has.
    pub(crate) fn forget(&mut self, waiting: PendingBatch) {
        let PendingBatch { location, batch } = waiting;
        match location {
            Location::Memory => {
                // If it was written to the file meanwhile, it is sent again, and the store recognizes it.
                if self.memory.front().is_some_and(|first| first.number == batch.number) {
                    self.memory.pop_front();
                    self.in_memory.remove(&batch);
                }
            }
            Location::File(path, row) => {
                // A file that is gone left its batches to another. That one sends them again, and the store recognizes them.
                if let Some(file) = self.file_at(&path) {
                    file.forget(&FiledBatch { row, batch });
                }
            }
        }
    }

    fn file_at(&mut self, path: &Path) -> Option<&mut BatchFile> {
        self.own.iter_mut().chain(&mut self.leftovers).find(|file| file.path() == path)
    }

    /// Moves a batch and the later ones of its source to a new source, because an earlier batch is gone.
    pub(crate) fn renumber_from(&mut self, waiting: &PendingBatch) -> Result<(), FileError> {
        let PendingBatch { location, batch } = waiting;
        let source =
            new_source(self.randomness.as_ref()).map_err(|error| io::Error::other(error.to_string()))?;
        let file = match location {
            Location::File(path, row) => self.file_at(path).map(|file| (*row, file)),
            Location::Memory => None,
        };
        if let Some((row, file)) = file {
            file.renumber(&FiledBatch { row, batch: batch.clone() }, source)?;
        }
        if batch.source == self.source {
            let less = batch.number.saturating_sub(1);
            for batch in &mut self.memory {
                (batch.source, batch.number) = (source, batch.number.saturating_sub(less));
            }
            self.next_number = self.next_number.saturating_sub(less);
            self.source = source;
        }
        Ok(())
    }

    /// Starts a new source, with numbers from 1, for batches in memory and for later ones.
    fn start_source(&mut self) {
        // Without random bytes the old source continues, and the store reports a gap.
        let Ok(source) = new_source(self.randomness.as_ref()) else { return };
        self.source = source;
        self.next_number = 1;
        for batch in &mut self.memory {
            (batch.source, batch.number) = (source, self.next_number);
            self.next_number += 1;
        }
    }

    /// Takes over the files of dead processes.
    pub(crate) fn adopt(&mut self) {
        let Ok(entries) = std::fs::read_dir(&self.folder) else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let is_file = path.extension().is_some_and(|extension| extension == EXTENSION);
            if !is_file || self.files().any(|file| file.path() == path) {
                continue;
            }
            match BatchFile::open(path.clone()) {
                Ok(file) if file.held().batches == 0 => file.remove(),
                Ok(file) => {
                    let FileTotals { batches, clicks, .. } = file.held();
                    tracing::info!(path = %path.display(), batches, clicks, "the spool has clicks from an earlier process");
                    self.leftovers.push(file);
                }
                Err(FileError::InUse) => {}
                Err(FileError::Broken(error)) => {
                    tracing::error!(path = %path.display(), %error, "a file of the spool is broken, and set aside");
                    set_aside(&path);
                }
                Err(error @ FileError::Unusable(_)) => self.warn_of_disk(&error),
            }
        }
    }

    /// Syncs the waiting batches to the disk.
    pub(crate) fn sync(&mut self) {
        if let Some(Err(error)) = self.own.as_mut().map(BatchFile::sync) {
            self.warn_of_disk(&error);
        }
    }

    /// The size of the backlog.
    pub(crate) fn backlog(&self) -> Backlog {
        let in_memory = self.in_memory;
        let mut backlog = Backlog { batches_in_memory: in_memory.batches, ..Backlog::default() };
        for held in self.files().map(BatchFile::held).chain([in_memory]) {
            backlog.batches += held.batches;
            backlog.clicks += held.clicks;
            backlog.bytes += held.bytes;
        }
        backlog
    }

    /// The instant of the oldest waiting click.
    pub(crate) fn oldest(&mut self) -> Option<Timestamp> {
        let filed =
            self.own.iter_mut().chain(&mut self.leftovers).filter_map(|file| file.oldest().ok().flatten());
        filed.map(|filed| filed.batch.first).chain(self.memory.front().map(|batch| batch.first)).min()
    }

    /// Closes the files, and deletes the file of this process if it is empty.
    pub(crate) fn close(&mut self) {
        self.write_memory();
        self.leftovers.clear();
        if let Some(file) = self.own.take()
            && file.held().batches == 0
        {
            file.remove();
        }
    }

    fn files(&self) -> impl Iterator<Item = &BatchFile> {
        self.own.iter().chain(&self.leftovers)
    }
}

#[cfg(test)]
mod tests;
