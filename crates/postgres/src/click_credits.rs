//! The limits of redirects, and the clicks that are taken of them (D130).

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{ClickCredits, ClickTaking, StoreError, TakenClicks, UnusedClicks};
use signpost_domain::{AccountId, Address, Link, RedirectId};
use signpost_sql_rows::Corrupt;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::click_limit::{LimitColumns, TABLE, changed_limits};
use signpost_sql_rows::columns::{IdBytes, whole_number};
use signpost_sql_rows::link::address_from;
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use crate::unit_of_work::PostgresUnitOfWork;

statement! {
    /// Writes limits, whether their links have one or not. What is taken of a limit that goes on stays.
    WriteLimits -> Bool {
        links: Vec<IdBytes> => Array<Identifier>,
        max: Vec<i64> => Array<BigInt>,
        taken: Vec<i64> => Array<BigInt>,
        since: Vec<i64> => Array<BigInt>,
    } =
    "INSERT INTO link_credits AS c (link_id, max_clicks, taken, since) SELECT n.link_id, n.max_clicks, n.taken, n.since \
     FROM unnest($1, $2, $3, $4) AS n (link_id, max_clicks, taken, since) ON CONFLICT (link_id) DO UPDATE SET taken = CASE \
     WHEN c.since = excluded.since THEN c.taken ELSE excluded.taken END, max_clicks = excluded.max_clicks, since = \
     excluded.since"
}

statement! {
    /// Removes the limits of links.
    RemoveLimits -> Bool {
        links: Vec<IdBytes> => Array<Identifier>,
    } =
    "DELETE FROM link_credits WHERE link_id = ANY ($1)"
}

statement! {
    /// Takes the next block of clicks of a redirect of the account, as `ClickLimit::next_block` has it. Returns its size, the limit,
    /// what is taken, the count, and where the link lives. Conditions but that of the id are hidden from the planner, so that it
    /// picks no other index (ADR 17).
    ///
    /// Others who take clicks of the link wait for the row, and are judged by what is taken then.
    TakeClicks -> (BigInt, BigInt, BigInt, BigInt, Nullable<Text>, Text) {
        link: IdBytes => Identifier,
        account: IdBytes => Identifier,
    } =
    "WITH held AS MATERIALIZED (SELECT c.link_id, l.host, l.slug, least(greatest((c.max_clicks - c.taken) / 64, 1), 256) AS \
     block FROM link_credits AS c JOIN links AS l ON l.id = c.link_id WHERE c.link_id = $1 AND l.id = $1 AND CASE WHEN \
     l.account_id = $2 THEN true ELSE false END AND c.taken < c.max_clicks FOR UPDATE OF c) UPDATE link_credits AS c SET \
     taken = c.taken + held.block FROM held WHERE c.link_id = $1 AND c.link_id = held.link_id RETURNING held.block, \
     c.max_clicks, c.taken, c.since, held.host, held.slug"
}

statement! {
    /// The count of a redirect of the account that has no click left. It is asked only when no click could be taken.
    ExhaustedCount -> BigInt {
        link: IdBytes => Identifier,
        account: IdBytes => Identifier,
    } =
    "SELECT c.since FROM link_credits AS c JOIN links AS l ON l.id = c.link_id WHERE c.link_id = $1 AND l.id = $1 AND CASE \
     WHEN l.account_id = $2 THEN true ELSE false END AND c.taken >= c.max_clicks"
}

statement! {
    /// Gives back clicks of redirects, each of its account. Returns for each that took them its place in the list from 1, the limit,
    /// what is taken then, and where the link lives. The rows are locked one by one in the order of the list. So each is found by its
    /// id, and nodes that give back at the same time do not wait for each other in a circle.
    GiveBackClicks -> (BigInt, BigInt, BigInt, Nullable<Text>, Text) {
        links: Vec<IdBytes> => Array<Identifier>,
        accounts: Vec<IdBytes> => Array<Identifier>,
        numbers: Vec<i64> => Array<BigInt>,
        since: Vec<i64> => Array<BigInt>,
    } =
    "WITH held AS MATERIALIZED (SELECT h.link_id, h.host, h.slug, n.number, n.place FROM unnest($1, $2, $3, $4) WITH \
     ORDINALITY AS n (link_id, account_id, number, since, place) CROSS JOIN LATERAL (SELECT c.link_id, l.host, l.slug FROM \
     link_credits AS c JOIN links AS l ON l.id = c.link_id WHERE c.link_id = n.link_id AND l.id = n.link_id AND CASE WHEN \
     l.account_id = n.account_id THEN true ELSE false END AND c.since = n.since AND c.taken >= n.number FOR UPDATE OF c) AS \
     h) UPDATE link_credits AS c SET taken = c.taken - held.number FROM held WHERE c.link_id = ANY ($1) AND c.link_id = \
     held.link_id RETURNING held.place, c.max_clicks, c.taken, held.host, held.slug"
}

/// The size of a block, the limit, what is taken, the count, and where the link lives.
type TakenRow = (i64, i64, i64, i64, Option<String>, String);

/// The place in the list, the limit, what is taken, and where the link lives.
type GivenBackRow = (i64, i64, i64, Option<String>, String);

/// Gives each of these links its limit. They have none yet.
pub(crate) async fn write<'a>(
    connection: &mut &AsyncPgConnection,
    links: impl Iterator<Item = &'a Link>,
) -> Result<(), Failure> {
    write_all(connection, links.filter_map(LimitColumns::of).collect()).await
}

/// Gives links the limits that they have after a change. What is taken of a limit that goes on stays.
pub(crate) async fn rewrite(
    connection: &mut &AsyncPgConnection,
    changes: &[(&Link, &Link)],
) -> Result<(), Failure> {
    let (written, removed) = changed_limits(changes.iter().copied());
    write_all(connection, written).await?;
    if !removed.is_empty() {
        RemoveLimits { links: removed }.execute(connection).await?;
    }
    Ok(())
}

async fn write_all(connection: &mut &AsyncPgConnection, limits: Vec<LimitColumns>) -> Result<(), Failure> {
    if limits.is_empty() {
        return Ok(());
    }
    let statement = WriteLimits {
        links: limits.iter().map(|limit| limit.link_id).collect(),
        max: limits.iter().map(|limit| limit.max_clicks).collect(),
        taken: limits.iter().map(|limit| limit.taken).collect(),
        since: limits.iter().map(|limit| limit.since).collect(),
    };
    statement.execute(connection).await?;
    Ok(())
}

/// The address of a link; `None` if it is lost.
fn address(link: RedirectId, host: Option<String>, slug: String) -> Result<Option<Address>, Corrupt> {
    host.map(|host| address_from(&RowName::new("links", link), host, slug)).transpose()
}

/// Takes clicks. Also returns the address of the link, if they were the last ones.
async fn take(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    link: RedirectId,
) -> Result<(ClickTaking, Option<Address>), Failure> {
    let statement = TakeClicks { link: link.into(), account: account.into() };
    let found: Option<TakenRow> = statement.get_result(connection).await.optional()?;
    let row = RowName::new(TABLE, link);
    let Some((block, max, taken, since, host, slug)) = found else {
        let statement = ExhaustedCount { link: link.into(), account: account.into() };
        let exhausted: Option<i64> = statement.get_result(connection).await.optional()?;
        let Some(since) = exhausted else { return Ok((ClickTaking::NoLimit, None)) };
        return Ok((ClickTaking::Exhausted { since: row.revision("since", since)? }, None));
    };
    let clicks = TakenClicks { number: row.count("taken", block)?, since: row.revision("since", since)? };
    let ended = if taken >= max { address(link, host, slug)? } else { None };
    Ok((ClickTaking::Taken(clicks), ended))
}

/// Gives back clicks. Returns the addresses of the links that had none left before, each with its account.
async fn give_back(
    connection: &mut &AsyncPgConnection,
    unused: &[UnusedClicks],
) -> Result<Vec<(AccountId, Address)>, Failure> {
    let statement = GiveBackClicks {
        links: unused.iter().map(|unused| unused.link.into()).collect(),
        accounts: unused.iter().map(|unused| unused.account.into()).collect(),
        numbers: unused.iter().map(|unused| whole_number(unused.clicks.number)).collect(),
        since: unused.iter().map(|unused| whole_number(unused.clicks.since.get())).collect(),
    };
    let mut opened = Vec::new();
    for (place, max, taken, host, slug) in statement.load::<GivenBackRow>(connection).await? {
        let index = usize::try_from(place).ok().and_then(|place| place.checked_sub(1));
        let Some(UnusedClicks { account, link, clicks }) = index.and_then(|index| unused.get(index)) else {
            continue;
        };
        if taken < max && taken.saturating_add(whole_number(clicks.number)) >= max {
            opened.extend(address(*link, host, slug)?.map(|address| (*account, address)));
        }
    }
    Ok(opened)
}

#[async_trait]
impl ClickCredits for PostgresUnitOfWork {
    async fn take_clicks(&mut self, account: AccountId, link: RedirectId) -> Result<ClickTaking, StoreError> {
        let (taking, ended) = self.step(async |connection| take(connection, account, link).await).await?;
        self.noted().note_addresses(account, ended);
        Ok(taking)
    }

    async fn give_back_clicks(&mut self, unused: &[UnusedClicks]) -> Result<(), StoreError> {
        if unused.is_empty() {
            return Ok(());
        }
        let opened = self.step(async |connection| give_back(connection, unused).await).await?;
        for (account, address) in opened {
            self.noted().note_addresses(account, [address]);
        }
        Ok(())
    }
}
