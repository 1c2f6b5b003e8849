//! Digests of days, and the last clicks of links.

use std::collections::BTreeMap;

use diesel::sql_types::{Array, BigInt, Binary, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_clicks::{Digest, DigestScope};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, LinkId, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::columns::{IdBytes, Instant, whole_number};

/// How many last clicks one statement writes.
const LAST_CLICKS_AT_ONCE: usize = 5_000;

/// The value of the column `scope`.
fn scope_bytes(account: AccountId, scope: DigestScope) -> IdBytes {
    match scope {
        DigestScope::Account => account.into(),
        DigestScope::Link(link) => link.into(),
    }
}

statement! {
    /// The digests up to the one with which they have a number of bytes or more.
    OfDays -> (Integer, Binary) {
        account: IdBytes => Identifier,
        days: Vec<i32> => Array<Integer>,
        scope: IdBytes => Identifier,
        bytes: i64 => BigInt,
    } =
    "SELECT day, data FROM (SELECT day, data, sum(octet_length(data)) OVER (ORDER BY day) - octet_length(data) AS \
     before FROM click_digests WHERE account_id = $1 AND day = ANY ($2) AND scope = $3) AS d WHERE before < $4 ORDER \
     BY day"
}

/// The digests of some days, up to the one with which they have `bytes` or more.
pub(super) async fn of_days(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    days: &[UtcDay],
    scope: DigestScope,
    bytes: u64,
) -> Result<Vec<(UtcDay, Vec<u8>)>, Failure> {
    let digests = OfDays {
        account: account.into(),
        days: days.iter().map(|day| day.number()).collect(),
        scope: scope_bytes(account, scope),
        bytes: whole_number(bytes),
    };
    let rows: Vec<(i32, Vec<u8>)> = digests.load(connection).await?;
    Ok(rows.into_iter().map(|(day, data)| (UtcDay::from_number(day), data)).collect())
}

statement! {
    #[derive(Default)]
    InsertDigests -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        scopes: Vec<IdBytes> => Array<Identifier>,
        data: Vec<Vec<u8>> => Array<Binary>,
    } =
    "INSERT INTO click_digests (account_id, day, scope, data) SELECT * FROM unnest($1, $2, $3, $4) ON CONFLICT \
     (account_id, day, scope) DO UPDATE SET data = excluded.data"
}

/// Stores digests of days.
pub(super) async fn store(
    connection: &mut &AsyncPgConnection,
    digests: Vec<(AccountId, UtcDay, Digest)>,
) -> Result<(), Failure> {
    let mut rows = InsertDigests::default();
    for (account, day, Digest { scope, data }) in digests {
        rows.accounts.push(account.into());
        rows.days.push(day.number());
        rows.scopes.push(scope_bytes(account, scope));
        rows.data.push(data);
    }
    if !rows.days.is_empty() {
        rows.execute(connection).await?;
    }
    Ok(())
}

statement! {
    LastClicks -> (Identifier, Moment) {
        account: IdBytes => Identifier,
        links: Vec<IdBytes> => Array<Identifier>,
    } =
    "SELECT link_id, at FROM last_clicks WHERE account_id = $1 AND link_id = ANY ($2)"
}

/// The last clicks of links.
pub(super) async fn last_clicks(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    links: &[LinkId],
) -> Result<BTreeMap<LinkId, Timestamp>, Failure> {
    let known =
        LastClicks { account: account.into(), links: links.iter().map(|link| (*link).into()).collect() };
    let rows: Vec<(IdBytes, Instant)> = known.load(connection).await?;
    let known: BTreeMap<IdBytes, Instant> = rows.into_iter().collect();
    let mut found = BTreeMap::new();
    for link in links {
        if let Some(at) = known.get(&(*link).into()) {
            found.insert(*link, RowName::new("last_clicks", link).timestamp("at", *at)?);
        }
    }
    Ok(found)
}

statement! {
    NoteLastClicks -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        links: Vec<IdBytes> => Array<Identifier>,
        at: Vec<Instant> => Array<Moment>,
    } =
    "INSERT INTO last_clicks AS l (account_id, link_id, at) SELECT * FROM unnest($1, $2, $3) ON CONFLICT \
     (account_id, link_id) DO UPDATE SET at = excluded.at WHERE l.at < excluded.at"
}

/// Notes last clicks, unless later ones are known. One entry for each link, because a statement may change a row only once;
/// sorted, because that is the order in which transactions lock these rows.
pub(super) async fn note_last_clicks(
    connection: &mut &AsyncPgConnection,
    last: BTreeMap<(IdBytes, IdBytes), Timestamp>,
) -> Result<(), Failure> {
    let last: Vec<((IdBytes, IdBytes), Timestamp)> = last.into_iter().collect();
    for some in last.chunks(LAST_CLICKS_AT_ONCE) {
        let (accounts, links) = some.iter().map(|(key, _)| *key).unzip();
        let at = some.iter().map(|(_, at)| (*at).into()).collect();
        NoteLastClicks { accounts, links, at }.execute(connection).await?;
    }
    Ok(())
}
