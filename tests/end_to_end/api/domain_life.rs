//! The life of a custom domain: connected, proven by the records that it asked for, with links at slug and root, pointed
//! elsewhere, removed (contract "Domain", "States"; D22, D23, D38 to D44).
//!
//! On servers there are two nodes, and each step is made at another one than the step before.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_test_servers::dns::Record;

use crate::harness::domains::{DomainScene, connect, path_of, tls_allowed, verify, visit};
use crate::harness::{Account, Program, body_with, redirect_body};

const HOST: &str = "go.shop.test";
const TARGET: &str = "https://example.com/";

fn link(account: &Account, fields: Value) -> Value {
    account.create_redirect(&redirect_body(body_with(json!({"target_url": TARGET}), fields)))
}

/// Contract D38, D39, D22, D43: all of it in its order. What is active stays so while its records are wrong, for three days
/// and without proof; with its domain a link loses its address, keeps its slug, and comes back.
#[test]
fn a_domain_lives_from_its_connection_to_the_way_back_of_its_links() {
    let scene = DomainScene::start();
    let [one, other] = scene.clients();
    let domain = connect(&one, HOST);
    assert_eq!(verify(&other, &domain), domain);
    assert_explained(&one, &domain, ["missing", "missing"], &[json!([]), json!([])]);
    assert_nothing_is_served(&scene, scene.first());
    scene.publish(&[&domain]);
    let proof = json!([domain["dns_instructions"][1]["value"]]);
    let active = verify(&other, &domain);
    assert_eq!(active, body_with(domain.clone(), json!({"status": "active", "expires_at": null})));
    scene.assert_leads(scene.last(), HOST, "/", None);
    let links = LinksOfDomain {
        sale: link(&one, json!({"domain": HOST, "slug": "sale"})),
        root: link(&other, json!({"domain": HOST, "slug": null})),
        menu: one.post("/v1/landings", &json!({"title": MENU, "domain": HOST, "slug": "menu"})).body,
    };
    let addresses = links.all().map(|(link, _)| link["url"].clone());
    assert_eq!(addresses, ["sale", "", "menu"].map(|path| json!(format!("http://{HOST}/{path}"))));
    // The link at the root was made on the other node.
    scene.assert_leads_soon(HOST, "/", Some(TARGET));
    assert_all_is_served(&scene, scene.first());
    scene.dns.remove(&format!("_signpost.{HOST}"));
    assert_eq!(verify(&other, &domain), active);
    scene.dns.set(HOST, [Record::alias("parking.example.org")]);
    assert_eq!(verify(&one, &domain), active);
    assert_explained(&other, &domain, ["wrong", "found"], &[json!(["parking.example.org"]), proof]);
    scene.withdraw(&domain);
    assert_eq!(verify(&other, &domain), active);
    assert_all_is_served(&scene, scene.last());
    let removed = one.delete(&path_of(&domain)).expect_status(200).body;
    let expected = (&domain["id"], &json!("domain"), &json!(true));
    assert_eq!((&removed["id"], &removed["object"], &removed["deleted"]), expected);
    assert_nothing_is_served(&scene, scene.first());
    for client in [&one, &other] {
        client.get(&path_of(&domain)).expect_error(404, "domain_not_found");
        client.delete(&path_of(&domain)).expect_error(404, "domain_not_found");
        assert_eq!(client.get("/v1/account").body["usage"]["domains"], 0);
    }
    links.assert_are_lost([&one, &other]);
    links.assert_come_back(&scene, [&one, &other]);
    // The same account has the hostname back at once, as a new domain, and links as it places them.
    let again = connect(&one, HOST);
    assert_ne!(again["id"], domain["id"]);
    assert_eq!(again["dns_instructions"], domain["dns_instructions"]);
    scene.publish(&[&again]);
    assert_eq!(verify(&other, &again)["status"], "active");
    scene.assert_leads(scene.last(), HOST, "/", None);
    one.patch(&path_of(&links.root), &json!({"domain": HOST})).expect_status(200);
    scene.assert_leads(scene.first(), HOST, "/", Some(TARGET));
}

/// Contract D65: what the last look-up of each record saw is shown at every node, alone and in the list.
#[track_caller]
fn assert_explained(client: &Account, domain: &Value, statuses: [&str; 2], observed: &[Value; 2]) {
    let shown = client.get(&path_of(domain)).expect_status(200).body;
    assert_eq!(client.walk("/v1/domains", "")[0]["dns_instructions"], shown["dns_instructions"]);
    let dates = ["checked_at", "next_check_at"].map(|field| shown[field].is_string());
    assert!(dates == [true, true] && shown["failure_reason"].is_null(), "{shown}");
    let records = shown["dns_instructions"].as_array().unwrap();
    for ((record, status), observed) in records.iter().zip(statuses).zip(observed) {
        assert_eq!((&record["status"], &record["observed"]), (&json!(status), observed), "{shown}");
    }
}

/// The title of a landing page.
const MENU: &str = "Menu of the day";

/// A link at a slug, one at the root, and a landing page.
struct LinksOfDomain {
    sale: Value,
    root: Value,
    menu: Value,
}

impl LinksOfDomain {
    /// With their slugs.
    fn all(&self) -> [(&Value, Value); 3] {
        [(&self.sale, json!("sale")), (&self.root, Value::Null), (&self.menu, json!("menu"))]
    }

    /// They have no address but keep their slugs, and stay lost through other changes (D22).
    #[track_caller]
    fn assert_are_lost(&self, [one, other]: [&Account; 2]) {
        for (link, slug) in self.all() {
            let edited = json!({"note": "on its way"});
            for lost in [
                one.get(&path_of(link)),
                other.get(&path_of(link)),
                one.patch(&path_of(link), &edited),
                other.get(&path_of(link)),
            ] {
                let lost = lost.expect_status(200).body;
                let place = [&lost["domain"], &lost["url"], &lost["slug"]];
                assert_eq!(place, [&Value::Null, &Value::Null, &slug]);
            }
        }
        one.patch(&path_of(&self.sale), &json!({"domain": HOST})).expect_error(404, "domain_not_found");
    }

    /// On the system domain, by either of its names; only with a slug.
    #[track_caller]
    fn assert_come_back(&self, scene: &DomainScene, [one, other]: [&Account; 2]) {
        let Self { sale, root, menu } = self;
        one.patch(&path_of(root), &json!({"domain": null}))
            .expect_error(400, "slug_required_for_system_domain");
        let back = other.patch(&path_of(sale), &json!({"domain": null})).expect_status(200).body;
        assert_eq!(back["url"], "http://localhost:8081/sale");
        scene.assert_leads(scene.last(), "localhost", "/sale", Some(TARGET));
        other.patch(&path_of(menu), &json!({"domain": "localhost"})).expect_status(200);
        scene.assert_shows(scene.last(), "localhost", "/menu", MENU);
        assert_nothing_is_served(scene, scene.last());
    }
}

/// Visitors get the links, and there may be a certificate.
#[track_caller]
fn assert_all_is_served(scene: &DomainScene, made_by: &Program) {
    for path in ["/sale", "/"] {
        scene.assert_leads(made_by, HOST, path, Some(TARGET));
    }
    scene.assert_shows(made_by, HOST, "/menu", MENU);
    assert!(scene.may_have_certificate(HOST));
}

/// Visitors get the 404 page, and there is no certificate.
#[track_caller]
fn assert_nothing_is_served(scene: &DomainScene, made_by: &Program) {
    for path in ["/sale", "/", "/menu"] {
        scene.assert_leads(made_by, HOST, path, None);
    }
    for node in &scene.nodes {
        assert_eq!(visit(node, HOST, "/sale").body, visit(node, "localhost", "/nothing").body);
        assert_eq!(tls_allowed(node, &format!("?domain={HOST}")).status, 404);
    }
}

/// How long to wait for the background checks. One that was claimed by a killed node is due again after a minute.
const PATIENCE: Duration = Duration::from_mins(3);

/// Contract D42: nobody has to ask for it. Whichever node does it, each domain is checked once; on servers the node that
/// connected the domains is gone.
#[test]
fn d42_the_background_finds_the_records() {
    let mut scene = DomainScene::start();
    let [one, _] = scene.clients();
    let hostnames: Vec<String> = (0..6).map(|number| format!("go.shop{number}.test")).collect();
    for hostname in &hostnames {
        scene.publish_beforehand(&one, hostname);
        connect(&one, hostname);
    }
    let mut first = scene.nodes.remove(0);
    first.kill();
    if scene.nodes.is_empty() {
        first.start_again();
        scene.nodes.push(first);
    }
    let node = scene.first();
    let since = Instant::now();
    for hostname in &hostnames {
        while !scene.may_have_certificate(hostname) {
            assert!(since.elapsed() < PATIENCE, "{hostname}: {}", node.log());
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    // On a busy machine the killed node may have checked some of them.
    let checks: usize = node.metric("signpost_domain_checks_total{outcome=\"changed\"}").parse().unwrap();
    assert!(checks <= hostnames.len(), "{checks} checks");
    let account = node.client_of(&one);
    let domains = account.walk("/v1/domains", "");
    assert_eq!(domains.len(), hostnames.len());
    for domain in domains {
        assert_eq!((&domain["status"], &domain["expires_at"]), (&json!("active"), &Value::Null));
    }
}
