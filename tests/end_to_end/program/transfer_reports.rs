//! What an export says that it leaves out, and the file of `signpost import --report` (docs/import-export.md).

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Output;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::{Account, BROWSER, Program};

const TABLE: &str = "slug,target_url\na,https://example.com/\n";

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// The last line on standard error.
fn last_line(output: &Output) -> &str {
    text(&output.stderr).lines().last().unwrap_or_default()
}

/// An account with each kind of content that files do not carry.
fn with_everything(program: &Program) -> Account {
    let account = program.account("agency");
    let pixel = json!({"name": "Shop", "pixel_type": "meta", "pixel_id": "123456789012345"});
    let pixel = account.post("/v1/pixels", &pixel).expect_status(201).body["id"].clone();
    let redirect = json!({"name": "x", "target_url": "https://example.com", "pixel_ids": [pixel]});
    account.create_redirect(&redirect);
    for number in 0..2 {
        let landing = json!({"title": format!("Page {number}"), "description": "Text"});
        account.post("/v1/landings", &landing).expect_status(201);
    }
    account.post("/v1/landings", &json!({"title": "Bare"})).expect_status(201);
    account
}

/// Such files come from the dashboard.
#[test]
fn an_import_counts_what_it_does_not_read() {
    let program = Program::start();
    let account = program.account("agency");
    let lines = [
        json!({"object": "member", "email": "ada@example.com", "role": "owner"}),
        json!({"object": "redirect", "target_url": "https://example.com/", "slug": "a"}),
        json!({"object": "click", "country": "DE"}),
    ];
    let file = lines.map(|line| line.to_string()).join("\n");
    fs::write(program.folder().join("everything.jsonl"), file).unwrap();
    let import = ["import", "--account", account.id(), "--report", "report.csv", "everything.jsonl"];
    let output = program.run(&import);
    assert!(output.status.success(), "{output:?}");
    let summary = "3 rows: 1 created, 0 unchanged, 0 in conflict, 0 failed. 2 rows are ignored: imports read groups \
                   and links alone.\n";
    assert_eq!(text(&output.stdout), summary);
    let report = fs::read_to_string(program.folder().join("report.csv")).unwrap();
    assert!(report.lines().nth(1).unwrap().starts_with("2,created,"), "{report}");
    assert_eq!(report.lines().count(), 2, "{report}");
}

#[test]
fn an_export_says_in_its_last_line_what_it_leaves_out() {
    let program = Program::start();
    let account = with_everything(&program);
    let expected =
        "The export leaves out the content of 2 landing pages, 1 pixel and the use of pixels in 1 redirect.";
    let counts = json!({"page_contents": 2, "pixels": 1, "redirects_with_pixels": 1});
    let export = |words: &[&str]| program.run(&[&["export", "--account", account.id()], words].concat());
    for words in [&[][..], &["--output", "links.csv"]] {
        let output = export(words);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(last_line(&output), expected, "{words:?}");
    }
    let in_json = export(&["--json", "--output", "links.jsonl"]);
    let summary: Value = serde_json::from_slice(&in_json.stdout).unwrap();
    assert_eq!((&summary["links"], &summary["left_out"]), (&json!(4), &counts));
    let line: Value = serde_json::from_str(last_line(&in_json)).unwrap();
    assert_eq!(line, json!({"left_out": counts}));

    let strict = export(&["--strict", "--output", "strict.csv"]);
    assert_eq!(strict.status.code(), Some(1), "{strict:?}");
    assert!(last_line(&strict).starts_with("error: the export is written, but leaves out the content of 2 "));
    let written = |file: &str| fs::read_to_string(program.folder().join(file)).unwrap();
    assert_eq!(written("strict.csv"), written("links.csv"));

    let plain = program.account("agency");
    plain.new_redirect();
    let output = program.run(&["export", "--strict", "--account", plain.id()]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stderr), "", "the export leaves out nothing");
}

/// Analytics do not move with an account, so a script that moves one must fail, or know.
#[test]
fn an_export_counts_the_clicks_that_it_leaves_out() {
    let program = Program::start();
    let account = program.account("agency");
    let path = format!("/{}", account.new_redirect()["slug"].as_str().unwrap());
    for agent in [BROWSER, "curl/8.14.1"] {
        let headers = [("Host", "localhost:8081"), ("User-Agent", agent)];
        assert_eq!(program.visitor().request("GET", &path, &headers).status, 302);
    }
    let export = |words: &[&str]| program.run(&[&["export", "--account", account.id()], words].concat());
    let began = Instant::now();
    loop {
        let output = export(&["--output", "links.csv"]);
        assert!(output.status.success(), "{output:?}");
        // The visits are on their way to the store.
        if last_line(&output) == "The export leaves out 2 recorded clicks." {
            break;
        }
        // Less than a node waits before it packs them.
        assert!(began.elapsed() < Duration::from_secs(45), "{output:?}");
    }
    let strict = export(&["--json", "--strict", "--output", "links.jsonl"]);
    assert_eq!(strict.status.code(), Some(1), "{strict:?}");
    let summary: Value = serde_json::from_slice(&strict.stdout).unwrap();
    assert_eq!(summary["left_out"], json!({"clicks": 2}));
}

/// A report never overwrites an existing file, above all not the imported file.
#[test]
fn a_report_never_overwrites_a_file() {
    let program = Program::start();
    let account = program.account("agency");
    let place = |file: &str| program.folder().join(file);
    fs::write(place("links.csv"), TABLE).unwrap();
    fs::write(place("before.csv"), "before").unwrap();
    fs::hard_link(place("links.csv"), place("same.csv")).unwrap();
    symlink(place("links.csv"), place("link.csv")).unwrap();
    symlink(place("nothing.csv"), place("dangling.csv")).unwrap();
    let run =
        |report: &str| program.run(&["import", "--account", account.id(), "--report", report, "links.csv"]);
    for report in ["links.csv", "./links.csv", "same.csv", "link.csv", "dangling.csv", "before.csv"] {
        let output = run(report);
        assert_eq!(output.status.code(), Some(2), "{report}: {output:?}");
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(&format!("--report: {report} ")), "{message}");
        assert!(output.stdout.is_empty(), "{report}: {output:?}");
    }
    assert_eq!(fs::read_to_string(place("links.csv")).unwrap(), TABLE);
    assert_eq!(fs::read_to_string(place("before.csv")).unwrap(), "before");
    assert!(!place("nothing.csv").exists());
    assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], 0);
}

#[test]
fn only_its_owner_can_read_a_report() {
    let program = Program::start();
    let account = program.account("agency");
    fs::write(program.folder().join("links.csv"), TABLE).unwrap();
    let output = program.run(&["import", "--account", account.id(), "--report", "report.csv", "links.csv"]);
    assert!(output.status.success(), "{output:?}");
    let mode = fs::metadata(program.folder().join("report.csv")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
