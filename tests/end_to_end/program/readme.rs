//! Runs the shell blocks of the README with other ports, and its commands, and checks the plan of the settings.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Program, ProgramBuilder, signpost};

const README: &str = include_str!("../../../README.md");
const SETTINGS: &str = include_str!("../../../docs/settings.md");
const QUESTIONS: &str = include_str!("../../../docs/questions.md");

/// The shell blocks of a document.
fn shell_blocks(document: &str) -> impl Iterator<Item = &str> {
    document.split("\n```").skip(1).step_by(2).filter_map(|block| block.strip_prefix("sh\n"))
}

#[test]
fn all_shell_blocks_work_when_they_are_pasted_one_after_another() {
    let program = Program::start();
    let blocks: Vec<&str> = shell_blocks(README).filter(|block| !block.starts_with("cargo ")).collect();
    assert_eq!(blocks.len(), 2, "the quickstart, and ten lines of curl");
    assert_eq!(blocks[1].lines().count(), 10);
    let key = format!("KEY={}", program.first_key());
    let script = blocks
        .join("\n")
        .replace("KEY=sp_live_…", &key)
        .replace("127.0.0.1:8080", &program.api)
        .replace("localhost:8081", &program.links)
        .replace("curl -i ", "curl -i -H 'Host: localhost' ");
    assert!(script.contains(&key), "{script}");
    // The name of a function or an alias has no path.
    let script = format!("{script}\ncommand -v curl");
    let output = Command::new("sh").args(["-ec", &script]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    assert!(!printed.contains("\"error\""), "{printed}");
    for shown in [
        r#""slug":"hello""#,
        r#""object":"account""#,
        r#""slug":"sale""#,
        "location: https://example.com/sale",
        r#""note":"moved""#,
        "location: https://example.org/new",
        r#""object":"list""#,
        r#""deleted":true"#,
    ] {
        assert!(printed.contains(shown), "{shown} is not in {printed}");
    }
    let curl = printed.lines().last().unwrap();
    assert!(Path::new(curl).is_absolute(), "the reader's curl is now `{curl}`");
}

/// The words of each command in the README's table.
fn commands() -> Vec<Vec<&'static str>> {
    let rows = README.lines().filter_map(|line| line.strip_prefix("| `signpost "));
    rows.map(|row| row.split('`').next().unwrap().split_whitespace().collect()).collect()
}

/// The program without a server, on the embedded store.
#[test]
fn d60_every_command_of_the_readme_works_as_printed() {
    let folder = tempfile::tempdir().unwrap();
    // The first start of a server makes it.
    let secrets_key = folder.path().join("signpost-secrets.key");
    fs::write(&secrets_key, [7; 32]).unwrap();
    fs::set_permissions(&secrets_key, Permissions::from_mode(0o600)).unwrap();
    let (mut account, mut key) = (String::new(), String::new());
    let backup = folder.path().display().to_string();
    let commands = commands();
    assert!(commands.len() > 10, "the README has lost its commands");
    // They look at a running server, at an upgrade, or change the machine.
    let of_others = ["serve", "setup", "check", "health", "restore"];
    for words in commands.into_iter().filter(|words| !of_others.contains(&words[0])) {
        let given = words.iter().map(|word| match *word {
            "acc_…" => &account,
            "key_…" => &key,
            "/var/backups/signpost" => &backup,
            word => word,
        });
        let given: Vec<&str> = given.chain(["--json"]).collect();
        let output = signpost(folder.path(), &given).output().unwrap();
        assert!(output.status.success(), "{given:?}: {}", String::from_utf8_lossy(&output.stderr));
        let id = || {
            let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
            printed["id"].as_str().unwrap().to_owned()
        };
        match words[..] {
            ["account", "create", ..] => account = id(),
            ["key", "issue", ..] => key = id(),
            _ => {}
        }
    }
    assert!(!account.is_empty() && !key.is_empty(), "the README makes an account and a key");
}

#[test]
fn every_command_of_the_questions_exists() {
    let lines = shell_blocks(QUESTIONS).flat_map(str::lines);
    let commands: Vec<&str> = lines.filter_map(|line| line.strip_prefix("signpost ")).collect();
    assert!(!commands.is_empty(), "the page has lost its commands");
    let folder = tempfile::tempdir().unwrap();
    for command in commands {
        let is_name = |word: &&str| word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-');
        let names = command.split_whitespace().take_while(|word| is_name(word) && !word.starts_with("--"));
        let words: Vec<&str> = names.chain(["--help"]).collect();
        assert!(signpost(folder.path(), &words).output().unwrap().status.success(), "{command}");
    }
}

#[test]
fn d209_plan_in_the_docs_is_the_built_in_plan() {
    let shown = SETTINGS
        .split("```toml\n")
        .find(|block| block.starts_with("[plans"))
        .expect("a block of plans")
        .split("```")
        .next()
        .unwrap();
    assert!(shown.starts_with("[plans.agency]\n"), "{shown}");
    let account = |builder: ProgramBuilder| {
        let program = builder.start();
        let account = program.account("agency").get("/v1/account").expect_status(200).body;
        ["plan", "features", "limits"].map(|field| account[field].clone())
    };
    assert_eq!(account(Program::builder().plan(shown)), account(Program::builder().builtin_plans()));
}
