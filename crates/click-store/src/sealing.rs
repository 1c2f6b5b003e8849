//! Sealing days that expect no more clicks.

use std::time::Duration;

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::seal as seal_segments;
use signpost_domain::Timestamp;

use crate::computing::{Lane, compute};
use crate::reading_days::by;
use crate::tables::{
    BatchSelection, ClickChange, ClickTables, DayChange, DayEffect, DayVersion, PendingDays, Reading,
    Replacement,
};
use crate::whole_days::{self, WholeDay, end_of_step, last_day_ended};

/// How long after its end a day is sealed: by then no recorder holds clicks of it.
const SEAL_AFTER: Duration = Duration::from_hours(48);

/// Seals some days; see [`ClickStore::seal`](signpost_app::ports::ClickStore::seal). Days that change meanwhile come up again.
///
/// # Errors
/// [`StoreError::Unavailable`] after a minute, or after the time limit of the store if that is longer.
pub async fn seal(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, SEAL_AFTER) else { return Ok(Upkeep::Done) };
    let ends = end_of_step(tables);
    let step = async {
        let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
        // Waiting clicks would arrive late for a day that is sealed now.
        let until_then = BatchSelection { last: last.last(), ..BatchSelection::ALL };
        if !snapshot.waiting_batches(until_then, 1).await?.is_empty() {
            return Ok(Upkeep::Done);
        }
        let days = whole_days::read(&mut *snapshot, PendingDays::ToSeal, last).await?;
        drop(snapshot);
        if days.is_empty() {
            return Ok(Upkeep::Done);
        }
        let days = compute(Lane::Long, move || days.iter().map(sealed).collect()).await?;
        tables.apply(ClickChange { days, ..ClickChange::default() }, ends).await?;
        Ok(Upkeep::More)
    };
    by(ends, step).await
}

fn sealed(day: &WholeDay) -> DayChange {
    let replacement = match seal_segments(&day.data()) {
        Ok(added) => Replacement { removed: day.segments.iter().map(|(key, _)| *key).collect(), added },
        Err(error) => {
            day.report_malformed(&error);
            Replacement::default()
        }
    };
    let DayVersion { account, day, version } = day.found;
    DayChange { account, day, version: Some(version), effect: DayEffect::Sealed(replacement) }
}
