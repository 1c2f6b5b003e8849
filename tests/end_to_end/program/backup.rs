//! The restore drill (R39): backs up under load as `docs/operations.md` says, restores elsewhere, and serves
//! the copy with another program.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use signpost_test_servers::postgres::{self, PostgresDatabase};
use tempfile::TempDir;

use crate::harness::{Account, Program, Store, migrate, signpost};

/// The tests that are skipped without the servers, as the notice names them.
const WHO: &str = "the restore drill";

/// How many links a batch has. Each has the name of the batch.
const ITEMS: usize = 20;

/// A database in use.
struct Original {
    url: String,
    folder: TempDir,
    /// `None` with the embedded store.
    database: Option<PostgresDatabase>,
}

/// A backup, restored as another database.
struct Restored {
    url: String,
    /// The uncompressed content of the backup.
    content: Vec<u8>,
    _database: Option<PostgresDatabase>,
}

impl Original {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        match Store::of_this_run() {
            Store::Embedded => {
                let url = format!("sqlite://{}", folder.path().join("signpost.db").display());
                Self { url, folder, database: None }
            }
            Store::Servers => {
                let database = postgres::shared(WHO).database(None);
                migrate(&database.url());
                Self { url: database.url(), folder, database: Some(database) }
            }
        }
    }

    fn dump(&self) -> PathBuf {
        self.folder.path().join("backup")
    }

    fn back_up(&self) {
        let dump = self.dump();
        let file = dump.to_str().unwrap();
        if self.database.is_some() {
            let to = format!("--file={file}");
            let without_keys = "--exclude-table-data=visitor_keys";
            succeeded(tool("pg_dump").args(["--format=custom", without_keys, &to, &self.url]));
            return;
        }
        let mut backup = signpost(Path::new("/"), &["backup", "--json", file]);
        let printed = succeeded(backup.env("SIGNPOST_DATABASE_URL", &self.url));
        let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
        let bytes = std::fs::metadata(&dump).unwrap().len();
        assert_eq!((&printed["file"], &printed["bytes"]), (&json!(file), &json!(bytes)));
    }

    fn restore(&self) -> Restored {
        let dump = self.dump();
        if self.database.is_some() {
            let database = postgres::shared(WHO).database(None);
            let into = format!("--dbname={}", database.url());
            let restore = ["--exit-on-error", "--no-owner", "--single-transaction"];
            succeeded(tool("pg_restore").args(restore).arg(into).arg(&dump));
            let content = succeeded(tool("pg_restore").arg("--file=-").arg(&dump)).stdout;
            return Restored { url: database.url(), content, _database: Some(database) };
        }
        let copy = self.folder.path().join("restored.db");
        std::fs::copy(&dump, &copy).unwrap();
        let content = std::fs::read(&dump).unwrap();
        Restored { url: format!("sqlite://{}", copy.display()), content, _database: None }
    }
}

/// A client program of PostgreSQL.
fn tool(name: &str) -> Command {
    Command::new(postgres::programs().expect("the server was found").join(name))
}

fn succeeded(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// The last step of a single link. Each link is created and changed once, and every third is then deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
enum Step {
    #[default]
    Nothing,
    Created,
    Changed,
    Deleted,
}

/// The steps that were sent and answered, by slug, and the batches that were answered.
#[derive(Default, Clone)]
struct Notes {
    sent: BTreeMap<String, Step>,
    answered: BTreeMap<String, Step>,
    batches: Vec<String>,
}

/// Writers that run until they are stopped. None of their requests may fail.
#[derive(Default)]
struct Load {
    notes: Mutex<Notes>,
    grown: Condvar,
    over: AtomicBool,
}

/// Stops the writers when it is dropped, even after a failure.
struct Ending<'a>(&'a AtomicBool);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Load {
    fn is_on(&self) -> bool {
        !self.over.load(Ordering::Relaxed)
    }

    fn step(&self, slug: &str, step: Step, request: impl FnOnce()) {
        self.notes.lock().unwrap().sent.insert(slug.to_owned(), step);
        request();
        self.notes.lock().unwrap().answered.insert(slug.to_owned(), step);
        self.grown.notify_all();
    }

    fn write_single_links(&self, account: &Account, writer: usize) {
        let group = account.create_group(&format!("group {writer}"))["id"].clone();
        for number in (0..).take_while(|_| self.is_on()) {
            let slug = format!("w{writer}n{number}");
            let (mut id, body) = (
                String::new(),
                json!({"name": slug, "slug": slug, "group_id": group,
                "target_url": "https://example.com/created"}),
            );
            self.step(&slug, Step::Created, || {
                account.create_redirect(&body)["id"].as_str().unwrap().clone_into(&mut id);
            });
            let path = format!("/v1/redirects/{id}");
            self.step(&slug, Step::Changed, || {
                let change = json!({"target_url": "https://example.com/changed"});
                account.patch(&path, &change).expect_status(200);
            });
            if number % 3 == 0 {
                self.step(&slug, Step::Deleted, || drop(account.delete(&path).expect_status(200)));
            }
        }
    }

    fn write_batches(&self, account: &Account) {
        for number in (0..).take_while(|_| self.is_on()) {
            let name = format!("batch {number}");
            let item = json!({"name": name, "target_url": "https://example.com"});
            let answer = account.post("/v1/redirects/bulk", &json!({"redirects": vec![item; ITEMS]}));
            assert_eq!(answer.expect_status(200).body["created_count"], ITEMS);
            self.notes.lock().unwrap().batches.push(name);
            self.grown.notify_all();
        }
    }

    /// Waits for `answers` more answers, and returns a copy of the notes.
    fn await_more(&self, answers: usize) -> Notes {
        let size = |notes: &Notes| notes.answered.len() + notes.batches.len();
        let notes = self.notes.lock().unwrap();
        let enough = size(&notes) + answers;
        let patience = Duration::from_mins(1);
        let (notes, waited) =
            self.grown.wait_timeout_while(notes, patience, |notes| size(notes) < enough).unwrap();
        assert!(!waited.timed_out(), "the writers make no progress");
        notes.clone()
    }
}

/// The step of a link in the restored database.
fn step_of(link: Option<&Value>) -> Option<Step> {
    match link?["target_url"].as_str()? {
        "https://example.com/created" => Some(Step::Created),
        "https://example.com/changed" => Some(Step::Changed),
        other => panic!("{other} was never written"),
    }
}

fn assert_all_answered_before_is_restored(links: &[Value], before: &Notes, at_the_end: &Notes) {
    let by_slug: BTreeMap<&str, &Value> =
        links.iter().map(|link| (link["slug"].as_str().unwrap(), link)).collect();
    for (slug, sent) in &at_the_end.sent {
        let answered = before.answered.get(slug).copied().unwrap_or_default();
        let step = step_of(by_slug.get(slug.as_str()).copied());
        let is_right = match step {
            Some(step) => answered <= step && step <= *sent,
            None => answered == Step::Nothing || *sent == Step::Deleted,
        };
        assert!(
            is_right,
            "{slug}: {answered:?} was answered before, {sent:?} was sent, {step:?} was restored"
        );
    }
    let mut batches = BTreeMap::<&str, usize>::new();
    for name in
        links.iter().map(|link| link["name"].as_str().unwrap()).filter(|name| name.starts_with("batch"))
    {
        *batches.entry(name).or_default() += 1;
    }
    for (batch, found) in &batches {
        assert_eq!(*found, ITEMS, "{batch} was restored in part");
    }
    for batch in &before.batches {
        assert!(
            batches.contains_key(batch.as_str()),
            "{batch} was answered before the backup but not restored"
        );
    }
}

fn assert_counts_add_up(account: &Account, links: &[Value]) {
    let (groups, usage) =
        (account.walk("/v1/groups", "?limit=100"), account.get("/v1/account").body["usage"].clone());
    assert_eq!((&usage["links"], &usage["groups"]), (&json!(links.len()), &json!(groups.len())));
    for group in groups {
        let inside = links.iter().filter(|link| link["group_id"] == group["id"]).count();
        assert_eq!(group["redirects_count"], inside);
    }
}

fn holds(content: &[u8], text: &str) -> bool {
    content.windows(text.len()).any(|window| window == text.as_bytes())
}

/// D13, R39: a dump contains no key of the API.
fn assert_no_key_in(content: &[u8], key: &str) {
    let random = &key["sp_live_".len()..key.len() - 6];
    let hexadecimal: Vec<String> = random.bytes().map(|byte| format!("{byte:02x}")).collect();
    let hexadecimal = hexadecimal.concat();
    assert!(holds(content, "batch 0"), "the dump can be searched");
    assert!(!holds(content, random) && !holds(content, &hexadecimal), "the dump contains a key");
}

/// R39, D60: a backup beside a server under load. Another program serves the restored database with the same
/// keys and everything that was answered before the backup. Counts agree with rows, and no request failed.
#[test]
fn r39_a_backup_under_load_restores_everything_that_was_answered_before_it() {
    let original = Original::new();
    let program = Program::builder().setting_of_all("database-url", &original.url).start();
    let key = program.first_key().to_owned();
    let load = Load::default();
    let before = std::thread::scope(|scope| {
        let _over = Ending(&load.over);
        for writer in 0..3 {
            let (load, account) = (&load, program.with_key(&key));
            scope.spawn(move || load.write_single_links(&account, writer));
        }
        let (load, account) = (&load, program.with_key(&key));
        scope.spawn(move || load.write_batches(&account));
        let before = load.await_more(40);
        original.back_up();
        load.await_more(10);
        before
    });
    let at_the_end = load.notes.into_inner().unwrap();
    drop(program);

    let restored = original.restore();
    assert_no_key_in(&restored.content, &key);
    let program = Program::builder().setting_of_all("database-url", &restored.url).start();
    let account = program.with_key(&key);
    let links = account.walk("/v1/redirects", "?limit=100");
    assert_all_answered_before_is_restored(&links, &before, &at_the_end);
    assert_counts_add_up(&account, &links);

    // The restored database works: links open, addresses stay taken, and it can be backed up.
    let taken = links[0]["slug"].as_str().unwrap();
    assert_eq!(program.visitor().open(&format!("/{taken}")).status, 302);
    let again = json!({"name": "x", "target_url": "https://example.com", "slug": taken});
    account.post("/v1/redirects", &again).expect_error(409, "slug_already_taken");
    account.new_redirect();
    if Store::of_this_run() == Store::Embedded {
        let bytes = program.command(&["backup", "--json", "again.db"])["bytes"].as_u64().unwrap();
        assert_eq!(std::fs::metadata(program.folder().join("again.db")).unwrap().len(), bytes);
    }
}

/// A server needs another tool, so the command names it and exits with 2. An existing file is not replaced (1).
#[test]
fn a_backup_that_cannot_be_taken_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let run = |url: &str, file: &str| {
        let mut command = signpost(folder.path(), &["backup", file]);
        let output = command.env("SIGNPOST_DATABASE_URL", url).output().unwrap();
        assert_eq!(output.stdout, b"");
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, message) = run("postgres://u:secret@127.0.0.1:1/signpost", "copy");
    assert!(code == Some(2) && message.contains("pg_dump") && !message.contains("secret"), "{message}");
    let (code, message) = run("sqlite://signpost.db", "copy");
    assert!(code == Some(1) && message.contains("there is no database"), "{message}");
    assert!(signpost(folder.path(), &["migrate"]).output().unwrap().status.success());
    let (code, message) = run("sqlite://signpost.db", "signpost.db");
    assert!(code == Some(1) && message.contains("exists already"), "{message}");
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "only the databases of links and clicks are left");
}
