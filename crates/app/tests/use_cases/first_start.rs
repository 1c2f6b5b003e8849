//! The first start on an empty store (D62).

use signpost_app::Operator;
use signpost_app::accounts::{self, CreateAccount, FirstStart};
use signpost_app::admission;
use signpost_domain::PageLimit;
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

use crate::world::{HOME, at_once};

fn command(plan: &str) -> CreateAccount {
    CreateAccount { email: samples::email("owner@localhost"), name: None, plan: samples::plan(plan) }
}

#[tokio::test]
async fn d62_the_first_start_creates_an_account_and_a_valid_key() {
    let memory = InMemory::default();
    let app = memory.application();
    let first = accounts::first_start(&app, command("agency")).await.unwrap();
    let FirstStart { account, key, secret } = first.unwrap();
    assert_eq!(account.plan, samples::plan("agency"));
    assert_eq!(key.account_id, account.id);
    let admitted = admission::admit(&app, Some(&secret), HOME.parse().unwrap(), None).await.unwrap();
    assert_eq!(admitted.caller.account(), &account);
}

#[tokio::test]
async fn d62_a_later_start_creates_nothing() {
    let memory = InMemory::default();
    let app = memory.application();
    let other = CreateAccount { email: samples::email("ada@example.com"), ..command("free") };
    let existing = accounts::create(&app, &Operator::COMMAND, other).await.unwrap();
    for _ in 0..2 {
        assert!(accounts::first_start(&app, command("agency")).await.unwrap().is_none());
    }
    let all = accounts::list(&app, PageLimit::default(), None).await.unwrap();
    assert_eq!(all.items, [existing]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d62_one_of_several_concurrent_starts_creates_the_account() {
    for _ in 0..10 {
        let memory = InMemory::default();
        let nodes: Vec<_> = (0..8).map(|_| memory.application()).collect();
        let started = at_once(8, async |number| {
            accounts::first_start(&nodes[number], command("agency")).await.unwrap()
        });
        assert_eq!(started.into_iter().flatten().count(), 1);
        let all = accounts::list(&nodes[0], PageLimit::default(), None).await.unwrap();
        assert_eq!(all.items.len(), 1);
    }
}

/// Account and key are created together, so the next start can succeed.
#[tokio::test]
async fn d62_a_failed_first_start_leaves_nothing() {
    let memory = InMemory::default();
    let app = memory.application();
    assert!(accounts::first_start(&app, command("gold")).await.is_err());
    memory.randomness.set_unavailable(true);
    assert!(accounts::first_start(&app, command("agency")).await.is_err());
    memory.randomness.set_unavailable(false);
    for step in [Step::Begin, Step::Write, Step::Commit] {
        memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        assert!(accounts::first_start(&app, command("agency")).await.is_err());
    }
    assert_eq!(accounts::list(&app, PageLimit::default(), None).await.unwrap().items, []);
    assert!(accounts::first_start(&app, command("agency")).await.unwrap().is_some());
}
