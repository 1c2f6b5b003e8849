//! How many links an account may have (D15), and which decision comes first.

use signpost_app::ports::InsertRedirectError;
use signpost_domain::Redirect;

use super::fixture::Fresh;
use super::given::{self, Decision, unit};
use crate::samples;

pub(super) async fn the_limit_on_links_is_kept(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let insert = async |slug: &str, limit| {
        let link = samples::redirect(slug);
        (given::insert_redirect(&store, account, &link, limit).await, link)
    };
    assert_eq!(insert("a", 0).await.0, Err(Decision::LimitReached));
    let (outcome, first) = insert("a", 2).await;
    assert_eq!(outcome, Ok(()));
    assert_eq!(insert("b", 2).await.0, Ok(()));
    let (outcome, refused) = insert("c", 2).await;
    assert_eq!(outcome, Err(Decision::LimitReached));
    assert_eq!(store.redirect(account, refused.id).await.unwrap(), None);
    assert_eq!(insert("c", 1).await.0, Err(Decision::LimitReached), "the plan allows fewer than there are");
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 2);
    // The other account has its own count.
    given::insert_redirect(&store, other, &samples::redirect("other"), 1).await.unwrap();
    // A deletion makes room for one.
    assert!(given::delete_redirect(&store, account, &first).await);
    assert_eq!(insert("c", 2).await.0, Ok(()));
    assert_eq!(insert("d", 2).await.0, Err(Decision::LimitReached));
    assert_eq!(insert("d", u64::MAX).await.0, Ok(()));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 3);
    assert_eq!(store.usage(other).await.unwrap().unwrap().links, 1);
}

/// Lost and inactive links count as every other; an update is no creation.
pub(super) async fn every_link_counts_once(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let links = [
        samples::redirect_at(samples::lost(None)),
        samples::redirect_at(samples::on_custom("a.example.net", None)),
        Redirect { is_active: false, ..samples::redirect("inactive") },
    ];
    for link in &links {
        given::insert_redirect(&store, account, link, 3).await.unwrap();
    }
    for link in &links {
        let after = Redirect { name: samples::name("Renamed"), ..link.clone() };
        given::update_redirect(&store, account, &after).await.unwrap();
    }
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 3);
    let late = given::insert_redirect(&store, account, &samples::redirect("late"), 3).await;
    assert_eq!(late, Err(Decision::LimitReached));
}

/// The first of `GroupMissing`, `LimitReached`, `AddressTaken`.
pub(super) async fn decisions_come_in_their_order(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    given::redirect(&store, account, samples::redirect("taken")).await;
    for (no_group, at_limit, is_taken) in
        [(true, true, true), (true, true, false), (true, false, true), (true, false, false)]
            .into_iter()
            .chain([(false, true, true), (false, true, false), (false, false, true)])
    {
        let link = Redirect {
            group_id: no_group.then(samples::id),
            ..samples::redirect(if is_taken { "taken" } else { "free" })
        };
        let outcome =
            given::insert_redirect(&store, account, &link, if at_limit { 1 } else { given::PLENTY }).await;
        let expected = match (no_group, at_limit) {
            (true, _) => Decision::GroupMissing,
            (false, true) => Decision::LimitReached,
            (false, false) => Decision::AddressTaken,
        };
        assert_eq!(outcome, Err(expected));
        assert_eq!(store.redirect(account, link.id).await.unwrap(), None);
        assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
    }
}

pub(super) async fn a_refused_redirect_leaves_the_unit_of_work_usable(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let first = given::redirect(&store, account, samples::redirect("first")).await;
    let second = samples::redirect("second");
    let outcome = unit!(&store, async |work| {
        for _ in 0..3 {
            let refusal = work.insert_redirect(account, &second, 1).await;
            assert!(matches!(refusal, Err(InsertRedirectError::LimitReached)), "{refusal:?}");
            let missing = Redirect { group_id: Some(samples::id()), ..second.clone() };
            let refusal = work.insert_redirect(account, &missing, 5).await;
            assert!(matches!(refusal, Err(InsertRedirectError::GroupMissing)), "{refusal:?}");
        }
        assert!(work.delete_redirect(account, first.id).await?);
        work.insert_redirect(account, &second, 1).await?;
        Ok(())
    });
    outcome.await.unwrap();
    assert_eq!(store.redirect(account, second.id).await.unwrap(), Some(second));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
}

/// A group must be one of the account's own.
pub(super) async fn a_group_of_another_account_is_missing(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let foreign = given::group(&store, other).await;
    let link = Redirect { group_id: Some(foreign.id), ..samples::redirect("link") };
    let outcome = given::insert_redirect(&store, account, &link, given::PLENTY).await;
    assert_eq!(outcome, Err(Decision::GroupMissing));
    assert_eq!(store.group(other, foreign.id).await.unwrap(), Some(foreign));
}
