//! Imports of tables by other programs, and what exports leave out (docs/import-export.md).

use std::fs;
use std::process::Output;

use serde_json::{Value, json};

use crate::harness::{Account, Program};

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

/// Spreadsheets save semicolons in countries with a decimal comma, and copy cells with tabs.
#[test]
fn tables_with_semicolons_or_tabs_and_names_of_groups_are_imported() {
    let program = Program::start();
    let account = program.account("agency");
    let spring = account.create_group("Spring")["id"].clone();
    let semicolons =
        "slug;target_url;group\r\na;https://example.com/1;Spring\r\nb;https://example.com/2;Summer\r\n";
    for (file, table) in
        [("semicolons.csv", semicolons.to_owned()), ("tabs.csv", semicolons.replace(';', "\t"))]
    {
        fs::write(program.folder().join(file), table).unwrap();
    }
    let import = |file: &str| program.run(&["import", "--account", account.id(), file]);
    let output = import("semicolons.csv");
    assert!(output.status.success(), "{output:?}");
    let expected =
        "2 rows: 2 created, 0 unchanged, 0 in conflict, 0 failed. 1 group created because rows name it.";
    assert_eq!(last_line(&output), expected);
    let again = import("tabs.csv");
    assert_eq!(last_line(&again), "2 rows: 0 created, 2 unchanged, 0 in conflict, 0 failed.");
    let groups = account.walk("/v1/groups", "?limit=10");
    let names: Vec<_> = groups.iter().map(|group| group["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["Summer", "Spring"]);
    let links = account.walk("/v1/redirects", "?limit=10");
    let group_of = |slug: &str| &links.iter().find(|link| link["slug"] == slug).unwrap()["group_id"];
    assert_eq!((group_of("a"), group_of("b")), (&spring, &groups[0]["id"]));
}
