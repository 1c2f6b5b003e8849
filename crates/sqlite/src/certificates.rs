//! Reading certificates, and changing them in a unit of work.

use async_trait::async_trait;
use diesel::prelude::*;
use signpost_app::ports::{
    CertificateClaim, CertificateReads, CertificateWrites, NO_ACCOUNT, ServedCertificate, StoreError,
    StoredAuthorityAccount, StoredCertificate, StoredChallenge, WorkPlan,
};
use signpost_domain::{AccountId, Hostname, Timestamp};

use crate::failure::Failure;
use crate::schema::{certificate_authorities, certificate_challenges, certificates, custom_domains};
use crate::store::SqliteStore;
use crate::unit_of_work::SqliteUnitOfWork;
use signpost_sql_rows::cell::RowName;
use signpost_sql_rows::certificate::{
    CertificateRow, OrderColumns, PlanColumns, ServedColumns, TABLE, readable,
};
use signpost_sql_rows::certificate_order::{AuthorityRow, ChallengeRow};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredId};

/// Inserts a row that is due at `now`, unless the hostname has one. Returns how many were inserted.
pub(crate) fn want(
    connection: &mut SqliteConnection,
    account: Option<StoredId>,
    hostname: &str,
    now: Instant,
) -> Result<usize, Failure> {
    if account.is_some() {
        // What was inserted for a name of the installation becomes the domain's.
        let row = certificates::table.find(hostname).filter(certificates::account_id.is_null());
        let taken = diesel::update(row)
            .set((
                certificates::account_id.eq(account.clone()),
                certificates::next_attempt_at.eq(now),
                certificates::claims.eq(0_i32),
            ))
            .execute(connection)?;
        if taken > 0 {
            return Ok(taken);
        }
    }
    Ok(diesel::insert_into(certificates::table)
        .values((
            certificates::hostname.eq(hostname),
            certificates::account_id.eq(account),
            certificates::next_attempt_at.eq(now),
        ))
        .on_conflict(certificates::hostname)
        .do_nothing()
        .execute(connection)?)
}

/// Deletes the row of a hostname with its challenges: of any account, or of this one.
pub(crate) fn forget_certificate(
    connection: &mut SqliteConnection,
    hostname: &str,
    of: Option<AccountId>,
) -> Result<(), Failure> {
    let row = certificates::table.find(hostname);
    let deleted = match of {
        None => diesel::delete(row).execute(connection)?,
        Some(account) => diesel::delete(row.filter(certificates::account_id.eq(IdBytes::from(account))))
            .execute(connection)?,
    };
    if deleted > 0 {
        forget_challenges(connection, hostname)?;
    }
    Ok(())
}

/// Deletes the rows of the hostnames of these domains.
pub(crate) fn forget_certificates_of(
    connection: &mut SqliteConnection,
    domains: &[StoredId],
) -> Result<(), Failure> {
    let hostnames: Vec<(String, StoredId)> = custom_domains::table
        .filter(custom_domains::id.eq_any(domains))
        .select((custom_domains::hostname, custom_domains::account_id))
        .load(connection)?;
    for (hostname, account) in hostnames {
        let row = certificates::table.find(&hostname).filter(certificates::account_id.eq(account));
        if diesel::delete(row).execute(connection)? > 0 {
            forget_challenges(connection, &hostname)?;
        }
    }
    Ok(())
}

/// Deletes the rows of an account's hostnames.
pub(crate) fn forget_certificates_of_account(
    connection: &mut SqliteConnection,
    account: AccountId,
) -> Result<(), Failure> {
    let rows = certificates::table.filter(certificates::account_id.eq(IdBytes::from(account)));
    let hostnames: Vec<String> = diesel::delete(rows).returning(certificates::hostname).load(connection)?;
    for hostname in hostnames {
        forget_challenges(connection, &hostname)?;
    }
    Ok(())
}

/// Deletes the challenges of a hostname.
pub(crate) fn forget_challenges(connection: &mut SqliteConnection, hostname: &str) -> Result<(), Failure> {
    let of_hostname = certificate_challenges::hostname.eq(hostname);
    diesel::delete(certificate_challenges::table.filter(of_hostname)).execute(connection)?;
    Ok(())
}

/// The row under a claim that has not ended.
#[diesel::dsl::auto_type(no_type_alias)]
pub(crate) fn held<'a>(hostname: &'a str, until: Instant) -> _ {
    certificates::table
        .filter(certificates::hostname.eq(hostname))
        .filter(certificates::next_attempt_at.eq(until))
        .filter(certificates::claims.gt(0_i32))
}

#[async_trait]
impl CertificateReads for SqliteStore {
    async fn certificate(&self, hostname: &Hostname) -> Result<Option<StoredCertificate>, StoreError> {
        let hostname = hostname.as_str().to_owned();
        let read = move |connection: &mut SqliteConnection| {
            let found = certificates::table
                .find(hostname)
                .select(CertificateRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(CertificateRow::into_certificate).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn certificates(
        &self,
        after: Option<&Hostname>,
        at_most: u16,
    ) -> Result<(Vec<StoredCertificate>, Option<Hostname>), StoreError> {
        // Every hostname is greater than an empty text.
        let after = after.map_or_else(String::new, |after| after.as_str().to_owned());
        let read = move |connection: &mut SqliteConnection| {
            Ok(certificates::table
                .filter(certificates::hostname.gt(after))
                .order(certificates::hostname)
                .limit(i64::from(at_most) + 1)
                .select(CertificateRow::as_select())
                .load::<CertificateRow>(connection)?)
        };
        let mut rows = self.readers().read(read).await?;
        let has_more = rows.len() > usize::from(at_most);
        rows.truncate(usize::from(at_most));
        let last = rows.last().filter(|_| has_more).map(|last| last.hostname().to_owned());
        let hostname =
            |last: String| RowName::new(TABLE, &last).cell("hostname", Hostname::from_stored(last.clone()));
        let next = last.map(hostname).transpose()?;
        Ok((rows.into_iter().filter_map(readable).collect(), next))
    }

    async fn challenge(&self, token: &str, now: Timestamp) -> Result<Option<StoredChallenge>, StoreError> {
        let (token, now) = (token.to_owned(), Instant::from(now));
        let read = move |connection: &mut SqliteConnection| {
            let found = certificate_challenges::table
                .find(token)
                .filter(certificate_challenges::expires_at.gt(now))
                .select(ChallengeRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(ChallengeRow::into_challenge).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn challenge_of(
        &self,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<Option<StoredChallenge>, StoreError> {
        let (hostname, now) = (hostname.as_str().to_owned(), Instant::from(now));
        let read = move |connection: &mut SqliteConnection| {
            let found = certificate_challenges::table
                .filter(certificate_challenges::hostname.eq(hostname))
                .filter(certificate_challenges::expires_at.gt(now))
                .order(certificate_challenges::expires_at.desc())
                .select(ChallengeRow::as_select())
                .first(connection)
                .optional()?;
            Ok(found.map(ChallengeRow::into_challenge).transpose()?)
        };
        self.readers().read(read).await
    }

    async fn authority_account(&self, directory: &str) -> Result<Option<StoredAuthorityAccount>, StoreError> {
        let directory = directory.to_owned();
        let read = move |connection: &mut SqliteConnection| read_account(connection, &directory);
        self.readers().read(read).await
    }

    async fn authority_wait(&self, directory: &str) -> Result<Option<Timestamp>, StoreError> {
        let directory = directory.to_owned();
        let read = move |connection: &mut SqliteConnection| {
            let row = RowName::new("certificate_authorities", &directory);
            let found: Option<Option<Instant>> = certificate_authorities::table
                .find(&directory)
                .select(certificate_authorities::wait_until)
                .first(connection)
                .optional()?;
            Ok(found.flatten().map(|until| row.timestamp("wait_until", until)).transpose()?)
        };
        self.readers().read(read).await
    }
}

/// The account at an authority.
pub(crate) fn read_account(
    connection: &mut SqliteConnection,
    directory: &str,
) -> Result<Option<StoredAuthorityAccount>, Failure> {
    let found = certificate_authorities::table
        .find(directory)
        .select(AuthorityRow::as_select())
        .first(connection)
        .optional()?;
    Ok(found.and_then(AuthorityRow::into_account))
}

#[async_trait]
impl CertificateWrites for SqliteUnitOfWork {
    async fn want_certificate(
        &mut self,
        account: AccountId,
        hostname: &Hostname,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let hostname = hostname.as_str().to_owned();
        let step = move |connection: &mut SqliteConnection| {
            want(connection, Some(IdBytes::from(account).into()), &hostname, now.into()).map(drop)
        };
        self.step(step).await
    }

    async fn write_certificate(
        &mut self,
        claim: &CertificateClaim,
        certificate: &ServedCertificate,
        plan: &WorkPlan,
    ) -> Result<bool, StoreError> {
        let CertificateClaim { hostname, until } = claim.clone();
        let (columns, plan) = (ServedColumns::from(certificate), PlanColumns::from(plan));
        let step = move |connection: &mut SqliteConnection| {
            let written: Option<Option<StoredId>> = diesel::update(held(hostname.as_str(), until.into()))
                .set((columns, OrderColumns::new(None), plan))
                .returning(certificates::account_id)
                .get_result(connection)
                .optional()?;
            if written.is_some() {
                forget_challenges(connection, hostname.as_str())?;
            }
            let row = RowName::new(TABLE, &hostname);
            Ok(written.map(|account| account.map(|id| row.id("account_id", &id)).transpose()).transpose()?)
        };
        let Some(account) = self.step(step).await? else { return Ok(false) };
        self.noted().note_domain(account.unwrap_or(NO_ACCOUNT), &claim.hostname);
        Ok(true)
    }

    async fn delete_certificate(&mut self, hostname: &Hostname) -> Result<bool, StoreError> {
        let name = hostname.clone();
        let step = move |connection: &mut SqliteConnection| {
            let deleted: Option<Option<StoredId>> = diesel::delete(certificates::table.find(name.as_str()))
                .returning(certificates::account_id)
                .get_result(connection)
                .optional()?;
            if deleted.is_some() {
                forget_challenges(connection, name.as_str())?;
            }
            let row = RowName::new(TABLE, &name);
            Ok(deleted.map(|account| account.map(|id| row.id("account_id", &id)).transpose()).transpose()?)
        };
        let Some(account) = self.step(step).await? else { return Ok(false) };
        self.noted().note_domain(account.unwrap_or(NO_ACCOUNT), hostname);
        Ok(true)
    }
}
