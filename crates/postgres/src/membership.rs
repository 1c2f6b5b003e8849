//! The lock on which links are in the groups of an account (ADR 33).
//!
//! A link says which group it leaves, so nobody knows which groups a unit of work will count in before it holds its links.
//! Two that move the same links would hold them and wait for each other's groups. So units of work that take links out of
//! groups, or put links that are there into groups, come one after the other. Those that only insert links do not wait: their
//! groups are known, and nobody else sees their links.

use diesel_async::{AsyncPgConnection, SimpleAsyncConnection};
use signpost_domain::AccountId;

use crate::failure::{Failure, contended_if_referred_to};
use signpost_sql_rows::columns::IdBytes;

/// Holds the account's lock, or nothing if there is no such account. The next statement sees all that came about while this
/// one waited, also if both go out together: a statement that is not prepared never comes second.
pub(crate) async fn lock(connection: &mut &AsyncPgConnection, account: AccountId) -> Result<(), Failure> {
    let account = IdBytes::from(account).number();
    // A row that is there is held and not written: PostgreSQL looks at the condition afterwards.
    let statement = format!(
        "INSERT INTO membership_locks AS m (account_id) SELECT id FROM accounts WHERE id = '{account:032x}' \
         ON CONFLICT (account_id) DO UPDATE SET account_id = m.account_id WHERE false"
    );
    // The account may be deleted before its row is inserted.
    connection.batch_execute(&statement).await.map_err(contended_if_referred_to)
}
