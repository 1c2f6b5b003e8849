//! Settings of the program (D61).

use std::path::Path;
use std::process::Output;

use crate::harness::{Program, signpost};

/// Runs the program with these arguments and variables until it stops itself.
fn start(folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Output {
    signpost(folder, arguments).envs(variables.iter().copied()).output().unwrap()
}

fn refuses(output: &Output, named: &str) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "the program started although {named} is wrong");
    assert!(message.contains(named), "{named} is not named: {message}");
    assert!(!message.contains("panicked"), "{message}");
}

#[test]
fn d61_an_invalid_value_stops_the_start_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("bad-plans.toml"), "[plans.x]\napi_acess = true\n").unwrap();
    for (setting, value) in [
        ("api-listen", "nonsense"),
        ("system-url", "go.example.com"),
        ("system-url", "https://go.example.com/path"),
        ("system-aliases", "not a host"),
        ("log-format", "xml"),
        ("throttle-per-minute", "-1"),
        ("throttle-per-minute", "many"),
        ("miss-throttle-per-minute", "1.5"),
        ("stale-limit", "25h"),
        ("link-cache", "256"),
        ("link-cache", "0MiB"),
        ("drain-delay", "soon"),
        ("store-timeout", "0s"),
        ("store-timeout", "never"),
        ("database-connections", "0"),
        ("database-wait", "soon"),
        ("statement-timeout", "0s"),
        ("plans", "missing.toml"),
        ("plans", "bad-plans.toml"),
        ("metrics-listen", "nowhere"),
    ] {
        let flag = format!("--{setting}={value}");
        refuses(&start(folder.path(), &["serve", &flag], &[]), setting);
        let variable = format!("SIGNPOST_{}", setting.replace('-', "_").to_uppercase());
        let output = start(folder.path(), &["serve"], &[(&variable, value)]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{variable}={value}");
        assert!(message.contains(setting) || message.contains(&variable), "{variable}: {message}");
    }
}

#[test]
fn d61_an_unknown_setting_stops_the_start_and_is_named() {
    let folder = tempfile::tempdir().unwrap();
    refuses(&start(folder.path(), &["serve", "--colour=red"], &[]), "--colour");
    refuses(&start(folder.path(), &["serve"], &[("SIGNPOST_COLOUR", "red")]), "SIGNPOST_COLOUR");
    std::fs::write(folder.path().join("signpost.toml"), "colour = \"red\"\n").unwrap();
    refuses(&start(folder.path(), &["serve"], &[]), "colour");
    std::fs::write(folder.path().join("signpost.toml"), "api-listen = 5\n").unwrap();
    refuses(&start(folder.path(), &["serve"], &[]), "api-listen");
    std::fs::write(folder.path().join("signpost.toml"), "api-listen = \n").unwrap();
    refuses(&start(folder.path(), &["serve"], &[]), "signpost.toml");
}

/// A secret that was not injected, and a line that ends with CR LF, once opened another, empty database.
#[test]
fn d61_a_damaged_database_url_stops_the_start_and_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for text in ["", " sqlite://a.db", "sqlite://a.db\r", "sqlite://a\nb.db"] {
        let output = start(
            folder.path(),
            &["serve", LISTEN[0], LISTEN[1], LISTEN[2]],
            &[("SIGNPOST_DATABASE_URL", text)],
        );
        refuses(&output, "SIGNPOST_DATABASE_URL: must not ");
        let flag = format!("--database-url={text}");
        refuses(&start(folder.path(), &["account", "list", &flag], &[]), "--database-url: must not ");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

const LISTEN: [&str; 3] =
    ["--api-listen=127.0.0.1:0", "--link-listen=127.0.0.1:0", "--dashboard-listen=127.0.0.1:0"];

#[test]
fn d61_an_occupied_address_stops_the_start_and_is_named() {
    let program = Program::start();
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("--api-listen={}", program.api);
    refuses(&start(folder.path(), &["serve", &flag, LISTEN[1], LISTEN[2]], &[]), &program.api);
}

#[test]
fn d61_the_security_contact_of_the_setting_is_published() {
    let program = Program::builder().setting("security-contact", "security@example.com").start();
    let published = program.visitor().open("/.well-known/security.txt").body;
    assert!(published.starts_with("Contact: mailto:security@example.com\nExpires: 2"), "{published}");
    assert_eq!(Program::start().visitor().open("/.well-known/security.txt").status, 404);
}
