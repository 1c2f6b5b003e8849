//! Sealing days that expect no more clicks.

use signpost_app::ports::{StoreError, Upkeep};
use signpost_clicks::seal as seal_segments;
use signpost_domain::Timestamp;

use crate::policy::SEAL_AFTER;
use crate::tables::{ClickTables, DayEffect, PendingDays, Replacement};
use crate::whole_days::{self, WholeDay};

/// Seals some days; see [`ClickStore::seal`](signpost_app::ports::ClickStore::seal). Days that change meanwhile come up again.
///
/// # Errors
/// [`StoreError::Unavailable`] if reading or storing takes a minute, or the time limit of the store if that is longer.
pub async fn seal(tables: &(impl ClickTables + ?Sized), now: Timestamp) -> Result<Upkeep, StoreError> {
    whole_days::change_some(tables, PendingDays::ToSeal, now, SEAL_AFTER).await
}

pub(crate) fn sealed(day: &WholeDay) -> DayEffect {
    match seal_segments(&day.data()) {
        Ok(added) => {
            let removed = day.segments.iter().map(|(key, _)| *key).collect();
            DayEffect::Sealed(Replacement { removed, added })
        }
        Err(error) => {
            day.found.report_malformed(&error);
            as_it_is()
        }
    }
}

/// Upkeep has finished with the day, but its segments stay.
pub(crate) fn as_it_is() -> DayEffect {
    DayEffect::Sealed(Replacement::default())
}
