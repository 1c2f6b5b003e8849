//! The limits of redirects, and the clicks that are taken of them (D130).

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::BigInt;
use diesel::sqlite::Sqlite;
use signpost_app::ports::{ClickCredits, ClickTaking, StoreError, TakenClicks, UnusedClicks};
use signpost_domain::{AccountId, Address, ClickLimit, Link, LinkKind, RedirectId};
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::click_limit::{LimitColumns, LimitRow, TABLE, changed_limits};
use signpost_sql_rows::columns::{IdBytes, whole_number};
use signpost_sql_rows::link::{address_from, kind_column};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::schema::{link_credits, links};
use crate::unit_of_work::SqliteUnitOfWork;

/// How many limits a statement writes or removes. SQLite bounds the number of values.
const MOST_IN_A_STATEMENT: usize = 5_000;

/// Gives each of these links its limit. They have none yet.
pub(crate) fn write<'a>(
    connection: &mut SqliteConnection,
    links: impl Iterator<Item = &'a Link>,
) -> Result<(), Failure> {
    let limits: Vec<LimitColumns> = links.filter_map(LimitColumns::of).collect();
    write_all(connection, &limits)
}

/// Gives links the limits that they have after a change. What is taken of a limit that goes on stays.
pub(crate) fn rewrite(connection: &mut SqliteConnection, changes: &[(Link, Link)]) -> Result<(), Failure> {
    let (written, removed) = changed_limits(changes.iter().map(|(before, after)| (before, after)));
    write_all(connection, &written)?;
    for part in removed.chunks(MOST_IN_A_STATEMENT) {
        let rows = link_credits::table.filter(link_credits::link_id.eq_any(part.to_vec()));
        diesel::delete(rows).execute(connection)?;
    }
    Ok(())
}

fn write_all(connection: &mut SqliteConnection, limits: &[LimitColumns]) -> Result<(), Failure> {
    for limits in limits.chunks(MOST_IN_A_STATEMENT) {
        WriteLimits { limits }.execute(connection)?;
    }
    Ok(())
}

/// Writes limits, whether their links have one or not.
struct WriteLimits<'a> {
    limits: &'a [LimitColumns],
}

impl QueryFragment<Sqlite> for WriteLimits<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.unsafe_to_cache_prepared();
        out.push_sql("INSERT INTO link_credits (link_id, max_clicks, taken, since) VALUES ");
        for (number, LimitColumns { link_id, max_clicks, taken, since }) in self.limits.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Identifier, _>(link_id)?;
            for column in [max_clicks, taken, since] {
                out.push_sql(", ");
                out.push_bind_param::<BigInt, _>(column)?;
            }
            out.push_sql(")");
        }
        out.push_sql(
            " ON CONFLICT (link_id) DO UPDATE SET taken = CASE WHEN since = excluded.since THEN taken ELSE \
             excluded.taken END, max_clicks = excluded.max_clicks, since = excluded.since",
        );
        Ok(())
    }
}

impl QueryId for WriteLimits<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for WriteLimits<'_> {}

/// The limit of the account's redirect, with the address of the link, if it has one.
fn read(
    connection: &mut SqliteConnection,
    account: AccountId,
    link: RedirectId,
) -> Result<Option<(ClickLimit, Option<Address>)>, Failure> {
    let placed: Option<(Option<String>, String)> = links::table
        .find(IdBytes::from(link))
        .filter(links::account_id.eq(IdBytes::from(account)))
        .filter(links::kind.eq(kind_column(LinkKind::Redirect)))
        .select((links::host, links::slug))
        .first(connection)
        .optional()?;
    let Some((host, slug)) = placed else { return Ok(None) };
    let limit = link_credits::table
        .find(IdBytes::from(link))
        .select(LimitRow::as_select())
        .first(connection)
        .optional()?;
    let Some(limit) = limit else { return Ok(None) };
    let limit = limit.into_limit(&RowName::new(TABLE, link))?;
    let address = host.map(|host| address_from(&RowName::new("links", link), host, slug)).transpose()?;
    Ok(Some((limit, address)))
}

/// Writes what is taken of a limit.
fn write_taken(
    connection: &mut SqliteConnection,
    link: RedirectId,
    limit: ClickLimit,
) -> Result<(), Failure> {
    diesel::update(link_credits::table.find(IdBytes::from(link)))
        .set(link_credits::taken.eq(whole_number(limit.taken())))
        .execute(connection)?;
    Ok(())
}

#[async_trait]
impl ClickCredits for SqliteUnitOfWork {
    /// The transaction holds the write lock from its start, so nothing changes between the read and the write.
    async fn take_clicks(&mut self, account: AccountId, link: RedirectId) -> Result<ClickTaking, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let Some((before, address)) = read(connection, account, link)? else {
                return Ok((ClickTaking::NoLimit, None));
            };
            let number = before.next_block();
            if number == 0 {
                return Ok((ClickTaking::Exhausted { since: before.since() }, None));
            }
            let after = before.with_more_taken(number);
            write_taken(connection, link, after)?;
            let taken = TakenClicks { number, since: after.since() };
            Ok((ClickTaking::Taken(taken), address.filter(|_| after.is_exhausted())))
        };
        let (taking, ended) = self.step(step).await?;
        self.noted().note_addresses(account, ended);
        Ok(taking)
    }

    async fn give_back_clicks(&mut self, unused: &[UnusedClicks]) -> Result<(), StoreError> {
        let unused = unused.to_vec();
        let step = move |connection: &mut SqliteConnection| {
            let mut opened = Vec::new();
            for UnusedClicks { account, link, clicks } in unused {
                let Some((before, address)) = read(connection, account, link)? else { continue };
                let after = before.with_given_back(clicks.number);
                let Some(after) = after.filter(|after| after.since() == clicks.since) else { continue };
                write_taken(connection, link, after)?;
                if before.is_exhausted() && !after.is_exhausted() {
                    opened.push((account, address));
                }
            }
            Ok(opened)
        };
        let opened = self.step(step).await?;
        for (account, address) in opened {
            self.noted().note_addresses(account, address);
        }
        Ok(())
    }
}
