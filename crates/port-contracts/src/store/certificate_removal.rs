//! The certificate of a domain: it goes with the domain (D198), and the domain shows it (D194).

use std::sync::Arc;

use signpost_app::ports::{CertificateSummary, KeepOrder, ScheduledDomain, Store, StoredCertificate};
use signpost_domain::{AccountId, CustomDomain, CustomDomainStatus};

use super::certificate_steps::{
    after_failures, challenge, claim_one, conclude, delete, has_challenge, order, row, serve, served,
    serving, want, want_own, write_challenge, write_order,
};
use super::domain_steps::{self, ACTIVE, NO_CHECKS, every_status, expire};
use super::fixture::Fresh;
use super::given::{self, PLENTY, unit};
use crate::samples;

cases! {
    $ certificate_removal
    d198_a_deleted_domain_takes_its_certificate
    d198_a_domain_that_is_not_proven_takes_its_certificate
    d198_an_expired_domain_takes_its_certificate
    d198_a_deleted_account_takes_its_certificates
    d198_the_row_of_another_account_stays
    d194_a_domain_shows_its_certificate
    d194_a_domain_shows_no_certificate_of_another_account
}

const HOST: &str = "a.example.net";

/// Whether the row of a hostname and the challenge of its order are there.
async fn is_there(store: &Arc<dyn Store>, host: &str) -> bool {
    let (row, challenge) = (row(store, host).await.is_some(), has_challenge(store, host).await);
    assert_eq!(row, challenge, "the challenges go with the row");
    row
}

/// A domain with this status, and a certificate.
async fn domain(
    store: &Arc<dyn Store>,
    account: AccountId,
    host: &str,
    status: CustomDomainStatus,
) -> CustomDomain {
    let domain = domain_steps::domain(store, account, host, status).await;
    serving(store, account, host).await;
    assert!(is_there(store, host).await);
    domain
}

/// In the same unit of work, and with its challenges.
pub(super) async fn d198_a_deleted_domain_takes_its_certificate(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let gone = domain(&store, account, HOST, ACTIVE).await;
    domain(&store, account, "b.example.net", ACTIVE).await;
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_custom_domain(account, gone.id).await.unwrap());
    assert!(!work.delete_certificate(&gone.hostname).await.unwrap(), "the unit of work sees it");
    drop(work);
    assert!(is_there(&store, HOST).await);
    assert!(!domain_steps::delete(&store, other, gone.id).await);
    assert!(is_there(&store, HOST).await);
    assert!(domain_steps::delete(&store, account, gone.id).await);
    assert!(!is_there(&store, HOST).await && is_there(&store, "b.example.net").await);
    // Nothing remains that the next owner of the hostname would get.
    domain_steps::domain(&store, other, HOST, ACTIVE).await;
    assert_eq!(row(&store, HOST).await, None);
}

/// Every status that may have no certificate. In the others it stays.
pub(super) async fn d198_a_domain_that_is_not_proven_takes_its_certificate(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for (number, status) in every_status().into_iter().enumerate() {
        let host = format!("{number}.example.net");
        let before = domain(&store, account, &host, ACTIVE).await;
        let mut work = store.begin().await.unwrap();
        work.lock_custom_domain(account, before.id).await.unwrap().unwrap();
        let after = CustomDomain { status, ..before.clone() };
        work.update_custom_domain(&after, NO_CHECKS).await.unwrap();
        drop(work);
        assert!(is_there(&store, &host).await);
        domain_steps::update(&store, &before, status, NO_CHECKS).await.unwrap();
        assert_eq!(is_there(&store, &host).await, status.may_have_certificate(), "{status:?}");
    }
}

pub(super) async fn d198_an_expired_domain_takes_its_certificate(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let until = |millis| CustomDomainStatus::SslPending { expires_at: samples::at(millis) };
    for (host, status) in
        [(HOST, until(10)), ("later.example.net", until(20)), ("active.example.net", ACTIVE)]
    {
        domain(&store, account, host, status).await;
    }
    assert_eq!(expire(&store, samples::at(9), 100).await, 0);
    assert!(is_there(&store, HOST).await);
    assert_eq!(expire(&store, samples::at(10), 100).await, 1);
    assert!(!is_there(&store, HOST).await && is_there(&store, "later.example.net").await);
    assert_eq!(expire(&store, samples::at(20), 100).await, 1);
    assert!(!is_there(&store, "later.example.net").await && is_there(&store, "active.example.net").await);
}

/// But neither those of other accounts nor those of the installation.
pub(super) async fn d198_a_deleted_account_takes_its_certificates(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    for (account, host) in [(account, HOST), (account, "b.example.net"), (other, "other.example.net")] {
        domain(&store, account, host, ACTIVE).await;
    }
    want_own(&store, "links.example.com", 0).await;
    let mut work = store.begin().await.unwrap();
    assert!(work.delete_account(account).await.unwrap());
    drop(work);
    assert!(is_there(&store, HOST).await);
    unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap();
    for (host, is_kept) in [(HOST, false), ("b.example.net", false), ("other.example.net", true)] {
        assert_eq!(is_there(&store, host).await, is_kept, "{host}");
    }
    assert!(row(&store, "links.example.com").await.is_some());
}

/// A failed domain of one account, while another account has proven the hostname; or a name of the installation.
pub(super) async fn d198_the_row_of_another_account_stays(fresh: Fresh) {
    let (store, [holder]) = fresh.store_with_accounts().await;
    let own = "links.example.com";
    let failed = CustomDomainStatus::Failed;
    let mut rivals = Vec::new();
    for way in ["deleted", "updated", "account deleted", "expired"] {
        let account = given::account(&store).await;
        rivals.push((way, account, domain_steps::domain(&store, account, HOST, failed).await));
    }
    domain(&store, holder, HOST, ACTIVE).await;
    want_own(&store, own, 0).await;
    let claim = claim_one(&store, own, 0, 50).await;
    assert!(write_challenge(&store, &claim, &challenge(own, own, 900_000)).await);
    for (way, account, rival) in rivals {
        let pending = CustomDomainStatus::SslPending { expires_at: samples::at(10) };
        let shadow = CustomDomain { status: pending, ..samples::custom_domain(account, own) };
        domain_steps::insert(&store, &shadow, PLENTY).await.unwrap();
        match way {
            "deleted" => {
                for domain in [&rival, &shadow] {
                    assert!(domain_steps::delete(&store, account, domain.id).await);
                }
            }
            "updated" => {
                for domain in [&rival, &shadow] {
                    domain_steps::update(&store, domain, failed, NO_CHECKS).await.unwrap();
                }
            }
            "expired" => assert_eq!(expire(&store, samples::at(10), 100).await, 1),
            _ => {
                let deleting = unit!(&store, async |work| Ok(work.delete_account(account).await?));
                assert!(deleting.await.unwrap());
            }
        }
        assert!(is_there(&store, HOST).await && is_there(&store, own).await, "{way}");
    }
}

/// What each reader of an account's domain shows of its certificate.
async fn shown(store: &Arc<dyn Store>, domain: &CustomDomain) -> Option<CertificateSummary> {
    let CustomDomain { id, account_id, hostname, .. } = domain;
    let alone = store.custom_domain(*account_id, *id).await.unwrap().unwrap();
    assert_eq!(alone.domain, *domain);
    // Only a domain read alone has its files (D127).
    let alone = ScheduledDomain { files: None, ..alone };
    let page = store.custom_domains(*account_id, given::limit(100), None).await.unwrap();
    assert_eq!(page.items.iter().find(|found| found.domain.id == *id), Some(&alone));
    assert_eq!(domain_steps::claims(store, *account_id, hostname).await.own.as_ref(), Some(&alone));
    alone.certificate
}

/// In every state of the work, alone, in the list, and locked with its claims.
pub(super) async fn d194_a_domain_shows_its_certificate(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
    let bystander = domain_steps::domain(&store, account, "b.example.net", ACTIVE).await;
    let is_shown = async || {
        let stored = row(&store, HOST).await;
        assert_eq!(shown(&store, &domain).await, stored.as_ref().map(StoredCertificate::summary));
        assert_eq!(shown(&store, &bystander).await, None);
        stored
    };
    assert_eq!(is_shown().await, None);
    want(&store, account, HOST, 0).await;
    assert!(is_shown().await.unwrap().summary().served.is_none());
    let claim = claim_one(&store, HOST, 0, 50).await;
    assert_eq!(is_shown().await.unwrap().claims, 1);
    assert!(write_order(&store, &claim, Some(&order(1))).await);
    assert!(is_shown().await.unwrap().summary().is_ordering);
    assert!(serve(&store, &claim, &served(900), 10, 100).await);
    is_shown().await;
    let claim = claim_one(&store, HOST, 100, 150).await;
    let failed = after_failures(2, 200);
    assert!(conclude(&store, &claim, &failed, KeepOrder::No).await);
    let summary = is_shown().await.unwrap().summary();
    let served = served(900);
    let expected = CertificateSummary {
        served: Some((served.validity, served.issuer, served.renew_at)),
        is_ordering: false,
        plan: failed,
        claims: 0,
    };
    assert_eq!(summary, expected);
    assert!(delete(&store, HOST).await);
    assert_eq!(is_shown().await, None);
}

/// Neither of the account that holds the hostname, nor of the installation.
pub(super) async fn d194_a_domain_shows_no_certificate_of_another_account(fresh: Fresh) {
    let (store, [holder, other]) = fresh.store_with_accounts().await;
    let failed = domain_steps::domain(&store, other, HOST, CustomDomainStatus::Failed).await;
    let held = domain_steps::domain(&store, holder, HOST, ACTIVE).await;
    let own = domain_steps::domain(&store, other, "links.example.com", ACTIVE).await;
    serving(&store, holder, HOST).await;
    want_own(&store, "links.example.com", 0).await;
    assert!(shown(&store, &held).await.is_some());
    for domain in [failed, own] {
        assert_eq!(shown(&store, &domain).await, None);
    }
}
