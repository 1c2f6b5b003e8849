//! The deletion of an account with all its data.

use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_domain::AccountId;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::plain_tables::DeleteOwned;
use signpost_sql_rows::sql_types::Identifier;

use crate::certificates::ForgetCertificatesOf;
use crate::failure::{Failure, contended_if_referred_to};
use crate::group_counts;
use crate::schema::{accounts, remembered_answers, remembered_totals};
use crate::statement::statement;
use crate::tags::DeleteAllTags;

statement! {
    /// Locks all links of an account in lock order and deletes them.
    DeleteAllLinks -> Bool {
        account: IdBytes => Identifier,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM links AS h WHERE h.account_id = $1 ORDER BY h.kind, h.id FOR \
     UPDATE) DELETE FROM links AS l USING held WHERE l.id = held.id"
}

statement! {
    /// Locks all groups of an account in lock order.
    HoldAllGroups -> Identifier {
        account: IdBytes => Identifier,
    } =
    "SELECT id FROM groups WHERE account_id = $1 ORDER BY id FOR UPDATE"
}

statement! {
    /// Locks all groups of an account in lock order and deletes them.
    DeleteAllGroups -> Bool {
        account: IdBytes => Identifier,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM groups AS h WHERE h.account_id = $1 ORDER BY h.id FOR UPDATE) \
     DELETE FROM groups AS g USING held WHERE g.account_id = $1 AND g.id = held.id"
}

statement! {
    /// Locks all custom domains of an account in lock order and deletes them.
    DeleteAllDomains -> Bool {
        account: IdBytes => Identifier,
    } =
    "WITH held AS MATERIALIZED (SELECT h.id FROM custom_domains AS h WHERE h.account_id = $1 ORDER BY h.hostname, \
     h.id FOR UPDATE) DELETE FROM custom_domains AS d USING held WHERE d.id = held.id"
}

/// Deletes an account. Returns whether it existed.
pub(crate) async fn delete(connection: &mut &AsyncPgConnection, account: AccountId) -> Result<bool, Failure> {
    let id = IdBytes::from(account);
    // Explicit deletes instead of cascades: a forgotten table makes the last statement fail in a test instead of
    // losing data silently. Only tags, limits and passwords of links go with the links. All but plain tables are in the order of locks
    // (see `PostgresUnitOfWork`), and links come before the groups that they refer to.
    let answers = remembered_answers::table.filter(remembered_answers::account_id.eq(id));
    diesel::delete(answers).execute(connection).await?;
    diesel::delete(remembered_totals::table.find(id)).execute(connection).await?;
    DeleteAllDomains { account: id }.execute(connection).await?;
    ForgetCertificatesOf { account: id }.execute(connection).await?;
    group_counts::lock_membership(connection, account).await?;
    HoldAllGroups { account: id }.load::<IdBytes>(connection).await?;
    DeleteAllLinks { account: id }.execute(connection).await?;
    DeleteAllTags { account: id }.execute(connection).await.map_err(contended_if_referred_to)?;
    DeleteAllGroups { account: id }.execute(connection).await.map_err(contended_if_referred_to)?;
    for plain in DeleteOwned::of_account(account) {
        plain.execute(connection).await?;
    }
    let deleted = diesel::delete(accounts::table.find(id)).execute(connection).await;
    Ok(deleted.map_err(contended_if_referred_to)? > 0)
}
