//! The health of this node, and the list of all nodes (D63, D69).

use actix_web::HttpResponse;
use signpost_app::node_health::{Condition, OwnHealth, Part, WaitingClicks, refusals, report};
use signpost_app::nodes::{self, Node, Nodes, Presence};
use signpost_app::ports::{FailingPart, NodeReport, RefusalCount, Refused, StoreError};
use signpost_app::with_causes;
use signpost_domain::Preferences;

use super::{WORDS, operator};
use crate::answer::page;
use crate::curl;
use crate::failure::Failure;
use crate::frame::own_shell;
use crate::local_time::{number, to_the_second};
use crate::views::{HealthRow, NavItem, NodeList, NodeRow, OperatorHealthPage};
use crate::visit::Visit;

/// `GET /operator/health`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let preferences = &signed_in.user().preferences;
    let OwnHealth { parts, jobs, waiting_clicks, is_draining, serves_links } =
        report(visit.app(), &operator).await;
    let failing = parts.iter().chain(&named(&jobs)).filter(|(_, condition)| condition.is_failing).count();
    let state = if is_draining {
        (WORDS.draining.to_owned(), true)
    } else if !serves_links {
        (WORDS.serves_nothing.to_owned(), true)
    } else if failing > 0 {
        ((WORDS.some_fail)(failing), true)
    } else {
        (WORDS.all_works.to_owned(), false)
    };
    let facts = vec![
        (WORDS.version, env!("CARGO_PKG_VERSION").to_owned()),
        (WORDS.now, to_the_second(visit.app().clock.now(), preferences)),
        (WORDS.waiting_clicks, in_spool(waiting_clicks, preferences)),
    ];
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::Health, WORDS.health);
    shell.curl = vec![
        curl::program(WORDS.command_health, &["health", "ready"]),
        curl::program(WORDS.command_check, &["check"]),
        curl::program(WORDS.command_certificates, &["certificate", "list"]),
    ];
    let refusals = refusals(visit.app(), &operator);
    let all = nodes::all(visit.app(), &operator).await;
    page(&OperatorHealthPage {
        refusals: refusals.map(|counts| counts.iter().map(in_words).collect()),
        state,
        warnings: warnings_of_others(&all).collect(),
        nodes: list(all, preferences),
        facts,
        parts: parts.iter().map(|(part, condition)| row(*part, condition, preferences)).collect(),
        jobs: named(&jobs).iter().map(|(part, condition)| row(*part, condition, preferences)).collect(),
        shell,
    })
}

/// What needs attention on other nodes.
fn warnings_of_others(all: &Result<Option<Nodes>, StoreError>) -> impl Iterator<Item = String> {
    let count = |is_counted: fn(&Node) -> bool| match all {
        Ok(Some(all)) => all.nodes.iter().filter(|node| is_counted(node)).count(),
        Ok(None) | Err(_) => 0,
    };
    let silent = count(|node| matches!(node.presence, Presence::Silent(_)));
    let failing =
        count(|node| matches!(node.presence, Presence::Heard(_)) && !node.report.failing.is_empty());
    let said = [(silent, WORDS.nodes_silent), (failing, WORDS.nodes_fail)];
    said.into_iter().filter(|(count, _)| *count > 0).map(|(count, sentence)| sentence(count))
}

/// The list of all nodes. `None` if there is only this one.
fn list(all: Result<Option<Nodes>, StoreError>, preferences: &Preferences) -> Option<NodeList> {
    match all {
        Ok(None) => None,
        Ok(Some(Nodes { nodes, others })) => {
            let rows = nodes.iter().map(|node| node_row(node, preferences)).collect();
            let note = (others > 0).then(|| (WORDS.more_nodes)(&number(others)));
            Some(NodeList { rows, note: note.unwrap_or_default() })
        }
        Err(error) => Some(NodeList { rows: Vec::new(), note: (WORDS.no_nodes)(&with_causes(&error)) }),
    }
}

fn node_row(Node { report, presence }: &Node, preferences: &Preferences) -> NodeRow {
    let NodeReport { node: _, host, version, started_at, failing, waiting_clicks } = report;
    let fails = !failing.is_empty();
    let (state, heard) = match *presence {
        Presence::Here => (if fails { WORDS.fails } else { WORDS.works }, String::new()),
        Presence::Heard(age) => {
            (if fails { WORDS.fails } else { WORDS.works }, (WORDS.node_heard)(&(WORDS.age)(age.as_secs())))
        }
        Presence::Silent(age) => (WORDS.silent, (WORDS.node_not_heard)(&(WORDS.age)(age.as_secs()))),
        Presence::Replaced(age) => (WORDS.replaced, (WORDS.node_replaced)(&(WORDS.age)(age.as_secs()))),
    };
    let waiting = waiting_clicks.filter(|waiting| waiting.clicks > 0);
    let waiting = waiting.map(|waiting| (WORDS.node_clicks)(&in_spool(Some(waiting), preferences)));
    let of_part = |FailingPart { part, at, error }: &FailingPart| {
        let name = (WORDS.reported_part)(part.as_str());
        ((WORDS.node_error)(&name, &to_the_second(*at, preferences)), error.as_str().to_owned())
    };
    NodeRow {
        name: host.as_str().to_owned(),
        is_here: *presence == Presence::Here,
        state,
        is_silent: matches!(presence, Presence::Silent(_)),
        is_failing: fails && matches!(presence, Presence::Here | Presence::Heard(_)),
        what: std::iter::once((WORDS.node_facts)(version.as_str(), &to_the_second(*started_at, preferences)))
            .chain(waiting)
            .collect::<Vec<_>>()
            .join(" "),
        heard,
        failing: failing.iter().map(of_part).collect(),
    }
}

/// The clicks that wait on a node, in words.
fn in_spool(waiting: Option<WaitingClicks>, preferences: &Preferences) -> String {
    const KILOBYTE: u64 = 1024;
    match waiting {
        None => WORDS.records_no_clicks.to_owned(),
        Some(WaitingClicks { clicks: 0, .. }) => WORDS.no_waiting_clicks.to_owned(),
        Some(WaitingClicks { clicks, bytes, oldest }) => {
            let size = format!("{} KB", number(bytes.div_ceil(KILOBYTE)));
            let counted = (WORDS.waiting_clicks_of)(&number(clicks), &size);
            let since = oldest.map(|oldest| (WORDS.waiting_since)(&to_the_second(oldest, preferences)));
            std::iter::once(counted).chain(since).collect::<Vec<_>>().join(", ")
        }
    }
}

/// What was refused and why, and how often.
fn in_words(count: &RefusalCount) -> (String, String) {
    let RefusalCount { refused, reason, times } = count;
    let what = match refused {
        Refused::ApiRequests => (WORDS.refused_api)(reason),
        Refused::Visits => (WORDS.refused_visits)(reason).map_or_else(|| reason.clone(), str::to_owned),
        Refused::SignIns => WORDS.refused_sign_ins.to_owned(),
        Refused::DashboardRequests => WORDS.refused_dashboard.to_owned(),
    };
    (what, number(*times))
}

fn named(jobs: &[(&'static str, Condition)]) -> Vec<(Part, Condition)> {
    jobs.iter().map(|(name, condition)| (Part::Job(name), condition.clone())).collect()
}

fn row(part: Part, condition: &Condition, preferences: &Preferences) -> HealthRow {
    let Condition { worked_at, last_error, is_failing, holds_lease } = condition;
    let (name, what) = (WORDS.part)(part);
    let state = match (is_failing, worked_at, holds_lease) {
        (true, ..) => WORDS.fails,
        (false, _, Some(false)) => WORDS.other_node,
        (false, Some(_), _) => WORDS.works,
        (false, None, _) => WORDS.unused,
    };
    HealthRow {
        name: name.to_owned(),
        what,
        state,
        is_failing: *is_failing,
        worked: worked_at.map_or_else(
            || WORDS.not_yet.to_owned(),
            |at| (WORDS.worked_at)(&to_the_second(at, preferences)),
        ),
        last_error: last_error
            .as_ref()
            .map(|error| (error.text.clone(), to_the_second(error.at, preferences))),
    }
}
