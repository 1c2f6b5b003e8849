//! Commands beside a running server (D60).

use std::process::Output;

use serde_json::{Value, json};

use crate::harness::{Person, Program, signpost};

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn fails(output: &Output) -> String {
    assert!(!output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout), "", "errors go to standard error");
    text(&output.stderr)
}

#[test]
fn d60_account_create_and_key_issue_print_exactly_the_documented_json() {
    let program = Program::start();
    let account = program.command(&[
        "account",
        "create",
        "--json",
        "--email",
        "a@example.com",
        "--name",
        "A",
        "--plan",
        "pro",
    ]);
    let id = account["id"].as_str().unwrap();
    assert_eq!(account, json!({"id": id, "email": "a@example.com", "name": "A", "plan": "pro"}));
    let key = program.command(&["key", "issue", "--json", "--account", id]);
    assert_eq!(key.as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "key"]);
    assert!(key["id"].as_str().unwrap().starts_with("key_"));
    let unnamed = program.command(&["account", "create", "--json", "--email", "b@example.com"]);
    assert_eq!((&unnamed["name"], &unnamed["plan"]), (&Value::Null, &json!("agency")));
}

#[test]
fn d60_without_json_output_is_text_for_people() {
    let program = Program::start();
    let created = program.run(&["account", "create", "--email", "ann@example.com", "--plan", "agency"]);
    assert!(created.status.success());
    let printed = text(&created.stdout);
    assert!(printed.contains("ann@example.com") && printed.contains("acc_"), "{printed}");
    let listed = text(&program.run(&["account", "list"]).stdout);
    assert!(listed.contains("ann@example.com") && listed.contains("agency"), "{listed}");
}

#[test]
fn d60_account_list_shows_every_account() {
    let program = Program::start();
    let before = program.command(&["account", "list", "--json"]).as_array().unwrap().len();
    let made: Vec<_> = (0..30).map(|_| program.account("pro").id().to_owned()).collect();
    let listed = program.command(&["account", "list", "--json"]);
    let accounts = listed.as_array().unwrap();
    assert_eq!(accounts.len(), before + 30);
    for id in &made {
        let account = accounts.iter().find(|account| account["id"] == json!(id)).unwrap();
        assert_eq!((&account["plan"], &account["suspended_at"]), (&json!("pro"), &Value::Null));
    }
}

#[test]
fn d60_keys_are_listed_by_their_last_four_characters_and_revoked_for_good() {
    let program = Program::start();
    let account = program.account("agency");
    let named = program.command(&["key", "issue", "--json", "--account", account.id(), "--name", "CI"]);
    let (id, key) = (named["id"].as_str().unwrap(), named["key"].as_str().unwrap());
    let output = program.run(&["key", "list", "--json", "--account", account.id()]);
    let printed = text(&output.stdout);
    assert!(
        !printed.contains(&key[8..]) && !printed.contains(&account.key[8..]),
        "a secret is shown only once"
    );
    let listed: Value = serde_json::from_str(&printed).unwrap();
    let shown = listed.as_array().unwrap().iter().find(|key| key["id"] == json!(id)).unwrap();
    assert_eq!((&shown["name"], &shown["revoked_at"]), (&json!("CI"), &Value::Null));
    assert_eq!(shown["last_four"], key[key.len() - 4..]);

    let client = program.with_key(key);
    client.get("/v1/account").expect_status(200);
    assert!(program.run(&["key", "revoke", id]).status.success());
    client.get("/v1/account").expect_error(401, "invalid_api_key");
    account.get("/v1/account").expect_status(200);
    let listed = program.command(&["key", "list", "--json", "--account", account.id()]);
    let revoked = listed.as_array().unwrap().iter().find(|key| key["id"] == json!(id)).unwrap().clone();
    assert!(revoked["revoked_at"].is_string());
}

/// A person who finds a leaked key knows the key but not its id. The program never prints the key.
#[test]
fn d60_a_key_is_revoked_by_its_value_which_is_never_printed() {
    let program = Program::start();
    let account = program.account("agency");
    let key = account.key.clone();
    let secret = &key[8..20];
    let prints = |arguments: &[&str]| {
        let output = program.run(arguments);
        let printed = text(&output.stdout) + &text(&output.stderr);
        assert!(!printed.contains(secret), "{arguments:?}: {printed}");
        (output.status.code(), printed)
    };
    for arguments in [
        vec!["key", "revoke", &key[..39]],
        vec!["key", "revoke", &key[1..]],
        vec!["key", "list", "--account", &key],
        vec!["account", "suspend", &key],
        vec!["account", "set-plan", account.id(), &key],
        vec![&key],
        vec!["key", &key],
        vec!["key", "revoke", account.id(), &key],
        vec!["backup", "--json", "--database-url", &key, "copy.db"],
    ] {
        let (code, _) = prints(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
    }
    account.get("/v1/account").expect_status(200);
    let listed = program.command(&["key", "list", "--json", "--account", account.id()]);
    let id = listed[0]["id"].as_str().unwrap();
    let (code, printed) = prints(&["key", "revoke", &key]);
    assert_eq!(code, Some(0), "{printed}");
    let [last_four, owner] = [&key[key.len() - 4..], account.id()];
    let expected = format!("Key {id} (…{last_four}) of account {owner} was revoked at ");
    assert!(printed.starts_with(&expected), "{printed}");
    account.get("/v1/account").expect_error(401, "invalid_api_key");
    let again = program.command(&["key", "revoke", "--json", &key]);
    assert_eq!((&again["id"], &again["account_id"]), (&json!(id), &json!(owner)));
    assert_eq!(again["revoked"], true);
    let stranger = Program::start();
    let unknown = stranger.run(&["key", "revoke", &key]);
    assert_eq!(unknown.status.code(), Some(1));
    assert_eq!(
        text(&unknown.stderr),
        "error: this installation has not issued that key, or its account was deleted\n"
    );
}

#[test]
fn d60_an_account_may_be_named_by_its_email_address() {
    let program = Program::start();
    let created = program.command(&["account", "create", "--json", "--email", "Eve@example.com"]);
    let id = created["id"].as_str().unwrap();
    let email = "eve@EXAMPLE.com";
    for arguments in [
        vec!["account", "set-plan", email, "pro"],
        vec!["account", "suspend", email],
        vec!["account", "resume", email],
    ] {
        let changed = program.command(&[&arguments[..], &["--json"]].concat());
        assert_eq!(changed["id"], json!(id), "{arguments:?}");
    }
    let key = program.command(&["key", "issue", "--json", "--account", email]);
    let listed = program.command(&["key", "list", "--json", "--account", email]);
    assert_eq!((&listed[0]["id"], &listed[0]["account_id"]), (&key["id"], &json!(id)));
    for arguments in [
        vec!["export", "--account", email, "--output", "links.csv"],
        vec!["import", "--account", email, "links.csv"],
        vec!["account", "delete", email, "--yes"],
    ] {
        let output = program.run(&arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    }
    let gone = fails(&program.run(&["account", "resume", email]));
    assert_eq!(gone, format!("error: there is no account with the contact address {email}\n"));
}

#[test]
fn d60_account_delete_removes_everything_and_requires_yes() {
    let program = Program::start();
    let account = program.account("agency");
    let group = account.create_group("g")["id"].clone();
    let body = json!({"name": "x", "target_url": "https://example.com", "slug": "theirs", "group_id": group});
    account.create_redirect(&body);
    fails(&program.run(&["account", "delete", account.id()]));
    account.get("/v1/account").expect_status(200);
    assert!(program.run(&["account", "delete", account.id(), "--yes"]).status.success());
    account.get("/v1/account").expect_error(401, "invalid_api_key");
    assert_eq!(program.visitor().open("/theirs").status, 404);
    let other = program.account("agency");
    other.create_redirect(&json!({"name": "x", "target_url": "https://example.com", "slug": "theirs"}));
    fails(&program.run(&["account", "delete", account.id(), "--yes"]));
}

#[test]
fn d60_errors_name_the_wrong_value() {
    let program = Program::start();
    let account = program.account("agency");
    let unknown = format!("acc_{}", "0".repeat(32));
    let key = format!("key_{}", "0".repeat(32));
    for (arguments, named) in [
        (vec!["account", "suspend", &unknown], unknown.as_str()),
        (vec!["account", "resume", &unknown], &unknown),
        (vec!["account", "set-plan", &unknown, "pro"], &unknown),
        (vec!["account", "set-plan", account.id(), "golden"], "golden"),
        (vec!["account", "create", "--email", "nonsense"], "email"),
        (vec!["account", "create", "--email", "x@example.com", "--plan", "golden"], "golden"),
        (vec!["account", "create", "--email", "x@example.com", "--name", ""], "name"),
        (vec!["account", "create"], "--email"),
        (vec!["account", "suspend", "nonsense"], "nonsense"),
        (vec!["key", "issue", "--account", &unknown], &unknown),
        (vec!["key", "list", "--account", &unknown], &unknown),
        (vec!["key", "revoke", &key], &key),
        (vec!["key", "revoke", "nonsense"], "<KEY>"),
        (vec!["nonsense"], "nonsense"),
    ] {
        let message = fails(&program.run(&arguments));
        assert!(message.contains(named), "{arguments:?}: {message}");
        assert!(!message.contains("panicked") && !message.contains("stack backtrace"), "{message}");
    }
    let taken = program.run(&["account", "create", "--email", "TWICE@example.com"]);
    assert!(taken.status.success());
    assert!(
        fails(&program.run(&["account", "create", "--email", "twice@example.com"]))
            .contains("twice@example.com")
    );
}

#[test]
fn d81_links_of_commands_open_at_the_listener_of_the_dashboard() {
    let program = Program::start();
    let listen = program.dashboard.as_deref().unwrap();
    let (_, port) = listen.rsplit_once(':').unwrap();
    let invite = ["user", "invite", "--json", "--operator", "--email", "ines@example.com"];
    let invited = program.command_line(&invite).env("SIGNPOST_DASHBOARD_LISTEN", listen).output().unwrap();
    let printed: Value = serde_json::from_slice(&invited.stdout).unwrap();
    let url = printed["invite_url"].as_str().unwrap();
    let path = url.strip_prefix(&format!("http://localhost:{port}")).unwrap_or_else(|| panic!("{url}"));
    Person::at(&program).get(path).expect_status(200);
}

#[test]
fn d60_help_works_on_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| signpost(folder.path(), arguments).output().unwrap();
    let help = text(&run(&["--help"]).stdout);
    for command in ["serve", "migrate", "account", "key"] {
        assert!(help.contains(command), "{help}");
    }
    let help = text(&run(&["serve", "--help"]).stdout);
    for setting in ["--api-listen", "--system-url", "SIGNPOST_DATABASE_URL", "127.0.0.1:8080", "--plans"] {
        assert!(help.contains(setting), "{setting} is not in {help}");
    }
    assert!(text(&run(&["--version"]).stdout).contains("signpost"));
}
