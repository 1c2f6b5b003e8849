//! The recent clicks of a few links (D66).

use std::time::Instant;

use signpost_app::ports::StoreError;
use signpost_clicks::{RecentCounter, WINDOW_BYTES};
use signpost_domain::analytics::{RecentClicks, UtcDay};
use signpost_domain::{AccountId, LinkId, Timestamp};

use crate::attempts::{Limits, Stop};
use crate::computing::{Lane, compute};
use crate::inbox::WaitingBatches;
use crate::reading_days::{by, parts_of};
use crate::tables::{BatchSelection, ClickSnapshot, ClickTables, Reading, SegmentHead};

/// The recent clicks of links; see [`ClickStore::recent_clicks`](signpost_app::ports::ClickStore::recent_clicks). It counts in
/// the segments of the days from `since` on, and of undigested days, which the last clicks of the tables do not include.
///
/// # Errors
/// [`StoreError::Unavailable`] after the time limit of the store.
pub async fn recent_clicks(
    tables: &(impl ClickTables + ?Sized),
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
) -> Result<Vec<RecentClicks>, StoreError> {
    let ends = Instant::now() + tables.time_limit();
    let counted = async {
        let mut limits = Limits::short(Reading::RecentClicks);
        loop {
            let mut snapshot = tables.snapshot(limits.reading, ends).await?;
            match count(&mut *snapshot, account, links, since, limits).await {
                Err(Stop::TooLong) => limits = Limits::long(Reading::ManyRecentClicks),
                outcome => return outcome.map_err(|stop| stop.into_error(account)),
            }
        }
    };
    by(ends, counted).await
}

async fn count(
    snapshot: &mut dyn ClickSnapshot,
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
    mut limits: Limits,
) -> Result<Vec<RecentClicks>, Stop> {
    let counter = RecentCounter::new(account, links, since);
    let counter = add_waiting(snapshot, counter, account, &mut limits).await?;
    let found = packed_segments(snapshot, account, links, since).await?;
    limits.take(found.iter().fold(0, |sum, head| sum.saturating_add(head.bytes)))?;
    let counter = add_packed(snapshot, counter, found, limits.lane).await?;
    let known = snapshot.last_clicks(account, links).await?;
    let mut recent = counter.finish();
    for entry in &mut recent {
        entry.last = entry.last.max(known.get(&entry.link).copied());
    }
    Ok(recent)
}

async fn add_waiting(
    snapshot: &mut dyn ClickSnapshot,
    mut counter: RecentCounter,
    account: AccountId,
    limits: &mut Limits,
) -> Result<RecentCounter, Stop> {
    let selection = BatchSelection { account: Some(account), ..BatchSelection::ALL };
    let waiting = WaitingBatches::find(snapshot, selection).await?;
    limits.take(waiting.bytes())?;
    let unpacked = waiting.read(snapshot).await?;
    let added = compute(limits.lane, move || {
        for segment in unpacked.segments() {
            if let Err(error) = counter.add(segment) {
                tracing::warn!(%error, "an unpacked batch of clicks is malformed and is not counted");
            }
        }
        counter
    });
    Ok(added.await?)
}

/// The segments that may have recent clicks of the links.
async fn packed_segments(
    snapshot: &mut dyn ClickSnapshot,
    account: AccountId,
    links: &[LinkId],
    since: Timestamp,
) -> Result<Vec<SegmentHead>, StoreError> {
    let days = snapshot.recent_days(account, UtcDay::of(since)).await?;
    let days: Vec<(AccountId, UtcDay)> = days.into_iter().map(|day| (account, day)).collect();
    let in_order = |link: &&LinkId| link.to_bytes();
    let range = links.iter().min_by_key(in_order).copied().zip(links.iter().max_by_key(in_order).copied());
    let mut found = snapshot.segments(&days, range).await?;
    found.retain(|head| links.iter().any(|link| may_have(head, *link)));
    Ok(found)
}

async fn add_packed(
    snapshot: &mut dyn ClickSnapshot,
    mut counter: RecentCounter,
    found: Vec<SegmentHead>,
    lane: Lane,
) -> Result<RecentCounter, Stop> {
    for window in parts_of(found, WINDOW_BYTES, u64::MAX) {
        let data = snapshot.segment_data(&window).await?;
        let added = compute(lane, move || {
            for (_, segment) in data {
                counter.add(&segment).map_err(|error| Stop::Malformed("click_segments", error))?;
            }
            Ok::<_, Stop>(counter)
        });
        counter = added.await??;
    }
    Ok(counter)
}

fn may_have(head: &SegmentHead, link: LinkId) -> bool {
    (head.first_link..=head.last_link).contains(&link.to_bytes())
}
