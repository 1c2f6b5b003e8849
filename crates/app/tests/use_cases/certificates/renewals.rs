//! Renewing certificates (D191).

use signpost_app::ports::{AuthorityError, RenewalAdvice};
use signpost_domain::{CertificateFailure, CertificateFailureReason, RenewalWindow};
use signpost_memory::AuthorityCall;

use super::{DAY, HOUR, MINUTE, SECOND, Scene, clock_now};
use crate::domain_owners::HOST;

#[tokio::test]
async fn d191_without_an_opinion_of_the_authority_a_third_of_the_life_is_left() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let issued = clock_now(&scene.world);
    let shown = scene.shown(domain.id).await;
    let renews_at = shown.renews_at.unwrap();
    assert!(renews_at > issued.plus(59 * DAY) && renews_at < issued.plus(61 * DAY));
    scene.pass(59 * DAY).await;
    assert_eq!(scene.orders_of(HOST), 1);
    scene.pass(2 * DAY).await;
    assert_eq!(scene.orders_of(HOST), 2);
    let renewed = scene.shown(domain.id).await;
    assert!(renewed.not_after > shown.not_after && renewed.status.as_str() == "active");
    let replaced = scene.authority.orders().pop().unwrap().1;
    assert!(replaced.is_some(), "the order names the certificate that it replaces");
}

#[tokio::test]
async fn d191_a_short_life_is_renewed_at_its_half() {
    let scene = Scene::new().await;
    scene.authority.set_life(6 * DAY);
    scene.served(HOST).await;
    scene.pass(70 * HOUR).await;
    assert_eq!(scene.orders_of(HOST), 1);
    scene.pass(4 * HOUR).await;
    assert_eq!(scene.orders_of(HOST), 2);
}

#[tokio::test]
async fn d191_the_authority_says_when_and_is_asked_twice_a_day() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let now = clock_now(&scene.world);
    let window = RenewalWindow::new(now.plus(10 * DAY), now.plus(12 * DAY)).unwrap();
    scene.authority.set_advice(Some(RenewalAdvice { window, ask_again_at: None }));
    scene.pass(3 * DAY).await;
    let asked = scene.authority.calls(AuthorityCall::RenewalWindow);
    assert!((5..=7).contains(&asked), "{asked}");
    let renews_at = scene.shown(domain.id).await.renews_at.unwrap();
    assert!(window.start() <= renews_at && renews_at <= window.end());
    scene.pass(2 * DAY).await;
    assert_eq!(scene.shown(domain.id).await.renews_at, Some(renews_at), "the chosen instant stays");
    // The authority must replace the certificate at once.
    let now = clock_now(&scene.world);
    let past = RenewalWindow::new(now.minus(2 * DAY), now.minus(DAY)).unwrap();
    scene.authority.set_advice(Some(RenewalAdvice { window: past, ask_again_at: None }));
    scene.pass(13 * HOUR).await;
    assert_eq!(scene.orders_of(HOST), 2);
}

#[tokio::test]
async fn d191_a_certificate_that_was_replaced_already_is_ordered_plainly() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let stored = scene.world.app.store.certificate(&domain.hostname).await.unwrap().unwrap();
    scene.authority.mark_replaced(&stored.served.unwrap().renewal_id.unwrap());
    scene.pass(61 * DAY).await;
    let orders = scene.authority.orders();
    assert_eq!((orders.len(), &orders[1].1), (2, &None));
}

#[tokio::test]
async fn d191_clocks_that_differ_cause_one_renewal() {
    let scene = Scene::new().await;
    scene.served(HOST).await;
    let other = scene.node(1, &[]);
    scene.pass_on(&[&scene.world.app, &other], 61 * DAY).await;
    assert_eq!(scene.orders_of(HOST), 2);
}

#[tokio::test]
async fn d194_a_domain_stays_active_while_its_renewal_fails_and_after_the_end() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let not_after = scene.shown(domain.id).await.not_after.unwrap();
    let failure = CertificateFailure::new(CertificateFailureReason::Unreachable, "port 80 is closed");
    scene.authority.set_validation(&domain.hostname, Some(failure));
    scene.pass(62 * DAY).await;
    assert_eq!(
        (scene.status(domain.id).await, scene.certificate_status(domain.id).await),
        ("active", "failing")
    );
    assert_eq!(scene.reason(domain.id).await.as_deref(), Some("unreachable"));
    let served = scene.world.app.store.certificate(&domain.hostname).await.unwrap().unwrap().served;
    assert_eq!(served.map(|served| served.validity.not_after), Some(not_after), "the old one stays");
    scene.pass(30 * DAY).await;
    assert_eq!(
        (scene.status(domain.id).await, scene.certificate_status(domain.id).await),
        ("active", "expired")
    );
    scene.authority.set_validation(&domain.hostname, None);
    scene.pass(2 * DAY).await;
    assert_eq!((scene.certificate_status(domain.id).await, scene.reason(domain.id).await), ("active", None));
}

#[tokio::test]
async fn d191_an_authority_that_does_not_say_when_is_asked_again_later() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let down = AuthorityError::Unavailable { reason: "no connection".to_owned() };
    scene.authority.fail_always(AuthorityCall::RenewalWindow, Some(down));
    let before = scene.shown(domain.id).await.renews_at;
    scene.pass(DAY + MINUTE + SECOND).await;
    let asked = scene.authority.calls(AuthorityCall::RenewalWindow);
    assert!((10..=14).contains(&asked), "{asked}");
    assert_eq!(scene.shown(domain.id).await.renews_at, before);
}
