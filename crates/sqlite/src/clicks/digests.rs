//! Digests of days, and the last clicks of links.

use std::collections::BTreeMap;

use diesel::prelude::*;
use signpost_clicks::{Digest, DigestScope};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId, Timestamp};

use super::schema::{click_digests, last_clicks as last_clicks_table};
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant};

/// The value of the column `scope`.
fn scope_bytes(account: AccountId, scope: DigestScope) -> IdBytes {
    match scope {
        DigestScope::Account => account.into(),
        DigestScope::Link(link) => link.into(),
    }
}

/// The digests of some days, up to the one with which they have `bytes` or more.
pub(super) fn of_days(
    connection: &mut SqliteConnection,
    account: AccountId,
    days: &[UtcDay],
    scope: DigestScope,
    bytes: u64,
) -> Result<Vec<(UtcDay, Vec<u8>)>, Failure> {
    let (mut found, mut read) = (Vec::new(), 0_u64);
    for day in days {
        if read >= bytes {
            break;
        }
        let digest: Option<Vec<u8>> = click_digests::table
            .filter(click_digests::account_id.eq(IdBytes::from(account)))
            .filter(click_digests::day.eq(day.number()))
            .filter(click_digests::scope.eq(scope_bytes(account, scope)))
            .select(click_digests::data)
            .first(connection)
            .optional()?;
        if let Some(data) = digest {
            read = read.saturating_add(u64::try_from(data.len()).unwrap_or(u64::MAX));
            found.push((*day, data));
        }
    }
    Ok(found)
}

/// Stores the digests of a day.
pub(super) fn store(
    connection: &mut SqliteConnection,
    account: AccountId,
    day: UtcDay,
    digests: Vec<Digest>,
) -> Result<(), Failure> {
    for Digest { scope, data } in digests {
        let row = (
            click_digests::account_id.eq(IdBytes::from(account)),
            click_digests::day.eq(day.number()),
            click_digests::scope.eq(scope_bytes(account, scope)),
            click_digests::data.eq(data),
        );
        diesel::replace_into(click_digests::table).values(row).execute(connection)?;
    }
    Ok(())
}

/// The last clicks of links.
pub(super) fn last_clicks(
    connection: &mut SqliteConnection,
    account: AccountId,
    links: &[LinkId],
) -> Result<BTreeMap<LinkId, Timestamp>, Failure> {
    let mut found = BTreeMap::new();
    for link in links {
        let at: Option<i64> = last_clicks_table::table
            .find((IdBytes::from(account), IdBytes::from(*link)))
            .select(last_clicks_table::at)
            .first(connection)
            .optional()?;
        if let Some(at) = at {
            let row = RowName::new("last_clicks", link);
            found.insert(*link, row.timestamp("at", Instant::from_unix_millis(at))?);
        }
    }
    Ok(found)
}

/// Notes last clicks, unless later ones are known.
pub(super) fn note_last_clicks(
    connection: &mut SqliteConnection,
    account: AccountId,
    last_clicks: BTreeMap<LinkId, Timestamp>,
) -> Result<(), Failure> {
    let account = IdBytes::from(account);
    for (link, at) in last_clicks {
        let at = at.unix_millis();
        let row = (
            last_clicks_table::account_id.eq(account),
            last_clicks_table::link_id.eq(IdBytes::from(link)),
            last_clicks_table::at.eq(at),
        );
        let inserted =
            diesel::insert_or_ignore_into(last_clicks_table::table).values(row).execute(connection)?;
        if inserted == 0 {
            let earlier = last_clicks_table::table
                .find((account, IdBytes::from(link)))
                .filter(last_clicks_table::at.lt(at));
            diesel::update(earlier).set(last_clicks_table::at.eq(at)).execute(connection)?;
        }
    }
    Ok(())
}
