//! Handovers of hostnames with very many links, and checks of domains, which nodes share (D41, D42).

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_test_servers::Absence;
use signpost_test_servers::dns::Transport;
use signpost_test_servers::postgres;
use signpost_test_servers::redis::{self, RedisServer};

use crate::api::domain_settings::assert_settings_reach_visitors;
use crate::harness::domains::{DomainScene, connect, send_verification, shown, steady, verify, verify_path};
use crate::harness::{Account, Program, Store, concurrently, redirect_body};

const HOST: &str = "go.shop.test";
const TARGET: &str = "https://example.com";

/// How long to wait for background work: much longer than its period, for a busy machine.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long to wait between two looks. Each starts a program, which costs the nodes time.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Two nodes and a name server; `None`, with a notice, if the servers are not installed.
fn scene() -> Option<DomainScene> {
    let servers = postgres::try_shared()
        .map_err(Absence::clone)
        .and_then(|_| RedisServer::try_start(&redis::Setup::default()));
    if let Err(absence) = servers {
        absence.tell("custom domains on several nodes");
        return None;
    }
    Some(DomainScene::start_on(Store::Servers, |node| node))
}

/// Contract D127, D58: each change shows on every node.
#[test]
fn d127_settings_of_a_domain_reach_the_visitors_of_every_node() {
    let Some(scene) = scene() else { return };
    assert_settings_reach_visitors(&scene);
}

/// Changes the row of every domain.
fn turn(scene: &DomainScene, changes: &str) {
    scene.first().database().unwrap().run(&format!("UPDATE custom_domains SET {changes}"));
}

fn found(scene: &DomainScene, query: &str) -> String {
    scene.first().database().unwrap().query(query)
}

fn await_found(scene: &DomainScene, query: &str, expected: &str) {
    let ends = Instant::now() + PATIENCE;
    while found(scene, query) != expected {
        assert!(Instant::now() < ends, "{query} is not {expected}: {}", scene.first().log());
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn link(account: &Account, slug: Value) -> Value {
    account.create_redirect(&redirect_body(json!({"domain": HOST, "slug": slug})))
}

/// More links than the ten thousand that one unit of work changes.
const MANY: usize = 10_500;

/// Counts the links on the hostname.
const LINKS_ON_HOST: &str = "SELECT count(*) FROM links WHERE host = 'go.shop.test'";

#[track_caller]
fn assert_links_on_host(scene: &DomainScene, count: usize) {
    assert_eq!(found(scene, LINKS_ON_HOST), count.to_string());
}

/// A failed domain of the account with very many links. They are copies of one link, because creating them
/// through the API would take minutes.
fn failed_with_many_links(scene: &DomainScene, account: &Account) -> Value {
    let domain = scene.activate(account, HOST);
    link(account, json!("sale"));
    scene.first().database().unwrap().run(&format!(
        "CREATE TEMPORARY TABLE copies AS SELECT l.*, number FROM links AS l, generate_series(2, {MANY}) AS number;
         UPDATE copies SET id = gen_random_uuid(), slug = 'sale-' || number;
         ALTER TABLE copies DROP COLUMN number;
         INSERT INTO links SELECT * FROM copies;
         UPDATE accounts SET links_count = {MANY} WHERE links_count = 1;"
    ));
    assert_links_on_host(scene, MANY);
    scene.assert_leads(scene.last(), HOST, "/sale-9999", Some(TARGET));
    turn(scene, FAILED);
    domain
}

/// The columns of a domain that has pointed elsewhere for three days.
const FAILED: &str = "status = 'failed', deadline = NULL, misdirected_since = NULL, next_check_at = NULL";

/// Asserts that all links of the account have lost their addresses, and that none is gone.
#[track_caller]
fn assert_all_lost(account: &Account) {
    let links = account.walk("/v1/redirects", "?limit=100");
    assert_eq!(links.len(), MANY);
    for link in &links {
        assert_eq!([&link["domain"], &link["url"]], [&Value::Null, &Value::Null], "{link}");
    }
    assert_eq!(account.get("/v1/account").body["usage"]["links"], MANY);
}

/// The time limit of the program that meets locked links. One unit of work takes the addresses of ten thousand links within
/// it.
const IMPATIENCE: &str = "10s";

/// How often to try to connect. On a busy machine the unit of work may take longer, which is a 500 that changes nothing.
const CONNECTIONS: usize = 5;

/// Connects [`HOST`], although links of its former holder cannot lose their addresses within the time limit.
fn connect_despite_locks(account: &Account) -> Value {
    for _ in 0..CONNECTIONS {
        let answer = account.post("/v1/domains", &json!({"hostname": HOST}));
        match answer.status {
            // 200 if an earlier attempt was committed although its answer was a 500.
            201 | 200 => return steady(&answer.body),
            500 => {}
            _ => panic!("{answer:?}"),
        }
    }
    panic!("{HOST} was not connected in {CONNECTIONS} attempts");
}

/// Lets go of the locked links when it is dropped, also by a failed assertion.
struct LetGo<'a>(&'a DomainScene);

impl Drop for LetGo<'_> {
    fn drop(&mut self) {
        self.0.first().database().unwrap().run("CREATE TABLE let_go ()");
    }
}

/// The hostname is handed over first. While links of the former holder are still on it, it belongs to the
/// newcomer but serves no links.
#[test]
fn d41_a_hostname_serves_only_after_its_former_links_are_gone() {
    let Some(scene) = scene() else { return };
    let impatient = scene.first().beside(&["--store-timeout", IMPATIENCE]);
    let [before, before_elsewhere] = scene.clients();
    let [after, _] = scene.clients();
    let after_elsewhere = impatient.client_of(&after);
    let former = failed_with_many_links(&scene, &before);
    let database = scene.first().database().unwrap();
    let domain = std::thread::scope(|threads| {
        // Locks the links that lose their addresses last, until the table `let_go` exists or for five minutes.
        threads.spawn(|| {
            database.run(&format!(
                "BEGIN;
                 SELECT id FROM links WHERE id IN (
                     SELECT id FROM links WHERE host = '{HOST}' ORDER BY account_id, kind, id OFFSET {MANY} - 100
                 ) FOR UPDATE;
                 DO 'BEGIN FOR turn IN 1..6000 LOOP
                     EXIT WHEN EXISTS (SELECT FROM pg_tables WHERE tablename = ''let_go'');
                     PERFORM pg_sleep(0.05);
                 END LOOP; END';
                 COMMIT;"
            ));
        });
        let _let_go = LetGo(&scene);
        let held = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %let_go%'
            AND datname = current_database() AND state = 'active'";
        await_found(&scene, held, "1");
        let domain = connect_despite_locks(&after_elsewhere);
        // A check would wait for the links too, and hold the domain meanwhile.
        turn(&scene, "next_check_at = NULL");
        assert_links_on_host(&scene, MANY - 10_000);
        before_elsewhere.post(&verify_path(&former), &json!({})).expect_error(409, "hostname_already_taken");
        scene.publish(&[&domain]);
        after_elsewhere.post(&verify_path(&domain), &json!({})).expect_error(500, "internal_error");
        assert_eq!(shown(&after, &domain), domain);
        scene.assert_leads_soon(HOST, "/sale", None);
        assert!(!scene.may_have_certificate(HOST));
        domain
    });
    assert_eq!(verify(&after, &domain)["status"], "active");
    assert_links_on_host(&scene, 0);
    assert_all_lost(&before);
}

/// An account verifies its failed domain while another connects the hostname. The faster one gets it. The links
/// lose their addresses only with the hostname: all of them or none.
#[test]
fn d41_a_refused_newcomer_takes_no_address_from_a_link() {
    let Some(scene) = scene() else { return };
    let [before, before_elsewhere] = scene.clients();
    let [after, after_elsewhere] = scene.clients();
    let former = failed_with_many_links(&scene, &before);
    let proof = format!("_signpost.{HOST}");
    let sides = [[&before, &after_elsewhere], [&before_elsewhere, &after]];
    for (round, [verifier, newcomer]) in sides.into_iter().cycle().take(6).enumerate() {
        let asked = [Transport::Udp, Transport::Tcp].map(|way| scene.dns.queries(&proof, way));
        let answers = concurrently(2, |side| {
            if side == 0 {
                return send_verification(verifier, &former);
            }
            // The newcomer starts with the verification, during its DNS query, or after it.
            if round >= 2 {
                scene.dns.wait_until_queried(&proof, asked.iter().sum::<usize>() + 1);
            }
            if round >= 4 {
                await_found(&scene, "SELECT count(*) FROM custom_domains WHERE status = 'active'", "1");
            }
            newcomer.post("/v1/domains", &json!({"hostname": HOST}))
        });
        match [answers[0].status, answers[1].status] {
            [200, 409] => {
                assert_eq!(answers[0].body["status"], "active");
                assert_links_on_host(&scene, MANY);
                scene.assert_leads_soon(HOST, "/sale-9999", Some(TARGET));
                assert!(scene.may_have_certificate(HOST));
            }
            [409, 200 | 201] => assert_links_on_host(&scene, 0),
            _ => panic!("{answers:#?}"),
        }
        turn(&scene, FAILED);
        let database = scene.first().database().unwrap();
        database.run("UPDATE links SET host = 'go.shop.test' WHERE host IS NULL");
    }
}

/// How many domains the nodes share.
const DOMAINS: usize = 200;

/// How often to make all domains due until each node has checked some. A node takes 64 at a time, so one that is fast may
/// take all of them.
const ROUNDS: usize = 10;

/// How many checks each node has made with one of these outcomes.
fn checks(scene: &DomainScene, outcomes: &[&str]) -> Vec<usize> {
    let of = |node: &Program, outcome: &&str| -> usize {
        node.metric(&format!("signpost_domain_checks_total{{outcome=\"{outcome}\"}}")).parse().unwrap()
    };
    let of_node = |node: &Program| outcomes.iter().map(|outcome| of(node, outcome)).sum::<usize>();
    scene.nodes.iter().map(of_node).collect()
}

/// Makes all domains due, and waits until the nodes have checked them.
fn check_all(scene: &DomainScene) {
    turn(scene, "next_check_at = now() WHERE claims = 0");
    let unchecked = "SELECT count(*) FROM custom_domains WHERE claims > 0 OR next_check_at <= now()";
    await_found(scene, unchecked, "0");
}

/// Asserts that the nodes have made exactly the checks that the table counts.
fn assert_made_once(scene: &DomainScene) {
    let counted: usize = found(scene, "SELECT sum(checks_made) FROM custom_domains").parse().unwrap();
    let made = || checks(scene, &["changed", "unchanged", "unanswered"]).iter().sum::<usize>();
    // A node counts a check after it has committed it.
    let ends = Instant::now() + PATIENCE;
    while made() < counted {
        assert!(Instant::now() < ends, "{} checks of {counted}: {}", made(), scene.first().log());
        std::thread::sleep(POLL_INTERVAL);
    }
    assert_eq!(made(), counted);
}

/// R21: nodes share the domains that are due at the same time, and check each once.
#[test]
fn d42_checks_are_shared_among_nodes_and_made_once() {
    let Some(scene) = scene() else { return };
    let clients = scene.clients();
    for number in 0..DOMAINS {
        let hostname = format!("go.shop{number}.test");
        scene.publish_beforehand(&clients[0], &hostname);
        connect(&clients[number % 2], &hostname);
    }
    let all_active = DOMAINS.to_string();
    for round in 1.. {
        check_all(&scene);
        assert_made_once(&scene);
        let shares = checks(&scene, &["changed", "unchanged", "unanswered"]);
        // A busy machine may delay the name server for longer than a check waits.
        let active = found(&scene, "SELECT count(*) FROM custom_domains WHERE status = 'active'");
        if active == all_active && shares.iter().all(|share| *share > 0) {
            break;
        }
        assert!(round < ROUNDS, "{active} are active, and the nodes have made {shares:?} checks");
    }
    assert_eq!(checks(&scene, &["changed"]).iter().sum::<usize>(), DOMAINS);
    assert_eq!(checks(&scene, &["late", "failed", "panicked"]), [0; 2]);
    // No domain is claimed any more, and all are due again in about an hour.
    let due = "SELECT count(*) FROM custom_domains WHERE next_check_at < now() + interval '50 minutes'";
    assert_eq!(found(&scene, due), "0");
    assert_eq!(found(&scene, "SELECT count(*) FROM custom_domains WHERE claims > 0"), "0");
}
