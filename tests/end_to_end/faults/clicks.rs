//! Clicks survive the end of the program, an outage of the store and a full disk, and count once (R13, R14,
//! R40). The tests compare stored clicks with the counts of the visitors.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;
use signpost_app::ports::ClickStore;
use signpost_domain::analytics::{Buckets, ClickSelection, LinkScope, Period, Question};
use signpost_domain::{AccountId, Timestamp};
use signpost_postgres::{PostgresOptions, PostgresStore};
use signpost_sqlite::{DatabaseFile, SqliteClickStore, SqliteOptions};
use signpost_test_servers::proxy::Behaviour;

use crate::harness::{Account, Program, SetWhenDropped, Visitor, redirect_body};
use crate::machine::{Lateness, MachineControl};
use crate::scene::{Scene, await_own_changes};
use crate::size::{PATIENCE, length, report};
use crate::waiting::{await_count, await_event, create};

const WHO: &str = "clicks while something fails";

/// How much a killed program may lose (R13).
const LOST_AT_MOST: Duration = Duration::from_millis(100);

/// How long visitors click before the kill. The bound excuses delays of the machine, so a program that loses more than
/// it may is found only if visitors click for longer than those.
const CLICKED_FOR: Duration = Duration::from_secs(1);

const VISITORS: usize = 4;

const A_DAY: Duration = Duration::from_hours(24);

/// What the visitors of one link counted.
#[derive(Default)]
struct Visits {
    begun: AtomicU64,
    /// The time of each redirect.
    redirected: Mutex<Vec<Instant>>,
}

impl Visits {
    /// Opens `/sale`, and returns whether it redirected. There may be no answer, because the program is gone.
    fn visit(&self, visitor: &Visitor) -> bool {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let headers = [("Host", "localhost:8081"), ("User-Agent", "x")];
        let visit = visitor.try_request("GET", "/sale", &headers);
        let is_redirected = visit.is_ok_and(|visit| visit.status == 302);
        if is_redirected {
            self.redirected.lock().unwrap().push(Instant::now());
        }
        is_redirected
    }

    fn begun(&self) -> u64 {
        self.begun.load(Ordering::SeqCst)
    }

    fn redirected(&self) -> u64 {
        self.redirected.lock().unwrap().len().try_into().unwrap()
    }

    fn redirected_before(&self, moment: Instant) -> u64 {
        let before = self.redirected.lock().unwrap().iter().filter(|instant| **instant < moment).count();
        before.try_into().unwrap()
    }

    fn await_more(&self, visits: u64) {
        await_count("visitors get redirects", self.redirected() + visits, || self.redirected());
    }
}

/// Lets visitors open `/sale` while `meanwhile` runs. Returns their counts and the delays of the machine.
///
/// The first visitor comes alone, and the others when the program has stored the first click, as `stored` tells. A
/// program warms up before it records clicks, and promises nothing about those that wait in memory until then (ADR 60).
fn visit_while(
    visitor: &Visitor,
    stored: impl Fn() -> u64,
    meanwhile: impl FnOnce(&Visits),
) -> (Visits, Lateness) {
    let (visits, is_over) = (Visits::default(), AtomicBool::new(false));
    await_event("the link opens", || visits.visit(visitor));
    await_count("the first click is stored", 1, stored);
    let late = std::thread::scope(|scope| {
        let _over = SetWhenDropped(&is_over);
        for _ in 0..VISITORS {
            let (visitor, visits, is_over) = (visitor.clone(), &visits, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    if !visits.visit(&visitor) {
                        std::thread::sleep(Duration::from_millis(20));
                    }
                }
            });
        }
        let control = MachineControl::start();
        meanwhile(&visits);
        control.lateness()
    });
    (visits, late)
}

/// Creates the link `/sale`, and returns the id of the account.
pub fn with_link(account: &Account) -> AccountId {
    create(account, "sale", "/v1/redirects", &redirect_body(json!({"slug": "sale"})));
    let account = account.get("/v1/account").expect_status(200);
    account.body["id"].as_str().unwrap().parse().unwrap()
}

/// The number of stored visits of an account.
async fn count_in(store: &dyn ClickStore, account: AccountId) -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let (since, until) = (Timestamp::EPOCH.plus(now).minus(A_DAY), Timestamp::EPOCH.plus(now + A_DAY));
    let question = Question {
        selection: ClickSelection {
            account,
            scope: LinkScope::All,
            period: Period::new(since, until).unwrap(),
            filters: Vec::new(),
        },
        buckets: Buckets::new(vec![since]).unwrap(),
        dimensions: Vec::new(),
        limit: 1,
    };
    let totals = store.answer(&question, Instant::now() + PATIENCE).await.unwrap().totals;
    totals.clicks + totals.bots + totals.blocked
}

fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work)
}

/// The number of stored visits of an account in a database of PostgreSQL. A busy machine may be slow to tell, so the
/// time limit is long.
pub fn stored_in_database(url: &str, account: AccountId) -> u64 {
    on_a_runtime(async {
        let options = PostgresOptions::with_time_limit(PATIENCE);
        let store = PostgresStore::connect(url, &options).await.unwrap();
        count_in(&store, account).await
    })
}

/// The number of stored visits of an account in the embedded store of a program, with a long time limit, too.
fn stored_in_folder(folder: &Path, account: AccountId) -> u64 {
    on_a_runtime(async {
        let file = DatabaseFile::at(folder.join("signpost.db")).unwrap();
        let options = SqliteOptions { time_limit: PATIENCE, ..SqliteOptions::default() };
        let store = SqliteClickStore::open_existing(&file, &options).unwrap();
        count_in(&store, account).await
    })
}

/// The files in the spool of a program.
fn spool(program: &Program) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(program.folder().join("signpost-spool")).into_iter().flatten();
    files.filter_map(|file| Some(file.ok()?.path())).collect()
}

/// The files of the spool that hold batches, without those that SQLite keeps beside them.
fn batch_files(program: &Program) -> BTreeSet<PathBuf> {
    let is_of_batches = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "spool");
    spool(program).into_iter().filter(is_of_batches).collect()
}

/// Starts the program again until it has sent the clicks that its last process left in the spool, and stops it.
fn send_rest(program: &mut Program) {
    let left = batch_files(program);
    program.start_again();
    // The program deletes a file of a dead process once all its clicks are stored.
    await_event("the clicks in the spool are sent", || batch_files(program).is_disjoint(&left));
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());
}

#[test]
fn d64_r13_sigterm_loses_no_click() {
    an_orderly_stop_loses_no_click("TERM");
}

#[test]
fn d64_r13_a_closed_terminal_loses_no_click() {
    an_orderly_stop_loses_no_click("HUP");
}

#[test]
fn d64_r13_sigquit_loses_no_click() {
    an_orderly_stop_loses_no_click("QUIT");
}

fn an_orderly_stop_loses_no_click(signal: &str) {
    let mut program = Program::builder().heeding(signal).start();
    let account = with_link(&program.first_account());
    let folder = program.folder();
    let stored = || stored_in_folder(&folder, account);
    let (visits, _) = visit_while(&program.visitor(), stored, |visits| {
        visits.await_more(200);
        program.signal(signal);
        assert_eq!(program.wait(), Some(0), "{}", program.log());
    });
    // A stopping program sends clicks for three seconds. On a slow disk it leaves a rest to the next process.
    if !spool(&program).is_empty() {
        send_rest(&mut program);
    }
    let stored = stored();
    assert!((visits.redirected()..=visits.begun()).contains(&stored), "{stored} of {}", visits.redirected());
    assert!(spool(&program).is_empty(), "{:?}", spool(&program));
}

#[test]
fn r13_a_killed_program_loses_at_most_100_ms_of_clicks() {
    let mut program = Program::start();
    let account = with_link(&program.first_account());
    let folder = program.folder();
    let stored = || stored_in_folder(&folder, account);
    let mut killed_at = Instant::now();
    let (visits, late) = visit_while(&program.visitor(), stored, |visits| {
        let begun = Instant::now();
        visits.await_more(200);
        std::thread::sleep(CLICKED_FOR.saturating_sub(begun.elapsed()));
        killed_at = Instant::now();
        program.kill();
    });
    send_rest(&mut program);
    let stored = stored();
    let excused = late.of_slowest_click();
    let safe = visits.redirected_before(killed_at.checked_sub(LOST_AT_MOST + excused).unwrap());
    assert!(
        (safe..=visits.begun()).contains(&stored),
        "{stored} of at least {safe}, with a delay of the machine of {excused:?}: {}",
        program.log()
    );
    assert!(spool(&program).is_empty(), "{:?}", spool(&program));
    let lost = visits.redirected().saturating_sub(stored);
    report("R13, kill", &format!("{lost} of {} clicks were lost", visits.redirected()));
}

/// Links in memory keep opening, and their clicks wait in the spool. The time limit of the store is short, so that the
/// store gets clicks twice: those whose storing took too long for the node, and arrives after the outage nevertheless.
#[test]
fn r13_r14_an_outage_of_the_database_loses_no_click_and_counts_none_twice() {
    let Some(scene) = Scene::builder(WHO, 1).behind_proxy().short_store_timeout().start() else { return };
    let account = with_link(&scene.account);
    let (node, url) = (&scene.nodes[0], scene.database.url());
    let stored = || stored_in_database(&url, account);
    let failures = || node.metric("signpost_click_append_failures_total").parse::<u64>().unwrap();
    let batches = || node.metric("signpost_click_batches_appended_total").parse::<u64>().unwrap();
    await_own_changes(node);
    let (visits, _) = visit_while(&node.visitor(), stored, |visits| {
        for behaviour in [Behaviour::BlackHole, Behaviour::Refuse] {
            visits.await_more(50);
            let (begun, failed) = (Instant::now(), failures());
            scene.proxy().set(behaviour);
            visits.await_more(100);
            await_count("clicks wait in the spool", failed + 1, failures);
            std::thread::sleep(length(Duration::ZERO).saturating_sub(begun.elapsed()));
            scene.proxy().set(Behaviour::Pass);
            await_count("clicks reach the store again", batches() + 1, batches);
        }
    });
    await_count("all clicks are stored", visits.redirected(), stored);
    assert!((visits.redirected()..=visits.begun()).contains(&stored()), "clicks counted twice");
    assert_eq!(node.metric("signpost_clicks_dropped_total"), "0");
}

/// Every click is stored, or counted as dropped.
#[test]
fn r40_clicks_on_a_full_disk_are_stored_later_or_counted_as_dropped() {
    let program = Program::builder().with_disk_that_fills().setting("metrics-listen", "127.0.0.1:0").start();
    let account = with_link(&program.first_account());
    let folder = program.folder();
    let stored = || stored_in_folder(&folder, account);
    let (visits, _) = visit_while(&program.visitor(), stored, |visits| {
        visits.await_more(50);
        let begun = Instant::now();
        program.limit_files(Some(0));
        visits.await_more(300);
        program.await_log("the spool of clicks cannot be written");
        std::thread::sleep(length(Duration::ZERO).saturating_sub(begun.elapsed()));
        program.limit_files(None);
        visits.await_more(50);
    });
    let kept = || stored() + program.metric("signpost_clicks_dropped_total").parse::<u64>().unwrap();
    await_count("clicks are stored or counted as dropped", visits.redirected(), kept);
    assert!((visits.redirected()..=visits.begun()).contains(&kept()), "clicks counted twice");
}

/// Later clicks wait in the spool for the next start, which tells the file that they belong to.
#[test]
fn r13_a_removed_file_of_clicks_is_saved_and_later_clicks_are_kept() {
    let mut program = Program::start();
    let account = with_link(&program.first_account());
    let (folder, visits) = (program.folder(), Visits::default());
    await_event("the link opens", || visits.visit(&program.visitor()));
    await_count("the first click is stored", 1, || stored_in_folder(&folder, account));
    let of_clicks = |part: &str| -> Vec<PathBuf> {
        let files = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
        files.filter(|path| path.to_str().unwrap().contains(part)).collect()
    };
    for file in of_clicks("signpost-clicks.db") {
        fs::remove_file(file).unwrap();
    }
    program.await_log("is saved");
    let before = visits.redirected();
    assert!(visits.visit(&program.visitor()), "visitors are still served");
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());
    let [saved] = of_clicks("signpost-clicks.db.replaced-").try_into().unwrap();
    program.start_again();
    await_count("the later click is stored", 1, || stored_in_folder(&folder, account));

    let elsewhere = tempfile::tempdir().unwrap();
    fs::copy(folder.join("signpost.db"), elsewhere.path().join("signpost.db")).unwrap();
    fs::copy(saved, elsewhere.path().join("signpost-clicks.db")).unwrap();
    assert_eq!(stored_in_folder(elsewhere.path(), account), before);
}
