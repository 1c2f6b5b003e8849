//! The work on certificates: what is due, which node has claimed it, and what it may spend (D186, D190).

use async_trait::async_trait;
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use signpost_app::ports::{
    CERTIFICATES_LEFT_ALONE_FOR, CertificateClaim, CertificateWork, KeepOrder, MAX_CLAIMS_OF_A_CERTIFICATE,
    ORDER_EVENTS_KEPT, RunningOrder, StoreError, StoredAuthorityAccount, StoredCertificate, StoredChallenge,
    WorkPlan,
};
use signpost_domain::{BudgetDecision, Hostname, OrderKind, Timestamp};

use crate::certificates::{forget_challenges, held, read_account, want};
use crate::failure::Failure;
use crate::order_events;
use crate::schema::{certificate_authorities, certificate_challenges, certificates, custom_domains};
use crate::store::SqliteStore;
use signpost_sql_rows::certificate::{CertificateRow, OrderColumns, PlanColumns, readable};
use signpost_sql_rows::certificate_order::{ChallengeRow, FAILURE_EVENT, order_event};
use signpost_sql_rows::columns::{Instant, StoredId};

/// An instant that long before `now`, which may be too early for a valid one.
fn before(now: Timestamp, duration: std::time::Duration) -> i64 {
    now.unix_millis().saturating_sub(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX))
}

/// The rows that are due at `now`, the longest due first: those that nobody has given up, and then those that were given up a
/// day ago.
fn due(
    connection: &mut SqliteConnection,
    now: Timestamp,
    at_most: u16,
) -> Result<Vec<CertificateRow>, Failure> {
    // Written as literals: only then SQLite recognizes the conditions of the partial indexes.
    let is_not_given_up = sql::<Bool>(&format!("certificates.claims < {MAX_CLAIMS_OF_A_CERTIFICATE}"));
    let is_given_up = sql::<Bool>(&format!("certificates.claims >= {MAX_CLAIMS_OF_A_CERTIFICATE}"));
    let mut rows: Vec<CertificateRow> = certificates::table
        .filter(certificates::next_attempt_at.le(Instant::from(now)))
        .filter(is_not_given_up)
        .order(certificates::next_attempt_at)
        .select(CertificateRow::as_select())
        .limit(at_most.into())
        .load(connection)?;
    let room = usize::from(at_most).saturating_sub(rows.len());
    if room > 0 {
        let since = Instant::from_unix_millis(before(now, CERTIFICATES_LEFT_ALONE_FOR));
        let given_up: Vec<CertificateRow> = certificates::table
            .filter(certificates::next_attempt_at.le(since))
            .filter(is_given_up)
            .order(certificates::next_attempt_at)
            .select(CertificateRow::as_select())
            .limit(i64::try_from(room).unwrap_or(i64::MAX))
            .load(connection)?;
        rows.extend(given_up);
    }
    Ok(rows)
}

/// Proven domains whose hostnames have no row, by hostname.
fn missing(connection: &mut SqliteConnection, at_most: u16) -> Result<Vec<(String, StoredId)>, Failure> {
    // As in the index of these domains.
    let is_proven = sql::<Bool>("custom_domains.status IN ('ssl_pending', 'active')");
    let has_none = diesel::dsl::not(diesel::dsl::exists(
        certificates::table.filter(certificates::hostname.eq(custom_domains::hostname)),
    ));
    Ok(custom_domains::table
        // Every hostname is greater than an empty text; the condition lets SQLite walk the index.
        .filter(custom_domains::hostname.gt(""))
        .filter(is_proven)
        .filter(has_none)
        .order(custom_domains::hostname)
        .select((custom_domains::hostname, custom_domains::account_id))
        .limit(at_most.into())
        .load(connection)?)
}

#[async_trait]
impl CertificateWork for SqliteStore {
    async fn want_certificates(
        &self,
        own: &[Hostname],
        now: Timestamp,
        at_most: u16,
    ) -> Result<u16, StoreError> {
        let own: Vec<String> = own.iter().map(|hostname| hostname.as_str().to_owned()).collect();
        let wanted = own.clone();
        let look = move |connection: &mut SqliteConnection| {
            let known: i64 = certificates::table
                .filter(certificates::hostname.eq_any(&wanted))
                .count()
                .get_result(connection)?;
            let has_own = usize::try_from(known).is_ok_and(|known| known >= wanted.len());
            Ok(has_own && missing(connection, 1)?.is_empty())
        };
        if self.readers().read(look).await? {
            return Ok(0);
        }
        let insert = move |connection: &mut SqliteConnection| {
            let mut inserted = 0;
            for hostname in &own {
                inserted += want(connection, None, hostname, now.into())?;
            }
            for (hostname, account) in missing(connection, at_most)? {
                inserted += want(connection, Some(account), &hostname, now.into())?;
            }
            Ok(inserted)
        };
        Ok(u16::try_from(self.write(insert).await?).unwrap_or(u16::MAX))
    }

    async fn claim_due_certificates(
        &self,
        now: Timestamp,
        until: Timestamp,
        at_most: u16,
    ) -> Result<Vec<StoredCertificate>, StoreError> {
        // Usually nothing is due, and the writer should not be interrupted for that.
        let is_idle = move |connection: &mut SqliteConnection| Ok(due(connection, now, 1)?.is_empty());
        if self.readers().read(is_idle).await? {
            return Ok(Vec::new());
        }
        let claim = move |connection: &mut SqliteConnection| {
            let mut claimed = Vec::new();
            for row in due(connection, now, at_most)? {
                let given_up = i32::try_from(MAX_CLAIMS_OF_A_CERTIFICATE).unwrap_or(i32::MAX);
                let claims = if row.claims() >= given_up { 1 } else { row.claims().saturating_add(1) };
                diesel::update(certificates::table.find(row.hostname()))
                    .set((
                        certificates::next_attempt_at.eq(Instant::from(until)),
                        certificates::claims.eq(claims),
                    ))
                    .execute(connection)?;
                claimed.push(row.claimed(until.into(), claims));
            }
            Ok(claimed)
        };
        Ok(self.write(claim).await?.into_iter().filter_map(readable).collect())
    }

    async fn hasten_certificate(&self, hostname: &Hostname, now: Timestamp) -> Result<bool, StoreError> {
        let hostname = hostname.as_str().to_owned();
        let hasten = move |connection: &mut SqliteConnection| {
            let now = Instant::from(now);
            let is_free = certificates::claims
                .eq(0)
                .or(certificates::next_attempt_at.is_null())
                .or(certificates::next_attempt_at.le(now).assume_not_null());
            let row = certificates::table.find(&hostname).filter(is_free);
            let hastened = diesel::update(row)
                .set((certificates::next_attempt_at.eq(now), certificates::claims.eq(0)))
                .execute(connection)?;
            if hastened > 0 {
                let later = certificates::table.find(&hostname).filter(certificates::renew_at.gt(now));
                diesel::update(later).set(certificates::renew_at.eq(now)).execute(connection)?;
            }
            Ok(hastened > 0)
        };
        self.write(hasten).await
    }

    async fn write_order(
        &self,
        claim: &CertificateClaim,
        order: Option<&RunningOrder>,
    ) -> Result<bool, StoreError> {
        let (claim, columns) = (claim.clone(), OrderColumns::new(order));
        let write = move |connection: &mut SqliteConnection| {
            let held = held(claim.hostname.as_str(), claim.until.into());
            Ok(diesel::update(held).set(columns).execute(connection)? > 0)
        };
        self.write(write).await
    }

    async fn write_challenge(
        &self,
        claim: &CertificateClaim,
        challenge: &StoredChallenge,
    ) -> Result<bool, StoreError> {
        let (claim, row) = (claim.clone(), ChallengeRow::from(challenge));
        let write = move |connection: &mut SqliteConnection| {
            let held = held(claim.hostname.as_str(), claim.until.into());
            if diesel::select(diesel::dsl::exists(held)).get_result::<bool>(connection)? {
                diesel::replace_into(certificate_challenges::table).values(row).execute(connection)?;
                return Ok(true);
            }
            Ok(false)
        };
        self.write(write).await
    }

    async fn conclude_certificate(
        &self,
        claim: &CertificateClaim,
        plan: &WorkPlan,
        renew_at: Option<Timestamp>,
        order: KeepOrder,
    ) -> Result<bool, StoreError> {
        let (claim, plan) = (claim.clone(), PlanColumns::from(plan));
        let conclude = move |connection: &mut SqliteConnection| {
            let hostname = claim.hostname.as_str();
            let held = held(hostname, claim.until.into());
            if diesel::update(held).set(plan).execute(connection)? == 0 {
                return Ok(false);
            }
            if let Some(renew_at) = renew_at {
                let served = certificates::table.find(hostname).filter(certificates::renew_at.is_not_null());
                diesel::update(served)
                    .set(certificates::renew_at.eq(Instant::from(renew_at)))
                    .execute(connection)?;
            }
            match order {
                KeepOrder::Yes => {}
                KeepOrder::No => {
                    diesel::update(certificates::table.find(hostname))
                        .set(OrderColumns::new(None))
                        .execute(connection)?;
                    forget_challenges(connection, hostname)?;
                }
            }
            Ok(true)
        };
        self.write(conclude).await
    }

    async fn spend_on_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<BudgetDecision, StoreError> {
        let (hostname, registered_domain) = (hostname.clone(), registered_domain.to_owned());
        // There is one writer, so nobody else spends in between.
        let spend = move |connection: &mut SqliteConnection| {
            let used = order_events::order_use(connection, &hostname, &registered_domain, now)?;
            let decision = used.decide(kind, now);
            if decision == BudgetDecision::Allowed {
                order_events::note(connection, order_event(kind), &hostname, &registered_domain, now)?;
            }
            Ok(decision)
        };
        self.write(spend).await
    }

    async fn note_failed_order(
        &self,
        hostname: &Hostname,
        registered_domain: &str,
        kind: OrderKind,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (hostname, registered_domain) = (hostname.clone(), registered_domain.to_owned());
        let note = move |connection: &mut SqliteConnection| {
            order_events::release(connection, kind, &hostname)?;
            order_events::note(connection, FAILURE_EVENT, &hostname, &registered_domain, now)
        };
        self.write(note).await
    }

    async fn keep_authority_account(
        &self,
        directory: &str,
        account: &StoredAuthorityAccount,
    ) -> Result<StoredAuthorityAccount, StoreError> {
        let (directory, account) = (directory.to_owned(), account.clone());
        let keep = move |connection: &mut SqliteConnection| {
            if let Some(stored) = read_account(connection, &directory)? {
                return Ok(stored);
            }
            let columns = (
                certificate_authorities::account_uri.eq(&account.uri),
                certificate_authorities::credentials.eq(&account.credentials.0),
            );
            diesel::insert_into(certificate_authorities::table)
                .values((certificate_authorities::directory.eq(&directory), columns))
                .on_conflict(certificate_authorities::directory)
                .do_update()
                .set(columns)
                .execute(connection)?;
            Ok(account)
        };
        self.write(keep).await
    }

    async fn forget_authority_account(&self, directory: &str, uri: &str) -> Result<(), StoreError> {
        let (directory, uri) = (directory.to_owned(), uri.to_owned());
        let forget = move |connection: &mut SqliteConnection| {
            let row = certificate_authorities::table
                .find(directory)
                .filter(certificate_authorities::account_uri.eq(uri));
            diesel::update(row)
                .set((
                    certificate_authorities::account_uri.eq(None::<String>),
                    certificate_authorities::credentials.eq(None::<Vec<u8>>),
                ))
                .execute(connection)?;
            Ok(())
        };
        self.write(forget).await
    }

    async fn set_authority_wait(&self, directory: &str, until: Timestamp) -> Result<(), StoreError> {
        let directory = directory.to_owned();
        let set = move |connection: &mut SqliteConnection| {
            let until = Instant::from(until);
            let stored: Option<Option<Instant>> = certificate_authorities::table
                .find(&directory)
                .select(certificate_authorities::wait_until)
                .first(connection)
                .optional()?;
            if stored.flatten().is_some_and(|stored| stored >= until) {
                return Ok(());
            }
            let wait = certificate_authorities::wait_until.eq(until);
            diesel::insert_into(certificate_authorities::table)
                .values((certificate_authorities::directory.eq(&directory), wait))
                .on_conflict(certificate_authorities::directory)
                .do_update()
                .set(wait)
                .execute(connection)?;
            Ok(())
        };
        self.write(set).await
    }

    async fn forget_order_events(&self, now: Timestamp, at_most: u16) -> Result<bool, StoreError> {
        let until = before(now, ORDER_EVENTS_KEPT);
        let expired =
            move |connection: &mut SqliteConnection, at_most: u16| -> Result<Vec<String>, Failure> {
                Ok(certificate_challenges::table
                    .filter(certificate_challenges::expires_at.le(Instant::from(now)))
                    .order(certificate_challenges::expires_at)
                    .select(certificate_challenges::token)
                    .limit(at_most.into())
                    .load(connection)?)
            };
        let is_idle = move |connection: &mut SqliteConnection| {
            Ok(expired(connection, 1)?.is_empty() && !order_events::has_old(connection, until)?)
        };
        if self.readers().read(is_idle).await? {
            return Ok(false);
        }
        let forget = move |connection: &mut SqliteConnection| {
            let tokens = expired(connection, at_most)?;
            let challenges =
                certificate_challenges::table.filter(certificate_challenges::token.eq_any(tokens));
            diesel::delete(challenges).execute(connection)?;
            order_events::forget(connection, until, at_most)?;
            Ok(!expired(connection, 1)?.is_empty() || order_events::has_old(connection, until)?)
        };
        self.write(forget).await
    }
}
