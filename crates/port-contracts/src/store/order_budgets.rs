//! The budgets of orders, which all nodes share (D190), and what the store keeps for one authority.

use std::sync::Arc;
use std::time::Duration;

use signpost_app::ports::{ORDER_EVENTS_KEPT, Store, StoredAuthorityAccount};
use signpost_domain::{BudgetDecision, OrderBudget, OrderKind, SealedSecret, Timestamp};

use super::certificate_steps::{again, challenge, claim_of, claim_one, want, write_challenge};
use super::fixture::Fresh;
use crate::run::at_once;
use crate::samples;

cases! {
    $ order_budgets
    d190_orders_of_the_installation_are_limited
    d190_orders_of_a_registered_domain_are_limited
    d190_orders_of_a_name_are_limited
    d190_failures_of_a_name_are_limited
    d190_renewals_do_not_count_as_new_orders
    d190_a_refused_order_counts_nothing
    d190_a_failed_order_counts_as_an_order_but_not_as_a_certificate
    d190_concurrent_orders_never_exceed_the_budget
    d190_concurrent_orders_of_a_name_never_exceed_its_budgets
    d190_old_events_and_challenges_are_forgotten_in_bounded_steps
    d190_events_survive_reopening
    d187_an_authority_has_one_account
    d187_concurrent_callers_keep_one_account
    d190_an_authority_is_left_alone_until_the_latest_instant
}

const ALLOWED: BudgetDecision = BudgetDecision::Allowed;
const RENEWAL: OrderKind = OrderKind::Renewal { names_predecessor: true };
const PLAIN_RENEWAL: OrderKind = OrderKind::Renewal { names_predecessor: false };
const ONE_MILLISECOND: Duration = Duration::from_millis(1);

async fn spend(
    store: &Arc<dyn Store>,
    host: &str,
    domain: &str,
    kind: OrderKind,
    now: Timestamp,
) -> BudgetDecision {
    let hostname = samples::hostname(host);
    again!(store.spend_on_order(&hostname, domain, kind, now))
}

async fn fail(store: &Arc<dyn Store>, host: &str, domain: &str, now: Timestamp) {
    let hostname = samples::hostname(host);
    again!(store.note_failed_order(&hostname, domain, RENEWAL, now));
}

async fn forget(store: &Arc<dyn Store>, now: Timestamp, at_most: u16) -> bool {
    again!(store.forget_order_events(now, at_most))
}

/// The decision at `now` when the earliest event of this budget was at `oldest`.
fn exhausted(budget: OrderBudget, oldest: Timestamp, now: Timestamp) -> BudgetDecision {
    let ask_again_at = oldest.plus(budget.period()).max(now.plus(Duration::from_secs(1)));
    BudgetDecision::Exhausted { budget, ask_again_at }
}

/// Spends the whole budget, one order a millisecond from 0 on, with the name and registered domain of each number. Then the
/// next order must wait until the first is a period old, to the millisecond; and one order later, for the second.
async fn is_limited(store: &Arc<dyn Store>, budget: OrderBudget, of: impl Fn(u32) -> (String, String)) {
    let limit = budget.limit();
    let spend = async |number: u32, now| {
        let (host, domain) = of(number);
        spend(store, &host, &domain, OrderKind::New, now).await
    };
    for number in 0..limit {
        assert_eq!(spend(number, samples::at(i64::from(number))).await, ALLOWED, "{number}");
    }
    let [first, second] = [samples::at(0), samples::at(1)];
    let again_at = first.plus(budget.period());
    for now in [samples::at(i64::from(limit)), again_at.minus(ONE_MILLISECOND)] {
        assert_eq!(spend(limit, now).await, exhausted(budget, first, now));
    }
    assert_eq!(spend(limit, again_at).await, ALLOWED);
    assert_eq!(spend(limit + 1, again_at).await, exhausted(budget, second, again_at));
}

/// Whichever names they are for.
pub(super) async fn d190_orders_of_the_installation_are_limited(fresh: Fresh) {
    let store = fresh.store().await;
    let name = |number: u32| (format!("go.{number}.example"), format!("{number}.example"));
    is_limited(&store, OrderBudget::NewOrders, name).await;
}

/// Other registered domains have budgets of their own.
pub(super) async fn d190_orders_of_a_registered_domain_are_limited(fresh: Fresh) {
    let store = fresh.store().await;
    let name = |number: u32| (format!("{number}.shop.example"), "shop.example".to_owned());
    is_limited(&store, OrderBudget::RegisteredDomain, name).await;
    let now = samples::at(0).plus(OrderBudget::RegisteredDomain.period());
    assert_eq!(spend(&store, "new.other.example", "other.example", OrderKind::New, now).await, ALLOWED);
}

/// Other names of the same registered domain have budgets of their own.
pub(super) async fn d190_orders_of_a_name_are_limited(fresh: Fresh) {
    let store = fresh.store().await;
    let name = |_| ("a.shop.example".to_owned(), "shop.example".to_owned());
    is_limited(&store, OrderBudget::Name, name).await;
    let now = samples::at(0).plus(OrderBudget::Name.period());
    assert_eq!(spend(&store, "b.shop.example", "shop.example", OrderKind::New, now).await, ALLOWED);
}

/// In an hour and in a day, for orders of every kind.
pub(super) async fn d190_failures_of_a_name_are_limited(fresh: Fresh) {
    let store = fresh.store().await;
    let host = "a.shop.example";
    let spend = async |kind, now| spend(&store, host, "shop.example", kind, now).await;
    let mut now = samples::at(0);
    for number in 0..10_u32 {
        assert_eq!(spend(RENEWAL, now).await, ALLOWED, "{number}");
        fail(&store, host, "shop.example", now).await;
        if number % 3 == 2 {
            let first = now.minus(2 * ONE_MILLISECOND);
            let decision = exhausted(OrderBudget::HourlyFailures, first, now);
            for kind in [OrderKind::New, RENEWAL, PLAIN_RENEWAL] {
                assert_eq!(spend(kind, now).await, decision);
            }
            now = first.plus(OrderBudget::HourlyFailures.period());
        }
        now = now.plus(ONE_MILLISECOND);
        if number % 3 == 2 {
            now = now.plus(Duration::from_mins(1));
        }
    }
    let again_at = samples::at(0).plus(OrderBudget::DailyFailures.period());
    for now in [now, again_at.minus(ONE_MILLISECOND)] {
        let daily = exhausted(OrderBudget::DailyFailures, samples::at(0), now);
        assert_eq!(spend(RENEWAL, now).await, daily);
    }
    assert_eq!(spend(RENEWAL, again_at).await, ALLOWED);
    assert_eq!(self::spend(&store, "b.shop.example", "shop.example", RENEWAL, now).await, ALLOWED);
}

/// They need what is reserved for them. Only those that do not name their predecessor count, against the name.
pub(super) async fn d190_renewals_do_not_count_as_new_orders(fresh: Fresh) {
    let store = fresh.store().await;
    let now = samples::at(0);
    for number in 0..OrderBudget::NewOrders.limit() + 10 {
        assert_eq!(spend(&store, "a.shop.example", "shop.example", RENEWAL, now).await, ALLOWED);
        let host = format!("{number}.shop.example");
        assert_eq!(spend(&store, &host, "shop.example", PLAIN_RENEWAL, now).await, ALLOWED);
    }
    assert_eq!(spend(&store, "a.shop.example", "shop.example", OrderKind::New, now).await, ALLOWED);
    // And new orders do not take the room of renewals.
    for number in 0..OrderBudget::RegisteredDomain.limit() - 1 {
        let host = format!("new-{number}.shop.example");
        assert_eq!(spend(&store, &host, "shop.example", OrderKind::New, now).await, ALLOWED);
    }
    let refused = spend(&store, "b.shop.example", "shop.example", OrderKind::New, now).await;
    assert_eq!(refused, exhausted(OrderBudget::RegisteredDomain, now, now));
    for kind in [RENEWAL, PLAIN_RENEWAL] {
        assert_eq!(spend(&store, "b.shop.example", "shop.example", kind, now).await, ALLOWED);
    }
    for kind in [PLAIN_RENEWAL, OrderKind::New] {
        assert_eq!(spend(&store, "c.other.example", "other.example", kind, now).await, ALLOWED);
    }
    assert_eq!(spend(&store, "c.other.example", "other.example", PLAIN_RENEWAL, now).await, ALLOWED);
    let by_name = exhausted(OrderBudget::Name, now, now);
    for (kind, decision) in [(PLAIN_RENEWAL, by_name), (OrderKind::New, by_name), (RENEWAL, ALLOWED)] {
        assert_eq!(spend(&store, "c.other.example", "other.example", kind, now).await, decision);
    }
}

/// It gives back its place in the budgets of the name and of the registered domain. The authority counts orders too.
pub(super) async fn d190_a_failed_order_counts_as_an_order_but_not_as_a_certificate(fresh: Fresh) {
    let store = fresh.store().await;
    let (host, domain) = ("a.shop.example", "shop.example");
    let hostname = samples::hostname(host);
    // Two certificates, and one order that fails each day.
    for millis in 0..2 {
        assert_eq!(spend(&store, host, domain, OrderKind::New, samples::at(millis)).await, ALLOWED);
    }
    let kinds = [OrderKind::New, OrderKind::Catchup, PLAIN_RENEWAL, OrderKind::New];
    for (day, kind) in (1..).zip(kinds) {
        let now = samples::at(day * 24 * 3_600_000);
        assert_eq!(spend(&store, host, domain, kind, now).await, ALLOWED, "{kind:?}");
        again!(store.note_failed_order(&hostname, domain, kind, now));
    }
    // A failed renewal that names its predecessor has no place to give back.
    let now = samples::at(5 * 24 * 3_600_000);
    again!(store.note_failed_order(&hostname, domain, RENEWAL, now));
    assert_eq!(spend(&store, host, domain, OrderKind::New, now).await, ALLOWED);
    let refused = spend(&store, host, domain, OrderKind::New, now).await;
    assert_eq!(refused, exhausted(OrderBudget::Name, samples::at(0), now));
    // The budget of all new orders still has them.
    let now = samples::at(1_000 * 3_600_000);
    for number in 0..OrderBudget::NewOrders.limit() {
        let (host, domain) = (format!("go.{number}.example"), format!("{number}.example"));
        assert_eq!(spend(&store, &host, &domain, OrderKind::New, now).await, ALLOWED);
        let hostname = samples::hostname(&host);
        again!(store.note_failed_order(&hostname, &domain, OrderKind::New, now));
    }
    let refused = spend(&store, host, domain, OrderKind::New, now).await;
    assert_eq!(refused, exhausted(OrderBudget::NewOrders, now, now));
}

pub(super) async fn d190_a_refused_order_counts_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let spend = async |millis| {
        spend(&store, "a.shop.example", "shop.example", OrderKind::New, samples::at(millis)).await
    };
    for millis in 0..3 {
        assert_eq!(spend(millis).await, ALLOWED);
    }
    for millis in 3..30 {
        let refused = exhausted(OrderBudget::Name, samples::at(0), samples::at(millis));
        assert_eq!(spend(millis).await, refused);
    }
    let period = i64::try_from(OrderBudget::Name.period().as_millis()).unwrap();
    for millis in 0..3 {
        assert_eq!(spend(period + millis).await, ALLOWED);
    }
}

/// How many of the orders of 16 concurrent tasks are allowed. `of` has the name and the registered domain of each order.
async fn allowed_at_once(
    store: &Arc<dyn Store>,
    each: u64,
    of: impl Fn(u64) -> (String, String) + Copy + Send + 'static,
) -> usize {
    let allowed = at_once(16, |task| {
        let store = Arc::clone(store);
        async move {
            let mut allowed = 0;
            for number in 0..each {
                let (host, domain) = of(number * 16 + task);
                let decision = spend(&store, &host, &domain, OrderKind::New, samples::at(0)).await;
                allowed += usize::from(decision == ALLOWED);
            }
            allowed
        }
    });
    allowed.await.into_iter().sum()
}

/// For different names under different registered domains.
pub(super) async fn d190_concurrent_orders_never_exceed_the_budget(fresh: Fresh) {
    let store = fresh.store().await;
    let name = |number: u64| (format!("go.{number}.example"), format!("{number}.example"));
    assert_eq!(allowed_at_once(&store, 15, name).await, 200);
}

/// For one registered domain, and for one name.
pub(super) async fn d190_concurrent_orders_of_a_name_never_exceed_its_budgets(fresh: Fresh) {
    let store = fresh.store().await;
    let name = |number: u64| (format!("{number}.shop.example"), "shop.example".to_owned());
    assert_eq!(allowed_at_once(&store, 4, name).await, 40);
    let name = |_| ("a.other.example".to_owned(), "other.example".to_owned());
    assert_eq!(allowed_at_once(&store, 2, name).await, 3);
}

/// At most the requested number of each, and the answer says whether more are left. What still counts stays.
pub(super) async fn d190_old_events_and_challenges_are_forgotten_in_bounded_steps(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    assert!(!forget(&store, samples::at(0), 10).await);
    let name = ["a.shop.example", "shop.example"];
    for millis in [0, 0, 1] {
        let kind = OrderKind::New;
        assert_eq!(spend(&store, name[0], name[1], kind, samples::at(millis)).await, ALLOWED);
    }
    fail(&store, name[0], name[1], samples::at(0)).await;
    fail(&store, name[0], name[1], samples::at(0)).await;
    let old = samples::at(0).plus(ORDER_EVENTS_KEPT);
    let just_before = old.minus(ONE_MILLISECOND);
    assert!(!forget(&store, just_before, 1).await, "none is old enough");
    let refused = exhausted(OrderBudget::Name, samples::at(0), just_before);
    assert_eq!(spend(&store, name[0], name[1], OrderKind::New, just_before).await, refused);
    assert!(forget(&store, old, 3).await);
    assert!(!forget(&store, old, 1).await, "the last one");
    assert!(!forget(&store, old, 1).await);
    let two_more = [ALLOWED, ALLOWED, exhausted(OrderBudget::Name, samples::at(1), old)];
    for decision in two_more {
        assert_eq!(spend(&store, name[0], name[1], OrderKind::New, old).await, decision);
    }
    // The same for challenges, beside the events of 1 and of `old`.
    want(&store, account, "a.example.net", 0).await;
    let claim = claim_one(&store, "a.example.net", 0, 50).await;
    for (token, expires) in [("one", 10), ("two", 10), ("three", 11), ("four", 20)] {
        assert!(write_challenge(&store, &claim, &challenge(token, "a.example.net", expires)).await);
    }
    assert_eq!(claim, claim_of("a.example.net", 50));
    assert!(!forget(&store, samples::at(9), 1).await);
    assert!(forget(&store, samples::at(11), 2).await);
    assert!(!forget(&store, samples::at(11), 2).await);
    let rest = store.challenge("four", samples::at(0)).await.unwrap();
    assert!(rest.is_some());
    for token in ["one", "two", "three"] {
        assert_eq!(store.challenge(token, samples::at(0)).await.unwrap(), None, "{token}");
    }
}

pub(super) async fn d190_events_survive_reopening(fresh: Fresh) {
    let store = fresh.store().await;
    let now = samples::at(0);
    for _ in 0..3 {
        assert_eq!(spend(&store, "a.shop.example", "shop.example", OrderKind::New, now).await, ALLOWED);
        fail(&store, "b.shop.example", "shop.example", now).await;
    }
    again!(store.set_authority_wait("https://acme.example/directory", now));
    let store = store.reopened().await;
    for (host, budget) in
        [("a.shop.example", OrderBudget::Name), ("b.shop.example", OrderBudget::HourlyFailures)]
    {
        let decision = spend(&store, host, "shop.example", OrderKind::New, now).await;
        assert_eq!(decision, exhausted(budget, now, now));
    }
    assert_eq!(store.authority_wait("https://acme.example/directory").await.unwrap(), Some(now));
}

const DIRECTORY: &str = "https://acme.example/directory";

fn authority_account(number: u8) -> StoredAuthorityAccount {
    StoredAuthorityAccount {
        uri: format!("https://acme.example/account/{number}"),
        credentials: SealedSecret(vec![number, 0, 0xff]),
    }
}

/// The first one stays until it is forgotten by its URI.
pub(super) async fn d187_an_authority_has_one_account(fresh: Fresh) {
    let store = fresh.store().await;
    let [first, second, elsewhere] = [1, 2, 3].map(authority_account);
    let read = async |directory: &str| store.authority_account(directory).await.unwrap();
    assert_eq!(read(DIRECTORY).await, None);
    again!(store.forget_authority_account(DIRECTORY, &first.uri));
    for account in [&first, &second] {
        assert_eq!(again!(store.keep_authority_account(DIRECTORY, account)), first);
    }
    assert_eq!(again!(store.keep_authority_account("https://other.example", &elsewhere)), elsewhere);
    again!(store.forget_authority_account(DIRECTORY, &second.uri));
    assert_eq!(read(DIRECTORY).await, Some(first.clone()), "another node has replaced the account already");
    again!(store.set_authority_wait(DIRECTORY, samples::at(9)));
    again!(store.forget_authority_account(DIRECTORY, &first.uri));
    assert_eq!(read(DIRECTORY).await, None);
    assert_eq!(store.authority_wait(DIRECTORY).await.unwrap(), Some(samples::at(9)), "it still holds");
    assert_eq!(again!(store.keep_authority_account(DIRECTORY, &second)), second);
    assert_eq!(read("https://other.example").await, Some(elsewhere));
}

pub(super) async fn d187_concurrent_callers_keep_one_account(fresh: Fresh) {
    let store = fresh.store().await;
    let kept = at_once(16, |number| {
        let store = (*store).clone();
        let account = authority_account(u8::try_from(number).unwrap());
        async move { again!(store.keep_authority_account(DIRECTORY, &account)) }
    });
    let kept = kept.await;
    let stored = store.authority_account(DIRECTORY).await.unwrap().unwrap();
    assert!(kept.iter().all(|kept| *kept == stored), "{kept:?}");
}

pub(super) async fn d190_an_authority_is_left_alone_until_the_latest_instant(fresh: Fresh) {
    let store = fresh.store().await;
    let wait = async |directory: &str| store.authority_wait(directory).await.unwrap();
    assert_eq!(wait(DIRECTORY).await, None);
    for (until, stored) in [(50, 50), (40, 50), (50, 50), (60, 60)] {
        again!(store.set_authority_wait(DIRECTORY, samples::at(until)));
        assert_eq!(wait(DIRECTORY).await, Some(samples::at(stored)));
    }
    assert_eq!(wait("https://other.example").await, None);
    // A kind of orders waits separately.
    let key = format!("{DIRECTORY}#new-orders");
    assert_eq!(wait(&key).await, None);
    again!(store.set_authority_wait(&key, samples::at(90)));
    assert_eq!((wait(&key).await, wait(DIRECTORY).await), (Some(samples::at(90)), Some(samples::at(60))));
    assert_eq!(store.authority_account(DIRECTORY).await.unwrap(), None, "a wait is no account");
}
