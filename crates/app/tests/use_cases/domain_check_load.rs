//! Ten thousand pending domains and several nodes (R21).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::Application;
use signpost_app::background::{CheckDomains, JobRunner};
use signpost_app::ports::{Clock, DnsProvider, DnsUnavailable, LeaseHolder};
use signpost_domain::{
    CaaRecord, CheckPlan, CustomDomain, HostResolution, Hostname, TextResolution, Timestamp,
};
use signpost_memory::{InMemory, ManualClock};
use signpost_port_contracts::samples;

use crate::world::World;

const DOMAINS: u32 = 10_000;
const NODES: u8 = 3;
/// The time over which they are connected, and the time for which they are watched.
const CONNECTED_WITHIN: Duration = Duration::from_mins(30);
const WATCHED_FOR: Duration = Duration::from_mins(45);
/// How long each look-up takes.
const LATENCY: Duration = Duration::from_millis(1_500);

/// An empty, slow DNS that records its questions.
struct SlowDns {
    clock: Arc<ManualClock>,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    at: HashMap<String, Vec<Timestamp>>,
    now: HashSet<String>,
    overlaps: usize,
    most_at_once: usize,
}

impl SlowDns {
    async fn wait(&self) {
        let end = self.clock.now().plus(LATENCY);
        while self.clock.now() < end {
            tokio::task::yield_now().await;
        }
    }
}

#[async_trait]
impl DnsProvider for SlowDns {
    async fn txt_records(&self, _: &str) -> Result<TextResolution, DnsUnavailable> {
        self.wait().await;
        Ok(TextResolution::default())
    }

    async fn resolution(&self, hostname: &Hostname) -> Result<HostResolution, DnsUnavailable> {
        let name = hostname.to_string();
        {
            let mut asked = self.asked.lock().unwrap();
            asked.at.entry(name.clone()).or_default().push(self.clock.now());
            asked.overlaps += usize::from(!asked.now.insert(name.clone()));
            asked.most_at_once = asked.most_at_once.max(asked.now.len());
        }
        self.wait().await;
        self.asked.lock().unwrap().now.remove(&name);
        Ok(HostResolution::default())
    }

    async fn caa_records(&self, _: &str) -> Result<Vec<CaaRecord>, DnsUnavailable> {
        self.wait().await;
        Ok(vec![])
    }
}

/// Puts the domains into the store, each as if it had been connected at its instant.
async fn connect_all(world: &World, start: Timestamp) -> HashMap<String, Timestamp> {
    let mut connected = HashMap::new();
    let mut work = world.app.store.begin().await.unwrap();
    for number in 0..DOMAINS {
        let at = start.plus(CONNECTED_WITHIN / DOMAINS * number);
        let hostname = samples::hostname(&format!("links{number}.shop.com"));
        let domain = CustomDomain::connect(world.app.ids.next(), world.account.id, hostname.clone(), at);
        let [jitter, ..] = number.wrapping_mul(0x9e37_79b9).to_be_bytes();
        work.insert_custom_domain(&domain, CheckPlan::first(at, jitter), u64::MAX).await.unwrap();
        connected.insert(hostname.to_string(), at);
    }
    work.commit().await.unwrap();
    connected
}

/// R21: each pause is at most ten percent too long, and no node exceeds its concurrent look-ups.
#[tokio::test]
async fn r21_ten_thousand_domains_are_checked_on_time_by_one_node_each() {
    let world = World::on(InMemory::default(), "agency").await;
    let clock = Arc::clone(&world.memory.clock);
    let start = clock.now();
    let connected = connect_all(&world, start).await;
    let dns = Arc::new(SlowDns { clock: Arc::clone(&clock), asked: Mutex::default() });
    let mut nodes: Vec<JobRunner> = (0..NODES)
        .map(|number| {
            let app = Application { dns: Arc::<SlowDns>::clone(&dns), ..world.memory.application() };
            let app = Arc::new(app);
            let job = Arc::new(CheckDomains::new(Arc::clone(&app)));
            JobRunner::new(&app, job, LeaseHolder::from_bytes([number; 16]))
        })
        .collect();
    while clock.now() < start.plus(WATCHED_FOR) {
        clock.advance(Duration::from_millis(500));
        for node in &mut nodes {
            node.tick().await;
            for _ in 0..4 {
                tokio::select! {
                    biased;
                    () = node.work() => {}
                    () = tokio::task::yield_now() => {}
                }
            }
        }
    }

    let asked = dns.asked.lock().unwrap();
    assert_eq!(asked.overlaps, 0);
    assert!(asked.most_at_once <= usize::from(NODES) * 64, "{} at once", asked.most_at_once);
    let mut checks = 0;
    for (hostname, connected_at) in &connected {
        let instants = asked.at.get(hostname).map_or(&[][..], Vec::as_slice);
        checks += instants.len();
        let first = *instants.first().unwrap();
        let pause = |from: Timestamp, to: Timestamp| {
            Duration::from_millis(to.unix_millis().abs_diff(from.unix_millis()))
        };
        assert!(
            first > *connected_at && pause(*connected_at, first) <= Duration::from_secs(15 + 3),
            "{hostname}"
        );
        let nominal = [1, 2, 4, 8, 16, 32].map(Duration::from_mins);
        for (window, nominal) in instants.windows(2).zip(nominal) {
            let [before, after] = window else { continue };
            // The pause begins with the end of a check, and its jitter is a tenth either way.
            let pause = pause(*before, *after);
            assert!(pause >= nominal * 9 / 10, "{hostname}: {pause:?} instead of {nominal:?}");
            assert!(pause <= nominal * 11 / 10 * 11 / 10, "{hostname}: {pause:?} instead of {nominal:?}");
        }
        let last = *instants.last().unwrap();
        let next = nominal.get(instants.len() - 1).map_or(Duration::from_hours(1), |nominal| *nominal);
        assert!(last.plus(next * 11 / 10 * 11 / 10) >= clock.now(), "{hostname} is overdue");
    }
    assert!(checks > 5 * connected.len(), "{checks} checks");
}
