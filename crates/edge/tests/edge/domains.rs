//! Links on custom domains, as visitors see them.

use signpost_app::ports::Store;
use signpost_domain::{CustomDomain, CustomDomainStatus, WidgetId};
use signpost_pages::{QrCode, QrOptions};
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Answer, Edge, HOST, UNCHECKED};

const CUSTOM: &str = "links.example.net";

/// An edge with an active domain, which has a link with a slug and one at the root.
async fn started() -> (Edge, CustomDomain) {
    let edge = Edge::start().await;
    let domain = edge.connect_domain(CUSTOM, ACTIVE).await;
    for (slug, target) in [(Some("sale"), "https://example.com/sale"), (None, "https://example.com/root")] {
        let target_url = samples::target(target);
        edge.add(
            &samples::redirect_at(samples::on_custom(CUSTOM, slug))
                .with(|content| content.target_url = target_url),
        )
        .await;
    }
    (edge, domain)
}

fn get(edge: &Edge, host: &str, path: &str) -> Answer {
    edge.request_with("GET", path, &format!("Host: {host}\r\n"))
}

/// Contract D22, D53: at a slug and at the root, with or without a trailing slash, in any spelling of the
/// host.
#[tokio::test(flavor = "multi_thread")]
async fn d22_links_open_on_a_custom_domain() {
    let (edge, _) = started().await;
    for host in [CUSTOM, "LINKS.example.net", "links.example.net.", "links.example.net:8081"] {
        for (path, location) in [
            ("/sale", "https://example.com/sale"),
            ("/s%61le/?x=1", "https://example.com/sale"),
            ("/", "https://example.com/root"),
            ("/?x=1", "https://example.com/root"),
        ] {
            let answer = get(&edge, host, path);
            assert_eq!((answer.status, answer.header("location")), (302, Some(location)), "{host} {path}");
        }
    }
    let absolute = format!("http://{CUSTOM}/");
    let (whole, bare) = (get(&edge, CUSTOM, &absolute), get(&edge, CUSTOM, "/"));
    assert_eq!(whole, bare);
    let head = edge.request_with("HEAD", "/", &format!("Host: {CUSTOM}\r\n"));
    assert_eq!(head, bare);
}

/// Contract D44, D54: an unknown host, an unknown slug, an inactive domain and a removed domain get the same
/// 404, and take effect at once.
#[tokio::test(flavor = "multi_thread")]
async fn d54_domain_answers_404_for_links_it_does_not_serve() {
    let (edge, domain) = started().await;
    let nothing = get(&edge, HOST, "/none");
    assert_eq!(nothing.status, 404);
    for (host, path) in
        [(CUSTOM, "/none"), (CUSTOM, "//"), (HOST, "/sale"), ("nobodys.example.net", "/"), ("192.0.2.7", "/")]
    {
        assert_eq!(get(&edge, host, path), nothing, "{host} {path}");
    }
    let expires_at = samples::at(3_600_000);
    for status in [
        CustomDomainStatus::Pending { expires_at },
        CustomDomainStatus::SslPending { expires_at },
        CustomDomainStatus::Failed,
    ] {
        let mut work = edge.memory.store.begin().await.unwrap();
        work.lock_custom_domain(edge.account, domain.id).await.unwrap().unwrap();
        work.update_custom_domain(&CustomDomain { status, ..domain.clone() }, UNCHECKED).await.unwrap();
        edge.commit(work).await;
        for path in ["/sale", "/"] {
            assert_eq!(get(&edge, CUSTOM, path), nothing, "{status:?} {path}");
        }
    }
    let mut work = edge.memory.store.begin().await.unwrap();
    assert!(work.delete_custom_domain(edge.account, domain.id).await.unwrap());
    edge.commit(work).await;
    assert_eq!(get(&edge, CUSTOM, "/sale"), nothing);
}

/// Contract D59: the root of a domain has a code, and widgets of its pages link through the domain.
#[tokio::test(flavor = "multi_thread")]
async fn d59_codes_and_widgets_work_on_a_custom_domain() {
    let (edge, _) = started().await;
    for (path, link) in
        [("/qr.svg", "https://links.example.net/"), ("/sale/qr.svg", "https://links.example.net/sale")]
    {
        let code = QrCode::new(&QrCode::marked(link), QrOptions::default()).unwrap();
        assert_eq!(get(&edge, CUSTOM, path).body, code.svg(), "{path}");
    }
    let page = samples::landing_at(samples::on_custom(CUSTOM, Some("menu")));
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    let through = format!("/menu/w/{}", WidgetId::from_bytes(3_u128.to_be_bytes()));
    assert!(get(&edge, CUSTOM, "/menu").body.contains(&format!("href=\"{through}\"")));
    let answer = get(&edge, CUSTOM, &through);
    assert_eq!(
        (answer.status, answer.header("location")),
        (302, Some("https://example.com/menu?of=today#top"))
    );
    assert_eq!(get(&edge, HOST, &through).status, 404);
}
