//! The clicks of limited redirects (D128, D130).

use std::sync::Arc;

use signpost_app::ports::{ClickTaking, PublishedContent, Store, TakenClicks, UnusedClicks, VisibleChange};
use signpost_domain::{AccountId, ClickLimit, Link, MaxClicks, Redirect, RedirectId, Revision};

use super::change_reading::Reader;
use super::changes::of_links;
use super::fixture::Fresh;
use super::given::{self, unit};
use super::stored;
use crate::run::at_once;
use crate::samples;

cases! {
    $ click_credits
    d130_clicks_are_taken_in_blocks_until_none_is_left
    d130_clicks_that_were_given_back_are_taken_again
    d130_clicks_of_an_earlier_count_do_not_come_back
    d130_clicks_of_many_links_come_back_together
    d128_an_update_keeps_what_is_taken
    d130_the_last_click_and_a_click_again_are_logged
    d130_any_number_of_takers_get_exactly_the_limit
    only_the_owner_of_a_limited_redirect_takes_clicks
    a_limit_goes_with_its_link
}

fn max(number: u64) -> MaxClicks {
    MaxClicks::new(number).unwrap()
}

/// A redirect with a limit of which this much is taken.
fn limited(text: &str, number: u64, taken: u64) -> Redirect {
    let limit = ClickLimit::new(max(number), taken, Revision::FIRST);
    samples::redirect(text).with(|content| content.click_limit = Some(limit))
}

async fn ask(store: &Arc<dyn Store>, account: AccountId, link: RedirectId) -> ClickTaking {
    unit!(store, async |work| Ok(work.take_clicks(account, link).await?)).await.unwrap()
}

async fn take(store: &Arc<dyn Store>, account: AccountId, link: RedirectId) -> Option<TakenClicks> {
    ask(store, account, link).await.taken()
}

async fn give_back_all(store: &Arc<dyn Store>, unused: &[UnusedClicks]) {
    unit!(store, async |work| Ok(work.give_back_clicks(unused).await?)).await.unwrap();
}

async fn give_back(store: &Arc<dyn Store>, account: AccountId, link: RedirectId, unused: TakenClicks) {
    give_back_all(store, &[UnusedClicks { account, link, clicks: unused }]).await;
}

/// The limit, as lists, look-ups and visits read it.
async fn limit(store: &Arc<dyn Store>, account: AccountId, link: &Redirect) -> Option<ClickLimit> {
    let found = stored::redirect(store, account, link.id).await.unwrap().content.click_limit;
    let listed = stored::links(store, account).await.into_iter().filter_map(Link::into_redirect);
    let listed: Vec<_> = listed.filter(|listed| listed.id == link.id).collect();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].content.click_limit, found);
    if link.placement.address().is_some() {
        let published = stored::published(store, &link.placement).await.unwrap();
        let PublishedContent::Redirect(published) = published.content else { panic!("not a redirect") };
        assert_eq!(published.click_limit, found);
    }
    found
}

async fn left(store: &Arc<dyn Store>, account: AccountId, link: &Redirect) -> u64 {
    limit(store, account, link).await.unwrap().left()
}

/// Each store works out the size of a block itself, so it is compared with that of the domain.
pub(super) async fn d130_clicks_are_taken_in_blocks_until_none_is_left(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    for (text, number) in [("one", 1), ("few", 130), ("many", 1_000_000_000)] {
        let link = given::link(&store, account, limited(text, number, number.saturating_sub(200))).await;
        let mut expected = link.content.click_limit.unwrap();
        while !expected.is_exhausted() {
            let block = TakenClicks { number: expected.next_block(), since: expected.since() };
            assert_eq!(take(&store, account, link.id).await, Some(block));
            expected = expected.with_more_taken(block.number);
        }
        assert_eq!(limit(&store, account, &link).await, Some(expected));
        let exhausted = ClickTaking::Exhausted { since: Revision::FIRST };
        assert_eq!(ask(&store, account, link.id).await, exhausted);
    }
    let link = given::link(&store, account, limited("untouched", 1_000_000_000, 0)).await;
    for number in [256, 256] {
        assert_eq!(take(&store, account, link.id).await.unwrap().number, number);
    }
    assert_eq!(left(&store, account, &link).await, 999_999_488);
}

pub(super) async fn d130_clicks_that_were_given_back_are_taken_again(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = given::link(&store, account, limited("link", 640, 0)).await;
    let taken = take(&store, account, link.id).await.unwrap();
    assert_eq!((taken.number, left(&store, account, &link).await), (10, 630));
    give_back(&store, account, link.id, TakenClicks { number: 7, ..taken }).await;
    assert_eq!(left(&store, account, &link).await, 637);
    // More than is taken never comes back, so that nobody gets more than the limit.
    give_back(&store, account, link.id, TakenClicks { number: 4, ..taken }).await;
    assert_eq!(left(&store, account, &link).await, 637);
    give_back(&store, account, link.id, TakenClicks { number: 3, ..taken }).await;
    assert_eq!(left(&store, account, &link).await, 640);
}

pub(super) async fn d130_clicks_of_an_earlier_count_do_not_come_back(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = given::link(&store, account, limited("link", 640, 0)).await;
    let old = take(&store, account, link.id).await.unwrap();
    let without = link.clone().with(|content| content.click_limit = None);
    given::update_link(&store, account, &without).await.unwrap();
    assert_eq!(limit(&store, account, &link).await, None);
    assert_eq!(ask(&store, account, link.id).await, ClickTaking::NoLimit);
    give_back(&store, account, link.id, old).await;
    assert_eq!(limit(&store, account, &link).await, None);

    let second = Revision::FIRST.next();
    let again = link.clone().with(|content| content.click_limit = Some(ClickLimit::new(max(640), 0, second)));
    given::update_link(&store, account, &again).await.unwrap();
    let taken = take(&store, account, link.id).await.unwrap();
    assert_eq!(taken, TakenClicks { number: 10, since: second });
    give_back(&store, account, link.id, old).await;
    assert_eq!(left(&store, account, &link).await, 630);

    // Another count in one step.
    let third = second.next();
    let anew = link.clone().with(|content| content.click_limit = Some(ClickLimit::new(max(9), 2, third)));
    given::update_link(&store, account, &anew).await.unwrap();
    give_back(&store, account, link.id, taken).await;
    assert_eq!(limit(&store, account, &link).await, anew.content.click_limit);

    // Whoever knows an earlier count learns which one is exhausted.
    let fourth = third.next();
    let used_up = link.clone().with(|content| content.click_limit = Some(ClickLimit::new(max(9), 9, fourth)));
    given::update_link(&store, account, &used_up).await.unwrap();
    assert_eq!(ask(&store, account, link.id).await, ClickTaking::Exhausted { since: fourth });
}

/// Each as it would alone: those that may not come back keep no others.
pub(super) async fn d130_clicks_of_many_links_come_back_together(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let mut links = Vec::new();
    for number in 0..40 {
        let owner = if number % 2 == 0 { account } else { other };
        links.push((owner, given::link(&store, owner, limited(&format!("s{number}"), 9, 9)).await));
    }
    let mut reader = Reader::at_the_end(&store).await;
    let mut unused = Vec::new();
    for (number, (account, link)) in links.iter().enumerate() {
        let since = if number == 3 { Revision::FIRST.next() } else { Revision::FIRST };
        let clicks = TakenClicks { number: if number == 4 { 10 } else { 2 }, since };
        unused.push(UnusedClicks { account: *account, link: link.id, clicks });
    }
    unused[5].account = account;
    unused[6].link = samples::id();
    give_back_all(&store, &unused).await;
    give_back_all(&store, &[]).await;
    let mut opened = [Vec::new(), Vec::new()];
    for (number, (owner, link)) in links.iter().enumerate() {
        let is_back = !(3..=6).contains(&number);
        assert_eq!(left(&store, *owner, link).await, if is_back { 2 } else { 0 }, "{number}");
        if is_back {
            opened[number % 2].push(Link::from(link.clone()));
        }
    }
    let [of_account, of_other] = opened;
    let mut news = reader.news(&store).await;
    news.sort_by_key(|change| change.account != account);
    let expected = [of_links(account, &of_account), of_links(other, &of_other)];
    assert_eq!(news, expected);
}

/// Whoever writes the link does not know what was taken meanwhile.
pub(super) async fn d128_an_update_keeps_what_is_taken(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = given::link(&store, account, limited("link", 640, 0)).await;
    take(&store, account, link.id).await.unwrap();
    for (number, expected) in [(640, 630), (641, 631), (10, 0), (9, 0), (1_000, 990)] {
        let name = samples::name(&format!("limit of {number}"));
        let changed = Redirect { name: name.clone(), ..limited("link", number, 0) };
        let changed = Redirect { id: link.id, ..changed };
        given::update_link(&store, account, &changed).await.unwrap();
        assert_eq!(left(&store, account, &link).await, expected, "{number}");
        assert_eq!(stored::redirect(&store, account, link.id).await.unwrap().name, name);
    }
    // Several links at once, of which each changes in another way.
    let texts = ["a", "b", "c", "d"];
    let links = texts.map(|text| limited(text, 640, 0));
    given::links(&store, account, &links).await;
    let kept = links[2].content.click_limit;
    let limits = [None, Some(ClickLimit::new(max(700), 0, Revision::FIRST)), kept, kept];
    let written = unit!(&store, async |work| {
        let mut changes = Vec::new();
        for (link, limit) in links.iter().zip(limits) {
            let before = work.lock_link(account, link.id.into()).await?.unwrap();
            changes.push((before, Link::from(link.clone().with(|content| content.click_limit = limit))));
        }
        let changes: Vec<(&Link, &Link)> = changes.iter().map(|(before, after)| (before, after)).collect();
        Ok(work.update_links(account, &changes).await?)
    });
    written.await.unwrap();
    let mut found = Vec::new();
    for link in &links {
        found.push(limit(&store, account, link).await.map(ClickLimit::left));
    }
    assert_eq!(found, [None, Some(700), Some(640), Some(640)]);
}

/// All nodes learn when a link ends and when it opens again, and of nothing in between: nobody sees other clicks being taken.
pub(super) async fn d130_the_last_click_and_a_click_again_are_logged(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = given::link(&store, account, limited("link", 2, 0)).await;
    let lost = Redirect { placement: samples::lost(None), ..limited("lost", 1, 0) };
    let lost = given::link(&store, account, lost).await;
    let mut reader = Reader::at_the_end(&store).await;
    let nothing: [VisibleChange; 0] = [];
    let of_link = [of_links(account, [&link.clone().into()])];

    let taken = take(&store, account, link.id).await.unwrap();
    assert_eq!(reader.news(&store).await, nothing);
    take(&store, account, link.id).await.unwrap();
    assert_eq!(reader.news(&store).await, of_link, "the last one");
    assert_eq!(take(&store, account, link.id).await, None);
    assert_eq!(reader.news(&store).await, nothing);
    give_back(&store, account, link.id, taken).await;
    assert_eq!(reader.news(&store).await, of_link, "it has one again");
    give_back(&store, account, link.id, taken).await;
    assert_eq!(reader.news(&store).await, nothing, "it had one before");
    take(&store, account, lost.id).await.unwrap();
    assert_eq!(reader.news(&store).await, nothing, "it has no address");
}

/// Takers that use some of their clicks and give back the others, and an owner who changes other fields meanwhile.
pub(super) async fn d130_any_number_of_takers_get_exactly_the_limit(fresh: Fresh) {
    const LIMIT: u64 = 500;
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = given::link(&store, account, limited("link", LIMIT, 0)).await;
    let used = at_once(24, |number| {
        let (store, link) = (store.clone(), link.clone());
        async move {
            let mut used = 0;
            while let Some(taken) = take(&store, account, link.id).await {
                let unused = if number % 3 == 0 { taken.number / 2 } else { 0 };
                used += taken.number - unused;
                if unused > 0 {
                    give_back(&store, account, link.id, TakenClicks { number: unused, ..taken }).await;
                }
                if number == 1 && used % 5 == 0 {
                    let name = samples::name(&format!("used {used}"));
                    let renamed = Redirect { name, ..link.clone() };
                    given::update_link(&store, account, &renamed).await.unwrap();
                }
            }
            used
        }
    });
    assert_eq!(used.await.into_iter().sum::<u64>(), LIMIT);
    assert_eq!(left(&store, account, &link).await, 0);
}

pub(super) async fn only_the_owner_of_a_limited_redirect_takes_clicks(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let link = given::link(&store, account, limited("link", 640, 0)).await;
    let plain = given::link(&store, account, samples::redirect("plain")).await;
    let page = given::link(&store, account, samples::landing("page")).await;
    let page = RedirectId::from_bytes(page.id.to_bytes());
    for (account, link) in [(other, link.id), (account, plain.id), (account, page), (account, samples::id())]
    {
        assert_eq!(ask(&store, account, link).await, ClickTaking::NoLimit, "{link}");
    }
    // Nor does anybody else learn that no click is left.
    let used_up = given::link(&store, account, limited("used-up", 9, 9)).await;
    assert_eq!(ask(&store, other, used_up.id).await, ClickTaking::NoLimit);
    let taken = take(&store, account, link.id).await.unwrap();
    give_back(&store, other, link.id, taken).await;
    assert_eq!(left(&store, account, &link).await, 630);
}

/// A link that is deleted and stored again, as an import may, has the clicks that its record has.
pub(super) async fn a_limit_goes_with_its_link(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let link = limited("link", 640, 40);
    for _ in 0..2 {
        given::link(&store, account, link.clone()).await;
        assert_eq!(left(&store, account, &link).await, 600);
        let taken = take(&store, account, link.id).await.unwrap();
        assert!(given::delete_link(&store, account, link.id).await);
        assert_eq!(ask(&store, account, link.id).await, ClickTaking::NoLimit);
        give_back(&store, account, link.id, taken).await;
    }
    // It moves with its link, and goes on without an address.
    let link = given::link(&store, account, limited("moving", 640, 0)).await;
    let moved = Redirect { placement: samples::on_system("moved"), ..link };
    given::update_link(&store, account, &moved).await.unwrap();
    take(&store, account, moved.id).await.unwrap();
    assert_eq!(left(&store, account, &moved).await, 630);
}
