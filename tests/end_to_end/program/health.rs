//! `signpost health`, completions and the manual (D208).

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{Program, signpost};

#[test]
fn d208_health_is_the_answer_of_the_server() {
    let mut program = Program::builder().setting("drain-delay", "10m").start();
    let folder = tempfile::tempdir().unwrap();
    let api = program.api.clone();
    let ask = |question: &str| {
        let output =
            signpost(folder.path(), &["--api-listen", &api, "health", question, "--json"]).output().unwrap();
        (output.status.code().unwrap(), output)
    };
    for question in ["ready", "links", "live"] {
        let (code, output) = ask(question);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(code, 0, "{output:?}");
        assert!(answer["status"].is_string(), "{answer}");
    }
    program.signal("TERM");
    program.first_account().await_health("/health/ready", |answer| answer.body["status"] == "draining");
    let (code, output) = ask("ready");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(code == 1 && error.contains("503") && error.contains("draining"), "{error}");
    assert_eq!(ask("live").0, 0);
    program.signal("TERM");
    program.wait();
    let (code, output) = ask("ready");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(code == 1 && error.contains(&api) && error.contains("signpost serve"), "{error}");
}

/// A listener behind a balancer takes no connection without its header.
#[test]
fn d208_health_speaks_the_proxy_protocol_where_the_listener_does() {
    let program = Program::builder().setting("proxy-protocol", "api").start();
    let words = ["--api-listen", &program.api, "--proxy-protocol", "api", "health"];
    let output = signpost(&program.folder(), &words).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn d208_completions_need_no_settings_and_survive_a_closed_pipe() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("signpost.toml"), "no setting").unwrap();
    for shell in ["bash", "zsh", "fish"] {
        let output = signpost(folder.path(), &["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains("set-plan"), "{shell}");
    }
    let mut child = signpost(folder.path(), &["completions", "bash"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    let bash = signpost(folder.path(), &["completions", "bash"]).output().unwrap().stdout;
    let script = folder.path().join("signpost.bash");
    fs::write(&script, bash).unwrap();
    assert!(Command::new("bash").arg("-n").arg(script).status().unwrap().success());
}

/// The rest of setup needs a machine with systemd.
#[test]
fn d205_setup_without_a_terminal_names_the_flags() {
    let folder = tempfile::tempdir().unwrap();
    for (words, named) in [
        (&["setup"][..], "--yes"),
        (&["setup", "--json", "--hostname", "go.example.com"], "--yes"),
        (&["setup", "--yes", "--email", "ada@example.com"], "--hostname"),
        (&["setup", "--yes", "--hostname", "not a name"], "--hostname"),
    ] {
        let output = signpost(folder.path(), words).output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && error.contains(named), "{words:?}: {error}");
    }
}

#[test]
fn d208_manual_has_a_page_for_each_command() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("man");
    let output = signpost(folder.path(), &["manual", target.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    for page in ["signpost", "signpost-serve", "signpost-check", "signpost-account-create"] {
        let text = fs::read_to_string(target.join(format!("{page}.1"))).unwrap();
        assert!(text.contains(".TH ") && text.contains("\\fB\\-\\-config\\fR"), "{page}: {text}");
    }
}
