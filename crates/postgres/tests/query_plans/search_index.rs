//! Searches through the index, and the job that writes it.

use signpost_app::ports::{LinkReads, Store};
use signpost_domain::{LinkFilter, LinkKind, PageLimit, PagePosition, SearchText};

use super::{Subject, pages, recorder};

/// The tables that must be read through indexes. The others have one row for thousands of links.
const LARGE: [&str; 2] = ["links", "search_buckets"];

/// The job and the searches read ranges of indexes, however often they run.
pub(crate) async fn is_read_by_ranges(subject: &Subject) {
    let Subject { store, account, .. } = subject;
    let plans = subject
        .plans(async {
            let mut after = None;
            // Some rounds of all accounts; each round does one task for each account.
            for _ in 0..16 {
                after = store.tend_search_index(after).await.unwrap().after;
            }
        })
        .await;
    assert!(plans.contains("INSERT INTO search_buckets"), "nothing was indexed: {plans}");
    for table in LARGE {
        assert!(!plans.contains(&format!("Seq Scan on {table}")), "{plans}");
    }
    let limit = PageLimit::new(25).unwrap();
    for text in ["s1041", "s104", "le.com/", "nowhere", "a name"] {
        let search = Some(SearchText::parse(text).unwrap());
        let filter = LinkFilter { search, ..LinkFilter::default() };
        for after in [None, Some(PagePosition::behind(pages::bytes(12_000)))] {
            // Repeated, because PostgreSQL may choose another plan from the sixth run on.
            for _ in 0..8 {
                let plans = subject
                    .plans(async {
                        let page = store.links(*account, LinkKind::Redirect, &filter, limit, after);
                        let (statements, page) = recorder::recorded(page).await;
                        page.unwrap();
                        let own = statements.iter().filter(|statement| !recorder::is_steering(statement));
                        assert!(own.count() <= 8, "{text}: {statements:#?}");
                    })
                    .await;
                assert!(plans.contains("search_buckets"), "{text}: {plans}");
                for table in LARGE {
                    assert!(!plans.contains(&format!("Seq Scan on {table}")), "{text} {after:?}: {plans}");
                }
            }
        }
    }
}
