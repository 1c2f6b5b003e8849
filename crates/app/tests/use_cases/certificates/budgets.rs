//! Budgets below the authority's limits (D190).

use signpost_domain::{CertificateFailure, CertificateFailureReason};

use super::{DAY, HOUR, MINUTE, Scene};
use crate::domain_owners::HOST;

#[tokio::test]
async fn d190_three_hundred_new_domains_make_two_hundred_orders_in_three_hours() {
    let scene = Scene::new().await;
    let mut domains = Vec::new();
    for number in 0..300 {
        domains.push(scene.given(&format!("links.shop-{number}.com")).await);
    }
    // Two nodes, of which one was restarted.
    let (other, restarted) = (scene.node(1, &[]), scene.node(1, &[]));
    scene.pass_on(&[&scene.world.app, &other], HOUR).await;
    scene.pass_on(&[&restarted, &other], 119 * MINUTE).await;
    assert_eq!(scene.authority.orders().len(), 200);
    scene.pass_on(&[&restarted, &other], 10 * MINUTE).await;
    assert_eq!(scene.authority.orders().len(), 300);
    for domain in domains {
        assert_eq!(scene.stored(&domain).await, ("active", None));
    }
}

/// ACME is turned on with many domains in service. They lose nothing by waiting, and a new one would fail.
#[tokio::test]
async fn d194_domains_in_service_leave_room_for_new_ones() {
    let scene = Scene::new().await;
    for number in 0..250 {
        scene.in_service(&format!("links.shop-{number}.com")).await;
    }
    scene.pass(HOUR).await;
    assert_eq!(scene.authority.orders().len(), 150);
    let domain = scene.given("zz.new-shop.com").await;
    scene.pass(2 * MINUTE).await;
    assert_eq!(scene.stored(&domain).await, ("active", None));
    assert_eq!(scene.authority.orders().len(), 151);
}

#[tokio::test]
async fn d190_a_registered_domain_gets_forty_certificates_in_seven_days() {
    let scene = Scene::new().await;
    let mut domains = Vec::new();
    for number in 0..41 {
        domains.push(scene.given(&format!("links-{number}.shop.com")).await);
    }
    scene.pass(HOUR).await;
    assert_eq!(scene.authority.orders().len(), 40);
    let mut waiting = Vec::new();
    for domain in &domains {
        let (status, reason) = scene.stored(domain).await;
        waiting.extend(reason.map(|reason| (status, reason)));
    }
    assert_eq!(waiting, [("ssl_pending", "rate_limited".to_owned())]);
}

#[tokio::test]
async fn d190_a_failing_name_is_tried_ten_times_a_day_at_most_and_then_fails() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    let failure = CertificateFailure::new(CertificateFailureReason::WrongAnswer, "404");
    scene.authority.set_validation(&domain.hostname, Some(failure));
    let owner = scene.owner().await;
    for _ in 0..24 {
        scene.pass(59 * MINUTE).await;
        // Whatever its owner does.
        assert_eq!(owner.verify(domain.id).await, "ssl_pending");
        scene.pass(MINUTE).await;
    }
    assert!(scene.orders_of(HOST) <= 10, "{}", scene.orders_of(HOST));
    scene.pass(2 * DAY + HOUR).await;
    let failed = owner.get(domain.id).await;
    assert_eq!(failed.status.as_str(), "failed");
    assert_eq!(failed.failure_reason.unwrap().as_str(), "no_certificate");
    assert_eq!(scene.certificate_status(domain.id).await, "none");
    let orders = scene.orders_of(HOST);
    scene.pass(DAY).await;
    assert_eq!(scene.orders_of(HOST), orders);
}
