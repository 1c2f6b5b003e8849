//! What owners set for their account (D69).

use signpost_app::ports::WriteAccountError;
use signpost_domain::Account;

use super::fixture::Fresh;
use super::given::unit;
use crate::run::at_once;
use crate::samples;

cases! {
    $ account_settings
    renaming_changes_one_account
    a_renamed_account_takes_no_address_of_another
    requiring_a_second_factor_changes_one_account
}

pub(super) async fn renaming_changes_one_account(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let before = store.account(account).await.unwrap().unwrap();
    let others = store.account(other).await.unwrap();
    let email = samples::email("Office@Example.org");
    for name in [Some(samples::name("Office")), None] {
        let renamed = unit!(&store, async |work| {
            assert!(!work.rename_account(samples::id(), &samples::email("x@example.org"), None).await?);
            Ok(work.rename_account(account, &email, name.as_ref()).await?)
        });
        assert!(renamed.await.unwrap());
        let expected = Account { email: email.clone(), name, ..before.clone() };
        assert_eq!(store.account(account).await.unwrap().as_ref(), Some(&expected));
        assert_eq!(store.account_with_email(&email).await.unwrap(), Some(expected));
    }
    assert_eq!(store.account_with_email(&before.email).await.unwrap(), None);
    assert_eq!(store.account(other).await.unwrap(), others);
}

pub(super) async fn a_renamed_account_takes_no_address_of_another(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let before = store.account(account).await.unwrap().unwrap();
    let taken = store.account(other).await.unwrap().unwrap().email;
    let outcome = unit!(&store, async |work| {
        let shouted = samples::email(&taken.as_str().to_uppercase());
        let refusal = work.rename_account(account, &shouted, None).await;
        assert!(matches!(refusal, Err(WriteAccountError::EmailTaken)), "{refusal:?}");
        // The own address is free, also in other letters, and the unit of work goes on.
        let own = samples::email(&before.email.as_str().to_uppercase());
        Ok(work.rename_account(account, &own, None).await?)
    });
    assert!(outcome.await.unwrap());
    let renamed = at_once(8, |position| {
        let store = store.clone();
        let account = if position % 2 == 0 { account } else { other };
        async move {
            let email = samples::email("one@example.org");
            unit!(&store, async |work| Ok(work.rename_account(account, &email, None).await?)).await
        }
    });
    let outcomes = renamed.await;
    let refused = outcomes.iter().filter(|outcome| outcome.is_err()).count();
    assert_eq!(refused, 4, "{outcomes:?}");
}

pub(super) async fn requiring_a_second_factor_changes_one_account(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let before = store.account(account).await.unwrap().unwrap();
    for requires_second_factor in [true, true, false] {
        let changed = unit!(&store, async |work| {
            assert!(!work.require_second_factor(samples::id(), true).await?);
            Ok(work.require_second_factor(account, requires_second_factor).await?)
        });
        assert!(changed.await.unwrap());
        let expected = Account { requires_second_factor, ..before.clone() };
        assert_eq!(store.account(account).await.unwrap(), Some(expected));
        assert!(!store.account(other).await.unwrap().unwrap().requires_second_factor);
    }
}
