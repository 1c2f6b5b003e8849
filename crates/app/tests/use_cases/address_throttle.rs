//! Too many refused requests from one address (contract "Statuses", D18).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::admission::{Reason, admit};
use signpost_app::ports::{QuotaStore, StoreError};
use signpost_app::{Application, Operator, accounts, keys};
use signpost_domain::{
    AccountId, ApiKeySecret, ErrorCode, Plan, QuotaDecision, QuotaRemaining, QuotaUse, RequestBudget,
    Timestamp,
};
use signpost_memory::InMemory;
use tokio::sync::Barrier;

use crate::world::{HOME, World, at_once, plan, reason};

async fn refuse(world: &World, times: u32, address: &str) {
    for number in 0..times {
        let refused = world.admit_from(None, address).await;
        assert!(matches!(reason(refused), Reason::InvalidKey), "request {number}");
    }
}

fn is_throttled(reason: &Reason) -> bool {
    matches!(reason, Reason::AddressThrottled { .. })
}

#[tokio::test]
async fn d18_thirty_rejections_block_an_address_until_the_next_minute() {
    let world = World::new().await;
    let unknown = ApiKeySecret::from_random([9; 32]);
    refuse(&world, 30, HOME).await;
    for key in [None, Some(&unknown), Some(&world.secret)] {
        let refused = world.admit(key).await.unwrap_err();
        // 09:05:07.042: the minute has 52.958 seconds left.
        assert!(
            matches!(refused.reason, Reason::AddressThrottled { retry_after_seconds: 53 }),
            "{refused:?}"
        );
        assert_eq!(refused.reason.code(), ErrorCode::RateLimitExceeded);
        assert_eq!(refused.rate_limits, None, "the account is unknown");
    }
    refuse(&world, 1, "203.0.113.10").await;
    world.memory.clock.advance(Duration::from_secs(53));
    refuse(&world, 30, HOME).await;
    assert!(is_throttled(&reason(world.admit(None).await)));
}

/// The store and the quota store are unavailable, so any look-up would fail.
#[tokio::test]
async fn d18_a_throttled_address_costs_no_look_up() {
    let world = World::new().await;
    refuse(&world, 30, HOME).await;
    world.memory.store.faults().set_unavailable(true);
    world.memory.quota.set_unavailable(true);
    assert!(is_throttled(&reason(world.admit(Some(&world.secret)).await)));
}

/// Invalid keys, suspended accounts and plans without the API count.
#[tokio::test]
async fn d18_every_kind_of_rejection_counts() {
    let world = World::new().await;
    let (suspended, suspended_key) = world.another_account("agency").await;
    accounts::suspend(&world.app, &Operator::COMMAND, suspended.id).await.unwrap();
    let (_, free_key) = world.another_account("free").await;
    let unknown = ApiKeySecret::from_random([9; 32]);
    for number in 0..30 {
        let key = [None, Some(&suspended_key), Some(&free_key), Some(&unknown)][number % 4];
        assert!(!is_throttled(&reason(world.admit(key).await)), "request {number}");
    }
    assert!(is_throttled(&reason(world.admit(Some(&suspended_key)).await)));
}

/// Their key was accepted.
#[tokio::test]
async fn d18_requests_refused_by_the_quota_do_not_count() {
    let world =
        World::with_plan(Plan { budget: RequestBudget { per_minute: 1, per_day: 1 }, ..plan(&[]) }).await;
    world.caller().await;
    for _ in 0..100 {
        assert!(matches!(reason(world.admit(Some(&world.secret)).await), Reason::Exhausted { .. }));
    }
    refuse(&world, 30, HOME).await;
}

/// Otherwise a stranger behind the same address could lock a customer out.
#[tokio::test]
async fn d18_keys_accepted_within_ten_minutes_pass_a_throttled_address() {
    let world = World::new().await;
    let (_, other) = world.another_account("agency").await;
    world.caller().await;
    for (minutes, is_remembered) in [(0, true), (9, true), (10, true), (11, false)] {
        // A new node in each round, so that the use of the key does not extend its mark.
        let world = World { app: world.memory.application().into(), ..world_of(&world) };
        world.caller().await;
        world.memory.clock.advance(Duration::from_mins(minutes));
        refuse(&world, 30, HOME).await;
        let outcome = world.admit(Some(&world.secret)).await;
        assert_eq!(outcome.is_ok(), is_remembered, "after {minutes} minutes: {outcome:?}");
        assert!(is_throttled(&reason(world.admit(Some(&other)).await)), "this key was not accepted recently");
        world.memory.clock.advance(Duration::from_mins(1));
    }
}

fn world_of(world: &World) -> World {
    World {
        memory: world.memory.clone(),
        app: Arc::clone(&world.app),
        account: world.account.clone(),
        secret: world.secret.clone(),
    }
}

/// A key that another node accepted is unknown here.
#[tokio::test]
async fn d18_each_node_counts_and_remembers_separately() {
    let world = World::new().await;
    world.caller().await;
    let other_node = World { app: world.memory.application().into(), ..world_of(&world) };
    refuse(&other_node, 30, HOME).await;
    assert!(is_throttled(&reason(other_node.admit(Some(&world.secret)).await)));
    world.caller().await;
}

#[tokio::test]
async fn d18_a_revoked_key_passes_no_throttled_address() {
    let world = World::new().await;
    let (key, secret) = keys::issue(&world.app, world.account.id, None).await.unwrap();
    world.admit(Some(&secret)).await.unwrap();
    keys::revoke(&world.app, key.id).await.unwrap();
    refuse(&world, 29, HOME).await;
    // The next request reaches the look-up, is refused there, and counts.
    assert!(matches!(reason(world.admit(Some(&secret)).await), Reason::InvalidKey));
    // From now on it is throttled before the look-up, which would fail.
    world.memory.store.faults().set_unavailable(true);
    for key in [Some(&secret), None] {
        assert!(is_throttled(&reason(world.admit(key).await)));
    }
}

/// A quota store that answers when enough requests are waiting.
struct WaitingQuota(Barrier);

#[async_trait::async_trait]
impl QuotaStore for WaitingQuota {
    async fn admit(&self, _: AccountId, _: RequestBudget, _: Timestamp) -> Result<QuotaDecision, StoreError> {
        Err(StoreError::unavailable("no request is admitted"))
    }

    async fn remaining(
        &self,
        _: AccountId,
        budget: RequestBudget,
        _: Timestamp,
    ) -> Result<QuotaRemaining, StoreError> {
        self.0.wait().await;
        Ok(budget.remaining(QuotaUse::default()))
    }
}

/// Eighty requests pass the throttle before the first is refused. Exactly thirty get the true reason.
#[tokio::test(flavor = "multi_thread")]
async fn d18_the_limit_is_exact_under_concurrency() {
    let world = World::new().await;
    accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    let quota = Arc::new(WaitingQuota(Barrier::new(80)));
    let app = Application { quota, ..world.memory.application() };
    let reasons =
        at_once(80, async |_| reason(admit(&app, Some(&world.secret), HOME.parse().unwrap(), None).await));
    assert_eq!(reasons.iter().filter(|reason| matches!(reason, Reason::Suspended)).count(), 30);
    assert_eq!(reasons.iter().filter(|reason| is_throttled(reason)).count(), 50);
}

#[tokio::test]
async fn d18_ipv6_addresses_are_counted_by_their_64_bit_prefix() {
    let world = World::new().await;
    refuse(&world, 15, "2001:db8:0:1::1").await;
    refuse(&world, 15, "2001:db8:0:1:ffff:ffff:ffff:ffff").await;
    assert!(is_throttled(&reason(world.admit_from(None, "2001:db8:0:1::2").await)));
    refuse(&world, 1, "2001:db8:0:2::1").await;
    // An IPv4 address has one count in both notations.
    refuse(&world, 30, "::ffff:198.51.100.7").await;
    assert!(is_throttled(&reason(world.admit_from(None, "198.51.100.7").await)));
}

#[tokio::test]
async fn d18_the_limit_is_a_setting_and_zero_disables_it() {
    let memory = InMemory { rejections_per_minute: 2, ..InMemory::default() };
    let world = World::on(memory, "agency").await;
    refuse(&world, 2, HOME).await;
    assert!(is_throttled(&reason(world.admit(None).await)));

    let memory = InMemory { rejections_per_minute: 0, ..InMemory::default() };
    let world = World::on(memory, "agency").await;
    refuse(&world, 200, HOME).await;
}
