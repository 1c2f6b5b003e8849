//! Crashes, an authority that does not answer, and keys that do not open.

use std::sync::Arc;

use signpost_app::background::{Job, ObtainCertificates};
use signpost_app::certificates::{forget, renew, reset};
use signpost_app::node_health::Part;
use signpost_app::ports::{AuthorityError, CLAIM_OF_A_CERTIFICATE, WaitScope};
use signpost_domain::{CertificateFailure, CertificateFailureReason};
use signpost_memory::AuthorityCall;
use signpost_port_contracts::samples;

use super::{DAY, HOUR, MINUTE, SECOND, Scene, clock_now};
use crate::domain_owners::HOST;

const STEPS: [AuthorityCall; 7] = [
    AuthorityCall::Register,
    AuthorityCall::NewKey,
    AuthorityCall::Order,
    AuthorityCall::Progress,
    AuthorityCall::BeginValidation,
    AuthorityCall::Finalize,
    AuthorityCall::Download,
];

/// The node dies in a step: its job is dropped while the authority works.
#[tokio::test]
async fn d187_a_crash_in_any_step_costs_at_most_one_more_order() {
    for step in STEPS.into_iter().filter(|step| *step != AuthorityCall::NewKey) {
        let scene = Scene::new().await;
        let domain = scene.proven(HOST).await;
        scene.authority.set_slow(1, 1, None);
        let held = scene.authority.hold(step);
        loop {
            let job = ObtainCertificates::new(Arc::clone(&scene.world.app));
            tokio::select! {
                biased;
                () = scene.authority.called(step, 1) => break,
                outcome = job.step() => { outcome.unwrap(); }
            }
            scene.world.memory.clock.advance(SECOND);
        }
        drop(held);
        let orders = scene.orders_of(HOST);
        // Another node goes on when the claim has ended.
        let other = scene.node(1, &[]);
        scene.world.memory.clock.advance(CLAIM_OF_A_CERTIFICATE);
        scene.pass_on(&[&other], MINUTE).await;
        assert_eq!(scene.status(domain.id).await, "active", "{step:?}");
        let more = scene.orders_of(HOST) - orders.min(1);
        let allowed = usize::from(matches!(step, AuthorityCall::Order | AuthorityCall::Register));
        assert!(more <= allowed, "{step:?}: {more} more orders");
    }
}

/// The connection breaks after the authority has done its part.
#[tokio::test]
async fn d187_a_lost_answer_in_any_step_is_made_up_for() {
    for step in STEPS {
        let scene = Scene::new().await;
        let domain = scene.proven(HOST).await;
        scene.authority.lose_answers(step, 1);
        scene.pass(5 * MINUTE).await;
        assert_eq!(scene.status(domain.id).await, "active", "{step:?}");
        assert!(scene.orders_of(HOST) <= 2, "{step:?}");
    }
}

#[tokio::test]
async fn d190_refused_nonces_count_as_no_failure() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.authority.fail_next(AuthorityCall::Order, &AuthorityError::Transient, 2);
    scene.authority.fail_next(AuthorityCall::Finalize, &AuthorityError::Transient, 2);
    scene.pass(2 * MINUTE).await;
    assert_eq!((scene.status(domain.id).await, scene.orders_of(HOST)), ("active", 1));
}

#[tokio::test]
async fn d190_an_authority_that_asks_to_wait_is_left_alone_until_then() {
    for (scope, host_2_waits) in [(WaitScope::Hostname, false), (WaitScope::Everything, true)] {
        let scene = Scene::new().await;
        let domain = scene.proven(HOST).await;
        let until = clock_now(&scene.world).plus(2 * HOUR);
        let failure = CertificateFailure::new(CertificateFailureReason::RateLimited, "too many orders");
        let wait = AuthorityError::Wait { until, scope, failure };
        scene.authority.fail_next(AuthorityCall::Order, &wait, 1);
        scene.pass(SECOND).await;
        let other = scene.proven("links.other.com").await;
        let calls = scene.authority.all_calls();
        scene.pass(5 * SECOND).await;
        assert_eq!(scene.status(other.id).await == "ssl_pending", host_2_waits, "{scope:?}");
        assert_eq!(scene.authority.all_calls() == calls, host_2_waits, "{scope:?}");
        let shown = scene.shown(domain.id).await;
        assert_eq!(scene.reason(domain.id).await.as_deref(), Some("rate_limited"));
        assert_eq!(shown.next_attempt_at, Some(until));
        scene.pass(2 * HOUR + MINUTE).await;
        assert_eq!(scene.status(domain.id).await, "active", "{scope:?}");
        assert_eq!(scene.status(other.id).await, "active", "{scope:?}");
    }
}

/// A limit of new names says nothing about renewals, and one of a registered domain nothing about others. The names that wait for it
/// are not tried.
#[tokio::test]
async fn d190_a_limit_of_new_names_stops_the_orders_that_it_is_about() {
    for (scope, others_wait) in [(WaitScope::NewOrders, true), (WaitScope::RegisteredDomain, false)] {
        let scene = Scene::new().await;
        let served = scene.served("links.served.com").await;
        let until = clock_now(&scene.world).plus(2 * HOUR);
        let failure = CertificateFailure::new(CertificateFailureReason::RateLimited, "too many orders");
        let wait = AuthorityError::Wait { until, scope, failure };
        scene.authority.fail_next(AuthorityCall::Order, &wait, 1);
        let first = scene.given("a.shop.com").await;
        scene.pass(SECOND).await;
        let (sibling, other) = (scene.given("b.shop.com").await, scene.given("links.other.com").await);
        scene.pass(HOUR).await;
        for domain in [&first, &sibling] {
            assert_eq!(scene.stored(domain).await.1.as_deref(), Some("rate_limited"), "{scope:?}");
        }
        let (_, reason) = scene.stored(&other).await;
        assert_eq!(reason.is_some(), others_wait, "{scope:?}");
        let orders = ["a.shop.com", "b.shop.com", "links.other.com"].map(|name| scene.orders_of(name));
        assert_eq!(orders, [0, 0, usize::from(!others_wait)], "{scope:?}");
        assert!(renew(&scene.world.app, &served.hostname).await.unwrap());
        scene.pass(MINUTE).await;
        assert_eq!(scene.orders_of("links.served.com"), 2, "{scope:?}: renewals go on");
        scene.pass(HOUR + 2 * MINUTE).await;
        for domain in [&first, &sibling, &other] {
            assert_eq!(scene.stored(domain).await, ("active", None), "{scope:?}");
        }
    }
}

#[tokio::test]
async fn d190_an_authority_that_does_not_answer_is_asked_once_for_all_names() {
    let scene = Scene::new().await;
    let down = AuthorityError::Unavailable { reason: "no connection".to_owned() };
    let mut domains = Vec::new();
    for number in 0..30 {
        domains.push(scene.given(&format!("links.shop-{number}.com")).await);
    }
    scene.authority.fail_always(AuthorityCall::Register, Some(down));
    scene.pass(HOUR).await;
    // Far from once for each domain.
    assert!(scene.authority.all_calls() <= 2 * 60, "{}", scene.authority.all_calls());
    assert_eq!(scene.stored(&domains[0]).await.1.as_deref(), Some("authority_unavailable"));
    let noted = || scene.world.app.health.of(Part::Certificates);
    let error = noted().last_error.unwrap().text;
    assert!(error.ends_with(".com: authority_unavailable: no connection"), "{error}");
    scene.authority.fail_always(AuthorityCall::Register, None);
    scene.pass(5 * MINUTE).await;
    for domain in domains {
        assert_eq!(scene.stored(&domain).await, ("active", None));
    }
    assert!(!noted().is_failing);
}

/// One name makes the account. The others follow right after it, because visitors of a new installation wait.
#[tokio::test]
async fn d186_names_that_wait_for_the_account_go_on_within_seconds() {
    let scene = Scene::new().await;
    let domains = [scene.proven(HOST).await, scene.proven("links.other.com").await];
    let held = scene.authority.hold(AuthorityCall::Register);
    let job = ObtainCertificates::new(Arc::clone(&scene.world.app));
    let release = async {
        scene.authority.called(AuthorityCall::Register, 1).await;
        drop(held);
    };
    let (outcome, ()) = tokio::join!(job.step(), release);
    outcome.unwrap();
    scene.pass(5 * SECOND).await;
    for domain in domains {
        assert_eq!(scene.status(domain.id).await, "active");
    }
    assert_eq!(scene.authority.calls(AuthorityCall::Register), 1);
}

#[tokio::test]
async fn d186_an_account_that_the_authority_has_forgotten_is_made_anew() {
    let scene = Scene::new().await;
    scene.served(HOST).await;
    scene.authority.forget_everything();
    let domain = scene.proven("links.other.com").await;
    scene.pass(2 * MINUTE).await;
    assert_eq!(scene.status(domain.id).await, "active");
    assert_eq!(scene.authority.calls(AuthorityCall::Register), 2);
}

#[tokio::test]
async fn d192_a_node_with_another_secrets_key_orders_nothing() {
    let scene = Scene::new().await;
    scene.served(HOST).await;
    let other = scene.node(2, &[]);
    let domain = scene.proven("links.other.com").await;
    scene.pass_on(&[&other], MINUTE).await;
    assert_eq!(scene.orders_of("links.other.com"), 0);
    assert_eq!(scene.authority.calls(AuthorityCall::Register), 1, "the good account stays");
    scene.pass(10 * MINUTE).await;
    assert_eq!(scene.status(domain.id).await, "active");
}

#[tokio::test]
async fn d192_after_a_reset_everything_is_ordered_with_the_new_secrets_key() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let other = scene.node(2, &[]);
    let directory = other.issuance.as_ref().unwrap().directory.clone();
    assert_eq!(reset(&other, &directory).await.unwrap(), 1);
    scene.pass_on(&[&other], MINUTE).await;
    assert_eq!((scene.status(domain.id).await, scene.orders_of(HOST)), ("active", 2));
    let stored = other.store.certificate(&domain.hostname).await.unwrap().unwrap().served.unwrap();
    assert!(other.issuance.as_ref().unwrap().open_key(&domain.hostname, &stored).is_some());
}

#[tokio::test]
async fn d195_operators_renew_and_forget_certificates() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    scene.pass(DAY).await;
    assert_eq!(scene.orders_of(HOST), 1);
    assert!(renew(&scene.world.app, &domain.hostname).await.unwrap());
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.orders_of(HOST), 2);
    assert!(forget(&scene.world.app, &domain.hostname).await.unwrap());
    assert_eq!(scene.certificate_status(domain.id).await, "none");
    scene.pass(3 * SECOND).await;
    assert_eq!((scene.orders_of(HOST), scene.status(domain.id).await), (3, "active"));
    assert!(!forget(&scene.world.app, &samples::hostname("nothing.example.com")).await.unwrap());
}
