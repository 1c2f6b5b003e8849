//! Letting a request in (contract "Authentication" and "Request budget", D7, D13, D15–D17).

use std::time::Duration;

use signpost_app::admission::{AdmittedRequest, RateLimits, Reason};
use signpost_app::{Actor, Operator, accounts, keys};
use signpost_domain::{ApiKeySecret, ErrorCode, Plan, QuotaRemaining, QuotaWindow, RequestBudget, Usage};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;

use crate::world::{World, at_once, plan, reason};

const MINUTE: Duration = Duration::from_mins(1);

fn small_budget(per_minute: u32, per_day: u32) -> Plan {
    Plan { budget: RequestBudget { per_minute, per_day }, ..plan(&[]) }
}

#[tokio::test]
async fn a_caller_knows_its_account_key_plan_usage_and_budget() {
    let world = World::new().await;
    world.group("Spring").await;
    world.redirect("a").await;
    let (key, secret) = keys::issue(&world.app, world.account.id, None).await.unwrap();
    let AdmittedRequest { caller, rate_limits, read_ahead } = world.admit(Some(&secret)).await.unwrap();
    assert_eq!((caller.actor(), read_ahead), (Actor::Key(key.id), None));
    assert_eq!(caller.account(), &world.account);
    assert_eq!(caller.account_id(), world.account.id);
    assert_eq!(Some(caller.plan()), world.app.plans.get(&samples::plan("agency")));
    assert_eq!(*caller.usage(), Usage { links: 1, groups: 1, ..Usage::default() });
    let budget = RequestBudget { per_minute: 120, per_day: 10_000 };
    let remaining = QuotaRemaining { minute: 117, day: 9_997 };
    assert_eq!(rate_limits, RateLimits { budget, remaining });
}

/// Contract, Authentication 5. The account is unknown, so the refusal shows no limits (D17).
#[tokio::test]
async fn d13_missing_unknown_and_revoked_keys_are_refused() {
    let world = World::new().await;
    let (revoked, secret) = keys::issue(&world.app, world.account.id, None).await.unwrap();
    assert!(world.admit(Some(&secret)).await.is_ok());
    keys::revoke(&world.app, revoked.id).await.unwrap();
    for key in [None, Some(&ApiKeySecret::from_random([9; 32])), Some(&secret)] {
        let refused = world.admit(key).await.unwrap_err();
        assert!(matches!(refused.reason, Reason::InvalidKey), "{refused:?}");
        assert_eq!(refused.reason.code(), ErrorCode::InvalidApiKey);
        assert_eq!(refused.rate_limits, None);
    }
    assert!(world.admit(Some(&world.secret)).await.is_ok(), "other keys still work");
}

/// Contract, Authentication 7.
#[tokio::test]
async fn d17_a_refused_suspended_account_sees_its_limits() {
    let world = World::new().await;
    world.caller().await;
    accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    for _ in 0..3 {
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        assert!(matches!(refused.reason, Reason::Suspended), "{refused:?}");
        assert_eq!(refused.reason.code(), ErrorCode::AccountSuspended);
        let limits = refused.rate_limits.unwrap();
        assert_eq!(limits.budget, RequestBudget { per_minute: 120, per_day: 10_000 });
        // A refused request costs nothing (contract, Authentication 9).
        assert_eq!(limits.remaining, QuotaRemaining { minute: 119, day: 9_999 });
    }
    accounts::resume(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(
        world.admit(Some(&world.secret)).await.unwrap().rate_limits.remaining,
        QuotaRemaining { minute: 118, day: 9_998 }
    );
}

#[tokio::test]
async fn d15_a_plan_without_the_api_has_limits_of_zero() {
    let world = World::new().await;
    for plan in ["free", "pro"] {
        accounts::set_plan(&world.app, &Operator::COMMAND, world.account.id, &samples::plan(plan))
            .await
            .unwrap();
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        assert!(matches!(refused.reason, Reason::NoApiAccess), "{refused:?}");
        assert_eq!(refused.reason.code(), ErrorCode::ApiAccessNotAvailableOnCurrentPlan);
        let limits = refused.rate_limits.unwrap();
        assert_eq!(limits.budget, RequestBudget { per_minute: 0, per_day: 0 });
        assert_eq!(limits.remaining, QuotaRemaining { minute: 0, day: 0 });
    }
}

/// The configuration may give a budget to a plan without the API.
#[tokio::test]
async fn d15_a_budget_gives_no_access_without_api_access() {
    let world = World::with_plan(Plan { api_access: false, ..plan(&[]) }).await;
    let refused = world.admit(Some(&world.secret)).await.unwrap_err();
    assert!(matches!(refused.reason, Reason::NoApiAccess), "{refused:?}");
    assert_eq!(refused.rate_limits.unwrap().budget, RequestBudget { per_minute: 0, per_day: 0 });
}

/// The configuration may lack the plan of an existing account.
#[tokio::test]
async fn d15_an_unconfigured_plan_gives_no_access() {
    let mut world = World::with_plan(plan(&[])).await;
    world.memory.plans = signpost_domain::Plans::builtin();
    world.app = world.memory.application().into();
    let log = Log::begin();
    for _ in 0..3 {
        assert!(matches!(reason(world.admit(Some(&world.secret)).await), Reason::NoApiAccess));
    }
    let line = || log.lines("does not know its plan");
    let (plan, account) = (world.account.plan.as_str(), world.account.id.to_string());
    assert!(line().len() == 1 && line()[0].contains(plan) && line()[0].contains(&account), "{:?}", line());
    world.memory.clock.advance(Duration::from_mins(1));
    let _refused = world.admit(Some(&world.secret)).await.unwrap_err();
    assert_eq!(line().len(), 2, "once a minute");
    let expected = [(world.account.plan.clone(), 1)];
    assert_eq!(accounts::unknown_plans(&world.app).await.unwrap(), expected);
}

/// Contract, Authentication 6: a downgrade takes effect at once, and an upgrade needs no new key.
#[tokio::test]
async fn d15_a_change_of_plan_holds_for_the_next_request() {
    let world = World::new().await;
    world.caller().await;
    accounts::set_plan(&world.app, &Operator::COMMAND, world.account.id, &samples::plan("pro"))
        .await
        .unwrap();
    assert!(matches!(reason(world.admit(Some(&world.secret)).await), Reason::NoApiAccess));
    accounts::set_plan(&world.app, &Operator::COMMAND, world.account.id, &samples::plan("agency"))
        .await
        .unwrap();
    assert_eq!(world.caller().await.plan().name, samples::plan("agency"));
}

/// The order: key, suspension, plan, quota.
#[tokio::test]
async fn d7_checks_run_in_order() {
    let world = World::with_plan(small_budget(1, 1)).await;
    world.caller().await;
    assert!(matches!(reason(world.admit(Some(&world.secret)).await), Reason::Exhausted { .. }));

    // The quota is exhausted as well from here on.
    accounts::set_plan(&world.app, &Operator::COMMAND, world.account.id, &samples::plan("free"))
        .await
        .unwrap();
    assert!(matches!(reason(world.admit(Some(&world.secret)).await), Reason::NoApiAccess));

    accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    let refused = world.admit(Some(&world.secret)).await.unwrap_err();
    assert!(matches!(refused.reason, Reason::Suspended), "{refused:?}");
    assert_eq!(refused.rate_limits.unwrap().budget, RequestBudget { per_minute: 0, per_day: 0 });

    for key in keys::list(&world.app, world.account.id).await.unwrap() {
        keys::revoke(&world.app, key.id).await.unwrap();
    }
    assert!(matches!(reason(world.admit(Some(&world.secret)).await), Reason::InvalidKey));
}

#[tokio::test]
async fn d16_an_exhausted_minute_ends_with_the_calendar_minute() {
    let world = World::with_plan(small_budget(2, 100)).await;
    // 09:05:07.042: the minute has 52.958 seconds left.
    world.caller().await;
    world.caller().await;
    for _ in 0..5 {
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        let Reason::Exhausted { window, retry_after_seconds, .. } = refused.reason else {
            panic!("{refused:?}")
        };
        assert_eq!((window, retry_after_seconds), (QuotaWindow::Minute, 53));
        assert_eq!(refused.reason.code(), ErrorCode::RateLimitExceeded);
        let limits = refused.rate_limits.unwrap();
        assert_eq!(limits.budget, RequestBudget { per_minute: 2, per_day: 100 });
        assert_eq!(limits.remaining, QuotaRemaining { minute: 0, day: 98 });
    }
    world.memory.clock.advance(Duration::from_secs(53));
    assert_eq!(
        world.admit(Some(&world.secret)).await.unwrap().rate_limits.remaining,
        QuotaRemaining { minute: 1, day: 97 }
    );
}

/// The operator of a machine of their own sees the way out in the terminal, and others are not flooded.
#[tokio::test]
async fn d15_an_exhausted_budget_is_logged_hourly_with_the_way_out() {
    let world = World::with_plan(small_budget(1, 100_000)).await;
    let log = Log::begin();
    let lines = || log.lines("has used up the requests");
    let account = world.account.id;
    for hour in 1..=2 {
        world.caller().await;
        for _ in 0..3 {
            let refused = world.admit(Some(&world.secret)).await.unwrap_err();
            let Reason::Exhausted { way_out: Some(way_out), .. } = refused.reason else {
                panic!("{refused:?}")
            };
            assert_eq!((way_out.account, way_out.plan.as_str()), (account, "unlimited"));
        }
        assert_eq!(lines().len(), hour);
        world.memory.clock.advance(MINUTE * 60);
    }
    let command = format!("`signpost account set-plan {account} unlimited`");
    assert!(lines()[0].contains(&command), "{:?}", lines());
    accounts::set_plan(&world.app, &Operator::COMMAND, account, &samples::plan("unlimited")).await.unwrap();
    world.caller().await;
    assert_eq!(world.admit(Some(&world.secret)).await.unwrap().rate_limits.budget.per_minute, 1_000_000);
}

#[tokio::test]
async fn d16_an_exhausted_day_is_reported_first_and_ends_at_midnight() {
    let world = World::with_plan(small_budget(2, 2)).await;
    world.caller().await;
    world.caller().await;
    for _ in 0..2 {
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        let Reason::Exhausted { window, retry_after_seconds, .. } = refused.reason else {
            panic!("{refused:?}")
        };
        assert_eq!(window, QuotaWindow::Day);
        assert_eq!(refused.reason.code(), ErrorCode::DailyQuotaExceeded);
        let midnight = samples::at(0).unix_millis() + i64::from(retry_after_seconds) * 1_000;
        assert!(
            (0..1_000).contains(&(midnight % 86_400_000)),
            "the wait ends in the first second of the day"
        );
    }
    world.memory.clock.advance(MINUTE);
    let refused = world.admit(Some(&world.secret)).await.unwrap_err();
    assert_eq!(refused.rate_limits.unwrap().remaining, QuotaRemaining { minute: 2, day: 0 });
    world.memory.clock.advance(Duration::from_hours(24));
    world.caller().await;
}

/// Contract, Authentication 8.
#[tokio::test]
async fn all_keys_of_an_account_share_one_budget() {
    let world = World::with_plan(small_budget(2, 100)).await;
    let (_, second) = keys::issue(&world.app, world.account.id, None).await.unwrap();
    world.caller().await;
    assert!(world.admit(Some(&second)).await.is_ok());
    for key in [&world.secret, &second] {
        assert!(matches!(reason(world.admit(Some(key)).await), Reason::Exhausted { .. }));
    }
    let (_, other) = world.another_account("agency").await;
    assert!(world.admit(Some(&other)).await.is_ok(), "another account has its own budget");
}

/// Three nodes share the budget.
#[tokio::test(flavor = "multi_thread")]
async fn d16_r3_concurrent_requests_are_admitted_exactly_up_to_the_limit() {
    let world = World::with_plan(small_budget(40, 1_000)).await;
    let nodes = [world.memory.application(), world.memory.application(), world.memory.application()];
    let admitted = at_once(64, async |number| {
        let address = format!("198.51.100.{number}").parse().unwrap();
        signpost_app::admission::admit(&nodes[number % 3], Some(&world.secret), address, None).await.is_ok()
    });
    assert_eq!(admitted.into_iter().filter(|admitted| *admitted).count(), 40);
}

/// The answer is a 500. It does not count against the address (D18).
#[tokio::test]
async fn d6_a_failing_store_admits_no_request() {
    let mut world = World::new().await;
    world.memory.rejections_per_minute = 1;
    world.app = world.memory.application().into();
    for fault in [Fault::Unavailable, Fault::Corrupt, Fault::Contended] {
        world.memory.store.faults().fail_next(Step::Read, fault, 1);
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        assert!(matches!(refused.reason, Reason::Store(_)), "{refused:?}");
        assert_eq!(refused.reason.code(), ErrorCode::InternalError);
        assert_eq!(refused.rate_limits, None, "the account is unknown");
    }
    world.caller().await;
}

/// D17: every response to an identified account carries the headers, also a 500.
#[tokio::test]
async fn d17_a_failing_quota_store_still_shows_the_budget() {
    let world = World::new().await;
    world.memory.quota.set_unavailable(true);
    for suspend in [false, true] {
        if suspend {
            accounts::suspend(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
        }
        let refused = world.admit(Some(&world.secret)).await.unwrap_err();
        // D7: suspension is checked before the quota, so it is refused without a count.
        assert_eq!(matches!(refused.reason, Reason::Suspended), suspend, "{refused:?}");
        assert_eq!(matches!(refused.reason, Reason::Store(_)), !suspend, "{refused:?}");
        let budget = RequestBudget { per_minute: 120, per_day: 10_000 };
        assert_eq!(refused.rate_limits.unwrap().budget, budget);
    }
}
