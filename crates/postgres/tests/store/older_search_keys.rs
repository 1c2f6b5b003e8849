//! Search keys of older versions (D32).

use signpost_domain::{LinkKind, Redirect};
use signpost_port_contracts::samples;
use signpost_postgres::migrate;

use super::database::insert;
use super::search_index::Indexed;

/// Links whose keys were written before searches compared composed texts, with and without the index.
#[tokio::test]
async fn d32_links_of_older_versions_are_found_by_composed_texts() {
    for has_index in [false, true] {
        let mut indexed = Indexed::new().await;
        let name = samples::name("Cafe\u{301} of old");
        let link = Redirect { name, ..samples::redirect("old") };
        insert(&indexed.store, indexed.account, link).await;
        indexed.database.run("UPDATE links SET search_key = normalize(search_key, NFD)");
        if has_index {
            indexed.append(1, 9_000);
            indexed.index().await;
            assert!(indexed.count("search_segments") > 0);
        }
        let ids = async |text| {
            let (links, _) = indexed.page(LinkKind::Redirect, text, 5, None, false).await;
            links.len()
        };
        assert_eq!(ids("caf\u{e9} of").await, 0);
        indexed.database.run("DELETE FROM __diesel_schema_migrations WHERE version = '0027'");
        assert_eq!(migrate(&indexed.database.url()).await.unwrap(), ["0027_composed_search_keys"]);
        assert_eq!([ids("caf\u{e9} of").await, ids("CAFE\u{301} o").await], [1, 1]);
    }
}
