//! API keys and their accounts.

use signpost_app::ports::KeyHolder;
use signpost_domain::{
    ApiKey, ApiKeySecret, KeyHash, LinkId, LinkKind, Permission, PermissionSet, Timestamp, Usage,
};

use super::fixture::Fresh;
use super::given::{self, unit};
use crate::run::at_once;
use crate::samples;

cases! {
    $ keys
    a_key_reads_back_as_it_was_inserted
    a_hash_finds_its_key_and_account
    a_hash_finds_only_links_of_its_account
    an_unknown_hash_finds_nothing
    a_hash_finds_the_account_as_it_is_now
    revoking_again_keeps_the_first_instant
    uses_of_keys_only_move_forward
    concurrent_uses_of_keys_keep_the_latest
    keys_of_an_account_are_listed_newest_first
}

pub(super) async fn a_key_reads_back_as_it_was_inserted(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for change in [
        |key| key,
        |key| ApiKey { name: Some(samples::name(&"ß".repeat(100))), created_at: Timestamp::LAST, ..key },
        |key| ApiKey { revoked_at: Some(Timestamp::EPOCH), created_at: Timestamp::EPOCH, ..key },
        // A user that does not exist: keys outlive users.
        |key| ApiKey { created_by: Some(samples::id()), last_used_at: Some(Timestamp::EPOCH), ..key },
        |key| ApiKey { last_used_at: Some(samples::at(1)), expires_at: Some(Timestamp::LAST), ..key },
        |key| ApiKey { scopes: Some(PermissionSet::default()), ..key },
        |key| ApiKey { scopes: Some(PermissionSet::SCOPES), ..key },
        |key| ApiKey { scopes: Some(PermissionSet::from_iter([Permission::ReadAnalytics])), ..key },
    ] {
        let key = change(samples::key(account).0);
        assert!(given::insert_key(&store, &key).await);
        assert_eq!(store.keys(account).await.unwrap().first(), Some(&key));
        assert_eq!(store.key_holder(&key.hash).await.unwrap().unwrap().key, key);
    }
}

/// The key with this hash and its account, with the account's usage of what plans limit.
pub(super) async fn a_hash_finds_its_key_and_account(fresh: Fresh) {
    let store = fresh.store().await;
    let account = samples::account();
    given::insert_account(&store, &account).await.unwrap();
    let (key, secret) = given::key(&store, account.id).await;
    let (second, _) = given::key(&store, account.id).await;
    let other = given::account(&store).await;
    given::key(&store, other).await;

    let holder = |key: &ApiKey, usage| KeyHolder { key: key.clone(), account: account.clone(), usage };
    let found = store.key_holder(&secret.hash()).await.unwrap();
    assert_eq!(found, Some(holder(&key, Usage::default())));

    let group = given::group(&store, account.id).await;
    given::group(&store, account.id).await;
    for (slug, kind) in [("a", LinkKind::Redirect), ("b", LinkKind::Landing), ("c", LinkKind::Redirect)] {
        given::link(&store, account.id, given::in_group(Some(group.id), kind, slug)).await;
    }
    given::pixel(&store, account.id).await;
    given::pixel(&store, other).await;
    let usage = Usage { links: 3, groups: 2, pixels: 1, ..Usage::default() };
    assert_eq!(store.usage(account.id).await.unwrap(), Some(usage));
    assert_eq!(store.key_holder(&key.hash).await.unwrap(), Some(holder(&key, usage)));
    assert_eq!(store.key_holder(&second.hash).await.unwrap(), Some(holder(&second, usage)));
}

pub(super) async fn a_hash_finds_only_links_of_its_account(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, _) = given::key(&store, account).await;
    let other = given::account(&store).await;
    let (others_key, _) = given::key(&store, other).await;
    let unknown = ApiKeySecret::from_random([9; 32]).hash();
    for (kind, slug) in [(LinkKind::Redirect, "a"), (LinkKind::Landing, "b")] {
        let link = given::link(&store, account, samples::link(kind, slug)).await;
        let holder = store.key_holder(&key.hash).await.unwrap();
        let found = store.key_holder_with_link(&key.hash, link.id()).await.unwrap();
        assert_eq!(found, (holder.clone(), Some(link.clone())));
        let absent = match kind {
            LinkKind::Redirect => LinkId::Redirect(samples::id()),
            LinkKind::Landing => LinkId::Landing(samples::id()),
        };
        assert_eq!(store.key_holder_with_link(&key.hash, absent).await.unwrap(), (holder, None));
        let stranger = store.key_holder(&others_key.hash).await.unwrap();
        assert_eq!(store.key_holder_with_link(&others_key.hash, link.id()).await.unwrap(), (stranger, None));
        assert_eq!(store.key_holder_with_link(&unknown, link.id()).await.unwrap(), (None, None));
    }
}

pub(super) async fn an_unknown_hash_finds_nothing(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, _) = given::key(&store, account).await;
    let mut near = key.hash.to_bytes();
    near[31] ^= 1;
    for hash in [
        KeyHash::from_bytes(near),
        KeyHash::from_bytes([0; 32]),
        KeyHash::from_bytes([0xff; 32]),
        ApiKeySecret::from_random([9; 32]).hash(),
    ] {
        assert_eq!(store.key_holder(&hash).await.unwrap(), None);
    }
}

/// Every read returns the current account, so a downgrade or a suspension takes effect at once (contract,
/// Authentication 6 and 7).
pub(super) async fn a_hash_finds_the_account_as_it_is_now(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, _) = given::key(&store, account).await;
    let changed = unit!(&store, async |work| {
        work.set_plan(account, &samples::plan("free")).await?;
        work.set_suspended(account, Some(samples::at(5))).await?;
        Ok(())
    });
    changed.await.unwrap();
    let holder = store.key_holder(&key.hash).await.unwrap().unwrap();
    assert_eq!(holder.account.plan, samples::plan("free"));
    assert_eq!(holder.account.suspended_at, Some(samples::at(5)));
}

pub(super) async fn revoking_again_keeps_the_first_instant(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let (key, _) = given::key(&store, account).await;
    let (other, _) = given::key(&store, account).await;
    for at in [samples::at(10), samples::at(20), samples::at(0)] {
        let returned = unit!(&store, async |work| Ok(work.revoke_key(key.id, at).await?)).await.unwrap();
        let revoked = ApiKey { revoked_at: Some(samples::at(10)), ..key.clone() };
        assert_eq!(returned.as_ref(), Some(&revoked));
        assert_eq!(store.key_holder(&key.hash).await.unwrap().unwrap().key, revoked);
        assert_eq!(store.keys(account).await.unwrap(), [other.clone(), revoked]);
    }
    assert_eq!(store.key_holder(&other.hash).await.unwrap().unwrap().key.revoked_at, None);
    let unknown = unit!(&store, async |work| Ok(work.revoke_key(samples::id(), samples::at(1)).await?));
    assert_eq!(unknown.await.unwrap(), None);
}

pub(super) async fn keys_of_an_account_are_listed_newest_first(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut keys: Vec<ApiKey> = (0..30).map(|_| samples::key(account).0).collect();
    keys[4].revoked_at = Some(samples::at(1));
    given::key(&store, other).await;
    let inserted = unit!(&store, async |work| {
        for position in (0..keys.len()).map(|number| number * 7 % keys.len()) {
            assert!(work.insert_key(&keys[position]).await?);
        }
        Ok(())
    });
    inserted.await.unwrap();
    keys.reverse();
    assert_eq!(store.keys(account).await.unwrap(), keys);
}

/// Of several uses the latest counts, in whichever order nodes note them.
pub(super) async fn uses_of_keys_only_move_forward(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let (first, _) = given::key(&store, account).await;
    let (second, _) = given::key(&store, other).await;
    let (unused, _) = given::key(&store, account).await;
    store.note_key_uses(&[]).await.unwrap();
    let both = |first_at, second_at| [(first.id, samples::at(first_at)), (second.id, samples::at(second_at))];
    for (uses, expected) in [
        (both(5, 5).to_vec(), [5, 5]),
        (both(9, 3).to_vec(), [9, 5]),
        ([both(10, 7), both(30, 6), both(20, 2)].concat(), [30, 7]),
        (vec![(samples::id(), samples::at(99)), (first.id, samples::at(31))], [31, 7]),
        (vec![(samples::id(), samples::at(99))], [31, 7]),
    ] {
        store.note_key_uses(&uses).await.unwrap();
        for (key, at) in [&first, &second].into_iter().zip(expected) {
            let expected = ApiKey { last_used_at: Some(samples::at(at)), ..key.clone() };
            assert_eq!(store.key_holder(&key.hash).await.unwrap().unwrap().key, expected, "{uses:?}");
        }
    }
    assert_eq!(store.key_holder(&unused.hash).await.unwrap().unwrap().key, unused);
}

/// However nodes order the keys that they note.
pub(super) async fn concurrent_uses_of_keys_keep_the_latest(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let mut keys = Vec::new();
    for _ in 0..8 {
        keys.push(given::key(&store, account).await.0);
    }
    at_once(12, |number| {
        let store = store.clone();
        let mut uses: Vec<_> =
            keys.iter().map(|key| (key.id, samples::at(i64::try_from(number * 5 % 12).unwrap()))).collect();
        uses.rotate_left(usize::try_from(number).unwrap() % 8);
        async move { store.note_key_uses(&uses).await.unwrap() }
    })
    .await;
    for key in store.keys(account).await.unwrap() {
        assert_eq!(key.last_used_at, Some(samples::at(11)));
    }
}
