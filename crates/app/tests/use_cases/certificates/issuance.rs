//! From a proven hostname to its certificate.

use std::sync::Arc;

use signpost_app::Application;
use signpost_app::background::{Job, ObtainCertificates};
use signpost_app::certificates::handshake_proof;
use signpost_domain::{CaaRecord, ValidationMethod};
use signpost_memory::AuthorityCall;
use signpost_port_contracts::samples;

use super::{DAY, HOUR, MINUTE, SECOND, Scene, clock_now, run};
use crate::domain_owners::HOST;
use crate::given_domains::{ACTIVE, given_domain};

#[tokio::test]
async fn d194_a_proven_domain_is_served_once_its_certificate_is_stored() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    let waiting = scene.shown(domain.id).await;
    assert_eq!((waiting.status.as_str(), waiting.not_after), ("ordering", None));
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.status(domain.id).await, "active");
    let shown = scene.shown(domain.id).await;
    assert_eq!((shown.status.as_str(), shown.failure), ("active", None));
    assert!(shown.issuer.is_some() && shown.renews_at < shown.not_after && shown.not_after.is_some());
    assert_eq!(scene.orders_of(HOST), 1);
    let stored = scene.world.app.store.certificate(&domain.hostname).await.unwrap().unwrap();
    assert!(
        scene
            .world
            .app
            .issuance
            .as_ref()
            .unwrap()
            .open_key(&domain.hostname, &stored.served.unwrap())
            .is_some()
    );
}

#[tokio::test]
async fn d194_without_an_authority_domains_have_no_certificate() {
    let scene = Scene::new().await;
    let plain = Arc::new(scene.world.memory.application());
    let owner = scene.owner().await;
    let id = owner.connect(HOST).await.id;
    owner.publish_proof(HOST);
    scene.world.point_here(HOST);
    scene.world.memory.clock.advance(MINUTE);
    run(&plain).await;
    assert_eq!((scene.status(id).await, scene.certificate_status(id).await), ("active", "none"));
}

#[tokio::test]
async fn d194_turning_the_authority_on_orders_for_active_domains() {
    let scene = Scene::new().await;
    let domain = given_domain(&scene.world.app, scene.world.account.id, HOST, ACTIVE).await;
    scene.world.point_here(HOST);
    assert_eq!(scene.certificate_status(domain.id).await, "none");
    scene.pass(3 * SECOND).await;
    assert_eq!(
        (scene.status(domain.id).await, scene.certificate_status(domain.id).await),
        ("active", "active")
    );
}

#[tokio::test]
async fn d186_nodes_share_the_work_without_ordering_twice() {
    let scene = Scene::new().await;
    let mut domains = Vec::new();
    for number in 0..20 {
        domains.push(scene.proven(&format!("links-{number}.shop-{number}.com")).await);
    }
    let (one, other) = (&scene.world.app, scene.node(1, &[]));
    for _ in 0..10 {
        let step = |app: &Arc<Application>| {
            let job = ObtainCertificates::new(Arc::clone(app));
            async move { job.step().await.unwrap() }
        };
        let _ = futures_util::future::join(step(one), step(&other)).await;
        scene.world.memory.clock.advance(SECOND);
    }
    assert_eq!(scene.authority.orders().len(), 20);
    assert_eq!(scene.authority.calls(AuthorityCall::Register), 1);
    for domain in domains {
        assert_eq!(scene.status(domain.id).await, "active");
    }
}

#[tokio::test]
async fn d186_the_first_names_do_not_wait_for_each_others_account() {
    let scene = Scene::new().await;
    let names: Vec<_> = (0..8).map(|number| format!("go-{number}.signpost.example")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let node = scene.node(1, &names);
    scene.pass_on(&[&node], 3 * SECOND).await;
    assert_eq!(scene.authority.calls(AuthorityCall::Register), 1);
    for name in names {
        let stored = node.store.certificate(&samples::hostname(name)).await.unwrap().unwrap();
        assert!(stored.served.is_some(), "{name}");
    }
}

#[tokio::test]
async fn d189_the_installations_own_names_get_certificates() {
    let scene = Scene::new().await;
    let node = scene.node(1, &["go.signpost.example", "api.signpost.example"]);
    scene.pass_on(&[&node], 3 * SECOND).await;
    for name in ["go.signpost.example", "api.signpost.example"] {
        let stored = node.store.certificate(&samples::hostname(name)).await.unwrap().unwrap();
        assert!(stored.served.is_some() && stored.account.is_none(), "{name}");
    }
    // A node without these names leaves them alone.
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.authority.orders().len(), 2);
}

#[tokio::test]
async fn d189_a_hostname_that_leads_elsewhere_gets_no_order() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.world.point_elsewhere(HOST);
    scene.pass(5 * MINUTE).await;
    assert_eq!(scene.orders_of(HOST), 0);
    assert_eq!(scene.certificate_status(domain.id).await, "failing");
    assert_eq!(scene.reason(domain.id).await.as_deref(), Some("points_elsewhere"));
    scene.world.point_here(HOST);
    scene.pass(10 * MINUTE).await;
    assert_eq!(scene.status(domain.id).await, "active");
}

fn issue(value: &str) -> CaaRecord {
    CaaRecord { is_critical: false, tag: "issue".to_owned(), value: value.as_bytes().to_vec() }
}

#[tokio::test]
async fn d189_caa_records_that_forbid_reach_the_authority_with_no_order() {
    let scene = Scene::new().await;
    let dns = &scene.world.memory.dns;
    for (host, at, record, may_order) in [
        ("a.one.com", "a.one.com", issue("other.example.net"), false),
        ("a.two.com", "two.com", issue("other.example.net"), false),
        ("a.three.com", "three.com", issue("fake.example.net"), true),
        ("a.four.com", "a.four.com", issue("fake.example.net; validationmethods=dns-01"), false),
        (
            "a.five.com",
            "a.five.com",
            issue("fake.example.net; accounturi=https://fake.example.net/other"),
            false,
        ),
        ("a.six.com", "six.com", issue(";"), false),
        (
            "a.seven.com",
            "a.seven.com",
            CaaRecord { is_critical: true, tag: "tbs".to_owned(), value: b"unknown".to_vec() },
            false,
        ),
        // The alias leads to it.
        ("a.eight.com", "edge.example.net", issue("other.example.net"), false),
    ] {
        let domain = scene.given(host).await;
        if at == host {
            // An alias could have no other records, so the hostname leads here by its address.
            dns.set_addresses(host, ["192.0.2.1".parse().unwrap()]);
        }
        dns.set_caa(at, [record]);
        scene.pass(5 * SECOND).await;
        assert_eq!(scene.orders_of(host), usize::from(may_order), "{host}");
        let expected = (!may_order).then_some("caa_forbids");
        assert_eq!(scene.reason(domain.id).await.as_deref(), expected, "{host}");
    }
}

#[tokio::test]
async fn d189_name_servers_that_do_not_answer_are_no_refusal() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.world.memory.dns.set_unavailable(true);
    scene.pass(HOUR).await;
    assert_eq!((scene.orders_of(HOST), scene.reason(domain.id).await.as_deref()), (0, Some("dns_failed")));
    assert_eq!(scene.certificate_status(domain.id).await, "ordering", "it is no failure");
    scene.world.memory.dns.set_unavailable(false);
    scene.pass(6 * MINUTE).await;
    assert_eq!(scene.status(domain.id).await, "active");
}

#[tokio::test]
async fn d188_any_node_answers_a_challenge_of_its_hostname_only() {
    use signpost_app::certificates::challenge_answer;
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.authority.set_slow(1_000, 0, None);
    scene.pass(2 * SECOND).await;
    let [(hostname, challenge)] = scene.authority.open_challenges().try_into().unwrap();
    assert_eq!(hostname, domain.hostname);
    let other = scene.node(1, &[]);
    let answer = challenge_answer(&other, &hostname, &challenge.token).await.unwrap();
    assert_eq!(answer, Some(challenge.key_authorization));
    let elsewhere = samples::hostname("other.shop.com");
    for (hostname, token) in [
        (&elsewhere, challenge.token.as_str()),
        (&hostname, "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        (&hostname, "../../etc/passwd"),
        (&hostname, ""),
    ] {
        assert_eq!(challenge_answer(&other, hostname, token).await.unwrap(), None, "{token}");
    }
    scene.world.memory.clock.advance(11 * MINUTE);
    assert_eq!(challenge_answer(&other, &hostname, &challenge.token).await.unwrap(), None, "it has expired");
}

#[tokio::test]
async fn d188_a_closed_port_80_leads_to_the_handshake_which_is_remembered() {
    let scene = Scene::new().await;
    let hostname = samples::hostname(HOST);
    scene.authority.close_port_80(&hostname);
    let domain = scene.proven(HOST).await;
    scene.pass(4 * MINUTE).await;
    assert_eq!(scene.status(domain.id).await, "active");
    let [http, tls] =
        [ValidationMethod::Http, ValidationMethod::TlsAlpn].map(|method| (hostname.clone(), method));
    assert_eq!(scene.authority.validations(), [http, tls.clone()]);
    // The renewal does not try the closed port again.
    scene.pass(61 * DAY).await;
    assert_eq!(scene.orders_of(HOST), 3);
    assert_eq!(scene.authority.validations()[2..], [tls]);
}

#[tokio::test]
async fn d188_a_handshake_is_answered_for_its_hostname_until_the_order_ends() {
    let scene = Scene::new().await;
    scene.authority.set_slow(3, 0, None);
    scene.proven(HOST).await;
    run(&scene.world.app).await;
    let [(_, challenge)] = scene.authority.open_challenges().try_into().unwrap();
    let other = scene.node(1, &[]);
    let proof = async |host| handshake_proof(&other, &samples::hostname(host)).await.unwrap();
    assert_eq!(proof(HOST).await, Some(challenge.key_authorization));
    assert_eq!(proof("other.example.com").await, None);
    scene.pass(10 * SECOND).await;
    assert_eq!(proof(HOST).await, None, "the order has ended");
    let without = Application { issuance: None, ..scene.world.memory.application() };
    assert_eq!(handshake_proof(&without, &samples::hostname(HOST)).await.unwrap(), None);
}

#[tokio::test]
async fn d198_a_deleted_domain_loses_its_certificate_at_once() {
    let scene = Scene::new().await;
    let domain = scene.served(HOST).await;
    scene.owner().await.delete(domain.id).await.unwrap();
    assert_eq!(scene.world.app.store.certificate(&domain.hostname).await.unwrap(), None);
    scene.pass(HOUR).await;
    assert_eq!(scene.orders_of(HOST), 1);
}

#[tokio::test]
async fn d190_verify_asks_for_the_certificate_early_once_in_ten_minutes() {
    let scene = Scene::new().await;
    let domain = scene.proven(HOST).await;
    scene.world.point_elsewhere(HOST);
    // Three failures, and the next attempt is most of two hours away.
    scene.pass(12 * MINUTE).await;
    scene.world.point_here(HOST);
    let planned = scene.shown(domain.id).await.next_attempt_at.unwrap();
    assert!(planned > clock_now(&scene.world).plus(HOUR));
    let owner = scene.owner().await;
    for (wait, is_early) in [(MINUTE, false), (10 * MINUTE, true)] {
        scene.world.memory.clock.advance(wait);
        assert_eq!(owner.verify(domain.id).await, "ssl_pending");
        let next = scene.shown(domain.id).await.next_attempt_at.unwrap();
        assert_eq!(next <= clock_now(&scene.world), is_early, "{wait:?}");
    }
    scene.pass(3 * SECOND).await;
    assert_eq!(scene.status(domain.id).await, "active");
}
