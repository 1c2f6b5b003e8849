//! R28: passwords of links stay secret (D131), whatever is done with them.

use serde_json::{Value, json};

use crate::harness::{OPENING, Person, Program, Visit, Visitor, redirect_body};

/// Passwords whose texts nothing else has.
const SECRETS: [&str; 4] = ["quokka-heron-51", "narwhal-tapir-62", "ocelot-bittern-73", "gannet-okapi-84"];

#[track_caller]
fn in_none_of(place: &str, bytes: &[u8]) {
    for secret in SECRETS {
        let is_there = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_there, "the password {secret} is in {place}");
    }
}

fn send(visitor: &Visitor, path: &str, password: &str) -> Visit {
    let headers = [OPENING[0], OPENING[1], ("Content-Type", "application/x-www-form-urlencoded")];
    visitor.request_with("POST", path, &headers, format!("password={password}").as_bytes())
}

/// Sets, replaces and mistypes passwords by the API, and returns all answers.
fn set_by_api(program: &Program) -> String {
    let account = program.first_account();
    let [first, second, third, wrong] = SECRETS;
    let body = |slug: &str, password: Value| redirect_body(json!({"slug": slug, "password": password}));
    let too_long = json!(third.repeat(10));
    let created = account.post_once("one", "/v1/redirects", &body("one", json!(first))).expect_status(201);
    let path = format!("/v1/redirects/{}", created.body["id"].as_str().unwrap());
    let bulk = json!({"redirects": [body("two", json!(second)), body("bad", too_long.clone())]});
    let batch = account.post_once("two", "/v1/redirects/bulk", &bulk).expect_status(200);
    assert_eq!([&batch.body["created_count"], &batch.body["failed_count"]], [1, 1]);
    let answers = [
        created,
        batch,
        // What was remembered.
        account.post_once("one", "/v1/redirects", &body("one", json!(first))).expect_status(201),
        account.post_once("two", "/v1/redirects/bulk", &bulk).expect_status(200),
        account.post_once("one", "/v1/redirects", &body("one", json!(wrong))).expect_status(400),
        account.patch(&path, &json!({"password": second})).expect_status(200),
        account.patch(&path, &json!({"password": too_long, "note": 1})).expect_status(400),
        account.patch(&path, &json!({"password": [third]})).expect_status(400),
        account.post(
            "/v1/redirects/update-matching",
            &json!({"filter": {"all": true}, "patch": {"password": third}}),
        ),
        account
            .post("/v1/landings", &json!({"title": "a", "slug": "page", "password": third}))
            .expect_status(201),
        account.get("/v1/redirects?has_password=true").expect_status(200),
        account.get("/v1/landings").expect_status(200),
    ];
    answers.map(|answer| format!("{:?} {}", answer.headers, answer.body)).join("\n")
}

/// The same in the dashboard, with the page of a refused form.
fn set_by_form(program: &Program) -> String {
    let (mut person, account) = Person::owner(program);
    let form = |slug: &'static str| {
        [
            ("kind", "redirect"),
            ("target_url", "https://example.com/"),
            ("name", "One"),
            ("slug", slug),
            ("domain", "localhost"),
            ("is_active", "on"),
            ("link_password", SECRETS[3]),
        ]
    };
    let links = format!("/{account}/links");
    let refused = person.post(&links, &form("two words")).expect_status(422);
    let created = person.post(&links, &form("three")).expect_status(303);
    let page = person.get(&format!("{links}/{}", created.id("rdr_"))).expect_status(200);
    assert!(page.body.contains("Visitors are asked for it"), "{}", page.body);
    [refused.body, created.location, page.body].join("\n")
}

/// The log at its most talkative, in both forms; what is kept while the program runs and afterwards; the metrics, every answer,
/// and what an export writes.
#[test]
fn d131_r28_the_password_of_a_link_is_nowhere() {
    for format in ["text", "json"] {
        let flags = ["--log-format", format, "--metrics-listen", "127.0.0.1:0"];
        let variables = [("RUST_LOG".to_owned(), "trace".to_owned())];
        let folder = tempfile::tempdir().unwrap();
        let mut program = Program::start_in_with(folder, &flags.map(str::to_owned), &variables);
        let mut answers = vec![set_by_api(&program), set_by_form(&program)];
        let visitor = program.visitor();
        for (path, password, status) in [
            ("/one", SECRETS[1], 303),
            ("/one", SECRETS[0], 403),
            ("/two?password=none", SECRETS[1], 303),
            ("/page", SECRETS[2], 200),
            ("/three", SECRETS[3], 303),
            ("/nothing", SECRETS[3], 404),
        ] {
            let visit = send(&visitor, path, password);
            assert_eq!(visit.status, status, "{path}: {visit:?}");
            answers.push(format!("{:?} {}", visit.headers, visit.body));
        }
        let answers = answers.join("\n");
        let id = program.first_account().get("/v1/account").body["id"].as_str().unwrap().to_owned();
        let exported = program.run(&["export", "--account", &id, "--format", "jsonl"]);
        assert!(exported.status.success() && !exported.stdout.is_empty());
        let metrics = Visitor::new(program.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body;
        let open = program.kept();
        let log = program.stop_and_read_log();
        assert!(log.contains("TRACE") && log.contains("DEBUG"), "it is talkative");
        let closed = program.kept();

        in_none_of("an answer", answers.as_bytes());
        in_none_of("an export", &[exported.stdout, exported.stderr].concat());
        in_none_of("the metrics", metrics.as_bytes());
        in_none_of("the log", log.as_bytes());
        for (name, bytes) in open.iter().chain(&closed) {
            in_none_of(name, bytes);
        }
        for (place, bytes) in [("an answer", answers.as_bytes()), ("the log", log.as_bytes())] {
            let is_there = bytes.windows(9).any(|window| window == b"$argon2id");
            assert!(!is_there, "a hash is in {place}");
        }
    }
}
