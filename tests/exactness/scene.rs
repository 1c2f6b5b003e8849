//! Runs two listeners, a recorder and a store on a clock that the test sets.

use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use signpost_app::analytics::AnalyticsBounds;
use signpost_app::ports::{ClickBatch, ClickSink, ClickStore, Clock as _, NoCountries, Upkeep};
use signpost_click_recorder::{ClickRecorder, RecorderOptions, RecorderPorts};
use signpost_domain::analytics::{RecordedKind, UtcDay};
use signpost_domain::{AccountId, Timestamp, TrustedProxies};
use signpost_edge::{EdgeOptions, EdgeServer, SystemUrls};
use signpost_enrichment::{Enricher, Sources};
use signpost_http::{ApiOptions, ApiServer};
use signpost_memory::InMemory;
use ureq::http::Request;

use crate::chance::Chance;
use crate::local_time::{DAYS, first_day};
use crate::model::{DIMENSIONS, Row};
use crate::questions::Endpoint;
use crate::scenery::{GATES, SLUGS, account, links, lose, unlimited};
use crate::stores::{Kind, Opened, open};
use crate::visits::{Place, Visit, visit};

const DAY: i64 = 86_400_000;

/// Longer than any step takes on a busy machine. Only a failure waits that long.
const PATIENCE: Duration = Duration::from_mins(2);

/// How long a question may take on a busy machine, while upkeep runs too.
const QUESTION_TIME: Duration = Duration::from_mins(1);

/// Counts clicks, and passes them to the recorder of the day.
#[derive(Default)]
struct Sink {
    recorder: Mutex<Option<Arc<ClickRecorder>>>,
    taken: AtomicUsize,
}

impl ClickSink for Sink {
    fn take(&self, batch: ClickBatch) -> ClickBatch {
        let recorder = self.recorder.lock().unwrap().clone();
        let count = batch.iter().count();
        let empty = recorder.expect("a recorder").take(batch);
        self.taken.fetch_add(count, Ordering::SeqCst);
        empty
    }
}

/// The parts under test, and the rows of the model.
pub(crate) struct Scene {
    pub(crate) chance: Chance,
    pub(crate) memory: InMemory,
    sink: Arc<Sink>,
    opened: Opened,
    edge: EdgeServer,
    api: ApiServer,
    agent: ureq::Agent,
    links_at: String,
    api_at: String,
    key: String,
    /// The ids of the links, as the API shows them.
    ids: Vec<String>,
    widgets: Vec<String>,
    account: AccountId,
    pub(crate) first_day: i64,
    day: UtcDay,
    /// The links that are inactive.
    inactive: Vec<usize>,
    /// How many clicks the link listener must have passed on.
    expected: usize,
    pub(crate) rows: Vec<Row>,
}

impl Scene {
    pub(crate) async fn start(kind: Kind, seed: u64) -> Option<Self> {
        let opened = open(kind).await?;
        let networks = vec!["127.0.0.0/8".parse().unwrap()];
        let mut memory = InMemory {
            trusted_proxies: TrustedProxies::new(networks),
            analytics_bounds: AnalyticsBounds { time_limit: QUESTION_TIME, ..AnalyticsBounds::default() },
            ..InMemory::default()
        };
        memory.plans = memory.plans.with(unlimited());
        let first_day = first_day(seed);
        memory.clock.set(Timestamp::from_unix_millis(first_day).unwrap());
        let sink = Arc::new(Sink::default());
        let mut app = memory.application();
        app.clicks = Arc::<Sink>::clone(&sink);
        app.click_store = Arc::clone(&opened.store);
        let app = Arc::new(app);
        let (account, key) = account(&app).await;
        let (ids, widgets) = links(&memory, account).await;
        let bind = || TcpListener::bind("127.0.0.1:0").unwrap();
        let (links, requests) = (bind(), bind());
        let [links_at, api_at] =
            [&links, &requests].map(|listener| format!("http://{}", listener.local_addr().unwrap()));
        let workers = NonZeroUsize::new(2).unwrap();
        let options = EdgeOptions {
            miss_throttle_per_minute: 0,
            workers,
            connections: 100,
            cache_bytes: 1 << 20,
            country_header: Some("cf-ipcountry".parse().unwrap()),
            security_contact: None,
            plain_http: None,
            reads_proxy_protocol: false,
            system_urls: SystemUrls::default(),
        };
        let edge = EdgeServer::start(links, Arc::clone(&app), options).unwrap();
        let api = ApiServer::start(
            requests,
            Arc::clone(&app),
            ApiOptions { workers, connections: 100, reads_proxy_protocol: false },
        )
        .unwrap();
        // The link memory stays fresh, however long the test takes.
        app.link_memory.synced(Instant::now() + Duration::from_hours(1));
        let agent = ureq::Agent::config_builder().max_redirects(0).http_status_as_error(false).build().into();
        let mut scene = Self {
            chance: Chance::new(seed),
            account,
            first_day,
            day: UtcDay::of(memory.clock.now()),
            inactive: Vec::new(),
            memory,
            sink,
            opened,
            edge,
            api,
            agent,
            links_at,
            api_at,
            key,
            ids,
            widgets,
            expected: 0,
            rows: Vec::new(),
        };
        scene.start_recorder().await;
        Some(scene)
    }

    /// Plans `count` visits, in order of time.
    pub(crate) fn plan_visits(&mut self, count: usize) -> Vec<Visit> {
        let first = self.first_day;
        let mut instants: Vec<i64> = (0..count)
            .map(|_| match self.chance.below(30) {
                // Exactly at the bounds of hours and days, and several in one millisecond.
                0 => first + self.chance.between(1, DAYS - 1) * DAY,
                1 => first + self.chance.between(1, DAYS - 1) * DAY - 1,
                2 => first + self.chance.between(1, DAYS * 24 - 1) * 3_600_000,
                3 => first + DAY * 2 + 12_345_678,
                _ => first + self.chance.between(0, DAYS * DAY - 1),
            })
            .collect();
        instants.sort_unstable();
        let widgets = self.widgets.len();
        instants
            .into_iter()
            .map(|at| visit(&mut self.chance, Timestamp::from_unix_millis(at).unwrap(), &GATES, widgets))
            .collect()
    }

    /// Makes a visit at its time.
    pub(crate) async fn make(&mut self, visit: &Visit) {
        if UtcDay::of(visit.at) != self.day {
            // Like a node that restarts each day, so that it has the new day's key from the start.
            self.settle().await;
            self.day = UtcDay::of(visit.at);
            self.memory.clock.set(visit.at);
            self.stop_recorder().await;
            self.start_recorder().await;
        }
        self.memory.clock.set(visit.at);
        let path = match visit.place {
            Place::Link(number) => SLUGS[number].to_owned(),
            Place::Widget(number) => format!("menu/w/{}", self.widgets[number]),
            Place::Nothing => "nothing".to_owned(),
            Place::Unrecorded => "unrecorded".to_owned(),
        };
        let mut request =
            Request::builder().method(visit.method).uri(format!("{}/{path}{}", self.links_at, visit.query));
        request = request.header("host", "go.example.com");
        for (name, value) in &visit.headers {
            request = request.header(*name, value);
        }
        let status = self.agent.run(request.body(()).unwrap()).unwrap().status().as_u16();
        let is_inactive = matches!(visit.place, Place::Link(number) if self.inactive.contains(&number));
        let expected = match (visit.place, visit.kind) {
            _ if is_inactive => [404, 404],
            (Place::Nothing, _) => [404, 404],
            (_, Some(RecordedKind::Blocked)) => [403, 403],
            (Place::Link(4), _) => [200, 200],
            // A gate refuses HEAD as well.
            (Place::Link(_), None) => [302, 403],
            _ => [302, 302],
        };
        assert!(expected.contains(&status), "{status} for {visit:?}");
        if is_inactive {
            return;
        }
        if visit.method == "GET" && matches!(visit.place, Place::Link(_) | Place::Widget(_)) {
            self.expected += 1;
        }
        let Some(kind) = visit.kind else { return };
        let (link, widget) = match visit.place {
            Place::Link(number) => (self.ids[number].clone(), String::new()),
            Place::Widget(number) => (self.ids[4].clone(), self.widgets[number].clone()),
            Place::Nothing | Place::Unrecorded => panic!("these visits are not recorded"),
        };
        let mut values: Vec<String> = visit.values.iter().map(|value| (*value).to_owned()).collect();
        values.extend([widget, link]);
        self.rows.push(Row { at: visit.at, kind, visitor: (visit.address.clone(), visit.agent), values });
    }

    /// Deactivates the link, which keeps its clicks.
    pub(crate) fn deactivate(&mut self, number: usize) {
        let request = Request::builder()
            .method("PATCH")
            .uri(format!("{}/v1/redirects/{}", self.api_at, self.ids[number]))
            .header("authorization", format!("Bearer {}", self.key))
            .header("content-type", "application/json")
            .body(r#"{"is_active": false}"#)
            .unwrap();
        assert_eq!(self.agent.run(request).unwrap().status().as_u16(), 200);
        self.inactive.push(number);
    }

    /// Takes the address of the link away; the link keeps its clicks.
    pub(crate) async fn lose(&self, number: usize) {
        lose(&self.memory, self.account, &self.ids[number]).await;
    }

    /// Waits until every visit is stored.
    pub(crate) async fn settle(&mut self) {
        let began = Instant::now();
        while self.sink.taken.load(Ordering::SeqCst) < self.expected {
            assert!(began.elapsed() < PATIENCE, "the recorder does not get the clicks");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        assert_eq!(self.sink.taken.load(Ordering::SeqCst), self.expected, "every click is passed on once");
        self.stop_recorder().await;
        self.start_recorder().await;
    }

    async fn start_recorder(&mut self) {
        let ports = RecorderPorts {
            store: Arc::clone(&self.opened.store),
            clock: Arc::<signpost_memory::ManualClock>::clone(&self.memory.clock),
            randomness: Arc::<signpost_memory::SeededRandomness>::clone(&self.memory.randomness),
            countries: Arc::new(NoCountries),
            facts: Box::new(Enricher::new(Sources::default())),
            secrets: None,
            health: Arc::default(),
        };
        let options = RecorderOptions::in_folder(self.spool());
        let recorder = ClickRecorder::start(ports, &options).await.unwrap();
        *self.sink.recorder.lock().unwrap() = Some(Arc::new(recorder));
    }

    async fn stop_recorder(&mut self) {
        let recorder = self.sink.recorder.lock().unwrap().take();
        if let Some(recorder) = recorder {
            tokio::task::spawn_blocking(move || recorder.close(PATIENCE)).await.unwrap();
            // The recorder deletes its file when the store has all of it.
            let left: Vec<_> =
                std::fs::read_dir(self.spool()).unwrap().map(|file| file.unwrap().path()).collect();
            assert!(left.is_empty(), "the store did not get all clicks in time: {left:?}");
        }
    }

    fn spool(&self) -> PathBuf {
        self.opened.folder.path().join("spool")
    }

    /// Lets days without visits pass.
    pub(crate) fn pass_days(&mut self, days: u64) {
        self.memory.clock.advance(Duration::from_hours(24 * days));
    }

    /// Does all pending upkeep.
    pub(crate) async fn keep_up(&self) {
        keep_up(self.opened.store.as_ref(), self.memory.clock.now()).await;
    }

    /// Does some random upkeep.
    pub(crate) async fn keep_up_at_random(&mut self) {
        let (store, now) = (&self.opened.store, self.memory.clock.now());
        for _ in 0..self.chance.below(4) {
            match self.chance.below(3) {
                0 => store.pack(now).await.unwrap().upkeep,
                1 => store.digest(now).await.unwrap(),
                _ => store.seal(now).await.unwrap(),
            };
        }
    }

    pub(crate) fn endpoints(&self) -> Vec<Endpoint> {
        let all = |without: &[&str]| {
            (0..DIMENSIONS.len()).filter(|number| !without.contains(&DIMENSIONS[*number])).collect::<Vec<_>>()
        };
        let mut endpoints: Vec<Endpoint> = self.ids[..4]
            .iter()
            .map(|id| Endpoint {
                path: format!("/v1/redirects/{id}/analytics"),
                link: Some(id.clone()),
                dimensions: all(&["widget", "link"]),
            })
            .collect();
        endpoints.push(Endpoint {
            path: format!("/v1/landings/{}/analytics", self.ids[4]),
            link: Some(self.ids[4].clone()),
            dimensions: all(&["link"]),
        });
        for _ in 0..4 {
            endpoints.push(Endpoint {
                path: "/v1/analytics".to_owned(),
                link: None,
                dimensions: all(&["widget"]),
            });
        }
        endpoints
    }

    /// Asks random questions, and compares each answer with the model's.
    pub(crate) async fn compare(&mut self, questions: usize) {
        let endpoints = self.endpoints();
        let now = self.memory.clock.now().unix_millis();
        for _ in 0..questions {
            let endpoint = self.chance.pick(&endpoints).clone();
            let asked = endpoint.question(&mut self.chance, &self.rows, now);
            let uri = endpoint.uri(&asked);
            let answer = self.get_json(&uri);
            let expected = asked.answer(&self.rows);
            // Part by part, because the whole answer is too long to read in a failure.
            for (name, part) in expected.as_object().unwrap() {
                assert_eq!(answer[name], *part, "{name} of {uri}");
            }
            assert_eq!(answer, expected, "{uri}");
        }
        tokio::task::yield_now().await;
    }

    /// Asks questions while upkeep runs repeatedly.
    pub(crate) async fn compare_while_upkeep_runs(&mut self, questions: usize) {
        let store = Arc::clone(&self.opened.store);
        let now = self.memory.clock.now();
        let upkeep = tokio::spawn(async move {
            loop {
                keep_up(store.as_ref(), now).await;
                tokio::task::yield_now().await;
            }
        });
        self.compare(questions).await;
        upkeep.abort();
    }

    fn get_json(&self, uri: &str) -> Value {
        serde_json::from_str(&self.get(uri)).unwrap()
    }

    pub(crate) fn get(&self, uri: &str) -> String {
        let request = Request::builder()
            .uri(format!("{}{uri}", self.api_at))
            .header("authorization", format!("Bearer {}", self.key))
            .body(())
            .unwrap();
        let mut answer = self.agent.run(request).unwrap();
        let text = answer.body_mut().with_config().limit(1 << 30).read_to_string().unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{uri}: {text}");
        text
    }

    /// Stops everything.
    pub(crate) async fn stop(self) {
        let Self { edge, api, sink, .. } = self;
        edge.stop(true).await.unwrap();
        let recorder = sink.recorder.lock().unwrap().take();
        tokio::task::spawn_blocking(move || drop(recorder)).await.unwrap();
        api.stop(true).await.unwrap();
    }
}

async fn keep_up(store: &dyn ClickStore, now: Timestamp) {
    while store.pack(now).await.unwrap().upkeep == Upkeep::More {}
    while store.digest(now).await.unwrap() == Upkeep::More {}
    while store.seal(now).await.unwrap() == Upkeep::More {}
}
