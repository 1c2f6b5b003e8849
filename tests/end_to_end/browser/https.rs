//! A custom domain with a certificate of a private authority, as a browser sees it (D181, D182).

use serde_json::json;

use crate::harness::Store;
use crate::harness::https::HttpsScene;
use crate::tab::Tab;
use crate::visitor::Visitor;

const HOST: &str = "go.shop.test";

/// Over HTTPS from the first request on, in a context that browsers call secure, and without a certificate error that was ignored. A
/// browser that does not trust the authority refuses the same page.
#[test]
fn d181_a_custom_domain_opens_over_https() {
    let Some(distrustful) = Tab::of(&Visitor::default()) else { return };
    let Some(scene) = HttpsScene::start_on(Store::Embedded, |node| node) else { return };
    let Some(tab) = Tab::trusting(&scene.root, &Visitor::default()) else { return };
    let [account, _] = scene.domains.clients();
    scene.activate(&account, HOST);
    let page = json!({"title": "Opening hours", "domain": HOST, "slug": "hours", "widgets": []});
    account.post("/v1/landings", &page).expect_status(201);
    let node = scene.domains.first();
    let address = node.tls.as_ref().unwrap();
    let (_, port) = address.rsplit_once(':').unwrap();
    let origin = format!("https://{HOST}:{port}");
    let refusal = distrustful.refusal_of(&format!("{origin}/hours"));
    assert_eq!(refusal.as_deref(), Some("net::ERR_CERT_AUTHORITY_INVALID"));
    tab.open(&format!("{origin}/hours"));
    assert_eq!(tab.evaluate::<String>("document.querySelector('h1').textContent"), "Opening hours");
    assert!(tab.evaluate::<bool>("isSecureContext"));
    let protocol = "performance.getEntriesByType('navigation')[0].nextHopProtocol";
    assert_eq!(tab.evaluate::<String>(protocol), "http/1.1");
    assert_eq!(tab.certificate_of(&origin), scene.client(node).connect(HOST).unwrap().certificate());
}
