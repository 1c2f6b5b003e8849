//! `signpost export` and `signpost import` of links that ask for a password (D131): the file has none, and an import makes no
//! open link of a closed one.

use serde_json::{Value, json};

use super::transfer::{counts, import, write};
use crate::harness::{OPENING, Program, redirect_body};

const PASSWORD: &str = "plover egg tin";

#[test]
fn d131_links_with_a_password_are_imported_with_another_one_only() {
    let program = Program::start();
    let account = program.account("agency");
    let redirect = json!({"slug": "prices", "password": PASSWORD});
    account.create_redirect(&redirect_body(redirect));
    account
        .post("/v1/landings", &json!({"title": "Menu", "slug": "menu", "password": PASSWORD}))
        .expect_status(201);
    for format in ["csv", "jsonl"] {
        let file = format!("links.{format}");
        let exported = program.run(&["export", "--account", account.id(), "--output", &file]);
        assert!(exported.status.success(), "{exported:?}");
        let text = std::fs::read_to_string(program.folder().join(&file)).unwrap();
        assert!(
            text.contains("has_password") && !text.contains("plover") && !text.contains("argon2"),
            "{text}"
        );
        let (_, summary) = import(&program, &account, &file);
        assert_eq!(counts(&summary), [0, 2, 0, 0], "the links ask for one already: {summary}");
    }
    for path in ["/v1/redirects", "/v1/landings"] {
        for link in account.walk(path, "") {
            account.delete(&format!("{path}/{}", link["id"].as_str().unwrap())).expect_status(200);
        }
    }
    for file in ["links.csv", "links.jsonl"] {
        let (rows, summary) = import(&program, &account, file);
        assert_eq!(counts(&summary), [0, 0, 0, 2], "{rows:?}");
        for row in rows {
            assert_eq!(row["code"], json!("invalid_request"), "{row}");
            assert!(row.to_string().contains("password"), "{row}");
        }
    }
    let exported = std::fs::read_to_string(program.folder().join("links.jsonl")).unwrap();
    let with_passwords = exported.lines().map(|line| {
        let mut row: Value = serde_json::from_str(line).unwrap();
        row["password"] = json!("another one");
        format!("{row}\n")
    });
    write(&program, "new.jsonl", &with_passwords.collect::<String>());
    let (rows, summary) = import(&program, &account, "new.jsonl");
    assert_eq!(counts(&summary), [2, 0, 0, 0], "{rows:?}");
    let headers = [OPENING[0], OPENING[1], ("Content-Type", "application/x-www-form-urlencoded")];
    for (path, opened) in [("/prices", 303), ("/menu", 200)] {
        let visitor = program.visitor();
        assert!(visitor.open_until(path, 200).body.contains("name=\"password\""), "{path}");
        for (body, status) in [("password=plover+egg+tin", 403), ("password=another+one", opened)] {
            let visit = visitor.request_with("POST", path, &headers, body.as_bytes());
            assert_eq!(visit.status, status, "{path}: {visit:?}");
        }
    }
    // The same file once more changes nothing.
    let (rows, summary) = import(&program, &account, "new.jsonl");
    assert_eq!(counts(&summary), [0, 2, 0, 0], "{rows:?}");
}
