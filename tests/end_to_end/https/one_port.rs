//! Links, the API and the dashboard behind one port, told apart by their hosts (D181).

use signpost_test_servers::certificates::LocalCertificate;

use crate::harness::Program;
use crate::harness::https::{API, SYSTEM, https_client, with_certificate};

const DASHBOARD: &str = "dash.sign.test";

/// Each host has one role, over HTTPS and without it.
#[test]
fn d181_the_host_chooses_between_links_api_and_dashboard() {
    let pair = LocalCertificate::of(&[SYSTEM, API, DASHBOARD]);
    let (_folder, node) = with_certificate(Program::builder(), &pair);
    let program = node
        .setting("api-hostnames", API)
        .setting_of_all("dashboard-url", &format!("https://{DASHBOARD}"))
        .start();
    let account = program.first_account();
    let link = format!("/{}", account.new_redirect()["slug"].as_str().unwrap());
    let client = https_client(&program, &pair.certificate);
    let key = format!("Bearer {}", account.key);
    let secure = |host: &str, path: &str| client.get_with(host, path, &[("Authorization", &key)]).unwrap();
    for (host, path, status) in [
        (SYSTEM, link.as_str(), 302),
        (SYSTEM, "/v1/account", 404),
        (SYSTEM, "/sign-in", 404),
        (API, "/v1/account", 200),
        (API, "/sign-in", 404),
        (API, &link, 404),
        (API, "/tls-allowed?domain=go.sign.test", 404),
        (DASHBOARD, "/sign-in", 200),
        (DASHBOARD, "/v1/account", 404),
        // Whoever is not signed in is sent to the sign-in from every page.
        (DASHBOARD, &link, 303),
    ] {
        let answer = secure(host, path);
        assert_eq!(answer.status, status, "{host}{path}: {answer:?}");
    }
    assert!(secure(DASHBOARD, "/sign-in").body.contains("<form"), "the dashboard's page");
    let plain = |host: &str| {
        let visit = program.visitor().request("GET", "/sign-in", &[("Host", host)]);
        (visit.status, visit.location().map(str::to_owned))
    };
    assert_eq!(plain(DASHBOARD), (308, Some(format!("https://{DASHBOARD}/sign-in"))));
    assert_eq!(plain(SYSTEM), (308, Some(format!("https://{SYSTEM}/sign-in"))));
    assert_eq!(plain(API), (403, None));
}
