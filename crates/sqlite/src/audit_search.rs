//! Searching the audit.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use diesel::sqlite::Sqlite;
use signpost_app::ports::{AUDIT_ENTRIES_SEARCHED, AuditFilter, AuditScope};
use signpost_domain::{PageLimit, PagePosition};
use signpost_sql_rows::audit_entry::{AuditEntryRow, actor_columns};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId};
use signpost_sql_rows::id_range::IdRange;

use crate::failure::Failure;
use crate::schema::audit_entries;

/// The rows that a page needs, and the last id that was looked at, if more may follow behind it.
pub(crate) type Found = (Vec<AuditEntryRow>, Option<StoredId>);

/// Looks for entries. Each statement reads a part of an index: one entry by time at each end, then at most
/// [`AUDIT_ENTRIES_SEARCHED`] entries.
pub(crate) fn search(
    connection: &mut SqliteConnection,
    scope: AuditScope,
    filter: &AuditFilter,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Found, Failure> {
    let nothing = (Vec::new(), None);
    let Some(mut range) = IdRange::behind(after) else { return Ok(nothing) };
    if let Some(until) = filter.skipped_until() {
        let newest = audit_entries::table
            .filter(audit_entries::at.lt(Instant::from(until)))
            .order(audit_entries::at.desc())
            .select(audit_entries::id)
            .first::<StoredId>(connection)
            .optional()?;
        let Some(newest) = newest else { return Ok(nothing) };
        range = range.up_to(&newest);
    }
    if let Some(from) = filter.searched_from() {
        let oldest = audit_entries::table
            .filter(audit_entries::at.ge(Instant::from(from)))
            .order(audit_entries::at)
            .select(audit_entries::id)
            .first::<StoredId>(connection)
            .optional()?;
        let Some(oldest) = oldest else { return Ok(nothing) };
        range = range.down_to(&oldest);
    }
    let last = entries(scope, range)
        .select(audit_entries::id)
        .offset(i64::from(AUDIT_ENTRIES_SEARCHED) - 1)
        .limit(1)
        .first::<StoredId>(connection)
        .optional()?;
    if let Some(last) = &last {
        range = range.down_to(last);
    }
    let rows = matching(entries(scope, range), filter)
        .limit(i64::from(limit.get()) + 1)
        .select(AuditEntryRow::as_select())
        .load(connection)?;
    Ok((rows, last))
}

fn entries(scope: AuditScope, range: IdRange) -> audit_entries::BoxedQuery<'static, Sqlite> {
    let entries = audit_entries::table
        .filter(audit_entries::id.le(range.highest()))
        .filter(audit_entries::id.ge(range.lowest()))
        .order(audit_entries::id.desc())
        .into_boxed();
    match scope {
        AuditScope::Account(account) => entries.filter(audit_entries::account_id.eq(IdBytes::from(account))),
        AuditScope::Installation => entries,
    }
}

fn matching<'a>(
    mut entries: audit_entries::BoxedQuery<'a, Sqlite>,
    filter: &AuditFilter,
) -> audit_entries::BoxedQuery<'a, Sqlite> {
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
        let part = sql::<Bool>("instr(lower(audit_entries.object), ");
        entries = entries.filter(part.bind::<Text, _>(text.to_ascii_lowercase()).sql(") > 0"));
    }
    if let Some(from) = from {
        entries = entries.filter(audit_entries::at.ge(Instant::from(*from)));
    }
    if let Some(until) = until {
        entries = entries.filter(audit_entries::at.lt(Instant::from(*until)));
    }
    entries
}
