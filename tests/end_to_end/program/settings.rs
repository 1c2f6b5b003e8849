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
    std::fs::write(folder.path().join("bad-list.txt"), "not a host!\n").unwrap();
    for (setting, value) in [
        ("api-listen", "nonsense"),
        ("link-listen", "127.0.0.1:99999"),
        ("system-url", "go.example.com"),
        ("system-url", "https://go.example.com/path"),
        ("system-aliases", "not a host"),
        ("database-url", "mysql://x"),
        ("database-url", "nonsense"),
        ("trusted-proxies", "10.0.0.0/99"),
        ("trusted-proxies", "proxy.example.com"),
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
        ("target-blocklist", "missing.txt"),
        ("target-blocklist", "bad-list.txt"),
        ("geoip-database", "missing.mmdb"),
        ("geoip-database", "bad-list.txt"),
        ("country-header", "two words"),
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

#[test]
fn d61_an_occupied_address_stops_the_start_and_is_named() {
    let program = Program::start();
    let folder = tempfile::tempdir().unwrap();
    let flag = format!("--api-listen={}", program.api);
    refuses(&start(folder.path(), &["serve", &flag, "--link-listen=127.0.0.1:0"], &[]), &program.api);
}

/// The domain of a link shows which value of `system-url` the program uses.
#[test]
fn d61_flags_win_over_variables_and_variables_over_the_file() {
    let shown = |flag: Option<&str>, variable: Option<&str>, file: Option<&str>| {
        let folder = tempfile::tempdir().unwrap();
        if let Some(url) = file {
            std::fs::write(folder.path().join("signpost.toml"), format!("system-url = \"{url}\"\n")).unwrap();
        }
        let flags: Vec<_> =
            flag.map(|url| vec!["--system-url".to_owned(), url.to_owned()]).unwrap_or_default();
        let variables: Vec<_> =
            variable.map(|url| ("SIGNPOST_SYSTEM_URL".to_owned(), url.to_owned())).into_iter().collect();
        let program = Program::start_in_with(folder, &flags, &variables);
        program.first_account().new_redirect()["domain"].as_str().unwrap().to_owned()
    };
    let [flag, variable, file] =
        ["https://flag.example.com", "https://variable.example.com", "https://file.example.com"];
    assert_eq!(shown(Some(flag), Some(variable), Some(file)), "flag.example.com");
    assert_eq!(shown(None, Some(variable), Some(file)), "variable.example.com");
    assert_eq!(shown(None, None, Some(file)), "file.example.com");
    assert_eq!(shown(None, None, None), "localhost");
}
