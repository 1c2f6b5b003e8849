//! Sealing secrets again under another key (D192).

use signpost_app::ports::{ServedCertificate, StoredAuthorityAccount, StoredCertificate};
use signpost_domain::{SecondFactor, User};

use super::certificate_steps::{again, row, secret, serving, want};
use super::fixture::Fresh;
use super::people_steps::insert_user;
use crate::samples;

cases! {
    $ sealed_secrets
    d192_the_key_of_a_certificate_is_sealed_again_once
    d192_the_accounts_of_all_authorities_are_sealed_again
    d192_the_seed_of_a_second_factor_is_sealed_again_once
}

/// Only the form of the key changes, and only while it is the expected one.
pub(super) async fn d192_the_key_of_a_certificate_is_sealed_again_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let before = serving(&store, account, "a.example.net").await;
    let other = serving(&store, account, "b.example.net").await;
    want(&store, account, "c.example.net", 1).await;
    let reseal = async |host: &str, from, to| {
        let hostname = samples::hostname(host);
        again!(store.reseal_certificate(&hostname, &secret(from), &secret(to)))
    };
    // Another form; the form of the running order; no certificate; no row.
    for (host, from) in
        [("a.example.net", 8), ("a.example.net", 1), ("c.example.net", 7), ("d.example.net", 7)]
    {
        assert!(!reseal(host, from, 9).await, "{host} {from}");
    }
    assert!(reseal("a.example.net", 7, 9).await);
    assert!(!reseal("a.example.net", 7, 10).await);
    let served = before.served.clone().map(|served| ServedCertificate { key: secret(9), ..served });
    assert_eq!(row(&store, "a.example.net").await, Some(StoredCertificate { served, ..before }));
    assert_eq!(row(&store, "b.example.net").await, Some(other));
}

pub(super) async fn d192_the_accounts_of_all_authorities_are_sealed_again(fresh: Fresh) {
    let (store, []) = fresh.store_with_accounts().await;
    assert_eq!(store.authority_accounts().await.unwrap(), []);
    let account = |number: u8, form: u8| StoredAuthorityAccount {
        uri: format!("https://acme.example/account/{number}"),
        credentials: secret(form),
    };
    let directory = |number: u8| format!("https://acme.example/directory/{number}");
    for number in 1..=3 {
        again!(store.keep_authority_account(&directory(number), &account(number, 7)));
    }
    // An authority to which the installation has no account any more.
    again!(store.forget_authority_account(&directory(3), &account(3, 7).uri));
    let reseal =
        async |number, from, to| again!(store.reseal_account(&directory(number), &secret(from), &secret(to)));
    for (number, from) in [(1, 8), (3, 7), (4, 7)] {
        assert!(!reseal(number, from, 9).await, "{number} {from}");
    }
    assert!(reseal(2, 7, 9).await);
    assert!(!reseal(2, 7, 10).await);
    let expected = [(directory(1), account(1, 7)), (directory(2), account(2, 9))];
    assert_eq!(store.authority_accounts().await.unwrap(), expected);
}

pub(super) async fn d192_the_seed_of_a_second_factor_is_sealed_again_once(fresh: Fresh) {
    let store = fresh.store().await;
    let factor = SecondFactor { seed: secret(7), ..samples::second_factor() };
    let user = User { second_factor: Some(factor.clone()), ..samples::user() };
    let other = User { second_factor: Some(factor.clone()), ..samples::user() };
    let plain = samples::user();
    for user in [&user, &other, &plain] {
        insert_user(&store, user).await.unwrap();
    }
    let reseal = async |user, from, to| again!(store.reseal_second_factor(user, &secret(from), &secret(to)));
    for (user, from) in [(user.id, 8), (plain.id, 7), (samples::id(), 7)] {
        assert!(!reseal(user, from, 9).await, "{from}");
    }
    assert!(reseal(user.id, 7, 9).await);
    assert!(!reseal(user.id, 7, 10).await);
    let resealed = User { second_factor: Some(SecondFactor { seed: secret(9), ..factor }), ..user };
    for user in [resealed, other, plain] {
        assert_eq!(store.user(user.id).await.unwrap(), Some(user));
    }
}
