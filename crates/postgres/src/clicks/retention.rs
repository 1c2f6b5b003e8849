//! Deleting the clicks of accounts.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::sql_types::{Array, BigInt, Bool, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::OldClicks;
use signpost_domain::AccountId;
use signpost_domain::analytics::{PlannedDeletion, UtcDay};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::{IdBytes, Instant, signed, whole_number};

/// The day in `forgotten_clicks` of a deleted account.
const EVERY_DAY: i32 = i32::MAX;

statement! {
    /// Waits for all running packers.
    WaitForPackers -> Bool {} =
    "SELECT is_the_row FROM click_packers FOR UPDATE"
}

statement! {
    NoteForgotten -> BigInt {
        account: IdBytes => Identifier,
        before: i32 => Integer,
    } =
    "INSERT INTO forgotten_clicks AS f (account_id, before_day) VALUES ($1, $2) ON CONFLICT (account_id) DO UPDATE \
     SET before_day = greatest(f.before_day, excluded.before_day)"
}

statement! {
    Forgotten -> Identifier {
        accounts: Vec<IdBytes> => Array<Identifier>,
        before: i32 => Integer,
    } =
    "SELECT account_id FROM forgotten_clicks WHERE account_id = ANY ($1) AND before_day = $2"
}

statement! {
    Planned -> (Integer, BigInt) {
        account: IdBytes => Identifier,
    } =
    "SELECT before_day, waited_seconds FROM planned_click_deletions WHERE account_id = $1"
}

statement! {
    Plan -> BigInt {
        account: IdBytes => Identifier,
        before: i32 => Integer,
        waited: i64 => BigInt,
    } =
    "INSERT INTO planned_click_deletions (account_id, before_day, waited_seconds) VALUES ($1, $2, $3) ON CONFLICT \
     (account_id) DO UPDATE SET before_day = excluded.before_day, waited_seconds = excluded.waited_seconds"
}

statement! {
    Unplan -> BigInt {
        account: IdBytes => Identifier,
    } =
    "DELETE FROM planned_click_deletions WHERE account_id = $1"
}

statement! {
    /// The number of the current day.
    Today -> Integer {} =
    "SELECT floor(extract(epoch FROM now()) / 86400)::integer"
}

statement! {
    /// The oldest day, and the number of packed clicks.
    OldClicksBefore -> (Integer, BigInt) {
        account: IdBytes => Identifier,
        day: i32 => Integer,
    } =
    "SELECT d.day, (SELECT coalesce(sum(s.clicks), 0)::bigint FROM click_segments AS s WHERE s.account_id = \
     d.account_id AND s.day < $2) FROM click_days AS d WHERE d.account_id = $1 AND d.day < $2 ORDER BY d.day LIMIT 1"
}

statement! {
    DeleteLastClicks -> BigInt {
        account: IdBytes => Identifier,
        end: Instant => Moment,
        at_most: i64 => BigInt,
    } =
    "DELETE FROM last_clicks WHERE account_id = $1 AND link_id IN (SELECT link_id FROM last_clicks WHERE account_id \
     = $1 AND at < $2 LIMIT $3)"
}

/// Notes that an account was deleted: clicks of it that arrive later must be dropped.
pub(super) async fn note_deleted_account(
    store: &PostgresStore,
    account: AccountId,
    ends: std::time::Instant,
) -> Result<(), Failure> {
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    let note = async |connection: &mut &AsyncPgConnection| {
        let account = IdBytes::from(account);
        if forgotten(connection, vec![account]).await?.is_empty() {
            // Running packers may have read the record before it was written.
            let _: bool = WaitForPackers {}.get_result(connection).await?;
            NoteForgotten { account, before: EVERY_DAY }.execute(connection).await?;
            Unplan { account }.execute(connection).await?;
        }
        Ok(())
    };
    lease.begin_with(ends, note).await?;
    lease.commit(ends, Vec::new()).await
}

/// Deletes some last clicks from before a day, or any. Returns how many.
pub(super) async fn delete_last_clicks(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    before: Option<UtcDay>,
    at_most: usize,
) -> Result<usize, Failure> {
    let end = before.map_or(Instant::from_micros(i64::MAX), |day| day.first().into());
    let statement = DeleteLastClicks { account: account.into(), end, at_most: signed(at_most) };
    Ok(statement.execute(connection).await?)
}

statement! {
    /// Skips from account to account and reads only the oldest day of each: an account may have a thousand rows of days.
    AccountsBefore -> Identifier {
        after: IdBytes => Identifier,
        day: i32 => Integer,
        at_most: i64 => BigInt,
    } =
    "WITH RECURSIVE a (id) AS ((SELECT account_id FROM click_days WHERE account_id > $1 ORDER BY account_id LIMIT 1) \
     UNION ALL SELECT (SELECT d.account_id FROM click_days AS d WHERE d.account_id > a.id ORDER BY d.account_id \
     LIMIT 1) FROM a WHERE a.id IS NOT NULL), old AS (SELECT a.id FROM a WHERE EXISTS (SELECT FROM click_days AS d \
     WHERE d.account_id = a.id AND d.day < $2) LIMIT $3), planned AS (SELECT p.account_id AS id FROM \
     planned_click_deletions AS p WHERE p.account_id > $1 ORDER BY p.account_id LIMIT $3) SELECT id FROM (SELECT id \
     FROM old UNION SELECT id FROM planned) AS found ORDER BY id LIMIT $3"
}

/// Those of the accounts that were deleted, so that their clicks must be dropped.
pub(super) async fn forgotten(
    connection: &mut &AsyncPgConnection,
    accounts: Vec<IdBytes>,
) -> Result<BTreeSet<IdBytes>, Failure> {
    let forgotten: Vec<IdBytes> = Forgotten { accounts, before: EVERY_DAY }.load(connection).await?;
    Ok(forgotten.into_iter().collect())
}

pub(super) async fn today(connection: &mut &AsyncPgConnection) -> Result<UtcDay, Failure> {
    let day: i32 = Today {}.get_result(connection).await?;
    Ok(UtcDay::from_number(day))
}

pub(super) async fn planned(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
) -> Result<Option<PlannedDeletion>, Failure> {
    let rows: Vec<(i32, i64)> = Planned { account: account.into() }.load(connection).await?;
    Ok(rows.into_iter().next().map(|(before, waited)| PlannedDeletion {
        before: UtcDay::from_number(before),
        waited: Duration::from_secs(waited.try_into().unwrap_or_default()),
    }))
}

pub(super) async fn plan(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    planned: Option<PlannedDeletion>,
) -> Result<(), Failure> {
    let account = IdBytes::from(account);
    match planned {
        Some(PlannedDeletion { before, waited }) => {
            let waited = whole_number(waited.as_secs());
            Plan { account, before: before.number(), waited }.execute(connection).await?;
        }
        None => {
            Unplan { account }.execute(connection).await?;
        }
    }
    Ok(())
}

/// The clicks of an account from before a day.
pub(super) async fn old_clicks(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    day: UtcDay,
) -> Result<Option<OldClicks>, Failure> {
    let statement = OldClicksBefore { account: account.into(), day: day.number() };
    let rows: Vec<(i32, i64)> = statement.load(connection).await?;
    Ok(rows.into_iter().next().map(|(oldest, clicks)| OldClicks {
        clicks: clicks.try_into().unwrap_or_default(),
        oldest: UtcDay::from_number(oldest),
    }))
}

/// Accounts with clicks before a day or with a planned deletion.
pub(super) async fn accounts_with_clicks_before(
    connection: &mut &AsyncPgConnection,
    day: UtcDay,
    after: Option<AccountId>,
    at_most: usize,
) -> Result<Vec<AccountId>, Failure> {
    let accounts = AccountsBefore {
        after: after.map_or(IdBytes::lowest(), IdBytes::from),
        day: day.number(),
        at_most: whole_number(u64::try_from(at_most).unwrap_or(u64::MAX)),
    };
    let accounts: Vec<IdBytes> = accounts.load(connection).await?;
    Ok(accounts.into_iter().map(IdBytes::id).collect())
}
