//! Lists of the links in some states (D126, D128).

use std::collections::HashSet;
use std::sync::Arc;

use signpost_app::ports::Store;
use signpost_domain::{
    AccountId, AnyContent, ClickLimit, CustomDomainStatus, ExternalId, GroupFilter, Life, Link, LinkFilter,
    LinkKind, LinkState, LinkStates, MaxClicks, PageLimit, Placement, Redirect, Revision, Schedule,
    SearchText, Site, StateFilter, TagFilter, TargetHost, Timestamp,
};

use super::domain_steps::{self, ACTIVE};
use super::fixture::Fresh;
use super::given::{self, KINDS};
use super::stored;
use super::tags::{given_links, name, tags};
use crate::samples;

cases! {
    $ link_states
    d126_lists_have_the_links_of_every_set_of_states_as_the_domain_has_them
    d126_a_list_of_some_states_goes_page_by_page
    d126_states_filter_beside_other_filters
}

/// The instant of the lists, in milliseconds after 1970.
const NOW: i64 = 1_790_000_000_000;

fn now() -> Timestamp {
    Timestamp::from_unix_millis(NOW).unwrap()
}

fn by_states(states: LinkStates) -> LinkFilter {
    LinkFilter { state: Some(StateFilter { states, at: now() }), ..LinkFilter::default() }
}

fn of(states: &[LinkState]) -> LinkFilter {
    by_states(LinkStates::new(states.iter().copied()).unwrap())
}

/// The sets of states, of which none is empty.
fn every_set() -> impl Iterator<Item = LinkStates> {
    (1_u32..1 << LinkState::ALL.len()).filter_map(|set| {
        LinkStates::new(LinkState::ALL.into_iter().filter(|state| set & u32::from(state.bit()) != 0))
    })
}

/// The schedules with a start and an end around [`NOW`], also those that no request makes.
fn schedules() -> Vec<Schedule> {
    let instants =
        [None, Some(NOW), Some(NOW + 1)].map(|millis| millis.and_then(Timestamp::from_unix_millis));
    let ending = |start| instants.map(|end| Schedule::from_stored(start, end));
    instants.into_iter().flat_map(ending).collect()
}

/// The contents of links: a landing page, and redirects without a limit, with some of it left, and with none.
fn contents() -> Vec<AnyContent> {
    let limited = |limit| {
        let redirect: Redirect = samples::redirect("limited").with(|content| content.click_limit = limit);
        Link::from(redirect).content
    };
    let limit = |taken| Some(ClickLimit::new(MaxClicks::new(2).unwrap(), taken, Revision::FIRST));
    vec![AnyContent::Landing, limited(None), limited(limit(1)), limited(limit(2))]
}

/// Hostnames with domains of every status, of this account, of another, of both and of none.
async fn hosts(store: &Arc<dyn Store>, account: AccountId, other: AccountId) -> [&'static str; 6] {
    let failed = CustomDomainStatus::Failed;
    let pending = CustomDomainStatus::claimed(samples::at(1));
    for (owner, host, status) in [
        (account, "active.example.net", ACTIVE),
        (account, "pending.example.net", pending),
        (account, "failed.example.net", failed),
        (account, "taken.example.net", failed),
        (other, "taken.example.net", ACTIVE),
        (other, "theirs.example.net", failed),
    ] {
        domain_steps::domain(store, owner, host, status).await;
    }
    [
        "active.example.net",
        "pending.example.net",
        "failed.example.net",
        "taken.example.net",
        "theirs.example.net",
        "nobodys.example.net",
    ]
}

/// The links of a kind as the store reads them, newest first.
async fn read(store: &Arc<dyn Store>, account: AccountId, kind: LinkKind, filter: &LinkFilter) -> Vec<Link> {
    let page = store.links(account, kind, filter, PageLimit::OF_UNIT_OF_WORK, None).await.unwrap();
    assert_eq!(page.next, None);
    page.items
}

/// A link in every combination of what makes up its state, and every set of states.
pub(super) async fn d126_lists_have_the_links_of_every_set_of_states_as_the_domain_has_them(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let hosts = hosts(&store, account, other).await;
    let (contents, schedules) = (contents(), schedules());
    let mut links = Vec::new();
    let placements = |slug: &str| -> Vec<Placement> {
        let on_hosts = hosts.map(|host| samples::on_custom(host, Some(slug)));
        [samples::on_system(slug), samples::lost(Some(slug))].into_iter().chain(on_hosts).collect()
    };
    for number in 0..placements("a").len() {
        for is_active in [true, false] {
            for schedule in &schedules {
                for content in &contents {
                    let slug = format!("s{}", links.len());
                    let kind =
                        if *content == AnyContent::Landing { LinkKind::Landing } else { LinkKind::Redirect };
                    let placement = placements(&slug).swap_remove(number);
                    links.push(Link {
                        is_active,
                        life: Life { schedule: *schedule, fallback_url: None },
                        content: content.clone(),
                        ..samples::link_at(kind, placement)
                    });
                }
            }
        }
    }
    given::links(&store, account, &links).await;
    given::links(&store, other, &KINDS.map(|kind| samples::link(kind, &format!("o-{kind:?}")))).await;
    let mut states_of_redirects = HashSet::new();
    for kind in KINDS {
        let all = read(&store, account, kind, &LinkFilter::default()).await;
        if kind == LinkKind::Redirect {
            states_of_redirects.extend(all.iter().map(|link| link.state(now())));
        }
        for states in every_set() {
            let filter = by_states(states);
            let expected: Vec<&Link> = all.iter().filter(|link| states.contains(link.state(now()))).collect();
            let found = read(&store, account, kind, &filter).await;
            assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{states:?}");
        }
    }
    assert_eq!(states_of_redirects.len(), LinkState::ALL.len());
}

/// Through each range that a set of states may be read from, and at instants one after another.
pub(super) async fn d126_a_list_of_some_states_goes_page_by_page(fresh: Fresh) {
    let (store, [account, other]) = fresh.store_with_accounts().await;
    let link = |number: usize| {
        let kind = KINDS[usize::from(number.is_multiple_of(5))];
        let slug = format!("s{number}");
        let placement = if number % 4 == 1 { samples::lost(Some(&slug)) } else { samples::on_system(&slug) };
        let start = number.is_multiple_of(3).then_some(NOW + 1).and_then(Timestamp::from_unix_millis);
        let end = (number % 4 == 2).then_some(NOW).and_then(Timestamp::from_unix_millis);
        let life = Life { schedule: Schedule::from_stored(start, end), fallback_url: None };
        Link { is_active: !number.is_multiple_of(7), life, ..samples::link_at(kind, placement) }
    };
    let links: Vec<Link> = (0..60).map(link).collect();
    given::links(&store, account, &links).await;
    given::link(&store, other, Link { is_active: false, ..samples::link(LinkKind::Redirect, "theirs") })
        .await;
    for states in [
        &[LinkState::Lost][..],
        &[LinkState::Inactive],
        &[LinkState::Scheduled],
        &[LinkState::Scheduled, LinkState::Expired],
        &[LinkState::Active],
        &[LinkState::Active, LinkState::Lost],
        &[LinkState::DomainInactive],
    ] {
        for kind in KINDS {
            for at in [NOW, NOW + 1] {
                let at = Timestamp::from_unix_millis(at).unwrap();
                let state = of(states).state.map(|filter| StateFilter { at, ..filter });
                let filter = LinkFilter { state, ..LinkFilter::default() };
                let of_kind = links.iter().rev().filter(|link| link.kind() == kind);
                let expected: Vec<&Link> = of_kind.filter(|link| filter.matches(link)).collect();
                for items in [1, 3, 100] {
                    let found = stored::list(&store, account, kind, &filter, items).await;
                    assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{states:?} {items}");
                }
            }
        }
    }
}

/// Each other filter may choose which links are read, or the states.
pub(super) async fn d126_states_filter_beside_other_filters(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let external_id = ExternalId::parse("4711").unwrap();
    let life = |start: i64, end: i64| {
        let [start, end] = [start, end].map(|millis| Timestamp::from_unix_millis(NOW + millis));
        Life { schedule: Schedule::new(start, end).unwrap(), fallback_url: None }
    };
    let sought = Link {
        group_id: Some(group),
        external_id: Some(external_id.clone()),
        tags: tags(&["t"]),
        life: life(-2, -1),
        ..samples::link(LinkKind::Redirect, "sought")
    };
    let working =
        Link { life: life(-2, 1), group_id: Some(group), ..samples::link(LinkKind::Redirect, "sought-2") };
    let off = Link { is_active: false, life: life(-2, -1), ..samples::link(LinkKind::Redirect, "off") };
    let lost = samples::link_at(LinkKind::Redirect, samples::lost(Some("sought")));
    given_links(&store, account, [sought.clone(), working, off.clone(), lost.clone()]).await;
    let every = LinkFilter::default();
    let (slug, site) = (Some(samples::slug("sought")), Some(Site::System));
    let search = |text: &str| Some(SearchText::parse(text).unwrap());
    let tag = TagFilter { any: vec![name("T")], ..TagFilter::default() };
    let target_host = TargetHost::parse("example.com").ok();
    for beside in [
        every.clone(),
        LinkFilter { group: GroupFilter::In(group), ..every.clone() },
        LinkFilter { is_active: Some(true), ..every.clone() },
        LinkFilter { site: site.clone(), ..every.clone() },
        LinkFilter { slug: slug.clone(), ..every.clone() },
        LinkFilter { site: site.clone(), slug, ..every.clone() },
        LinkFilter { external_id: Some(external_id), ..every.clone() },
        LinkFilter { tags: tag.clone(), ..every.clone() },
        LinkFilter { target_host: target_host.clone(), ..every.clone() },
        LinkFilter { search: search("sought"), ..every.clone() },
        LinkFilter { search: search("so"), site: site.clone(), ..every.clone() },
        LinkFilter {
            tags: tag,
            site,
            target_host,
            is_active: Some(true),
            search: search("ough"),
            ..every.clone()
        },
    ] {
        for states in every_set() {
            let filter = LinkFilter { state: by_states(states).state, ..beside.clone() };
            let found = read(&store, account, LinkKind::Redirect, &filter).await;
            assert_eq!(found.contains(&sought), states.contains(LinkState::Expired), "{filter:?}");
            assert!(found.iter().all(|link| filter.matches(link)), "{filter:?}");
        }
    }
    for (filter, expected) in [
        (LinkFilter { is_active: Some(false), ..of(&[LinkState::Inactive]) }, vec![&off]),
        (LinkFilter { is_active: Some(true), ..of(&[LinkState::Inactive]) }, vec![]),
        (LinkFilter { is_active: Some(false), ..of(&[LinkState::Expired]) }, vec![]),
        (
            LinkFilter { group: GroupFilter::Ungrouped, ..of(&[LinkState::Inactive, LinkState::Expired]) },
            vec![&off],
        ),
        (LinkFilter { group: GroupFilter::Ungrouped, ..of(&[LinkState::Lost]) }, vec![&lost]),
        (LinkFilter { slug: Some(samples::slug("sought")), ..of(&[LinkState::Lost]) }, vec![&lost]),
        (LinkFilter { site: Some(Site::System), ..of(&[LinkState::Lost]) }, vec![]),
    ] {
        let found = read(&store, account, LinkKind::Redirect, &filter).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{filter:?}");
    }
}
