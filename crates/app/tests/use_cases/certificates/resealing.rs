//! Sealing everything again after the secrets key was replaced (D192).

use signpost_app::{Resealing, reseal};
use signpost_memory::MarkingSealer;

use super::{DAY, HOUR, MINUTE, SECOND, Scene};
use crate::domain_owners::HOST;

/// Both keys, as while the key is being replaced.
const BOTH: MarkingSealer = MarkingSealer { number: 2, earlier: Some(1) };

#[tokio::test]
async fn d192_after_sealing_again_the_earlier_key_is_not_needed() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let both = scene.sealing(BOTH);
    let sealed = Resealing { resealed: 2, ..Resealing::default() };
    assert_eq!(reseal(&both, &BOTH).await.unwrap(), sealed, "the account and the key");
    assert_eq!(reseal(&both, &BOTH).await.unwrap(), Resealing::default(), "nothing is left to do");
    // A node that knows the new key alone serves, and renews with the same account.
    let new = scene.node(2, &[]);
    let stored = new.store.certificate(&domain.hostname).await.unwrap().unwrap();
    let opened = new.issuance.as_ref().unwrap().open_key(&domain.hostname, &stored.served.unwrap());
    assert!(opened.is_some());
    scene.pass_on(&[&new], 61 * DAY).await;
    assert_eq!(scene.orders_of(HOST), 2);
    assert_eq!(scene.status(domain.id).await, "active");
}

/// An order keeps its key, which moves to the certificate, and only then is sealed again.
#[tokio::test]
async fn d192_an_order_that_runs_needs_the_earlier_key_until_it_ends() {
    let scene = Scene::new().await;
    scene.authority.set_slow(3, 0, None);
    let domain = scene.proven(HOST).await;
    super::run(&scene.world.app).await;
    let both = scene.sealing(BOTH);
    let waiting = Resealing { resealed: 1, remaining: 1, lost: 0 };
    assert_eq!(reseal(&both, &BOTH).await.unwrap(), waiting);
    scene.pass_on(&[&both], MINUTE).await;
    assert_eq!(scene.status(domain.id).await, "active");
    let sealed = Resealing { resealed: 1, ..Resealing::default() };
    assert_eq!(reseal(&both, &BOTH).await.unwrap(), sealed);
}

#[tokio::test]
async fn d192_what_no_key_opens_is_counted_and_stays() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    let hostname = &domain.hostname;
    let before = scene.world.app.store.certificate(hostname).await.unwrap();
    let strangers = MarkingSealer { number: 3, earlier: Some(2) };
    let other = scene.sealing(strangers);
    let lost = Resealing { lost: 2, ..Resealing::default() };
    assert_eq!(reseal(&other, &strangers).await.unwrap(), lost);
    assert_eq!(scene.world.app.store.certificate(hostname).await.unwrap(), before);
    scene.pass(HOUR + SECOND).await;
    assert_eq!(scene.status(domain.id).await, "active");
}
