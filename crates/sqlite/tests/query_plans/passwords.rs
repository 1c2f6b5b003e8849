//! The passwords of links (D131), and the lists of links with and without one (D126).

use signpost_app::ports::{LinkReads, UnitOfWork};
use signpost_domain::{
    AccountId, ExternalId, GroupFilter, GroupId, LinkFilter, LinkId, LinkKind, PageLimit, PagePosition,
    PasswordHash, Site,
};
use signpost_port_contracts::samples;

use super::Subject;

/// The writes of hashes, through all of their branches.
pub(crate) async fn write(work: &mut dyn UnitOfWork, account: AccountId, link: LinkId) {
    let hash = PasswordHash::new("$argon2id$".to_owned());
    work.write_link_passwords(account, &[(link, Some(hash))]).await.unwrap();
    work.write_link_passwords(account, &[(link, None)]).await.unwrap();
}

/// The few links with a password are a range of their own, unless another filter selects the range. The others have no index.
pub(crate) async fn choose_the_ranges_of_lists(subject: &mut Subject) {
    let with = LinkFilter { has_password: Some(true), ..LinkFilter::default() };
    let without = LinkFilter { has_password: Some(false), ..LinkFilter::default() };
    let group = GroupFilter::In(GroupId::from_bytes([1; 16]));
    let site = Some(Site::System);
    let slug = Some(samples::slug("a"));
    for (filter, expected) in [
        (with.clone(), "links_with_password (account_id=? AND kind=? AND id<?)"),
        (without.clone(), "links_of_account (account_id=? AND kind=? AND id<?)"),
        (LinkFilter { group, ..with.clone() }, "links_of_group"),
        (LinkFilter { group, ..without.clone() }, "links_of_group"),
        (LinkFilter { site: site.clone(), ..with.clone() }, "links_of_host"),
        (LinkFilter { is_active: Some(true), ..with.clone() }, "links_of_activity"),
        (LinkFilter { is_active: Some(false), ..without }, "links_of_activity"),
        (LinkFilter { slug: slug.clone(), ..with.clone() }, "links_of_slug"),
        (LinkFilter { slug, site, ..with.clone() }, "links_address"),
        (LinkFilter { external_id: ExternalId::parse("1").ok(), ..with }, "links_of_external_id"),
    ] {
        let plans = subject
            .plans_of(async |store, account| {
                for after in [None, Some(PagePosition::behind([1; 16]))] {
                    for kind in [LinkKind::Landing, LinkKind::Redirect] {
                        store.links(account, kind, &filter, PageLimit::default(), after).await.unwrap();
                    }
                }
            })
            .await;
        let [plan] = plans.as_slice() else { panic!("a page is not one statement: {plans:#?}") };
        let step = plan.lines().next().unwrap_or_default();
        assert!(step.contains(expected), "{filter:?}\n{plan}");
    }
}
