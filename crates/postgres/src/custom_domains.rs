//! Reading custom domains.

use async_trait::async_trait;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use signpost_app::ports::{CustomDomainReads, ScheduledDomain, StoreError};
use signpost_domain::{AccountId, CustomDomain, DomainId, Hostname, Page, PageLimit, PagePosition};
use signpost_sql_rows::sql_types::Identifier;

use crate::inline_limit::{InlineLimit, rows_to_read};
use crate::schema::custom_domains;
use crate::statement::statement;
use crate::store::PostgresStore;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::custom_domain::{CustomDomainRow, FAILED, ScheduledColumns, ScheduledRow};
use signpost_sql_rows::listed;

statement! {
    /// The account's domains from the highest id down. The condition compares whole rows: with `account_id = …`, PostgreSQL
    /// would walk the primary key and read the domains of all accounts.
    NewestDomains -> ScheduledColumns {
        account: IdBytes,
    } =
    "SELECT id, account_id, hostname, status, deadline, misdirected_since, created_at, failure_reason, checked_at, observed, \
     next_check_at, claims FROM custom_domains \
     WHERE account_id >= "
    { account: Identifier } " AND account_id <= "
    { account: Identifier } " ORDER BY account_id DESC, id DESC"
}

statement! {
    /// The account's domains below an id, from the highest down, by the same rule.
    DomainsBelow -> ScheduledColumns {
        account: IdBytes,
        below: IdBytes,
    } =
    "SELECT id, account_id, hostname, status, deadline, misdirected_since, created_at, failure_reason, checked_at, observed, \
     next_check_at, claims FROM custom_domains \
     WHERE account_id >= "
    { account: Identifier } " AND (account_id, id) < ("
    { account: Identifier } ", "
    { below: Identifier } ") ORDER BY account_id DESC, id DESC"
}

#[async_trait]
impl CustomDomainReads for PostgresStore {
    async fn custom_domain(
        &self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        self.read(async |connection| {
            let found = custom_domains::table
                .find(IdBytes::from(id))
                .filter(custom_domains::account_id.eq(IdBytes::from(account)))
                .select(ScheduledRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(ScheduledRow::into_scheduled).transpose()?)
        })
        .await
    }

    async fn custom_domains(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<ScheduledDomain>, StoreError> {
        self.read(async |connection| {
            let (account, number) = (IdBytes::from(account), rows_to_read(limit));
            let rows: Vec<ScheduledRow> = match after.map(IdBytes::from) {
                None => InlineLimit { query: NewestDomains { account }, number }.load(connection).await?,
                Some(below) => {
                    InlineLimit { query: DomainsBelow { account, below }, number }.load(connection).await?
                }
            };
            Ok(listed::page(rows, limit))
        })
        .await
    }

    async fn custom_domains_named(
        &self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError> {
        if hostnames.is_empty() {
            return Ok(Vec::new());
        }
        let hostnames: Vec<&str> = hostnames.iter().map(Hostname::as_str).collect();
        self.read(async |connection| {
            let rows = custom_domains::table
                .filter(custom_domains::account_id.eq(IdBytes::from(account)))
                .filter(custom_domains::hostname.eq_any(hostnames))
                .select(CustomDomainRow::as_select())
                .load(connection)
                .await?;
            Ok(rows.into_iter().map(CustomDomainRow::into_domain).collect::<Result<_, _>>()?)
        })
        .await
    }

    async fn holder_of(&self, hostname: &Hostname) -> Result<Option<CustomDomain>, StoreError> {
        self.read(async |connection| {
            let found = custom_domains::table
                .filter(custom_domains::hostname.eq(hostname.as_str()))
                .filter(custom_domains::status.ne(FAILED))
                .select(CustomDomainRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(CustomDomainRow::into_domain).transpose()?)
        })
        .await
    }
}
