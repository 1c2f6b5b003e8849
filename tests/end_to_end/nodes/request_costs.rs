//! The cost of a request: the statements that reach PostgreSQL, and the commands that reach Redis.
//!
//! PostgreSQL logs every statement, and Redis counts its commands. Without the servers these tests are skipped
//! with a notice.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_test_servers::Absence;
use signpost_test_servers::dns::{Behaviour, NameServer, Transport};
use signpost_test_servers::postgres::{self, PostgresDatabase};
use signpost_test_servers::redis::{RedisServer, Setup};

use crate::harness::domains::{asking, tls_allowed};
use crate::harness::{Account, Answer, Program, migrate, redirect_body};

/// Commands of scripts inside the server, which cost no round trip but are counted like others.
const INSIDE_SCRIPTS: [&str; 4] = ["hmget", "hincrby", "expire", "pexpire"];

/// How often a request is measured. The cheapest time counts, because background work, or an answer of Redis that takes
/// longer than 50 ms, adds to the others.
const MEASURED: usize = 7;

/// The command that counts a request, in one round trip.
const QUOTA: [(&str, u64); 1] = [("evalsha", 1)];

pub(super) struct Scene {
    pub(super) database: PostgresDatabase,
    redis: RedisServer,
    /// The only name server that the program asks. It has no records.
    dns: NameServer,
    pub(super) account: Account,
    program: Program,
}

/// The statements and commands of one request.
#[derive(Debug, Default)]
pub(super) struct Cost {
    /// Statements outside the transaction: admission, and reads.
    pub(super) reads: Vec<String>,
    /// Statements between BEGIN and COMMIT.
    pub(super) in_transaction: Vec<String>,
    /// How many statements begin or end a transaction, which may be one of background work.
    bounds: usize,
    /// How often each Redis command was called.
    commands: Vec<(String, u64)>,
}

impl Cost {
    fn of(statements: Vec<String>, commands: Vec<(String, u64)>) -> Self {
        let mut cost = Self { commands, ..Self::default() };
        let mut is_open = false;
        for statement in statements {
            match statement.as_str() {
                "BEGIN" | "COMMIT" | "ROLLBACK" => {
                    is_open = statement == "BEGIN";
                    cost.bounds += 1;
                }
                _ if is_open => cost.in_transaction.push(statement),
                _ => cost.reads.push(statement),
            }
        }
        cost
    }

    fn counts_once_in_redis(&self) -> bool {
        self.commands.iter().map(|(command, times)| (command.as_str(), *times)).eq(QUOTA)
    }

    fn statements(&self) -> usize {
        self.reads.len() + self.in_transaction.len() + self.bounds
    }

    /// The order of costs. If Redis was late, the request may have been counted without it, or twice.
    fn rank(&self) -> (bool, usize) {
        (!self.counts_once_in_redis(), self.statements())
    }
}

impl Scene {
    pub(super) fn start() -> Result<Self, Absence> {
        let database = postgres::try_shared().map_err(Absence::clone)?.database(None);
        let redis = RedisServer::try_start(&Setup::default())?;
        let dns = NameServer::start();
        migrate(&database.url());
        database.record_statements();
        let program = asking(Program::builder(), &dns)
            .setting_of_all("database-url", &database.url())
            .setting("redis-url", &redis.url(0))
            // With more connections, each would prepare its own statements.
            .setting("database-connections", "1")
            .start();
        let account = program.account("agency");
        Ok(Self { database, redis, dns, account, program })
    }

    /// The cost of a request, and its answer. It is sent [`MEASURED`] times and once before, because the first time costs
    /// more.
    pub(super) fn cost(&self, mut request: impl FnMut(&Account) -> Answer) -> (Cost, Answer) {
        request(&self.account);
        let measured = (0..MEASURED).map(|_| {
            // The domains of the request before are not checked meanwhile.
            self.database.run("UPDATE custom_domains SET next_check_at = NULL");
            self.measured(|| request(&self.account))
        });
        let (cost, answer) = measured.min_by_key(|(cost, _)| cost.rank()).unwrap();
        assert!(cost.counts_once_in_redis(), "quota: one round trip: {cost:#?}");
        assert!(cost.bounds.is_multiple_of(2), "every transaction ends: {cost:#?}");
        (cost, answer)
    }

    /// What an action costs now, and its result.
    fn measured<T>(&self, action: impl FnOnce() -> T) -> (Cost, T) {
        let calls = self.redis_calls();
        let mut result = None;
        let statements = self.database.statements_during(|| result = Some(action()));
        let commands = difference(&calls, &self.redis_calls());
        let statements = statements.into_iter().filter(|statement| !is_of_the_background(statement));
        (Cost::of(statements.collect(), commands), result.unwrap())
    }

    /// How often each command was called, without the command that this function uses.
    fn redis_calls(&self) -> BTreeMap<String, u64> {
        let statistics = self.redis.command(&["INFO", "commandstats"]);
        let calls = statistics.lines().filter_map(|line| {
            let (command, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
            Some((command.to_owned(), rest.split(',').next()?.parse().ok()?))
        });
        calls
            .filter(|(command, _)| command != "info" && !INSIDE_SCRIPTS.contains(&command.as_str()))
            .collect()
    }
}

fn difference(before: &BTreeMap<String, u64>, after: &BTreeMap<String, u64>) -> Vec<(String, u64)> {
    let more = |(command, calls): (&String, &u64)| {
        let more = calls - before.get(command).unwrap_or(&0);
        (more > 0).then(|| (command.clone(), more))
    };
    after.iter().filter_map(more).collect()
}

/// Whether a statement belongs to background work: following the change log, leases, reports of nodes, domains that are due, clicks, the
/// search index, answers of the day before, and the check of an idle connection.
pub(super) fn is_of_the_background(statement: &str) -> bool {
    const WORDS: [&str; 10] = [
        "leases",
        "INSERT INTO node_reports",
        "DELETE FROM node_reports",
        "c.next_check_at",
        "c.deadline",
        "click_batches",
        "click_days",
        "visitor_keys",
        "search_segments",
        "SELECT o.account_id, o.key",
    ];
    WORDS.iter().any(|word| statement.contains(word))
        || (statement.contains("changes") && !statement.starts_with("INSERT"))
        || statement == "SELECT 1"
}

#[test]
fn a_request_costs_few_statements() {
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what a request costs"),
    };
    let group = scene.account.create_group("Spring")["id"].clone();
    let link = scene.account.new_redirect();
    let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());

    // Admission is one query; the rest is the request itself.
    let (cost, answer) = scene.cost(|account| account.get("/v1/nothing"));
    answer.expect_status(404);
    assert_eq!((cost.reads.len(), cost.in_transaction.len()), (1, 0), "{cost:#?}");
    scene.account.create_redirect(&redirect_body(json!({"tags": ["sale"]})));
    for read in [path.as_str(), "/v1/redirects?limit=25", "/v1/redirects?tag=sale", "/v1/groups", "/v1/tags"]
    {
        let (cost, answer) = scene.cost(|account| account.get(read));
        answer.expect_status(200);
        assert_eq!((cost.reads.len(), cost.in_transaction.len()), (2, 0), "{read}: {cost:#?}");
    }

    let mut number = 0;
    let mut fresh = || {
        number += 1;
        format!("slug-{number}")
    };
    let (cost, answer) = scene.cost(|account| account.patch(&path, &json!({"name": fresh()})));
    answer.expect_status(200);
    assert!(cost.reads.len() == 1 && cost.in_transaction.len() <= 4, "{cost:#?}");
    // The most expensive update: another address and another group.
    let mut groups = [&group, &Value::Null].into_iter().cycle();
    let (cost, answer) =
        scene.cost(|account| account.patch(&path, &json!({"slug": fresh(), "group_id": groups.next()})));
    answer.expect_status(200);
    // The link is read beforehand, because only it knows the domain of the new slug. A savepoint, for an
    // address that is taken, is not a query. Groups are locked before the link, which is locked before it is read.
    let queries = cost.in_transaction.iter().filter(|statement| !statement.contains("SAVEPOINT")).count();
    assert!(cost.reads.len() == 2 && queries <= 6, "{cost:#?}");
    let (cost, answer) =
        scene.cost(|account| account.post("/v1/redirects", &redirect_body(json!({"group_id": group}))));
    answer.expect_status(201);
    assert!(cost.reads.len() == 1 && cost.in_transaction.len() <= 4, "{cost:#?}");

    // D12: the stored answer of a key is looked up, claimed and written; a replayed answer is only read.
    let (cost, answer) = scene.cost(|account| {
        account.post_once(&fresh(), "/v1/redirects", &redirect_body(json!({"group_id": group})))
    });
    answer.expect_status(201);
    assert!(cost.reads.len() == 2 && cost.in_transaction.len() <= 6, "{cost:#?}");
    let (cost, answer) =
        scene.cost(|account| account.post_once("once", "/v1/groups", &json!({"name": "Summer"})));
    assert!(answer.expect_status(201).is_replayed());
    assert_eq!((cost.reads.len(), cost.in_transaction.len()), (2, 0), "{cost:#?}");
}

/// One statement locks all domains of a batch. Placing a link on a domain costs only this statement more.
#[test]
fn d30_placing_links_on_domains_costs_one_statement_more() {
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what links on domains cost"),
    };
    let account = &scene.account;
    let hosts: Vec<String> = (0..5).map(|number| format!("go.shop{number}.com")).collect();
    for host in &hosts {
        account.post("/v1/domains", &json!({"hostname": host})).expect_status(201);
    }
    scene.database.run("UPDATE custom_domains SET status = 'active', deadline = NULL, next_check_at = NULL");
    let mut costs = Vec::new();
    for (size, hosts) in [(2, &hosts[..1]), (2, &hosts[..2]), (100, &hosts[..5])] {
        let items: Vec<Value> =
            (0..size).map(|number| redirect_body(json!({"domain": hosts[number % hosts.len()]}))).collect();
        let (cost, answer) =
            scene.cost(|account| account.post("/v1/redirects/bulk", &json!({"redirects": items})));
        assert_eq!(answer.expect_status(200).body["created_count"], size);
        let statements = cost.reads.len() + cost.in_transaction.len();
        assert!(statements <= 12, "{size}: {cost:#?}");
        costs.push(statements);
    }
    assert!(costs.iter().all(|cost| *cost == costs[0]), "{costs:?}");
    let path = format!("/v1/redirects/{}", account.new_redirect()["id"].as_str().unwrap());
    let mut places = hosts.iter().cycle();
    let (cost, answer) = scene.cost(|account| account.patch(&path, &json!({"domain": places.next()})));
    answer.expect_status(200);
    let queries = cost.in_transaction.iter().filter(|statement| !statement.contains("SAVEPOINT")).count();
    assert!(cost.reads.len() == 1 && queries <= 5, "{cost:#?}");
    // A question about a certificate costs one read by an index.
    let ask = || tls_allowed(&scene.program, "?domain=go.shop0.com").expect_status(200);
    let costs = (0..MEASURED).map(|_| scene.measured(ask).0);
    let cost = costs.min_by_key(|cost| cost.statements() + cost.commands.len()).unwrap();
    assert_eq!((cost.reads.len(), cost.statements(), cost.commands.len()), (1, 1, 0), "{cost:#?}");
}

/// Connecting a free hostname makes no DNS query, and costs three things more than creating a group. One
/// statement, sent twice in one round trip, reads the claims to the hostname. Links of other accounts on it
/// lose their addresses, by one statement for each side of the account's own links in the index. The audit
/// gets an entry (D78).
#[test]
fn d41_connecting_a_free_hostname_costs_hardly_more_than_creating_a_group() {
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what connecting a hostname costs"),
    };
    scene.dns.behave(Behaviour::Silent);
    let (group, answer) = scene.cost(|account| account.post("/v1/groups", &json!({"name": "Spring"})));
    answer.expect_status(201);
    let (mut number, mut observed) = (0, 0);
    let (domain, answer) = scene.cost(|account| {
        number += 1;
        let hostname = format!("go.shop{number}.test");
        let asked = Instant::now();
        let answer = account.post("/v1/domains", &json!({"hostname": hostname}));
        let names = [format!("_signpost.{hostname}"), hostname];
        let queries =
            names.map(|name| [Transport::Udp, Transport::Tcp].map(|way| scene.dns.queries(&name, way)));
        // Background checks query DNS after five seconds at the earliest (D42).
        if asked.elapsed() < Duration::from_secs(5) {
            assert_eq!(queries, [[0, 0]; 2], "{number}");
            observed += 1;
        }
        answer
    });
    answer.expect_status(201);
    assert!(observed > 0, "every request took too long to tell its queries from those of a check");
    assert_eq!(domain.reads.len(), group.reads.len(), "{domain:#?}");
    let queries = |cost: Cost| -> Vec<String> {
        cost.in_transaction.into_iter().filter(|statement| !statement.contains("SAVEPOINT")).collect()
    };
    let [group, mut domain] = [group, domain].map(queries);
    assert!(domain.len() <= group.len() + 5, "{domain:#?}");
    domain.dedup();
    assert!(domain.len() <= group.len() + 3, "{domain:#?}");
}

/// D54: a large inactive page costs no more to look up than a free slug. On a custom host, the first miss also looks whether the
/// host has a URL for misses (D127), in the same way for every host.
#[test]
fn r30_a_404_costs_one_statement_for_every_reason() {
    /// A host and a path. The node remembers empty addresses, so each number has other addresses.
    type Place = fn(usize) -> [String; 2];
    const SYSTEM: &str = "localhost:8081";
    let scene = match Scene::start() {
        Ok(scene) => scene,
        Err(absence) => return absence.tell("what a guess at a link costs"),
    };
    let account = &scene.account;
    let text = json!({"type": "text", "text": "x".repeat(2_000)});
    for number in 0..MEASURED {
        let inactive = json!({"slug": format!("inactive-{number}"), "is_active": false});
        account.create_redirect(&redirect_body(inactive));
        let starts_at = "2999-12-31T00:00:00Z";
        let later = json!({"slug": format!("later-{number}"), "starts_at": starts_at, "target_url": "https://example.com/a/b"});
        account.create_redirect(&redirect_body(later));
        let slug = format!("page-{number}");
        let page = json!({"title": "x", "slug": slug, "is_active": false, "widgets": vec![&text; 100]});
        account.post("/v1/landings", &page).expect_status(201);
        let waiting = json!({"hostname": format!("go.waiting{number}.com")});
        account.post("/v1/domains", &waiting).expect_status(201);
    }
    let visitor = scene.program.visitor();
    let guess = |place: Place, number: usize| {
        let [host, path] = place(number);
        let (cost, visit) = scene.measured(|| visitor.request("GET", &path, &[("Host", host.as_str())]));
        assert_eq!(visit.status, 404, "{host}{path}");
        [cost.reads, cost.in_transaction].concat()
    };
    let cheapest = |place| (0..MEASURED).map(|number| guess(place, number)).min_by_key(Vec::len).unwrap();
    let missing: Place = |number| [SYSTEM.to_owned(), format!("/missing-{number}")];
    // The first request costs more.
    guess(missing, MEASURED);
    let missing = cheapest(missing);
    assert_eq!(missing.len(), 1, "{missing:#?}");
    let places: [Place; 6] = [
        |number| [SYSTEM.to_owned(), format!("/inactive-{number}")],
        |number| [SYSTEM.to_owned(), format!("/page-{number}")],
        |number| [SYSTEM.to_owned(), format!("/later-{number}")],
        |number| [format!("go.waiting{number}.com"), "/waiting".to_owned()],
        |number| [format!("go.waiting{number}.com"), "/".to_owned()],
        |number| [format!("go.unknown{number}.com"), "/waiting".to_owned()],
    ];
    for place in places {
        // The settings of a host are read with its first miss (D127).
        let is_of_host = |statement: &String| statement.contains("not_found_url");
        let (of_host, cost): (Vec<_>, Vec<_>) = cheapest(place).into_iter().partition(is_of_host);
        assert!(of_host.len() <= usize::from(place(0)[0] != SYSTEM), "{:?}: {of_host:#?}", place(0));
        assert_eq!(cost, missing, "{:?}", place(0));
    }
}
