//! Reading the segments of an account's days, a few days at a time.

use std::collections::BTreeMap;
use std::time::Instant;

use signpost_app::ports::StoreError;
use signpost_clicks::{MalformedSegment, WINDOW_BYTES};
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use crate::tables::{ClickSnapshot, DayVersion, LinkRange, SegmentHead, SegmentKey};

/// Days, and the segments of each.
pub(crate) type ReadDays = (Vec<UtcDay>, BTreeMap<UtcDay, Vec<Vec<u8>>>);

/// The segments of some days of an account.
pub(crate) struct DaySegments {
    heads: BTreeMap<UtcDay, Vec<SegmentHead>>,
    sizes: BTreeMap<UtcDay, u64>,
}

/// What is read at once.
pub(crate) enum Window {
    /// Whole days.
    Days(Vec<UtcDay>),
    /// A day that is too large to be in memory as a whole.
    LargeDay(UtcDay),
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
        let mut found = Self { heads: BTreeMap::new(), sizes: BTreeMap::new() };
        for head in snapshot.segments(&days, links).await? {
            found.heads.entry(head.key.day).or_default().push(head);
            let size = found.sizes.entry(head.key.day).or_default();
            *size = size.saturating_add(head.bytes);
        }
        Ok(found)
    }

    /// The windows in which days are read one after another; see [`windows`](signpost_clicks::windows).
    pub(crate) fn windows(&self, days: Vec<Vec<UtcDay>>) -> impl Iterator<Item = Window> {
        days.into_iter().map(|days| match days[..] {
            [day] if self.sizes.get(&day).is_some_and(|bytes| *bytes > WINDOW_BYTES) => Window::LargeDay(day),
            _ => Window::Days(days),
        })
    }

    /// The parts in which a large day is read: its segments in the order of their first and last links, some at a time.
    pub(crate) fn parts(&self, day: UtcDay) -> Vec<Vec<SegmentKey>> {
        let mut heads = self.heads.get(&day).cloned().unwrap_or_default();
        // Several segments may have only clicks on one link. Each round must have the same order.
        heads.sort_by_key(|head| (head.first_link, head.last_link, head.key));
        parts_of(heads, WINDOW_BYTES, u64::MAX)
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
            days.iter().filter_map(|day| self.heads.get(day)).flatten().map(|head| head.key).collect();
        let mut segments: BTreeMap<UtcDay, Vec<Vec<u8>>> = BTreeMap::new();
        for (key, data) in snapshot.segment_data(&keys).await? {
            segments.entry(key.day).or_default().push(data);
        }
        Ok((days, segments))
    }
}

/// Groups segments so that each group has at most this many bytes and clicks, or one segment. They keep their order.
pub(crate) fn parts_of(
    segments: impl IntoIterator<Item = SegmentHead>,
    most_bytes: u64,
    most_clicks: u64,
) -> Vec<Vec<SegmentKey>> {
    let (mut parts, mut part) = (Vec::new(), Vec::new());
    let (mut bytes, mut clicks) = (0_u64, 0_u64);
    for head in segments {
        let of_head = u64::from(head.clicks);
        (bytes, clicks) = (bytes.saturating_add(head.bytes), clicks.saturating_add(of_head));
        if (bytes > most_bytes || clicks > most_clicks) && !part.is_empty() {
            parts.push(std::mem::take(&mut part));
            (bytes, clicks) = (head.bytes, of_head);
        }
        part.push(head.key);
    }
    if !part.is_empty() {
        parts.push(part);
    }
    parts
}

/// Reads a part of a large day, in the order of its keys.
pub(crate) async fn read_part(
    snapshot: &mut dyn ClickSnapshot,
    part: Option<&Vec<SegmentKey>>,
) -> Result<Option<Vec<Vec<u8>>>, StoreError> {
    let Some(keys) = part else { return Ok(None) };
    let mut data: BTreeMap<SegmentKey, Vec<u8>> = snapshot.segment_data(keys).await?.into_iter().collect();
    let in_order: Option<Vec<Vec<u8>>> = keys.iter().map(|key| data.remove(key)).collect();
    in_order.map(Some).ok_or_else(|| StoreError::unavailable("a segment of clicks is missing"))
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
