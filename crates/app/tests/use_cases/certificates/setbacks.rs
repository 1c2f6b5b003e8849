//! Setbacks that say nothing about a hostname, or that are over: they must not keep it from its certificate (D190).

use signpost_app::ports::{AuthorityError, WaitScope};
use signpost_domain::{CertificateFailure, CertificateFailureReason};
use signpost_memory::AuthorityCall;
use signpost_port_contracts::samples;

use super::{DAY, HOUR, MINUTE, SECOND, Scene, clock_now};
use crate::domain_owners::HOST;
use crate::world::World;

fn unavailable() -> AuthorityError {
    AuthorityError::Unavailable { reason: "status 500".to_owned() }
}

fn failure() -> CertificateFailure {
    CertificateFailure::new(CertificateFailureReason::WrongAnswer, "404")
}

/// An order without a certificate uses up nothing but the budgets of failures.
#[tokio::test]
async fn d190_a_name_that_has_failed_three_times_gets_its_certificate_once_the_cause_is_mended() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.authority.set_validation(&domain.hostname, Some(failure()));
    scene.pass(20 * MINUTE).await;
    assert_eq!(scene.orders_of(HOST), 3);
    scene.authority.set_validation(&domain.hostname, None);
    // The pauses are 1, 10 and 100 minutes.
    scene.pass(2 * HOUR).await;
    assert_eq!((scene.status(domain.id).await, scene.orders_of(HOST)), ("active", 4));
}

/// The order was counted when it was first tried.
#[tokio::test]
async fn d190_an_outage_of_the_authority_uses_up_no_budget() {
    let scene = Scene::new().await;
    scene.authority.fail_always(AuthorityCall::Order, Some(unavailable()));
    let domain = scene.proven(HOST).await;
    scene.pass(50 * MINUTE).await;
    assert!(scene.authority.calls(AuthorityCall::Order) > 5);
    scene.authority.fail_always(AuthorityCall::Order, None);
    scene.pass(6 * MINUTE).await;
    assert_eq!((scene.status(domain.id).await, scene.orders_of(HOST)), ("active", 1));
    assert_eq!(scene.shown(domain.id).await.failure, None);
}

/// An order that the authority cannot show ends after an hour, and holds up nobody.
#[tokio::test]
async fn d190_one_broken_order_holds_up_no_other_and_is_given_up() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.authority.fail_next(AuthorityCall::Progress, &unavailable(), 62);
    scene.pass(30 * MINUTE).await;
    let directory = scene.world.app.issuance.as_ref().unwrap().directory.clone();
    assert_eq!(scene.world.app.store.authority_wait(&directory).await.unwrap(), None);
    assert_eq!(scene.orders_of(HOST), 1);
    scene.pass(40 * MINUTE).await;
    assert_eq!((scene.status(domain.id).await, scene.orders_of(HOST)), ("active", 2));
}

/// How long an order has run is its own affair, and not how long ago the last one was.
#[tokio::test]
async fn d187_a_renewal_that_is_interrupted_at_first_goes_on() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    scene.authority.fail_next(AuthorityCall::Progress, &AuthorityError::Transient, 1);
    scene.authority.set_slow(3, 0, None);
    scene.pass(61 * DAY).await;
    let shown = scene.shown(domain.id).await;
    assert_eq!((scene.orders_of(HOST), shown.status.as_str(), shown.failure), (2, "active", None));
}

/// While nodes are restarted one by one, those with the old settings do not know the name.
#[tokio::test]
async fn d186_a_node_without_a_name_postpones_it_by_minutes_only() {
    let scene = Scene::new().await;
    let name = "s.signpost.example";
    let restarted = scene.node(1, &[name]);
    scene.authority.set_slow(3, 0, None);
    super::run(&restarted).await;
    scene.pass(3 * SECOND).await;
    scene.pass_on(&[&restarted], 15 * MINUTE).await;
    let stored = restarted.store.certificate(&samples::hostname(name)).await.unwrap().unwrap();
    assert!(stored.served.is_some());
    assert_eq!(scene.orders_of(name), 1, "the order that ran was kept");
}

/// The name was one of the installation before.
#[tokio::test]
async fn d194_a_domain_takes_over_the_row_of_a_former_name_of_the_installation() {
    let scene = Scene::new().await;
    let before = scene.node(1, &[HOST]);
    scene.authority.set_validation(&samples::hostname(HOST), Some(failure()));
    scene.pass_on(&[&before], SECOND).await;
    scene.authority.set_validation(&samples::hostname(HOST), None);
    let domain = scene.proven(HOST).await;
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.status(domain.id).await, "active");
}

/// The settings are wrong, and no hostname is to blame.
#[tokio::test]
async fn d190_a_refused_account_counts_against_no_hostname() {
    for error in [
        AuthorityError::Refused(failure()),
        AuthorityError::Wait { until: samples::at(0), scope: WaitScope::Hostname, failure: failure() },
    ] {
        let scene = Scene::new().await;
        let error = match error {
            AuthorityError::Wait { scope, failure, .. } => {
                AuthorityError::Wait { until: clock_now(&scene.world).plus(5 * MINUTE), scope, failure }
            }
            other => other,
        };
        scene.authority.fail_always(AuthorityCall::Register, Some(error));
        let domains = [scene.proven(HOST).await, scene.proven("links.other.com").await];
        scene.pass(4 * MINUTE).await;
        assert_eq!(scene.authority.calls(AuthorityCall::Register), 1, "all names wait for the account");
        scene.pass(2 * HOUR).await;
        scene.authority.fail_always(AuthorityCall::Register, None);
        scene.pass(6 * MINUTE).await;
        for domain in domains {
            assert_eq!(scene.status(domain.id).await, "active");
        }
    }
}

/// The authority wants to be left alone with everything, also with questions about renewals.
#[tokio::test]
async fn d190_a_wait_for_everything_holds_for_questions_about_renewals() {
    let scene = Scene::new().await;
    scene.served(HOST).await;
    scene.served("links.other.com").await;
    let until = clock_now(&scene.world).plus(3 * DAY);
    let wait = AuthorityError::Wait { until, scope: WaitScope::Everything, failure: failure() };
    scene.authority.fail_always(AuthorityCall::RenewalWindow, Some(wait));
    scene.pass(2 * DAY).await;
    // Both may have been asked at the same moment.
    assert!(scene.authority.calls(AuthorityCall::RenewalWindow) <= 2);
    scene.authority.fail_always(AuthorityCall::RenewalWindow, None);
    scene.pass(2 * DAY).await;
    assert!(scene.authority.calls(AuthorityCall::RenewalWindow) >= 4);
}

/// It comes from the authority with which the operator has tried things out, and no browser trusts it.
#[tokio::test]
async fn d191_the_certificate_of_a_former_authority_is_replaced() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let other = scene.ordering_at("https://other.example.net/directory");
    scene.pass_on(&[&other], DAY).await;
    assert_eq!(scene.orders_of(HOST), 2);
    assert_eq!(
        scene.authority.orders()[1].1,
        None,
        "the other authority does not know the first certificate"
    );
    assert_eq!(scene.status(domain.id).await, "active");
}

/// Whatever is stored: without ACME nothing happens with it.
#[tokio::test]
async fn d194_without_acme_a_domain_shows_no_certificate() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let mut scene = scene;
    scene.world.app = std::sync::Arc::new(scene.world.memory.application());
    let shown = scene.shown(domain.id).await;
    assert_eq!((shown.status.as_str(), shown.renews_at, shown.next_attempt_at), ("none", None, None));
}

/// A limit is not lifted by asking.
#[tokio::test]
async fn d190_verify_does_not_ask_before_the_authority_wants_it() {
    let scene = Scene::new().await;
    let until = clock_now(&scene.world).plus(5 * HOUR);
    let limited = CertificateFailure::new(CertificateFailureReason::RateLimited, "too many");
    let wait = AuthorityError::Wait { until, scope: WaitScope::Hostname, failure: limited };
    scene.authority.fail_always(AuthorityCall::Order, Some(wait));
    let domain = scene.proven(HOST).await;
    scene.pass(3 * SECOND).await;
    let owner = scene.owner().await;
    for _ in 0..4 {
        scene.pass(HOUR).await;
        assert_eq!(owner.verify(domain.id).await, "ssl_pending");
        scene.pass(MINUTE).await;
    }
    assert_eq!(scene.authority.calls(AuthorityCall::Order), 1);
    scene.authority.fail_always(AuthorityCall::Order, None);
    scene.pass(HOUR).await;
    assert_eq!(scene.status(domain.id).await, "active");
}

/// The answer of a verification and the domain itself show the same.
#[tokio::test]
async fn d194_verify_shows_the_certificate_also_if_it_changes_the_domain() {
    let scene = Scene::new().await;
    let owner = scene.owner().await;
    let id = owner.connect(HOST).await.id;
    owner.publish_proof(HOST);
    scene.world.point_here(HOST);
    let proven = owner.try_to_verify(id).await.unwrap();
    assert_eq!(proven.certificate.status.as_str(), "ordering");
    assert_eq!(proven.certificate, scene.shown(id).await);
    scene.pass(3 * SECOND).await;
    for change in [World::point_elsewhere, World::point_here] {
        change(&scene.world, HOST);
        let verified = owner.try_to_verify(id).await.unwrap();
        assert_eq!(verified.certificate.status.as_str(), "active");
        assert_eq!(verified.certificate, scene.shown(id).await);
    }
}

/// It was in service before certificates were ordered, and its owner has corrected what kept it from one.
#[tokio::test]
async fn d190_verify_asks_early_for_a_domain_in_service_too() {
    let scene = Scene::new().await;
    let domain = scene.in_service(HOST).await;
    let owner = scene.owner().await;
    owner.publish_proof(HOST);
    scene.authority.set_validation(&domain.hostname, Some(failure()));
    scene.pass(30 * MINUTE).await;
    scene.authority.set_validation(&domain.hostname, None);
    assert_eq!(scene.certificate_status(domain.id).await, "failing");
    assert_eq!(owner.verify(domain.id).await, "active");
    // Three failures in an hour are the limit, and what is shown is their cause.
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.reason(domain.id).await.as_deref(), Some("wrong_answer"));
    scene.pass(40 * MINUTE).await;
    assert_eq!(owner.verify(domain.id).await, "active");
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.certificate_status(domain.id).await, "active");
}
