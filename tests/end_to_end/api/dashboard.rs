//! The dashboard, driven as browsers drive it: one journey, the commands that pages show, and what must not be kept (D67 to
//! D81).

use std::process::Command;

use serde_json::json;

use crate::harness::{PASSWORD, Person, Program};

#[test]
fn d79_a_newcomer_gets_from_the_start_to_a_link_that_opens() {
    let program = Program::builder().start();
    let mut person = if let Some(url) = &program.start_url {
        let path = format!("/start/{}", url.split_once("/start/").unwrap().1);
        let mut person = Person::at(&program);
        let form =
            [("name", "Ada"), ("email", "ada@example.com"), ("password", PASSWORD), ("time_zone", "UTC")];
        person.post(&path, &form).expect_status(303);
        Person::at(&program).post(&path, &form).expect_status(410);
        person
    } else {
        // On servers a command invites the first user.
        program.first_key();
        let arguments = ["--operator", "--account", "owner@localhost", "--role", "owner"];
        Person::invited(&program, "ada@example.com", &arguments)
    };
    let first = person.get("/first").expect_status(303);
    let account = first.id("acc_");
    let new = person.get(&first.location).expect_status(200);
    let form = [
        ("idempotency_key", new.hidden("idempotency_key")),
        ("kind", "redirect".to_owned()),
        ("target_url", "https://example.com/autumn".to_owned()),
        ("slug", "autumn".to_owned()),
        ("is_active", "on".to_owned()),
    ];
    let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let created = person.post(&format!("/{account}/links"), &form).expect_status(303);
    assert!(person.get(&created.location).expect_status(200).body.contains("Your link is live"));
    assert_eq!(program.visitor().open("/autumn").location(), Some("https://example.com/autumn"));
    let issue = [("name", "mine"), ("expires", "never"), ("scopes", "read")];
    let issued = person.post(&format!("/{account}/keys"), &issue).expect_status(200);
    let (_, rest) = issued.body.split_once("sp_live_").unwrap();
    let reader = program.with_key(&format!("sp_live_{}", rest.get(..32).unwrap()));
    reader.get("/v1/redirects").expect_status(200);
    let body = json!({ "name": "x", "target_url": "https://example.com/" });
    let refused = reader.post("/v1/redirects", &body).expect_status(403);
    assert_eq!(refused.body["error"]["code"], "feature_not_available_on_current_plan");
    assert!(refused.body["error"]["message"].as_str().unwrap().contains("`links`"));
    person.post("/sign-out", &[]).expect_status(303);
    assert_eq!(
        person.get(&format!("/{account}/links")).expect_status(303).location.split('?').next(),
        Some("/sign-in")
    );
}

#[test]
fn every_command_that_a_page_shows_works_as_printed() {
    let program = Program::builder().start();
    let (mut owner, account) = Person::owner(&program);
    let key = program.issue_key(&account);
    let create = |owner: &mut Person, form: &[(&str, &str)]| {
        owner.post(&format!("/{account}/links"), form).expect_status(303).location
    };
    let redirect = create(
        &mut owner,
        &[
            ("kind", "redirect"),
            ("target_url", "https://example.com/it's?a=1&b=2"),
            ("name", "it's \"quoted\" $HOME"),
            ("is_active", "on"),
            ("starts_at", "2026-01-31T09:05"),
            ("expires_at", "2999-01-31T09:05:07"),
            ("fallback_url", "https://example.com/it's-over?a=1&b=2"),
            ("max_clicks", "1000"),
            ("link_password", "it's a \"secret\""),
            ("redirect_status", "307"),
            ("forward_query", "true"),
            ("utm_source", "it's"),
            ("utm_campaign", "Autumn & \"sale\""),
            ("preview_title", "it's a \"sale\""),
            ("preview_description", "one\r\ntwo $HOME"),
            ("preview_image_url", "https://example.com/it's.jpg?a=1&b=2"),
        ],
    );
    let landing = create(
        &mut owner,
        &[
            ("kind", "landing"),
            ("title", "Über <uns>"),
            ("theme", "auto"),
            ("is_active", "on"),
            ("starts_at", "2999-01-31T09:05"),
        ],
    );
    let of_account = |screen: &str| format!("/{account}/{screen}");
    // The page of a link and the editor of a page are both below the link.
    let tested = |location: &str| {
        let link = location.split('?').next().unwrap().trim_end_matches("/page");
        format!("{link}/test?country=DE&agent=iphone&query=it%27s%3D1&referrer=https://news.example.com/it's")
    };
    let pages = [
        of_account("links"),
        of_account("links?q=it%27s"),
        of_account("links/new"),
        of_account("links/new?kind=landing"),
        of_account("groups"),
        of_account("pixels"),
        of_account("usage"),
        of_account("test"),
        tested(&redirect),
        tested(&landing),
        redirect,
        landing.clone(),
        // Its last command deletes the page.
        landing.replace("/page?said=page-created", ""),
    ];
    let mut ran = 0;
    for path in pages {
        let page = owner.get(&path).expect_status(200);
        let commands = page.commands();
        assert!(!commands.is_empty(), "{path} shows how to do it with the API");
        for command in commands {
            let line =
                format!("{command} --silent --show-error --output /dev/null --write-out '%{{http_code}}'");
            let output = Command::new("sh").args(["-c", &line]).env("SIGNPOST_KEY", &key).output().unwrap();
            let status = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(
                status.starts_with('2'),
                "{path}: {status} for {command}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            ran += 1;
        }
    }
    assert!(ran >= 15, "{ran}");
    let issued =
        owner.post(&of_account("keys"), &[("expires", "never"), ("all_scopes", "y")]).expect_status(200);
    let commands = issued.commands();
    let command = commands.iter().find(|command| command.starts_with("curl")).unwrap();
    let output = Command::new("sh").args(["-c", &format!("{command} --silent --fail")]).output().unwrap();
    assert!(output.status.success(), "{command}");
}

#[test]
fn secrets_of_people_are_neither_stored_nor_logged_nor_counted() {
    let mut program =
        Program::builder().setting("metrics-listen", "127.0.0.1:0").variable("RUST_LOG", "trace").start();
    let (mut owner, account) = Person::owner(&program);
    let issued = owner
        .post(&format!("/{account}/keys"), &[("expires", "never"), ("all_scopes", "y")])
        .expect_status(200);
    let (_, rest) = issued.body.split_once("sp_live_").unwrap();
    let invite = [("email", "bob@example.com"), ("role", "editor")];
    let invited = owner.post(&format!("/{account}/members"), &invite).expect_status(200);
    let (_, invitation) = invited.body.split_once("/invitation/").unwrap();
    let link =
        program.command(&["user", "reset", "--json", &format!("{}@example.com", account.get(4..).unwrap())]);
    let ticket = link["reset_url"].as_str().unwrap().split_once("/reset/").unwrap().1.to_owned();
    owner.get(&format!("/reset/{ticket}")).expect_status(200);
    owner
        .post("/sign-in", &[("email", "nobody@example.com"), ("password", "a password that is wrong")])
        .expect_status(422);
    let secrets = [
        ("password", PASSWORD.to_owned()),
        ("wrong password", "a password that is wrong".to_owned()),
        ("key", rest.get(..32).unwrap().to_owned()),
        ("ticket", ticket),
        ("invitation", invitation.get(..64).unwrap().to_owned()),
        ("cookie", owner.token()),
    ];
    let metrics =
        crate::harness::Visitor::new(program.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body;
    assert!(metrics.contains("signpost_dashboard_requests_total"), "{metrics}");
    let log = program.stop_and_read_log();
    let kept = program.kept();
    for (what, secret) in secrets {
        assert_eq!(secret.len(), secret.trim().len());
        assert!(!log.contains(&secret), "the log has the {what}");
        assert!(!metrics.contains(&secret), "the metrics have the {what}");
        let plus = secret.replace(' ', "+");
        assert!(!log.contains(&plus), "the log has the {what}");
        for (place, bytes) in &kept {
            let holds = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!holds, "{place} has the {what}");
        }
    }
}

#[test]
fn d81_users_are_invited_listed_disabled_enabled_reset_and_signed_out() {
    let program = Program::builder().start();
    let (mut owner, account) = Person::owner(&program);
    let mut editor =
        Person::invited(&program, "bob@example.com", &["--account", &account, "--role", "editor"]);
    editor.get(&format!("/{account}/links/new")).expect_status(200);
    editor.post(&format!("/{account}/keys"), &[("expires", "never"), ("all_scopes", "y")]).expect_status(403);
    let users = program.command(&["user", "list", "--json"]);
    let listed = users.as_array().unwrap().iter().find(|user| user["email"] == "bob@example.com").unwrap();
    let id = listed["id"].as_str().unwrap();
    assert!(id.starts_with("usr_"), "{listed}");
    program.command(&["user", "sign-out", "--json", id]);
    editor.get("/me").expect_status(303);
    let sign_in = [("email", "BOB@example.com"), ("password", PASSWORD)];
    editor.post("/sign-in", &sign_in).expect_status(303);
    program.command(&["user", "disable", "--json", "bob@example.com"]);
    editor.get("/me").expect_status(303);
    editor.post("/sign-in", &sign_in).expect_status(422);
    let refused = program.run(&["user", "reset", "bob@example.com"]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("signpost user enable"), "{refused:?}");
    program.command(&["user", "enable", "--json", id]);
    editor.post("/sign-in", &sign_in).expect_status(303);
    let created = program.command(&["account", "create", "--json", "--email", "new@example.com", "--invite"]);
    assert!(created["invite_url"].as_str().unwrap().contains("/invitation/"), "{created}");
    owner.get("/me").expect_status(200);
    for (arguments, said) in [
        (&["user", "invite", "--email", "x@example.com"][..], "--account"),
        (&["user", "disable", "nobody@example.com"], "there is no user"),
        (&["user", "disable", "nonsense"], "usr_"),
        (
            &["user", "invite", "--email", "x@example.com", "--account", &account, "--role", "boss"],
            "viewer, editor or owner",
        ),
    ] {
        let output = program.run(arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn d80_a_key_has_an_expiry_scopes_and_its_last_use() {
    let program = Program::builder().start();
    let account = program.account("agency");
    let issue = ["key", "issue", "--json", "--account", account.id()];
    let scoped = program.command(
        &[&issue[..], &["--scopes", "links,analytics", "--expires", "2999-01-01T00:00:00Z"]].concat(),
    );
    let writer = program.with_key(scoped["key"].as_str().unwrap());
    let body = json!({ "name": "x", "target_url": "https://example.com/" });
    writer.post("/v1/redirects", &body).expect_status(201);
    writer.get("/v1/account").expect_status(200);
    writer.get("/v1/redirects").expect_status(403);
    writer.post("/v1/domains", &json!({ "hostname": "go.example.org" })).expect_status(403);
    // Before the body is read.
    writer.post("/v1/domains", &json!({})).expect_status(403);
    let list = program.command(&["key", "list", "--json", "--account", account.id()]);
    let listed = list.as_array().unwrap().iter().find(|key| key["id"] == scoped["id"]).unwrap();
    assert_eq!(listed["scopes"], json!(["links", "analytics"]));
    assert_eq!(listed["expires_at"], "2999-01-01T00:00:00.000Z");
    for (arguments, said) in [
        (["--scopes", "everything"], "read, links, domains or analytics"),
        (["--expires", "2001-01-01T00:00:00Z"], "in the past"),
        (["--expires", "tomorrow"], "2026-01-31T09:05:07.042Z"),
    ] {
        let output = program.run(&[&issue[..], &arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn d67_the_dashboard_can_be_off_and_warns_of_clear_text() {
    let mut program = Program::builder().setting_of_all("dashboard-url", "http://dash.example.com").start();
    assert!(program.stop_and_read_log().contains("passwords and sessions travel in clear text"));
}
