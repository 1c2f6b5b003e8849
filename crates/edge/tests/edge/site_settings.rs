//! What visitors of a custom domain get where no link opens, and the files of apps (D127).

use signpost_app::ports::Store;
use signpost_domain::{
    AppFile, AppFileKind, CustomDomain, CustomDomainStatus, DomainFiles, DomainUrls, HostBlocklist, Redirect,
};
use signpost_edge::{EdgeOptions, SystemUrls};
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Answer, Edge, HOST, UNCHECKED, options};

const CUSTOM: &str = "links.example.net";
const ROOT: &str = "https://example.org/shop";
const NOTHING: &str = "https://example.org/nothing?x=1";
const APPLE: &str = "{ \"applinks\" : {} }";
const ASSETS: &str = "[1.50]";

fn urls() -> DomainUrls {
    DomainUrls {
        root_url: Some(samples::target(ROOT)),
        not_found_url: Some(samples::target(NOTHING)),
        expired_url: Some(samples::target("https://example.org/expired")),
    }
}

fn files() -> DomainFiles {
    let file = |text| Some(AppFile::parse(text).unwrap());
    DomainFiles { apple_app_site_association: file(APPLE), asset_links: file(ASSETS) }
}

pub(crate) async fn configure(edge: &Edge, domain: &CustomDomain, urls: DomainUrls, files: &DomainFiles) {
    let mut work = edge.memory.store.begin().await.unwrap();
    let before = work.lock_custom_domain(edge.account, domain.id).await.unwrap().unwrap().domain;
    work.update_domain_settings(&CustomDomain { urls, ..before }, files).await.unwrap();
    edge.commit(work).await;
}

fn get(edge: &Edge, host: &str, path: &str) -> Answer {
    edge.request_with("GET", path, &format!("Host: {host}\r\n"))
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

/// An edge with an active domain that has every setting, and a link.
async fn started(options: EdgeOptions) -> (Edge, CustomDomain, Redirect) {
    let edge = Edge::start_with(InMemory::default(), options, |_| {}).await;
    let domain = edge.connect_domain(CUSTOM, ACTIVE).await;
    let link = samples::redirect_at(samples::on_custom(CUSTOM, Some("sale")))
        .with(|content| content.target_url = samples::target("https://example.com/sale"));
    edge.add(&link).await;
    configure(&edge, &domain, urls(), &files()).await;
    edge.stay_in_sync();
    (edge, domain, link)
}

#[tokio::test(flavor = "multi_thread")]
async fn d127_root_and_unknown_addresses_lead_where_the_domain_says() {
    let (edge, domain, link) = started(options(0)).await;
    let sale = get(&edge, CUSTOM, "/sale");
    assert_eq!(location(&sale), (302, Some("https://example.com/sale")));
    for _ in 0..2 {
        let root = get(&edge, CUSTOM, "/?a=b");
        assert_eq!(location(&root), (302, Some(ROOT)));
        assert_eq!(root.header("cache-control"), sale.header("cache-control"));
        for path in ["/none", "/none/", "/a/b", "/.env", "/none/qr.svg", "/Sale"] {
            let miss = get(&edge, CUSTOM, path);
            assert_eq!(location(&miss), (302, Some(NOTHING)), "{path}");
            assert_eq!(miss.header("cache-control"), sale.header("cache-control"), "{path}");
        }
        let head = edge.request_with("HEAD", "/none", &format!("Host: {CUSTOM}\r\n"));
        assert_eq!(location(&head), (302, Some(NOTHING)));
    }
    // R30: an inactive link is like none.
    edge.update(&link, &Redirect { is_active: false, ..link.clone() }).await;
    assert_eq!(get(&edge, CUSTOM, "/sale"), get(&edge, CUSTOM, "/none"));
    // A link at the root wins, as long as it opens.
    let at_root = samples::redirect_at(samples::on_custom(CUSTOM, None))
        .with(|content| content.target_url = samples::target("https://example.com/root"));
    edge.add(&at_root).await;
    assert_eq!(location(&get(&edge, CUSTOM, "/")), (302, Some("https://example.com/root")));
    edge.update(&at_root, &Redirect { is_active: false, ..at_root.clone() }).await;
    assert_eq!(location(&get(&edge, CUSTOM, "/")), (302, Some(ROOT)));
    // Without settings, everything is as before. Without a URL for the root, it is an address like others.
    let without_root = DomainUrls { root_url: None, ..urls() };
    configure(&edge, &domain, without_root, &DomainFiles::default()).await;
    assert_eq!(location(&get(&edge, CUSTOM, "/")), (302, Some(NOTHING)));
    configure(&edge, &domain, DomainUrls::default(), &DomainFiles::default()).await;
    let nothing = get(&edge, HOST, "/none");
    for path in ["/", "/none", "/sale", AppFileKind::AssetLinks.path()] {
        assert_eq!(get(&edge, CUSTOM, path), nothing, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d127_files_are_served_byte_for_byte_without_a_redirect() {
    let (edge, domain, _) = started(options(0)).await;
    let [apple, assets] = AppFileKind::ALL.map(AppFileKind::path);
    for _ in 0..2 {
        for (path, text) in [(apple, APPLE), (assets, ASSETS)] {
            let file = get(&edge, CUSTOM, path);
            assert_eq!((file.status, file.body.as_str()), (200, text), "{path}");
            assert_eq!(file.header("content-type"), Some("application/json"));
            assert_eq!(file.header("cache-control"), Some("private, no-store"));
            let head = edge.request_with("HEAD", path, &format!("Host: {CUSTOM}\r\n"));
            assert_eq!((head.status, head.body.as_str()), (200, ""), "{path}");
            assert_eq!(head.header("content-type"), Some("application/json"));
            assert_eq!(head.header("content-length"), Some(text.len().to_string().as_str()));
        }
    }
    let nothing = get(&edge, HOST, "/none");
    for (host, path) in [
        (HOST, apple),
        ("nobodys.example.net", assets),
        (CUSTOM, "/.well-known/other"),
        (CUSTOM, "/.well-known/assetlinks.json/"),
        (CUSTOM, "/favicon.icon/.well-known/assetlinks.json"),
    ] {
        let answer = get(&edge, host, path);
        let is_automatic = path.starts_with("/.well-known/");
        assert_eq!(answer == nothing, is_automatic, "{host} {path}: {answer:?}");
    }
    configure(&edge, &domain, urls(), &DomainFiles { asset_links: None, ..files() }).await;
    assert_eq!(get(&edge, CUSTOM, assets), nothing, "no redirect to `not_found_url`");
    assert_eq!(get(&edge, CUSTOM, apple).status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn d44_d127_only_a_domain_that_serves_links_uses_its_settings() {
    let (edge, domain, _) = started(options(0)).await;
    let nothing = get(&edge, HOST, "/none");
    let paths = ["/", "/none", AppFileKind::AppleAppSiteAssociation.path()];
    let are_used = || paths.map(|path| get(&edge, CUSTOM, path) != nothing);
    assert_eq!(are_used(), [true; 3]);
    let expires_at = samples::at(3_600_000);
    for (status, expected) in [
        (CustomDomainStatus::Pending { expires_at }, false),
        (ACTIVE, true),
        (CustomDomainStatus::SslPending { expires_at }, false),
        (CustomDomainStatus::Failed, false),
        (ACTIVE, true),
    ] {
        let mut work = edge.memory.store.begin().await.unwrap();
        work.lock_custom_domain(edge.account, domain.id).await.unwrap().unwrap();
        work.update_custom_domain(&CustomDomain { status, ..domain.clone() }, UNCHECKED).await.unwrap();
        edge.commit(work).await;
        assert_eq!(are_used(), [expected; 3], "{status:?}");
    }
    for since in [Some(samples::at(1)), None] {
        let mut work = edge.memory.store.begin().await.unwrap();
        work.set_suspended(edge.account, since).await.unwrap();
        edge.commit(work).await;
        assert_eq!(are_used(), [since.is_none(); 3], "{since:?}");
    }
}

/// Contract D54: each of them is a miss, whatever the answer. The files never count.
#[tokio::test(flavor = "multi_thread")]
async fn d54_d127_misses_count_and_the_root_and_files_do_not() {
    let (edge, ..) = started(options(3)).await;
    for number in 0..10 {
        assert_eq!(get(&edge, CUSTOM, "/").status, 302);
        assert_eq!(get(&edge, CUSTOM, AppFileKind::AssetLinks.path()).status, 200);
        assert_eq!(get(&edge, "nobodys.example.net", AppFileKind::AssetLinks.path()).status, 404, "{number}");
    }
    for _ in 0..3 {
        assert_eq!(location(&get(&edge, CUSTOM, "/none")), (302, Some(NOTHING)));
    }
    assert_eq!(get(&edge, CUSTOM, "/none").status, 429);
    assert_eq!(get(&edge, CUSTOM, "/").status, 302, "it is in memory");
    assert_eq!(get(&edge, CUSTOM, AppFileKind::AssetLinks.path()).status, 200, "it is in memory");
    assert_eq!(get(&edge, CUSTOM, AppFileKind::AppleAppSiteAssociation.path()).status, 429, "it is not");
}

/// A flood of unknown slugs reads the store once for each slug, and once for the domain.
#[tokio::test(flavor = "multi_thread")]
async fn d127_a_flood_of_misses_reads_the_settings_once() {
    let (edge, ..) = started(options(0)).await;
    let store = &edge.memory.store;
    let reads = || (store.link_reads().count(), store.site_reads().count());
    let (links, sites) = reads();
    for number in 0..50 {
        assert_eq!(get(&edge, CUSTOM, &format!("/none-{number}")).status, 302);
    }
    assert_eq!(reads(), (links + 50, sites + 1));
    for _ in 0..50 {
        assert_eq!(get(&edge, CUSTOM, "/none-1").status, 302);
        assert_eq!(get(&edge, CUSTOM, "/sale").status, 302);
    }
    assert_eq!(reads().1, sites + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn d24_d127_a_host_that_is_listed_by_now_gets_no_visitors() {
    let (edge, ..) = started(options(0)).await;
    assert_eq!(location(&get(&edge, CUSTOM, "/none")), (302, Some(NOTHING)));
    edge.memory.target_blocklist.replace(HostBlocklist::parse("example.org").unwrap());
    let nothing = get(&edge, HOST, "/none");
    for path in ["/none", "/"] {
        assert_eq!(get(&edge, CUSTOM, path), nothing, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d127_the_system_domain_has_urls_in_the_settings() {
    let system_urls =
        SystemUrls { root: Some(samples::target(ROOT)), not_found: Some(samples::target(NOTHING)) };
    let edge = Edge::start_with(InMemory::default(), EdgeOptions { system_urls, ..options(2) }, |_| {}).await;
    for _ in 0..3 {
        assert_eq!(location(&get(&edge, HOST, "/")), (302, Some(ROOT)));
        assert_eq!(get(&edge, HOST, AppFileKind::AssetLinks.path()).status, 404);
    }
    assert_eq!(get(&edge, "nobodys.example.net", "/").status, 404, "it is no name of the system domain");
    assert_eq!(location(&get(&edge, HOST, "/none")), (302, Some(NOTHING)));
    assert_eq!(get(&edge, HOST, "/none").status, 429);
}
