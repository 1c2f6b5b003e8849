//! Removing the index of deleted accounts and of accounts with few links.

use diesel::sql_types::SmallInt;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_sql_rows::sql_types::Identifier;

use super::sealing::{self, Links};
use super::segments::{self, Range};
use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

statement! {
    /// A segment of a deleted account.
    Orphan -> (Identifier, SmallInt, Identifier) {} =
    "SELECT s.account_id, s.kind, s.last_id FROM search_segments AS s WHERE NOT EXISTS (SELECT FROM accounts AS a \
     WHERE a.id = s.account_id) LIMIT 1"
}

/// A segment of a deleted account. It is no longer written or searched.
pub(super) async fn orphan(connection: &mut &AsyncPgConnection) -> Result<Option<(Links, IdBytes)>, Failure> {
    let found: Vec<(IdBytes, i16, IdBytes)> = Orphan {}.load(connection).await?;
    Ok(found.into_iter().next().map(|(account, kind, last)| (Links { account, kind }, last)))
}

/// Deletes the segment that ends with an id.
pub(super) async fn delete(
    connection: &mut &AsyncPgConnection,
    links: Links,
    last: IdBytes,
) -> Result<(), Failure> {
    let after = IdBytes::from_number(last.number().saturating_sub(1));
    segments::delete(connection, links, Range { after, last }).await
}

/// Deletes the newest segment, and stops noting changes if it was the last one. Returns `false` if another transaction has
/// locked the row.
///
/// The newest goes first, because only links above the newest segment are walked.
pub(super) async fn delete_newest(
    connection: &mut &AsyncPgConnection,
    links: Links,
) -> Result<bool, Failure> {
    if !sealing::hold_from_all(connection, links).await? {
        return Ok(false);
    }
    let mut segments = segments::list(connection, links, IdBytes::highest()).await?.into_iter();
    if let Some(newest) = segments.next() {
        delete(connection, links, newest.last).await?;
    }
    if segments.next().is_none() {
        sealing::unseal(connection, links).await?;
    }
    Ok(true)
}
