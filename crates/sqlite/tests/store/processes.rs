//! Several processes on one file.
//!
//! The other process is this test program, which a variable tells to run only [`commits_numbers`].

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

use signpost_app::ports::{AccountReads, GroupReads, Store};
use signpost_domain::{Account, AccountId, GroupId, Id, Redirect};
use signpost_port_contracts::samples;
use signpost_sqlite::{DatabaseFile, SqliteStore};

use super::database::{Database, account, group, insert, options};

const FILE: &str = "SIGNPOST_TEST_FILE";
const ACCOUNT: &str = "SIGNPOST_TEST_ACCOUNT";
const GROUP: &str = "SIGNPOST_TEST_GROUP";
const FIRST: &str = "SIGNPOST_TEST_FIRST";
const COUNT: &str = "SIGNPOST_TEST_COUNT";

#[expect(clippy::disallowed_methods, reason = "a test program has no settings")]
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// A redirect with a number in its id and slug, so that two processes never collide.
pub(crate) fn numbered(number: u128) -> Redirect {
    Redirect { id: Id::from_bytes(number.to_be_bytes()), ..samples::redirect(&format!("number-{number}")) }
}

/// Where several processes put their links; each link changes two counters.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) account: AccountId,
    pub(crate) group: GroupId,
}

impl Place {
    pub(crate) async fn new(store: &SqliteStore) -> Self {
        let account = account(store).await;
        Self { account, group: group(store, account).await.id }
    }

    pub(crate) async fn insert(self, store: &SqliteStore, number: u128) {
        let redirect = Redirect { group_id: Some(self.group), ..numbered(number) };
        insert(store, self.account, redirect).await;
    }
}

/// Commits redirects one by one, and prints each number after its commit.
#[expect(clippy::print_stdout, reason = "the parent reads the numbers")]
async fn commit_numbers(store: &SqliteStore, place: Place, numbers: impl Iterator<Item = u128>) {
    for number in numbers {
        place.insert(store, number).await;
        println!("committed {number}");
    }
}

/// As a normal test, commits three numbers to its own file. With the variables set, it is the other process.
#[tokio::test]
async fn commits_numbers() {
    if let Some(file) = variable(FILE) {
        let file = DatabaseFile::at(file).unwrap();
        let store = SqliteStore::open(&file, &options(std::time::Duration::from_mins(1))).unwrap();
        let number = |name| variable(name).unwrap().parse::<u128>().unwrap();
        let numbers = (number(FIRST)..).take(usize::try_from(number(COUNT)).unwrap());
        let account = variable(ACCOUNT).unwrap().parse().unwrap();
        let place = Place { account, group: variable(GROUP).unwrap().parse().unwrap() };
        commit_numbers(&store, place, numbers).await;
    } else {
        let database = Database::new();
        let store = database.open();
        let place = Place::new(&store).await;
        commit_numbers(&store, place, 1..4).await;
        assert_eq!(store.usage(place.account).await.unwrap().unwrap().links, 3);
    }
}

/// Another process that commits numbers.
pub(crate) struct Other {
    pub(crate) child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Other {
    pub(crate) fn start(database: &Database, place: Place, first: u128, count: u128) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::commits_numbers", "--nocapture", "--test-threads", "1"])
            .env(FILE, database.file.path())
            .env(ACCOUNT, place.account.to_string())
            .env(GROUP, place.group.to_string())
            .env(FIRST, first.to_string())
            .env(COUNT, count.to_string())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next number that it reports as committed; `None` after it has ended.
    pub(crate) fn next_committed(&mut self) -> Option<u128> {
        loop {
            let line = self.lines.next()?.ok()?;
            // The test harness writes to the same line before the first number.
            if let Some((_, number)) = line.split_once("committed ") {
                return Some(number.parse().unwrap());
            }
        }
    }

    pub(crate) fn ended_well(mut self) -> bool {
        self.child.wait().unwrap().success()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_write_side_by_side() {
    let database = Database::new();
    let store = database.open();
    let place = Place::new(&store).await;
    let mut other = Other::start(&database, place, 1_000, 100);
    // Both processes write from here on.
    assert!(other.next_committed().is_some());
    for number in 2_000..2_100 {
        place.insert(&store, number).await;
    }
    while other.next_committed().is_some() {}
    assert!(other.ended_well());
    assert_eq!(store.usage(place.account).await.unwrap().unwrap().links, 200);
    assert_eq!(store.group(place.account, place.group).await.unwrap().unwrap().redirects_count, 200);
    assert_eq!(database.number("SELECT count(*) AS number FROM links"), 200);
}

/// D62: of several programs that start at once, one creates the first account.
#[tokio::test(flavor = "multi_thread")]
async fn d62_stores_of_several_programs_agree_on_the_first_account() {
    let database = Database::new();
    let stores = [database.open(), database.open(), database.open()];
    let mut tasks = tokio::task::JoinSet::new();
    for store in stores {
        tasks.spawn(async move {
            let account: Account = samples::account();
            let mut work = store.begin().await.unwrap();
            if work.any_account().await.unwrap() {
                return 0;
            }
            work.insert_account(&account).await.unwrap();
            work.commit().await.unwrap();
            1
        });
    }
    assert_eq!(tasks.join_all().await.into_iter().sum::<u32>(), 1);
}
