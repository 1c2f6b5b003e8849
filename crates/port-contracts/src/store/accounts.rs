//! Accounts: inserting, changing, deleting.

use signpost_app::ports::{InsertLinksError, WriteAccountError};
use signpost_domain::{Account, CustomDomain, Link, PageLimit, PagePosition, Timestamp, Usage};

use super::domain_steps::{self, checked_at};
use super::fixture::Fresh;
use super::given::{self, Decision, KINDS, PLENTY, unit};
use super::resources::ResourceKind;
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ accounts
    an_account_reads_back_as_it_was_inserted
    a_new_account_uses_nothing
    the_usage_of_several_accounts_is_that_of_each
    missing_accounts_are_not_found
    accounts_are_found_by_their_ids
    email_addresses_are_unique_ignoring_case
    accounts_are_found_by_email_ignoring_case
    a_taken_email_address_leaves_the_unit_of_work_usable
    any_account_says_whether_accounts_exist
    d62_concurrent_starts_insert_one_first_account
    setting_a_plan_changes_one_account
    suspending_again_keeps_the_first_instant_until_resumed
    deleting_an_account_deletes_its_data
    nothing_is_inserted_for_a_missing_account
    accounts_are_listed_newest_first
    plans_in_use_are_counted
}

/// Every field reads back, timestamps to the millisecond (D3).
pub(super) async fn an_account_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    let longest_email = format!("{}@{}.example", "ü".repeat(120), "é".repeat(125));
    for account in [
        samples::account(),
        Account { name: None, suspended_at: Some(samples::at(1)), ..samples::account() },
        Account { name: Some(samples::name(&"𝄞".repeat(100))), ..samples::account() },
        Account { email: samples::email(&longest_email), created_at: Timestamp::LAST, ..samples::account() },
        Account {
            email: samples::email("O'Hara+\"x\";--@Example.COM"),
            name: Some(samples::name("\u{202e} zero\u{200b}width 👩\u{200d}👧 'quote' \"double\" \\ %_")),
            plan: samples::plan("no-such-plan_9"),
            suspended_at: Some(Timestamp::EPOCH),
            created_at: Timestamp::EPOCH,
            ..samples::account()
        },
    ] {
        given::insert_account(&store, &account).await.unwrap();
        assert_eq!(store.account(account.id).await.unwrap(), Some(account));
    }
}

pub(super) async fn a_new_account_uses_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    assert_eq!(store.usage(account).await.unwrap(), Some(Usage::default()));
}

pub(super) async fn the_usage_of_several_accounts_is_that_of_each(fresh: Fresh) {
    let (store, [plain, other, third]) = fresh.store_with_accounts().await;
    given::group(&store, plain).await;
    given::group(&store, third).await;
    given::group(&store, third).await;
    let mut found = store.usage_of_each(&[third, samples::id(), plain]).await.unwrap();
    found.sort_by_key(|(id, _)| *id != plain);
    let groups = |groups| Usage { groups, ..Usage::default() };
    assert_eq!(found, [(plain, groups(1)), (third, groups(2))]);
    assert_eq!(store.usage_of_each(&[]).await.unwrap(), []);
    assert_eq!(store.usage(other).await.unwrap(), Some(groups(0)));
}

pub(super) async fn missing_accounts_are_not_found(fresh: Fresh) {
    let store = fresh.store().await;
    given::account(&store).await;
    let unknown = samples::id();
    assert_eq!(store.account(unknown).await.unwrap(), None);
    assert_eq!(store.usage(unknown).await.unwrap(), None);
    assert_eq!(store.usage_of_each(&[unknown]).await.unwrap(), []);
    assert_eq!(store.keys(unknown).await.unwrap(), []);
}

pub(super) async fn accounts_are_found_by_their_ids(fresh: Fresh) {
    let store = fresh.store().await;
    let accounts = [(); 3].map(|()| samples::account());
    for account in &accounts {
        given::insert_account(&store, account).await.unwrap();
    }
    let [first, _, third] = accounts;
    let mut found = store.accounts_with_ids(&[third.id, samples::id(), first.id]).await.unwrap();
    found.sort_by_key(|account| account.id);
    let mut both = [first, third];
    both.sort_by_key(|account| account.id);
    assert_eq!(found, both);
    assert_eq!(store.accounts_with_ids(&[]).await.unwrap(), []);
}

pub(super) async fn email_addresses_are_unique_ignoring_case(fresh: Fresh) {
    let store = fresh.store().await;
    let account = |text: &str| Account { email: samples::email(text), ..samples::account() };
    given::insert_account(&store, &account("Ada@Example.com")).await.unwrap();
    given::insert_account(&store, &account("jürgen@example.com")).await.unwrap();
    for taken in ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM", "JÜRGEN@example.com"] {
        let refused = account(taken);
        let outcome = given::insert_account(&store, &refused).await;
        assert_eq!(outcome, Err(Decision::EmailTaken), "{taken}");
        assert_eq!(store.account(refused.id).await.unwrap(), None);
    }
    for free in ["ada@example.org", "jurgen@example.com", "ad%@example.com", "_da@example.com"] {
        given::insert_account(&store, &account(free)).await.unwrap();
    }
}

pub(super) async fn accounts_are_found_by_email_ignoring_case(fresh: Fresh) {
    let store = fresh.store().await;
    let account = |text: &str| Account { email: samples::email(text), ..samples::account() };
    let (ada, juergen) = (account("Ada@Example.com"), account("jürgen@example.com"));
    for account in [&ada, &juergen] {
        given::insert_account(&store, account).await.unwrap();
    }
    for (text, found) in [
        ("Ada@Example.com", Some(&ada)),
        ("ada@EXAMPLE.com", Some(&ada)),
        ("JÜRGEN@example.com", Some(&juergen)),
        ("jurgen@example.com", None),
        ("ad%@example.com", None),
        ("_da@example.com", None),
    ] {
        assert_eq!(store.account_with_email(&samples::email(text)).await.unwrap().as_ref(), found, "{text}");
    }
}

pub(super) async fn a_taken_email_address_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let first = samples::account();
    given::insert_account(&store, &first).await.unwrap();
    let second = samples::account();
    let outcome = unit!(&store, async |work| {
        let refused = Account { email: first.email.clone(), ..samples::account() };
        let refusal = work.insert_account(&refused).await;
        assert!(matches!(refusal, Err(WriteAccountError::EmailTaken)), "{refusal:?}");
        work.insert_account(&second).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.account(second.id).await.unwrap(), Some(second));
}

pub(super) async fn any_account_says_whether_accounts_exist(fresh: Fresh) {
    let store = fresh.store().await;
    let account = samples::account();
    let inserted = unit!(&store, async |work| {
        assert!(!work.any_account().await?);
        work.insert_account(&account).await?;
        assert!(work.any_account().await?);
        Ok(())
    });
    inserted.await.unwrap();
    let deleted = unit!(&store, async |work| {
        assert!(work.any_account().await?);
        assert!(work.delete_account(account.id).await?);
        assert!(!work.any_account().await?);
        Ok(())
    });
    deleted.await.unwrap();
}

/// The answer of `any_account` holds until the unit of work ends. So only one of several programs that start at once
/// creates the first account (D62).
pub(super) async fn d62_concurrent_starts_insert_one_first_account(fresh: Fresh) {
    let store = fresh.store().await;
    let inserted = at_once(20, |_| {
        let store = store.clone();
        async move {
            unit!(&store, async |work| {
                if work.any_account().await? {
                    return Ok(false);
                }
                tokio::task::yield_now().await;
                work.insert_account(&samples::account()).await?;
                Ok(true)
            })
            .await
            .unwrap()
        }
    });
    assert_eq!(inserted.await.into_iter().filter(|inserted| *inserted).count(), 1);
    assert_eq!(store.accounts(PageLimit::default(), None).await.unwrap().items.len(), 1);
}

pub(super) async fn setting_a_plan_changes_one_account(fresh: Fresh) {
    let store = fresh.store().await;
    let account = samples::account();
    given::insert_account(&store, &account).await.unwrap();
    let other = samples::account();
    given::insert_account(&store, &other).await.unwrap();
    let plan = samples::plan("free");
    let known = unit!(&store, async |work| {
        assert!(!work.set_plan(samples::id(), &plan).await?);
        Ok(work.set_plan(account.id, &plan).await?)
    });
    assert!(known.await.unwrap());
    assert_eq!(store.account(account.id).await.unwrap(), Some(Account { plan, ..account }));
    assert_eq!(store.account(other.id).await.unwrap(), Some(other));
}

pub(super) async fn suspending_again_keeps_the_first_instant_until_resumed(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let first = samples::at(1);
    for (since, expected) in [
        (None, None),
        (Some(first), Some(first)),
        (Some(samples::at(2)), Some(first)),
        (Some(samples::at(0)), Some(first)),
        (None, None),
        (Some(samples::at(3)), Some(samples::at(3))),
    ] {
        let known = unit!(&store, async |work| Ok(work.set_suspended(account, since).await?)).await;
        assert!(known.unwrap());
        assert_eq!(store.account(account).await.unwrap().unwrap().suspended_at, expected);
        assert_eq!(store.account(other).await.unwrap().unwrap().suspended_at, None);
    }
    for since in [None, Some(first)] {
        assert!(
            !unit!(&store, async |work| Ok(work.set_suspended(samples::id(), since).await?)).await.unwrap()
        );
    }
}

/// Deletes an account with all its data: keys, links, groups, domains, pixels, counts.
pub(super) async fn deleting_an_account_deletes_its_data(fresh: Fresh) {
    let store = fresh.store().await;
    let doomed = samples::account();
    given::insert_account(&store, &doomed).await.unwrap();
    let account = doomed.id;
    let (key, _) = given::key(&store, account).await;
    let group = given::group(&store, account).await;
    let resources = given::one_of_each_resource(&store, account).await;
    let pixel = given::pixel(&store, account).await;
    let domain = domain_steps::planned(&store, account, "doomed.example.net", checked_at(0)).await;
    let doomed_links = [("doomed", KINDS[1]), ("doomed-page", KINDS[0])]
        .map(|(slug, kind)| given::in_group(Some(group.id), kind, slug));
    given::links(&store, account, &doomed_links).await;
    for kind in KINDS {
        given::link(&store, account, samples::link_at(kind, samples::lost(Some("doomed")))).await;
    }
    let other = given::account(&store).await;
    let kept = given::link(&store, other, samples::redirect("kept")).await;
    let kept_resources = ResourceKind::ALL.map(|kind| kind.sample(other, "kept"));
    for resource in &kept_resources {
        given::resource(&store, other, resource).await;
    }

    let delete = async || unit!(&store, async |work| Ok(work.delete_account(account).await?)).await.unwrap();
    assert!(delete().await);
    assert!(!delete().await, "the account was deleted already");

    assert_eq!(store.account(account).await.unwrap(), None);
    assert_eq!(store.usage(account).await.unwrap(), None);
    assert_eq!(store.key_holder(&key.hash).await.unwrap(), None);
    assert_eq!(store.keys(account).await.unwrap(), []);
    for resource in &resources {
        assert_eq!(resource.stored(store.as_ref(), account).await, None);
    }
    for (kind, kept) in ResourceKind::ALL.into_iter().zip(&kept_resources) {
        assert_eq!(kind.list(store.as_ref(), account).await, []);
        assert_eq!(kind.list(store.as_ref(), other).await, std::slice::from_ref(kept));
    }
    assert_eq!(store.holder_of(&domain.hostname).await.unwrap(), None);
    assert_eq!(domain_steps::claim(&store, samples::at(0), samples::at(2), 10).await, []);
    assert_eq!(store.pixels_with_ids(account, &[pixel.id]).await.unwrap(), []);
    assert_eq!(stored::links(&store, account).await, []);
    let revoked = unit!(&store, async |work| Ok(work.revoke_key(key.id, samples::at(1)).await?)).await;
    assert_eq!(revoked.unwrap(), None);
    for link in &doomed_links {
        assert_eq!(stored::link(&store, account, link.id()).await, None);
        assert_eq!(stored::published(&store, &link.placement).await, None);
    }
    assert_eq!(stored::redirect(&store, other, kept.id).await, Some(kept));

    // The e-mail address, the links' addresses, the hostname, and the ids of resources are free.
    let connected = CustomDomain { account_id: other, ..domain };
    domain_steps::insert(&store, &connected, PLENTY).await.unwrap();
    for (kind, doomed) in ResourceKind::ALL.into_iter().zip(&resources) {
        given::resource(&store, other, &kind.sample(other, "again").with_id_of(doomed)).await;
    }
    given::insert_account(&store, &Account { id: samples::id(), ..doomed }).await.unwrap();
    for (slug, kind) in [("doomed", KINDS[0]), ("doomed-page", KINDS[1])] {
        given::link(&store, other, samples::link(kind, slug)).await;
    }
    assert_eq!(stored::links_count(&store, other).await, 3);
}

/// A request may have been admitted before its account was deleted. The unit of work stays usable.
pub(super) async fn nothing_is_inserted_for_a_missing_account(fresh: Fresh) {
    let (store, [account, deleted]) = fresh.store_with_accounts().await;
    assert!(unit!(&store, async |work| Ok(work.delete_account(deleted).await?)).await.unwrap());
    for missing in [deleted, samples::id()] {
        let links: Vec<Link> = KINDS
            .into_iter()
            .flat_map(|kind| {
                let grouped = given::in_group(Some(samples::id()), kind, "late");
                [samples::link(kind, "late"), samples::link_at(kind, samples::lost(None)), grouped]
            })
            .collect();
        let resources = ResourceKind::ALL.map(|kind| kind.sample(missing, "late"));
        let (key, _) = samples::key(missing);
        let outcome = unit!(&store, async |work| {
            for limit in [0, PLENTY] {
                for batch in links.chunks(1).chain([&links[..]]) {
                    let refusal = work.insert_links(missing, batch, limit).await;
                    assert!(matches!(refusal, Err(InsertLinksError::AccountMissing)), "{refusal:?}");
                }
                for resource in &resources {
                    let outcome = resource.insert(work, missing, limit).await.map_err(Decision::from);
                    assert_eq!(outcome, Err(Decision::AccountMissing), "{resource:?}");
                }
            }
            assert!(!work.insert_key(&key).await?);
            given::insert(work, account, &samples::redirect("late"), PLENTY).await
        });
        outcome.await.unwrap();
        for link in &links {
            assert_eq!(stored::link(&store, missing, link.id()).await, None);
        }
        for resource in &resources {
            assert_eq!(resource.stored(store.as_ref(), missing).await, None);
        }
        assert_eq!(store.key_holder(&key.hash).await.unwrap(), None);
        let all = given::ids(&stored::links(&store, account).await);
        assert_eq!(given::delete_links(&store, account, &all).await.len(), 1);
    }
}

pub(super) async fn accounts_are_listed_newest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let empty = store.accounts(given::limit(1), None).await.unwrap();
    assert_eq!((empty.items, empty.next), (vec![], None));

    let mut accounts: Vec<Account> = (0..7).map(|_| samples::account()).collect();
    for position in [3, 0, 6, 1, 5, 2, 4] {
        given::insert_account(&store, &accounts[position]).await.unwrap();
    }
    accounts.reverse();
    for items in [1, 2, 3, 6, 7, 8, 100] {
        let page = async |after| store.accounts(given::limit(items), after).await.unwrap();
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, accounts);
        assert_eq!(pages, 7_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    let after = PagePosition::behind(accounts[6].id.to_bytes());
    assert_eq!(store.accounts(given::limit(5), Some(after)).await.unwrap().items, []);
}

pub(super) async fn plans_in_use_are_counted(fresh: Fresh) {
    let store = fresh.store().await;
    assert_eq!(store.plans_in_use().await.unwrap(), []);
    for plan in ["team", "agency", "team", "old-plan_9", "team"] {
        let account = Account { plan: samples::plan(plan), ..samples::account() };
        given::insert_account(&store, &account).await.unwrap();
    }
    let mut expected = [("agency", 1), ("team", 3), ("old-plan_9", 1)]
        .into_iter()
        .map(|(plan, accounts)| (samples::plan(plan), accounts))
        .collect::<Vec<_>>();
    expected.sort_unstable();
    assert_eq!(store.plans_in_use().await.unwrap(), expected);
}
