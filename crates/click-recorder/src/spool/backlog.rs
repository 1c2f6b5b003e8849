//! The batches that wait, their size and its limits.

use std::path::PathBuf;

use signpost_app::ports::{EncodedClicks, Randomness, RandomnessUnavailable};
use signpost_domain::analytics::ClickSource;

/// Default limits: of files in GiB, and of memory in MiB.
const ON_DISK_GIB: u64 = 1;
const IN_MEMORY_MIB: u64 = 64;

/// The limits of a spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SpoolLimits {
    /// Bytes in files, including those of dead processes.
    pub on_disk: u64,
    /// Bytes in memory, while the disk cannot be written.
    pub in_memory: u64,
}

impl Default for SpoolLimits {
    fn default() -> Self {
        Self { on_disk: ON_DISK_GIB << 30, in_memory: IN_MEMORY_MIB << 20 }
    }
}

/// The spool has no room for a batch, so its clicks are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SpoolFull;

/// The size of the backlog.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) batches: u64,
    pub(crate) clicks: u64,
    pub(crate) bytes: u64,
    /// How many of the batches would not survive the process.
    pub(crate) batches_in_memory: u64,
}

/// Where a batch is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Location {
    /// A row of the file at this path. A later file of this process has another path, because it numbers its rows anew.
    File(PathBuf, i64),
    Memory,
}

/// A batch that the store does not have, as far as this node knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingBatch {
    pub(super) location: Location,
    pub(crate) batch: EncodedClicks,
}

/// The approximate size of a batch on disk or in memory.
pub(super) fn size(batch: &EncodedClicks) -> u64 {
    const ROW_OVERHEAD: u64 = 96;
    u64::try_from(batch.segment.len()).unwrap_or(u64::MAX).saturating_add(ROW_OVERHEAD)
}

/// A new source, whose batches have numbers from 1.
pub(super) fn new_source(randomness: &dyn Randomness) -> Result<ClickSource, RandomnessUnavailable> {
    let mut source = [0; 16];
    randomness.fill(&mut source)?;
    Ok(ClickSource(source))
}
