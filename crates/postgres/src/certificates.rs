//! Reading certificates, and changing them in a unit of work.

use async_trait::async_trait;
use diesel::dsl::AsSelect;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AsChangeset, QueryFragment};
use diesel::sql_types::{Bool, Nullable, Text};
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::{
    CertificateClaim, CertificateReads, CertificateWrites, NO_ACCOUNT, ServedCertificate, StoreError,
    StoredAuthorityAccount, StoredCertificate, StoredChallenge, WorkPlan,
};
use signpost_domain::{AccountId, Hostname, Timestamp};
use signpost_sql_rows::sql_types::{Identifier, Moment};

use crate::cached_query::cached_query;
use crate::failure::Failure;
use crate::schema::{certificate_authorities, certificate_challenges, certificates};
use crate::statement::statement;
use crate::store::PostgresStore;
use crate::unit_of_work::PostgresUnitOfWork;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::certificate::{
    CertificateRow, OrderColumns, PlanColumns, ServedColumns, TABLE, readable,
};
use signpost_sql_rows::certificate_order::{AuthorityRow, ChallengeRow};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId};

cached_query! {
    /// The certificate of a hostname, which has at most one.
    CertificateOf -> AsSelect<CertificateRow, Pg> {
        hostname: String => Text,
    } = certificates::table.find(hostname).select(CertificateRow::as_select())
}

statement! {
    /// The rows after a hostname.
    RowsAfter<'a> -> AsSelect<CertificateRow, Pg> {
        after: &'a str,
        at_most: u32,
        columns: AsSelect<CertificateRow, Pg>,
    } =
    "SELECT "
    { columns as QueryFragment::walk_ast } " FROM certificates WHERE hostname > "
    { after: Text } " ORDER BY hostname LIMIT "
    { at_most } ""
}

statement! {
    /// Inserts a row that is due at an instant, unless the hostname has one. That of a name of the installation becomes the
    /// domain's.
    Want<'a> -> Bool {
        hostname: &'a str => Text,
        account: IdBytes => Identifier,
        now: Instant => Moment,
    } =
    "INSERT INTO certificates (hostname, account_id, next_attempt_at) VALUES ($1, $2, $3) ON CONFLICT (hostname) DO \
     UPDATE SET account_id = excluded.account_id, next_attempt_at = excluded.next_attempt_at, claims = 0 WHERE \
     certificates.account_id IS NULL"
}

statement! {
    /// Writes a certificate under a claim that has not ended, and deletes the challenges of its order. Returns the account of
    /// the row.
    Serve<'a> -> Nullable<Identifier> {
        served: <ServedColumns as AsChangeset>::Changeset,
        order: <OrderColumns as AsChangeset>::Changeset,
        plan: <PlanColumns as AsChangeset>::Changeset,
        hostname: &'a str,
        until: Instant,
    } =
    "WITH served AS (UPDATE certificates SET "
    { served as QueryFragment::walk_ast } ", "
    { order as QueryFragment::walk_ast } ", "
    { plan as QueryFragment::walk_ast } " WHERE hostname = "
    { hostname: Text } " AND next_attempt_at = "
    { until: Moment } " AND claims > 0 RETURNING account_id), answered AS (DELETE FROM certificate_challenges WHERE \
     hostname = "
    { hostname: Text } " AND EXISTS (SELECT FROM served)) SELECT account_id FROM served"
}

statement! {
    /// Deletes the row of a hostname, with its challenges. Returns its account.
    Delete<'a> -> Nullable<Identifier> {
        hostname: &'a str => Text,
    } =
    "DELETE FROM certificates WHERE hostname = $1 RETURNING account_id"
}

statement! {
    /// Deletes the rows of an account with their challenges, and locks them in lock order.
    pub(crate) ForgetCertificatesOf -> Bool {
        account: IdBytes => Identifier,
    } =
    "WITH held AS MATERIALIZED (SELECT h.hostname FROM certificates AS h WHERE h.account_id = $1 ORDER BY h.hostname FOR \
     UPDATE) DELETE FROM certificates AS c WHERE c.hostname = ANY (ARRAY(SELECT hostname FROM held))"
}

#[async_trait]
impl CertificateReads for PostgresStore {
    async fn certificate(&self, hostname: &Hostname) -> Result<Option<StoredCertificate>, StoreError> {
        let query = CertificateOf { hostname: hostname.as_str().to_owned() };
        self.read(async |connection| {
            let found: Vec<CertificateRow> = query.load(connection).await?;
            Ok(found.into_iter().next().map(CertificateRow::into_certificate).transpose()?)
        })
        .await
    }

    async fn certificates(
        &self,
        after: Option<&Hostname>,
        at_most: u16,
    ) -> Result<(Vec<StoredCertificate>, Option<Hostname>), StoreError> {
        // Every hostname is greater than an empty text.
        let after = after.map_or("", Hostname::as_str);
        let columns = CertificateRow::as_select();
        let read = RowsAfter { after, at_most: u32::from(at_most) + 1, columns };
        self.read(async |connection| {
            let mut rows: Vec<CertificateRow> = read.load(connection).await?;
            let has_more = rows.len() > usize::from(at_most);
            rows.truncate(at_most.into());
            let last = rows.last().filter(|_| has_more).map(|last| last.hostname().to_owned());
            let hostname = |last: String| {
                RowName::new(TABLE, &last).cell("hostname", Hostname::from_stored(last.clone()))
            };
            let next = last.map(hostname).transpose()?;
            Ok((rows.into_iter().filter_map(readable).collect(), next))
        })
        .await
    }

    async fn challenge(&self, token: &str, now: Timestamp) -> Result<Option<StoredChallenge>, StoreError> {
        self.read(async |connection| {
            let found = certificate_challenges::table
                .find(token)
                .filter(certificate_challenges::expires_at.gt(Instant::from(now)))
                .select(ChallengeRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(ChallengeRow::into_challenge).transpose()?)
        })
        .await
    }

    async fn challenge_of(
        &self,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<Option<StoredChallenge>, StoreError> {
        self.read(async |connection| {
            let found = certificate_challenges::table
                .filter(certificate_challenges::hostname.eq(hostname.as_str()))
                .filter(certificate_challenges::expires_at.gt(Instant::from(now)))
                .order(certificate_challenges::expires_at.desc())
                .select(ChallengeRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.map(ChallengeRow::into_challenge).transpose()?)
        })
        .await
    }

    async fn authority_account(&self, directory: &str) -> Result<Option<StoredAuthorityAccount>, StoreError> {
        self.read(async |connection| {
            let found = certificate_authorities::table
                .find(directory)
                .select(AuthorityRow::as_select())
                .first(connection)
                .await
                .optional()?;
            Ok(found.and_then(AuthorityRow::into_account))
        })
        .await
    }

    async fn authority_wait(&self, directory: &str) -> Result<Option<Timestamp>, StoreError> {
        self.read(async |connection| {
            let found: Option<Option<Instant>> = certificate_authorities::table
                .find(directory)
                .select(certificate_authorities::wait_until)
                .first(connection)
                .await
                .optional()?;
            let row = RowName::new("certificate_authorities", directory);
            Ok(found.flatten().map(|until| row.timestamp("wait_until", until)).transpose()?)
        })
        .await
    }
}

/// The account of a row that a statement has changed; of [no account](NO_ACCOUNT) for a name of the installation. `None` if it
/// has changed none.
fn account_of(hostname: &Hostname, changed: Vec<Option<StoredId>>) -> Result<Option<AccountId>, Failure> {
    let Some(account) = changed.into_iter().next() else { return Ok(None) };
    let row = RowName::new(TABLE, hostname);
    let account = account.map(|id| row.id("account_id", &id)).transpose()?;
    Ok(Some(account.unwrap_or(NO_ACCOUNT)))
}

#[async_trait]
impl CertificateWrites for PostgresUnitOfWork {
    async fn want_certificate(
        &mut self,
        account: AccountId,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let want = Want { hostname: hostname.as_str(), account: account.into(), now: now.into() };
        self.step(async |connection| Ok(want.execute(connection).await.map(drop)?)).await
    }

    async fn write_certificate(
        &mut self,
        claim: &CertificateClaim,
        certificate: &ServedCertificate,
        plan: &WorkPlan,
    ) -> Result<bool, StoreError> {
        let serve = Serve {
            served: ServedColumns::from(certificate).as_changeset(),
            order: OrderColumns::new(None).as_changeset(),
            plan: PlanColumns::from(plan).as_changeset(),
            hostname: claim.hostname.as_str(),
            until: claim.until.into(),
        };
        let step = async |connection: &mut &AsyncPgConnection| {
            account_of(&claim.hostname, serve.load(connection).await?)
        };
        let Some(account) = self.step(step).await? else { return Ok(false) };
        self.noted().note_domain(account, &claim.hostname);
        Ok(true)
    }

    async fn delete_certificate(&mut self, hostname: &Hostname) -> Result<bool, StoreError> {
        let delete = Delete { hostname: hostname.as_str() };
        let step =
            async |connection: &mut &AsyncPgConnection| account_of(hostname, delete.load(connection).await?);
        let Some(account) = self.step(step).await? else { return Ok(false) };
        self.noted().note_domain(account, hostname);
        Ok(true)
    }
}
