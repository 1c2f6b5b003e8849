//! API keys as operators manage them (D13, D60).

use std::time::Duration;

use signpost_app::accounts::OperatorError;
use signpost_app::keys;
use signpost_domain::{ApiKey, ApiKeySecret};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, draft_without_slug};

/// The store gets the hash and the last four characters, nothing more of the key.
#[tokio::test]
async fn d13_an_issued_key_is_stored_as_its_hash() {
    let world = World::new().await;
    let (key, secret) = keys::issue(&world.app, world.account.id, Some(samples::name("CI"))).await.unwrap();
    let expected = ApiKey {
        id: key.id,
        account_id: world.account.id,
        name: Some(samples::name("CI")),
        hash: secret.hash(),
        last_four: secret.expose()[secret.expose().len() - 4..].to_owned(),
        created_at: samples::at(0),
        revoked_at: None,
        created_by: None,
        last_used_at: None,
        expires_at: None,
        scopes: None,
    };
    assert_eq!(key, expected);
    assert_eq!(keys::list(&world.app, world.account.id).await.unwrap()[0], expected);
    assert!(!format!("{key:?} {secret:?}").contains(secret.expose()));
    assert_eq!(world.admit(Some(&secret)).await.unwrap().caller.account_id(), key.account_id);
}

#[tokio::test]
async fn d13_issued_keys_are_unique() {
    let world = World::new().await;
    let mut issued = std::collections::HashSet::new();
    for _ in 0..50 {
        let (_, secret) = keys::issue(&world.app, world.account.id, None).await.unwrap();
        assert!(issued.insert(secret.expose().to_owned()));
    }
}

#[tokio::test]
async fn an_unknown_key_is_reported() {
    let world = World::new().await;
    let unknown = samples::id();
    let outcome = keys::revoke(&world.app, unknown).await;
    assert!(matches!(&outcome, Err(OperatorError::NoSuchKey(id)) if *id == unknown), "{outcome:?}");
    let secret = ApiKeySecret::from_random([7; 32]);
    let error = keys::revoke(&world.app, secret.clone()).await.unwrap_err();
    assert!(matches!(error, OperatorError::NoKeyOfThisSecret), "{error:?}");
    assert!(!format!("{error} {error:?}").contains(&secret.expose()[..12]));
}

/// The finder of a leaked key does not know its id.
#[tokio::test]
async fn d60_a_key_is_revoked_by_its_secret() {
    let world = World::new().await;
    let (key, secret) = keys::issue(&world.app, world.account.id, None).await.unwrap();
    let revoked = keys::revoke(&world.app, secret.clone()).await.unwrap();
    assert_eq!(revoked, ApiKey { revoked_at: Some(samples::at(0)), ..key });
    assert!(world.admit(Some(&secret)).await.is_err());
    world.memory.clock.advance(Duration::from_secs(1));
    let again = keys::revoke(&world.app, secret).await.unwrap();
    assert_eq!(again, revoked, "the first instant stays");
}

#[tokio::test]
async fn d13_issuing_a_key_fails_without_random_bytes() {
    let world = World::new().await;
    world.memory.randomness.set_unavailable(true);
    let outcome = keys::issue(&world.app, world.account.id, None).await;
    assert!(matches!(outcome, Err(OperatorError::Broken(_))), "{outcome:?}");
    assert_eq!(keys::list(&world.app, world.account.id).await.unwrap().len(), 1);
    assert_internal(world.create(draft_without_slug()).await);
}
