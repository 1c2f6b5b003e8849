//! The limit on links of an account (D15).

use signpost_domain::{Landing, Redirect};

use super::fixture::Fresh;
use super::given::{self, Decision, KINDS};
use super::stored;
use crate::samples;

cases! {
    $ link_limits
    d15_links_never_exceed_the_limit
    every_link_counts_once
}

/// Landing pages and redirects count together.
pub(super) async fn d15_links_never_exceed_the_limit(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    for kind in KINDS {
        let other_kind = given::other(kind);
        let insert = async |kind, slug: &str, limit| {
            let link = samples::link(kind, slug);
            (given::insert_link(&store, account, &link, limit).await, link)
        };
        assert_eq!(insert(kind, "a", 0).await.0, Err(Decision::LimitReached));
        let (outcome, first) = insert(kind, "a", 2).await;
        assert_eq!(outcome, Ok(()));
        assert_eq!(insert(other_kind, "b", 2).await.0, Ok(()));
        for refused_kind in KINDS {
            let (outcome, refused) = insert(refused_kind, "c", 2).await;
            assert_eq!(outcome, Err(Decision::LimitReached));
            assert_eq!(stored::link(&store, account, refused.id()).await, None);
            let outcome = insert(refused_kind, "c", 1).await.0;
            assert_eq!(outcome, Err(Decision::LimitReached), "the limit is below the count");
        }
        assert_eq!(stored::links_count(&store, account).await, 2);
        // The other account has its own count.
        let others = samples::link(kind, "other");
        given::insert_link(&store, other, &others, 1).await.unwrap();
        assert_eq!(
            given::insert_link(&store, other, &samples::link(kind, "c"), 1).await,
            Err(Decision::LimitReached)
        );
        // A deletion makes room for one link of either kind.
        assert!(given::delete_link(&store, account, first.id()).await);
        assert_eq!(insert(other_kind, "c", 2).await.0, Ok(()));
        assert_eq!(insert(kind, "d", 2).await.0, Err(Decision::LimitReached));
        assert_eq!(insert(kind, "d", u64::MAX).await.0, Ok(()));
        assert_eq!(stored::links_count(&store, account).await, 3);
        assert_eq!(stored::links_count(&store, other).await, 1);

        let all = given::ids(&stored::links(&store, account).await);
        assert_eq!(given::delete_links(&store, account, &all).await.len(), 3);
        assert!(given::delete_link(&store, other, others.id()).await);
    }
}

/// Lost and inactive links count like all others; updates do not count.
pub(super) async fn every_link_counts_once(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let redirects = [
        samples::redirect_at(samples::lost(None)),
        samples::redirect_at(samples::on_custom("a.example.net", None)),
        Redirect { is_active: false, ..samples::redirect("inactive") },
    ];
    let landings = [
        samples::landing_at(samples::lost(None)),
        samples::landing_at(samples::on_custom("b.example.net", None)),
        Landing { is_active: false, ..samples::landing("inactive-page") },
    ];
    for (redirect, landing) in redirects.iter().zip(&landings) {
        given::insert_link(&store, account, redirect, 6).await.unwrap();
        given::insert_link(&store, account, landing, 6).await.unwrap();
    }
    for (redirect, landing) in redirects.into_iter().zip(landings) {
        let after = Redirect { name: samples::name("Renamed"), ..redirect };
        given::update_link(&store, account, &after).await.unwrap();
        let after = Landing { name: samples::name("Renamed"), ..landing };
        given::update_link(&store, account, &after).await.unwrap();
    }
    assert_eq!(stored::links_count(&store, account).await, 6);
    for kind in KINDS {
        let late = given::insert_link(&store, account, &samples::link(kind, "late"), 6).await;
        assert_eq!(late, Err(Decision::LimitReached));
    }
}
