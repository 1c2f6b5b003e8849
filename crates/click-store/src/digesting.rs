//! Digesting days that have ended.

use std::collections::BTreeMap;
use std::time::Duration;

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::{MalformedSegment, digests, last_clicks};
use signpost_domain::{LinkId, Timestamp};

use crate::computing::{Lane, compute};
use crate::reading_days::by;
use crate::tables::{ClickChange, ClickTables, DayChange, DayEffect, DayVersion, PendingDays, Reading};
use crate::whole_days::{self, WholeDay, end_of_step, last_day_ended};

/// How long after its end a day is digested: most late clicks have arrived by then.
const DIGEST_AFTER: Duration = Duration::from_mins(5);

/// Digests some days; see [`ClickStore::digest`](signpost_app::ports::ClickStore::digest). Days that change meanwhile come up
/// again.
///
/// # Errors
/// [`StoreError::Unavailable`] after a minute, or after the time limit of the store if that is longer.
pub async fn digest(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Upkeep, StoreError> {
    let Some(last) = last_day_ended(now, DIGEST_AFTER) else { return Ok(Upkeep::Done) };
    let ends = end_of_step(tables);
    let step = async {
        let mut snapshot = tables.snapshot(Reading::Upkeep, ends).await?;
        let days = whole_days::read(&mut *snapshot, PendingDays::ToDigest, last).await?;
        drop(snapshot);
        if days.is_empty() {
            return Ok(Upkeep::Done);
        }
        let days = compute(Lane::Long, move || days.iter().map(digested).collect()).await?;
        tables.apply(ClickChange { days, ..ClickChange::default() }, ends).await?;
        Ok(Upkeep::More)
    };
    by(ends, step).await
}

fn digested(day: &WholeDay) -> DayChange {
    let effect = sum_up(&day.data()).unwrap_or_else(|error| {
        day.report_malformed(&error);
        DayEffect::Digested { digests: Vec::new(), last_clicks: BTreeMap::new() }
    });
    let DayVersion { account, day, version } = day.found;
    DayChange { account, day, version: Some(version), effect }
}

fn sum_up(segments: &[&[u8]]) -> Result<DayEffect, MalformedSegment> {
    let digests = digests(segments)?;
    let mut last: BTreeMap<LinkId, Timestamp> = BTreeMap::new();
    for segment in segments {
        for (_, link, at) in last_clicks(segment)? {
            let known = last.entry(link).or_insert(at);
            *known = at.max(*known);
        }
    }
    Ok(DayEffect::Digested { digests, last_clicks: last })
}
