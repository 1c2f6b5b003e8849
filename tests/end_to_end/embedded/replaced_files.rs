//! The file of the embedded database is replaced or removed while the program uses it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::{Account, Answer, Program};

/// The files of a folder whose names contain this.
fn files(folder: &Path, part: &str) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.file_name().unwrap().to_str().unwrap().contains(part)).collect()
}

fn groups(account: &Account) -> Vec<String> {
    let groups = account.walk("/v1/groups", "");
    groups.iter().map(|group| group["name"].as_str().unwrap().to_owned()).collect()
}

fn create_group(account: &Account, name: &str) -> Answer {
    account.post("/v1/groups", &json!({"name": name}))
}

/// Waits until the program has noticed that its file is another, and has saved the open database. Returns the saved file.
fn await_refusal(program: &Program, account: &Account) -> PathBuf {
    program.await_log("was replaced or removed");
    account
        .await_health("/health/ready", |answer| answer.body["checks"]["database"] == "read_only")
        .expect_status(503);
    create_group(account, "refused").expect_status(503);
    program.await_log("is saved");
    let saved = files(&program.folder(), "signpost.db.replaced-");
    assert_eq!(saved.len(), 1, "{saved:?}");
    saved.into_iter().next().unwrap()
}

/// The groups in a file, by a program that starts on it.
fn groups_in(program: &Program, file: &Path) -> Vec<String> {
    let url = format!("sqlite://{}", file.display());
    let other = program.beside(&["--database-url", &url]);
    groups(&other.with_key(program.first_key()))
}

#[test]
fn a_replaced_database_is_noticed_and_neither_file_loses_anything() {
    let mut program = Program::start();
    let account = program.first_account();
    let link = account.new_redirect();
    let path = format!("/{}", link["slug"].as_str().unwrap());
    create_group(&account, "in both").expect_status(201);
    program.command(&["backup", "copy.db", "--json"]);
    create_group(&account, "in the open one").expect_status(201);
    assert_eq!(program.visitor().open(&path).status, 302);

    let folder = program.folder();
    fs::rename(folder.join("copy.db"), folder.join("signpost.db")).unwrap();
    let saved = await_refusal(&program, &account);
    assert!(!folder.join("signpost.db-wal").exists() && !folder.join("signpost.db-shm").exists());
    assert_eq!(program.visitor().open(&path).status, 302, "visitors are still served");
    // Other commands use the new file, also while the program runs.
    program.command(&["account", "list", "--json"]);
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());

    program.start_again();
    let account = program.with_key(&account.key);
    assert_eq!(groups(&account), ["in both"]);
    create_group(&account, "in the new one").expect_status(201);
    assert_eq!(groups_in(&program, &saved), ["in the open one", "in both"]);
}

#[test]
fn a_removed_database_is_saved() {
    let program = Program::start();
    let account = program.first_account();
    create_group(&account, "a group").expect_status(201);
    for file in files(&program.folder(), "signpost.db") {
        fs::remove_file(file).unwrap();
    }
    let saved = await_refusal(&program, &account);
    assert!(!program.folder().join("signpost.db").exists(), "nothing takes the name of the removed file");
    assert_eq!(groups_in(&program, &saved), ["a group"]);
}

/// A stop may come before the next look at the file.
#[test]
fn a_database_that_is_replaced_right_before_the_stop_is_saved_too() {
    let mut program = Program::start();
    let account = program.first_account();
    create_group(&account, "in both").expect_status(201);
    program.command(&["backup", "copy.db", "--json"]);
    create_group(&account, "in the open one").expect_status(201);
    let folder = program.folder();
    fs::rename(folder.join("copy.db"), folder.join("signpost.db")).unwrap();
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());
    let [saved] = files(&folder, "signpost.db.replaced-").try_into().unwrap();
    program.start_again();
    assert_eq!(groups(&program.with_key(&account.key)), ["in both"]);
    assert_eq!(groups_in(&program, &saved), ["in the open one", "in both"]);
}

/// Without them, a backup would lack the latest changes, and other processes would share no locks with the server.
#[test]
fn removed_companions_are_noticed() {
    let program = Program::start();
    let account = program.first_account();
    create_group(&account, "a group").expect_status(201);
    fs::remove_file(program.folder().join("signpost.db-wal")).unwrap();
    let saved = await_refusal(&program, &account);
    assert_eq!(groups_in(&program, &saved), ["a group"]);
}
