//! Up to which link changes are noted, and who may write segments.

use diesel::sql_types::{Bool, Nullable, SmallInt};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::IdBytes;

/// The links of an account of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Links {
    pub(super) account: IdBytes,
    pub(super) kind: i16,
}

statement! {
    AddState -> Bool {
        account: IdBytes,
        kind: i16,
    } =
    "INSERT INTO search_states (account_id, kind) SELECT a.id, "
    { kind: SmallInt } " FROM accounts AS a WHERE a.id = "
    { account: Identifier } " ON CONFLICT DO NOTHING"
}

statement! {
    /// Holds the row if nobody who changes links does, and no other who writes segments.
    HoldFromAll -> Bool {
        account: IdBytes,
        kind: i16,
    } =
    "SELECT true FROM search_states WHERE account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt } " FOR UPDATE SKIP LOCKED"
}

statement! {
    /// Holds the row if no other who writes segments does.
    HoldFromWriters -> Nullable<Identifier> {
        account: IdBytes,
        kind: i16,
    } =
    "SELECT sealed_until FROM search_states WHERE account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt } " FOR NO KEY UPDATE SKIP LOCKED"
}

statement! {
    /// Seals all links that can be seen.
    SealAll -> Bool {
        account: IdBytes,
        kind: i16,
    } =
    "UPDATE search_states SET sealed_until = greatest(sealed_until, (SELECT l.id FROM links AS l \
     WHERE (l.account_id, l.kind) >= ("
    { account: Identifier } ", "
    { kind: SmallInt } ") AND (l.account_id, l.kind) <= ("
    { account: Identifier } ", "
    { kind: SmallInt } ") ORDER BY l.account_id DESC, l.kind DESC, l.id DESC LIMIT 1)) WHERE account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt }
    ""
}

statement! {
    UnsealAll -> Bool {
        account: IdBytes,
        kind: i16,
    } =
    "WITH unsealed AS (UPDATE search_states SET sealed_until = NULL WHERE account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt } ") DELETE FROM search_changes WHERE account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt }
    ""
}

/// Adds the row of the links, where the account is still there.
pub(super) async fn add_state(connection: &mut &AsyncPgConnection, links: Links) -> Result<(), Failure> {
    AddState { account: links.account, kind: links.kind }.execute(connection).await?;
    Ok(())
}

/// Holds the row, unless somebody else does. From then on all that others have written can be seen, and what they write later
/// will be noted, as the row says by then.
pub(super) async fn hold_from_all(
    connection: &mut &AsyncPgConnection,
    links: Links,
) -> Result<bool, Failure> {
    let hold = HoldFromAll { account: links.account, kind: links.kind };
    let rows: Vec<bool> = hold.load(connection).await?;
    Ok(!rows.is_empty())
}

/// Holds the row, unless another who writes segments does, and gives up to which link changes are noted.
pub(super) async fn hold_from_writers(
    connection: &mut &AsyncPgConnection,
    links: Links,
) -> Result<Option<IdBytes>, Failure> {
    let hold = HoldFromWriters { account: links.account, kind: links.kind };
    let rows: Vec<Option<IdBytes>> = hold.load(connection).await?;
    Ok(rows.into_iter().next().flatten())
}

/// Has changes noted of all links that can be seen now. The row is held from all.
pub(super) async fn seal(connection: &mut &AsyncPgConnection, links: Links) -> Result<(), Failure> {
    SealAll { account: links.account, kind: links.kind }.execute(connection).await?;
    Ok(())
}

/// Has no changes noted any more, and forgets those that were. The row is held from all, and there are no segments.
pub(super) async fn unseal(connection: &mut &AsyncPgConnection, links: Links) -> Result<(), Failure> {
    UnsealAll { account: links.account, kind: links.kind }.execute(connection).await?;
    Ok(())
}
