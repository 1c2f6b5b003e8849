//! Tags, and the lists of links with them (D122, D126).

use signpost_app::ports::{LinkReads, Store, TagReads};
use signpost_domain::{LinkFilter, LinkKind, PageLimit, PagePosition, TagFilter, TagId, TagName};
use signpost_port_contracts::samples;
use signpost_test_servers::postgres::PostgresDatabase;

use super::{Subject, pages};

/// The tags of each account.
const TAGS: u32 = 200;

/// Both accounts have tags of the same names. Each link has the tag `t0`, and every fourth one also `t1`. The other tags have no links.
pub(crate) fn fill(database: &PostgresDatabase) {
    database.run(&format!(
        "INSERT INTO tags SELECT gen_random_uuid(), a.id, 'T' || n, 't' || n, now() FROM accounts AS a, \
         generate_series(0, {TAGS} - 1) AS n; \
         INSERT INTO link_tags SELECT t.id, l.id FROM links AS l JOIN tags AS t ON t.account_id = l.account_id AND \
         t.name_key = 't0'; \
         INSERT INTO link_tags SELECT t.id, l.id FROM links AS l JOIN tags AS t ON t.account_id = l.account_id AND \
         t.name_key = 't1' WHERE get_byte(uuid_send(l.id), 15) % 8 < 2; \
         UPDATE accounts SET tags_count = {TAGS}; ANALYZE tags; ANALYZE link_tags"
    ));
}

pub(crate) fn filter(any: &[&str], all: &[&str], none: &[&str]) -> LinkFilter {
    let names = |texts: &[&str]| texts.iter().map(|text| TagName::parse(text).unwrap()).collect();
    let tags = TagFilter { any: names(any), all: names(all), none: names(none) };
    LinkFilter { tags, ..LinkFilter::default() }
}

/// A single tag chooses the range of its links. Several test the links of the account's range. The tags of a link, and the links of a
/// tag, are found by index.
pub(crate) async fn are_found_by_indexes(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let limit = PageLimit::new(25).unwrap();
    for (filter, index) in [
        (filter(&["t0"], &[], &[]), "link_tags_pkey on link_tags walked"),
        (filter(&[], &["T1"], &[]), "link_tags_pkey on link_tags walked"),
        (filter(&["t1", "t2"], &[], &[]), "links_of_account on links"),
        (filter(&[], &["t0", "t1"], &[]), "links_of_account on links"),
        (filter(&[], &[], &["t1"]), "links_of_account on links"),
        (LinkFilter { is_active: Some(false), ..filter(&["t0"], &[], &[]) }, "links_of_activity on links"),
    ] {
        for after in [None, Some(PagePosition::behind(pages::bytes(12_000)))] {
            // Repeated, because PostgreSQL may choose another plan from the sixth run on.
            for _ in 0..8 {
                let plans = subject
                    .plans(async {
                        let page = store.links(*account, LinkKind::Redirect, &filter, limit, after);
                        assert_eq!(page.await.unwrap().items.len(), 25, "{filter:?}");
                    })
                    .await;
                assert!(plans.contains(&format!("using {index}")), "{filter:?} {after:?}: {plans}");
                for wrong in ["Seq Scan on link", "Sort", "Hash"] {
                    assert!(!plans.contains(wrong), "{filter:?} {after:?}: {plans}");
                }
            }
        }
    }
    for after in [None, Some(PagePosition::behind([0xcc; 16]))] {
        let plans = subject.plans(async { drop(store.tags(*account, limit, after).await.unwrap()) }).await;
        assert!(plans.contains("using tags_of_account on tags"), "{plans}");
        assert!(!plans.contains("Seq Scan"), "{plans}");
    }
}

/// The writes that look for links of a tag.
pub(crate) async fn are_written_by_indexes(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let mut after = None;
    let mut ids: Vec<(TagId, String)> = Vec::new();
    loop {
        let page = store.tags(*account, PageLimit::MAX, after).await.unwrap();
        ids.extend(page.items.into_iter().map(|tag| (tag.id, tag.name.key().to_owned())));
        after = page.next;
        if after.is_none() {
            break;
        }
    }
    let id_of = |key: &str| ids.iter().find(|(_, one)| one == key).unwrap().0;
    let needed = |name: &str| (samples::id(), TagName::parse(name).unwrap());
    let needs = [["t0", "t1", "new"].map(needed).to_vec()];
    for _ in 0..8 {
        let plans = subject
            .plans(async {
                let mut work = store.begin().await.unwrap();
                let provided = work.provide_tags(*account, &needs, 1_000, samples::at(0)).await.unwrap();
                assert_eq!(provided.len(), 3);
                work.lock_tag(*account, id_of("t0")).await.unwrap().unwrap();
                assert_eq!(work.move_tagged_links(*account, id_of("t0"), id_of("t2"), 20).await.unwrap(), 20);
                assert_eq!(work.untag_links(*account, id_of("t1"), 20).await.unwrap(), 20);
                work.delete_unused_tags(*account, &[id_of("t3")]).await.unwrap();
                assert!(work.delete_tag(*account, id_of("t4")).await.unwrap());
            })
            .await;
        for wrong in ["Seq Scan on link", "Seq Scan on tags"] {
            assert!(!plans.contains(wrong), "{plans}");
        }
    }
}
