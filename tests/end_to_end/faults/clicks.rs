//! Clicks survive the end of the program, an outage of the store and a full disk, and count once (R13, R14,
//! R40). The tests compare stored clicks with the counts of the visitors.

use std::fs;
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

use crate::harness::{Account, Program, Visitor, redirect_body};
use crate::load::SetWhenDropped;
use crate::machine::MachineControl;
use crate::scene::Scene;
use crate::size::{length, report};

const WHO: &str = "clicks while something fails";

/// How much a killed program may lose (R13).
const LOST_AT_MOST: Duration = Duration::from_millis(100);

/// How soon clicks are stored once everything works again.
const STORED_WITHIN: Duration = Duration::from_secs(30);

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
        let (seen, since) = (self.redirected(), Instant::now());
        while self.redirected() < seen + visits {
            assert!(since.elapsed() < STORED_WITHIN, "visitors get no redirects");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Lets visitors open `/sale` while `meanwhile` runs. Returns their counts and the longest delay of the
/// machine.
fn visit_while(visitor: &Visitor, meanwhile: impl FnOnce(&Visits)) -> (Visits, Duration) {
    let (visits, is_over) = (Visits::default(), AtomicBool::new(false));
    let longest = std::thread::scope(|scope| {
        for _ in 0..VISITORS {
            let (visitor, visits, is_over) = (visitor.clone(), &visits, &is_over);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    visits.begun.fetch_add(1, Ordering::SeqCst);
                    match visitor.try_request(
                        "GET",
                        "/sale",
                        &[("Host", "localhost:8081"), ("User-Agent", "x")],
                    ) {
                        Ok(visit) if visit.status == 302 => {
                            visits.redirected.lock().unwrap().push(Instant::now());
                        }
                        Ok(_) | Err(_) => std::thread::sleep(Duration::from_millis(20)),
                    }
                }
            });
        }
        let _over = SetWhenDropped(&is_over);
        let control = MachineControl::start();
        meanwhile(&visits);
        control.lateness().longest
    });
    (visits, longest)
}

/// Creates the link `/sale`, and returns the id of the account.
pub fn with_link(account: &Account) -> AccountId {
    account.create_redirect(&redirect_body(json!({"slug": "sale"})));
    let account = account.get("/v1/account").expect_status(200);
    account.body["id"].as_str().unwrap().parse().unwrap()
}

/// The number of stored visits of an account.
pub async fn stored(store: &dyn ClickStore, account: AccountId) -> u64 {
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
    let totals = store.answer(&question, Instant::now() + STORED_WITHIN).await.unwrap().totals;
    totals.clicks + totals.bots + totals.blocked
}

pub fn on_a_runtime<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap().block_on(work)
}

/// The number of visits in the embedded store of a program.
fn embedded(program: &Program, account: AccountId) -> u64 {
    on_a_runtime(async {
        let file = DatabaseFile::at(program.folder().join("signpost.db")).unwrap();
        let store = SqliteClickStore::open_existing(&file, &SqliteOptions::default()).unwrap();
        stored(&store, account).await
    })
}

fn spool_is_empty(program: &Program) -> bool {
    let files = fs::read_dir(program.folder().join("signpost-spool"));
    files.map_or(true, |mut files| files.next().is_none())
}

#[test]
fn d64_r13_an_orderly_stop_loses_no_click() {
    let mut program = Program::start();
    let account = with_link(&program.first_account());
    let (visits, _) = visit_while(&program.visitor(), |visits| {
        visits.await_more(200);
        program.signal("TERM");
        assert_eq!(program.wait(), Some(0), "{}", program.log());
    });
    let stored = embedded(&program, account);
    assert!((visits.redirected()..=visits.begun()).contains(&stored), "{stored} of {}", visits.redirected());
    assert!(spool_is_empty(&program));
}

#[test]
fn r13_a_killed_program_loses_at_most_100_ms_of_clicks() {
    let mut program = Program::start();
    let account = with_link(&program.first_account());
    let mut killed_at = Instant::now();
    let (visits, late) = visit_while(&program.visitor(), |visits| {
        visits.await_more(200);
        killed_at = Instant::now();
        program.kill();
    });
    // It sends the clicks that the killed program left in its spool.
    program.start_again();
    program.signal("TERM");
    assert_eq!(program.wait(), Some(0), "{}", program.log());
    let stored = embedded(&program, account);
    let safe = visits.redirected_before(killed_at.checked_sub(LOST_AT_MOST + late).unwrap());
    assert!((safe..=visits.begun()).contains(&stored), "{stored} of at least {safe}: {}", program.log());
    assert!(spool_is_empty(&program));
    let lost = visits.redirected().saturating_sub(stored);
    report("R13, kill", &format!("{lost} of {} clicks were lost", visits.redirected()));
}

/// Links in memory keep opening, and their clicks wait in the spool.
#[test]
fn r13_r14_an_outage_of_the_database_loses_no_click_and_counts_none_twice() {
    let Some(scene) = Scene::behind_proxy(WHO, 1) else { return };
    let account = with_link(&scene.account);
    let node = &scene.nodes[0];
    node.visitor().open_until("/sale", 302);
    let (visits, _) = visit_while(&node.visitor(), |visits| {
        for behaviour in [Behaviour::BlackHole, Behaviour::Refuse] {
            visits.await_more(50);
            scene.proxy().set(behaviour);
            let begun = Instant::now();
            visits.await_more(100);
            std::thread::sleep(length(Duration::from_secs(3)).saturating_sub(begun.elapsed()));
            scene.proxy().set(Behaviour::Pass);
        }
        visits.await_more(50);
    });
    on_a_runtime(async {
        let store = PostgresStore::connect(&scene.database.url(), &PostgresOptions::default()).await.unwrap();
        let since = Instant::now();
        // `open_until` made one more visit.
        while stored(&store, account).await <= visits.redirected() {
            assert!(
                since.elapsed() < STORED_WITHIN,
                "{} are stored, of {}",
                stored(&store, account).await,
                visits.redirected()
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert!(stored(&store, account).await <= visits.begun() + 1);
    });
    assert_eq!(node.metric("signpost_clicks_dropped_total"), "0");
}

/// Every click is stored, or counted as dropped.
#[test]
fn r40_clicks_on_a_full_disk_are_stored_later_or_counted_as_dropped() {
    let program = Program::builder().with_disk_that_fills().setting("metrics-listen", "127.0.0.1:0").start();
    let account = with_link(&program.first_account());
    let (visits, _) = visit_while(&program.visitor(), |visits| {
        visits.await_more(50);
        program.limit_files(Some(0));
        visits.await_more(300);
        std::thread::sleep(length(Duration::from_secs(1)));
        program.limit_files(None);
        visits.await_more(50);
    });
    let since = Instant::now();
    loop {
        let dropped: u64 = program.metric("signpost_clicks_dropped_total").parse().unwrap();
        let kept = embedded(&program, account) + dropped;
        assert!(kept <= visits.begun(), "{kept} of {}", visits.begun());
        if kept >= visits.redirected() {
            break;
        }
        assert!(since.elapsed() < STORED_WITHIN, "{kept} of {}: {}", visits.redirected(), program.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}
