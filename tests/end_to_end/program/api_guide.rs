//! Runs the examples of `docs/api.md` with other ports, and compares the answers with those that it shows.

use std::process::Command;

use serde_json::Value;
use signpost_domain::id::AccountKind;
use signpost_domain::{Hostname, IdReference, VerificationRecord};
use signpost_test_servers::dns::{NameServer, Record};

use crate::harness::Program;

const GUIDE: &str = include_str!("../../../docs/api.md");

/// Separates the outputs of two examples.
const MARK: &str = "@@@@";

/// The member of a shown object that stands for its remaining fields.
const REMAINING: &str = "…";

/// A shell block, and the block with its output.
struct Example {
    script: &'static str,
    /// The language and the text of the shown output.
    shown: (&'static str, &'static str),
}

/// Every shell block of the guide. The block after each must show its output.
fn examples() -> Vec<Example> {
    let blocks: Vec<(&str, &str)> = GUIDE
        .split("\n```")
        .skip(1)
        .step_by(2)
        .map(|block| block.split_once('\n').expect("a language and a text"))
        .collect();
    let (pairs, rest) = blocks.as_chunks::<2>();
    assert!(rest.is_empty(), "a shell block without its output");
    let example = |[(language, script), shown]: &[(&'static str, &'static str); 2]| {
        assert_eq!(*language, "sh", "{script}");
        Example { script, shown: *shown }
    };
    pairs.iter().map(example).collect()
}

/// Whether a text matches the shown text, in which `…` stands for anything.
fn is_text(shown: &str, text: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[track_caller]
fn assert_shown(shown: &Value, value: &Value, path: &str) {
    match (shown, value) {
        (Value::Object(shown), Value::Object(value)) => {
            if !shown.contains_key(REMAINING) {
                let missing: Vec<_> = value.keys().filter(|name| !shown.contains_key(*name)).collect();
                assert!(missing.is_empty(), "{path} lacks {missing:?}");
            }
            for (name, shown) in shown.iter().filter(|(name, _)| *name != REMAINING) {
                assert!(value.get(name).is_some(), "{path} has no `{name}`");
                assert_shown(shown, &value[name], &format!("{path}.{name}"));
            }
        }
        (Value::Array(shown), Value::Array(value)) => {
            assert_eq!(shown.len(), value.len(), "the items of {path}: {value:?}");
            for (index, (shown, value)) in shown.iter().zip(value).enumerate() {
                assert_shown(shown, value, &format!("{path}[{index}]"));
            }
        }
        (Value::String(shown), Value::String(value)) => {
            assert!(is_text(shown, value), "{path}: {shown:?} is shown, {value:?} came");
        }
        _ => assert_eq!(shown, value, "{path}"),
    }
}

/// The hostname that the guide connects, and the edge that it must point to.
const HOST: &str = "links.example.org";
const EDGE: &str = "edge.example.net";

/// Adds the records that the guide asks its reader to add at a DNS provider.
fn add_records(dns: &NameServer, program: &Program) {
    let account = program.first_account().get("/v1/account").expect_status(200).body;
    let account = IdReference::<AccountKind>::parse(account["id"].as_str().unwrap()).id().unwrap();
    let proof = VerificationRecord::of(account, &Hostname::parse(HOST).unwrap());
    dns.set(&proof.name(), [Record::text(&proof.value())]);
    dns.set(HOST, [Record::alias(EDGE)]);
}

#[test]
fn the_examples_print_what_the_guide_shows() {
    let dns = NameServer::start();
    // The guide shows the limits of the built-in plan.
    let program = Program::builder()
        .builtin_plans()
        .setting("edge-hostname", EDGE)
        .setting("dns-servers", &dns.address().to_string())
        .start();
    add_records(&dns, &program);
    let examples = examples();
    assert!(examples.len() > 8, "the guide has lost its examples");
    let mark = format!("\nprintf '\\n{MARK}\\n'\n");
    let scripts: Vec<&str> = examples.iter().map(|example| example.script).collect();
    let script = (scripts.join(&mark) + &mark).replace("127.0.0.1:8080", &program.api);
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new("sh")
        .args(["-ec", &script])
        .env("KEY", program.first_key())
        .current_dir(folder.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    for (example, printed) in examples.iter().zip(printed.split(&format!("\n{MARK}\n"))) {
        let (language, shown) = example.shown;
        match language {
            "json" => {
                let shown = serde_json::from_str(shown).unwrap_or_else(|error| panic!("{error}: {shown}"));
                let printed =
                    serde_json::from_str(printed).unwrap_or_else(|error| panic!("{error}: {printed}"));
                assert_shown(&shown, &printed, "answer");
            }
            "text" => assert_eq!(printed.replace('\r', "").trim(), shown.trim()),
            language => panic!("{language} is not compared"),
        }
    }
}

/// The table of errors names every code of the contract, and no other.
#[test]
fn the_guide_says_what_to_do_about_every_code() {
    let table = GUIDE.split("| status | `code` |").nth(1).unwrap();
    let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
    let mut named: Vec<String> = rows
        .flat_map(|row| row.split('|').nth(2).unwrap().split('`').skip(1).step_by(2).map(str::to_owned))
        .collect();
    named.sort();
    named.dedup();
    let mut known: Vec<String> =
        signpost_domain::ErrorCode::ALL.iter().map(|code| code.as_str().to_owned()).collect();
    known.sort();
    assert_eq!(named, known);
}

#[test]
fn an_ellipsis_stands_for_anything() {
    for (shown, text) in [("a", "a"), ("a…", "abc"), ("…c", "abc"), ("a…c…e", "abcde"), ("…", ""), ("…", "x")]
    {
        assert!(is_text(shown, text), "{shown} {text}");
    }
    for (shown, text) in [("a", "ab"), ("a…", "b"), ("…c", "ab"), ("a…x…e", "abcde")] {
        assert!(!is_text(shown, text), "{shown} {text}");
    }
}
