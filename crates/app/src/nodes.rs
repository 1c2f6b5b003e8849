//! The nodes that share a store: what this one tells about itself, and what operators see of all (D69, ADR 91).

use std::time::Duration;

use futures_util::future::join;
use signpost_domain::Timestamp;

use crate::application::Application;
use crate::certificates;
use crate::node_health::{NodeHealth, NotedError, Part, ask_quota_store};
use crate::operator::Operator;
use crate::ports::{
    FAILING_PARTS_REPORTED, FailingPart, HeardReport, HeardReports, NodeId, NodeReport, ReportText,
    StoreError,
};

/// The name of the job that writes reports.
pub(crate) const REPORT_JOB: &str = "report-node";

/// How often a node reports.
pub(crate) const REPORTED_EVERY: Duration = Duration::from_secs(10);

/// After how long without a report a node counts as silent: three reports are missing, and the third one is late by as much as the
/// store may take to answer by default.
const SILENT_AFTER: Duration = REPORTED_EVERY.saturating_mul(3).saturating_add(Duration::from_secs(5));

/// How many nodes operators see at most.
const NODES_SHOWN: u16 = 100;

/// The identity of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThisNode {
    /// Its id, which no other start of a program has.
    pub id: NodeId,
    /// The name of its machine and the port of its link listener, which tells nodes on one machine apart.
    pub host: ReportText,
    /// When it started.
    pub started_at: Timestamp,
}

/// Whether a node is heard from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is the node that answers.
    Here,
    /// It has not been heard from for this long, which is too long. It hangs, has no connection to the store, or ended without removing its
    /// report.
    Silent(Duration),
    /// It was heard from this long ago.
    Heard(Duration),
    /// It has not been heard from for this long, and another node on the same machine and port was first heard from after that: it
    /// was restarted.
    Replaced(Duration),
}

/// A node, as operators see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// What it told.
    pub report: NodeReport,
    /// Whether it is heard from.
    pub presence: Presence,
}

/// The nodes that share the store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// This node, those that are silent, those that are heard from, and those that were replaced.
    pub nodes: Vec<Node>,
    /// How many more have reports, all of them older.
    pub others: u64,
}

/// The nodes that share the store. `None` if this node has it to itself.
///
/// # Errors
/// The store broke.
pub async fn all(app: &Application, _by: &Operator) -> Result<Option<Nodes>, StoreError> {
    let Some(reports) = &app.node_reports else { return Ok(None) };
    let heard = reports.node_reports(NODES_SHOWN).await?;
    // What this node knows about itself is newer than its report.
    let own = own_report(app, failing(&app.health, |_| true));
    Ok(Some(seen(own, app.clock.now(), heard)))
}

/// What this node tells the others. It asks the store that counts requests, if there is one beside the database, so that a node
/// without requests knows of an outage too, and tries its secrets key, which it may not need for weeks. It says nothing of the
/// database and of the job that reports, because a report that arrives shows that both work.
pub(crate) async fn report_of_now(app: &Application) -> NodeReport {
    join(ask_quota_store(app), certificates::note_whether_account_opens(app)).await;
    own_report(
        app,
        failing(&app.health, |part| {
            !matches!(part, Part::Database | Part::DatabaseWrites | Part::Job(REPORT_JOB))
        }),
    )
}

fn own_report(app: &Application, failing: Vec<FailingPart>) -> NodeReport {
    let ThisNode { id, host, started_at } = &app.node;
    NodeReport {
        node: *id,
        host: host.clone(),
        version: ReportText::cut(env!("CARGO_PKG_VERSION")),
        started_at: *started_at,
        failing,
        waiting_clicks: app.health.waiting_clicks(),
    }
}

fn failing(health: &NodeHealth, is_told: impl Fn(Part) -> bool) -> Vec<FailingPart> {
    let told = health.failing().into_iter().filter(|(part, _)| is_told(*part)).take(FAILING_PARTS_REPORTED);
    let in_report = |(part, NotedError { at, text }): (Part, NotedError)| FailingPart {
        part: ReportText::cut(part.name()),
        at,
        error: ReportText::cut(&text),
    };
    told.map(in_report).collect()
}

/// This node, whose report is `own`, and those that the store has heard from.
fn seen(own: NodeReport, now: Timestamp, heard: HeardReports) -> Nodes {
    let HeardReports { newest, others } = heard;
    let own_id = own.node;
    let is_own = |heard: &HeardReport| heard.report.node == own_id;
    // A node that the store does not list judges by its own clock how long it has run.
    let runs_for = || Duration::from_secs(own.started_at.seconds_until(now).into());
    let known_for = newest.iter().find(|heard| is_own(heard)).map_or_else(runs_for, |heard| heard.known_for);
    let live: Vec<(ReportText, Duration)> = newest
        .iter()
        .filter(|heard| heard.age < SILENT_AFTER && !is_own(heard))
        .map(|heard| (heard.report.host.clone(), heard.known_for))
        .chain([(own.host.clone(), known_for)])
        .collect();
    let presence = |HeardReport { report, age, known_for: _ }: &HeardReport| {
        let succeeds = |(host, known_for): &(ReportText, Duration)| *host == report.host && known_for <= age;
        if *age < SILENT_AFTER {
            Presence::Heard(*age)
        } else if live.iter().any(succeeds) {
            Presence::Replaced(*age)
        } else {
            Presence::Silent(*age)
        }
    };
    let mut nodes: Vec<Node> = newest
        .into_iter()
        .filter(|heard| !is_own(heard))
        .map(|heard| Node { presence: presence(&heard), report: heard.report })
        .chain([Node { report: own, presence: Presence::Here }])
        .collect();
    nodes.sort_by_cached_key(|Node { report, presence }| {
        (rank(*presence), report.host.clone(), report.started_at, report.node)
    });
    Nodes { nodes, others }
}

/// The place of a node in the list. Those that are heard from keep their order from look to look.
const fn rank(presence: Presence) -> u8 {
    match presence {
        Presence::Here => 0,
        Presence::Silent(_) => 1,
        Presence::Heard(_) => 2,
        Presence::Replaced(_) => 3,
    }
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    /// The report of a node that was heard from this many seconds ago, and first a day ago.
    fn heard(number: u8, host: &str, started: i64, age: u64) -> HeardReport {
        HeardReport { known_for: Duration::from_hours(24), ..first_heard(number, host, started, age) }
    }

    /// The first report of a node, which was heard this many seconds ago.
    fn first_heard(number: u8, host: &str, started: i64, age: u64) -> HeardReport {
        let age = Duration::from_secs(age);
        HeardReport { report: report(number, host, started), age, known_for: age }
    }

    fn report(number: u8, host: &str, started: i64) -> NodeReport {
        NodeReport {
            node: NodeId::from_bytes([number; 16]),
            host: ReportText::cut(host),
            version: ReportText::cut("1.0.0"),
            started_at: samples::at(started * 1_000),
            failing: Vec::new(),
            waiting_clicks: None,
        }
    }

    /// The numbers of the nodes and whether they are heard from, as node 1 sees them.
    fn listed(newest: Vec<HeardReport>) -> Vec<(u8, Presence)> {
        listed_after(0, newest)
    }

    /// The same when node 1 has run for this many seconds.
    fn listed_after(seconds: i64, newest: Vec<HeardReport>) -> Vec<(u8, Presence)> {
        let own = report(1, "web-1", 0);
        let seen = seen(own, samples::at(seconds * 1_000), HeardReports { newest, others: 7 });
        assert_eq!(seen.others, 7);
        seen.nodes.iter().map(|node| (node.report.node.to_bytes()[0], node.presence)).collect()
    }

    #[test]
    fn d69_a_node_is_silent_when_three_reports_are_missing() {
        let seconds = Duration::from_secs;
        let nodes = vec![heard(3, "web-3", 0, 34), heard(2, "web-2", 0, 35)];
        let expected =
            [(1, Presence::Here), (2, Presence::Silent(seconds(35))), (3, Presence::Heard(seconds(34)))];
        assert_eq!(listed(nodes), expected);
    }

    #[test]
    fn d69_the_nodes_that_are_heard_from_keep_their_order() {
        let nodes = vec![
            heard(4, "web-2", 50, 1),
            heard(3, "web-3", 0, 2),
            heard(2, "web-2", 0, 9),
            heard(1, "web-1", 0, 9),
        ];
        let order: Vec<u8> = listed(nodes).into_iter().map(|(number, _)| number).collect();
        assert_eq!(order, [1, 2, 4, 3]);
    }

    /// When another node started is by that node's clock, and does not count.
    #[test]
    fn d69_a_silent_node_is_replaced_by_one_first_heard_later() {
        let of = |others: Vec<HeardReport>| {
            let silent = heard(2, "web-2", 0, 600);
            let newest = others.into_iter().chain([silent]).collect();
            listed(newest).into_iter().find(|(number, _)| *number == 2).unwrap().1
        };
        let age = Duration::from_mins(10);
        let known_for =
            |node: HeardReport, seconds| HeardReport { known_for: Duration::from_secs(seconds), ..node };
        assert_eq!(of(Vec::new()), Presence::Silent(age));
        for started in [-3_600, 0, 3_600] {
            let live = || heard(3, "web-2", started, 1);
            assert_eq!(of(vec![known_for(live(), 600)]), Presence::Replaced(age), "{started}");
            assert_eq!(of(vec![known_for(live(), 601)]), Presence::Silent(age), "both ran: {started}");
        }
        assert_eq!(of(vec![first_heard(3, "web-3", 0, 1)]), Presence::Silent(age), "another machine");
        assert_eq!(of(vec![first_heard(3, "web-2:8091", 0, 1)]), Presence::Silent(age), "another port");
        assert_eq!(of(vec![first_heard(3, "web-2", 0, 60)]), Presence::Silent(age), "silent itself");
    }

    #[test]
    fn d69_this_node_replaces_others_even_if_its_report_is_old() {
        let of =
            |newest: Vec<HeardReport>| listed(newest).into_iter().find(|(number, _)| *number == 2).unwrap().1;
        let age = Duration::from_hours(1);
        let silent = || heard(2, "web-1", 0, 3_600);
        assert_eq!(of(vec![silent()]), Presence::Replaced(age), "the store does not know this node yet");
        assert_eq!(of(vec![first_heard(1, "web-1", 0, 60), silent()]), Presence::Replaced(age));
        assert_eq!(of(vec![heard(1, "web-1", 0, 1), silent()]), Presence::Silent(age), "both ran");
    }

    #[test]
    fn d69_a_node_outside_the_list_replaces_none_that_ran_beside_it() {
        let after = |seconds| listed_after(seconds, vec![heard(2, "web-1", 0, 3_600)]);
        let age = Duration::from_hours(1);
        assert_eq!(after(3_600), [(1, Presence::Here), (2, Presence::Replaced(age))]);
        assert_eq!(after(3_601), [(1, Presence::Here), (2, Presence::Silent(age))]);
    }

    #[test]
    fn d69_this_node_is_listed_once_and_from_its_own_memory() {
        let mut stored = heard(1, "web-1", 0, 45);
        stored.report.version = ReportText::cut("stored");
        let heard = HeardReports { newest: vec![stored], others: 0 };
        let own = report(1, "web-1", 0);
        let seen = seen(own.clone(), samples::at(0), heard);
        assert_eq!(seen.nodes, [Node { report: own, presence: Presence::Here }]);
    }
}
