//! Custom domains.

use std::collections::BTreeSet;

use async_trait::async_trait;
use diesel::dsl::{AsSelect, IntoBoxed, Select, sql};
use diesel::prelude::*;
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;
use signpost_app::ports::{
    Claims, CustomDomainReads, CustomDomainWrites, InsertCustomDomainError, LinksOf, PublishedFile,
    PublishedSite, ScheduledDomain, StoreError, UpdateCustomDomainError,
};
use signpost_domain::{
    AccountId, AppFileKind, CheckPlan, CustomDomain, DnsObservation, DomainFiles, DomainId, Hostname, Page,
    PageLimit, PagePosition, PlanResource, Timestamp,
};

use crate::certificates::forget_certificate;
use crate::columns::UpperBound;
use crate::counters;
use crate::failure::Failure;
use crate::link_batches::{self, Lost};
use crate::published_sites;
use crate::schema::{certificates, custom_domains};
use crate::sql_errors::is_taken;
use crate::store::SqliteStore;
use crate::unit_of_work::{SqliteUnitOfWork, Stop};
use signpost_sql_rows::columns::{IdBytes, Instant};
use signpost_sql_rows::custom_domain::{
    CustomDomainRow, NewCustomDomain, ScheduledRow, StatusColumns, WholeRow,
};
use signpost_sql_rows::domain_settings::SettingsColumns;
use signpost_sql_rows::listed;

#[async_trait]
impl CustomDomainReads for SqliteStore {
    async fn custom_domain(
        &self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        self.readers().read(move |connection| read_domain(connection, account, id)).await
    }

    async fn custom_domains(
        &self,
        account: AccountId,
        limit: PageLimit,
        after: Option<PagePosition>,
    ) -> Result<Page<ScheduledDomain>, StoreError> {
        let read = move |connection: &mut SqliteConnection| {
            let rows = scheduled_of(account)
                .filter(custom_domains::id.lt(UpperBound::from(after)))
                .order(custom_domains::id.desc())
                .limit(i64::from(limit.get()) + 1);
            Ok(rows.load(connection)?)
        };
        Ok(listed::page(self.readers().read(read).await?, limit))
    }

    async fn custom_domains_named(
        &self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError> {
        if hostnames.is_empty() {
            return Ok(Vec::new());
        }
        let hostnames = distinct(hostnames);
        self.readers().read(move |connection| read_named(connection, account, hostnames)).await
    }

    async fn holder_of(&self, hostname: &Hostname) -> Result<Option<CustomDomain>, StoreError> {
        let hostname = hostname.clone();
        self.readers().read(move |connection| read_holder(connection, &hostname)).await
    }

    async fn published_site(&self, hostname: &Hostname) -> Result<Option<PublishedSite>, StoreError> {
        let hostname = hostname.clone();
        self.readers().read(move |connection| published_sites::find(connection, &hostname)).await
    }

    async fn published_file(
        &self,
        hostname: &Hostname,
        kind: AppFileKind,
    ) -> Result<Option<PublishedFile>, StoreError> {
        let hostname = hostname.clone();
        self.readers().read(move |connection| published_sites::find_file(connection, &hostname, kind)).await
    }
}

/// Domains with what is stored about the certificates of their hostnames for their accounts.
#[diesel::dsl::auto_type]
fn with_certificates() -> _ {
    let is_of_domain = certificates::hostname
        .eq(custom_domains::hostname)
        .and(certificates::account_id.eq(custom_domains::account_id.nullable()));
    custom_domains::table.left_join(certificates::table.on(is_of_domain))
}

/// Domains with what is stored about the certificates of their hostnames. Boxed and named, because the compiler takes ten times as long for
/// a query of so many columns whose type it has to infer.
type Query<Row> = IntoBoxed<'static, Select<with_certificates, AsSelect<Row, Sqlite>>, Sqlite>;

/// The account's domains with the plans of their checks.
fn scheduled_of(account: AccountId) -> Query<ScheduledRow> {
    with_certificates()
        .select(ScheduledRow::as_select())
        .into_boxed()
        .filter(custom_domains::account_id.eq(IdBytes::from(account)))
}

fn read_domain(
    connection: &mut SqliteConnection,
    account: AccountId,
    id: DomainId,
) -> Result<Option<ScheduledDomain>, Failure> {
    let whole: Query<WholeRow> = with_certificates().select(WholeRow::as_select()).into_boxed();
    let found: Vec<WholeRow> = whole
        .filter(custom_domains::id.eq(IdBytes::from(id)))
        .filter(custom_domains::account_id.eq(IdBytes::from(account)))
        .load(connection)?;
    Ok(found.into_iter().next().map(WholeRow::into_whole).transpose()?)
}

fn distinct(hostnames: &[Hostname]) -> BTreeSet<String> {
    hostnames.iter().map(|hostname| hostname.as_str().to_owned()).collect()
}

fn read_named(
    connection: &mut SqliteConnection,
    account: AccountId,
    hostnames: BTreeSet<String>,
) -> Result<Vec<CustomDomain>, Failure> {
    let rows = custom_domains::table
        .filter(custom_domains::account_id.eq(IdBytes::from(account)))
        .filter(custom_domains::hostname.eq_any(hostnames))
        .select(CustomDomainRow::as_select())
        .load(connection)?;
    Ok(rows.into_iter().map(CustomDomainRow::into_domain).collect::<Result<_, _>>()?)
}

fn read_holder(
    connection: &mut SqliteConnection,
    hostname: &Hostname,
) -> Result<Option<CustomDomain>, Failure> {
    // Written as a literal: only then SQLite recognizes the condition of the partial index, which skips failed domains.
    let holds = sql::<Bool>("custom_domains.status <> 'failed'");
    let found = custom_domains::table
        .filter(custom_domains::hostname.eq(hostname.as_str()))
        .filter(holds)
        .select(CustomDomainRow::as_select())
        .first(connection)
        .optional()?;
    Ok(found.map(CustomDomainRow::into_domain).transpose()?)
}

/// The transaction holds the write lock from its start, so a plain read suffices as a lock.
#[async_trait]
impl CustomDomainWrites for SqliteUnitOfWork {
    async fn lock_custom_domain(
        &mut self,
        account: AccountId,
        id: DomainId,
    ) -> Result<Option<ScheduledDomain>, StoreError> {
        self.step(move |connection| read_domain(connection, account, id)).await
    }

    async fn lock_claims(&mut self, account: AccountId, hostname: &Hostname) -> Result<Claims, StoreError> {
        let hostname = hostname.clone();
        let step = move |connection: &mut SqliteConnection| {
            let own: Vec<ScheduledRow> = scheduled_of(account)
                .filter(custom_domains::hostname.eq(hostname.as_str().to_owned()))
                .load(connection)?;
            let holder = read_holder(connection, &hostname)?;
            Ok(Claims {
                own: own.into_iter().next().map(ScheduledRow::into_scheduled).transpose()?,
                holder: holder.filter(|holder| holder.account_id != account),
            })
        };
        self.step(step).await
    }

    async fn hold_custom_domains(
        &mut self,
        account: AccountId,
        hostnames: &[Hostname],
    ) -> Result<Vec<CustomDomain>, StoreError> {
        if hostnames.is_empty() {
            return Ok(Vec::new());
        }
        let hostnames = distinct(hostnames);
        self.step(move |connection| read_named(connection, account, hostnames)).await
    }

    async fn insert_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
        domains_limit: u64,
    ) -> Result<(), InsertCustomDomainError> {
        let domain = domain.clone();
        let step = move |connection: &mut SqliteConnection| {
            let account = domain.account_id;
            counters::count_one(connection, account, PlanResource::Domains, domains_limit)?;
            let row = NewCustomDomain::new(&domain, checks);
            match diesel::insert_into(custom_domains::table).values(row).execute(connection) {
                Ok(_) => Ok(()),
                Err(error)
                    if is_taken(&error, "custom_domains.hostname")
                        || is_taken(&error, "custom_domains.account_id") =>
                {
                    Err(Stop::Decided(InsertCustomDomainError::HostnameTaken))
                }
                Err(error) => Err(error.into()),
            }
        };
        self.decide(step).await?
    }

    async fn update_custom_domain(
        &mut self,
        domain: &CustomDomain,
        checks: CheckPlan,
    ) -> Result<(), UpdateCustomDomainError> {
        let domain = domain.clone();
        let CustomDomain { id, account_id, hostname, .. } = domain.clone();
        let step = move |connection: &mut SqliteConnection| {
            let row = custom_domains::table
                .find(IdBytes::from(id))
                .filter(custom_domains::account_id.eq(IdBytes::from(account_id)));
            match diesel::update(row).set(StatusColumns::new(&domain, checks)).execute(connection) {
                Ok(1) if domain.status.may_have_certificate() => Ok(()),
                Ok(1) => Ok(forget_certificate(connection, domain.hostname.as_str(), Some(account_id))?),
                Ok(_) => Err(Failure::Other(format!("the domain {id} was not locked")).into()),
                Err(error) if is_taken(&error, "custom_domains.hostname") => {
                    Err(Stop::Decided(UpdateCustomDomainError::HostnameTaken))
                }
                Err(error) => Err(error.into()),
            }
        };
        self.decide(step).await??;
        self.noted().note_domain(account_id, &hostname);
        Ok(())
    }

    async fn update_domain_settings(
        &mut self,
        domain: &CustomDomain,
        files: &DomainFiles,
    ) -> Result<(), StoreError> {
        let CustomDomain { id, account_id, hostname, .. } = domain.clone();
        let (domain, files) = (domain.clone(), files.clone());
        let step = move |connection: &mut SqliteConnection| {
            let row = custom_domains::table
                .find(IdBytes::from(id))
                .filter(custom_domains::account_id.eq(IdBytes::from(account_id)));
            match diesel::update(row).set(SettingsColumns::new(&domain, &files)).execute(connection)? {
                1 => Ok(()),
                _ => Err(Failure::Other(format!("the domain {id} was not locked"))),
            }
        };
        self.step(step).await?;
        self.noted().note_domain(account_id, &hostname);
        Ok(())
    }

    async fn record_observation(
        &mut self,
        account: AccountId,
        id: DomainId,
        observation: &DnsObservation,
    ) -> Result<(), StoreError> {
        let observation = observation.clone();
        let step = move |connection: &mut SqliteConnection| {
            let row = custom_domains::table
                .find(IdBytes::from(id))
                .filter(custom_domains::account_id.eq(IdBytes::from(account)));
            let written = diesel::update(row).set((
                custom_domains::checked_at.eq(Instant::from(observation.checked_at)),
                custom_domains::observed.eq(observation.records_to_json()),
            ));
            match written.execute(connection)? {
                1 => Ok(()),
                _ => Err(Failure::Other(format!("the domain {id} was not locked"))),
            }
        };
        self.step(step).await
    }

    async fn delete_custom_domain(&mut self, account: AccountId, id: DomainId) -> Result<bool, StoreError> {
        let step = move |connection: &mut SqliteConnection| {
            let row = custom_domains::table
                .find(IdBytes::from(id))
                .filter(custom_domains::account_id.eq(IdBytes::from(account)));
            let deleted: Option<String> =
                diesel::delete(row).returning(custom_domains::hostname).get_result(connection).optional()?;
            if let Some(hostname) = &deleted {
                counters::discount_one(connection, account, PlanResource::Domains)?;
                forget_certificate(connection, hostname, Some(account))?;
            }
            Ok(deleted)
        };
        let Some(hostname) = self.step(step).await? else { return Ok(false) };
        // A corrupt hostname could never be visited, so it must not block the deletion.
        if let Ok(hostname) = Hostname::from_stored(hostname) {
            self.noted().note_domain(account, &hostname);
        }
        Ok(true)
    }

    async fn lose_some_links(
        &mut self,
        whose: LinksOf,
        hostname: &Hostname,
        at_most: u16,
        now: Timestamp,
    ) -> Result<u16, StoreError> {
        let host = hostname.as_str().to_owned();
        let step = move |connection: &mut SqliteConnection| {
            link_batches::lose(connection, whose, &host, at_most, now)
        };
        let Lost { number, accounts } = self.step(step).await?;
        for account in accounts {
            self.noted().note_domain(account, hostname);
        }
        Ok(number)
    }
}
