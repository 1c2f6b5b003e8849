//! The counters of an account, updated in the transaction that changes what they count (D15).

use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{InsertCustomDomainError, InsertGroupError, InsertPixelError};
use signpost_domain::AccountId;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::schema::accounts;
use crate::statement::statement;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, whole_number};

/// Why a counter cannot go up.
pub(crate) enum Refused {
    /// The limit of the plan is reached.
    LimitReached,
    /// There is no such account.
    AccountMissing,
}

/// Defines how one counter is increased, within a limit, and decreased.
macro_rules! counted {
    ($thing:literal, $column:ident, $count:ident, $discount:ident, $refusal:ident) => {
        #[doc = concat!("Counts one more ", $thing, ", or returns why it is refused.")]
        pub(crate) async fn $count(
            connection: &mut &AsyncPgConnection,
            account: AccountId,
            limit: u64,
        ) -> Result<Result<(), Refused>, Failure> {
            let row = accounts::table.find(IdBytes::from(account));
            let counted = diesel::update(row.filter(accounts::$column.lt(whole_number(limit))))
                .set(accounts::$column.eq(accounts::$column + 1))
                .execute(connection)
                .await?;
            if counted > 0 {
                return Ok(Ok(()));
            }
            let is_there = row.select(accounts::plan).first::<String>(connection).await.optional()?.is_some();
            Ok(Err(if is_there { Refused::LimitReached } else { Refused::AccountMissing }))
        }

        #[doc = concat!("Counts one ", $thing, " less.")]
        pub(crate) async fn $discount(
            connection: &mut &AsyncPgConnection,
            account: AccountId,
        ) -> Result<(), Failure> {
            diesel::update(accounts::table.find(IdBytes::from(account)))
                .set(accounts::$column.eq(accounts::$column - 1))
                .execute(connection)
                .await?;
            Ok(())
        }

        impl From<Refused> for $refusal {
            fn from(refused: Refused) -> Self {
                match refused {
                    Refused::LimitReached => Self::LimitReached,
                    Refused::AccountMissing => Self::AccountMissing,
                }
            }
        }
    };
}

counted!("group", groups_count, count_group, discount_group, InsertGroupError);
counted!("pixel", pixels_count, count_pixel, discount_pixel, InsertPixelError);
counted!("custom domain", domains_count, count_domain, discount_domain, InsertCustomDomainError);

statement! {
    /// A prepared statement: Diesel's own updates are prepared on each run. That costs a round trip while others wait for
    /// this row.
    MoveLinksCount -> BigInt {
        account: IdBytes,
        by: i64,
    } =
    "UPDATE accounts SET links_count = links_count + "
    { by: BigInt } " WHERE id = "
    { account: Identifier } " RETURNING links_count"
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
