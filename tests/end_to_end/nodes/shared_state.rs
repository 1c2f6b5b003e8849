//! The state that nodes share: links, budgets, suspensions.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_test_servers::postgres;

use super::{Cluster, clients, nodes};
use crate::harness::{concurrently, redirect_body, within_one_minute};
use crate::promises::at_once::assert_one_change_and_one_link;

/// The life of both kinds of links: changed on one node, and read on the other.
#[test]
fn changes_on_one_node_show_on_the_other() {
    let Some(scene) = nodes(2, "") else { return };
    let nodes = &scene.nodes;
    let clients = clients(nodes, "agency");
    let [one, other] = clients.as_slice() else { panic!("two nodes") };
    let group = one.create_group("Spring")["id"].as_str().unwrap().to_owned();
    let items: Vec<Value> = (0..100)
        .map(|number| redirect_body(json!({"slug": format!("s{number}"), "group_id": group})))
        .collect();
    let created = one.post("/v1/redirects/bulk", &json!({"redirects": items})).expect_status(200).body;
    assert_eq!(created["created_count"], 100);
    let page = json!({"title": "Straße", "slug": "menu", "widgets": [{"type": "heading", "text": "Today"}]});
    let landing = other.post("/v1/landings", &page).expect_status(201).body;
    let id = landing["id"].as_str().unwrap();
    assert_eq!(one.get(&format!("/v1/landings/{id}")).expect_status(200).body, landing);
    let found = one.walk("/v1/landings", "?q=STRASSE");
    assert_eq!(found.iter().map(|link| &link["id"]).collect::<Vec<_>>(), [id]);
    assert_eq!(other.walk("/v1/redirects", &format!("?group_id={group}&limit=30")).len(), 100);
    assert_eq!(other.get(&format!("/v1/groups/{group}")).body["redirects_count"], 100);
    for node in nodes {
        assert_eq!(node.visitor().open("/s99").status, 302);
        assert!(node.visitor().open("/menu").body.contains("Straße"));
    }
    let ids: Vec<_> = one.walk("/v1/redirects", "?limit=100").iter().map(|link| link["id"].clone()).collect();
    let moved =
        other.post(&format!("/v1/groups/{group}/unassign"), &json!({"link_ids": ids})).expect_status(200);
    assert_eq!(moved.body["unassigned_count"], 100);
    one.patch(&format!("/v1/redirects/{}", ids[0].as_str().unwrap()), &json!({"is_active": false}))
        .expect_status(200);
    nodes[1].visitor().open_until("/s99", 404);
    let deleted = other.post("/v1/redirects/bulk/delete", &json!({"redirect_ids": ids})).expect_status(200);
    assert_eq!(deleted.body["deleted_count"], 100);
    assert_eq!(one.get("/v1/account").body["usage"]["links"], 1);
}

/// R2: nodes that race for an address give it to one link.
#[test]
fn d20_one_of_several_racing_nodes_gets_the_address() {
    let Some(scene) = nodes(3, "") else { return };
    let nodes = &scene.nodes;
    let clients = clients(nodes, "agency");
    for round in 0..4 {
        let body = redirect_body(json!({"slug": format!("round-{round}")}));
        let answers = concurrently(12, |number| clients[number % 3].post("/v1/redirects", &body));
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 1);
        assert!(answers.iter().all(|answer| answer.status == 201 || answer.code() == "slug_already_taken"));
    }
    assert_eq!(clients[0].get("/v1/account").body["usage"]["links"], 4);
}

/// How many rounds to try until Redis answers every request of one in time.
const ROUNDS: usize = 30;

/// How many requests are sent at once in each round. The fewer they are, the sooner Redis answers each.
const AT_ONCE: [usize; 4] = [45, 24, 12, 6];

/// R3: the budget is exact over all nodes. R4, D15: so is the limit of the plan.
#[test]
fn d16_the_budget_is_exact_over_all_nodes() {
    let plan = "[plans.small]\nextends = \"agency\"\nrequests_per_minute = 20\ngroups = 3\n";
    let Some(scene) = nodes(3, plan) else { return };
    let nodes = &scene.nodes;
    let decided_alone =
        || -> Vec<String> { nodes.iter().map(|node| node.metric("signpost_quota_fallback_total")).collect() };
    for round in 0..ROUNDS {
        let at_once = AT_ONCE[round.min(AT_ONCE.len() - 1)];
        // A node that gets no answer from Redis within 50 ms decides alone (D19), which happens on a busy machine.
        let counted = within_one_minute(|| {
            let before = decided_alone();
            let clients = clients(nodes, "small");
            let answers = concurrently(at_once, |first| {
                let requests = (first..45).step_by(at_once);
                let send = |number: usize| clients[number % 3].post("/v1/groups", &json!({"name": "x"}));
                requests.map(send).collect::<Vec<_>>()
            });
            let of = |is_counted: fn(u16) -> bool| {
                answers.iter().flatten().filter(|answer| is_counted(answer.status)).count()
            };
            (decided_alone() == before).then(|| (of(|status| status != 429), of(|status| status == 201)))
        });
        if let Some((admitted, created)) = counted {
            assert_eq!((admitted, created), (20, 3));
            return;
        }
        // A node tries Redis again every second.
        std::thread::sleep(Duration::from_secs(1));
    }
    panic!("Redis did not answer in time in any round");
}

/// A revocation and the end of a suspension hold on every node at once.
#[test]
fn r6_suspension_and_revocation_hold_on_every_node_at_once() {
    let Some(scene) = nodes(2, "") else { return };
    let nodes = &scene.nodes;
    let account = nodes[0].account("agency");
    let clients: Vec<_> = nodes.iter().map(|node| node.with_key(&account.key)).collect();
    let all = |status: u16| {
        for client in &clients {
            assert_eq!(client.get("/v1/account").status, status);
        }
    };
    all(200);
    nodes[1].command(&["account", "suspend", account.id(), "--json"]);
    all(403);
    nodes[0].command(&["account", "resume", account.id(), "--json"]);
    all(200);
    let keys = nodes[1].command(&["key", "list", "--account", account.id(), "--json"]);
    let key = keys[0]["id"].as_str().or_else(|| keys["keys"][0]["id"].as_str()).unwrap().to_owned();
    nodes[0].command(&["key", "revoke", &key, "--json"]);
    all(401);
}

/// A node without its Redis keeps answering (D19), and stays ready (D63).
#[test]
fn d19_nodes_answer_while_redis_is_down() {
    let Some(Cluster { nodes, redis, database: _database }) = nodes(2, "") else { return };
    let clients = clients(&nodes, "agency");
    drop(redis);
    for client in &clients {
        for _ in 0..10 {
            client.get("/v1/account").expect_status(200);
        }
        client.await_health("/health/ready", |answer| answer.status == 200);
    }
}

/// With PostgreSQL the first start creates no account, and `serve` refuses an empty database.
#[test]
fn d62_only_a_command_migrates_postgresql() {
    let database = match postgres::try_shared() {
        Ok(postgres) => postgres.database(None),
        Err(absence) => return absence.tell("migrations by command"),
    };
    let folder = tempfile::tempdir().unwrap();
    let run = |words: &[&str]| {
        crate::harness::signpost(folder.path(), words)
            .env("SIGNPOST_DATABASE_URL", database.url())
            .output()
            .unwrap()
    };
    let refused = run(&[
        "serve",
        "--api-listen",
        "127.0.0.1:0",
        "--link-listen",
        "127.0.0.1:0",
        "--dashboard-listen",
        "127.0.0.1:0",
    ]);
    let message = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && message.contains("run `signpost migrate`"), "{message}");
    let first: Value = serde_json::from_slice(&run(&["migrate", "--json"]).stdout).unwrap();
    assert!(!first["applied"].as_array().unwrap().is_empty());
    let second: Value = serde_json::from_slice(&run(&["migrate", "--json"]).stdout).unwrap();
    assert_eq!(second["applied"], json!([]));
    let accounts: Value = serde_json::from_slice(&run(&["account", "list", "--json"]).stdout).unwrap();
    assert!(!accounts.to_string().contains("acc_"), "{accounts}");
}

/// Contract D120, D121, on three nodes.
#[test]
fn d120_d121_one_change_of_a_revision_and_one_link_with_an_external_id_over_nodes() {
    let Some(scene) = nodes(3, "") else { return };
    assert_one_change_and_one_link(&clients(&scene.nodes, "agency"));
}
