//! Digesting days that have ended.

use std::collections::BTreeMap;

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::{MalformedSegment, digests, last_clicks};
use signpost_domain::{LinkId, Timestamp};

use crate::policy::DIGEST_AFTER;
use crate::tables::{ClickTables, DayChange, DayEffect, DayVersion, PendingDays};
use crate::whole_days::{self, WholeDay};

/// Digests some days; see [`ClickStore::digest`](signpost_app::ports::ClickStore::digest). Days that change meanwhile come up
/// again.
///
/// # Errors
/// [`StoreError::Unavailable`] if reading or storing takes a minute, or the time limit of the store if that is longer.
pub async fn digest(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Upkeep, StoreError> {
    whole_days::change_some(tables, PendingDays::ToDigest, now, DIGEST_AFTER, digested).await
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
