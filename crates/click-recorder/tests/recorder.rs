//! Tests of the whole recorder, from the edge's side to a store in memory.

#![allow(clippy::panic, clippy::unwrap_used, reason = "tests fail by panicking")]

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use signpost_app::node_health::{NodeHealth, WaitingClicks};
use signpost_app::ports::{Click, ClickBatch, ClickKind, ClickSink as _, NoCountries};
use signpost_click_recorder::{ClickRecorder, Facts, FindFacts, RecorderOptions, RecorderPorts};
use signpost_domain::analytics::{UtcDay, Values, VisitorKey};
use signpost_domain::{AccountId, CountryCode, RedirectId};
use signpost_memory::{ManualClock, MemoryClickStore, SeededRandomness};
use signpost_port_contracts::samples;

/// Longer than anything here takes. Only a failure waits for it.
const LONG: Duration = Duration::from_mins(2);

/// Derives no facts.
struct NoFacts;

impl FindFacts for NoFacts {
    fn find(&mut self, _: &Click<'_>, _: Option<CountryCode>, use_facts: &mut dyn FnMut(Facts<'_>)) {
        use_facts(Facts { alike: None, is_bot: false, values: Values::default() });
    }
}

/// Derives no facts. At the agent `panic` it reports the click to the channel, and panics.
struct PanickingFacts(Sender<()>);

impl FindFacts for PanickingFacts {
    fn find(
        &mut self,
        click: &Click<'_>,
        country: Option<CountryCode>,
        use_facts: &mut dyn FnMut(Facts<'_>),
    ) {
        if click.user_agent == b"panic" {
            self.0.send(()).unwrap();
            panic!("a click of the agent `panic`");
        }
        NoFacts.find(click, country, use_facts);
    }
}

/// Derives no facts, once the other end of the channel allows it.
struct SlowToWarmUp(Receiver<()>);

impl FindFacts for SlowToWarmUp {
    fn find(
        &mut self,
        click: &Click<'_>,
        country: Option<CountryCode>,
        use_facts: &mut dyn FnMut(Facts<'_>),
    ) {
        NoFacts.find(click, country, use_facts);
    }

    fn warm_up(&mut self) {
        self.0.recv().unwrap();
    }
}

async fn start(store: &Arc<MemoryClickStore>, folder: &Path, seed: u64) -> ClickRecorder {
    start_with(Box::new(NoFacts), store, folder, seed).await
}

async fn start_with(
    facts: Box<dyn FindFacts>,
    store: &Arc<MemoryClickStore>,
    folder: &Path,
    seed: u64,
) -> ClickRecorder {
    start_noting(&Arc::default(), facts, store, folder, seed).await
}

/// Starts a recorder that notes what it notices.
async fn start_noting(
    health: &Arc<NodeHealth>,
    facts: Box<dyn FindFacts>,
    store: &Arc<MemoryClickStore>,
    folder: &Path,
    seed: u64,
) -> ClickRecorder {
    let ports = RecorderPorts {
        store: Arc::<MemoryClickStore>::clone(store),
        clock: Arc::new(ManualClock::default()),
        randomness: Arc::new(SeededRandomness::new(seed)),
        countries: Arc::new(NoCountries),
        facts,
        secrets: None,
        health: Arc::clone(health),
    };
    ClickRecorder::start(ports, &RecorderOptions::in_folder(folder)).await.unwrap()
}

fn click(agent: &[u8]) -> Click<'_> {
    Click {
        at: samples::at(1_769_850_307_042),
        link: RedirectId::from_bytes([7; 16]).into(),
        account: AccountId::from_bytes([1; 16]),
        kind: ClickKind::Sent,
        rule: "",
        address: IpAddr::V4(Ipv4Addr::LOCALHOST),
        country: None,
        user_agent: agent,
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
    }
}

fn take(recorder: &ClickRecorder, clicks: usize) {
    take_by(recorder, clicks, b"person");
}

fn take_by(recorder: &ClickRecorder, clicks: usize, agent: &[u8]) {
    let mut batch = ClickBatch::default();
    for _ in 0..clicks {
        assert!(batch.push(&click(agent), usize::MAX));
    }
    assert!(recorder.take(batch).is_empty());
}

fn wait_for_rows(store: &MemoryClickStore, rows: usize) {
    let start = Instant::now();
    while store.rows() != rows {
        assert!(start.elapsed() < LONG, "{} of {rows} clicks are stored", store.rows());
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

#[tokio::test(flavor = "multi_thread")]
async fn clicks_reach_the_store_soon() {
    let (store, folder) = (Arc::default(), tempfile::tempdir().unwrap());
    let recorder = start(&store, folder.path(), 1).await;
    take(&recorder, 3);
    wait_for_rows(&store, 3);
    take(&recorder, 2);
    wait_for_rows(&store, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn d64_closing_loses_nothing() {
    let (store, folder) = (Arc::<MemoryClickStore>::default(), tempfile::tempdir().unwrap());
    let recorder = start(&store, folder.path(), 1).await;
    for _ in 0..100 {
        take(&recorder, 10);
    }
    recorder.close(LONG);
    assert_eq!(store.rows(), 1_000);
    assert!(is_empty(folder.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn d64_clicks_during_the_warm_up_wait_and_are_recorded() {
    let (store, folder) = (Arc::<MemoryClickStore>::default(), tempfile::tempdir().unwrap());
    let (allow, allowed) = channel();
    let recorder = start_with(Box::new(SlowToWarmUp(allowed)), &store, folder.path(), 1).await;
    for _ in 0..100 {
        take(&recorder, 10);
    }
    // The recorder is closed during the warm-up, which ends only afterwards.
    let closing = std::thread::spawn(move || recorder.close(LONG));
    assert_eq!(store.rows(), 0);
    allow.send(()).unwrap();
    closing.join().unwrap();
    assert_eq!(store.rows(), 1_000);
    assert!(is_empty(folder.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn r13_next_process_sends_batches_that_the_store_lacks() {
    let (store, folder) = (Arc::<MemoryClickStore>::default(), tempfile::tempdir().unwrap());
    let recorder = start(&store, folder.path(), 1).await;
    take(&recorder, 1);
    wait_for_rows(&store, 1);
    store.set_unavailable(true);
    for _ in 0..20 {
        take(&recorder, 5);
    }
    recorder.close(LONG);
    store.set_unavailable(false);
    assert_eq!(store.rows(), 1);
    let next = start(&store, folder.path(), 2).await;
    take(&next, 1);
    wait_for_rows(&store, 102);
    next.close(LONG);
    assert!(is_empty(folder.path()));
}

#[tokio::test(flavor = "multi_thread")]
async fn d69_clicks_that_wait_are_noted_for_operators() {
    let (store, folder) = (Arc::<MemoryClickStore>::default(), tempfile::tempdir().unwrap());
    let health = Arc::default();
    store.set_unavailable(true);
    let recorder = start_noting(&health, Box::new(NoFacts), &store, folder.path(), 1).await;
    take(&recorder, 5);
    let wait_for = |clicks| {
        let start = Instant::now();
        loop {
            match health.waiting_clicks() {
                Some(waiting) if waiting.clicks == clicks => return waiting,
                noted => assert!(start.elapsed() < LONG, "{noted:?}"),
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let waiting = wait_for(5);
    assert!(waiting.bytes > 0 && waiting.oldest == Some(samples::at(1_769_850_307_042)), "{waiting:?}");
    store.set_unavailable(false);
    assert_eq!(wait_for(0), WaitingClicks::default());
    recorder.close(LONG);
}

#[tokio::test(flavor = "multi_thread")]
async fn r14_outage_of_the_store_neither_loses_nor_repeats_clicks() {
    let (store, folder) = (Arc::<MemoryClickStore>::default(), tempfile::tempdir().unwrap());
    let recorder = start(&store, folder.path(), 1).await;
    for round in 0..5 {
        store.set_unavailable(round % 2 == 0);
        for _ in 0..10 {
            take(&recorder, 7);
        }
    }
    store.set_unavailable(false);
    wait_for_rows(&store, 350);
    recorder.close(LONG);
    assert_eq!(store.rows(), 350);
}

/// A store restored from a backup lacks batches that it had acknowledged.
#[tokio::test(flavor = "multi_thread")]
async fn d51_store_that_lost_batches_gets_all_later_ones() {
    let folder = tempfile::tempdir().unwrap();
    let (before, restored) = (Arc::default(), Arc::<MemoryClickStore>::default());
    let recorder = start(&before, folder.path(), 1).await;
    take(&recorder, 3);
    wait_for_rows(&before, 3);
    before.set_unavailable(true);
    take(&recorder, 4);
    recorder.close(LONG);
    let next = start(&restored, folder.path(), 2).await;
    wait_for_rows(&restored, 4);
    take(&next, 1);
    wait_for_rows(&restored, 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn click_that_panics_does_not_stop_the_others() {
    let (store, folder) = (Arc::default(), tempfile::tempdir().unwrap());
    let (report, reported) = channel();
    let recorder = start_with(Box::new(PanickingFacts(report)), &store, folder.path(), 1).await;
    take_by(&recorder, 1, b"panic");
    // The next clicks are then not in the same round.
    reported.recv().unwrap();
    take(&recorder, 2);
    wait_for_rows(&store, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn r40_clicks_reach_the_store_without_a_disk() {
    let (store, folder) = (Arc::default(), tempfile::tempdir().unwrap());
    let path = folder.path().join("spool");
    std::fs::write(&path, "no folder").unwrap();
    let recorder = start(&store, &path, 1).await;
    take(&recorder, 3);
    wait_for_rows(&store, 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn d48_key_of_today_is_shared_before_the_first_click() {
    use signpost_app::ports::{ClickStore as _, Clock as _};
    let (store, folder) = (Arc::<MemoryClickStore>::default(), tempfile::tempdir().unwrap());
    let _recorder = start(&store, folder.path(), 1).await;
    let mine = VisitorKey([9; 32]);
    let today = UtcDay::of(ManualClock::default().now());
    assert_ne!(store.visitor_key(today, mine.clone()).await.unwrap(), mine);
}
