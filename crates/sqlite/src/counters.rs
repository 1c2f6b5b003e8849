//! The counts of an account that move with what they count, in the same transaction (D15).
//!
//! The transaction holds the write lock from its beginning, so a count that it reads is that which it moves.

use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_domain::AccountId;

use crate::columns::{IdBytes, whole_number};
use crate::failure::Failure;
use crate::rows::cell::RowName;
use crate::schema::accounts;
use crate::unit_of_work::Stop;

/// Counts one group more, unless there are `limit`, then the decision is `reached`, or there is no such account, then
/// it is `missing`.
pub(crate) fn count_group<D>(
    connection: &mut SqliteConnection,
    account: AccountId,
    limit: u64,
    reached: D,
    missing: D,
) -> Result<(), Stop<D>> {
    let below_limit =
        accounts::table.find(IdBytes::from(account)).filter(accounts::groups_count.lt(whole_number(limit)));
    let counted = diesel::update(below_limit)
        .set(accounts::groups_count.eq(accounts::groups_count + 1))
        .execute(connection)?;
    if counted > 0 { Ok(()) } else { Err(limit_or_absence(connection, account, reached, missing)) }
}

/// Counts one pixel more, with the decisions of [`count_group`].
pub(crate) fn count_pixel<D>(
    connection: &mut SqliteConnection,
    account: AccountId,
    limit: u64,
    reached: D,
    missing: D,
) -> Result<(), Stop<D>> {
    let below_limit =
        accounts::table.find(IdBytes::from(account)).filter(accounts::pixels_count.lt(whole_number(limit)));
    let counted = diesel::update(below_limit)
        .set(accounts::pixels_count.eq(accounts::pixels_count + 1))
        .execute(connection)?;
    if counted > 0 { Ok(()) } else { Err(limit_or_absence(connection, account, reached, missing)) }
}

/// Why an account's count did not move: the limit, or the account was deleted after the request was let in.
fn limit_or_absence<D>(
    connection: &mut SqliteConnection,
    account: AccountId,
    reached: D,
    missing: D,
) -> Stop<D> {
    let account_row = accounts::table.find(IdBytes::from(account));
    match diesel::select(exists(account_row)).get_result(connection) {
        Ok(true) => Stop::Decided(reached),
        Ok(false) => Stop::Decided(missing),
        Err(error) => error.into(),
    }
}

/// Counts one group less.
pub(crate) fn discount_group(connection: &mut SqliteConnection, account: AccountId) -> QueryResult<()> {
    diesel::update(accounts::table.find(IdBytes::from(account)))
        .set(accounts::groups_count.eq(accounts::groups_count - 1))
        .execute(connection)?;
    Ok(())
}

/// Counts one pixel less.
pub(crate) fn discount_pixel(connection: &mut SqliteConnection, account: AccountId) -> QueryResult<()> {
    diesel::update(accounts::table.find(IdBytes::from(account)))
        .set(accounts::pixels_count.eq(accounts::pixels_count - 1))
        .execute(connection)?;
    Ok(())
}

/// How many links an account has; `None` if there is no such account.
pub(crate) fn links(connection: &mut SqliteConnection, account: AccountId) -> Result<Option<u64>, Failure> {
    let found = accounts::table
        .find(IdBytes::from(account))
        .select(accounts::links_count)
        .first(connection)
        .optional()?;
    found.map(|count| RowName::new("accounts", account).count("links_count", count)).transpose()
}

/// Counts so many links more, or less if there are fewer than 0.
pub(crate) fn move_links(connection: &mut SqliteConnection, account: AccountId, by: i64) -> QueryResult<()> {
    if by != 0 {
        diesel::update(accounts::table.find(IdBytes::from(account)))
            .set(accounts::links_count.eq(accounts::links_count + by))
            .execute(connection)?;
    }
    Ok(())
}
