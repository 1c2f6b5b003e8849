//! Tags, and the lists of links with them (D122, D126).

use signpost_app::ports::{LinkReads, UnitOfWork};
use signpost_domain::{
    AccountId, Link, LinkFilter, LinkKind, PageLimit, PagePosition, TagFilter, TagName, Tags,
};
use signpost_port_contracts::samples;

use super::Subject;

/// A single tag selects the range of its links. Several test the links of the account, or of another filter.
pub(crate) async fn choose_the_ranges_of_lists(subject: &mut Subject) {
    let names = |texts: &[&str]| texts.iter().map(|text| TagName::parse(text).unwrap()).collect();
    let of_tag = "SEARCH walked USING PRIMARY KEY (tag_id=? AND link_id<?)";
    for (any, all, none, is_active, expected) in [
        (&["a"][..], &[][..], &[][..], None, of_tag),
        (&[], &["a"], &[], None, of_tag),
        (&["a", "b"], &[], &[], None, "links_of_account"),
        (&[], &["a", "b"], &["c"], None, "links_of_account"),
        (&["a"], &[], &[], Some(true), "links_of_activity"),
    ] {
        let tags = TagFilter { any: names(any), all: names(all), none: names(none) };
        let filter = LinkFilter { tags, is_active, ..LinkFilter::default() };
        let behind = Some(PagePosition::behind([1; 16]));
        let plans = subject
            .plans_of(async |store, account| {
                for after in [None, behind] {
                    store
                        .links(account, LinkKind::Redirect, &filter, PageLimit::default(), after)
                        .await
                        .unwrap();
                }
            })
            .await;
        let [plan] = plans.as_slice() else { panic!("a page is not one statement: {plans:?}") };
        assert!(plan.lines().next().is_some_and(|step| step.contains(expected)), "{filter:?}\n{plan}");
    }
}

/// The writes of tags, through all of their branches.
pub(crate) async fn write(work: &mut dyn UnitOfWork, account: AccountId, link: &Link) {
    let names = ["a", "b"].map(|text| TagName::parse(text).unwrap());
    let [a, b] = [samples::id(), samples::id()];
    let needed = [a, b].into_iter().zip(names.clone()).collect();
    work.provide_tags(account, &[needed], 2, samples::at(0)).await.unwrap();
    let before = work.lock_link(account, link.id()).await.unwrap().unwrap();
    let tagged = Link { tags: Tags::new(names.clone()).unwrap(), ..before.clone() };
    work.update_link(account, &before, &tagged).await.unwrap();
    work.lock_tag(account, a).await.unwrap().unwrap();
    assert!(work.rename_tag(account, a, &names[1]).await.is_err());
    assert_eq!(work.move_tagged_links(account, a, b, 2).await.unwrap(), 1);
    work.delete_unused_tags(account, &[a, b]).await.unwrap();
    assert_eq!(work.untag_links(account, b, 2).await.unwrap(), 1);
    assert_eq!(work.locked_tag(account, b).await.unwrap().links_count, 0);
    assert!(work.delete_tag(account, b).await.unwrap());
}
