//! Redirects: every field, updating, deleting.

use signpost_domain::{CountryCode, GeoBlocklist, LinkFilter, PageLimit, Placement, Redirect, Timestamp};

use super::fixture::Fresh;
use super::given::{self, Decision, unit};
use crate::samples;

/// Redirects that between them have every kind of value in every field, and the greatest lengths.
fn one_of_each() -> Vec<Redirect> {
    let longest_host = format!("{0}.{0}.{0}.{1}", "a".repeat(63), "b".repeat(61));
    let longest_target = format!("https://bücher.example/{}", "ä".repeat(2048 - 23));
    let all_countries = GeoBlocklist::new(CountryCode::all().collect());
    let [de, at] = ["DE", "AT"].map(|code| CountryCode::parse(code).unwrap());
    let odd_notes = [
        "",
        "   ",
        " first\r\nsecond\n\ttabbed ",
        "'single' \"double\" `back` \\ ; -- /* */ %_ {} $1 ?",
        "\u{1}\u{7f}\u{85}\u{2028}\u{feff}\u{fffd}\u{10ffff}",
        "e\u{301} é ﷺ 👩\u{200d}👩\u{200d}👧\u{200d}👦 \u{202e}right to left\u{202c} \u{200b}",
        "null",
    ];
    let mut redirects = vec![
        samples::redirect("plain"),
        samples::redirect_at(samples::on_custom("links.example.net", Some("slug"))),
        samples::redirect_at(samples::on_custom("links.example.net", None)),
        samples::redirect_at(samples::on_custom(&longest_host, Some(&"Z".repeat(64)))),
        samples::redirect_at(samples::lost(Some("lost"))),
        samples::redirect_at(samples::lost(None)),
        Redirect { is_active: false, ..samples::redirect("inactive") },
        Redirect { antibot_enabled: true, ..samples::redirect("antibot") },
        Redirect { analytics_enabled: false, ..samples::redirect("uncounted") },
        Redirect { geo_blocklist: GeoBlocklist::new(vec![de, at]), ..samples::redirect("de-at") },
        Redirect { geo_blocklist: GeoBlocklist::new(vec![at, de]), ..samples::redirect("at-de") },
        Redirect { geo_blocklist: all_countries, ..samples::redirect("all-countries") },
        Redirect { name: samples::name(&"𝄞".repeat(100)), ..samples::redirect("long-name") },
        Redirect { note: Some(samples::note(&"𝄞".repeat(256))), ..samples::redirect("long-note") },
        Redirect { target_url: samples::target(&longest_target), ..samples::redirect("long-target") },
        Redirect {
            target_url: samples::target("HTTP://EXAMPLE.com:80/%7e?q=ü#ü"),
            ..samples::redirect("odd")
        },
        Redirect { created_at: Timestamp::EPOCH, updated_at: Timestamp::EPOCH, ..samples::redirect("first") },
        Redirect { created_at: Timestamp::LAST, updated_at: Timestamp::LAST, ..samples::redirect("last") },
        Redirect { updated_at: samples::at(1), ..samples::redirect("a-millisecond-later") },
        samples::redirect(&"x".repeat(64)),
    ];
    redirects.extend(odd_notes.iter().enumerate().map(|(number, text)| Redirect {
        note: Some(samples::note(text)),
        ..samples::redirect(&format!("note-{number}"))
    }));
    redirects
}

/// Every field reads back, through each way of reading, timestamps to the millisecond (D3), texts unchanged
/// (D24, D25).
pub(super) async fn a_redirect_reads_back_as_it_was_inserted(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await;
    let mut redirects = one_of_each();
    redirects.push(Redirect { group_id: Some(group.id), ..samples::redirect("grouped") });
    given::redirects(&store, account, &redirects).await;
    for redirect in &redirects {
        assert_eq!(store.redirect(account, redirect.id).await.unwrap().as_ref(), Some(redirect));
        let locked = unit!(&store, async |work| Ok(work.lock_redirect(account, redirect.id).await?)).await;
        assert_eq!(locked.unwrap().as_ref(), Some(redirect));
    }
    redirects.reverse();
    let page = store.redirects(account, &LinkFilter::default(), given::limit(100), None).await.unwrap();
    assert_eq!((page.items, page.next), (redirects, None));
}

pub(super) async fn an_unknown_redirect_is_none(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    given::redirect(&store, account, samples::redirect("known")).await;
    let unknown = samples::id();
    assert_eq!(store.redirect(account, unknown).await.unwrap(), None);
    let (locked, deleted) = unit!(&store, async |work| {
        Ok((work.lock_redirect(account, unknown).await?, work.delete_redirect(account, unknown).await?))
    })
    .await
    .unwrap();
    assert_eq!((locked, deleted), (None, false));
}

/// One redirect is written over with each kind of value in turn.
pub(super) async fn an_update_writes_every_field(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let group = given::group(&store, account).await;
    let bystander = given::redirect(&store, account, samples::redirect("bystander")).await;
    let start = given::redirect(&store, account, samples::redirect("start")).await;
    for (number, value) in one_of_each().into_iter().enumerate() {
        let group_id = (number % 2 == 0).then_some(group.id);
        // A redirect's id, its creation and whether it is counted never change (D28).
        let after = Redirect {
            id: start.id,
            created_at: start.created_at,
            analytics_enabled: start.analytics_enabled,
            group_id,
            ..value
        };
        given::update_redirect(&store, account, &after).await.unwrap();
        assert_eq!(store.redirect(account, start.id).await.unwrap(), Some(after));
    }
    assert_eq!(store.redirect(account, bystander.id).await.unwrap(), Some(bystander));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 2);
}

/// The store reports `GroupMissing` for a group that is not there or not the account's, and changes nothing.
pub(super) async fn an_update_into_a_missing_group_changes_nothing(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let foreign = given::group(&store, other).await;
    let mine = given::group(&store, account).await;
    given::redirect(&store, account, samples::redirect("taken")).await;
    let before = Redirect { group_id: Some(mine.id), ..samples::redirect("mine") };
    let before = given::redirect(&store, account, before).await;
    for group in [samples::id(), foreign.id] {
        for placement in [samples::on_system("free"), samples::on_system("taken")] {
            let after = Redirect { group_id: Some(group), placement, ..before.clone() };
            let outcome = given::update_redirect(&store, account, &after).await;
            // Where the address is taken too, it reports the group.
            assert_eq!(outcome, Err(Decision::GroupMissing));
            assert_eq!(store.redirect(account, before.id).await.unwrap().as_ref(), Some(&before));
        }
    }
    assert_eq!(store.group(account, mine.id).await.unwrap().unwrap().redirects_count, 1);
    assert_eq!(store.group(other, foreign.id).await.unwrap().unwrap().redirects_count, 0);
}

pub(super) async fn a_deleted_redirect_is_gone(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let kept = given::redirect(&store, account, samples::redirect("kept")).await;
    for doomed in one_of_each() {
        let doomed = given::redirect(&store, account, doomed).await;
        assert!(given::delete_redirect(&store, account, &doomed).await);
        assert!(!given::delete_redirect(&store, account, &doomed).await, "it is gone");
        assert_eq!(store.redirect(account, doomed.id).await.unwrap(), None);
        assert_eq!(store.usage(account).await.unwrap().unwrap().links, 1);
    }
    assert_eq!(store.redirect(account, kept.id).await.unwrap(), Some(kept));
}

/// A link that lost its domain keeps its slug and comes back with it (D22).
pub(super) async fn a_lost_link_keeps_its_slug_and_comes_back(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let on_custom = samples::on_custom("links.example.net", Some("kept"));
    let link = given::redirect(&store, account, samples::redirect_at(on_custom.clone())).await;
    for placement in [
        samples::lost(Some("kept")),
        samples::lost(Some("other")),
        samples::lost(None),
        samples::lost(Some("kept")),
        on_custom,
        samples::on_custom("links.example.net", None),
        samples::on_system("kept"),
    ] {
        let address = placement.address();
        let after = Redirect { placement, ..link.clone() };
        given::update_redirect(&store, account, &after).await.unwrap();
        let read = store.redirect(account, link.id).await.unwrap().unwrap();
        assert_eq!(read, after);
        if let Placement::Lost { slug: _ } = read.placement {
            assert_eq!(address, None);
        } else {
            assert!(store.published_link(&address.unwrap()).await.unwrap().is_some());
        }
    }
}

pub(super) async fn links_are_deleted_some_at_a_time(fresh: Fresh) {
    let store = fresh.store().await;
    let account = given::account(&store).await;
    let other = given::account(&store).await;
    let group = given::group(&store, account).await.id;
    for number in 0..5 {
        let group_id = (number % 2 == 0).then_some(group);
        let link = Redirect { group_id, ..samples::redirect(&format!("doomed-{number}")) };
        given::redirect(&store, account, link).await;
    }
    given::redirect(&store, account, samples::redirect_at(samples::lost(None))).await;
    let kept = given::redirect(&store, other, samples::redirect("kept")).await;
    let some =
        async || unit!(&store, async |work| Ok(work.delete_some_links(account, 4).await?)).await.unwrap();
    assert_eq!(some().await, 4);
    let page = store.redirects(account, &LinkFilter::default(), PageLimit::default(), None).await.unwrap();
    assert_eq!(page.items.len(), 2);
    let left = page.items.iter().filter(|link| link.group_id.is_some()).count();
    let counted = store.group(account, group).await.unwrap().unwrap().redirects_count;
    assert_eq!(usize::try_from(counted).unwrap(), left);
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 2);
    assert_eq!((some().await, some().await), (2, 0));
    assert_eq!(store.usage(account).await.unwrap().unwrap().links, 0);
    assert_eq!(store.group(account, group).await.unwrap().unwrap().redirects_count, 0);
    for number in 0..5 {
        given::redirect(&store, other, samples::redirect(&format!("doomed-{number}"))).await;
    }
    assert_eq!(store.redirect(other, kept.id).await.unwrap(), Some(kept));
}
