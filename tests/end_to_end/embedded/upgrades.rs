//! Upgrades of the embedded database, and the way back (D207).

use serde_json::Value;

use crate::harness::{Program, Store};

/// A backup under the name that a copy of an upgrade has.
#[test]
fn d207_restore_puts_the_copy_in_place_and_keeps_the_rest() {
    let mut program = Program::builder().on(Store::Embedded).start();
    let account = program.first_account();
    let earlier = account.new_redirect();
    program.command(&["backup", "--json", "signpost-before-9.0.0.db"]);
    let later = account.new_redirect();
    let restore = ["restore", "--before", "9.0.0", "--json"];
    let refused = program.command_line(&restore).env("SIGNPOST_STORE_TIMEOUT", "100ms").output().unwrap();
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("stop every `signpost`"), "{error}");
    program.stop_and_read_log();

    let restored = program.command(&restore);
    assert_eq!(restored["before"], "9.0.0");
    let kept = restored["files"][0]["kept"].as_str().unwrap();
    assert!(kept.ends_with("/signpost-after-9.0.0.db"), "{restored}");
    let again = program.beside(&[]);
    let account = again.with_key(&account.key);
    let path = |link: &Value| format!("/v1/redirects/{}", link["id"].as_str().unwrap());
    account.get(&path(&earlier)).expect_status(200);
    account.get(&path(&later)).expect_status(404);
}

#[test]
fn d207_restore_is_for_the_embedded_store() {
    let program = Program::builder().on(Store::Embedded).start();
    let output = program.run(&["restore", "--before", "0.0.1"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && error.contains("there are no copies of any upgrade"),
        "{error}"
    );
    let mut on_server = program.command_line(&["restore", "--before", "0.0.1"]);
    let output = on_server.env("SIGNPOST_DATABASE_URL", "postgres://db.internal/signpost").output().unwrap();
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && error.contains("pg_restore"), "{error}");
}
