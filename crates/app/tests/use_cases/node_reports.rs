//! What nodes tell each other about themselves, for operators (D69, ADR 91).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use signpost_app::background::{Job as _, JobRunner, Progress, ReportNode, jobs};
use signpost_app::certificates::{self, Issuance};
use signpost_app::node_health::{self, Part, WaitingClicks};
use signpost_app::nodes::{self, Node, Presence};
use signpost_app::ports::{
    LeaseHolder, NodeReports, ReportText, Sealer as _, SharedQuotaStore, StoredAuthorityAccount,
};
use signpost_app::{Application, Operator};
use signpost_domain::Email;
use signpost_memory::{FakeCertificateAuthority, Fault, InMemory, MarkingSealer, Step};
use signpost_port_contracts::logs::Log;

const SECOND: Duration = Duration::from_secs(1);

/// A node that shares its store with others, and the runner of its reports.
struct Reporting {
    app: Arc<Application>,
    runner: JobRunner,
}

impl Reporting {
    fn on(memory: &InMemory, host: &str) -> Self {
        Self::with(memory, host, |_| {})
    }

    fn with(memory: &InMemory, host: &str, prepare: impl FnOnce(&mut Application)) -> Self {
        let mut app = memory.application();
        app.node_reports = Some(Arc::new(memory.store.clone()));
        app.node.host = ReportText::cut(host);
        prepare(&mut app);
        let app = Arc::new(app);
        let job = ReportNode::new(Arc::clone(&app)).unwrap();
        let holder = LeaseHolder::from_bytes(app.node.id.to_bytes());
        Self { runner: JobRunner::new(&app, Arc::new(job), holder), app }
    }

    /// Does what is due.
    async fn tick(&mut self) {
        self.runner.tick().await;
        tokio::select! {
            biased;
            () = self.runner.work() => {}
            () = tokio::task::yield_now() => {}
        }
    }

    /// The machines of the nodes that this one sees, and whether they are heard from.
    async fn seen(&self) -> Vec<(String, Presence)> {
        let one = |node: Node| (node.report.host.as_str().to_owned(), node.presence);
        self.nodes().await.into_iter().map(one).collect()
    }

    async fn nodes(&self) -> Vec<Node> {
        nodes::all(&self.app, &Operator::COMMAND).await.unwrap().unwrap().nodes
    }
}

fn entry(host: &str, presence: Presence) -> (String, Presence) {
    (host.to_owned(), presence)
}

#[tokio::test]
async fn d69_nodes_report_every_ten_seconds_until_they_stop() {
    let memory = InMemory::default();
    let [mut one, mut other] = ["web-1", "web-2"].map(|host| Reporting::on(&memory, host));
    assert_eq!(one.seen().await, [entry("web-1", Presence::Here)], "it knows itself before its first report");
    one.tick().await;
    other.tick().await;
    for second in 0..10 {
        let heard = Presence::Heard(SECOND * second);
        assert_eq!(one.seen().await, [entry("web-1", Presence::Here), entry("web-2", heard)]);
        memory.clock.advance(SECOND);
        one.tick().await;
    }
    other.tick().await;
    let heard = Presence::Heard(Duration::ZERO);
    assert_eq!(other.seen().await, [entry("web-2", Presence::Here), entry("web-1", heard)]);
    // It hangs, or has lost its connection.
    memory.clock.advance(SECOND * 35);
    let silent = Presence::Silent(SECOND * 35);
    assert_eq!(one.seen().await, [entry("web-1", Presence::Here), entry("web-2", silent)]);
    other.runner.stop().await;
    assert_eq!(one.seen().await, [entry("web-1", Presence::Here)]);
}

#[tokio::test]
async fn d69_a_killed_node_is_silent_until_it_is_replaced_and_forgotten_after_a_day() {
    let memory = InMemory::default();
    let [mut one, mut killed] = ["web-1", "web-2"].map(|host| Reporting::on(&memory, host));
    killed.tick().await;
    drop(killed);
    memory.clock.advance(SECOND * 40);
    one.tick().await;
    assert_eq!(one.seen().await[1], entry("web-2", Presence::Silent(SECOND * 40)));
    let mut next = Reporting::on(&memory, "web-2");
    next.tick().await;
    let heard = entry("web-2", Presence::Heard(Duration::ZERO));
    let replaced = entry("web-2", Presence::Replaced(SECOND * 40));
    assert_eq!(one.seen().await, [entry("web-1", Presence::Here), heard, replaced]);
    next.runner.stop().await;
    memory.clock.advance(Duration::from_hours(24));
    one.tick().await;
    assert_eq!(one.seen().await, [entry("web-1", Presence::Here)]);
}

/// The store that counts requests, away.
struct Away;

#[async_trait]
impl SharedQuotaStore for Away {
    async fn answers(&self) -> bool {
        false
    }

    fn last_failure(&self) -> Option<(Duration, String)> {
        Some((SECOND, "no route to\nredis".to_owned()))
    }
}

#[tokio::test]
async fn d69_a_report_has_what_fails_and_how_many_clicks_wait() {
    let memory = InMemory::default();
    let one = Reporting::on(&memory, "web-1");
    let mut other = Reporting::with(&memory, "web-2", |app| app.shared_quota = Some(Arc::new(Away)));
    let now = one.app.clock.now();
    let health = Arc::clone(&other.app.health);
    health.fails_with(Part::Job("check-domains"), now, "no answer");
    health.fails_with(Part::ClickStore, now, "no space left");
    health.works(Part::ClickStore, now);
    // A report that arrives shows that these work.
    for part in [Part::Database, Part::DatabaseWrites, Part::Job("report-node")] {
        health.fails_with(part, now, "the database is away");
    }
    let waiting = WaitingClicks { clicks: 3, bytes: 99, oldest: Some(now) };
    health.clicks_wait(waiting);
    other.tick().await;
    let nodes = one.nodes().await;
    let report = &nodes[1].report;
    let failing: Vec<_> =
        report.failing.iter().map(|part| (part.part.as_str(), part.at, part.error.as_str())).collect();
    let redis = ("quota_store", now.minus(SECOND), "no route to redis");
    assert_eq!(failing, [redis, ("check-domains", now, "no answer")]);
    assert_eq!(report.waiting_clicks, Some(waiting));
    assert_eq!(report.started_at, now);
    // It tells operators at its own page what it knows now.
    let own: Vec<_> =
        other.nodes().await.swap_remove(0).report.failing.into_iter().map(|part| part.part).collect();
    assert_eq!(own, ["database", "database_writes", "quota_store", "check-domains"].map(ReportText::cut));
}

/// The directory of the authority.
const DIRECTORY: &str = "https://fake.example.net/directory";

/// How a node gets certificates that has the secrets key of this number.
fn issuance(memory: &InMemory, key: u8) -> Issuance {
    Issuance {
        authority: Arc::new(FakeCertificateAuthority::new(memory.clock.clone())),
        directory: DIRECTORY.to_owned(),
        contact: Email::parse("ada@example.com").unwrap(),
        sealer: Arc::new(MarkingSealer::of(key)),
        own_names: Vec::new(),
    }
}

#[tokio::test]
async fn d192_a_node_with_another_secrets_key_reports_it_until_a_reset() {
    let memory = InMemory::default();
    let with_key = |key| {
        let host = format!("web-{key}");
        Reporting::with(&memory, &host, |app| app.issuance = Some(issuance(&memory, key)))
    };
    let [watching, first, other] = [Reporting::on(&memory, "web-0"), with_key(1), with_key(2)];
    // The node and the part of everything that is reported to fail.
    let failing = async || {
        for node in [&first, &other] {
            ReportNode::new(Arc::clone(&node.app)).unwrap().step().await.unwrap();
        }
        let told = |node: Node| {
            let host = node.report.host;
            node.report.failing.into_iter().map(move |failing| [host.clone(), failing.part])
        };
        watching.nodes().await.into_iter().flat_map(told).collect::<Vec<_>>()
    };
    assert!(failing().await.is_empty(), "there is no account yet");
    let credentials = MarkingSealer::of(1).seal(&format!("account {DIRECTORY}"), b"secret").unwrap();
    let account = StoredAuthorityAccount { uri: "https://ca.example.net/1".to_owned(), credentials };
    watching.app.store.keep_authority_account(DIRECTORY, &account).await.unwrap();
    assert_eq!(failing().await, [["web-2", "secrets_key"].map(ReportText::cut)]);
    // An outage says nothing about keys.
    let noted = other.app.health.of(Part::SecretsKey);
    assert!(noted.is_failing);
    memory.store.faults().set_unavailable(true);
    node_health::report(&other.app, &Operator::COMMAND).await;
    memory.store.faults().set_unavailable(false);
    assert_eq!(other.app.health.of(Part::SecretsKey), noted);
    certificates::reset(&watching.app, DIRECTORY).await.unwrap();
    assert!(failing().await.is_empty());
}

#[tokio::test]
async fn d69_old_reports_are_deleted_a_hundred_at_a_time() {
    let memory = InMemory::default();
    for _ in 0..150 {
        Reporting::on(&memory, "web-2").tick().await;
    }
    let one = Reporting::on(&memory, "web-1");
    let all = nodes::all(&one.app, &Operator::COMMAND).await.unwrap().unwrap();
    assert_eq!((all.nodes.len(), all.others), (101, 50), "at most a hundred others are listed");
    memory.clock.advance(Duration::from_hours(24));
    let job = ReportNode::new(Arc::clone(&one.app)).unwrap();
    assert_eq!(job.step().await.unwrap(), Progress::More);
    assert_eq!(job.step().await.unwrap(), Progress::Done);
    assert_eq!(memory.store.node_reports(9).await.unwrap().newest.len(), 1);
}

/// It writes nothing into the file every ten seconds.
#[tokio::test]
async fn d69_a_node_that_has_its_store_to_itself_reports_nothing() {
    let memory = InMemory::default();
    let alone = Arc::new(memory.application());
    assert_eq!(nodes::all(&alone, &Operator::COMMAND).await.unwrap(), None);
    let names = |app: &Arc<Application>| jobs(app).iter().any(|job| job.name() == "report-node");
    assert!(!names(&alone));
    assert!(names(&Reporting::on(&memory, "web-1").app));
}

#[tokio::test]
async fn a_report_that_cannot_be_removed_is_logged() {
    let log = Log::begin();
    let memory = InMemory::default();
    let mut one = Reporting::on(&memory, "web-1");
    one.tick().await;
    memory.store.faults().fail_next(Step::Report, Fault::Unavailable, 1);
    one.runner.stop().await;
    assert_eq!(log.count("background work could not be ended in order"), 1);
    assert_eq!(memory.store.node_reports(9).await.unwrap().newest.len(), 1);
}
