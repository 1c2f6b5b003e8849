//! The hashes of the passwords of links (D131).

use async_trait::async_trait;
use diesel::prelude::*;
use diesel::sql_types::{Array, Bool, Nullable, SmallInt, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{LinkPasswordReads, LinkPasswordWrites, StoreError};
use signpost_domain::{AccountId, LinkId, PasswordHash};
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::kind_column;
use signpost_sql_rows::link_password::{password_hash_from, written_and_removed};
use signpost_sql_rows::sql_types::Identifier;

use crate::failure::Failure;
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;

statement! {
    /// What the link of the account says of its password, and its hash. Conditions but that of the id are hidden from the planner, so
    /// that it picks no other index (ADR 17).
    ReadPassword -> (Nullable<Text>, Nullable<Text>) {
        link: IdBytes => Identifier,
        account: IdBytes => Identifier,
        kind: i16 => SmallInt,
    } =
    "SELECT l.behaviour, p.hash FROM links AS l LEFT JOIN link_passwords AS p ON p.link_id = $1 WHERE l.id = $1 AND CASE \
     WHEN l.account_id = $2 AND l.kind = $3 THEN true ELSE false END"
}

statement! {
    /// Writes the hashes of links of the account, whether they have one or not. The `LIMIT` makes PostgreSQL find the links one by
    /// one; without it, it might scan the table for a join.
    WriteHashes -> Bool {
        links: Vec<IdBytes> => Array<Identifier>,
        hashes: Vec<String> => Array<Text>,
        account: IdBytes => Identifier,
    } =
    "INSERT INTO link_passwords (link_id, hash) SELECT n.link_id, n.hash FROM unnest($1, $2) AS n (link_id, hash) CROSS \
     JOIN LATERAL (SELECT FROM links AS l WHERE l.id = n.link_id AND CASE WHEN l.account_id = $3 THEN true ELSE false END \
     LIMIT 1) AS own ON CONFLICT (link_id) DO UPDATE SET hash = excluded.hash"
}

statement! {
    /// Removes the hashes of links of the account.
    RemoveHashes -> Bool {
        links: Vec<IdBytes> => Array<Identifier>,
        account: IdBytes => Identifier,
    } =
    "DELETE FROM link_passwords AS p WHERE p.link_id = ANY ($1) AND (SELECT l.account_id FROM links AS l WHERE l.id = \
     p.link_id) = $2"
}

async fn read(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    link: LinkId,
) -> Result<Option<PasswordHash>, Failure> {
    let statement =
        ReadPassword { link: link.into(), account: account.into(), kind: kind_column(link.kind()) };
    let found: Option<(Option<String>, Option<String>)> =
        statement.get_result(connection).await.optional()?;
    let Some((behaviour, hash)) = found else { return Ok(None) };
    Ok(password_hash_from(link, behaviour, hash)?)
}

async fn write(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    passwords: &[(LinkId, Option<PasswordHash>)],
) -> Result<(), Failure> {
    let (written, removed) = written_and_removed(passwords);
    if !removed.is_empty() {
        RemoveHashes { links: removed, account: account.into() }.execute(connection).await?;
    }
    if written.is_empty() {
        return Ok(());
    }
    let expected = written.len();
    let (links, hashes) = written.into_iter().unzip();
    let rows = WriteHashes { links, hashes, account: account.into() }.execute(connection).await?;
    if rows == expected {
        return Ok(());
    }
    Err(Failure::Other("a link that gets a password was not locked".to_owned()))
}

#[async_trait]
impl LinkPasswordReads for PostgresStore {
    async fn link_password(
        &self,
        account: AccountId,
        link: LinkId,
    ) -> Result<Option<PasswordHash>, StoreError> {
        self.read(async |connection| read(connection, account, link).await).await
    }
}

#[async_trait]
impl LinkPasswordWrites for PostgresUnitOfWork {
    async fn write_link_passwords(
        &mut self,
        account: AccountId,
        passwords: &[(LinkId, Option<PasswordHash>)],
    ) -> Result<(), StoreError> {
        if passwords.is_empty() {
            return Ok(());
        }
        self.step(async |connection| write(connection, account, passwords).await).await
    }
}
