//! Short and long attempts to answer (R46).

use signpost_app::ports::StoreError;
use signpost_clicks::MalformedSegment;
use signpost_domain::AccountId;

use crate::computing::{ComputeError, Lane};
use crate::policy::BYTES_OF_SHORT_ATTEMPT;
use crate::reading_days::malformed;
use crate::tables::Reading;

/// Why an attempt ended without an answer.
pub(crate) enum Stop {
    Failed(StoreError),
    /// A malformed value in this table. Malformed unpacked batches are skipped instead.
    Malformed(&'static str, MalformedSegment),
    /// It would read more than its lane allows.
    TooLong,
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl From<ComputeError> for Stop {
    fn from(error: ComputeError) -> Self {
        Self::Failed(error.into())
    }
}

impl Stop {
    /// The error of a question of an account.
    pub(crate) fn into_error(self, account: AccountId) -> StoreError {
        match self {
            Self::Failed(error) => error,
            Self::Malformed(table, error) => malformed(table, account, error),
            // A long attempt may read everything.
            Self::TooLong => StoreError::unavailable("the question reads too many clicks"),
        }
    }
}

/// What an attempt may use. The first one is short, so it waits for no long one. If it turns out to be long, it ends, waits
/// among those, and starts again on a new snapshot.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) reading: Reading,
    pub(crate) lane: Lane,
    bytes_left: u64,
}

impl Limits {
    /// The limits of a short attempt, which reads for this.
    pub(crate) const fn short(reading: Reading) -> Self {
        Self { reading, lane: Lane::Short, bytes_left: BYTES_OF_SHORT_ATTEMPT }
    }

    /// The limits of a long attempt, which reads for this.
    pub(crate) const fn long(reading: Reading) -> Self {
        Self { reading, lane: Lane::Long, bytes_left: u64::MAX }
    }

    /// How many bytes may still be read.
    pub(crate) const fn bytes_left(&self) -> u64 {
        self.bytes_left
    }

    /// Takes some of the bytes that may be read.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Stop> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(Stop::TooLong)?;
        Ok(())
    }
}
