//! The counters of an account, updated in the transaction that changes what they count (D15).
//!
//! The transaction holds the write lock from its start, so no other transaction changes a counter between read and update.

use diesel::dsl::exists;
use diesel::prelude::*;
use signpost_app::ports::InsertResourceError;
use signpost_domain::{AccountId, PlanResource};

use crate::failure::Failure;
use crate::schema::accounts;
use crate::unit_of_work::Stop;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::plan_counter::MoveCounter;

/// Counts one more, or returns why it is refused.
pub(crate) fn count_one<D: From<InsertResourceError>>(
    connection: &mut SqliteConnection,
    account: AccountId,
    resource: PlanResource,
    limit: u64,
) -> Result<(), Stop<D>> {
    if MoveCounter::one_more(account, resource, limit).execute(connection)? > 0 {
        return Ok(());
    }
    // The limit is reached, or the account was deleted after the request was admitted.
    let account_row = accounts::table.find(IdBytes::from(account));
    let is_there: bool = diesel::select(exists(account_row)).get_result(connection)?;
    let refused =
        if is_there { InsertResourceError::LimitReached } else { InsertResourceError::AccountMissing };
    Err(Stop::Decided(refused.into()))
}

/// Counts one less.
pub(crate) fn discount_one(
    connection: &mut SqliteConnection,
    account: AccountId,
    resource: PlanResource,
) -> QueryResult<()> {
    MoveCounter::by(-1, account, resource).execute(connection)?;
    Ok(())
}

/// How many links an account has; `None` if the account does not exist.
pub(crate) fn links(connection: &mut SqliteConnection, account: AccountId) -> Result<Option<u64>, Failure> {
    let found = accounts::table
        .find(IdBytes::from(account))
        .select(accounts::links_count)
        .first(connection)
        .optional()?;
    Ok(found.map(|count| RowName::new("accounts", account).count("links_count", count)).transpose()?)
}

/// Adds to the count of links; a negative number subtracts.
pub(crate) fn move_links(connection: &mut SqliteConnection, account: AccountId, by: i64) -> QueryResult<()> {
    if by != 0 {
        MoveCounter::by(by, account, PlanResource::Links).execute(connection)?;
    }
    Ok(())
}
