//! Upkeep of clicks in the background, and the clicks of deleted accounts.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{ClickUpkeep, DoneBy, ForgetClicks, Job as _, Progress, UpkeepTask};
use signpost_app::ports::ClickStore as _;
use signpost_app::{Operator, accounts};
use signpost_domain::analytics::{
    PlannedDeletion, RecordedClick, RecordedKind, UtcDay, Values, VisitorHash, VisitorKey,
};
use signpost_domain::{AccountId, Plan, PlanLimits, Plans, RedirectId};
use signpost_port_contracts::logs::Log;
use signpost_port_contracts::samples;

use crate::world::World;

/// Stores a click of an account, some days ago.
fn click(world: &World, account: AccountId, days_ago: u32) {
    let at = UtcDay::of(world.app.clock.now()).minus(days_ago).first();
    world.memory.click_store.record([RecordedClick {
        at,
        account,
        link: RedirectId::from_bytes([1; 16]).into(),
        kind: RecordedKind::Click,
        visitor: VisitorHash([0; 6]),
        values: Values::default(),
    }]);
}

/// Runs a round of the job.
async fn forget(world: &World) {
    let job = ForgetClicks::new(Arc::clone(&world.app));
    while job.step().await.unwrap() == Progress::More {}
}

/// Lets an account's planned deletion have waited for this long.
async fn let_wait(world: &World, account: AccountId, waited: Duration) {
    let planned = world.memory.click_store.planned_deletion(account).await.unwrap().unwrap();
    assert_eq!(planned.waited, Duration::ZERO);
    let planned = PlannedDeletion { waited, ..planned };
    world.memory.click_store.plan_deletion(account, Some(planned)).await.unwrap();
}

/// Runs a round of the job, and another one a day later.
async fn forget_after_a_day(world: &World, accounts: &[AccountId]) {
    forget(world).await;
    for account in accounts {
        let_wait(world, *account, PlannedDeletion::WAIT).await;
    }
    forget(world).await;
}

#[tokio::test]
async fn d49_clicks_are_kept_for_the_days_of_the_plan() {
    let world = World::new().await;
    let (small, _) = world.another_account("free").await;
    let days = |plan: &str| world.app.plans.get(&samples::plan(plan)).unwrap().limits.analytics_days;
    assert!(days("free") < days("agency"));
    for (account, plan) in [(small.id, "free"), (world.account.id, "agency")] {
        // Zones behind UTC reach one day further back.
        for ago in [0, days(plan), days(plan) + 1, days(plan) + 2, days(plan) + 100] {
            click(&world, account, ago);
        }
    }
    forget_after_a_day(&world, &[small.id, world.account.id]).await;
    assert_eq!(world.memory.click_store.rows(), 2 * 3);
    world.memory.clock.advance(Duration::from_hours(24));
    forget_after_a_day(&world, &[small.id, world.account.id]).await;
    assert_eq!(world.memory.click_store.rows(), 2 * 2);
    forget(&world).await;
    for account in [small.id, world.account.id] {
        assert_eq!(world.memory.click_store.planned_deletion(account).await.unwrap(), None);
    }
}

#[tokio::test]
async fn r22_old_clicks_are_kept_for_a_day_of_running_after_the_decision_which_is_logged() {
    let world = World::new().await;
    let days = world.app.plans.get(&samples::plan("agency")).unwrap().limits.analytics_days;
    for ago in [days + 5, days + 2, 1] {
        click(&world, world.account.id, ago);
    }
    let log = Log::begin();
    forget(&world).await;
    assert_eq!(log.count("they will be deleted after 24 hours"), 1);
    // A node that is started again has not been running meanwhile.
    world.memory.clock.advance(Duration::from_hours(23));
    forget(&world).await;
    let job = ForgetClicks::new(Arc::clone(&world.app));
    for hour in 0..25 {
        assert_eq!(world.memory.click_store.rows(), 3, "{hour}");
        job.step().await.unwrap();
        world.memory.clock.advance(Duration::from_hours(1));
    }
    assert_eq!(world.memory.click_store.rows(), 1);
    // Once by each node until it has been running for a while.
    assert_eq!(log.count("they will be deleted after 24 hours"), 3);
    assert_eq!(log.count("were deleted as planned"), 1);
}

/// The clock of a node is ahead for some seconds.
#[tokio::test]
async fn r22_a_clock_that_is_ahead_for_a_moment_deletes_no_clicks() {
    let world = World::new().await;
    for ago in [0, 1, 30] {
        click(&world, world.account.id, ago);
    }
    let ahead = Duration::from_hours(24 * 2_000);
    for _ in 0..3 {
        world.memory.clock.jump_ahead(ahead);
        forget(&world).await;
        forget(&world).await;
        world.memory.clock.step_back(ahead);
        forget(&world).await;
        let planned = world.memory.click_store.planned_deletion(world.account.id).await.unwrap();
        assert_eq!(planned, None, "the decision is void once the clock is right");
    }
    click(&world, world.account.id, 0);
    assert_eq!(world.memory.click_store.rows(), 4);
}

/// A decision that the right clock made has waited for a day. A wrong clock then finds more, and must not add it.
#[tokio::test]
async fn r22_a_due_deletion_covers_only_what_was_decided() {
    let world = World::new().await;
    let days = world.app.plans.get(&samples::plan("agency")).unwrap().limits.analytics_days;
    for ago in [days + 2, days, 1] {
        click(&world, world.account.id, ago);
    }
    forget(&world).await;
    let_wait(&world, world.account.id, PlannedDeletion::WAIT).await;
    world.memory.clock.jump_ahead(Duration::from_hours(24 * 2_000));
    forget(&world).await;
    assert_eq!(world.memory.click_store.rows(), 2);
}

/// The operator mistypes `analytics_days`, and corrects it the next day.
#[tokio::test]
async fn r22_a_corrected_plan_keeps_its_clicks() {
    let agency = Plans::builtin().get(&samples::plan("agency")).unwrap().clone();
    let limits = PlanLimits { analytics_days: 1, ..agency.limits };
    let mut world = World::with_plan(Plan { limits, ..agency }).await;
    for ago in [0, 30, 1_000] {
        click(&world, world.account.id, ago);
    }
    forget(&world).await;
    let_wait(&world, world.account.id, PlannedDeletion::WAIT).await;
    world.memory.plans = Plans::builtin();
    world.app = Arc::new(world.memory.application());
    forget(&world).await;
    assert_eq!(world.memory.click_store.rows(), 3);
    assert_eq!(world.memory.click_store.planned_deletion(world.account.id).await.unwrap(), None);
}

#[tokio::test]
async fn clicks_of_an_unconfigured_plan_are_kept() {
    let agency = Plans::builtin().get(&samples::plan("agency")).unwrap().clone();
    let mut world = World::with_plan(Plan { name: samples::plan("own"), ..agency }).await;
    click(&world, world.account.id, 10_000);
    world.memory.plans = Plans::builtin();
    world.app = Arc::new(world.memory.application());
    forget(&world).await;
    assert_eq!(world.memory.click_store.rows(), 1);
}

/// The database may be an older copy, which lacks the account for a while.
#[tokio::test]
async fn r22_clicks_of_no_account_are_deleted_a_day_later() {
    let world = World::new().await;
    let id = samples::id();
    click(&world, id, 5_000);
    click(&world, id, 0);
    forget(&world).await;
    assert_eq!(world.memory.click_store.rows(), 2);
    let_wait(&world, id, PlannedDeletion::WAIT).await;
    forget(&world).await;
    assert_eq!(world.memory.click_store.rows(), 0);
}

#[tokio::test]
async fn many_accounts_are_processed_in_several_steps() {
    let world = World::new().await;
    let days = world.app.plans.get(&samples::plan("agency")).unwrap().limits.analytics_days;
    // Accounts without old clicks must not stop the walk.
    let accounts: Vec<_> = (0..250_u128).map(|number| AccountId::from_bytes(number.to_be_bytes())).collect();
    for account in &accounts {
        click(&world, *account, days + 10);
    }
    forget_after_a_day(&world, &accounts).await;
    assert_eq!(world.memory.click_store.rows(), 0);
}

/// The clock is wrong again and again for longer than the wait.
#[tokio::test]
async fn r22_a_clock_that_is_often_ahead_deletes_no_clicks() {
    let world = World::new().await;
    for ago in [0, 30] {
        click(&world, world.account.id, ago);
    }
    let (job, ahead) = (ForgetClicks::new(Arc::clone(&world.app)), Duration::from_hours(24 * 2_000));
    for _ in 0..40 {
        world.memory.clock.jump_ahead(ahead);
        while job.step().await.unwrap() == Progress::More {}
        world.memory.clock.step_back(ahead);
        world.memory.clock.advance(Duration::from_hours(1));
        while job.step().await.unwrap() == Progress::More {}
    }
    assert_eq!(world.memory.click_store.rows(), 2);
}

#[tokio::test]
async fn deleting_an_account_deletes_its_clicks() {
    let world = World::new().await;
    let (other, _) = world.another_account("pro").await;
    for account in [world.account.id, other.id] {
        click(&world, account, 0);
        click(&world, account, 20);
    }
    accounts::delete(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(world.memory.click_store.rows(), 2);
    accounts::delete(&world.app, &Operator::COMMAND, other.id).await.unwrap();
    assert_eq!(world.memory.click_store.rows(), 0);
}

/// The deletion can be repeated later.
#[tokio::test]
async fn a_failed_deletion_of_clicks_keeps_the_account() {
    let world = World::new().await;
    click(&world, world.account.id, 0);
    world.memory.click_store.set_unavailable(true);
    assert!(accounts::delete(&world.app, &Operator::COMMAND, world.account.id).await.is_err());
    assert!(world.app.store.account(world.account.id).await.unwrap().is_some());
    world.memory.click_store.set_unavailable(false);
    accounts::delete(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
    assert_eq!(world.memory.click_store.rows(), 0);
}

#[tokio::test]
async fn d48_the_visitors_key_of_a_past_day_is_destroyed() {
    let world = World::new().await;
    let store = &world.memory.click_store;
    let today = UtcDay::of(world.app.clock.now());
    let [first, second] = [1, 2].map(|byte| VisitorKey([byte; 32]));
    store.visitor_key(today, first.clone()).await.unwrap();
    let upkeep = ClickUpkeep::new(
        UpkeepTask::ForgetVisitorKeys,
        world.app.click_store.clone(),
        world.app.clock.clone(),
    );
    let midnight = today.plus(1).first();
    for (after, is_known) in [(Duration::from_mins(9), true), (Duration::from_mins(10), false)] {
        world.memory.clock.set(midnight.plus(after));
        upkeep.step().await.unwrap();
        let key = store.visitor_key(today, second.clone()).await.unwrap();
        assert_eq!(key == first, is_known, "{after:?}");
    }
}

#[tokio::test]
async fn one_node_does_each_task_of_the_upkeep() {
    let world = World::new().await;
    for task in UpkeepTask::ALL {
        let upkeep = ClickUpkeep::new(task, world.app.click_store.clone(), world.app.clock.clone());
        assert_eq!(upkeep.done_by(), DoneBy::OneNode, "{task:?}");
        assert_eq!(upkeep.step().await.unwrap(), Progress::Done);
    }
}
