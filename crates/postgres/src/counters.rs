//! The counters of an account, updated in the transaction that changes what they count (D15).

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::InsertResourceError;
use signpost_domain::{AccountId, PlanResource};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::schema::accounts;
use crate::statement::statement;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::plan_counter::MoveCounter;

/// Counts one more, or returns why it is refused.
pub(crate) async fn count_one(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    resource: PlanResource,
    limit: u64,
) -> Result<Result<(), InsertResourceError>, Failure> {
    if MoveCounter::one_more(account, resource, limit).execute(connection).await? > 0 {
        return Ok(Ok(()));
    }
    let row = accounts::table.find(IdBytes::from(account));
    let is_there = row.select(accounts::plan).first::<String>(connection).await.optional()?.is_some();
    Ok(Err(if is_there { InsertResourceError::LimitReached } else { InsertResourceError::AccountMissing }))
}

/// Counts one less.
pub(crate) async fn discount_one(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    resource: PlanResource,
) -> Result<(), Failure> {
    MoveCounter::by(-1, account, resource).execute(connection).await?;
    Ok(())
}

statement! {
    /// A prepared statement: Diesel's own updates are prepared on each run. That costs a round trip while others wait for
    /// this row.
    MoveLinksCount -> BigInt {
        account: IdBytes => Identifier,
        by: i64 => BigInt,
    } =
    "UPDATE accounts SET links_count = links_count + $2 WHERE id = $1 RETURNING links_count"
}

/// Adds to the count of links; a negative number subtracts. Returns the count before, which stays locked until this unit of
/// work ends, or `None` if the account does not exist.
pub(crate) async fn move_links(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    by: i64,
) -> Result<Option<u64>, Failure> {
    let statement = MoveLinksCount { account: account.into(), by };
    let moved = statement.get_result::<i64>(connection).await.optional()?;
    let row = RowName::new("accounts", account);
    Ok(moved.map(|count| row.count("links_count", count.saturating_sub(by))).transpose()?)
}
