//! The health of this node (D63, D69).

use actix_web::HttpResponse;
use signpost_app::node_health::{Condition, NodeReport, Part, WaitingClicks, refusals, report};
use signpost_app::ports::{RefusalCount, Refused};
use signpost_domain::Preferences;

use super::{WORDS, operator};
use crate::answer::page;
use crate::curl;
use crate::failure::Failure;
use crate::frame::own_shell;
use crate::local_time::{date_and_time, number};
use crate::views::{HealthRow, NavItem, OperatorHealthPage};
use crate::visit::Visit;

/// `GET /operator/health`
pub(crate) async fn show(visit: Visit) -> Result<HttpResponse, Failure> {
    let (signed_in, operator) = operator(&visit, &visit.here()).await?;
    let preferences = &signed_in.user().preferences;
    let NodeReport { parts, jobs, waiting_clicks, is_draining, serves_links, has_other_secrets_key } =
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
        (WORDS.now, date_and_time(visit.app().clock.now(), preferences)),
        (WORDS.waiting_clicks, in_spool(waiting_clicks, preferences)),
    ];
    let mut shell = own_shell(&visit, signed_in.user(), NavItem::Health, WORDS.health);
    shell.curl = vec![
        curl::program(WORDS.command_health, &["health", "ready"]),
        curl::program(WORDS.command_check, &["check"]),
        curl::program(WORDS.command_certificates, &["certificate", "list"]),
    ];
    let refusals = refusals(visit.app(), &operator);
    page(&OperatorHealthPage {
        refusals: refusals.map(|counts| counts.iter().map(in_words).collect()),
        state,
        warnings: if has_other_secrets_key { vec![WORDS.other_secrets_key] } else { Vec::new() },
        facts,
        parts: parts.iter().map(|(part, condition)| row(*part, condition, preferences)).collect(),
        jobs: named(&jobs).iter().map(|(part, condition)| row(*part, condition, preferences)).collect(),
        shell,
    })
}

/// The clicks that wait on this node, in words.
fn in_spool(waiting: Option<WaitingClicks>, preferences: &Preferences) -> String {
    const KILOBYTE: u64 = 1024;
    match waiting {
        None => WORDS.records_no_clicks.to_owned(),
        Some(WaitingClicks { clicks: 0, .. }) => WORDS.no_waiting_clicks.to_owned(),
        Some(WaitingClicks { clicks, bytes, oldest }) => {
            let size = format!("{} KB", number(bytes.div_ceil(KILOBYTE)));
            let counted = (WORDS.waiting_clicks_of)(&number(clicks), &size);
            let since = oldest.map(|oldest| (WORDS.waiting_since)(&date_and_time(oldest, preferences)));
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
            |at| (WORDS.worked_at)(&date_and_time(at, preferences)),
        ),
        last_error: last_error
            .as_ref()
            .map(|error| (error.text.clone(), date_and_time(error.at, preferences))),
    }
}
