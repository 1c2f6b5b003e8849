//! Ownership of hostnames (D40, D41). At most one domain of a hostname is not stored as failed, and an
//! account has at most one domain of it.

use signpost_app::ports::{Claims, InsertCustomDomainError, ScheduledDomain, UpdateCustomDomainError};
use signpost_domain::{AccountId, CustomDomain, CustomDomainStatus, DomainEvent};

use super::domain_steps::{self, ACTIVE, NO_CHECKS, every_status};
use super::fixture::{Fresh, StoreUnderTest};
use super::given::{self, Decision, PLENTY, unit};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ domain_claims
    d40_only_failed_domains_leave_their_hostname_free
    d40_an_account_connects_a_hostname_once
    a_failed_domain_returns_if_its_hostname_is_free
    a_taken_hostname_leaves_the_unit_of_work_usable
    claims_show_the_callers_domain_and_the_holders
    one_of_many_concurrent_connections_of_a_hostname_succeeds
    one_of_many_concurrent_returns_of_a_hostname_succeeds
    claims_stay_locked_until_the_unit_of_work_ends
    concurrent_updates_of_a_domain_lose_nothing
}

const HOST: &str = "a.example.net";
const FAILED: CustomDomainStatus = CustomDomainStatus::Failed;

async fn accounts(store: &StoreUnderTest, count: usize) -> Vec<AccountId> {
    let mut accounts = Vec::new();
    for _ in 0..count {
        accounts.push(given::account(store).await);
    }
    accounts
}

/// The store decides by the stored status, even if the holder's deadline has passed.
pub(super) async fn d40_only_failed_domains_leave_their_hostname_free(fresh: Fresh) {
    let (store, [owner, other]) = fresh.store_with_accounts().await;
    let hostname = samples::hostname(HOST);
    let mut claim = domain_steps::domain(&store, owner, HOST, FAILED).await;
    for status in every_status() {
        claim = domain_steps::update(&store, &claim, status, NO_CHECKS).await.unwrap();
        let is_held = status != FAILED;
        let rival = samples::custom_domain(other, HOST);
        let outcome = domain_steps::insert(&store, &rival, PLENTY).await;
        assert_eq!(outcome, if is_held { Err(Decision::HostnameTaken) } else { Ok(()) }, "{status:?}");
        let holder = store.holder_of(&hostname).await.unwrap();
        assert_eq!(holder.as_ref(), Some(if is_held { &claim } else { &rival }));
        assert_eq!(domain_steps::delete(&store, other, rival.id).await, !is_held);
        assert_eq!(store.holder_of(&hostname).await.unwrap().as_ref(), is_held.then_some(&claim));
    }
    for account in [owner, other] {
        stored::counters_are_right(&store, account).await;
    }
}

/// A failed domain counts too (D40).
pub(super) async fn d40_an_account_connects_a_hostname_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut domain = domain_steps::domain(&store, account, HOST, ACTIVE).await;
    for status in every_status() {
        domain = domain_steps::update(&store, &domain, status, NO_CHECKS).await.unwrap();
        let again = samples::custom_domain(account, HOST);
        assert_eq!(domain_steps::insert(&store, &again, PLENTY).await, Err(Decision::HostnameTaken));
    }
    for near in ["b.a.example.net", "example.net", "aa.example.net", "a.example.ne", "a.example.nett"] {
        domain_steps::domain(&store, account, near, ACTIVE).await;
    }
    assert!(domain_steps::delete(&store, account, domain.id).await);
    domain_steps::domain(&store, account, HOST, ACTIVE).await;
    assert_eq!(stored::custom_domains_count(&store, account).await, 6);
}

/// Any number of accounts may have a failed domain of one hostname; one of them at a time can return.
pub(super) async fn a_failed_domain_returns_if_its_hostname_is_free(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = accounts(&store, 3).await;
    let [one, other, third] = [0, 1, 2].map(|position: usize| accounts[position]);
    let [first, second] =
        [one, other].map(|account| CustomDomain { status: FAILED, ..samples::custom_domain(account, HOST) });
    for claim in [&first, &second] {
        domain_steps::insert(&store, claim, PLENTY).await.unwrap();
    }
    for status in every_status().into_iter().filter(|status| *status != FAILED) {
        let first = domain_steps::update(&store, &first, status, NO_CHECKS).await.unwrap();
        for refused in every_status().into_iter().filter(|status| *status != FAILED) {
            let outcome = domain_steps::update(&store, &second, refused, NO_CHECKS).await;
            assert_eq!(outcome, Err(Decision::HostnameTaken));
        }
        // A domain that stays failed conflicts with no other.
        domain_steps::update(&store, &second, FAILED, NO_CHECKS).await.unwrap();
        assert_eq!(stored::custom_domain(&store, other, second.id).await.as_ref(), Some(&second));
        assert_eq!(store.holder_of(&first.hostname).await.unwrap().as_ref(), Some(&first));
        // The holder does not conflict with itself.
        domain_steps::update(&store, &first, ACTIVE, NO_CHECKS).await.unwrap();
        domain_steps::update(&store, &first, FAILED, NO_CHECKS).await.unwrap();
    }
    let newcomer = domain_steps::domain(&store, third, HOST, ACTIVE).await;
    let outcome = domain_steps::update(&store, &first, ACTIVE, NO_CHECKS).await;
    assert_eq!(outcome, Err(Decision::HostnameTaken));
    assert!(domain_steps::delete(&store, third, newcomer.id).await);
    let back = domain_steps::update(&store, &first, ACTIVE, NO_CHECKS).await.unwrap();
    assert_eq!(store.holder_of(&first.hostname).await.unwrap(), Some(back));
}

/// A taken hostname undoes only that call, including its effect on the count.
pub(super) async fn a_taken_hostname_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let (store, [owner, other]) = fresh.store_with_accounts().await;
    let failed = domain_steps::domain(&store, other, HOST, FAILED).await;
    let held = domain_steps::domain(&store, owner, HOST, ACTIVE).await;
    let free = samples::custom_domain(other, "free.example.net");
    let outcome = unit!(&store, async |work| {
        for _ in 0..3 {
            let again = samples::custom_domain(other, HOST);
            let refusal = work.insert_custom_domain(&again, NO_CHECKS, PLENTY).await;
            assert!(matches!(refusal, Err(InsertCustomDomainError::HostnameTaken)), "{refusal:?}");
            work.lock_custom_domain(other, failed.id).await?;
            let back = CustomDomain { status: ACTIVE, ..failed.clone() };
            let refusal = work.update_custom_domain(&back, NO_CHECKS).await;
            assert!(matches!(refusal, Err(UpdateCustomDomainError::HostnameTaken)), "{refusal:?}");
        }
        let locked = work.lock_custom_domain(other, failed.id).await?;
        assert_eq!(locked.map(|locked| locked.domain).as_ref(), Some(&failed));
        work.insert_custom_domain(&free, NO_CHECKS, PLENTY).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(stored::custom_domains(&store, owner).await, [held]);
    assert_eq!(stored::custom_domains(&store, other).await, [failed, free]);
    for account in [owner, other] {
        stored::counters_are_right(&store, account).await;
    }
}

/// Claims show the caller's own domain in any state, and another account's that is not stored as failed.
pub(super) async fn claims_show_the_callers_domain_and_the_holders(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = accounts(&store, 4).await;
    let [holding, failed, also_failed, without] = [0, 1, 2, 3].map(|position: usize| accounts[position]);
    let hostname = samples::hostname(HOST);
    for account in &accounts {
        assert_eq!(domain_steps::claims(&store, *account, &hostname).await, Claims::default());
    }
    let failure = domain_steps::domain(&store, failed, HOST, FAILED).await;
    domain_steps::domain(&store, also_failed, HOST, FAILED).await;
    domain_steps::domain(&store, without, "b.a.example.net", ACTIVE).await;
    let mut holder = domain_steps::domain(&store, holding, HOST, ACTIVE).await;
    for status in every_status() {
        holder = domain_steps::update(&store, &holder, status, NO_CHECKS).await.unwrap();
        let in_the_way = (status != FAILED).then(|| holder.clone());
        for (account, own) in
            [(holding, Some(&holder)), (failed, Some(&failure)), (without, None), (samples::id(), None)]
        {
            let holder = if account == holding { None } else { in_the_way.clone() };
            let own = own.cloned().map(|own| ScheduledDomain::planned(own, NO_CHECKS));
            let expected = Claims { own, holder };
            assert_eq!(domain_steps::claims(&store, account, &hostname).await, expected, "{status:?}");
        }
    }
}

/// Several accounts concurrently connect one hostname fifty times: exactly one gets it.
pub(super) async fn one_of_many_concurrent_connections_of_a_hostname_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = accounts(&store, 10).await;
    for round in 0..4 {
        let host = format!("host-{round}.example.net");
        // Also where an account has a failed domain of it.
        if round % 2 == 1 {
            domain_steps::domain(&store, accounts[9], &host, FAILED).await;
        }
        let outcomes = at_once(50, |number| {
            let (store, host) = (store.clone(), host.clone());
            let account = accounts[usize::try_from(number % 9).unwrap()];
            async move {
                let domain = samples::custom_domain(account, &host);
                unit!(&store, async |work| {
                    // Some read the claims first, as a use case does.
                    if number % 2 == 0 && work.lock_claims(account, &domain.hostname).await?.holder.is_some()
                    {
                        return Err(Decision::HostnameTaken);
                    }
                    Ok(work.insert_custom_domain(&domain, NO_CHECKS, PLENTY).await?)
                })
                .await
                .map(|()| domain)
            }
        });
        let inserted = given::successes(outcomes.await, Decision::HostnameTaken);
        let [inserted] = &inserted[..] else { panic!("one succeeds: {inserted:?}") };
        assert_eq!(store.holder_of(&inserted.hostname).await.unwrap().as_ref(), Some(inserted));
    }
    for account in accounts {
        stored::counters_are_right(&store, account).await;
    }
}

/// The same for failed domains that return.
pub(super) async fn one_of_many_concurrent_returns_of_a_hostname_succeeds(fresh: Fresh) {
    let store = fresh.store().await;
    let mut claims = Vec::new();
    for account in accounts(&store, 20).await {
        claims.push(domain_steps::domain(&store, account, HOST, FAILED).await);
    }
    let returns = at_once(20, |number| {
        let (store, claim) = (store.clone(), claims[usize::try_from(number).unwrap()].clone());
        async move { domain_steps::update(&store, &claim, ACTIVE, NO_CHECKS).await }
    });
    let back = given::successes(returns.await, Decision::HostnameTaken);
    let [back] = &back[..] else { panic!("not exactly one returned: {back:?}") };
    assert_eq!(store.holder_of(&back.hostname).await.unwrap().as_ref(), Some(back));
}

/// Accounts take a hostname from each other again and again. After locking the claims, a unit of work sees no concurrent
/// change until it ends.
pub(super) async fn claims_stay_locked_until_the_unit_of_work_ends(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = accounts(&store, 6).await;
    // Every account has a claim, so that there are rows to lock from the start.
    for account in &accounts {
        domain_steps::domain(&store, *account, HOST, FAILED).await;
    }
    let takings = at_once(36, |number| {
        let (store, account) = (store.clone(), accounts[usize::try_from(number % 6).unwrap()]);
        async move {
            let now = samples::at(i64::try_from(number).unwrap());
            let taken = unit!(&store, async |work| {
                let Claims { own, holder } = work.lock_claims(account, &samples::hostname(HOST)).await?;
                tokio::task::yield_now().await;
                if let Some(holder) = holder {
                    let displaced = holder.after(DomainEvent::Displaced, now);
                    work.update_custom_domain(&displaced, NO_CHECKS).await?;
                }
                let own = own.unwrap().domain.after(DomainEvent::Reclaimed, now);
                Ok(work.update_custom_domain(&own, NO_CHECKS).await?)
            });
            taken.await
        }
    });
    assert_eq!(takings.await, vec![Ok(()); 36]);
    let mut holding = 0;
    for account in accounts {
        let domains = stored::custom_domains(&store, account).await;
        assert_eq!(domains.len(), 1);
        holding += domains.iter().filter(|domain| domain.status.holds_hostname()).count();
    }
    assert_eq!(holding, 1);
}

/// A domain stays locked until its unit of work ends, so no change of its status is lost.
pub(super) async fn concurrent_updates_of_a_domain_lose_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let since = |millis| CustomDomainStatus::Active { misdirected_since: Some(samples::at(millis)) };
    let domain = domain_steps::domain(&store, account, HOST, since(0)).await;
    let updates = at_once(30, |number| {
        let (store, domain) = (store.clone(), domain.clone());
        async move {
            let counted = unit!(&store, async |work| {
                let before = if number % 2 == 0 {
                    work.lock_custom_domain(account, domain.id).await?.unwrap().domain
                } else {
                    work.lock_claims(account, &domain.hostname).await?.own.unwrap().domain
                };
                tokio::task::yield_now().await;
                let CustomDomainStatus::Active { misdirected_since: Some(before_then) } = before.status
                else {
                    panic!("unexpected status: {before:?}");
                };
                let millis = before_then.unix_millis() - samples::at(0).unix_millis();
                let after = CustomDomain { status: since(millis + 1), ..before };
                Ok(work.update_custom_domain(&after, NO_CHECKS).await?)
            });
            counted.await.unwrap();
        }
    });
    updates.await;
    let after = stored::custom_domain(&store, account, domain.id).await.unwrap();
    assert_eq!(after.status, since(30));
}
