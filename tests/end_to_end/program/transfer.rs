//! `signpost export` and `signpost import`, beside a running server (D60, docs/import-export.md).

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Output, Stdio};

use serde_json::{Value, json};

use crate::harness::{Account, Program};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// The JSON lines of an output.
fn lines(bytes: &[u8]) -> Vec<Value> {
    text(bytes).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn succeeds(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

/// Exports an account to a file in the program's folder.
fn export(program: &Program, account: &Account, file: &str) {
    succeeds(&program.run(&["export", "--account", account.id(), "--output", file]));
}

/// Imports a file of the program's folder, and returns the report of each row and the summary.
pub(super) fn import(program: &Program, account: &Account, file: &str) -> (Vec<Value>, Value) {
    let output = program.run(&["import", "--json", "--account", account.id(), file]);
    let mut rows = lines(&output.stdout);
    let summary = rows.pop().unwrap_or_else(|| panic!("{output:?}"));
    let failed = summary["conflicts"].as_u64().unwrap() + summary["failed"].as_u64().unwrap();
    assert_eq!(output.status.code(), Some(i32::from(failed > 0)), "{output:?}");
    (rows, summary)
}

pub(super) fn counts(summary: &Value) -> [u64; 4] {
    ["created", "unchanged", "conflicts", "failed"].map(|name| summary[name].as_u64().unwrap())
}

pub(super) fn write(program: &Program, file: &str, content: &str) {
    fs::write(program.folder().join(file), content).unwrap();
}

/// A table of `rows` links with slugs.
fn table(rows: usize) -> String {
    let row = |number| format!("t{number},https://example.com/{number}\n");
    format!("slug,target_url\n{}", (0..rows).map(row).collect::<String>())
}

/// An account with 1,000 links of both kinds and two groups.
fn large(program: &Program) -> Account {
    let account = program.account("agency");
    let groups = ["Spring", "Spring"].map(|name| account.create_group(name)["id"].clone());
    for batch in 0..9 {
        let item = |number: usize| {
            let utm = json!({"source": "mail", "campaign": "Spring & \"more\""});
            let [is_dated, is_limited, is_blocked] = [4, 6, 7].map(|every| number.is_multiple_of(every));
            json!({
                "name": format!("Link {number}, \"quoted\""),
                "target_url": format!("https://example.com/{batch}/{number}"),
                "group_id": groups[number % 2],
                "external_id": number.is_multiple_of(2).then(|| format!("order {batch}/{number}, \"ü\"")),
                "tags": if number.is_multiple_of(3) { vec!["Sale", "ü 🌷"] } else { vec![] },
                "note": number.is_multiple_of(3).then(|| format!("a\nnote {number}")),
                "is_active": !number.is_multiple_of(5),
                "starts_at": is_dated.then_some("2020-01-01T00:00:00+02:00"),
                "expires_at": is_dated.then_some("2099-12-31T23:59:59.999Z"),
                "max_clicks": is_limited.then_some(1_000),
                // A browser that keeps an answer would pass the gates.
                "redirect_status": if is_dated || is_limited || is_blocked { 307 } else { 308 },
                "utm": number.is_multiple_of(5).then_some(utm),
                "geo_blocklists": {"countries": if is_blocked { vec!["DE", "AT"] } else { vec![] }},
            })
        };
        let body = json!({"redirects": (0..100).map(item).collect::<Vec<_>>()});
        let answer = account.post("/v1/redirects/bulk", &body).expect_status(200);
        assert_eq!(answer.body["created_count"], 100);
    }
    for number in 0..100 {
        let body = json!({
            "title": format!("Page {number}"), "slug": format!("page-{number}"), "note": "",
            "external_id": format!("page {number}"), "tags": ["sale"], "expires_at": "2099-12-31T23:59:59Z",
        });
        account.post("/v1/landings", &body).expect_status(201);
    }
    account
}

/// All groups and links that the API shows of an account.
fn shown(account: &Account) -> [Vec<Value>; 3] {
    ["/v1/groups", "/v1/redirects", "/v1/landings"].map(|path| account.walk(path, "?limit=100"))
}

#[test]
fn an_account_of_1000_links_moves_and_a_second_import_changes_nothing() {
    let here = Program::start();
    let account = large(&here);
    for file in ["all.jsonl", "all.csv"] {
        export(&here, &account, file);
        let there = Program::start();
        let other = there.account("agency");
        fs::copy(here.folder().join(file), there.folder().join(file)).unwrap();
        let (_, summary) = import(&there, &other, file);
        assert_eq!(counts(&summary), [1002, 0, 0, 0], "{file}");
        assert_eq!(shown(&other), shown(&account), "{file}");
        let (rows, summary) = import(&there, &other, file);
        assert_eq!(counts(&summary), [0, 1002, 0, 0], "{file}");
        assert!(rows.iter().all(|row| row["outcome"] == "unchanged" && row["id"].is_string()));
        assert_eq!(shown(&other), shown(&account), "{file}");
        let format = if file.ends_with("csv") { "csv" } else { "jsonl" };
        let again = there.run(&["export", "--account", other.id(), "--format", format]);
        let original = fs::read_to_string(here.folder().join(file)).unwrap();
        assert_eq!(succeeds(&again), original, "{file}");
        let visit = there.visitor().open("/page-7");
        assert_eq!(visit.status, 200);
    }
}

#[test]
fn a_dry_run_writes_nothing() {
    let program = Program::start();
    let account = program.account("agency");
    write(&program, "links.csv", &table(150));
    let run = |words: &[&str]| {
        let start = ["import", "--account", account.id()];
        program.run(&[&start, words].concat())
    };
    let rehearsed = run(&["--dry-run", "--json", "links.csv"]);
    let mut rows = lines(&rehearsed.stdout);
    let summary = rows.pop().unwrap();
    assert_eq!((&summary["dry_run"], counts(&summary)), (&json!(true), [150, 0, 0, 0]));
    assert!(rows.iter().all(|row| row["outcome"] == "would_create"));
    assert!(shown(&account).iter().all(Vec::is_empty));
    assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], 0);
    assert!(run(&["links.csv"]).status.success());
    assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], 150);
}

/// The report says why a row fails, and the other rows are imported.
#[test]
fn bad_rows_are_reported_with_api_codes_and_stop_no_others() {
    let program = Program::start();
    let (account, other) = (program.account("agency"), program.account("agency"));
    other.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "theirs"}));
    account.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "ours"}));
    let rows = [
        (r#"{"target_url": "https://example.com/1", "slug": "good"}"#, "created", None),
        (r#"{"target_url": "ftp://example.com", "slug": "a b"}"#, "failed", Some("invalid_request")),
        ("this is no JSON", "failed", Some("invalid_request")),
        (r#"{"target_url": "https://example.com", "slug": "admin"}"#, "failed", Some("slug_already_taken")),
        (r#"{"target_url": "https://example.com", "slug": "theirs"}"#, "failed", Some("slug_already_taken")),
        (r#"{"target_url": "https://example.com/2", "slug": "ours"}"#, "conflict", None),
        (r#"{"target_url": "https://example.com", "slug": "ours"}"#, "unchanged", None),
        (
            r#"{"target_url": "https://example.com", "domain": "no.example.com"}"#,
            "failed",
            Some("domain_not_found"),
        ),
        (r#"{"target_url": "https://example.com/3", "colour": "red"}"#, "failed", Some("invalid_request")),
        (r#"{"target_url": "http://localhost:8081/me", "slug": "me"}"#, "failed", Some("invalid_request")),
        (r#"{"target_url": "https://example.com/4"}"#, "created", None),
    ];
    write(&program, "links.jsonl", &rows.map(|(row, ..)| row).join("\n"));
    let (reported, summary) = import(&program, &account, "links.jsonl");
    let outcomes: Vec<_> =
        reported.iter().map(|row| (row["outcome"].as_str().unwrap(), row["code"].as_str())).collect();
    assert_eq!(outcomes, rows.map(|(_, outcome, code)| (outcome, code)));
    assert_eq!(counts(&summary), [2, 1, 1, 7]);
    assert!(reported[1]["message"].as_str().unwrap().contains("`target_url` must"));
    assert_eq!(reported[0]["url"], "http://localhost:8081/good");
    assert_eq!(
        reported.iter().map(|row| row["row"].as_u64().unwrap()).collect::<Vec<_>>(),
        (1..=11).collect::<Vec<_>>()
    );
    assert_eq!(program.visitor().open("/good").location(), Some("https://example.com/1"));

    // The same import again, with the report as a table in a file.
    let report = ["import", "--account", account.id(), "--report", "report.csv", "links.jsonl"];
    let output = program.run(&report);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stdout), "11 rows: 0 created, 3 unchanged, 1 in conflict, 7 failed.\n");
    assert!(text(&output.stderr).contains("8 of 11 rows"), "{output:?}");
    let table = fs::read_to_string(program.folder().join("report.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("row,outcome,id,url,code,message"));
    assert!(table.contains("\n4,failed,,,slug_already_taken,"), "{table}");
}

/// An import uses the blocklist and the system domain of `serve`.
#[test]
fn d61_an_import_takes_the_settings_that_validate_links() {
    let program = Program::start();
    let account = program.account("agency");
    write(&program, "blocked.txt", "blocked.example\n");
    write(
        &program,
        "links.csv",
        "slug,target_url,domain\na,https://www.blocked.example/,\nb,https://go.example.com/b,\n\
         c,https://example.com/,go.example.com\n",
    );
    let output = program.run(&[
        "import",
        "--json",
        "--account",
        account.id(),
        "--system-url",
        "https://go.example.com",
        "--target-blocklist",
        "blocked.txt",
        "links.csv",
    ]);
    let rows = lines(&output.stdout);
    let outcomes: Vec<_> = rows[..3].iter().map(|row| row["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["failed", "failed", "created"]);
    assert_eq!(rows[2]["url"], "https://go.example.com/c");
    let refused =
        program.run(&["export", "--account", account.id(), "--system-url", "https://go.example.com"]);
    assert_eq!(refused.status.code(), Some(2), "an export does not take the setting");
}

/// The store refuses the id of a stored link, whosever it is. The other rows are imported.
#[test]
fn a_row_with_the_id_of_another_account_fails_alone() {
    let program = Program::start();
    let (account, other) = (program.account("agency"), program.account("agency"));
    let theirs = other.new_redirect();
    let [id, slug] = ["id", "slug"].map(|field| theirs[field].as_str().unwrap().to_owned());
    let table = format!(
        "id,slug,target_url\n,a,https://example.com/\n{id},b,https://example.com/\n{id},{slug},https://example.com/\n\
         ,c,https://example.com/\n"
    );
    write(&program, "links.csv", &table);
    let (rows, _) = import(&program, &account, "links.csv");
    let outcomes: Vec<_> =
        rows.iter().map(|row| row["code"].as_str().unwrap_or(row["outcome"].as_str().unwrap())).collect();
    assert_eq!(outcomes, ["created", "invalid_request", "slug_already_taken", "created"]);
    assert_eq!(other.get(&format!("/v1/redirects/{id}")).expect_status(200).body, theirs);
}

/// After a kill, a second import creates the missing rows and repeats none.
#[test]
fn a_killed_import_is_completed_by_another() {
    let program = Program::start();
    let account = program.account("agency");
    write(&program, "links.csv", &table(3_000));
    let mut importing = program
        .command_line(&["import", "--json", "--account", account.id(), "links.csv"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reported = BufReader::new(importing.stdout.take().unwrap()).lines();
    let seen = reported.by_ref().take(500).count();
    importing.kill().unwrap();
    importing.wait().unwrap();
    let seen = u64::try_from(seen + reported.map_while(Result::ok).count()).unwrap();
    let usage = || account.get("/v1/account").expect_status(200).body["usage"]["links"].as_u64().unwrap();
    let kept = usage();
    assert!((500..3_000).contains(&kept), "{kept}");
    assert!(seen <= kept, "reported rows are stored: {seen} of {kept}");
    assert_eq!(kept % 100, 0, "a batch is stored as a whole");
    let (_, summary) = import(&program, &account, "links.csv");
    assert_eq!(counts(&summary), [3_000 - kept, kept, 0, 0]);
    assert_eq!(usage(), 3_000);
}

#[test]
fn an_unreadable_or_unwritable_file_is_named_and_nothing_is_done() {
    let program = Program::start();
    let account = program.account("agency");
    write(&program, "links.csv", &table(1));
    write(&program, "links.txt", &table(1));
    write(&program, "columns.csv", "slug,target_url,colour\na,https://example.com,red\n");
    fs::write(program.folder().join("utf16.csv"), b"\xff\xfes\0").unwrap();
    let unknown = format!("acc_{}", "0".repeat(32));
    let id = account.id();
    for (words, code, named) in [
        (vec!["import", "--account", id, "missing.csv"], 1, "missing.csv"),
        (vec!["import", "--account", id, "."], 2, "--format"),
        (vec!["import", "--account", id, "--format", "csv", "."], 1, "cannot read ."),
        (vec!["import", "--account", id, "links.txt"], 2, "--format"),
        (vec!["import", "--account", id, "--format", "xml", "links.csv"], 2, "--format"),
        (vec!["import", "--account", id, "columns.csv"], 1, "\"colour\""),
        (vec!["import", "--account", id, "utf16.csv"], 1, "UTF-16"),
        (vec!["import", "--account", id, "--report", ".", "links.csv"], 2, "--report"),
        (vec!["import", "--account", id, "--report", "no/where", "links.csv"], 1, "no/where"),
        (vec!["import", "--account", &unknown, "links.csv"], 1, &unknown),
        (vec!["export", "--account", &unknown], 1, &unknown),
        (vec!["export", "--account", id, "--output", "no/where.csv"], 1, "no/where.csv"),
        (vec!["export", "--account", id, "--output", "."], 1, "cannot write ."),
    ] {
        let output = program.run(&words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        let message = text(&output.stderr);
        assert!(message.contains(named) && !message.contains("panicked"), "{words:?}: {message}");
        assert!(output.stdout.is_empty(), "{words:?}: {output:?}");
    }
    assert_eq!(fs::read_to_string(program.folder().join("links.csv")).unwrap(), table(1));
    assert_eq!(account.get("/v1/account").expect_status(200).body["usage"]["links"], 0);
}

/// A failed export leaves an existing file unchanged, and no other file. A successful one replaces it.
#[test]
fn an_export_appears_under_its_name_only_when_complete() {
    let program = Program::start();
    let account = program.account("agency");
    account.new_redirect();
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    };
    fs::create_dir(program.folder().join("out")).unwrap();
    write(&program, "out/links.csv", "before");
    let unknown = format!("acc_{}", "0".repeat(32));
    let failed = program.run(&["export", "--account", &unknown, "--output", "out/links.csv"]);
    assert!(!failed.status.success());
    assert_eq!(fs::read_to_string(program.folder().join("out/links.csv")).unwrap(), "before");
    assert_eq!(names(&program.folder().join("out")), ["links.csv"]);
    let summary =
        program.command(&["export", "--json", "--account", account.id(), "--output", "out/links.csv"]);
    assert_eq!(
        summary,
        json!({
            "object": "export", "account": account.id(), "file": "out/links.csv", "format": "csv",
            "groups": 0, "links": 1, "left_out": {}
        })
    );
    assert!(fs::read_to_string(program.folder().join("out/links.csv")).unwrap().starts_with("object,id,"));
    assert_eq!(names(&program.folder().join("out")), ["links.csv"]);
}

/// A progress bar does not appear in pipes.
#[test]
fn pipes_carry_only_records_and_rows() {
    let program = Program::start();
    let (account, other) = (program.account("agency"), program.account("agency"));
    account.new_redirect();
    account.create_group("Spring");
    let exported = program.run(&["export", "--json", "--account", account.id(), "--output", "-"]);
    assert!(exported.stderr.is_empty(), "{exported:?}");
    let objects: Vec<_> = lines(&exported.stdout).iter().map(|record| record["object"].clone()).collect();
    assert_eq!(objects, ["group", "redirect"]);
    let table = succeeds(&program.run(&["export", "--account", account.id()]));
    assert_eq!(table.lines().count(), 3, "{table}");

    let mut importing = program
        .command_line(&["import", "--account", other.id(), "--format", "csv", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = importing.stdin.take().unwrap();
    // Spreadsheets save semicolons in countries with a decimal comma.
    stdin.write_all(b"slug;target_url;group\nfrom-a-pipe;https://example.com/;Spring\n").unwrap();
    drop(stdin);
    let output = importing.wait_with_output().unwrap();
    let rows = succeeds(&output);
    assert_eq!(rows.lines().count(), 2, "{rows}");
    assert!(rows.lines().nth(1).unwrap().starts_with("2,created,rdr_"), "{rows}");
    let summary =
        "1 row: 1 created, 0 unchanged, 0 in conflict, 0 failed. 1 group created because rows name it.\n";
    assert_eq!(text(&output.stderr), summary);
}
