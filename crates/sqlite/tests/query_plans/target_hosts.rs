//! The lists of redirects to a host (D126).

use signpost_app::ports::LinkReads;
use signpost_domain::{
    ExternalId, GroupFilter, GroupId, LinkFilter, LinkKind, PageLimit, PagePosition, Site, TagFilter,
    TagName, TargetHost,
};
use signpost_port_contracts::samples;

use super::Subject;

/// A host selects the range of its last labels, of which the indexes have up to five, unless a narrower filter selects another one.
pub(crate) async fn choose_the_ranges_of_lists(subject: &mut Subject) {
    let every = LinkFilter::default();
    let tags = TagFilter { any: vec![TagName::parse("a").unwrap()], ..TagFilter::default() };
    let slug = Some(samples::slug("a"));
    for (host, other, expected) in [
        (
            "example.com",
            every.clone(),
            "links_of_target_2 (account_id=? AND target_host_2=? AND kind=? AND id<?)",
        ),
        ("c.b.a", every.clone(), "links_of_target_3 (account_id=? AND target_host_3=? AND kind=? AND id<?)"),
        (
            "192.0.2.1",
            every.clone(),
            "links_of_target_4 (account_id=? AND target_host_4=? AND kind=? AND id<?)",
        ),
        (
            "e.d.c.b.a",
            every.clone(),
            "links_of_target_5 (account_id=? AND target_host_5=? AND kind=? AND id<?)",
        ),
        (
            "g.f.e.d.c.b.a",
            every.clone(),
            "links_of_target_5 (account_id=? AND target_host_5=? AND kind=? AND id<?)",
        ),
        ("localhost", every.clone(), "links_of_account (account_id=? AND kind=? AND id<?)"),
        ("example.com", LinkFilter { is_active: Some(true), ..every.clone() }, "links_of_target_2"),
        ("example.com", LinkFilter { site: Some(Site::System), ..every.clone() }, "links_of_target_2"),
        ("example.com", LinkFilter { tags, ..every.clone() }, "links_of_target_2"),
        ("localhost", LinkFilter { is_active: Some(true), ..every.clone() }, "links_of_activity"),
        (
            "example.com",
            LinkFilter { group: GroupFilter::In(GroupId::from_bytes([1; 16])), ..every.clone() },
            "links_of_group",
        ),
        ("example.com", LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() }, "links_of_target_2"),
        ("example.com", LinkFilter { slug: slug.clone(), ..every.clone() }, "links_of_slug"),
        ("example.com", LinkFilter { slug, site: Some(Site::System), ..every.clone() }, "links_address"),
        (
            "example.com",
            LinkFilter { external_id: ExternalId::parse("1").ok(), ..every },
            "links_of_external_id",
        ),
    ] {
        let filter = LinkFilter { target_host: Some(TargetHost::parse(host).unwrap()), ..other };
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
        // The other steps read the tags of each link, and the state of its domain.
        let step = plan.lines().next().unwrap_or_default();
        assert!(step.contains(expected), "{filter:?}\n{plan}");
    }
}
