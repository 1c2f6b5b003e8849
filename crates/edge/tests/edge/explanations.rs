//! Explanations say what visits get (D136): one table of links and visitors for both, and what explanations leave alone.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use signpost_app::explain::{
    Check, Explanation, StepResult, VisitFacts, VisitHeader, VisitOutcome, VisitedUrl,
};
use signpost_app::ports::{ChangeLog, ClickTaking, Insertion, LinkReads, ReadChanges, Store};
use signpost_domain::{DomainFiles, DomainUrls, Redirect};
use signpost_port_contracts::samples;

use crate::explained_cases::{
    BEGIN, BOT, CLOSED, CUSTOM, Case, END, FALLBACK, PREVIEWER, TARGET, cases, explain, explained_visit,
    germany, limit, visitors, with_countries,
};
use crate::harness::{ACTIVE, Answer, Edge, HOST, redirect_to};
use crate::rules::{COMPUTER, DEFAULT, PHONE, RULED, ruled};
use crate::site_settings::configure;

/// The outcome that the answer to a visit looks like.
fn outcome(answer: &Answer) -> Vec<VisitOutcome> {
    let is_form = answer.header("x-robots-tag") == Some("noindex");
    match (answer.status, answer.header("location")) {
        (301 | 307 | 308, Some(_)) => vec![VisitOutcome::Redirect],
        // To the target, or to where those are sent for whom nothing opens.
        (302, Some(_)) => vec![VisitOutcome::Redirect, VisitOutcome::Expired, VisitOutcome::NotFound],
        (200, None) if is_form => vec![VisitOutcome::Password],
        (200, None) if answer.body.contains("fbq(") => vec![VisitOutcome::Redirect],
        (200, None) if answer.body.contains("og:title") && answer.body.contains("A card") => {
            vec![VisitOutcome::Preview]
        }
        (200, None) => vec![VisitOutcome::Page],
        (403, None) => vec![VisitOutcome::Blocked],
        (404, None) => vec![VisitOutcome::NotFound],
        (410, None) => vec![VisitOutcome::Expired],
        (503, None) => vec![VisitOutcome::Unavailable],
        _ => panic!("{answer:?}"),
    }
}

/// Where the answer to a visit sends its visitor. A page of pixels has the target as browsers follow it.
fn location(answer: &Answer) -> Option<String> {
    let of_page = || {
        let (_, rest) =
            answer.body.split_once("content=\"0; url=").filter(|_| answer.body.contains("fbq("))?;
        Some(rest.split_once('"')?.0.replace("&amp;", "&").replace("&#38;", "&"))
    };
    answer.header("location").map(str::to_owned).or_else(of_page)
}

#[track_caller]
fn is_well_formed(explanation: &Explanation, context: &str) {
    let Explanation { outcome, rule, steps, .. } = explanation;
    assert_eq!(steps.iter().map(|step| step.check).collect::<Vec<_>>(), Check::ALL, "{context}");
    let results: Vec<StepResult> = steps.iter().map(|step| step.result).collect();
    let passed = results.iter().take_while(|result| **result == StepResult::Pass).count();
    let is_sent_on = matches!(outcome, VisitOutcome::Redirect | VisitOutcome::Page);
    assert_eq!(passed == results.len(), is_sent_on, "{context}: {explanation:?}");
    assert!(is_sent_on || results[passed] == StepResult::Stop, "{context}: {explanation:?}");
    let skipped = results.iter().skip(passed + 1).all(|result| *result == StepResult::Skip);
    assert!(skipped, "{context}: {explanation:?}");
    assert!(rule.is_none() || *outcome == VisitOutcome::Redirect, "{context}");
    assert!(steps.iter().all(|step| step.reason.len() > 10), "{context}: {explanation:?}");
}

/// Every link and every visitor of the table, before, between and after the dates: the explanation, made before the visit with the clock
/// at another time, says what the visit gets.
#[tokio::test(flavor = "multi_thread")]
async fn d136_an_explanation_says_what_the_visit_gets() {
    let edge = with_countries().await;
    let cases = cases(&edge).await;
    let mut seen = BTreeSet::new();
    for Case { link, host, path } in &cases {
        for (lines, query, facts) in &visitors() {
            for now in [BEGIN - 1, BEGIN, END - 1, END] {
                let context = format!("{host}{path}{query} {lines:?} at {now}");
                edge.memory.clock.set(samples::at(500_000));
                let explanation = explain(&edge, link, facts, samples::at(now)).await;
                edge.memory.clock.set(samples::at(now));
                let answer =
                    edge.request_with("GET", &format!("{path}{query}"), &format!("Host: {host}\r\n{lines}"));
                let found = (explanation.status, explanation.location.clone());
                assert_eq!(
                    found,
                    (answer.status, location(&answer)),
                    "{context}: {explanation:?} {answer:?}"
                );
                assert!(
                    outcome(&answer).contains(&explanation.outcome),
                    "{context}: {explanation:?} {answer:?}"
                );
                is_well_formed(&explanation, &context);
                seen.insert(explanation.outcome);
            }
        }
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), VisitOutcome::ALL, "the table has every outcome");
}

/// Explanations leave no trace: no click, no used click of a limit, no entry in the store's log of changes, and no change for visitors.
#[tokio::test(flavor = "multi_thread")]
async fn d136_an_explanation_leaves_no_trace() {
    let edge = with_countries().await;
    let cases = cases(&edge).await;
    let store = &edge.memory.store;
    let reads = store.link_reads().count();
    let before = store.end_of_changes().await.unwrap();
    for Case { link, .. } in &cases {
        for (_, _, facts) in &visitors() {
            explain(&edge, link, facts, samples::at(BEGIN)).await;
        }
    }
    assert!(store.link_reads().count() > reads);
    let unchanged = ReadChanges::These { changes: Vec::new(), position: before };
    assert_eq!(store.changes_since(before, 1_000).await.unwrap(), unchanged);
    let limited = cases.iter().find(|case| case.path == "/limited").unwrap().link.id();
    let stored = store.link(edge.account, limited).await.unwrap().unwrap().into_redirect().unwrap();
    assert_eq!(stored.content.click_limit.unwrap().left(), 1_000, "no node has taken clicks");
    assert_eq!(edge.clicks().await, []);
}

/// The one link of a visitor for each check, and what its step says.
#[tokio::test(flavor = "multi_thread")]
async fn d136_each_check_says_why_it_stops_a_visit() {
    let edge = with_countries().await;
    let cases = cases(&edge).await;
    let people = VisitFacts::default;
    let by = |agent: &str| VisitFacts { user_agent: VisitHeader::parse(agent).ok(), ..people() };
    for (path, facts, now, check, part) in [
        ("/inactive", people(), 0, Check::Existence, "inactive"),
        ("/listed", people(), 0, Check::Existence, "operator's list"),
        ("/loop", people(), 0, Check::Existence, "never ends"),
        ("/chain-to-inactive", people(), 0, Check::Existence, "leads to a link that is inactive"),
        ("/dated", people(), 0, Check::Start, "begins at 2026-01-31T09:05:08.042Z"),
        ("/dated", people(), END, Check::End, "ended at 2026-01-31T09:05:09.042Z"),
        ("/fallback", people(), END, Check::End, FALLBACK),
        ("/used-up", people(), 0, Check::End, "no click left of its limit of 5"),
        ("/people", by(BOT), 0, Check::Antibot, "curl"),
        ("/chain", by(""), 0, Check::Antibot, "or of one that it leads to"),
        ("/blocked", VisitFacts { country: Some(germany()), ..people() }, 0, Check::Country, "from DE"),
        ("/card", by(PREVIEWER), 0, Check::Preview, "card"),
        ("/limited-card", by(PREVIEWER), 0, Check::Preview, "card"),
        ("/secret", people(), 0, Check::Password, "form"),
        ("/limited", by(BOT), 0, Check::Credit, "bot"),
    ] {
        let case = cases.iter().find(|case| case.path == path).unwrap();
        let explanation = explain(&edge, &case.link, &facts, samples::at(now)).await;
        let stop = explanation.steps.iter().find(|step| step.result == StepResult::Stop);
        let stop = stop.unwrap_or_else(|| panic!("{path}: {explanation:?}"));
        assert_eq!(stop.check, check, "{path}: {explanation:?}");
        assert!(stop.reason.contains(part), "{path}: {explanation:?}");
    }
    let closed = cases.iter().find(|case| case.host == CLOSED).unwrap();
    let explanation = explain(&edge, &closed.link, &people(), samples::at(0)).await;
    assert!(explanation.steps[0].reason.contains("domain"), "{explanation:?}");
}

/// The rule that decides is named, and behind a form the steps say where the right password leads.
#[tokio::test(flavor = "multi_thread")]
async fn d136_an_explanation_names_the_rule_and_what_is_behind_a_form() {
    let edge = with_countries().await;
    let cases = cases(&edge).await;
    let link = |path: &str| &cases.iter().find(|case| case.path == path).unwrap().link;
    let phone = VisitFacts {
        user_agent: VisitHeader::parse(PHONE).ok(),
        country: Some(germany()),
        ..VisitFacts::default()
    };
    let explanation = explain(&edge, link("/ruled"), &phone, samples::at(0)).await;
    let rule = explanation.rule.unwrap();
    assert_eq!(rule.name.unwrap().as_str(), "german-phones");
    assert_eq!((rule.variant, explanation.location.as_deref()), (None, Some("https://example.org/1")));
    let french = VisitFacts {
        language: VisitHeader::parse("fr").ok(),
        user_agent: VisitHeader::parse(COMPUTER).ok(),
        ..VisitFacts::default()
    };
    // Its browser is not known, and an unknown fact fails both ways.
    let explanation = explain(&edge, link("/ruled"), &french, samples::at(0)).await;
    let rule = explanation.rule.unwrap();
    assert_eq!(rule.name.unwrap().as_str(), "test");
    let variant = rule.variant.unwrap();
    let expected = format!("https://example.org/{}", variant.as_str());
    assert_eq!(explanation.location, Some(expected));

    let explanation = explain(&edge, link("/secret-rules"), &phone, samples::at(0)).await;
    assert_eq!((explanation.outcome, explanation.status), (VisitOutcome::Password, 200));
    assert_eq!((&explanation.location, &explanation.rule), (&None, &None));
    let reason =
        |check: Check| explanation.steps.iter().find(|step| step.check == check).unwrap().reason.as_ref();
    assert!(reason(Check::Rules).contains("german-phones"), "{explanation:?}");
    assert!(reason(Check::Answer).contains("https://example.org/1"), "{explanation:?}");
    assert!(reason(Check::Credit).starts_with("Behind the form:"), "{explanation:?}");
}

/// A link of another account that has taken the address answers as an address without a link, and so does a deleted link.
#[tokio::test(flavor = "multi_thread")]
async fn d136_what_is_at_the_address_now_is_not_told() {
    let edge = with_countries().await;
    let own = redirect_to("sale", TARGET).into_any();
    edge.add(&redirect_to("sale", DEFAULT)).await;
    let facts = VisitFacts::default();
    assert_eq!(explain(&edge, &own, &facts, samples::at(0)).await, Explanation::unknown());
    let explanation = explain(&edge, &redirect_to("gone", RULED).into_any(), &facts, samples::at(0)).await;
    assert_eq!(
        (explanation.outcome, explanation.status, explanation.location),
        (VisitOutcome::NotFound, 404, None)
    );
}

/// What is wrong with another account's link, to which the caller's leads, is not told. What is wrong with the caller's own target is.
#[tokio::test(flavor = "multi_thread")]
async fn d136_what_is_wrong_with_another_accounts_link_is_not_told() {
    let edge = with_countries().await;
    let other = samples::account();
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_account(&other).await.unwrap();
    let foreign = [
        redirect_to("their-listed", "https://evil.example/"),
        Redirect { is_active: false, ..redirect_to("their-inactive", TARGET) },
        redirect_to("their-loop", "https://go.example.com/their-loop"),
    ];
    let inserted = work.insert_links(other.id, &foreign.map(Redirect::into_any), 1_000).await.unwrap();
    assert_eq!(inserted, [Insertion::Done; 3]);
    edge.commit(work).await;
    for theirs in ["their-listed", "their-inactive", "their-loop"] {
        let link = redirect_to(&format!("to-{theirs}"), &format!("https://go.example.com/{theirs}"));
        edge.add(&link).await;
        let explanation = explain(&edge, &link.into_any(), &VisitFacts::default(), samples::at(0)).await;
        assert_eq!((explanation.status, explanation.outcome), (404, VisitOutcome::NotFound), "{theirs}");
        assert_eq!(
            (explanation.steps[0].check, explanation.steps[0].reason.as_ref()),
            (Check::Existence, "The link leads to another address of this service, and no link opens there."),
            "{theirs}"
        );
    }
    let rules = r#"[{"conditions":[],"target_url":"https://evil.example/"}]"#;
    let link = ruled("own-rule", rules)
        .with(|content| content.target_url = samples::target("https://go.example.com/their-listed"));
    edge.add(&link).await;
    let explanation = explain(&edge, &link.into_any(), &VisitFacts::default(), samples::at(0)).await;
    assert!(explanation.steps[0].reason.contains("operator's list"), "{explanation:?}");
}

/// A root whose link has clicks on this node alone, and leads nowhere, is a miss. It does not lead where its domain sends visitors of a
/// root without a link.
#[tokio::test(flavor = "multi_thread")]
async fn d136_a_root_with_held_clicks_and_a_dead_target_is_explained_as_visited() {
    let edge = with_countries().await;
    let domain = edge.connect_domain(CUSTOM, ACTIVE).await;
    let urls = DomainUrls {
        root_url: Some(samples::target("https://example.org/root")),
        not_found_url: Some(samples::target("https://example.org/nothing")),
        expired_url: None,
    };
    configure(&edge, &domain, urls, &DomainFiles::default()).await;
    let target = redirect_to("target", TARGET);
    edge.add(&target).await;
    let root = Redirect {
        placement: samples::on_custom(CUSTOM, None),
        ..redirect_to("x", "https://go.example.com/target")
    }
    .with(|content| content.click_limit = Some(limit(640, 0)));
    edge.add(&root).await;
    let visit = || edge.request_with("GET", "/", &format!("Host: {CUSTOM}\r\nUser-Agent: {COMPUTER}\r\n"));
    let answer = visit();
    assert_eq!((answer.status, answer.header("location")), (302, Some(TARGET)));
    // Another node takes all others.
    let mut work = edge.memory.store.begin().await.unwrap();
    while let ClickTaking::Taken(_) = work.take_clicks(edge.account, root.id).await.unwrap() {}
    edge.commit(work).await;
    edge.update(&target, &Redirect { is_active: false, ..target.clone() }).await;
    let explanation = explain(&edge, &root.into_any(), &VisitFacts::default(), samples::at(0)).await;
    let answer = visit();
    assert_eq!((answer.status, answer.header("location")), (302, Some("https://example.org/nothing")));
    assert_eq!((explanation.status, explanation.location.as_deref()), (302, answer.header("location")));
    assert_eq!(explanation.outcome, VisitOutcome::NotFound);
}

/// An explanation is about the store, and not about what is in memory.
#[tokio::test(flavor = "multi_thread")]
async fn d136_an_outage_is_no_explanation() {
    let edge = with_countries().await;
    let link = redirect_to("sale", TARGET);
    edge.add(&link).await;
    assert_eq!(edge.get("/sale").status, 302);
    edge.memory.store.faults().set_unavailable(true);
    assert_eq!(edge.get("/sale").status, 302);
    let visit = explained_visit(&edge, &link.into_any(), &VisitFacts::default(), samples::at(0));
    assert!(edge.app.explainer.explainer().unwrap().explain(visit).await.is_err());
}

/// The explainer holds neither the server nor the application that holds it.
#[tokio::test(flavor = "multi_thread")]
async fn d136_after_a_stop_nothing_is_explained() {
    let edge = with_countries().await;
    let link = redirect_to("sale", TARGET);
    edge.add(&link).await;
    let explainer = edge.app.explainer.explainer().unwrap();
    let url = VisitedUrl::parse(&format!("https://{HOST}/sale")).unwrap();
    assert!(explainer.opened(&url).is_some());
    let visit = explained_visit(&edge, &link.into_any(), &VisitFacts::default(), samples::at(0));
    let Edge { server, app, .. } = edge;
    server.stop(true).await.unwrap();
    // The threads of the listener drop what they hold in their own time.
    let dropped = async {
        while Arc::strong_count(&app) > 1 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_mins(1), dropped).await.unwrap();
    assert_eq!(explainer.opened(&url), None);
    assert!(explainer.explain(visit).await.is_err());
}
