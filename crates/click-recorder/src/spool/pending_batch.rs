//! A batch that waits in the spool, and the sources that number batches.

use std::path::PathBuf;

use signpost_app::ports::{EncodedClicks, Randomness, RandomnessUnavailable};
use signpost_domain::analytics::ClickSource;

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
