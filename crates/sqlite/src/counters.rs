//! The counts that move with what they count, in the same transaction (D15).
//!
//! None is read first and written then: each is one conditional statement, and the number of rows that it changed is
//! the answer.

use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_domain::{AccountId, GroupId};

use crate::columns::{IdBytes, whole_number};
use crate::schema::{accounts, groups};
use crate::unit_of_work::Stop;

/// Counts one more link, unless there are `limit`, then the decision is `reached`, or there is no such account, then
/// it is `missing`.
pub(crate) fn count_link<D>(
    connection: &mut SqliteConnection,
    account: AccountId,
    limit: u64,
    reached: D,
    missing: D,
) -> Result<(), Stop<D>> {
    let below_limit =
        accounts::table.find(IdBytes::from(account)).filter(accounts::links_count.lt(whole_number(limit)));
    let counted = diesel::update(below_limit)
        .set(accounts::links_count.eq(accounts::links_count + 1))
        .execute(connection)?;
    if counted > 0 { Ok(()) } else { Err(limit_or_absence(connection, account, reached, missing)) }
}

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

/// Counts one link less.
pub(crate) fn discount_link(connection: &mut SqliteConnection, account: AccountId) -> QueryResult<()> {
    diesel::update(accounts::table.find(IdBytes::from(account)))
        .set(accounts::links_count.eq(accounts::links_count - 1))
        .execute(connection)?;
    Ok(())
}

/// Counts one group less.
pub(crate) fn discount_group(connection: &mut SqliteConnection, account: AccountId) -> QueryResult<()> {
    diesel::update(accounts::table.find(IdBytes::from(account)))
        .set(accounts::groups_count.eq(accounts::groups_count - 1))
        .execute(connection)?;
    Ok(())
}

/// Counts one redirect more in a group. `false` if the account has no such group.
pub(crate) fn count_redirect_in(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupId,
) -> QueryResult<bool> {
    let counted = diesel::update(groups::table.find((IdBytes::from(account), IdBytes::from(group))))
        .set(groups::redirects_count.eq(groups::redirects_count + 1))
        .execute(connection)?;
    Ok(counted > 0)
}

/// Counts one redirect less in a group.
pub(crate) fn discount_redirect_in(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupId,
) -> QueryResult<()> {
    diesel::update(groups::table.find((IdBytes::from(account), IdBytes::from(group))))
        .set(groups::redirects_count.eq(groups::redirects_count - 1))
        .execute(connection)?;
    Ok(())
}
