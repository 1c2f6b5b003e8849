//! The daily keys of visitor hashes (D48).

use diesel::prelude::*;
use signpost_domain::analytics::{UtcDay, VisitorKey};

use super::schema::visitor_keys;
use crate::failure::Failure;
use signpost_sql_rows::cell::RowName;

pub(super) fn of_day(
    connection: &mut SqliteConnection,
    day: UtcDay,
    proposed: &VisitorKey,
) -> Result<VisitorKey, Failure> {
    let row = (visitor_keys::day.eq(day.number()), visitor_keys::key.eq(proposed.0.to_vec()));
    diesel::insert_or_ignore_into(visitor_keys::table).values(row).execute(connection)?;
    stored(connection, day)?
        .ok_or_else(|| Failure::Other("a visitor key that was just stored is gone".to_owned()))
}

pub(super) fn stored(connection: &mut SqliteConnection, day: UtcDay) -> Result<Option<VisitorKey>, Failure> {
    let key: Option<Vec<u8>> =
        visitor_keys::table.find(day.number()).select(visitor_keys::key).first(connection).optional()?;
    let row = RowName::new("visitor_keys", day.number());
    let key = key.map(|key| row.cell("key", key.try_into().map_err(|_| "does not have 32 bytes")));
    Ok(key.transpose()?.map(VisitorKey))
}

pub(super) fn forget_before(connection: &mut SqliteConnection, day: UtcDay) -> Result<(), Failure> {
    diesel::delete(visitor_keys::table.filter(visitor_keys::day.lt(day.number()))).execute(connection)?;
    Ok(())
}
