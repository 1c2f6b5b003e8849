//! Applying a change of clicks that was computed from a snapshot.
//!
//! One thread of one process at a time writes. So the change is checked first, and then made.

use diesel::prelude::*;
use signpost_click_store::{Applied, ClickChange, DayChange, DayEffect, Replacement};

use super::{days, digests, inbox, retention, segments};
use crate::failure::Failure;

pub(super) fn apply(connection: &mut SqliteConnection, change: ClickChange) -> Result<Applied, Failure> {
    let ClickChange { taken, unreadable, days } = change;
    if !inbox::are_waiting(connection, &taken)? || !days_are_unchanged(connection, &days)? {
        return Ok(Applied::Outdated);
    }
    for (batch, reason) in unreadable {
        inbox::set_aside(connection, batch, reason)?;
    }
    inbox::delete(connection, &taken)?;
    for DayChange { account, day, version: _, effect } in days {
        match effect {
            DayEffect::NewSegments(replacement) => {
                replace(connection, replacement)?;
                days::note_clicks(connection, account, day)?;
            }
            DayEffect::Digested { digests, last_clicks } => {
                days::set_digested(connection, account, day)?;
                digests::store(connection, account, day, digests)?;
                digests::note_last_clicks(connection, account, last_clicks)?;
            }
            DayEffect::Sealed(replacement) => {
                days::set_sealed(connection, account, day)?;
                replace(connection, replacement)?;
            }
            DayEffect::Deleted(removed) => {
                segments::delete(connection, &removed)?;
                days::note_deletion(connection, account, day)?;
            }
        }
    }
    Ok(Applied::Whole)
}

/// Whether all days have the versions that the changes rest on, and no account with new clicks was deleted.
fn days_are_unchanged(connection: &mut SqliteConnection, days: &[DayChange]) -> Result<bool, Failure> {
    for DayChange { account, day, version, effect } in days {
        let current = days::version(connection, *account, *day)?;
        let has_new_clicks = matches!(effect, DayEffect::NewSegments(_));
        if current != *version || has_new_clicks && retention::is_forgotten(connection, *account)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn replace(connection: &mut SqliteConnection, replacement: Replacement) -> Result<(), Failure> {
    let Replacement { removed, added } = replacement;
    segments::delete(connection, &removed)?;
    added.into_iter().try_for_each(|segment| segments::insert(connection, segment))
}
