//! The lists of links in some states (D126).

use signpost_app::ports::LinkReads;
use signpost_domain::{
    ExternalId, GroupFilter, GroupId, LinkFilter, LinkKind, LinkStates, PageLimit, PagePosition, Site,
    StateFilter, TargetHost,
};
use signpost_port_contracts::samples;

use super::Subject;

/// States select the narrowest range that has all of their links, unless a narrower filter selects another one.
pub(crate) async fn choose_the_ranges_of_lists(subject: &mut Subject) {
    let every = LinkFilter::default();
    let (slug, target_host) = (Some(samples::slug("a")), TargetHost::parse("example.com").ok());
    let in_group = GroupFilter::In(GroupId::from_bytes([1; 16]));
    for (states, other, expected) in [
        ("lost", every.clone(), "links_of_host (account_id=? AND host=? AND kind=? AND id<?)"),
        ("inactive", every.clone(), "links_of_activity (account_id=? AND is_active=? AND kind=? AND id<?)"),
        ("scheduled", every.clone(), "links_with_dates (account_id=? AND kind=? AND id<?)"),
        ("expired", every.clone(), "links_with_dates (account_id=? AND kind=? AND id<?)"),
        ("scheduled,expired", every.clone(), "links_with_dates (account_id=? AND kind=? AND id<?)"),
        ("active", every.clone(), "links_of_activity (account_id=? AND is_active=? AND kind=? AND id<?)"),
        (
            "exhausted,expired",
            every.clone(),
            "links_of_activity (account_id=? AND is_active=? AND kind=? AND id<?)",
        ),
        ("lost,active", every.clone(), "links_of_account (account_id=? AND kind=? AND id<?)"),
        (
            "lost",
            LinkFilter { is_active: Some(true), ..every.clone() },
            "links_of_host (account_id=? AND host=?",
        ),
        ("lost", LinkFilter { target_host: target_host.clone(), ..every.clone() }, "links_of_host"),
        ("lost", LinkFilter { group: in_group, ..every.clone() }, "links_of_group"),
        ("expired", LinkFilter { target_host, ..every.clone() }, "links_of_target_2"),
        ("expired", LinkFilter { site: Some(Site::System), ..every.clone() }, "links_with_dates"),
        ("expired", LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() }, "links_with_dates"),
        ("expired", LinkFilter { is_active: Some(true), ..every.clone() }, "links_with_dates"),
        ("expired", LinkFilter { slug: slug.clone(), ..every.clone() }, "links_of_slug"),
        ("active", LinkFilter { site: Some(Site::System), ..every.clone() }, "links_of_host"),
        ("active", LinkFilter { slug, site: Some(Site::System), ..every.clone() }, "links_address"),
        ("active", LinkFilter { external_id: ExternalId::parse("1").ok(), ..every }, "links_of_external_id"),
    ] {
        let states = LinkStates::parse(states).unwrap();
        let filter = LinkFilter { state: Some(StateFilter { states, at: samples::at(0) }), ..other };
        let plans = subject
            .plans_of(async |store, account| {
                for kind in [LinkKind::Redirect, LinkKind::Landing] {
                    for after in [None, Some(PagePosition::behind([1; 16]))] {
                        store.links(account, kind, &filter, PageLimit::default(), after).await.unwrap();
                    }
                }
            })
            .await;
        let [plan] = plans.as_slice() else { panic!("a page is not one statement: {plans:?}") };
        // The other steps read the tags of each link, the state of its domain, and its limit of clicks.
        let step = plan.lines().next().unwrap_or_default();
        assert!(step.contains(expected), "{filter:?}\n{plan}");
    }
}
