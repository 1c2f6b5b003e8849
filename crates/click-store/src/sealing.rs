//! Sealing days that expect no more clicks.

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::seal as seal_segments;
use signpost_domain::Timestamp;

use crate::policy::SEAL_AFTER;
use crate::tables::{ClickTables, DayChange, DayEffect, DayVersion, PendingDays, Replacement};
use crate::whole_days::{self, WholeDay};

/// Seals some days; see [`ClickStore::seal`](signpost_app::ports::ClickStore::seal). Days that change meanwhile come up again.
///
/// # Errors
/// [`StoreError::Unavailable`] if reading or storing takes a minute, or the time limit of the store if that is longer.
pub async fn seal(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Upkeep, StoreError> {
    whole_days::change_some(tables, PendingDays::ToSeal, now, SEAL_AFTER, sealed).await
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
