//! R21: "could not ask" is never "no" (D42), and a wrong or hostile answer costs a bounded time and at most a failed check.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_test_servers::dns::{Behaviour, Record};

use crate::harness::domains::{DomainScene, EDGE, connect, send_verification, shown, verify, verify_path};
use crate::harness::{Account, SetWhenDropped, concurrently, redirect_body};

/// One look-up ends within four seconds, and a check makes two that follow each other at most. The rest is for a busy
/// machine, on which the requests run side by side or are sent again.
const BOUND: Duration = Duration::from_secs(50);

const FAILURES: [Behaviour; 12] = [
    Behaviour::ServFail,
    Behaviour::Refused,
    Behaviour::Silent,
    Behaviour::TruncateAll,
    Behaviour::TruncateUdpAndResetTcp,
    Behaviour::ForeignRecords,
    Behaviour::Referral,
    Behaviour::Ignorant,
    Behaviour::WrongId,
    Behaviour::Junk,
    Behaviour::CutOff,
    Behaviour::Echo,
];

fn behave(scene: &DomainScene, domain: &Value, behaviour: Behaviour) {
    for record in domain["dns_instructions"].as_array().unwrap() {
        scene.dns.behave_for(record["name"].as_str().unwrap(), behaviour);
    }
}

fn hostname_of(domain: &Value) -> &str {
    domain["hostname"].as_str().unwrap()
}

/// Pending and active domains, each with a name server that fails in its way: 503, nothing changes, links go on. As soon as it
/// answers, so does the service.
#[test]
fn r21_a_name_server_that_fails_changes_nothing() {
    let scene = DomainScene::start();
    let [account, elsewhere] = scene.clients();
    let mut domains = Vec::new();
    for (number, failure) in FAILURES.into_iter().enumerate() {
        let active = scene.activate(&account, &format!("active.shop{number}.test"));
        let on_it = json!({"domain": hostname_of(&active), "slug": null});
        account.create_redirect(&redirect_body(on_it));
        let pending = connect(&account, &format!("pending.shop{number}.test"));
        // The proof is there for every resolver that gets an answer.
        behave(&scene, &pending, failure);
        scene.publish(&[&pending]);
        behave(&scene, &active, failure);
        domains.extend([(active, failure), (pending, failure)]);
    }
    concurrently(domains.len(), |number| {
        let (domain, failure) = &domains[number];
        let asked = Instant::now();
        let client = if number % 2 == 0 { &account } else { &elsewhere };
        let answer = client.post(&verify_path(domain), &json!({}));
        assert!(asked.elapsed() < BOUND, "{failure:?}: {:?}", asked.elapsed());
        assert_eq!((answer.status, answer.code()), (503, "domain_provider_unavailable"), "{failure:?}");
        assert_eq!(shown(client, domain), *domain, "{failure:?}");
    });
    // One after the other, because a node answers only two questions about certificates at once.
    for (domain, failure) in &domains {
        let serves = domain["status"] == "active";
        assert_eq!(scene.may_have_certificate(hostname_of(domain)), serves, "{failure:?}");
        let target = serves.then_some("https://example.com");
        scene.assert_leads(scene.first(), hostname_of(domain), "/", target);
    }
    for (domain, _) in &domains {
        behave(&scene, domain, Behaviour::Answer);
        assert_eq!(verify(&elsewhere, domain)["status"], "active");
    }
}

/// What name servers say of whoever wants to do harm: that the hostname is not theirs, or nothing that can be used. The
/// service goes on meanwhile.
#[test]
fn hostile_answers_cost_a_bounded_time_and_at_most_a_failed_check() {
    let scene = DomainScene::start();
    let [account, elsewhere] = scene.clients();
    let scenes: [(&str, Scenery); 10] = [
        ("10,000 records", |scene, host, proof| {
            // The right one is beyond what an answer can hold.
            let others = (0..10_000).map(|number| Record::text(&format!("other {number:05}")));
            scene.dns.set(&format!("_signpost.{host}"), others.chain([Record::text(proof)]));
        }),
        ("long records", |scene, host, _| {
            let long = (0..15).map(|_| Record::text(&"signpost-verification=".repeat(190)));
            scene.dns.set(&format!("_signpost.{host}"), long);
        }),
        ("bytes that are no text", |scene, host, _| {
            let junk = (0..200_u8).map(|byte| Record::Txt(vec![vec![byte; 255], vec![0xff; 40], Vec::new()]));
            scene.dns.set(&format!("_signpost.{host}"), junk);
        }),
        ("text that commands", |scene, host, _| {
            let texts = ["\u{1b}]0;owned\u{7}", "a\u{202e}b", "\0", "\r\nSet-Cookie: a=b", "\u{e0041}"];
            scene.dns.set(&format!("_signpost.{host}"), texts.map(Record::text));
        }),
        ("a proof in pieces", |scene, host, proof| {
            let (head, tail) = proof.split_at(proof.len() / 2);
            scene.dns.set(&format!("_signpost.{host}"), [Record::text(head), Record::text(tail)]);
        }),
        ("a circle of aliases", |scene, host, _| {
            scene.dns.set(host, [Record::alias(&format!("other.{host}"))]);
            scene.dns.set(&format!("other.{host}"), [Record::alias(host)]);
        }),
        ("an alias of itself", |scene, host, _| {
            scene.dns.set(host, [Record::alias(host)]);
        }),
        ("aliases without end", |scene, host, _| {
            let name =
                |number: usize| if number == 0 { host.to_owned() } else { format!("n{number}.{host}") };
            for number in 0..40 {
                scene.dns.set(&name(number), [Record::alias(&name(number + 1))]);
            }
            scene.dns.set(&name(40), [Record::alias(EDGE)]);
        }),
        ("one address too many", |scene, host, _| {
            scene.dns.set(host, [Record::address("192.0.2.10"), Record::address("198.51.100.66")]);
        }),
        ("2,000 addresses", |scene, host, _| {
            let addresses = (0..2_000_u32).map(|number| Record::A((0xc633_6400 + number).into()));
            scene.dns.set(host, addresses);
        }),
    ];
    let mut domains = Vec::new();
    for (number, (_, scenery)) in scenes.iter().enumerate() {
        let domain = connect(&account, &format!("go.shop{number}.test"));
        // A background check must not see the right records.
        behave(&scene, &domain, Behaviour::ServFail);
        scene.publish(&[&domain]);
        let proof = domain["dns_instructions"][1]["value"].as_str().unwrap();
        scenery(&scene, hostname_of(&domain), proof);
        behave(&scene, &domain, Behaviour::Answer);
        domains.push(domain);
    }
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let meanwhile = scope.spawn(|| slowest_answer(&account, &is_over));
        let over = SetWhenDropped(&is_over);
        for (domain, (what, _)) in domains.iter().zip(&scenes) {
            for client in [&account, &elsewhere] {
                let asked = Instant::now();
                let answer = send_verification(client, domain).expect_status(200);
                assert!(asked.elapsed() < BOUND, "{what}: {:?}", asked.elapsed());
                assert_eq!(shown(client, domain), *domain, "{what}");
                let size = assert_bounded(&answer.body);
                assert!(size < 16 * 1024, "{what}: {size} bytes");
                assert!(!scene.may_have_certificate(hostname_of(domain)), "{what}");
            }
        }
        drop(over);
        let slowest = meanwhile.join().unwrap();
        assert!(slowest < Duration::from_secs(30), "{slowest:?}");
    });
    // As soon as the records are right, so is the domain.
    scene.publish(&domains.iter().collect::<Vec<_>>());
    for domain in &domains {
        assert_eq!(verify(&elsewhere, domain)["status"], "active", "{domain}");
    }
}

/// Contract D65: what a stranger's zone has is shown in part, and nothing of it controls a terminal or reorders text. Gives the
/// size of the domain in bytes.
fn assert_bounded(domain: &Value) -> usize {
    let is_harmless = |char: char| !char.is_control() && !('\u{202a}'..='\u{202e}').contains(&char);
    for record in domain["dns_instructions"].as_array().unwrap() {
        let observed = record["observed"].as_array().unwrap();
        assert!(observed.len() <= 5, "{record}");
        for value in observed.iter().map(|value| value.as_str().unwrap()) {
            assert!(value.chars().count() <= 255 && value.chars().all(is_harmless), "{value:?}");
        }
    }
    let is_unexplained = |record: &Value| record["status"] == "found";
    assert!(!domain["dns_instructions"].as_array().unwrap().iter().all(is_unexplained), "{domain}");
    domain.to_string().len()
}

/// Sets the records of a hostname whose proof has this value.
type Scenery = fn(&DomainScene, &str, &str);

fn slowest_answer(account: &Account, is_over: &AtomicBool) -> Duration {
    let mut slowest = Duration::ZERO;
    while !is_over.load(Ordering::Relaxed) {
        let asked = Instant::now();
        account.get("/v1/domains?limit=100").expect_status(200);
        slowest = slowest.max(asked.elapsed());
    }
    slowest
}

/// Large and roundabout answers that are right are as good as short ones.
#[test]
fn d39_a_proof_among_60_kilobytes_and_behind_eight_aliases_counts() {
    let scene = DomainScene::start();
    let [account, elsewhere] = scene.clients();
    let domain = connect(&account, "go.shop.test");
    scene.publish(&[&domain]);
    let proof = &domain["dns_instructions"][1];
    let [name, value] = ["name", "value"].map(|field| proof[field].as_str().unwrap());
    let noise = (0..230).map(|number| Record::text(&format!("{number:03}{}", "x".repeat(240))));
    scene.dns.set(name, noise.chain([Record::text(value)]));
    let alias =
        |number: usize| if number == 0 { "go.shop.test".to_owned() } else { format!("n{number}.cdn.test") };
    for number in 0..7 {
        scene.dns.set(&alias(number), [Record::alias(&alias(number + 1))]);
    }
    scene.dns.set(&alias(7), [Record::alias(EDGE)]);
    assert_eq!(verify(&elsewhere, &domain)["status"], "active");
}

/// Contract D39: an edge that has further addresses in DNS than the setting names is reached by those too.
#[test]
fn d39_the_addresses_that_dns_has_for_the_edge_count() {
    let scene = DomainScene::start();
    let [account, _] = scene.clients();
    let domain = connect(&account, "shop.test");
    scene.publish(&[&domain]);
    scene.dns.set("shop.test", [Record::address("203.0.113.7"), Record::address("192.0.2.10")]);
    assert_eq!(verify(&account, &domain), domain);
    scene.dns.set(EDGE, [Record::address("203.0.113.7")]);
    scene.dns.behave_for(EDGE, Behaviour::ServFail);
    account.post(&verify_path(&domain), &json!({})).expect_error(503, "domain_provider_unavailable");
    scene.dns.behave_for(EDGE, Behaviour::Answer);
    assert_eq!(verify(&account, &domain)["status"], "active");
}
