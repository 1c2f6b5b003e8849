//! When upkeep does what, how much one step of it does, and how much a question reads at once.

use std::time::Duration;

/// Packing starts at this many batches,
pub(crate) const PACK_AT_BATCHES: usize = 256;

/// or this many clicks,
pub(crate) const PACK_AT_CLICKS: u32 = 50_000;

/// or when the first click of a batch is this old.
pub(crate) const PACK_AT_AGE: Duration = Duration::from_mins(1);

/// Roughly how many clicks one step packs.
pub(crate) const CLICKS_OF_PACKING: u32 = 200_000;

/// Roughly how many bytes of batches one step packs. In memory their values take several times as much.
pub(crate) const BYTES_OF_PACKING: u64 = 4 * 1024 * 1024;

/// The maximum number of clicks of a day's segments that are merged with new ones at once.
pub(crate) const CLICKS_OF_MERGING: u32 = 131_072;

/// How long after its end a day is digested: most late clicks have arrived by then.
pub(crate) const DIGEST_AFTER: Duration = Duration::from_mins(5);

/// How long after its end a day is sealed: by then no recorder holds clicks of it.
pub(crate) const SEAL_AFTER: Duration = Duration::from_hours(48);

/// The time limit of reading days that are digested or sealed, and of applying the change: the day of a very busy account
/// takes longer than a call may.
pub(crate) const LIMIT_OF_DAYS: Duration = Duration::from_mins(1);

/// The maximum number of account days that one step digests or seals.
pub(crate) const DAYS_OF_STEP: usize = 256;

/// How many bytes of segments are read at once to digest or seal several days.
pub(crate) const BYTES_OF_DAYS: u64 = 4 * 1024 * 1024;

/// A day with more bytes of segments is sorted and digested in parts (ADR 68),
pub(crate) const BYTES_OF_WHOLE_DAY: u64 = 8 * 1024 * 1024;

/// and so is a day with more clicks: the clicks of one visitor take hardly a byte each.
pub(crate) const CLICKS_OF_WHOLE_DAY: u64 = 600_000;

/// A day with more bytes of segments is not sorted, and has no digests: it would get too many pieces,
pub(crate) const BYTES_OF_SORTED_DAY: u64 = 256 * 1024 * 1024;

/// and neither is a day with more clicks.
pub(crate) const CLICKS_OF_SORTED_DAY: u64 = 20_000_000;

/// How many bytes of segments of a large day are sorted at once. Their clicks take some twenty times as much in memory.
pub(crate) const BYTES_OF_SORTING: u64 = 1024 * 1024;

/// The maximum number of clicks of a large day that are sorted at once.
pub(crate) const CLICKS_OF_SORTING: u64 = 65_536;

/// After this many failures of a step, the store is broken and not some days.
pub(crate) const MOST_FAILED_DAYS: usize = 4;

/// How many bytes a short attempt may read. Counting them takes some ten milliseconds of a core.
pub(crate) const BYTES_OF_SHORT_ATTEMPT: u64 = 512 * 1024;

/// Roughly how many bytes of digests are read at once. A digest has up to half a MiB.
pub(crate) const BYTES_OF_DIGESTS: u64 = 1024 * 1024;

/// The maximum number of an account's days from which one step deletes clicks.
pub(crate) const DAYS_OF_DELETION: usize = 32;

/// The number of these days that are looked at together: a day of a busy account has many segments.
pub(crate) const DAYS_OF_DELETION_AT_ONCE: usize = 8;

/// The maximum number of segments that one step deletes.
pub(crate) const SEGMENTS_OF_DELETION: usize = 256;

/// The maximum number of links whose last clicks one step deletes.
pub(crate) const LAST_CLICKS_OF_DELETION: usize = 5_000;
