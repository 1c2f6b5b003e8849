//! Links that are older than the list of redirects to a host (D126).

use signpost_app::ports::LinkReads;
use signpost_domain::{Link, LinkFilter, LinkKind, PageLimit, TargetHost};
use signpost_port_contracts::samples;
use signpost_postgres::{migrate, pending_migrations};
use signpost_test_servers::postgres::PostgresDatabase;

use super::database::{account, empty, insert, insert_all, migrated, open};

/// They have no hosts of their own, and so have links that a node of the version before inserts.
#[tokio::test]
async fn d126_links_of_older_versions_are_found_by_the_hosts_of_their_targets() {
    let database = migrated().await;
    let store = open(&database).await;
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
    let found = async |host: &str| {
        let target_host = Some(TargetHost::parse(host).unwrap());
        let filter = LinkFilter { target_host, ..LinkFilter::default() };
        let page =
            store.links(account, LinkKind::Redirect, &filter, PageLimit::default(), None).await.unwrap();
        let slug = |link: &Link| link.placement.slug().unwrap().as_str().to_owned();
        page.items.iter().map(slug).collect::<Vec<_>>().join(" ")
    };
    let hosts = ["example.com", "b\u{fc}cher.example", "[2001:db8::1]"];
    let expected = ["ascii", "punycode unicode", "address"];
    for (host, slugs) in hosts.into_iter().zip(expected) {
        assert_eq!(found(host).await, slugs);
    }
    database.run("UPDATE links SET target_host = NULL");
    for (host, slugs) in hosts.into_iter().zip(["ascii", "punycode", ""]) {
        assert_eq!(found(host).await, slugs, "as the version before has left them");
    }
    run_again(&database).await;
    for (host, slugs) in hosts.into_iter().zip(expected) {
        assert_eq!(found(host).await, slugs);
    }
    let stated = database.query("SELECT slug FROM links WHERE target_host IS NULL ORDER BY slug");
    assert_eq!(stated.split_whitespace().collect::<Vec<_>>(), ["ascii", "punycode"]);
}

/// The hosts are written in steps, so that clients wait for few links at a time.
#[tokio::test]
async fn d126_many_links_of_older_versions_are_found_by_the_hosts_of_their_targets() {
    const LINKS: usize = 1_001;
    let database = migrated().await;
    let store = open(&database).await;
    let account = account(&store).await;
    let target = samples::target("https://b\u{fc}cher.example/");
    let link = |number| {
        samples::redirect(&format!("s{number}")).with(|content| content.target_url = target.clone()).into()
    };
    insert_all(&store, account, &(0..LINKS).map(link).collect::<Vec<Link>>()).await;
    database.run("UPDATE links SET target_host = NULL");
    run_again(&database).await;
    assert_eq!(database.query("SELECT count(*) FROM links WHERE target_host IS NULL").trim(), "0");
}

/// Runs the migration of the hosts once more.
async fn run_again(database: &PostgresDatabase) {
    let all = pending_migrations(&empty().url()).await.unwrap();
    let name = all.iter().find(|name| name.ends_with("_international_target_hosts")).unwrap();
    let version = name.split('_').next().unwrap();
    database.run(&format!("DELETE FROM __diesel_schema_migrations WHERE version = '{version}'"));
    assert_eq!(migrate(&database.url()).await.unwrap(), std::slice::from_ref(name));
}
