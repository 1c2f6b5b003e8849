//! Deleting the clicks of accounts.

use std::time::Instant;

use signpost_app::ports::{StoreError, Upkeep};
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;

use crate::policy::{
    DAYS_OF_DELETION, DAYS_OF_DELETION_AT_ONCE, LAST_CLICKS_OF_DELETION, SEGMENTS_OF_DELETION,
};
use crate::reading_days::by;
use crate::tables::{
    ClickChange, ClickSnapshot, ClickTables, DayChange, DayEffect, DayVersion, Reading, SegmentKey,
};

/// Deletes some clicks of an account; see [`ClickStore::forget_clicks`](signpost_app::ports::ClickStore::forget_clicks). Days
/// that change meanwhile come up again.
///
/// # Errors
/// [`StoreError::Unavailable`] after the time limit of the store.
pub async fn forget(
    tables: &(impl ClickTables + ?Sized),
    account: AccountId,
    before: Option<UtcDay>,
) -> Result<Upkeep, StoreError> {
    let ends = Instant::now() + tables.time_limit();
    by(ends, step(tables, account, before, ends)).await
}

async fn step(
    tables: &(impl ClickTables + ?Sized),
    account: AccountId,
    before: Option<UtcDay>,
    ends: Instant,
) -> Result<Upkeep, StoreError> {
    if before.is_none() {
        // Before the snapshot, so that it has all clicks that are still stored.
        tables.note_deleted_account(account, ends).await?;
    }
    let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
    let days = snapshot.days_before(account, before, DAYS_OF_DELETION).await?;
    if days.is_empty() {
        drop(snapshot);
        let deleted = tables.delete_last_clicks(account, before, LAST_CLICKS_OF_DELETION, ends).await?;
        return Ok(if deleted == 0 { Upkeep::Done } else { Upkeep::More });
    }
    let (segments, last) = first_segments(&mut *snapshot, &days).await?;
    drop(snapshot);
    let change = |DayVersion { account, day, version }: &DayVersion| DayChange {
        account: *account,
        day: *day,
        version: Some(*version),
        effect: DayEffect::Deleted(segments.iter().filter(|key| key.day == *day).copied().collect()),
    };
    let days = days.iter().filter(|day| last.is_none_or(|last| day.day <= last)).map(change).collect();
    // If a day has changed since its version was read, it comes up again.
    tables.apply(ClickChange { days, ..ClickChange::default() }, ends).await?;
    Ok(Upkeep::More)
}

/// The segments that a step deletes, and the last day that it gets to, if it does not get to all of them.
async fn first_segments(
    snapshot: &mut dyn ClickSnapshot,
    days: &[DayVersion],
) -> Result<(Vec<SegmentKey>, Option<UtcDay>), StoreError> {
    let mut found: Vec<SegmentKey> = Vec::new();
    for some in days.chunks(DAYS_OF_DELETION_AT_ONCE) {
        let keys: Vec<(AccountId, UtcDay)> = some.iter().map(|day| (day.account, day.day)).collect();
        found.extend(snapshot.segments(&keys, None).await?.into_iter().map(|head| head.key));
        if found.len() > SEGMENTS_OF_DELETION {
            found.sort_unstable();
            found.truncate(SEGMENTS_OF_DELETION);
            let last = found.last().map(|key| key.day);
            return Ok((found, last));
        }
    }
    Ok((found, None))
}
