//! Several programs on one PostgreSQL server and one Redis: every node gives the same promises.
//!
//! Without the servers these tests are skipped with a notice.

mod background_work;
mod batch_costs;
mod certificate_crashes;
mod certificates;
mod changes;
mod custom_domains;
mod dashboard;
mod dashboard_costs;
mod link_changes;
mod link_passwords;
mod max_clicks;
mod node_reports;
mod request_costs;
mod rules;
mod shared_state;
mod visitor_keys;

use signpost_test_servers::Absence;
use signpost_test_servers::postgres::{self, PostgresDatabase};
use signpost_test_servers::redis::{self, RedisServer};

use crate::harness::{Account, Program, migrate};

/// Nodes with their own database and Redis.
struct Cluster {
    nodes: Vec<Program>,
    database: PostgresDatabase,
    redis: RedisServer,
}

/// Starts nodes; `None`, with a notice, if the servers are not installed.
fn nodes(count: usize, plan: &str) -> Option<Cluster> {
    let servers = postgres::try_shared()
        .map_err(Absence::clone)
        .and_then(|postgres| Ok((postgres, RedisServer::try_start(&redis::Setup::default())?)));
    let (postgres, redis) = match servers {
        Ok(servers) => servers,
        Err(absence) => {
            absence.tell("several nodes");
            return None;
        }
    };
    let database = postgres.database(None);
    migrate(&database.url());
    let nodes = (0..count).map(|_| {
        Program::builder()
            .setting_of_all("database-url", &database.url())
            .setting("redis-url", &redis.url(0))
            .setting("metrics-listen", "127.0.0.1:0")
            .plan(plan)
            .start()
    });
    Some(Cluster { nodes: nodes.collect(), database, redis })
}

/// An account's client on each node.
fn clients(nodes: &[Program], plan: &str) -> Vec<Account> {
    let account = nodes[0].account(plan);
    nodes.iter().map(|node| node.with_key(&account.key)).collect()
}
