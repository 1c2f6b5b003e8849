//! Sealing. It records the last link whose changes are noted, and which node may write segments.

use diesel::sql_types::{Bool, Nullable, SmallInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

/// An account's links of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) account: IdBytes,
    pub(super) kind: i16,
}

statement! {
    AddState -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "INSERT INTO search_states (account_id, kind) SELECT a.id, $2 FROM accounts AS a WHERE a.id = $1 ON CONFLICT DO \
     NOTHING"
}

statement! {
    /// Locks the row if neither a transaction that changes links nor another segment writer has locked it.
    HoldFromAll -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "SELECT true FROM search_states WHERE account_id = $1 AND kind = $2 FOR UPDATE SKIP LOCKED"
}

statement! {
    /// Locks the row if no other segment writer has locked it.
    HoldFromWriters -> Nullable<Identifier> {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "SELECT sealed_until FROM search_states WHERE account_id = $1 AND kind = $2 FOR NO KEY UPDATE SKIP LOCKED"
}

statement! {
    /// Seals all visible links.
    SealAll -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "UPDATE search_states SET sealed_until = greatest(sealed_until, (SELECT l.id FROM links AS l WHERE \
     (l.account_id, l.kind) >= ($1, $2) AND (l.account_id, l.kind) <= ($1, $2) ORDER BY l.account_id DESC, l.kind \
     DESC, l.id DESC LIMIT 1)) WHERE account_id = $1 AND kind = $2"
}

statement! {
    UnsealAll -> Bool {
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "WITH unsealed AS (UPDATE search_states SET sealed_until = NULL WHERE account_id = $1 AND kind = $2) DELETE FROM \
     search_changes WHERE account_id = $1 AND kind = $2"
}

/// Adds the state row of the links, if the account still exists.
pub(super) async fn add_state(connection: &mut &AsyncPgConnection, links: Links) -> Result<(), Failure> {
    AddState { account: links.account, kind: links.kind }.execute(connection).await?;
    Ok(())
}

/// Locks the row unless another transaction has locked it. From then on, all earlier changes are visible, and later changes
/// will be noted by the row's state.
pub(super) async fn hold_from_all(
    connection: &mut &AsyncPgConnection,
    links: Links,
) -> Result<bool, Failure> {
    let hold = HoldFromAll { account: links.account, kind: links.kind };
    let rows: Vec<bool> = hold.load(connection).await?;
    Ok(!rows.is_empty())
}

/// Locks the row unless another segment writer has locked it. Returns the last link whose changes are noted.
pub(super) async fn hold_from_writers(
    connection: &mut &AsyncPgConnection,
    links: Links,
) -> Result<Option<IdBytes>, Failure> {
    let hold = HoldFromWriters { account: links.account, kind: links.kind };
    let rows: Vec<Option<IdBytes>> = hold.load(connection).await?;
    Ok(rows.into_iter().next().flatten())
}

/// Starts noting changes of all links that are visible now. The row is locked from all.
pub(super) async fn seal(connection: &mut &AsyncPgConnection, links: Links) -> Result<(), Failure> {
    SealAll { account: links.account, kind: links.kind }.execute(connection).await?;
    Ok(())
}

/// Stops noting changes, and deletes the notes. The row is locked from all, and no segments exist.
pub(super) async fn unseal(connection: &mut &AsyncPgConnection, links: Links) -> Result<(), Failure> {
    UnsealAll { account: links.account, kind: links.kind }.execute(connection).await?;
    Ok(())
}
