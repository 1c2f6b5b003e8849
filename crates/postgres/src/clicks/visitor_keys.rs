//! The daily keys of visitor hashes (D48).

use diesel::sql_types::{BigInt, Binary, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::analytics::{UtcDay, VisitorKey};

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::cell::RowName;

statement! {
    Key -> Binary {
        day: i32 => Integer,
    } =
    "SELECT key FROM visitor_keys WHERE day = $1"
}

statement! {
    /// Stores a key unless the day has one. A concurrent second proposal waits for the first to commit.
    Propose<'a> -> BigInt {
        day: i32 => Integer,
        key: &'a [u8] => Binary,
    } =
    "INSERT INTO visitor_keys (day, key) VALUES ($1, $2) ON CONFLICT (day) DO NOTHING"
}

statement! {
    Forget -> BigInt {
        day: i32 => Integer,
    } =
    "DELETE FROM visitor_keys WHERE day < $1"
}

pub(super) async fn of_day(
    connection: &mut &AsyncPgConnection,
    day: UtcDay,
    proposed: &VisitorKey,
) -> Result<VisitorKey, Failure> {
    if let Some(key) = stored(connection, day).await? {
        return Ok(key);
    }
    Propose { day: day.number(), key: &proposed.0 }.execute(connection).await?;
    let key = stored(connection, day).await?;
    key.ok_or_else(|| Failure::Other("a visitor key that was just stored is gone".to_owned()))
}

async fn stored(connection: &mut &AsyncPgConnection, day: UtcDay) -> Result<Option<VisitorKey>, Failure> {
    let keys: Vec<Vec<u8>> = Key { day: day.number() }.load(connection).await?;
    let row = RowName::new("visitor_keys", day.number());
    let key = keys.into_iter().next();
    let key = key.map(|key| row.cell("key", key.try_into().map_err(|_| "does not have 32 bytes")));
    Ok(key.transpose()?.map(VisitorKey))
}

pub(super) async fn forget_before(connection: &mut &AsyncPgConnection, day: UtcDay) -> Result<(), Failure> {
    Forget { day: day.number() }.execute(connection).await?;
    Ok(())
}
