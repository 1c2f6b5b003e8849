//! What is stored, for how long, and with how many commands.

use signpost_app::ports::{CountId, CountedElsewhere, MergingQuotaStore as _, QuotaStore as _, StoreError};
use signpost_domain::{QuotaDecision, QuotaWindow, RequestBudget};
use signpost_port_contracts::samples;
use signpost_test_servers::redis::RedisServer;

use crate::opening::{BUDGET, admit, counted, key, open, server};

/// How often the server has run a command.
fn calls(server: &RedisServer, command: &str) -> u64 {
    let statistics = server.command(&["INFO", "commandstats"]);
    let name = format!("cmdstat_{command}:calls=");
    let line = statistics.lines().find_map(|line| line.strip_prefix(&name));
    line.map_or(0, |line| line.split(',').next().unwrap().parse().unwrap())
}

fn missing(alone: u32) -> CountedElsewhere {
    CountedElsewhere { count: CountId::from_u128(7), alone, merged: 0, in_store: 0 }
}

/// D16: counts are keyed by the start of their window, and expire two days after their day.
#[tokio::test]
async fn d16_counts_of_an_account_and_day_are_one_key_that_expires() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    for _ in 0..3 {
        admit(&store, account).await.unwrap();
    }
    store.admit(account, BUDGET, samples::at(60_000)).await.unwrap();
    assert_eq!(server.command(&["KEYS", "*"]), key(account));
    let fields = server.command(&["HGETALL", &key(account)]);
    let mut fields: Vec<&str> = fields.lines().collect();
    fields.sort_unstable();
    // 09:05 and 09:06.
    assert_eq!(fields, ["1", "3", "4", "545", "546", "day"]);
    let seconds: u64 = server.command(&["TTL", &key(account)]).parse().unwrap();
    assert!((72 * 3_600 - 60..=72 * 3_600).contains(&seconds), "{seconds}");

    let merged = samples::id();
    let counted = missing(1);
    store.merge(merged, QuotaWindow::Minute, samples::at(0), counted).await.unwrap();
    let seconds: u64 = server.command(&["TTL", &key(merged)]).parse().unwrap();
    assert!((72 * 3_600 - 60..=72 * 3_600).contains(&seconds), "{seconds}");
}

#[tokio::test]
async fn refused_request_writes_nothing() {
    let server = server();
    let none = RequestBudget { per_minute: 0, per_day: 10 };
    let decision = open(&server.url(0)).admit(samples::id(), none, samples::at(0)).await.unwrap();
    assert!(matches!(decision, QuotaDecision::Exhausted { .. }));
    assert_eq!(server.command(&["DBSIZE"]), "0");
}

/// The port requires one round trip.
#[tokio::test]
async fn request_is_one_command_and_the_script_is_sent_once() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    for _ in 0..50 {
        admit(&store, account).await.unwrap();
    }
    // The first script was not cached yet.
    assert_eq!((calls(&server, "evalsha"), calls(&server, "eval")), (50, 1));
    assert_eq!(calls(&server, "hincrby"), 100);
    let _ = server.command(&["SCRIPT", "FLUSH"]);
    admit(&store, account).await.unwrap();
    admit(&store, account).await.unwrap();
    assert_eq!((calls(&server, "evalsha"), calls(&server, "eval")), (52, 2));
    assert_eq!(counted(&store, account).await, 52);
    let asked = calls(&server, "hmget");
    store.remaining(account, BUDGET, samples::at(0)).await.unwrap();
    assert_eq!(calls(&server, "hmget"), asked + 1);
}

#[tokio::test]
async fn each_database_of_a_server_has_its_own_counts() {
    let server = server();
    let account = samples::id();
    admit(&open(&server.url(3)), account).await.unwrap();
    assert_eq!(counted(&open(&server.url(0)), account).await, 0);
    assert_eq!(counted(&open(&server.url(3)), account).await, 1);
}

/// Another program may have written there.
#[tokio::test]
async fn invalid_count_is_corrupt_and_nothing_is_counted() {
    let server = server();
    let store = open(&server.url(0));
    let now = samples::at(0);
    let nothing = missing(0);
    let is_corrupt = |error: Option<StoreError>, about: &str| {
        let is_corrupt = matches!(&error, Some(StoreError::Corrupt { row, .. }) if row == about);
        assert!(is_corrupt, "{error:?}");
    };
    for (field, value) in
        [("day", "many"), ("545", "-1"), ("day", "1.5"), ("545", "0x10"), ("day", "4294967296")]
    {
        let account = samples::id();
        let _ = server.command(&["HSET", &key(account), field, value]);
        is_corrupt(store.admit(account, BUDGET, now).await.err(), &key(account));
        is_corrupt(store.remaining(account, BUDGET, now).await.err(), &key(account));
        assert_eq!(server.command(&["HGETALL", &key(account)]), format!("{field}\n{value}"));
    }
    let account = samples::id();
    let _ = server.command(&["SET", &key(account), "a poem"]);
    is_corrupt(store.admit(account, BUDGET, now).await.err(), &key(account));
    is_corrupt(store.remaining(account, BUDGET, now).await.err(), &key(account));
    is_corrupt(store.merge(account, QuotaWindow::Day, now, nothing).await.err(), &key(account));
    // The connection still works.
    assert_eq!(
        server.command(&["INFO", "stats"]).lines().filter(|line| line.starts_with("rejected_conn")).count(),
        1
    );
    admit(&store, samples::id()).await.unwrap();
}

/// The name lives as long as the counts and never expires.
#[tokio::test]
async fn counts_keep_their_name_until_they_are_lost() {
    let server = server();
    let store = open(&server.url(0));
    let [first, second] = [1, 2].map(CountId::from_u128);
    assert_eq!(store.try_write(first).await.unwrap(), first);
    assert_eq!(store.try_write(second).await.unwrap(), first);
    assert_eq!(server.command(&["TTL", "signpost:quota:name"]), "-1");
    let _ = server.command(&["FLUSHALL"]);
    assert_eq!(store.try_write(second).await.unwrap(), second);
    // A foreign value there is not a name.
    for other in ["a poem", "", "-1"] {
        let _ = server.command(&["HSET", "signpost:quota:name", "name", other]);
        assert_eq!(store.try_write(first).await.unwrap(), first);
    }
}

/// An attempt is a write, because a read-only store is useless (D19).
#[tokio::test]
async fn d19_attempt_on_a_replica_fails() {
    let server = server();
    let store = open(&server.url(0));
    store.try_write(CountId::from_u128(1)).await.unwrap();
    let _ = server.command(&["REPLICAOF", "127.0.0.1", "1"]);
    store.try_write(CountId::from_u128(1)).await.unwrap_err();
}

/// An operator's ACL may not allow `TIME`.
#[tokio::test]
async fn user_without_permission_for_the_time_can_still_try() {
    let server = server();
    let rules =
        "on >s3cret ~signpost:quota:* +hmget +hget +hset +hincrby +expire +ttl +evalsha +eval +client";
    let words: Vec<&str> = ["ACL", "SETUSER", "node"].into_iter().chain(rules.split(' ')).collect();
    let _ = server.command(&words);
    let store = open(&format!("redis://node:s3cret@127.0.0.1:{}", server.port()));
    let (account, name) = (samples::id(), CountId::from_u128(1));
    assert_eq!(store.try_write(name).await.unwrap(), name);
    admit(&store, account).await.unwrap();
    store.merge(account, QuotaWindow::Day, samples::at(0), missing(1)).await.unwrap();
    assert_eq!(counted(&store, account).await, 2);
}

/// A count at the end of its range stays there.
#[tokio::test]
async fn count_does_not_leave_its_range() {
    let server = server();
    let (store, account) = (open(&server.url(0)), samples::id());
    for number in 0..3 {
        let most = CountedElsewhere { count: CountId::from_u128(number), ..missing(u32::MAX) };
        store.merge(account, QuotaWindow::Day, samples::at(0), most).await.unwrap();
    }
    assert_eq!(store.remaining(account, BUDGET, samples::at(0)).await.unwrap().day, 0);
    let all = RequestBudget { per_minute: u32::MAX, per_day: u32::MAX };
    let decision = store.admit(account, all, samples::at(0)).await.unwrap();
    assert!(matches!(decision, QuotaDecision::Exhausted { window: QuotaWindow::Day, .. }));
}
