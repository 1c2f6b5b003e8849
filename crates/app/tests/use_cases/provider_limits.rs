//! How much strangers and broken providers may cost at the sign-in at a provider (D75, D77).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::people::PersonError;
use signpost_app::people::identity::{IdentityError, Purpose};
use signpost_app::ports::ProviderError;

use crate::provider_sign_in::{ADA, World, refused};

#[tokio::test]
async fn d77_an_address_has_thirty_failures_a_minute_and_a_node_redeems_sixteen_at_once() {
    let world = World::new().await;
    world.bind(ADA, "1").await.unwrap();
    world.memory.clock.advance(Duration::from_mins(1));
    for _ in 0..40 {
        world.sign_in().await.unwrap();
    }
    let way = world.begin(Purpose::SignIn, None).await.unwrap();
    world.provider.fail(ProviderError::Refused { reason: "invalid_grant".to_owned() });
    for _ in 0..30 {
        assert_eq!(refused(world.finish(&way, None).await), IdentityError::Failed);
    }
    let throttled = world.finish(&way, None).await;
    assert!(matches!(throttled, Err(PersonError::Wait { .. })), "{throttled:?}");
    world.name("1");
    world.memory.clock.advance(Duration::from_mins(1));
    let way = world.begin(Purpose::SignIn, None).await.unwrap();
    world.provider.hold();
    let world = Arc::new(world);
    let before = world.provider.redemptions();
    let waiting: Vec<_> = (0..16)
        .map(|_| {
            let (world, way) = (Arc::clone(&world), way.clone());
            tokio::spawn(async move { world.finish(&way, None).await.is_ok() })
        })
        .collect();
    while world.provider.redemptions() < before + 16 {
        tokio::task::yield_now().await;
    }
    let busy = world.finish(&way, None).await;
    assert!(matches!(busy, Err(PersonError::Busy)), "{busy:?}");
    world.provider.release();
    for one in waiting {
        assert!(one.await.unwrap());
    }
    world.finish(&way, None).await.unwrap();
}
