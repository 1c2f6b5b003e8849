//! All kinds of writes of one account at once, to the same links and groups.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use signpost_test_servers::postgres::PostgresDatabase;

use super::WHO;
use crate::harness::{Account, concurrently};
use crate::scene::Scene;
use crate::size::{count, report};
use crate::waiting::await_event;

const CLIENTS: usize = 8;

/// How many groups and links the clients share.
const GROUPS: usize = 4;
const LINKS: usize = 60;

/// How many links a bulk request has.
const BATCH: usize = 20;

/// How long a client may wait for the others, on a machine without other load.
const ANSWERED_WITHIN: Duration = Duration::from_secs(1);

/// The links and groups that the clients share, even while others change or delete them.
struct Shared {
    groups: Mutex<Vec<String>>,
    links: Mutex<Vec<String>>,
}

impl Shared {
    fn new(account: &Account) -> Self {
        let groups = (0..GROUPS).map(|_| id(&account.create_group("shared")).to_owned()).collect();
        let shared = Self { groups: Mutex::new(groups), links: Mutex::default() };
        for number in 0..LINKS / BATCH {
            shared.create_batch(account, number);
        }
        shared
    }

    fn group(&self, turn: usize) -> String {
        let groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        groups[turn % groups.len()].clone()
    }

    /// Some of the links, depending on the turn.
    fn links(&self, turn: usize, number: usize) -> Vec<String> {
        let links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        let first = turn * 7 % links.len().max(1);
        links.iter().cycle().skip(first).take(number.min(links.len())).cloned().collect()
    }

    fn create_batch(&self, account: &Account, turn: usize) -> Duration {
        let link = |number| json!({"name": "x", "target_url": "https://example.com", "group_id": self.group(number)});
        let items: Vec<Value> = (turn..turn + BATCH).map(link).collect();
        let (made, took) = ask(account, "POST", "/v1/redirects/bulk", Some(json!({"redirects": items})));
        let created = made["created"].as_array().unwrap();
        let new = created.iter().map(|item| id(&item["data"]).to_owned());
        self.links.lock().unwrap_or_else(PoisonError::into_inner).extend(new);
        took
    }

    /// Deletes the group of this turn, and creates another one.
    fn replace_group(&self, account: &Account, turn: usize) -> Duration {
        let new = id(&account.create_group("shared")).to_owned();
        let old = {
            let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
            let place = turn % groups.len();
            std::mem::replace(&mut groups[place], new)
        };
        ask(account, "DELETE", &format!("/v1/groups/{old}"), None).1
    }

    /// Sends the request of a turn, and returns its time.
    fn write(&self, account: &Account, turn: usize) -> Duration {
        let (group, links) = (self.group(turn), self.links(turn, BATCH));
        let link = links.first().map_or("", String::as_str);
        let of_links = Some(json!({"link_ids": links}));
        match turn % 8 {
            0 => self.create_batch(account, turn),
            1 => {
                let body = json!({"name": "x", "target_url": "https://example.com", "group_id": group});
                ask(account, "POST", "/v1/redirects", Some(body)).1
            }
            2 => ask(account, "PATCH", &format!("/v1/redirects/{link}"), Some(json!({"group_id": group}))).1,
            3 => ask(account, "PATCH", &format!("/v1/redirects/{link}"), Some(json!({"group_id": null}))).1,
            4 => ask(account, "POST", &format!("/v1/groups/{group}/assign"), of_links).1,
            5 => ask(account, "POST", &format!("/v1/groups/{group}/unassign"), of_links).1,
            6 => {
                let gone = self.links(turn, BATCH / 2);
                self.links.lock().unwrap_or_else(PoisonError::into_inner).retain(|link| !gone.contains(link));
                let body = json!({"redirect_ids": gone});
                ask(account, "POST", "/v1/redirects/bulk/delete", Some(body)).1
            }
            _ => self.replace_group(account, turn),
        }
    }
}

fn id(resource: &Value) -> &str {
    resource["id"].as_str().unwrap()
}

/// Sends a request, and returns its answer and time. Others may have deleted its links and groups, but it never
/// fails otherwise.
fn ask(account: &Account, method: &str, path: &str, body: Option<Value>) -> (Value, Duration) {
    let started = Instant::now();
    let answer = account.send(method, path, body.as_ref());
    assert!(matches!(answer.status, 200 | 201 | 404), "{answer:?}");
    (answer.body, started.elapsed())
}

/// Writes what an import into one group leaves: many links, and statistics that say that all links are in one
/// group.
fn import(database: &PostgresDatabase, account: &Account, links: usize) {
    let account = account.id().strip_prefix("acc_").unwrap();
    database.run(&format!(
        "INSERT INTO groups SELECT '{account}', gen_random_uuid(), 'imported', 0, {links}, '2026-01-01', '2026-01-01'; \
         INSERT INTO links SELECT ('01' || lpad(to_hex(n), 30, '0'))::uuid, '{account}', 1, 'a name', '', 'imported-' || n, \
         true, NULL, g.id, true, '2026-01-01', '2026-01-01', 'https://example.com/', false, '', \
         'a name' || chr(31) || 'imported-' || n || chr(31) || 'https://example.com/' \
         FROM groups AS g, generate_series(1, {links}) AS n; \
         UPDATE accounts SET links_count = {links}, groups_count = 1 WHERE id = '{account}'; \
         ANALYZE"
    ));
}

/// Units of work take their locks in one order, so PostgreSQL never has to abort one, and none waits for long.
#[test]
fn d30_r46_writes_of_one_account_at_once_never_deadlock() {
    let Some(scene) = Scene::undisturbed(WHO, 2) else { return };
    import(&scene.database, &scene.account, count(50_000, 600_000));
    let shared = Shared::new(&scene.account);
    let turns = count(40, 500);
    let longest = concurrently(CLIENTS, |client| {
        let account = scene.balancer.pick(client).account;
        // Each client begins with another kind of write.
        let turns = (0..turns).map(|turn| shared.write(&account, turn * 3 + client));
        turns.max().unwrap()
    });
    let longest = longest.into_iter().max().unwrap();
    let Scene { nodes, database, .. } = scene;
    // A connection reports its statistics to the server when it closes.
    drop(nodes);
    let open = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'signpost' AND datname = current_database()";
    await_event("all connections are closed", || database.query(open).trim() == "0");
    let deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    assert_eq!(database.query(deadlocks).trim(), "0");
    assert!(longest < answered_within(), "{longest:?}");
    report(
        "R46, writes of one account at once",
        &format!("{} requests, longest {longest:.2?}", turns * CLIENTS),
    );
}

/// How long a request may take. In an everyday run the machine may have other load, so there is no limit.
fn answered_within() -> Duration {
    if count(0, 1) == 1 { ANSWERED_WITHIN } else { Duration::MAX }
}
