//! Reading the segments of an account's days, a few days at a time.

use std::collections::BTreeMap;
use std::time::Instant;

use signpost_app::ports::StoreError;
use signpost_clicks::MalformedSegment;
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use crate::tables::{ClickSnapshot, DayVersion, LinkRange, SegmentHead, SegmentKey};

/// Days, and the segments of each.
pub(crate) type ReadDays = (Vec<UtcDay>, BTreeMap<UtcDay, Vec<Vec<u8>>>);

/// The segments of some days of an account.
pub(crate) struct DaySegments {
    keys: BTreeMap<UtcDay, Vec<SegmentKey>>,
    sizes: BTreeMap<UtcDay, u64>,
}

impl DaySegments {
    /// Finds the segments that may have clicks on links of a range.
    pub(crate) async fn find(
        snapshot: &mut dyn ClickSnapshot,
        account: AccountId,
        days: &[UtcDay],
        links: Option<LinkRange>,
    ) -> Result<Self, StoreError> {
        let days: Vec<(AccountId, UtcDay)> = days.iter().map(|day| (account, *day)).collect();
        let mut found = Self { keys: BTreeMap::new(), sizes: BTreeMap::new() };
        for SegmentHead { key, bytes, .. } in snapshot.segments(&days, links).await? {
            found.keys.entry(key.day).or_default().push(key);
            let size = found.sizes.entry(key.day).or_default();
            *size = size.saturating_add(bytes);
        }
        Ok(found)
    }

    /// The size of the segments of each day that has any, in bytes.
    pub(crate) const fn sizes(&self) -> &BTreeMap<UtcDay, u64> {
        &self.sizes
    }

    /// The size of all segments, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.sizes.values().fold(0, |sum, bytes| sum.saturating_add(*bytes))
    }

    /// Reads the segments of some of the days.
    pub(crate) async fn read(
        &self,
        snapshot: &mut dyn ClickSnapshot,
        days: Vec<UtcDay>,
    ) -> Result<ReadDays, StoreError> {
        let keys: Vec<SegmentKey> =
            days.iter().filter_map(|day| self.keys.get(day)).flatten().copied().collect();
        let mut segments: BTreeMap<UtcDay, Vec<Vec<u8>>> = BTreeMap::new();
        for (key, data) in snapshot.segment_data(&keys).await? {
            segments.entry(key.day).or_default().push(data);
        }
        Ok((days, segments))
    }
}

/// The versions of days. A day without clicks has none.
pub(crate) type Versions = BTreeMap<(AccountId, UtcDay), i64>;

/// Reads the versions of days.
pub(crate) async fn versions(
    snapshot: &mut dyn ClickSnapshot,
    days: &[(AccountId, UtcDay)],
) -> Result<Versions, StoreError> {
    let versions = snapshot.versions(days).await?;
    Ok(versions.into_iter().map(|DayVersion { account, day, version }| ((account, day), version)).collect())
}

/// The error for a malformed segment or digest of an account.
pub(crate) fn malformed(table: &'static str, account: AccountId, error: MalformedSegment) -> StoreError {
    StoreError::Corrupt { table, column: "data", row: account.to_string(), reason: error.to_string() }
}

/// The outcome of a call, or [`StoreError::Unavailable`] at the deadline.
pub(crate) async fn by<T>(
    deadline: Instant,
    call: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let outcome = tokio::time::timeout_at(deadline.into(), call).await;
    outcome.unwrap_or_else(|_| Err(StoreError::unavailable("clicks were not counted by the deadline")))
}
