//! Processes that are killed between the store's commit and its acknowledgement (R14).

use std::env;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use signpost_app::ports::{Appended, Click, ClickKind, ClickStore, EncodedClicks, StoreError};
use signpost_click_recorder::{ClickRecorder, Facts, FindFacts};
use signpost_domain::analytics::Values;
use signpost_domain::{CountryCode, RedirectId};
use signpost_port_contracts::samples;
use signpost_sqlite::SqliteClickStore;

use crate::scene::{
    ACCOUNT, Append, Before, LONG, open, processes_with_files, selection, spooled, start, stored, take,
};

const KILLS: usize = 100;

const TEST: &str = "kills::r14_kill_before_the_acknowledgement_counts_clicks_once";

/// Environment variables that pass the round and the folder to a process to be killed.
const ROUND: &str = "SIGNPOST_KILLED_RECORDER_ROUND";
const FOLDER: &str = "SIGNPOST_KILLED_RECORDER_FOLDER";

struct NoFacts;

impl FindFacts for NoFacts {
    fn find(&mut self, _: &Click<'_>, _: Option<CountryCode>, use_facts: &mut dyn FnMut(Facts<'_>)) {
        use_facts(Facts { alike: None, is_bot: false, values: Values::default() });
    }
}

async fn start_plain(store: Arc<dyn ClickStore>, folder: &Path, seed: usize) -> ClickRecorder {
    start(store, Box::new(NoFacts), folder, seed.try_into().unwrap()).await
}

fn take_so_many(recorder: &ClickRecorder, clicks: usize) {
    let click = Click {
        at: samples::at(0),
        link: RedirectId::from_bytes([7; 16]).into(),
        account: ACCOUNT,
        kind: ClickKind::Sent,
        rule: "",
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        country: None,
        user_agent: b"person",
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
    };
    take(recorder, std::iter::repeat_n(click, clicks));
}

/// How many clicks the process of a round records, and how many it first leaves in a file, like a process
/// without the store. Batches have different sizes, so that none can replace another unnoticed.
const fn clicks_of(round: usize) -> (usize, usize) {
    (1_000 + round, if round.is_multiple_of(2) { 0 } else { 500 + round })
}

/// Refuses everything, so that clicks stay in the spool.
struct Unavailable;

#[async_trait]
impl Append for Unavailable {
    async fn append(&self, _: &SqliteClickStore, _: &EncodedClicks) -> Result<Appended, StoreError> {
        Err(StoreError::unavailable("unavailable"))
    }
}

/// Kills the process after the store's commit, before the shipper learns of it.
struct DiesAfterCommit {
    appends: AtomicUsize,
    at_least: usize,
    /// The size of the batch that this process recorded. A kill before it is sent may lose clicks that have
    /// not reached the spool.
    own: usize,
    has_own: AtomicBool,
}

#[async_trait]
impl Append for DiesAfterCommit {
    async fn append(&self, store: &SqliteClickStore, batch: &EncodedClicks) -> Result<Appended, StoreError> {
        let appended = store.append(batch).await?;
        if usize::try_from(batch.clicks).unwrap() == self.own {
            self.has_own.store(true, Ordering::SeqCst);
        }
        let appends = self.appends.fetch_add(1, Ordering::SeqCst) + 1;
        if appends >= self.at_least && self.has_own.load(Ordering::SeqCst) {
            std::process::abort();
        }
        Ok(appended)
    }
}

async fn be_killed(folder: &Path, round: usize) -> ! {
    let (own, left) = clicks_of(round);
    if left > 0 {
        let unavailable = Arc::new(Before { append: Unavailable, store: open(folder) });
        let recorder = start_plain(unavailable, folder, 2 * round).await;
        take_so_many(&recorder, left);
        recorder.close(LONG);
    }
    // One batch of the previous round is left, because its acknowledgement was lost.
    let at_least = usize::from(round > 0) + usize::from(left > 0) + 1;
    let append =
        DiesAfterCommit { appends: AtomicUsize::new(0), at_least, own, has_own: AtomicBool::new(false) };
    let store = Arc::new(Before { append, store: open(folder) });
    let recorder = start_plain(store, folder, 2 * round + 1).await;
    take_so_many(&recorder, own);
    tokio::time::sleep(LONG).await;
    panic!("nothing has killed this process");
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_kill_before_the_acknowledgement_counts_clicks_once() {
    if let (Some(round), Some(folder)) = (env::var_os(ROUND), env::var_os(FOLDER)) {
        be_killed(Path::new(&folder), round.to_str().unwrap().parse().unwrap()).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut sent = 0;
    for round in 0..KILLS {
        let ended = Command::new(env::current_exe().unwrap())
            .args(["--exact", TEST])
            .env(ROUND, round.to_string())
            .env(FOLDER, folder.path())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert_eq!(ended.code(), None, "the process of round {round} was not killed");
        let (own, left) = clicks_of(round);
        sent += u64::try_from(own + left).unwrap();
    }
    let store: Arc<dyn ClickStore> = Arc::new(open(folder.path()));
    let last = start_plain(Arc::clone(&store), folder.path(), 2 * KILLS).await;
    let since = Instant::now();
    // The process has its own file until it ends.
    while processes_with_files(folder.path()) > 1 {
        assert!(since.elapsed() < LONG, "{:?} are not sent", spooled(folder.path()));
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    last.close(LONG);
    assert_eq!(spooled(folder.path()), Vec::<PathBuf>::new());
    assert_eq!(stored(store.as_ref()).await, sent);
    let exported = store.clicks(&selection(), None, 1_000_000, Instant::now() + LONG).await.unwrap();
    assert_eq!(exported.len(), usize::try_from(sent).unwrap());
}
