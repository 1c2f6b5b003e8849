//! The keys of visitors on PostgreSQL: nodes hash with the file of the setting `secrets-key` (D48, ADR 64).

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use signpost_test_servers::Absence;
use signpost_test_servers::postgres::{self, PostgresDatabase};

use crate::harness::{Account, Program, migrate, redirect_body, signpost, within_one_day};

const HOUR: Duration = Duration::from_hours(1);

const WARNING: &str = "`secrets-key` is not set";

/// A migrated database; `None`, with a notice, if PostgreSQL is not installed.
fn database() -> Option<PostgresDatabase> {
    let server = postgres::try_shared().map_err(Absence::clone);
    let server = server.inspect_err(|absence| absence.tell("keys of visitors on PostgreSQL")).ok()?;
    let database = server.database(None);
    migrate(&database.url());
    Some(database)
}

fn node(database: &PostgresDatabase, secrets_key: Option<&Path>) -> Program {
    let node = Program::builder().setting_of_all("database-url", &database.url());
    match secrets_key {
        Some(path) => node.setting("secrets-key", path.to_str().unwrap()).start(),
        None => node.start(),
    }
}

fn secrets_key(path: &Path, byte: u8) {
    fs::write(path, [byte; 32]).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// Waits until all clicks are stored, and returns how many visitors they have.
fn visitors(account: &Account, clicks: u64) -> u64 {
    let began = Instant::now();
    loop {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let (start, end) = (now.checked_sub(HOUR).unwrap().as_millis(), (now + HOUR).as_millis());
        let answer = account.get(&format!("/v1/analytics?start_date={start}&end_date={end}&interval=day"));
        let answer = answer.expect_status(200);
        let totals = &answer.body["totals"];
        if totals["clicks"] == clicks {
            return totals["visitors"].as_u64().unwrap();
        }
        assert!(began.elapsed() < Duration::from_mins(1), "the clicks are not stored: {totals}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn d48_nodes_with_one_secrets_key_give_a_visitor_one_hash() {
    let folder = tempfile::tempdir().unwrap();
    let [shared, other] = ["shared.key", "other.key"].map(|name| folder.path().join(name));
    secrets_key(&shared, 1);
    secrets_key(&other, 2);
    within_one_day(|| {
        let Some(database) = database() else { return };
        let nodes = [&shared, &shared, &other].map(|path| node(&database, Some(path)));
        let account = nodes[0].account("agency");
        account.create_redirect(&redirect_body(json!({"slug": "sale"})));
        for (clicks, (node, expected)) in (1..).zip(nodes.iter().zip([1, 1, 2])) {
            node.visitor().open_until("/sale", 302);
            assert_eq!(visitors(&account, clicks), expected, "after {clicks} clicks");
        }
        for mut node in nodes {
            assert!(!node.stop_and_read_log().contains(WARNING));
        }
    });
}

#[test]
fn d48_start_without_a_secrets_key_warns_once() {
    let Some(database) = database() else { return };
    let log = node(&database, None).stop_and_read_log();
    assert_eq!(log.matches(WARNING).count(), 1, "{log}");
    assert!(log.contains("head -c 32 /dev/urandom"), "{log}");
}

#[test]
fn d61_missing_secrets_key_stops_the_start_and_is_not_made() {
    let Some(database) = database() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing.key");
    let mut serve = signpost(
        folder.path(),
        &["serve", "--api-listen=127.0.0.1:0", "--link-listen=127.0.0.1:0", "--dashboard-listen=127.0.0.1:0"],
    );
    serve.env("SIGNPOST_DATABASE_URL", database.url()).env("SIGNPOST_SECRETS_KEY", &path);
    let output = serve.output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{message}");
    let expected = format!("SIGNPOST_SECRETS_KEY: there is no file {}", path.display());
    assert!(message.contains(&expected), "{message}");
    assert!(!path.exists());
}
