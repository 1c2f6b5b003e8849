//! The filters of link lists by instants (D126).

use signpost_domain::{ExternalId, GroupFilter, InstantRange, Link, LinkFilter, SearchText, Site, Timestamp};

use super::fixture::Fresh;
use super::given::{self, KINDS};
use super::link_filters::{links_of_all_sorts, passes, searched};
use super::stored;

cases! {
    $ link_instants
    d126_instants_narrow_every_way_to_a_page
}

/// Both ends of the ranges are included, beside every other filter.
pub(super) async fn d126_instants_narrow_every_way_to_a_page(fresh: Fresh) {
    let (store, [account]) = fresh.store_with_accounts().await;
    let group = given::group(&store, account).await.id;
    let at = |millis: usize| Timestamp::from_unix_millis(i64::try_from(1_000 + millis).unwrap()).unwrap();
    let mut links: Vec<Link> = links_of_all_sorts([group, group])
        .into_iter()
        .enumerate()
        .map(|(number, link)| {
            let number_of_kind = number / 2;
            Link { created_at: at(number_of_kind), updated_at: at(number_of_kind * 7 % 96 + 96), ..link }
        })
        .collect();
    let with_id = links.len() / 3;
    let external_id = ExternalId::parse("order-1").ok();
    links[with_id].external_id.clone_from(&external_id);
    given::links(&store, account, &links).await;
    let by_slug = links[with_id].placement.slug().cloned();
    links.reverse();
    let others = [
        LinkFilter::default(),
        searched("red"),
        searched("r"),
        LinkFilter { group: GroupFilter::In(group), ..LinkFilter::default() },
        LinkFilter { group: GroupFilter::Ungrouped, ..LinkFilter::default() },
        LinkFilter { is_active: Some(true), ..searched("blue") },
        LinkFilter { site: Some(Site::System), ..LinkFilter::default() },
        LinkFilter { slug: by_slug.clone(), ..LinkFilter::default() },
        LinkFilter { slug: by_slug, site: Some(Site::System), ..LinkFilter::default() },
        LinkFilter { external_id, ..LinkFilter::default() },
    ];
    let range = |from: Option<usize>, to: Option<usize>| InstantRange { from: from.map(at), to: to.map(at) };
    let ranges = [
        (range(None, None), range(None, None)),
        (range(Some(20), None), range(None, None)),
        (range(None, Some(40)), range(None, None)),
        (range(Some(32), Some(32)), range(None, None)),
        (range(Some(33), Some(32)), range(None, None)),
        (range(None, None), range(Some(150), None)),
        (range(None, None), range(None, Some(130))),
        (range(Some(10), Some(80)), range(Some(100), Some(180))),
    ];
    let mut found = 0;
    for other in others {
        for (created, updated) in ranges {
            let filter = LinkFilter { created, updated, ..other.clone() };
            let text = filter.search.as_ref().map(SearchText::folded);
            for kind in KINDS {
                let expected = links.iter().filter(|link| {
                    link.kind() == kind
                        && passes(link, &filter, text)
                        && (filter.external_id.is_none() || link.external_id == filter.external_id)
                        && created.contains(link.created_at)
                        && updated.contains(link.updated_at)
                });
                let expected: Vec<Link> = expected.cloned().collect();
                found += expected.len();
                for items in [5, 100] {
                    assert_eq!(
                        stored::list(&store, account, kind, &filter, items).await,
                        expected,
                        "{filter:?}"
                    );
                }
            }
        }
    }
    assert!(found > 500, "{found}");
}
