//! The lists of links with rules (D126).

use signpost_app::ports::LinkReads;
use signpost_domain::{
    ExternalId, GroupFilter, GroupId, LinkFilter, LinkKind, PageLimit, PagePosition, Site, TargetHost,
};
use signpost_port_contracts::samples;

use super::Subject;

/// Few links have rules, so they are the range, unless a group, a slug or an external id is narrower.
pub(crate) async fn are_a_range_of_an_index(subject: &mut Subject) {
    let every = LinkFilter::default();
    let slug = Some(samples::slug("a"));
    let target_host = TargetHost::parse("example.com").ok();
    let group = GroupFilter::In(GroupId::from_bytes([1; 16]));
    for (has_rules, other, expected) in [
        (true, every.clone(), "links_with_rules (account_id=? AND kind=? AND id<?)"),
        (true, LinkFilter { is_active: Some(true), ..every.clone() }, "links_with_rules"),
        (true, LinkFilter { site: Some(Site::System), ..every.clone() }, "links_with_rules"),
        (true, LinkFilter { target_host, ..every.clone() }, "links_with_rules"),
        (true, LinkFilter { group: GroupFilter::Ungrouped, ..every.clone() }, "links_with_rules"),
        (true, LinkFilter { group, ..every.clone() }, "links_of_group"),
        (true, LinkFilter { slug: slug.clone(), ..every.clone() }, "links_of_slug"),
        (true, LinkFilter { slug, site: Some(Site::System), ..every.clone() }, "links_address"),
        (
            true,
            LinkFilter { external_id: ExternalId::parse("1").ok(), ..every.clone() },
            "links_of_external_id",
        ),
        (false, every.clone(), "links_of_account (account_id=? AND kind=? AND id<?)"),
        (false, LinkFilter { is_active: Some(true), ..every }, "links_of_activity"),
    ] {
        let filter = LinkFilter { has_rules: Some(has_rules), ..other };
        let plans = subject
            .plans_of(async |store, account| {
                for after in [None, Some(PagePosition::behind([1; 16]))] {
                    store
                        .links(account, LinkKind::Redirect, &filter, PageLimit::default(), after)
                        .await
                        .unwrap();
                }
            })
            .await;
        let [plan] = plans.as_slice() else { panic!("a page is not one statement: {plans:?}") };
        // The other steps read the tags of each link, and the state of its domain.
        let step = plan.lines().next().unwrap_or_default();
        assert!(step.contains(expected), "{filter:?}\n{plan}");
    }
}
