//! Deleting the clicks of accounts.

use std::collections::BTreeSet;
use std::time::Duration;

use diesel::sql_types::{Array, BigInt, Bool, Integer};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{OldClicks, Upkeep};
use signpost_domain::AccountId;
use signpost_domain::analytics::{PlannedDeletion, UtcDay};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::permits::Purpose;
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::time_limit::end_of_call;
use signpost_sql_rows::columns::{IdBytes, Instant, whole_number};

/// The day in `forgotten_clicks` of a deleted account.
const EVERY_DAY: i32 = i32::MAX;

statement! {
    /// Waits for all running packers.
    WaitForPackers -> Bool {} = "SELECT is_the_row FROM click_packers FOR UPDATE"
}

statement! {
    NoteForgotten -> BigInt {
        account: IdBytes,
        before: i32,
    } =
    "INSERT INTO forgotten_clicks AS f (account_id, before_day) VALUES ("
    { account: Identifier } ", "
    { before: Integer } ") ON CONFLICT (account_id) DO UPDATE SET before_day = greatest(f.before_day, excluded.before_day)"
}

statement! {
    Forgotten -> Identifier {
        accounts: Vec<IdBytes>,
        before: i32,
    } =
    "SELECT account_id FROM forgotten_clicks WHERE account_id = ANY ("
    { accounts: Array<Identifier> } ") AND before_day = "
    { before: Integer } ""
}

statement! {
    Planned -> (Integer, BigInt) {
        account: IdBytes,
    } =
    "SELECT before_day, waited_seconds FROM planned_click_deletions WHERE account_id = "
    { account: Identifier } ""
}

statement! {
    Plan -> BigInt {
        account: IdBytes,
        before: i32,
        waited: i64,
    } =
    "INSERT INTO planned_click_deletions (account_id, before_day, waited_seconds) VALUES ("
    { account: Identifier } ", "
    { before: Integer } ", "
    { waited: BigInt } ") ON CONFLICT (account_id) DO UPDATE \
     SET before_day = excluded.before_day, waited_seconds = excluded.waited_seconds"
}

statement! {
    Unplan -> BigInt {
        account: IdBytes,
    } =
    "DELETE FROM planned_click_deletions WHERE account_id = "
    { account: Identifier } ""
}

statement! {
    /// The number of the current day.
    Today -> Integer {} = "SELECT floor(extract(epoch FROM now()) / 86400)::integer"
}

statement! {
    /// The oldest day, and the number of packed clicks.
    OldClicksBefore -> (Integer, BigInt) {
        account: IdBytes,
        day: i32,
    } =
    "SELECT d.day, (SELECT coalesce(sum(s.clicks), 0)::bigint FROM click_segments AS s WHERE s.account_id = d.account_id \
     AND s.day < "
    { day: Integer } ") FROM click_days AS d WHERE d.account_id = "
    { account: Identifier } " AND d.day < "
    { day: Integer } " ORDER BY d.day LIMIT 1"
}

statement! {
    DaysBefore -> Integer {
        account: IdBytes,
        before: i32,
    } =
    "SELECT day FROM click_days WHERE account_id = "
    { account: Identifier } " AND day < "
    { before: Integer } " ORDER BY day LIMIT 32"
}

statement! {
    /// Locks some days, because their clicks change.
    ChangeDays -> BigInt {
        account: IdBytes,
        days: Vec<i32>,
    } =
    "WITH held AS MATERIALIZED (SELECT account_id, day FROM click_days WHERE account_id = "
    { account: Identifier } " AND day = ANY ("
    { days: Array<Integer> } ") ORDER BY account_id, day FOR UPDATE) \
     UPDATE click_days AS d SET version = d.version + 1, digested = false FROM held AS h \
     WHERE d.account_id = h.account_id AND d.day = h.day"
}

statement! {
    DeleteSegments -> BigInt {
        account: IdBytes,
        days: Vec<i32>,
    } =
    "DELETE FROM click_segments AS s USING (SELECT day, segment FROM click_segments WHERE account_id = "
    { account: Identifier } " AND day = ANY ("
    { days: Array<Integer> } ") LIMIT 256) AS t WHERE s.account_id = "
    { account: Identifier } " AND s.day = t.day AND s.segment = t.segment"
}

statement! {
    DeleteDigests -> BigInt {
        account: IdBytes,
        days: Vec<i32>,
    } =
    "DELETE FROM click_digests WHERE account_id = "
    { account: Identifier } " AND day = ANY ("
    { days: Array<Integer> } ")"
}

statement! {
    DeleteEmptyDays -> BigInt {
        account: IdBytes,
        days: Vec<i32>,
    } =
    "DELETE FROM click_days AS d WHERE d.account_id = "
    { account: Identifier } " AND d.day = ANY ("
    { days: Array<Integer> } ") AND NOT EXISTS (SELECT FROM click_segments AS s \
     WHERE s.account_id = d.account_id AND s.day = d.day)"
}

statement! {
    DeleteLastClicks -> BigInt {
        account: IdBytes,
        end: Instant,
    } =
    "DELETE FROM last_clicks WHERE account_id = "
    { account: Identifier } " AND link_id IN (SELECT link_id FROM last_clicks WHERE account_id = "
    { account: Identifier } " AND at < "
    { end: Moment } " LIMIT 5000)"
}

/// Deletes some of the clicks. Without a day it also records that clicks which arrive later must be dropped.
pub(super) async fn forget(
    store: &PostgresStore,
    account: AccountId,
    before: Option<UtcDay>,
) -> Result<Upkeep, Failure> {
    let ends = end_of_call(store.time_limit());
    let mut lease = store.connections().lease_for(Purpose::ClickUpkeep, ends).await?;
    let upkeep = lease.begin_with(ends, async |connection| step(connection, account, before).await).await?;
    lease.commit(ends, Vec::new()).await?;
    Ok(upkeep)
}

async fn step(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    before: Option<UtcDay>,
) -> Result<Upkeep, Failure> {
    let id = IdBytes::from(account);
    let before_day = before.map_or(EVERY_DAY, UtcDay::number);
    if before.is_none() && forgotten(connection, vec![id]).await?.is_empty() {
        // Running packers may have read the record before it was written. What they store is deleted below.
        let _: bool = WaitForPackers {}.get_result(connection).await?;
        NoteForgotten { account: id, before: before_day }.execute(connection).await?;
        Unplan { account: id }.execute(connection).await?;
    }
    let days: Vec<i32> = DaysBefore { account: id, before: before_day }.load(connection).await?;
    if days.is_empty() {
        let end = before.map_or(Instant::from_micros(i64::MAX), |day| day.first().into());
        let deleted = DeleteLastClicks { account: id, end }.execute(connection).await?;
        return Ok(if deleted == 0 { Upkeep::Done } else { Upkeep::More });
    }
    ChangeDays { account: id, days: days.clone() }.execute(connection).await?;
    DeleteSegments { account: id, days: days.clone() }.execute(connection).await?;
    DeleteDigests { account: id, days: days.clone() }.execute(connection).await?;
    DeleteEmptyDays { account: id, days }.execute(connection).await?;
    Ok(Upkeep::More)
}

statement! {
    /// Skips from account to account and reads only the oldest day of each: an account may have a thousand rows of days.
    AccountsBefore -> Identifier {
        after: IdBytes,
        day: i32,
        at_most: i64,
    } =
    "WITH RECURSIVE a (id) AS ((SELECT account_id FROM click_days WHERE account_id > "
    { after: Identifier } " ORDER BY account_id LIMIT 1) UNION ALL \
     SELECT (SELECT d.account_id FROM click_days AS d WHERE d.account_id > a.id ORDER BY d.account_id LIMIT 1) \
     FROM a WHERE a.id IS NOT NULL), \
     old AS (SELECT a.id FROM a WHERE EXISTS (SELECT FROM click_days AS d WHERE d.account_id = a.id AND d.day < "
    { day: Integer } ") LIMIT "
    { at_most: BigInt } "), \
     planned AS (SELECT p.account_id AS id FROM planned_click_deletions AS p WHERE p.account_id > "
    { after: Identifier } " ORDER BY p.account_id LIMIT "
    { at_most: BigInt } ") \
     SELECT id FROM (SELECT id FROM old UNION SELECT id FROM planned) AS found ORDER BY id LIMIT "
    { at_most: BigInt } ""
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
