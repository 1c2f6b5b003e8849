//! `signpost check` on this machine, healthy and with one fault at a time (D206).

use std::fs::{self, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::Value;
use signpost_test_servers::dns::{Behaviour, NameServer, Record};
use signpost_test_servers::fake_authority::FakeAuthority;
use signpost_test_servers::postgres;
use tempfile::TempDir;

use crate::harness::{Store, migrate, signpost};

const HOST: &str = "go.sign.test";
const EDGE: &str = "edge.sign.test";

/// The authority's name in CAA records.
const ISSUER: &str = "fake.example.net";

/// The settings of a healthy installation, and what they depend on.
struct Installation {
    folder: TempDir,
    dns: NameServer,
    authority: FakeAuthority,
    settings: Vec<(String, String)>,
}

/// What the command found.
struct Report {
    code: i32,
    findings: Vec<Value>,
}

impl Installation {
    fn new() -> Self {
        let (dns, authority) = (NameServer::start(), FakeAuthority::start());
        for name in [HOST, EDGE] {
            dns.set(name, [Record::address("127.0.0.1")]);
        }
        let installation =
            Self { folder: tempfile::tempdir().unwrap(), dns, authority, settings: Vec::new() };
        let settings = [
            ("api-listen", "127.0.0.1:0".to_owned()),
            ("link-listen", "127.0.0.1:0".to_owned()),
            ("dashboard-listen", "127.0.0.1:0".to_owned()),
            ("tls-listen", "127.0.0.1:0".to_owned()),
            // The limit of open files of any machine suffices for these.
            ("max-connections", "100".to_owned()),
            ("system-url", format!("https://{HOST}")),
            ("edge-hostname", EDGE.to_owned()),
            ("allow-special-use", "test".to_owned()),
            ("dns-servers", installation.dns.address().to_string()),
            ("acme-email", "ops@example.com".to_owned()),
            ("acme-directory", installation.authority.directory()),
            ("acme-roots", installation.authority.roots().display().to_string()),
        ];
        settings.into_iter().fold(installation, |installation, (key, value)| installation.with(key, &value))
    }

    fn with(mut self, key: &str, value: &str) -> Self {
        self.settings.retain(|(known, _)| known != key);
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, keys: &[&str]) -> Self {
        self.settings.retain(|(known, _)| !keys.contains(&known.as_str()));
        self
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    fn check(&self) -> Report {
        let flags = self.settings.iter().map(|(key, value)| format!("--{key}={value}"));
        let words: Vec<String> = flags.chain(["check".to_owned(), "--json".to_owned()]).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        report(self.folder.path(), &words)
    }
}

fn report(folder: &Path, words: &[&str]) -> Report {
    let output = signpost(folder, words).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let json: Value = serde_json::from_str(&printed)
        .unwrap_or_else(|error| panic!("{error}: {printed}{}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(output.stderr, b"", "the findings say all");
    Report { code: output.status.code().unwrap(), findings: json["findings"].as_array().unwrap().clone() }
}

impl Report {
    /// All findings of a severity, as texts.
    fn of(&self, severity: &str) -> Vec<String> {
        let found = self.findings.iter().filter(|finding| finding["severity"] == severity);
        found
            .map(|finding| format!("{}. {}", finding["message"].as_str().unwrap(), finding["advice"]))
            .collect()
    }

    /// Asserts that the fault is the only one, and named.
    #[track_caller]
    fn expect(&self, code: i32, named: &[&str]) {
        let severity = if code == 1 { "warn" } else { "fail" };
        let found = self.of(severity);
        assert_eq!(self.code, code, "{:#?}", self.findings);
        assert_eq!(found.len(), 1, "{found:#?}");
        for named in named {
            assert!(found[0].contains(named), "{named} is not in {}", found[0]);
        }
    }
}

#[test]
fn d206_healthy_machine_has_neither_failure_nor_warning() {
    let report = Installation::new().check();
    assert_eq!(report.code, 0, "{:#?}", report.findings);
    assert_eq!(report.of("ok").len(), report.findings.len());
    for subject in ["settings", "disk", "files", "database", "authority", "clock", "names", "caa"] {
        assert!(report.findings.iter().any(|finding| finding["subject"] == subject), "{subject}");
    }
}

#[test]
fn d206_proxy_that_signs_people_in_and_is_not_trusted_is_named() {
    let behind =
        Installation::new().with("sign-in-header", "Remote-Email").with("sign-in-proxies", "10.0.0.5");
    behind.check().expect(1, &["`trusted-proxies` lacks 10.0.0.5/32 of `sign-in-proxies`"]);
    let off = behind.with("dashboard-listen", "off");
    off.check().expect(1, &["`sign-in-header` has no effect", "`dashboard-listen` is off"]);
    let alone = off.without(&["sign-in-proxies"]).check();
    alone.expect(2, &["--sign-in-header: needs `sign-in-proxies` too"]);
}

#[test]
fn d206_port_of_another_program_is_named_with_its_holder() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap();
    let report = Installation::new().with("link-listen", &address.to_string()).check();
    let holder = format!("(process {})", std::process::id());
    report.expect(2, &[&holder, &format!("port {}", address.port()), "`link-listen`"]);
}

#[test]
fn d206_records_that_lead_elsewhere_are_named() {
    for (records, named) in [
        (vec![], "has no address in DNS"),
        (vec![Record::address("203.0.113.9")], "203.0.113.9"),
        (vec![Record::address("127.0.0.1"), Record::address("2001:db8::9")], "AAAA"),
    ] {
        let installation = Installation::new();
        installation.dns.set(HOST, records);
        let report = installation.check();
        let found: Vec<_> = report.of("fail").into_iter().chain(report.of("warn")).collect();
        assert!(report.code > 0 && found.len() == 1, "{:#?}", report.findings);
        assert!(found[0].contains(named) && found[0].contains(HOST), "{found:?}");
    }
}

#[test]
fn d206_caa_records_that_forbid_the_authority_are_named_with_the_one_to_add() {
    let installation = Installation::new();
    installation.dns.set("sign.test", [Record::caa("issue", "other.example")]);
    let report = installation.check();
    let found = report.of("fail");
    assert_eq!((report.code, found.len()), (2, 2), "{:#?}", report.findings);
    assert!(found[0].contains(&format!("sign.test CAA 0 issue \\\"{ISSUER}\\\"")), "{found:?}");
}

#[test]
fn d206_silent_name_server_is_a_warning() {
    let installation = Installation::new();
    installation.dns.behave_for(HOST, Behaviour::ServFail);
    installation.check().expect(1, &[HOST, "dig"]);
}

#[test]
fn d206_unreachable_authority_is_named() {
    let installation = Installation::new().with("acme-directory", "https://127.0.0.1:1/dir");
    installation.check().expect(2, &["127.0.0.1:1", "curl -v"]);
}

#[test]
fn d206_folder_that_cannot_be_written_to_is_named() {
    let report = Installation::new().with("database-url", "sqlite:///proc/signpost.db").check();
    let found = report.of("fail").join("\n");
    assert!(report.code == 2 && found.contains("/proc"), "{:#?}", report.findings);
}

#[test]
fn d206_file_that_is_no_database_is_named() {
    let installation = Installation::new();
    let path = installation.path("other.db");
    fs::write(&path, "no database, although it is long enough for a header of one").unwrap();
    installation.with("database-url", &format!("sqlite://{path}")).check().expect(2, &["other.db"]);
}

#[test]
fn d206_secrets_key_that_others_may_read_is_named() {
    let installation = Installation::new();
    let path = installation.path("secrets.key");
    fs::write(&path, [7; 32]).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
    installation.with("secrets-key", &path).check().expect(2, &["chmod 600", "secrets.key"]);
}

#[test]
fn d206_settings_that_contradict_each_other_are_named() {
    let without_https = ["acme-email", "acme-directory", "acme-roots", "tls-listen"];
    let installation = Installation::new().without(&without_https).with("hsts", "600");
    installation.check().expect(1, &["`hsts` has no effect"]);
}

#[test]
fn d206_wrong_setting_is_a_finding_too() {
    Installation::new().with("store-timeout", "soon").check().expect(2, &["store-timeout"]);
    let installation = Installation::new().without(&["system-url"]);
    fs::write(installation.path("signpost.toml"), "sytem-url = \"https://go.sign.test\"\n").unwrap();
    installation.check().expect(2, &["sytem-url"]);
}

#[test]
fn d206_redis_that_does_not_answer_is_a_warning() {
    Installation::new().with("redis-url", "redis://127.0.0.1:1").check().expect(1, &["`redis-url`"]);
}

#[test]
fn d206_postgres_faults_are_named() {
    let Store::Servers = Store::of_this_run() else { return };
    let database = postgres::shared("signpost check").database(None);
    let url = database.url();
    let installation = Installation::new();
    let key = installation.path("secrets.key");
    fs::write(&key, [7; 32]).unwrap();
    fs::set_permissions(&key, Permissions::from_mode(0o600)).unwrap();
    let installation = installation.with("secrets-key", &key).with("database-url", &url);
    installation.check().expect(2, &["migrations", "signpost migrate"]);
    migrate(&url);
    let report = installation.check();
    assert_eq!(report.code, 0, "{:#?}", report.findings);
    let installation = installation.with("database-connections", "5000");
    installation.check().expect(2, &["connections", "max_connections"]);
    let installation = installation.without(&["database-connections"]);
    let unknown = url.replace("postgres://", "postgres://nobody:secret@").replace("@postgres:", "@");
    let report = installation.with("database-url", &unknown).check();
    let found = report.of("fail").join("\n");
    assert!(report.code == 2 && !found.contains("secret"), "{:#?}", report.findings);
}
