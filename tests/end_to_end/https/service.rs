//! What opens over HTTPS, and what without it (D181, D182, D194, D195).

use serde_json::{Value, json};
use signpost_test_servers::https_client::HttpsClient;

use crate::harness::domains::path_of;
use crate::harness::https::{ALIAS, API, HttpsScene, OWN_NAMES, SYSTEM, await_found};
use crate::harness::redirect_body;

const HOST: &str = "go.shop.test";
const TARGET: &str = "https://example.com/sale";

/// From an empty store to links, the API and a custom domain behind one port, each with a certificate that a client verifies.
#[test]
fn d181_links_api_and_custom_domains_open_behind_verified_certificates() {
    let Some(scene) = HttpsScene::start() else { return };
    let [account, _] = scene.domains.clients();
    let link = account.new_redirect();
    let slug = format!("/{}", link["slug"].as_str().unwrap());
    scene.await_own_names();
    for host in [SYSTEM, ALIAS] {
        assert_eq!(scene.await_https(host, &slug).status, 302, "{host}");
    }
    let domain = scene.activate(&account, HOST);
    account.create_redirect(&redirect_body(json!({"domain": HOST, "slug": "sale", "target_url": TARGET})));
    for node in scene.nodes() {
        let client = scene.client(node);
        let visit = await_found("the link", || {
            let visit = client.get(HOST, "/sale?a=b").unwrap();
            (visit.status == 302).then_some(visit)
        });
        assert!(visit.header("location").unwrap().starts_with(TARGET), "{visit:?}");
        // Browsers insist on HTTPS only if the operator asks for it (D180).
        assert_eq!(visit.header("strict-transport-security"), None);
        // The name of the API opens no links, and no other name opens the API.
        let key = format!("Bearer {}", account.key);
        let authorization = [("Authorization", key.as_str())];
        assert_eq!(client.get_with(API, "/v1/account", &authorization).unwrap().status, 200);
        for host in [SYSTEM, HOST] {
            assert_eq!(client.get_with(host, "/v1/account", &authorization).unwrap().status, 404, "{host}");
        }
        // The certificate of the handshake must be for the host of the request.
        assert_eq!(client.connect(HOST).unwrap().get(SYSTEM, &slug).status, 421);
        // D182: HTTP/1.1, also for clients that prefer HTTP/2.
        let address = node.tls.as_ref().unwrap().parse().unwrap();
        let modern = HttpsClient::offering(address, &scene.root, &["h2", "http/1.1"]);
        assert_eq!(modern.connect(HOST).unwrap().protocol().as_deref(), Some("http/1.1"));
    }
    assert_eq!(domain["status"], "active");
    assert_shows_certificate(&domain["certificate"]);
    assert_lists_certificates(&scene);
    assert_eq!((scene.pebble.orders(), scene.pebble.issued()), (OWN_NAMES + 1, OWN_NAMES + 1));
}

fn assert_shows_certificate(certificate: &Value) {
    assert_eq!(certificate["status"], "active", "{certificate}");
    assert!(certificate["issuer"].as_str().unwrap().starts_with("Pebble Intermediate CA"), "{certificate}");
    let [renews_at, not_after] = ["renews_at", "not_after"].map(|field| certificate[field].as_str().unwrap());
    assert!(renews_at < not_after, "{certificate}");
    assert!(certificate["last_attempt_at"].is_string(), "{certificate}");
    for field in ["failure_reason", "message"] {
        assert_eq!(certificate[field], Value::Null, "{certificate}");
    }
}

/// D195: the operator's list has every name with its state.
fn assert_lists_certificates(scene: &HttpsScene) {
    let node = scene.domains.first();
    let listed = node.command(&["certificate", "list", "--json"]);
    let mut states: Vec<_> =
        listed.as_array().unwrap().iter().map(|row| [&row["hostname"], &row["status"]]).collect();
    states.sort_by_key(|[hostname, _]| hostname.as_str().unwrap().to_owned());
    assert_eq!(
        json!(states),
        json!([[API, "active"], [HOST, "active"], [SYSTEM, "active"], [ALIAS, "active"]])
    );
    let output = node.run(&["certificate", "list"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let of_host = text.lines().find(|line| line.starts_with(HOST));
    assert!(of_host.is_some_and(|line| line.contains(" active ")), "{text}");
    let shown = node.command(&["certificate", "show", HOST, "--json"]);
    assert_eq!((&shown["status"], &shown["failures"]), (&json!("active"), &json!(0)));
}

/// Port 80 sends visitors to HTTPS once the name has a certificate. It never answers or redirects what is for the API, because
/// the key of such a request travelled unencrypted (D181).
#[test]
fn d181_plain_http_redirects_visitors_and_refuses_the_api() {
    let Some(scene) = HttpsScene::start() else { return };
    let [account, _] = scene.domains.clients();
    scene.await_own_names();
    scene.activate(&account, HOST);
    let domain = account.post("/v1/domains", &json!({"hostname": "new.shop.test"})).expect_status(201).body;
    for node in scene.nodes() {
        let visitor = node.visitor();
        let ask = |method: &str, host: &str, path: &str| visitor.request(method, path, &[("Host", host)]);
        for (method, host) in [("GET", HOST), ("HEAD", SYSTEM), ("GET", ALIAS), ("POST", HOST)] {
            let visit = ask(method, host, "/a%20b?c=d&e=%2F");
            let location = format!("https://{host}/a%20b?c=d&e=%2F");
            assert_eq!((visit.status, visit.location()), (308, Some(location.as_str())), "{visit:?}");
            assert_eq!(visit.header("cache-control"), Some("max-age=300"));
            assert_eq!(visit.header("strict-transport-security"), None);
        }
        for path in ["/", "/v1/account", "/anything"] {
            let visit = ask("GET", API, path);
            assert_eq!((visit.status, visit.location()), (403, None), "{path}: {visit:?}");
        }
        // Names without a certificate are answered here.
        for host in ["new.shop.test", "unknown.shop.test"] {
            let visit = ask("GET", host, "/x");
            assert_eq!((visit.status, visit.location()), (404, None), "{host}: {visit:?}");
        }
    }
    let domain = account.get(&path_of(&domain)).expect_status(200).body;
    assert_eq!((&domain["status"], &domain["certificate"]["status"]), (&json!("pending"), &json!("none")));
}
