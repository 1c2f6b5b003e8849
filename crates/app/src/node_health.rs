//! What this node has noticed about the parts that it depends on since it started: when each last worked, and the last error of
//! each, for operators. Other nodes tell theirs in reports (`nodes.rs`).

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::future::join4;
use signpost_domain::{CaaRecord, HostResolution, Hostname, TextResolution, Timestamp};

use crate::application::Application;
use crate::causes::with_causes;
use crate::certificates;
use crate::operator::Operator;
pub use crate::ports::WaitingClicks;
use crate::ports::{Clock, DnsProvider, DnsUnavailable, LONGEST_REPORT_TEXT, RefusalCount};

/// A part that can fail on its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Reading the database.
    Database,
    /// Writing to the database.
    DatabaseWrites,
    /// The store that counts requests for all nodes, if it is not the database.
    QuotaStore,
    /// Following the changes of other nodes and of commands.
    ChangeLog,
    /// Sending recorded clicks to the click store.
    ClickStore,
    /// The folder in which clicks wait for the click store.
    ClickSpool,
    /// The name servers.
    Dns,
    /// Orders and renewals at the certificate authority.
    Certificates,
    /// The secrets key, which has to open what other nodes have stored (D192).
    SecretsKey,
    /// A background job of this name.
    Job(&'static str),
}

impl Part {
    /// All parts but the jobs.
    pub const SERVICES: [Self; 9] = [
        Self::Database,
        Self::DatabaseWrites,
        Self::QuotaStore,
        Self::ChangeLog,
        Self::ClickStore,
        Self::ClickSpool,
        Self::Dns,
        Self::Certificates,
        Self::SecretsKey,
    ];

    /// Its name in the reports of nodes. It never changes, since nodes of two versions read them. A job has its own name, which no
    /// other part has.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::DatabaseWrites => "database_writes",
            Self::QuotaStore => "quota_store",
            Self::ChangeLog => "change_log",
            Self::ClickStore => "click_store",
            Self::ClickSpool => "click_spool",
            Self::Dns => "dns",
            Self::Certificates => "certificates",
            Self::SecretsKey => "secrets_key",
            Self::Job(name) => name,
        }
    }
}

/// How a part has done so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Condition {
    /// When it last worked. `None` if it has not yet.
    pub worked_at: Option<Timestamp>,
    /// The last error, also if the part has worked since.
    pub last_error: Option<NotedError>,
    /// Whether the last error is newer than the last success.
    pub is_failing: bool,
    /// For a job that one node does at a time: whether this node does it. `None` for everything else.
    pub holds_lease: Option<bool>,
}

impl Condition {
    fn fails(&mut self, now: Timestamp, text: &str) {
        let text = text.chars().take(LONGEST_REPORT_TEXT).collect();
        self.last_error = Some(NotedError { at: now, text });
        self.is_failing = true;
    }
}

/// An error, and when it occurred.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedError {
    /// When.
    pub at: Timestamp,
    /// What happened, with its causes.
    pub text: String,
}

/// The conditions of this node's parts.
#[derive(Debug, Default)]
pub struct NodeHealth {
    parts: Mutex<BTreeMap<Part, Condition>>,
    waiting_clicks: Mutex<Option<WaitingClicks>>,
}

impl NodeHealth {
    /// Notes that a part works.
    pub fn works(&self, part: Part, now: Timestamp) {
        self.change(part, |condition| {
            condition.worked_at = Some(now);
            condition.is_failing = false;
        });
    }

    /// Notes an error of a part.
    pub fn fails(&self, part: Part, now: Timestamp, error: &(dyn Error + 'static)) {
        self.fails_with(part, now, &with_causes(error));
    }

    /// Notes an error of a part in these words, as much of them as a report has room for.
    pub fn fails_with(&self, part: Part, now: Timestamp, text: &str) {
        self.change(part, |condition| condition.fails(now, text));
    }

    /// Like [`fails_with`](Self::fails_with), unless the part fails already: its first error says more than these words.
    pub fn still_fails(&self, part: Part, now: Timestamp, text: &str) {
        self.change(part, |condition| {
            if !condition.is_failing {
                condition.fails(now, text);
            }
        });
    }

    /// Notes what became of a call to a part, and returns it.
    pub fn noted<T, E: Error + 'static>(
        &self,
        part: Part,
        now: Timestamp,
        outcome: Result<T, E>,
    ) -> Result<T, E> {
        match &outcome {
            Ok(_) => self.works(part, now),
            Err(error) => self.fails(part, now, error),
        }
        outcome
    }

    /// Notes how many clicks wait now.
    pub fn clicks_wait(&self, waiting: WaitingClicks) {
        *self.waiting_clicks.lock().unwrap_or_else(PoisonError::into_inner) = Some(waiting);
    }

    /// The clicks that waited a moment ago. `None` if this node records none.
    #[must_use]
    pub fn waiting_clicks(&self) -> Option<WaitingClicks> {
        *self.waiting_clicks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that this node does a job of every node.
    pub(crate) fn does_job_without_lease(&self, job: &'static str) {
        self.change(Part::Job(job), |condition| condition.holds_lease = None);
    }

    /// Notes that this node has taken the lease of a job.
    pub(crate) fn took_over_job(&self, job: &'static str) {
        self.change(Part::Job(job), |condition| {
            condition.holds_lease = Some(true);
            condition.is_failing = false;
        });
    }

    /// Notes that this node waits for the lease of a job. Another node may hold it.
    pub(crate) fn waits_for_job(&self, job: &'static str) {
        self.change(Part::Job(job), |condition| {
            condition.holds_lease = Some(false);
            condition.is_failing = false;
        });
    }

    /// Notes that this node no longer does a job. Whether another node does it is unknown, so a job that failed still fails.
    pub(crate) fn gave_up_job(&self, job: &'static str) {
        self.change(Part::Job(job), |condition| condition.holds_lease = Some(false));
    }

    /// The jobs that this node runs, by name.
    #[must_use]
    pub fn jobs(&self) -> Vec<(&'static str, Condition)> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let job = |(part, condition): (&Part, &Condition)| match part {
            Part::Job(name) => Some((*name, condition.clone())),
            Part::Database
            | Part::DatabaseWrites
            | Part::QuotaStore
            | Part::ChangeLog
            | Part::ClickStore
            | Part::ClickSpool
            | Part::Dns
            | Part::Certificates
            | Part::SecretsKey => None,
        };
        parts.iter().filter_map(job).collect()
    }

    /// What fails at present, with its last error.
    #[must_use]
    pub fn failing(&self) -> Vec<(Part, NotedError)> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let failing = parts.iter().filter(|(_, condition)| condition.is_failing);
        failing.filter_map(|(part, condition)| Some((*part, condition.last_error.clone()?))).collect()
    }

    /// The condition of a part. A part that was not used yet has no success and no error.
    #[must_use]
    pub fn of(&self, part: Part) -> Condition {
        self.parts.lock().unwrap_or_else(PoisonError::into_inner).get(&part).cloned().unwrap_or_default()
    }

    fn change(&self, part: Part, change: impl FnOnce(&mut Condition)) {
        // The lock cannot be poisoned: nothing panics while it is held.
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        change(parts.entry(part).or_default());
    }
}

/// What operators see of this node.
#[derive(Debug, Clone)]
pub struct OwnHealth {
    /// The parts that this node depends on.
    pub parts: Vec<(Part, Condition)>,
    /// The background jobs, by name.
    pub jobs: Vec<(&'static str, Condition)>,
    /// The clicks that wait on this node. `None` if it records none.
    pub waiting_clicks: Option<WaitingClicks>,
    /// Whether the program was asked to stop.
    pub is_draining: bool,
    /// Whether visitors are served, from the store or from memory.
    pub serves_links: bool,
}

/// Asks the stores now, and adds what was noted since the start of the program.
pub async fn report(app: &Application, _by: &Operator) -> OwnHealth {
    let (read, written, has_quota_store, ()) = join4(
        app.store.check(),
        app.store.check_writes(),
        ask_quota_store(app),
        certificates::note_whether_account_opens(app),
    )
    .await;
    let (health, now) = (&app.health, app.clock.now());
    let reads = health.noted(Part::Database, now, read).is_ok();
    let _ = health.noted(Part::DatabaseWrites, now, written);
    let mut parts = vec![Part::Database, Part::DatabaseWrites, Part::ChangeLog];
    if has_quota_store {
        parts.push(Part::QuotaStore);
    }
    parts.extend([Part::ClickStore, Part::ClickSpool, Part::Dns]);
    if app.issuance.is_some() {
        parts.extend([Part::Certificates, Part::SecretsKey]);
    }
    OwnHealth {
        parts: parts.into_iter().map(|part| (part, health.of(part))).collect(),
        jobs: health.jobs(),
        waiting_clicks: health.waiting_clicks(),
        is_draining: app.lifecycle.is_draining(),
        serves_links: reads || app.link_memory.can_serve(Instant::now()),
    }
}

/// Asks the store that counts requests, and notes how it does. Returns whether there is one: otherwise the database counts them.
pub(crate) async fn ask_quota_store(app: &Application) -> bool {
    let Some(shared) = &app.shared_quota else { return false };
    let answers = shared.answers().await;
    let (health, now) = (&app.health, app.clock.now());
    if let Some((age, text)) = shared.last_failure() {
        let millis = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let at = Timestamp::from_unix_millis(now.unix_millis().saturating_sub(millis)).unwrap_or(now);
        health.fails_with(Part::QuotaStore, at, &text);
    }
    if answers {
        health.works(Part::QuotaStore, now);
    }
    true
}

/// Name servers whose answers are noted.
pub struct NotedDns {
    dns: Arc<dyn DnsProvider>,
    health: Arc<NodeHealth>,
    clock: Arc<dyn Clock>,
}

impl NotedDns {
    /// Notes what becomes of calls to `dns`.
    #[must_use]
    pub const fn new(dns: Arc<dyn DnsProvider>, health: Arc<NodeHealth>, clock: Arc<dyn Clock>) -> Self {
        Self { dns, health, clock }
    }

    fn noted<T>(&self, outcome: Result<T, DnsUnavailable>) -> Result<T, DnsUnavailable> {
        self.health.noted(Part::Dns, self.clock.now(), outcome)
    }
}

#[async_trait]
impl DnsProvider for NotedDns {
    async fn txt_records(&self, name: &str) -> Result<TextResolution, DnsUnavailable> {
        self.noted(self.dns.txt_records(name).await)
    }

    async fn resolution(&self, hostname: &Hostname) -> Result<HostResolution, DnsUnavailable> {
        self.noted(self.dns.resolution(hostname).await)
    }

    async fn caa_records(&self, name: &str) -> Result<Vec<CaaRecord>, DnsUnavailable> {
        self.noted(self.dns.caa_records(name).await)
    }
}

/// What this node has refused since it started. `None` if it records no metrics.
#[must_use]
pub fn refusals(app: &Application, _by: &Operator) -> Option<Vec<RefusalCount>> {
    app.refusals.as_ref().map(|refusals| refusals.since_start())
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("{0}")]
    struct Broken(String);

    #[test]
    fn d69_a_job_that_another_node_does_does_not_fail_here() {
        let health = NodeHealth::default();
        health.took_over_job("check-domains");
        health.fails_with(Part::Job("check-domains"), samples::at(1), "the store is away");
        health.gave_up_job("check-domains");
        assert!(health.jobs()[0].1.is_failing);
        health.waits_for_job("check-domains");
        let (_, condition) = &health.jobs()[0];
        assert!(!condition.is_failing && condition.last_error.is_some(), "{condition:?}");
    }

    #[test]
    fn d69_the_last_error_stays_after_the_part_works_again() {
        let health = NodeHealth::default();
        assert_eq!(health.of(Part::Dns), Condition::default());
        health.fails(Part::Dns, samples::at(1), &Broken("no answer".to_owned()));
        assert!(health.of(Part::Dns).is_failing);
        health.works(Part::Dns, samples::at(2));
        let condition = health.of(Part::Dns);
        assert_eq!((condition.is_failing, condition.worked_at), (false, Some(samples::at(2))));
        let error = NotedError { at: samples::at(1), text: "no answer".to_owned() };
        assert_eq!(condition.last_error, Some(error));
        assert_eq!(health.of(Part::Job("check-domains")), Condition::default(), "parts are separate");
    }

    #[test]
    fn d69_what_fails_is_listed_with_its_last_error() {
        let health = NodeHealth::default();
        health.fails_with(Part::Dns, samples::at(1), "no answer");
        health.fails_with(Part::Job("check-domains"), samples::at(2), "the store is away");
        health.fails_with(Part::ClickStore, samples::at(3), "no space left");
        health.works(Part::ClickStore, samples::at(4));
        let names: Vec<_> =
            health.failing().into_iter().map(|(part, error)| (part.name(), error.text)).collect();
        assert_eq!(
            names,
            [("dns", "no answer".to_owned()), ("check-domains", "the store is away".to_owned())]
        );
    }

    #[test]
    fn d69_names_of_parts_differ() {
        let names: std::collections::BTreeSet<_> = Part::SERVICES.into_iter().map(Part::name).collect();
        assert_eq!(names.len(), Part::SERVICES.len());
        // Names of jobs have hyphens.
        assert!(names.iter().all(|name| !name.contains('-')), "{names:?}");
    }

    #[test]
    fn d69_a_long_error_is_cut() {
        let health = NodeHealth::default();
        health.fails(Part::Database, samples::at(1), &Broken("é".repeat(5_000)));
        let text = health.of(Part::Database).last_error.map(|error| error.text);
        assert_eq!(text.map(|text| text.chars().count()), Some(LONGEST_REPORT_TEXT));
    }
}
