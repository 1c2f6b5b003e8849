//! Links that are older than the list of redirects to a host (D126).

use diesel::connection::SimpleConnection;
use signpost_app::ports::LinkReads;
use signpost_domain::{LinkFilter, LinkKind, PageLimit, TargetHost};
use signpost_port_contracts::samples;
use signpost_sqlite::{migrate, pending_migrations};

use super::database::{AT_LAST, Database, account, insert};

/// The migrations with the hosts and their indexes, without their numbers.
const MIGRATIONS: [&str; 2] = ["hosts_of_targets", "links_of_target_hosts"];

/// The migration gives them the hosts that they have as the domain sees it.
#[tokio::test]
async fn d126_links_of_older_versions_are_found_by_the_hosts_of_their_targets() {
    let database = Database::new();
    let store = database.open();
    let account = account(&store).await;
    for (slug, target) in [
        ("ascii", "https://WWW.Example.com:8443/"),
        ("unicode", "https://b\u{fc}cher.example/"),
        ("punycode", "https://XN--bcher-KVA.example/"),
        ("address", "http://[2001:DB8:0::1]:80/"),
    ] {
        let link = samples::redirect(slug).with(|content| content.target_url = samples::target(target));
        insert(&store, account, link).await;
    }
    insert(&store, account, samples::landing("page")).await;
    drop(store);
    let all = pending_migrations(&Database::new().file, AT_LAST).unwrap();
    let undone: Vec<String> =
        all.into_iter().filter(|name| MIGRATIONS.iter().any(|end| name.ends_with(end))).collect();
    assert_eq!(undone.len(), 2, "{undone:?}");
    let mut raw = database.raw();
    for labels in TargetHost::INDEXED_LABELS {
        let drop_index = format!("DROP INDEX links_of_target_{labels}");
        let drop_column = format!("ALTER TABLE links DROP COLUMN target_host_{labels}");
        raw.batch_execute(&format!("{drop_index}; {drop_column}")).unwrap();
    }
    for column in ["target_host_ends", "target_host"] {
        raw.batch_execute(&format!("ALTER TABLE links DROP COLUMN {column}")).unwrap();
    }
    for name in &undone {
        let version = name.split('_').next().unwrap();
        let forget = format!("DELETE FROM __diesel_schema_migrations WHERE version = '{version}'");
        raw.batch_execute(&forget).unwrap();
    }
    drop(raw);
    assert_eq!(migrate(&database.file, AT_LAST).unwrap(), undone);
    let store = database.open();
    for (host, slugs) in [
        ("example.com", "ascii"),
        ("b\u{fc}cher.example", "punycode unicode"),
        ("[2001:db8::1]", "address"),
        ("example", "punycode unicode"),
    ] {
        let target_host = Some(TargetHost::parse(host).unwrap());
        let filter = LinkFilter { target_host, ..LinkFilter::default() };
        let page =
            store.links(account, LinkKind::Redirect, &filter, PageLimit::default(), None).await.unwrap();
        let slugs_found = page.items.iter().map(|link| link.placement.slug().unwrap().as_str());
        assert_eq!(slugs_found.collect::<Vec<_>>().join(" "), slugs, "{host}");
    }
    assert_eq!(database.number("SELECT count(*) AS number FROM links WHERE target_host IS NULL"), 1);
}
