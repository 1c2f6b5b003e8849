//! Users (D68).

use signpost_app::ports::WriteUserError;
use signpost_domain::analytics::TimeZone;
use signpost_domain::{
    DateLanguage, PagePosition, PasswordHash, Preferences, SealedSecret, SecondFactor, Theme, Timestamp,
    TotpStep, User,
};

use super::fixture::Fresh;
use super::given::{self, Decision, unit};
use super::people_steps::{self, insert_user, update_user};
use crate::run::at_once;
use crate::samples;

cases! {
    $ users
    a_user_reads_back_as_it_was_inserted
    missing_users_are_not_found
    user_email_addresses_are_unique_ignoring_case
    users_are_found_by_email_ignoring_case
    a_taken_user_email_address_leaves_the_unit_of_work_usable
    concurrent_users_share_no_email_address
    updating_a_user_replaces_all_but_id_and_creation
    concurrent_changes_of_a_user_lose_nothing
    users_are_listed_newest_first
    any_user_says_whether_users_exist
    d79_concurrent_first_starts_insert_one_first_user
    the_oldest_account_has_the_lowest_id
}

/// Users who together have every kind of value in every field.
fn all_kinds() -> Vec<User> {
    let mut users = vec![
        samples::user(),
        User { name: None, password: None, is_operator: true, ..samples::user() },
        User { disabled_at: Some(samples::at(1)), created_at: Timestamp::LAST, ..samples::user() },
        User { second_factor: Some(samples::second_factor()), ..samples::user() },
        User {
            second_factor: Some(SecondFactor {
                seed: SealedSecret(Vec::new()),
                last_step: TotpStep(300_000_000),
                recovery_codes: Vec::new(),
                set_up_at: Timestamp::LAST,
            }),
            ..samples::user()
        },
        User { disabled_at: Some(Timestamp::EPOCH), created_at: Timestamp::EPOCH, ..samples::user() },
        User {
            email: samples::email("O'Hara+\"y\";--@Example.COM"),
            name: Some(samples::name("\u{202e} zero\u{200b}width 👩\u{200d}👧 'quote' \"double\" \\ %_")),
            password: Some(PasswordHash::new("$".repeat(200))),
            ..samples::user()
        },
    ];
    for date_language in DateLanguage::ALL {
        for theme in Theme::ALL {
            let time_zone = TimeZone::parse("America/Argentina/ComodRivadavia").unwrap();
            let has_shortcuts = theme == Theme::Dark;
            let preferences = Preferences { time_zone, theme, date_language, has_shortcuts };
            users.push(User { preferences, ..samples::user() });
        }
    }
    users
}

pub(super) async fn a_user_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    for user in all_kinds() {
        insert_user(&store, &user).await.unwrap();
        assert_eq!(store.user(user.id).await.unwrap().as_ref(), Some(&user));
        assert_eq!(store.user_with_email(&user.email).await.unwrap().as_ref(), Some(&user));
        let locked = unit!(&store, async |work| Ok(work.lock_user(user.id).await?)).await.unwrap();
        assert_eq!(locked, Some(user));
    }
}

pub(super) async fn missing_users_are_not_found(fresh: Fresh) {
    let store = fresh.store().await;
    people_steps::user(&store).await;
    let unknown = samples::user();
    assert_eq!(store.user(unknown.id).await.unwrap(), None);
    assert_eq!(store.user_with_email(&unknown.email).await.unwrap(), None);
    assert_eq!(store.accounts_of(unknown.id).await.unwrap(), []);
    assert_eq!(store.sessions(unknown.id).await.unwrap(), []);
    assert_eq!(unit!(&store, async |work| Ok(work.lock_user(unknown.id).await?)).await.unwrap(), None);
}

pub(super) async fn user_email_addresses_are_unique_ignoring_case(fresh: Fresh) {
    let store = fresh.store().await;
    let user = |text: &str| User { email: samples::email(text), ..samples::user() };
    let (ada, juergen) = (user("Ada@Example.com"), user("jürgen@example.com"));
    for user in [&ada, &juergen] {
        insert_user(&store, user).await.unwrap();
    }
    let other = people_steps::user(&store).await;
    for taken in ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM", "JÜRGEN@example.com"] {
        let refused = user(taken);
        assert_eq!(insert_user(&store, &refused).await, Err(Decision::EmailTaken), "{taken}");
        assert_eq!(store.user(refused.id).await.unwrap(), None);
        let renamed = User { email: samples::email(taken), ..other.clone() };
        assert_eq!(update_user(&store, &renamed).await, Err(Decision::EmailTaken), "{taken}");
        assert_eq!(store.user(other.id).await.unwrap().as_ref(), Some(&other));
    }
    for free in ["ada@example.org", "jurgen@example.com", "ad%@example.com", "_da@example.com"] {
        insert_user(&store, &user(free)).await.unwrap();
    }
    // Its own address is free for a user, in any case.
    for own in ["ada@example.com", "ADA@example.com"] {
        let written = User { email: samples::email(own), ..ada.clone() };
        update_user(&store, &written).await.unwrap();
        assert_eq!(store.user(ada.id).await.unwrap(), Some(written));
    }
    // An account may have the same address.
    let account = signpost_domain::Account { email: ada.email.clone(), ..samples::account() };
    given::insert_account(&store, &account).await.unwrap();
}

pub(super) async fn users_are_found_by_email_ignoring_case(fresh: Fresh) {
    let store = fresh.store().await;
    let user = |text: &str| User { email: samples::email(text), ..samples::user() };
    let (ada, juergen) = (user("Ada@Example.com"), user("jürgen@example.com"));
    for user in [&ada, &juergen] {
        insert_user(&store, user).await.unwrap();
    }
    for (text, found) in [
        ("Ada@Example.com", Some(&ada)),
        ("ada@EXAMPLE.com", Some(&ada)),
        ("JÜRGEN@example.com", Some(&juergen)),
        ("jurgen@example.com", None),
        ("ad%@example.com", None),
        ("_da@example.com", None),
    ] {
        assert_eq!(store.user_with_email(&samples::email(text)).await.unwrap().as_ref(), found, "{text}");
    }
    // The former address is free.
    let moved = User { email: samples::email("ada@example.org"), ..ada.clone() };
    update_user(&store, &moved).await.unwrap();
    assert_eq!(store.user_with_email(&ada.email).await.unwrap(), None);
    assert_eq!(store.user_with_email(&moved.email).await.unwrap(), Some(moved));
    insert_user(&store, &user("ada@example.com")).await.unwrap();
}

pub(super) async fn a_taken_user_email_address_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let (first, other) = (people_steps::user(&store).await, people_steps::user(&store).await);
    let second = samples::user();
    let outcome = unit!(&store, async |work| {
        let refused = User { email: first.email.clone(), ..samples::user() };
        let refusal = work.insert_user(&refused).await;
        assert!(matches!(refusal, Err(WriteUserError::EmailTaken)), "{refusal:?}");
        work.lock_user(other.id).await?;
        let refusal = work.update_user(&User { email: first.email.clone(), ..other.clone() }).await;
        assert!(matches!(refusal, Err(WriteUserError::EmailTaken)), "{refusal:?}");
        work.insert_user(&second).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.user(second.id).await.unwrap(), Some(second));
    assert_eq!(store.user(other.id).await.unwrap(), Some(other));
}

/// Neither if all insert a user with it, nor if all change the address of theirs to it.
pub(super) async fn concurrent_users_share_no_email_address(fresh: Fresh) {
    let store = fresh.store().await;
    let inserted = at_once(12, |number| {
        let store = store.clone();
        let text = if number % 2 == 0 { "same@example.com" } else { "SAME@example.com" };
        async move { insert_user(&store, &User { email: samples::email(text), ..samples::user() }).await }
    });
    assert_eq!(given::successes(inserted.await, Decision::EmailTaken).len(), 1);
    let mut users = Vec::new();
    for _ in 0..12 {
        users.push(people_steps::user(&store).await);
    }
    let updated = at_once(12, |number| {
        let (store, user) = (store.clone(), users[usize::try_from(number).unwrap()].clone());
        let text = if number % 2 == 0 { "moved@example.com" } else { "MOVED@example.com" };
        async move { update_user(&store, &User { email: samples::email(text), ..user }).await }
    });
    assert_eq!(given::successes(updated.await, Decision::EmailTaken).len(), 1);
}

pub(super) async fn updating_a_user_replaces_all_but_id_and_creation(fresh: Fresh) {
    let store = fresh.store().await;
    let (user, other) = (people_steps::user(&store).await, people_steps::user(&store).await);
    let session = people_steps::session(&store, user.id).await;
    let mut kinds = all_kinds();
    // And back to the first.
    kinds.push(user.clone());
    for like in kinds {
        update_user(&store, &User { id: user.id, ..like.clone() }).await.unwrap();
        let expected = User { id: user.id, created_at: user.created_at, ..like };
        assert_eq!(store.user(user.id).await.unwrap(), Some(expected));
    }
    assert_eq!(store.user(other.id).await.unwrap(), Some(other));
    assert_eq!(store.sessions(user.id).await.unwrap(), [session]);
}

/// A locked user is not changed by others until the unit of work ends.
pub(super) async fn concurrent_changes_of_a_user_lose_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let user = User { name: None, ..samples::user() };
    insert_user(&store, &user).await.unwrap();
    let changed = at_once(12, |_| {
        let (store, id) = (store.clone(), user.id);
        async move {
            unit!(&store, async |work| {
                let user = work.lock_user(id).await?.unwrap();
                tokio::task::yield_now().await;
                let name = user.name.as_ref().map_or("", |name| name.as_str());
                let name = Some(samples::name(&format!("{name}x")));
                Ok(work.update_user(&User { name, ..user }).await?)
            })
            .await
        }
    });
    for outcome in changed.await {
        outcome.unwrap();
    }
    let expected = User { name: Some(samples::name(&"x".repeat(12))), ..user };
    assert_eq!(store.user(expected.id).await.unwrap(), Some(expected));
}

pub(super) async fn users_are_listed_newest_first(fresh: Fresh) {
    let store = fresh.store().await;
    let empty = store.users(given::limit(1), None).await.unwrap();
    assert_eq!((empty.items, empty.next), (vec![], None));
    let mut users: Vec<User> = (0..7).map(|_| samples::user()).collect();
    for position in [3, 0, 6, 1, 5, 2, 4] {
        insert_user(&store, &users[position]).await.unwrap();
    }
    users.reverse();
    for items in [1, 2, 3, 6, 7, 8, 100] {
        let page = async |after| store.users(given::limit(items), after).await.unwrap();
        let (walked, pages) = given::walk(page).await;
        assert_eq!(walked, users);
        assert_eq!(pages, 7_usize.div_ceil(usize::try_from(items).unwrap()));
    }
    let after = PagePosition::behind(users[6].id.to_bytes());
    assert_eq!(store.users(given::limit(5), Some(after)).await.unwrap().items, []);
}

pub(super) async fn any_user_says_whether_users_exist(fresh: Fresh) {
    let store = fresh.store().await;
    given::account(&store).await;
    assert!(!store.any_user().await.unwrap());
    let inserted = unit!(&store, async |work| {
        assert!(!work.lock_first_user().await?);
        work.insert_user(&samples::user()).await?;
        assert!(work.lock_first_user().await?);
        Ok(())
    });
    inserted.await.unwrap();
    assert!(store.any_user().await.unwrap());
    assert!(unit!(&store, async |work| Ok(work.lock_first_user().await?)).await.unwrap());
}

/// The answer of `lock_first_user` holds until the unit of work ends. So only one of several people who open the first link at
/// once becomes the first user (D79).
pub(super) async fn d79_concurrent_first_starts_insert_one_first_user(fresh: Fresh) {
    let store = fresh.store().await;
    let inserted = at_once(20, |_| {
        let store = store.clone();
        async move {
            unit!(&store, async |work| {
                if work.lock_first_user().await? {
                    return Ok(false);
                }
                tokio::task::yield_now().await;
                work.insert_user(&samples::user()).await?;
                Ok(true)
            })
            .await
            .unwrap()
        }
    });
    assert_eq!(inserted.await.into_iter().filter(|inserted| *inserted).count(), 1);
    assert_eq!(store.users(given::limit(100), None).await.unwrap().items.len(), 1);
}

pub(super) async fn the_oldest_account_has_the_lowest_id(fresh: Fresh) {
    let store = fresh.store().await;
    let oldest = async || unit!(&store, async |work| Ok(work.oldest_account().await?)).await.unwrap();
    assert_eq!(oldest().await, None);
    let accounts = [(); 3].map(|()| samples::account());
    for position in [1, 0, 2] {
        given::insert_account(&store, &accounts[position]).await.unwrap();
    }
    assert_eq!(oldest().await, Some(accounts[0].id));
    people_steps::delete_account(&store, accounts[0].id).await;
    assert_eq!(oldest().await, Some(accounts[1].id));
}
