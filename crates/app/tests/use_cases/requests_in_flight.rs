//! Bounds on concurrent requests of one account (R46).

use signpost_app::admission::{AccountBounds, Reason};
use signpost_app::links::{self, ListLinks};
use signpost_app::{AppError, Operator};
use signpost_domain::{ErrorCode, LinkKind, LinkState, QuotaRemaining, SearchText, TargetHost};
use signpost_memory::InMemory;

use crate::world::World;

async fn world(requests: u32, searches: u32) -> World {
    let account_bounds = AccountBounds { requests, searches };
    World::on(InMemory { account_bounds, ..InMemory::default() }, "agency").await
}

fn search() -> ListLinks {
    ListLinks { search: Some(SearchText::parse("x").unwrap()), ..ListLinks::default() }
}

#[tokio::test]
async fn r46_requests_beyond_the_bound_are_refused_without_being_counted() {
    let world = world(2, 1).await;
    let held = [world.caller().await, world.caller().await];
    for _ in 0..3 {
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        assert!(matches!(refused.reason, Reason::TooManyInFlight), "{refused:?}");
        assert_eq!(refused.reason.code(), ErrorCode::RateLimitExceeded);
        // Contract D17: the account is known.
        assert_eq!(refused.rate_limits.unwrap().remaining, QuotaRemaining { minute: 118, day: 9_998 });
    }
    let stranger = world.stranger().await;
    drop(held);
    let remaining = world.admit(Some(&world.secret)).await.unwrap().rate_limits.remaining;
    assert_eq!(remaining, QuotaRemaining { minute: 117, day: 9_997 });
    drop(stranger);
}

/// A request that the quota refuses takes no place.
#[tokio::test]
async fn d7_the_bound_is_checked_after_the_plan_and_before_the_quota() {
    let world = world(1, 1).await;
    let held = world.caller().await;
    signpost_app::accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    let refused = world.admit(Some(&world.secret)).await.unwrap_err();
    assert!(matches!(refused.reason, Reason::Suspended), "{refused:?}");
    signpost_app::accounts::resume(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    drop(held);

    for _ in 0..119 {
        world.caller().await;
    }
    for _ in 0..2 {
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        assert!(matches!(refused.reason, Reason::Exhausted { .. }), "{refused:?}");
    }
}

#[tokio::test]
async fn r46_searches_beyond_the_bound_are_refused() {
    let world = world(0, 2).await;
    let (caller, other) = (world.caller().await, world.caller().await);
    let now = world.app.clock.now();
    let first = caller.search().unwrap();
    assert!(links::list(&world.app, &other, LinkKind::Redirect, search(), now).await.is_ok());
    let second = caller.search().unwrap();
    for kind in [LinkKind::Redirect, LinkKind::Landing] {
        let refused = links::list(&world.app, &other, kind, search(), now).await.unwrap_err();
        assert!(matches!(refused, AppError::TooManySearches), "{refused:?}");
        assert_eq!(refused.code(), ErrorCode::RateLimitExceeded);
        let both = ListLinks { group: Some(None), is_active: Some(true), ..ListLinks::default() };
        assert!(links::list(&world.app, &other, kind, both, now).await.is_err());
        let one = ListLinks { is_active: Some(true), ..ListLinks::default() };
        assert!(links::list(&world.app, &other, kind, one, now).await.is_ok());
        for (host, is_search) in [("example.com", false), ("a.b.c.d.example.com", true), ("com", true)] {
            let target_host = TargetHost::parse(host).ok();
            let by_host = ListLinks { target_host, ..ListLinks::default() };
            assert_eq!(
                links::list(&world.app, &other, kind, by_host, now).await.is_err(),
                is_search,
                "{host}"
            );
        }
        for (state, is_search) in
            [(LinkState::Lost, false), (LinkState::Inactive, true), (LinkState::Active, true)]
        {
            let by_state = ListLinks { states: Some(state.into()), ..ListLinks::default() };
            let listed = links::list(&world.app, &other, kind, by_state, now).await;
            assert_eq!(listed.is_err(), is_search, "{state:?}");
        }
        for has_rules in [true, false] {
            let by_rules = ListLinks { has_rules: Some(has_rules), ..ListLinks::default() };
            let listed = links::list(&world.app, &other, kind, by_rules, now).await;
            assert_eq!(listed.is_err(), !has_rules, "D126");
        }
    }
    drop(first);
    assert!(links::list(&world.app, &other, LinkKind::Redirect, search(), now).await.is_ok());
    drop(second);
}
