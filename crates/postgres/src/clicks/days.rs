//! The upkeep state of the days of accounts.

use diesel::sql_types::{Array, BigInt, Bool, Integer, Nullable};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_click_store::{DayChange, DayEffect, DayVersion, PendingDays};
use signpost_domain::AccountId;
use signpost_domain::analytics::UtcDay;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use signpost_sql_rows::columns::{IdBytes, signed};

/// Accounts and days, as one array for each column.
pub(super) fn columns(days: &[(AccountId, UtcDay)]) -> (Vec<IdBytes>, Vec<i32>) {
    days.iter().map(|(account, day)| (IdBytes::from(*account), day.number())).unzip()
}

statement! {
    /// Days without digests, oldest first.
    ToDigest -> (Identifier, Integer, BigInt) {
        last: i32 => Integer,
        at_most: i64,
    } =
    "SELECT account_id, day, version FROM click_days WHERE NOT digested AND day <= $1 ORDER BY day, account_id LIMIT \
     $2"
}

statement! {
    /// Days that are not sealed, oldest first.
    ToSeal -> (Identifier, Integer, BigInt) {
        last: i32 => Integer,
        at_most: i64,
    } =
    "SELECT account_id, day, version FROM click_days WHERE NOT sealed AND day <= $1 ORDER BY day, account_id LIMIT \
     $2"
}

type VersionRow = (IdBytes, i32, i64);

fn found(rows: Vec<VersionRow>) -> Vec<DayVersion> {
    let found = |(account, day, version): VersionRow| DayVersion {
        account: account.id(),
        day: UtcDay::from_number(day),
        version,
    };
    rows.into_iter().map(found).collect()
}

pub(super) async fn pending(
    connection: &mut &AsyncPgConnection,
    pending: PendingDays,
    last: UtcDay,
    at_most: usize,
) -> Result<Vec<DayVersion>, Failure> {
    let (last, at_most) = (last.number(), signed(at_most));
    let rows: Vec<VersionRow> = match pending {
        PendingDays::ToDigest => ToDigest { last, at_most }.load(connection).await?,
        PendingDays::ToSeal => ToSeal { last, at_most }.load(connection).await?,
    };
    Ok(found(rows))
}

statement! {
    Recent -> Integer {
        account: IdBytes => Identifier,
        since: i32 => Integer,
    } =
    "SELECT day FROM click_days WHERE account_id = $1 AND (day >= $2 OR NOT digested)"
}

/// The days of an account from `since` on, and the earlier ones without digests.
pub(super) async fn recent(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    since: UtcDay,
) -> Result<Vec<UtcDay>, Failure> {
    let days: Vec<i32> = Recent { account: account.into(), since: since.number() }.load(connection).await?;
    Ok(days.into_iter().map(UtcDay::from_number).collect())
}

statement! {
    DaysBefore -> (Identifier, Integer, BigInt) {
        account: IdBytes => Identifier,
        before: i32 => Integer,
        at_most: i64,
    } =
    "SELECT account_id, day, version FROM click_days WHERE account_id = $1 AND day < $2 ORDER BY day LIMIT $3"
}

/// Some days of an account before a day, or any, oldest first.
pub(super) async fn before(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    before: Option<UtcDay>,
    at_most: usize,
) -> Result<Vec<DayVersion>, Failure> {
    let before = before.map_or(i32::MAX, UtcDay::number);
    let statement = DaysBefore { account: account.into(), before, at_most: signed(at_most) };
    Ok(found(statement.load(connection).await?))
}

statement! {
    Versions -> (Identifier, Integer, BigInt) {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
    } =
    "SELECT d.account_id, d.day, d.version FROM unnest($1, $2) AS t (account_id, day) JOIN click_days AS d ON \
     d.account_id = t.account_id AND d.day = t.day"
}

/// The versions of days that have clicks.
pub(super) async fn versions(
    connection: &mut &AsyncPgConnection,
    days: &[(AccountId, UtcDay)],
) -> Result<Vec<DayVersion>, Failure> {
    let (accounts, days) = columns(days);
    Ok(found(Versions { accounts, days }.load(connection).await?))
}

statement! {
    /// Locks days that have the expected versions, in the order of their keys.
    Hold -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        versions: Vec<i64> => Array<BigInt>,
    } =
    "SELECT d.version FROM unnest($1, $2, $3) AS t (account_id, day, version) JOIN click_days AS d ON d.account_id = \
     t.account_id AND d.day = t.day AND d.version = t.version ORDER BY d.account_id, d.day FOR UPDATE OF d"
}

statement! {
    /// Inserts days that had no clicks, in the order of their keys. A day that was deleted and comes back has another version
    /// than before, because its first one is random.
    Insert -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
    } =
    "INSERT INTO click_days (account_id, day, version, digested, sealed) SELECT t.account_id, t.day, floor(random() \
     * 4611686018427387904)::bigint, false, false FROM unnest($1, $2) AS t (account_id, day) ORDER BY t.account_id, \
     t.day ON CONFLICT DO NOTHING"
}

/// Locks the days of some changes, and inserts those that had no clicks. `false` if a day has another version than the
/// change rests on.
pub(super) async fn hold(
    connection: &mut &AsyncPgConnection,
    changes: &[DayChange],
) -> Result<bool, Failure> {
    let (mut accounts, mut days, mut versions) = (Vec::new(), Vec::new(), Vec::new());
    let mut new = Vec::new();
    for DayChange { account, day, version, effect: _ } in changes {
        match version {
            Some(version) => {
                accounts.push(IdBytes::from(*account));
                days.push(day.number());
                versions.push(*version);
            }
            None => new.push((*account, *day)),
        }
    }
    if !versions.is_empty() {
        let expected = versions.len();
        let held: Vec<i64> = Hold { accounts, days, versions }.load(connection).await?;
        if held.len() != expected {
            return Ok(false);
        }
    }
    if new.is_empty() {
        return Ok(true);
    }
    let (accounts, days) = columns(&new);
    Ok(Insert { accounts, days }.execute(connection).await? == new.len())
}

statement! {
    /// Sets what is given of each day, and moves its version by a number.
    Mark -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
        moves: Vec<i64> => Array<BigInt>,
        digested: Vec<Option<bool>> => Array<Nullable<Bool>>,
        sealed: Vec<Option<bool>> => Array<Nullable<Bool>>,
    } =
    "UPDATE click_days AS d SET version = d.version + t.moves, digested = coalesce(t.digested, d.digested), sealed = \
     coalesce(t.sealed, d.sealed) FROM unnest($1, $2, $3, $4, $5) AS t (account_id, day, moves, digested, sealed) \
     WHERE d.account_id = t.account_id AND d.day = t.day"
}

statement! {
    DeleteDigests -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
    } =
    "DELETE FROM click_digests AS d USING unnest($1, $2) AS t (account_id, day) WHERE d.account_id = t.account_id \
     AND d.day = t.day"
}

statement! {
    /// Deletes those of these days that have no segments.
    DeleteEmpty -> BigInt {
        accounts: Vec<IdBytes> => Array<Identifier>,
        days: Vec<i32> => Array<Integer>,
    } =
    "DELETE FROM click_days AS d USING unnest($1, $2) AS t (account_id, day) WHERE d.account_id = t.account_id AND \
     d.day = t.day AND NOT EXISTS (SELECT FROM click_segments AS s WHERE s.account_id = d.account_id AND s.day = \
     d.day)"
}

/// Deletes those of these days that have no segments. This transaction has locked them.
pub(super) async fn delete_empty(
    connection: &mut &AsyncPgConnection,
    days: &[(AccountId, UtcDay)],
) -> Result<(), Failure> {
    if days.is_empty() {
        return Ok(());
    }
    let (accounts, days) = columns(days);
    DeleteEmpty { accounts, days }.execute(connection).await?;
    Ok(())
}

/// Marks the days of some changes, which this transaction has locked, and deletes the digests of those whose clicks change.
pub(super) async fn mark(connection: &mut &AsyncPgConnection, changes: &[DayChange]) -> Result<(), Failure> {
    if changes.is_empty() {
        return Ok(());
    }
    let marks = changes.iter().map(|change| match change.effect {
        DayEffect::NewSegments(_) => (1, (Some(false), Some(false))),
        DayEffect::Digested { .. } => (0, (Some(true), None)),
        DayEffect::Sealed(_) => (1, (None, Some(true))),
        DayEffect::Deleted(_) => (1, (Some(false), None)),
    });
    let (moves, (digested, sealed)) = marks.unzip();
    let all: Vec<(AccountId, UtcDay)> = changes.iter().map(|change| (change.account, change.day)).collect();
    let (accounts, days) = columns(&all);
    Mark { accounts, days, moves, digested, sealed }.execute(connection).await?;
    let stale = changes
        .iter()
        .filter(|change| matches!(change.effect, DayEffect::NewSegments(_) | DayEffect::Deleted(_)));
    let stale: Vec<(AccountId, UtcDay)> = stale.map(|change| (change.account, change.day)).collect();
    if !stale.is_empty() {
        let (accounts, days) = columns(&stale);
        DeleteDigests { accounts, days }.execute(connection).await?;
    }
    Ok(())
}
