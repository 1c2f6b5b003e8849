//! Steps for cases about certificates.

use std::sync::Arc;

use signpost_app::ports::{
    CertificateClaim, KeepOrder, OrderUrl, RenewalId, RunningOrder, ServedCertificate, Store,
    StoredCertificate, StoredChallenge, WorkPlan,
};
use signpost_domain::{
    AccountId, CertificateFailure, CertificateFailureReason, Hostname, SealedSecret, Timestamp,
    ValidationMethod, Validity,
};

use super::given::unit;
use crate::samples;

/// More rows than any case has.
pub(super) const ALL: u16 = 500;

/// Repeats a call of the store as often as the store asks for it.
macro_rules! again {
    ($call:expr) => {
        loop {
            match $call.await {
                Err(signpost_app::ports::StoreError::Contended) => tokio::task::yield_now().await,
                outcome => break outcome.unwrap(),
            }
        }
    };
}
pub(super) use again;

/// The row of a hostname on which no work was done, due at this instant.
pub(super) fn wanted(account: Option<AccountId>, host: &str, millis: i64) -> StoredCertificate {
    StoredCertificate {
        hostname: samples::hostname(host),
        account,
        served: None,
        order: None,
        plan: due_at(millis),
        claims: 0,
    }
}

/// A plan without attempts, due at this instant.
pub(super) fn due_at(millis: i64) -> WorkPlan {
    WorkPlan { next_attempt_at: Some(samples::at(millis)), ..WorkPlan::default() }
}

/// A plan after failures, with every field set.
pub(super) fn after_failures(failures: u32, millis: i64) -> WorkPlan {
    let message = "203.0.113.9: Connection refused — “port 80”";
    WorkPlan {
        last_attempt_at: Some(samples::at(millis - 1)),
        failures,
        failure: Some(CertificateFailure::new(CertificateFailureReason::Unreachable, message)),
        method: ValidationMethod::TlsAlpn,
        ..due_at(millis)
    }
}

/// A certificate with every field set, which is renewed at this instant.
pub(super) fn served(millis: i64) -> ServedCertificate {
    ServedCertificate {
        authority: "https://acme.example/directory".to_owned(),
        chain: vec![vec![0x30, 0, 0xff, 1], vec![0x30], vec![0; 3_000]],
        key: secret(7),
        validity: Validity { not_before: samples::at(-1), not_after: samples::at(7_000_000) },
        issuer: "Example’s Encrypt (E7)".to_owned(),
        renewal_id: Some(RenewalId("aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE".to_owned())),
        renew_at: samples::at(millis),
    }
}

/// An order that the authority has accepted.
pub(super) fn order(number: u8) -> RunningOrder {
    RunningOrder {
        authority: "https://acme.example/directory".to_owned(),
        key: secret(number),
        url: Some(OrderUrl(format!("https://acme.example/order/{number}"))),
        is_validating: false,
        begun_at: samples::at(i64::from(number)),
    }
}

/// Bytes that are no text.
pub(super) fn secret(number: u8) -> SealedSecret {
    SealedSecret(vec![number, 0, 0xff, 0xfe, number])
}

/// A challenge that expires at this instant.
pub(super) fn challenge(token: &str, host: &str, millis: i64) -> StoredChallenge {
    StoredChallenge {
        token: token.to_owned(),
        hostname: samples::hostname(host),
        key_authorization: format!("{token}.of-{host}"),
        expires_at: samples::at(millis),
    }
}

/// The claim on the work for a hostname that ends at this instant.
pub(super) fn claim_of(host: &str, millis: i64) -> CertificateClaim {
    CertificateClaim { hostname: samples::hostname(host), until: samples::at(millis) }
}

/// Inserts a row for a custom domain, due at this instant, and returns it.
pub(super) async fn want(
    store: &Arc<dyn Store>,
    account: AccountId,
    host: &str,
    millis: i64,
) -> StoredCertificate {
    let hostname = samples::hostname(host);
    let wanting =
        unit!(store, async |work| Ok(work.want_certificate(account, &hostname, samples::at(millis)).await?));
    wanting.await.unwrap();
    wanted(Some(account), host, millis)
}

/// Inserts a row for a name of the installation, due at this instant, and returns it.
pub(super) async fn want_own(store: &Arc<dyn Store>, host: &str, millis: i64) -> StoredCertificate {
    assert_eq!(want_missing(store, &[host], millis, 0).await, 1);
    wanted(None, host, millis)
}

/// Inserts missing rows.
pub(super) async fn want_missing(store: &Arc<dyn Store>, own: &[&str], millis: i64, at_most: u16) -> u16 {
    let own: Vec<Hostname> = own.iter().map(|host| samples::hostname(host)).collect();
    again!(store.want_certificates(&own, samples::at(millis), at_most))
}

/// Claims due work.
pub(super) async fn claim(
    store: &Arc<dyn Store>,
    now: Timestamp,
    until: Timestamp,
    at_most: u16,
) -> Vec<StoredCertificate> {
    again!(store.claim_due_certificates(now, until, at_most))
}

/// Claims the work on this one hostname, which is the only work that is due.
pub(super) async fn claim_one(store: &Arc<dyn Store>, host: &str, now: i64, until: i64) -> CertificateClaim {
    let claimed = claim(store, samples::at(now), samples::at(until), ALL).await;
    assert_eq!(hosts(&claimed), [host]);
    claim_of(host, until)
}

/// The hostnames of rows, in their order.
pub(super) fn hosts(rows: &[StoredCertificate]) -> Vec<&str> {
    rows.iter().map(|row| row.hostname.as_str()).collect()
}

pub(super) async fn row(store: &Arc<dyn Store>, host: &str) -> Option<StoredCertificate> {
    store.certificate(&samples::hostname(host)).await.unwrap()
}

/// Whether there is a challenge with this token that has not expired at the instant of the samples.
pub(super) async fn has_challenge(store: &Arc<dyn Store>, token: &str) -> bool {
    store.challenge(token, samples::at(0)).await.unwrap().is_some()
}

pub(super) async fn hasten(store: &Arc<dyn Store>, host: &str, millis: i64) -> bool {
    let hostname = samples::hostname(host);
    again!(store.hasten_certificate(&hostname, samples::at(millis)))
}

pub(super) async fn write_order(
    store: &Arc<dyn Store>,
    claim: &CertificateClaim,
    order: Option<&RunningOrder>,
) -> bool {
    again!(store.write_order(claim, order))
}

pub(super) async fn write_challenge(
    store: &Arc<dyn Store>,
    claim: &CertificateClaim,
    challenge: &StoredChallenge,
) -> bool {
    again!(store.write_challenge(claim, challenge))
}

pub(super) async fn conclude(
    store: &Arc<dyn Store>,
    claim: &CertificateClaim,
    plan: &WorkPlan,
    order: KeepOrder,
) -> bool {
    again!(store.conclude_certificate(claim, plan, None, order))
}

/// Writes a certificate whose next action is at `next`, at the instant `now`.
pub(super) async fn serve(
    store: &Arc<dyn Store>,
    claim: &CertificateClaim,
    certificate: &ServedCertificate,
    now: i64,
    next: i64,
) -> bool {
    let plan = after_success(now, next);
    unit!(store, async |work| Ok(work.write_certificate(claim, certificate, &plan).await?)).await.unwrap()
}

/// The plan after a certificate was obtained at the instant `now`.
pub(super) fn after_success(now: i64, next: i64) -> WorkPlan {
    WorkPlan { last_attempt_at: Some(samples::at(now)), ..due_at(next) }
}

pub(super) async fn delete(store: &Arc<dyn Store>, host: &str) -> bool {
    let hostname = samples::hostname(host);
    unit!(store, async |work| Ok(work.delete_certificate(&hostname).await?)).await.unwrap()
}

/// A hostname with a certificate that was written at 1 and is renewed at 900,000, and one challenge of a new order.
pub(super) async fn serving(store: &Arc<dyn Store>, account: AccountId, host: &str) -> StoredCertificate {
    want(store, account, host, 0).await;
    let claim = claim_one(store, host, 0, 1_000).await;
    assert!(serve(store, &claim, &served(900_000), 1, 800_000).await);
    let claim = claim_one(store, host, 800_000, 801_000).await;
    assert!(write_order(store, &claim, Some(&order(1))).await);
    assert!(write_challenge(store, &claim, &challenge(host, host, 900_000)).await);
    assert!(conclude(store, &claim, &due_at(9_000_000), KeepOrder::Yes).await);
    row(store, host).await.unwrap()
}
