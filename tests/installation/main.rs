//! The package on a Debian system that boots: installation, setup, upgrade, rollback and removal (D201, D202, D205, D207).
//!
//! The system runs in a container of systemd, without a network of its own beside the loopback interface. An authority for tests
//! issues its certificates. Where a machine cannot run such a container, the test says so and ends.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test fails by panicking"
)]

mod authority;
mod system;
mod system_files;
mod visitors;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_xtask::dist;
use tempfile::TempDir;

use crate::system::System;
use crate::visitors::Visitors;

const HOST: &str = "go.sign.test";
const DASHBOARD: &str = "dash.sign.test";
const DATABASE: &str = "/var/lib/signpost/signpost.db";
const SETTINGS: &str = "/etc/signpost/signpost.toml";

/// The version that is upgraded. As long as there is no earlier release, it is a package of this program.
const PREVIOUS: &str = "0.0.9";

/// The version of the program.
const CURRENT: &str = env!("CARGO_PKG_VERSION");

/// How long it may take from the installation of the package until a link opens over HTTPS.
const FIRST_LINK_WITHIN: Duration = Duration::from_mins(1);

/// Undoes the last migration, so that the database is as an earlier version left it.
const WITHOUT_LAST_MIGRATION: &str =
    "DROP INDEX custom_domains_proven; DELETE FROM __diesel_schema_migrations WHERE version = '0030'";

/// How exposed the service may be to the rest of the system, in tenths, by the measure of `systemd-analyze security`.
const EXPOSURE: u32 = 14;

/// The backup runs as root.
const EXPOSURE_OF_BACKUP: u32 = 30;

#[test]
fn d201_package_is_installed_set_up_upgraded_rolled_back_and_removed() {
    let packages = Packages::of(&[PREVIOUS, CURRENT]);
    let system = match System::boot() {
        Ok(system) => system,
        Err(reason) => return system::tell(&reason),
    };
    authority::start(&system, &[HOST, DASHBOARD]);

    let start = Instant::now();
    packages.install(PREVIOUS, &system);
    assert_starts_nothing(&system);
    let first = set_up(&system);
    assert_eq!(status(&system, "/hello"), "302");
    let took = start.elapsed();
    assert!(took <= FIRST_LINK_WITHIN, "{took:?}");
    assert_keeps_secrets(&system, &first);
    assert_second_setup_changes_nothing(&system);
    assert_finds_no_fault(&system);
    assert_backs_up(&system);

    restart_and_upgrade_under_load(&system, &packages);
    upgrade_database_and_roll_back(&system, &packages, first["key"].as_str().unwrap());
    remove_and_purge(&system);
}

/// D201: what Debian's own checks of packages call an error.
#[test]
fn d201_package_has_no_errors_for_lintian() {
    let lintian = Command::new("lintian").arg("--version").output();
    if !lintian.is_ok_and(|output| output.status.success()) {
        return system::tell("lintian is missing: apt-get install lintian");
    }
    let packages = Packages::of(&[CURRENT]);
    let mut lintian = Command::new("lintian");
    let output =
        lintian.args(["--fail-on", "error", "--tag-display-limit", "0"]).arg(&packages.paths[CURRENT]);
    let output = output.env("LC_ALL", "C").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// Packages of the built program, by their versions.
struct Packages {
    paths: BTreeMap<&'static str, PathBuf>,
    _folder: TempDir,
}

impl Packages {
    /// Builds them as these versions.
    fn of(versions: &[&'static str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("program");
        // With its debug information, the program of the tests has ten times the size of a released one.
        let mut strip = Command::new("strip");
        let status = strip.arg("-o").arg(&program).arg(env!("CARGO_BIN_EXE_signpost")).status().unwrap();
        assert!(status.success(), "strip: {status}");
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let package = |version| dist::package_of(&program, version, &root, folder.path()).unwrap();
        let paths = versions.iter().map(|version| (*version, package(version))).collect();
        Self { paths, _folder: folder }
    }

    fn install(&self, version: &str, system: &System) {
        system.copy(&self.paths[version], "/srv/signpost.deb");
        system.succeed("DEBIAN_FRONTEND=noninteractive dpkg --force-downgrade --install /srv/signpost.deb");
        let installed = system.succeed("dpkg-query --show --showformat '${Version}' signpost");
        assert_eq!(installed, version);
    }
}

/// D201: without settings there is nothing to serve. D202: the service is isolated from the rest of the system.
fn assert_starts_nothing(system: &System) {
    for unit in ["signpost.service", "signpost.socket"] {
        assert!(!system.run(&format!("systemctl --quiet is-active {unit}")).status.success(), "{unit}");
        assert!(!system.run(&format!("systemctl --quiet is-enabled {unit}")).status.success(), "{unit}");
    }
    assert!(!system.has(SETTINGS) && !system.has(DATABASE));
    assert_isolated(system, "signpost.service", EXPOSURE);
}

/// D205: one command from an installed package to a link. Returns what it reported.
fn set_up(system: &System) -> Value {
    let report = setup(system);
    assert_eq!(report["link"], format!("https://{HOST}/hello"), "{report}");
    assert_eq!(report["opens"], true, "{report}");
    assert!(report["key"].as_str().is_some_and(|key| key.starts_with("sp_live_")), "{report}");
    assert!(report["start_url"].as_str().is_some_and(|url| url.starts_with("https://")), "{report}");
    for unit in ["signpost.service", "signpost.socket"] {
        system.succeed(&format!("systemctl is-active {unit} && systemctl is-enabled {unit}"));
    }
    assert_eq!(system.succeed(&format!("stat --format '%U %a' {SETTINGS}")).trim(), "root 600");
    report
}

fn setup(system: &System) -> Value {
    let output = system.succeed(&format!(
        "signpost {} --allow-special-use test setup --hostname {HOST} --email ada@example.com \
         --dashboard-hostname {DASHBOARD} --yes --json",
        authority::OPTIONS
    ));
    serde_json::from_str(&output).unwrap()
}

/// D79: what opens the account is in no log.
fn assert_keeps_secrets(system: &System, report: &Value) {
    let journal = system.succeed("journalctl --no-pager --output cat --unit signpost");
    assert!(journal.contains("listening"), "{journal}");
    let start_url = report["start_url"].as_str().unwrap();
    let secret_of_url = start_url.rsplit('/').next().unwrap();
    for secret in [report["key"].as_str().unwrap(), secret_of_url] {
        assert!(!journal.contains(secret), "{journal}");
    }
}

fn assert_second_setup_changes_nothing(system: &System) {
    let state = || {
        let files = system.succeed("find /etc/signpost -type f -exec sha256sum {} + | sort");
        let accounts = system.succeed(&format!("signpost --config {SETTINGS} account list"));
        let process = system.succeed("systemctl show --property MainPID signpost.service");
        (files, accounts, process)
    };
    let before = state();
    let report = setup(system);
    assert_eq!(
        (&report["key"], &report["account"], &report["opens"]),
        (&Value::Null, &Value::Null, &json!(true))
    );
    assert_eq!(state(), before);
}

/// D206: the checks find nothing to mend. They may warn of limits of the container.
fn assert_finds_no_fault(system: &System) {
    let output = system.run(&format!("signpost --config {SETTINGS} check --json"));
    let findings: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(output.status.code().is_some_and(|code| code < 2), "{findings}");
}

/// The unit of the nightly backup has the rights that it needs, and few others.
fn assert_backs_up(system: &System) {
    system.succeed("install -d -m 0700 /var/backups/signpost && systemctl start signpost-backup.service");
    let copies = system.succeed("ls /var/backups/signpost");
    assert!(copies.contains("signpost-2") && copies.contains(".db"), "{copies}");
    assert_isolated(system, "signpost-backup.service", EXPOSURE_OF_BACKUP);
}

fn assert_isolated(system: &System, unit: &str, exposure: u32) {
    system.succeed(&format!("systemd-analyze security --no-pager --threshold={exposure} {unit}"));
}

/// D202: connections wait in the socket, which systemd keeps. D201: an upgrade restarts the running service.
fn restart_and_upgrade_under_load(system: &System, packages: &Packages) {
    let visitors = Visitors::start(system, &format!("https://{HOST}/hello"));
    for _ in 0..3 {
        system.succeed("systemctl restart signpost.service");
        visitors.await_visit(system);
    }
    let process = || system.succeed("systemctl show --property MainPID signpost.service");
    let before = process();
    packages.install(CURRENT, system);
    visitors.await_visit(system);
    assert_ne!(process(), before);
    let visits = visitors.stop(system);
    assert!(visits.iter().all(|visit| visit == "302"), "{visits:?}");
}

/// D207: before a new version migrates the database, it makes a copy, and one command returns to it.
fn upgrade_database_and_roll_back(system: &System, packages: &Packages, key: &str) {
    let signpost = format!("signpost --config {SETTINGS}");
    packages.install(PREVIOUS, system);
    system.succeed("systemctl stop signpost.service");
    system.succeed(&format!("sqlite3 {DATABASE} \"{WITHOUT_LAST_MIGRATION}\""));
    packages.install(CURRENT, system);
    // The first visit starts the service.
    assert_eq!(status(system, "/hello"), "302");
    assert!(system.has(&format!("/var/lib/signpost/signpost-before-{CURRENT}.db")));
    let later = json!({"name": "Later", "slug": "later", "target_url": "https://example.com/"});
    system.succeed(&format!(
        "curl --silent --fail --header 'Authorization: Bearer {key}' --header 'Content-Type: application/json' \
         --data '{later}' http://127.0.0.1:8080/v1/redirects"
    ));
    assert_eq!(status(system, "/later"), "302");

    system.succeed("systemctl stop signpost.socket signpost.service");
    packages.install(PREVIOUS, system);
    system.succeed(&format!("{signpost} restore --before {CURRENT}"));
    system.succeed("systemctl start signpost.socket signpost.service");
    assert_eq!([status(system, "/hello"), status(system, "/later")], ["302", "404"]);
    assert!(system.has(&format!("/var/lib/signpost/signpost-after-{CURRENT}.db")));
}

/// D201: neither a removal nor a purge deletes data or settings, which cannot be made again.
fn remove_and_purge(system: &System) {
    for action in ["remove", "purge"] {
        system.succeed(&format!("dpkg --{action} signpost"));
        for unit in ["signpost.service", "signpost.socket"] {
            assert!(!system.run(&format!("systemctl --quiet is-active {unit}")).status.success(), "{unit}");
        }
        assert!(!system.has("/usr/bin/signpost") && system.has(DATABASE) && system.has(SETTINGS), "{action}");
        assert_eq!(status(system, "/hello"), "000", "{action}");
    }
}

/// The status of a visit; 000 if there was no answer.
fn status(system: &System, path: &str) -> String {
    let command = format!(
        "curl --silent --max-time 60 --output /dev/null --write-out '%{{http_code}}' https://{HOST}{path}"
    );
    String::from_utf8(system.run(&command).stdout).unwrap()
}
