//! Digesting days that have ended.

use std::collections::BTreeMap;

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::{DigestedDay, digest as digest_segments};
use signpost_domain::Timestamp;

use crate::policy::DIGEST_AFTER;
use crate::tables::{ClickTables, DayEffect, PendingDays};
use crate::whole_days::{self, WholeDay};

/// Digests some days; see [`ClickStore::digest`](signpost_app::ports::ClickStore::digest). Days that change meanwhile come up
/// again.
///
/// # Errors
/// [`StoreError::Unavailable`] if reading or storing takes a minute, or the time limit of the store if that is longer.
pub async fn digest(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Upkeep, StoreError> {
    whole_days::change_some(tables, PendingDays::ToDigest, now, DIGEST_AFTER).await
}

pub(crate) fn digested(day: &WholeDay) -> DayEffect {
    match digest_segments(&day.data()) {
        Ok(digested) => effect(digested),
        Err(error) => {
            day.found.report_malformed(&error);
            without_digests()
        }
    }
}

pub(crate) fn effect(DigestedDay { digests, last_clicks }: DigestedDay) -> DayEffect {
    DayEffect::Digested { digests, last_clicks }
}

/// Questions about the day read its segments.
pub(crate) const fn without_digests() -> DayEffect {
    DayEffect::Digested { digests: Vec::new(), last_clicks: BTreeMap::new() }
}
