//! The counts of an account that move with what they count, in the same transaction (D15).

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Uuid};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{InsertGroupError, InsertPixelError};
use signpost_domain::AccountId;

use crate::columns::{IdBytes, whole_number};
use crate::failure::Failure;
use crate::rows::cell::RowName;
use crate::schema::accounts;
use crate::statement::statement;

/// Counts one group more, or says what stands against it.
pub(crate) async fn count_group(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    limit: u64,
) -> Result<Result<(), InsertGroupError>, Failure> {
    let row = accounts::table.find(IdBytes::from(account));
    let counted = diesel::update(row.filter(accounts::groups_count.lt(whole_number(limit))))
        .set(accounts::groups_count.eq(accounts::groups_count + 1))
        .execute(connection)
        .await?;
    if counted > 0 {
        return Ok(Ok(()));
    }
    let is_there = account_exists(connection, account).await?;
    Ok(Err(if is_there { InsertGroupError::LimitReached } else { InsertGroupError::AccountMissing }))
}

/// Counts one pixel more, or says what stands against it.
pub(crate) async fn count_pixel(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    limit: u64,
) -> Result<Result<(), InsertPixelError>, Failure> {
    let row = accounts::table.find(IdBytes::from(account));
    let counted = diesel::update(row.filter(accounts::pixels_count.lt(whole_number(limit))))
        .set(accounts::pixels_count.eq(accounts::pixels_count + 1))
        .execute(connection)
        .await?;
    if counted > 0 {
        return Ok(Ok(()));
    }
    let is_there = account_exists(connection, account).await?;
    Ok(Err(if is_there { InsertPixelError::LimitReached } else { InsertPixelError::AccountMissing }))
}

async fn account_exists(connection: &mut &AsyncPgConnection, account: AccountId) -> Result<bool, Failure> {
    let row = accounts::table.find(IdBytes::from(account));
    Ok(row.select(accounts::plan).first::<String>(connection).await.optional()?.is_some())
}

/// Counts one group less.
pub(crate) async fn discount_group(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
) -> Result<(), Failure> {
    diesel::update(accounts::table.find(IdBytes::from(account)))
        .set(accounts::groups_count.eq(accounts::groups_count - 1))
        .execute(connection)
        .await?;
    Ok(())
}

/// Counts one pixel less.
pub(crate) async fn discount_pixel(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
) -> Result<(), Failure> {
    diesel::update(accounts::table.find(IdBytes::from(account)))
        .set(accounts::pixels_count.eq(accounts::pixels_count - 1))
        .execute(connection)
        .await?;
    Ok(())
}

statement! {
    /// Diesel's own updates are prepared anew each time, which takes a round trip, here while everybody who wants the row
    /// waits for it.
    MoveLinksCount -> BigInt {
        account: IdBytes,
        by: i64,
    } =
    "UPDATE accounts SET links_count = links_count + "
    { by: BigInt } " WHERE id = "
    { account: Uuid } " RETURNING links_count"
}

/// Counts so many links more, or less if there are fewer than 0. Gives the count before that, which no other unit of work
/// can move until this one ends; `None` if there is no such account.
pub(crate) async fn move_links(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    by: i64,
) -> Result<Option<u64>, Failure> {
    let statement = MoveLinksCount { account: account.into(), by };
    let moved = statement.get_result::<i64>(connection).await.optional()?;
    let row = RowName::new("accounts", account);
    moved.map(|count| row.count("links_count", count.saturating_sub(by))).transpose()
}
