//! The hashes of the passwords of links (D131).

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use signpost_app::ports::{LinkPasswordReads, LinkPasswordWrites, StoreError};
use signpost_domain::{AccountId, LinkId, PasswordHash};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::kind_column;
use signpost_sql_rows::link_password::{password_hash_from, written_and_removed};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::schema::{link_passwords, links};
use crate::store::SqliteStore;
use crate::unit_of_work::SqliteUnitOfWork;

/// How many hashes a statement writes or removes. SQLite bounds the number of values.
const MOST_IN_A_STATEMENT: usize = 5_000;

fn read(
    connection: &mut SqliteConnection,
    account: AccountId,
    link: LinkId,
) -> Result<Option<PasswordHash>, Failure> {
    let own = links::account_id
        .eq(IdBytes::from(account))
        .and(links::kind.eq(kind_column(link.kind())))
        .and(links::id.eq(IdBytes::from(link)));
    let found: Option<(Option<String>, Option<String>)> = links::table
        .left_join(link_passwords::table.on(link_passwords::link_id.eq(links::id)))
        .filter(own)
        .select((links::behaviour, link_passwords::hash.nullable()))
        .first(connection)
        .optional()?;
    let Some((behaviour, hash)) = found else { return Ok(None) };
    Ok(password_hash_from(link, behaviour, hash)?)
}

/// Writes the hashes of links of the account, whether they have one or not.
struct WriteHashes<'a> {
    account: IdBytes,
    hashes: &'a [(IdBytes, String)],
}

impl QueryFragment<Sqlite> for WriteHashes<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        // A statement for one link is worth keeping; those for many differ in length.
        if self.hashes.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql("WITH changed (link_id, hash) AS (VALUES ");
        for (number, (link, hash)) in self.hashes.iter().enumerate() {
            out.push_sql(if number == 0 { "(" } else { ", (" });
            out.push_bind_param::<Identifier, _>(link)?;
            out.push_sql(", ");
            out.push_bind_param::<Text, _>(hash)?;
            out.push_sql(")");
        }
        out.push_sql(
            ") INSERT INTO link_passwords (link_id, hash) SELECT changed.link_id, changed.hash FROM changed CROSS JOIN links \
             WHERE links.id = changed.link_id AND +links.account_id = ",
        );
        out.push_bind_param::<Identifier, _>(&self.account)?;
        out.push_sql(" ON CONFLICT (link_id) DO UPDATE SET hash = excluded.hash");
        Ok(())
    }
}

impl QueryId for WriteHashes<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for WriteHashes<'_> {}

/// Removes the hashes of links of the account.
struct RemoveHashes<'a> {
    account: IdBytes,
    links: &'a [IdBytes],
}

impl QueryFragment<Sqlite> for RemoveHashes<'_> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        if self.links.len() > 1 {
            out.unsafe_to_cache_prepared();
        }
        out.push_sql("DELETE FROM link_passwords WHERE link_id IN (");
        for (number, link) in self.links.iter().enumerate() {
            out.push_sql(if number == 0 { "" } else { ", " });
            out.push_bind_param::<Identifier, _>(link)?;
        }
        out.push_sql(") AND (SELECT account_id FROM links WHERE links.id = link_passwords.link_id) = ");
        out.push_bind_param::<Identifier, _>(&self.account)
    }
}

impl QueryId for RemoveHashes<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for RemoveHashes<'_> {}

fn write(
    connection: &mut SqliteConnection,
    account: AccountId,
    passwords: &[(LinkId, Option<PasswordHash>)],
) -> Result<(), Failure> {
    let account = IdBytes::from(account);
    let (written, removed) = written_and_removed(passwords);
    for links in removed.chunks(MOST_IN_A_STATEMENT) {
        RemoveHashes { account, links }.execute(connection)?;
    }
    for hashes in written.chunks(MOST_IN_A_STATEMENT) {
        let rows = WriteHashes { account, hashes }.execute(connection)?;
        if rows != hashes.len() {
            return Err(Failure::Other("a link that gets a password was not locked".to_owned()));
        }
    }
    Ok(())
}

#[async_trait]
impl LinkPasswordReads for SqliteStore {
    async fn link_password(
        &self,
        account: AccountId,
        link: LinkId,
    ) -> Result<Option<PasswordHash>, StoreError> {
        self.readers().read(move |connection| read(connection, account, link)).await
    }
}

#[async_trait]
impl LinkPasswordWrites for SqliteUnitOfWork {
    async fn write_link_passwords(
        &mut self,
        account: AccountId,
        passwords: &[(LinkId, Option<PasswordHash>)],
    ) -> Result<(), StoreError> {
        let passwords = passwords.to_vec();
        self.step(move |connection| write(connection, account, &passwords)).await
    }
}
