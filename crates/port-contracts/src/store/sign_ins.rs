//! Failed attempts to sign in, and how long the next one has to wait (D75).

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use signpost_app::ports::SignInTurn;
use signpost_domain::{FAILURES_KEPT, SignInFailures, SignInKey, Timestamp};

use super::fixture::Fresh;
use crate::run::at_once;
use crate::samples;

cases! {
    $ sign_ins
    d75_attempts_are_counted_until_one_has_to_wait
    d75_keys_do_not_influence_each_other
    d75_a_success_forgets_the_failures
    d75_failures_of_the_day_before_do_not_count
    d75_concurrent_attempts_are_counted_one_by_one
    d75_concurrent_attempts_with_other_keys_are_allowed
    d75_failures_survive_a_restart
}

fn key(email: &str, network: u8) -> SignInKey {
    let address = IpAddr::from(Ipv4Addr::new(10, 0, network, 1));
    SignInKey::new(&samples::email(email), address)
}

fn second(seconds: u64) -> Timestamp {
    samples::at(0).plus(Duration::from_secs(seconds))
}

const ALLOWED: SignInTurn = SignInTurn::Allowed;

/// An attempt that has to wait is not counted, so it does not prolong the wait.
pub(super) async fn d75_attempts_are_counted_until_one_has_to_wait(fresh: Fresh) {
    let store = fresh.store().await;
    let key = key("ada@example.com", 1);
    assert_eq!(store.sign_in_failures(&key).await.unwrap(), SignInFailures::default());
    let mut failures = SignInFailures::default();
    for (at, until) in [
        (0, None),
        (0, None),
        (1, None),
        (2, None),
        (2, None),
        (2, Some(32)),
        (31, Some(32)),
        (32, None),
        (32, Some(92)),
        (91, Some(92)),
        (92, None),
        (93, Some(212)),
    ] {
        let turn = store.count_sign_in(&key, second(at)).await.unwrap();
        assert_eq!(turn, until.map_or(ALLOWED, |until| SignInTurn::WaitUntil(second(until))), "{at}");
        if turn == ALLOWED {
            failures = failures.and_one_more(second(at));
        }
        assert_eq!(store.sign_in_failures(&key).await.unwrap(), failures, "{at}");
    }
}

pub(super) async fn d75_keys_do_not_influence_each_other(fresh: Fresh) {
    let store = fresh.store().await;
    let (blocked, free) = (
        key("ada@example.com", 1),
        [key("ada@example.com", 2), key("bob@example.com", 1), key("bob@example.com", 2)],
    );
    while store.count_sign_in(&blocked, second(0)).await.unwrap() == ALLOWED {}
    for key in &free {
        assert_eq!(store.sign_in_failures(key).await.unwrap(), SignInFailures::default());
        assert_eq!(store.count_sign_in(key, second(0)).await.unwrap(), ALLOWED);
    }
    store.forget_sign_ins(&free[0]).await.unwrap();
    assert_eq!(store.sign_in_failures(&blocked).await.unwrap().count, 5);
    assert_eq!(store.sign_in_failures(&free[1]).await.unwrap().count, 1);
}

pub(super) async fn d75_a_success_forgets_the_failures(fresh: Fresh) {
    let store = fresh.store().await;
    let key = key("ada@example.com", 1);
    // Nothing to forget yet.
    store.forget_sign_ins(&key).await.unwrap();
    for _ in 0..3 {
        for _ in 0..5 {
            assert_eq!(store.count_sign_in(&key, second(0)).await.unwrap(), ALLOWED);
        }
        assert_ne!(store.count_sign_in(&key, second(0)).await.unwrap(), ALLOWED);
        store.forget_sign_ins(&key).await.unwrap();
        assert_eq!(store.sign_in_failures(&key).await.unwrap(), SignInFailures::default());
    }
}

pub(super) async fn d75_failures_of_the_day_before_do_not_count(fresh: Fresh) {
    let store = fresh.store().await;
    let key = key("ada@example.com", 1);
    for _ in 0..5 {
        assert_eq!(store.count_sign_in(&key, second(0)).await.unwrap(), ALLOWED);
    }
    let almost = second(0).plus(FAILURES_KEPT).minus(Duration::from_millis(1));
    assert_eq!(store.count_sign_in(&key, almost).await.unwrap(), ALLOWED);
    let failures = store.sign_in_failures(&key).await.unwrap();
    assert_eq!(failures, SignInFailures { count: 6, last_at: Some(almost) });
    let later = almost.plus(FAILURES_KEPT);
    for count in 1..=5 {
        // They are stored, current or not.
        assert_ne!(store.sign_in_failures(&key).await.unwrap(), SignInFailures::default());
        assert_eq!(store.count_sign_in(&key, later).await.unwrap(), ALLOWED);
        assert_eq!(store.sign_in_failures(&key).await.unwrap().count, count);
    }
    assert_ne!(store.count_sign_in(&key, later).await.unwrap(), ALLOWED);
}

/// However many attempts run at once, no more are allowed than one after the other.
pub(super) async fn d75_concurrent_attempts_are_counted_one_by_one(fresh: Fresh) {
    let store = fresh.store().await;
    let key = key("ada@example.com", 1);
    for (at, allowed, until) in [(0, 5, 30), (30, 1, 90), (90, 1, 210)] {
        let turns = at_once(20, |_| {
            let store = store.clone();
            async move { store.count_sign_in(&key, second(at)).await.unwrap() }
        });
        let (gone_on, waiting): (Vec<_>, Vec<_>) = turns.await.into_iter().partition(|turn| *turn == ALLOWED);
        assert_eq!(gone_on.len(), allowed, "{at}");
        assert!(
            waiting.iter().all(|turn| *turn == SignInTurn::WaitUntil(second(until))),
            "{at}: {waiting:?}"
        );
    }
    assert_eq!(store.sign_in_failures(&key).await.unwrap().count, 7);
}

pub(super) async fn d75_concurrent_attempts_with_other_keys_are_allowed(fresh: Fresh) {
    let store = fresh.store().await;
    let turns = at_once(40, |number| {
        let store = store.clone();
        async move {
            let key = key("ada@example.com", u8::try_from(number % 20).unwrap());
            let turn = store.count_sign_in(&key, second(0)).await.unwrap();
            if number % 20 == 19 {
                store.forget_sign_ins(&key).await.unwrap();
            }
            turn
        }
    });
    assert!(turns.await.into_iter().all(|turn| turn == ALLOWED));
    for number in 0..19 {
        assert_eq!(store.sign_in_failures(&key("ada@example.com", number)).await.unwrap().count, 2);
    }
}

pub(super) async fn d75_failures_survive_a_restart(fresh: Fresh) {
    let store = fresh.store().await;
    let key = key("ada@example.com", 1);
    for _ in 0..5 {
        store.count_sign_in(&key, second(0)).await.unwrap();
    }
    let store = store.reopened().await;
    let turn = store.count_sign_in(&key, second(0)).await.unwrap();
    assert_eq!(turn, SignInTurn::WaitUntil(second(30)));
}
