//! The counts of an account that move with what they count, in the same transaction (D15).

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

/// What stands against one more.
pub(crate) enum Refused {
    /// There are as many as the plan allows.
    LimitReached,
    /// There is no such account.
    AccountMissing,
}

/// How one count goes up, within a limit, and down.
macro_rules! counted {
    ($thing:literal, $column:ident, $count:ident, $discount:ident, $refusal:ident) => {
        #[doc = concat!("Counts one ", $thing, " more, or says what stands against it.")]
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
    /// Diesel's own updates are prepared anew each time, which takes a round trip, here while everybody who wants the row
    /// waits for it.
    MoveLinksCount -> BigInt {
        account: IdBytes,
        by: i64,
    } =
    "UPDATE accounts SET links_count = links_count + "
    { by: BigInt } " WHERE id = "
    { account: Identifier } " RETURNING links_count"
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
    Ok(moved.map(|count| row.count("links_count", count.saturating_sub(by))).transpose()?)
}
