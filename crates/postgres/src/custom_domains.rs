//! Reading custom domains.

use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel_async::RunQueryDsl;
use signpost_app::ports::{CustomDomainReads, PublishedFile, PublishedSite, ScheduledDomain, StoreError};
use signpost_domain::{
    AccountId, AppFileKind, CustomDomain, DomainId, Hostname, Page, PageLimit, PagePosition,
};

use crate::cached_query::cached_query;
use crate::newest_rows::NewestRows;
use crate::schema::{certificates, custom_domains};
use crate::store::PostgresStore;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::custom_domain::{CustomDomainRow, FAILED, ScheduledRow, TABLE, WholeRow};
use signpost_sql_rows::listed;
use signpost_sql_rows::sql_types::Identifier;

/// What is stored about the certificates of domains, beside their table.
pub(crate) const CERTIFICATES: &str = " LEFT JOIN certificates ON certificates.hostname = custom_domains.hostname AND \
                                       certificates.account_id = custom_domains.account_id";

cached_query! {
    /// A domain of the account with what is stored about its certificate. At most one domain has a given id.
    DomainOf -> AsSelect<WholeRow, Pg> {
        id: IdBytes => Identifier,
        account: IdBytes => Identifier,
    } = custom_domains::table
        .left_join(certificates::table.on(
            certificates::hostname
                .eq(custom_domains::hostname)
                .and(certificates::account_id.eq(custom_domains::account_id.nullable()))
        ))
        .filter(custom_domains::id.eq(id))
        .filter(custom_domains::account_id.eq(account))
        .select(WholeRow::as_select())
}

#[async_trait]
impl CustomDomainReads for PostgresStore {
    async fn custom_domain(
        &self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        let query = DomainOf { id: id.into(), account: account.into() };
        self.read(async |connection| {
            let found: Vec<WholeRow> = query.load(connection).await?;
            Ok(found.into_iter().next().map(WholeRow::into_whole).transpose()?)
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
            let query =
                NewestRows::<ScheduledRow>::for_page_beside(TABLE, CERTIFICATES, account, limit, after);
            let rows = query.load(connection).await?;
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

    async fn published_site(&self, hostname: &Hostname) -> Result<Option<PublishedSite>, StoreError> {
        self.visits().published_site(hostname).await
    }

    async fn published_file(
        &self,
        hostname: &Hostname,
        kind: AppFileKind,
    ) -> Result<Option<PublishedFile>, StoreError> {
        self.visits().published_file(hostname, kind).await
    }
}
