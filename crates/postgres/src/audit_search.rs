//! Searching the audit.

use diesel::dsl::sql;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{AUDIT_ENTRIES_SEARCHED, AuditFilter, AuditScope};
use signpost_domain::{PageLimit, PagePosition, Timestamp};
use signpost_sql_rows::audit_entry::{AuditEntryRow, actor_columns};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId};
use signpost_sql_rows::id_range::IdRange;
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::failure::Failure;
use crate::inline_limit::{InlineLimit, rows_to_read};
use crate::schema::audit_entries;

/// The rows that a page needs, and the last id that was looked at, if more may follow behind it.
pub(crate) type Found = (Vec<AuditEntryRow>, Option<StoredId>);

/// Looks for entries. Each statement reads a part of an index: one entry by time at each end, then at most
/// [`AUDIT_ENTRIES_SEARCHED`] entries.
pub(crate) async fn search(
    connection: &mut &AsyncPgConnection,
    scope: AuditScope,
    filter: &AuditFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Found, Failure> {
    let nothing = || (Vec::new(), None);
    let Some(mut range) = IdRange::behind(after) else { return Ok(nothing()) };
    if let Some(until) = filter.skipped_until() {
        let newest = audit_entries::table
            .filter(audit_entries::at.lt(Instant::from(until)))
            .order(audit_entries::at.desc())
            .select(audit_entries::id)
            .first::<StoredId>(connection)
            .await
            .optional()?;
        let Some(newest) = newest else { return Ok(nothing()) };
        range = range.up_to(&newest);
    }
    if let Some(from) = filter.searched_from() {
        let oldest = audit_entries::table
            .filter(audit_entries::at.ge(Instant::from(from)))
            .order(audit_entries::at)
            .select(audit_entries::id)
            .first::<StoredId>(connection)
            .await
            .optional()?;
        let Some(oldest) = oldest else { return Ok(nothing()) };
        range = range.down_to(&oldest);
    }
    let last = entries(scope, range)
        .select(audit_entries::id)
        .offset(i64::from(AUDIT_ENTRIES_SEARCHED) - 1)
        .limit(1)
        .first::<StoredId>(connection)
        .await
        .optional()?;
    if let Some(last) = &last {
        range = range.down_to(last);
    }
    let query = matching(entries(scope, range), filter).select(AuditEntryRow::as_select());
    let rows = InlineLimit { query, number: rows_to_read(limit) }.load(connection).await?;
    Ok((rows, last))
}

/// Those of an account compare whole rows, as all lists of an account do, so that PostgreSQL reads the account's part of the
/// index and not the entries of all accounts.
fn entries(scope: AuditScope, range: IdRange) -> audit_entries::BoxedQuery<'static, Pg> {
    match scope {
        AuditScope::Account(account) => {
            let bound = |comparison: &str, id: IdBytes| {
                sql::<Bool>(&format!("(audit_entries.account_id, audit_entries.id) {comparison} ("))
                    .bind::<Identifier, _>(IdBytes::from(account))
                    .sql(", ")
                    .bind::<Identifier, _>(id)
                    .sql(")")
            };
            audit_entries::table
                .filter(bound("<=", range.highest()))
                .filter(bound(">=", range.lowest()))
                .order((audit_entries::account_id.desc(), audit_entries::id.desc()))
                .into_boxed()
        }
        AuditScope::Installation => audit_entries::table
            .filter(audit_entries::id.le(range.highest()))
            .filter(audit_entries::id.ge(range.lowest()))
            .order(audit_entries::id.desc())
            .into_boxed(),
    }
}

fn matching<'a>(
    mut entries: audit_entries::BoxedQuery<'a, Pg>,
    filter: &AuditFilter,
) -> audit_entries::BoxedQuery<'a, Pg> {
    let AuditFilter { action, actor, text, from, until } = filter;
    if let Some(action) = action {
        entries = entries.filter(audit_entries::action.eq(action.as_str()));
    }
    if let Some(actor) = actor {
        let (kind, id) = actor_columns(*actor);
        entries = entries.filter(audit_entries::actor.eq(kind));
        if let Some(id) = id {
            entries = entries.filter(audit_entries::actor_id.eq(id));
        }
    }
    if let Some(text) = text {
        // With the collation C the function changes ASCII letters only, as the embedded store does.
        let part = sql::<Bool>("strpos(lower(audit_entries.object COLLATE \"C\"), ");
        entries = entries.filter(part.bind::<Text, _>(text.to_ascii_lowercase()).sql(") > 0"));
    }
    // As an expression: PostgreSQL would read the index of instants otherwise, for the whole period.
    let at = |comparison: &str, instant: Timestamp| {
        sql::<Bool>(&format!("audit_entries.at + interval '0' {comparison} "))
            .bind::<Moment, _>(Instant::from(instant))
    };
    if let Some(from) = from {
        entries = entries.filter(at(">=", *from));
    }
    if let Some(until) = until {
        entries = entries.filter(at("<", *until));
    }
    entries
}
