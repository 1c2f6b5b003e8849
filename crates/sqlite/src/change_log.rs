//! The change log: numbered rows. There is one writer, so rows become visible in the order of their numbers.

use std::time::Duration;

use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use signpost_app::ports::{ChangeLog, ChangePosition, ReadChanges, StoreError};

use crate::failure::Failure;
use crate::logged_changes::{LoggedRow, TABLE, logged_change};
use crate::schema::{changes, sqlite_sequence};
use crate::store::SqliteStore;

/// The highest number ever assigned; 0 before the first row.
fn end(connection: &mut SqliteConnection) -> Result<i64, Failure> {
    let number = sqlite_sequence::table.find(TABLE).select(sqlite_sequence::seq);
    Ok(number.first(connection).optional()?.unwrap_or(0))
}

fn read(connection: &mut SqliteConnection, position: i64, at_most: u32) -> Result<ReadChanges, Failure> {
    let end = end(connection)?;
    let too_many = ReadChanges::TooMany { position: ChangePosition::from_store(end) };
    let wanted = end.checked_sub(position).filter(|wanted| (0..=i64::from(at_most)).contains(wanted));
    let Some(wanted) = wanted else { return Ok(too_many) };
    if wanted == 0 {
        return Ok(ReadChanges::These { changes: vec![], position: ChangePosition::from_store(end) });
    }
    let rows: Vec<LoggedRow> = changes::table
        .filter(changes::number.gt(position))
        .filter(changes::number.le(end))
        .order(changes::number)
        .select((changes::number, changes::account_id, changes::addresses, changes::hostname))
        .load(connection)?;
    // Numbers have no gaps, so a missing row was deleted.
    if i64::try_from(rows.len()) != Ok(wanted) {
        return Ok(too_many);
    }
    let changes = rows.into_iter().map(logged_change).collect::<Result<_, _>>()?;
    Ok(ReadChanges::These { changes, position: ChangePosition::from_store(end) })
}

#[async_trait]
impl ChangeLog for SqliteStore {
    async fn end_of_changes(&self) -> Result<ChangePosition, StoreError> {
        self.readers().read(|connection| Ok(ChangePosition::from_store(end(connection)?))).await
    }

    async fn changes_since(&self, position: ChangePosition, at_most: u32) -> Result<ReadChanges, StoreError> {
        self.readers().read(move |connection| read(connection, position.to_store(), at_most)).await
    }

    async fn forget_changes(&self, kept: Duration, at_most: u32) -> Result<u64, StoreError> {
        let kept = i64::try_from(kept.as_millis()).unwrap_or(i64::MAX);
        let forget = move |connection: &mut SqliteConnection| {
            let last =
                sql::<BigInt>("CAST(unixepoch('subsec') * 1000 AS INTEGER) - ").bind::<BigInt, _>(kept);
            let old: Vec<i64> = changes::table
                .filter(changes::at.le(last))
                .order(changes::at)
                .select(changes::number)
                .limit(at_most.into())
                .load(connection)?;
            if old.is_empty() {
                return Ok(0);
            }
            Ok(diesel::delete(changes::table.filter(changes::number.eq_any(old))).execute(connection)?)
        };
        Ok(u64::try_from(self.write(forget).await?).unwrap_or_default())
    }
}
