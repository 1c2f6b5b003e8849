//! Sign-in limits and health, as operators see them (D63, D69, D75).

use std::sync::Arc;
use std::time::Duration;

use signpost_app::background::{JobRunner, jobs};
use signpost_app::node_health::{Part, WaitingClicks};
use signpost_app::ports::LeaseHolder;
use signpost_app::ports::{RefusalCount, RefusalCounts, Refused};
use signpost_domain::Timestamp;

use crate::harness::{Dashboard, PASSWORD};
use crate::operator_accounts::operator;
use crate::second_factor::set_up;

#[actix_web::test]
async fn d75_operators_see_who_waits_and_the_limits() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    dashboard.invited("ada@example.com", None, false).await;
    let guesser = dashboard.browser();
    let path = "/operator/sign-ins?email=ADA%40example.com&address=203.0.113.9";
    let before = operator.get(path).await;
    assert!(before.body.contains("No failed sign-in counts") && before.body.contains("allowed now"));
    for _ in 0..5 {
        guesser.sign_in("ada@example.com", "wrong password").await;
    }
    let after = operator.get(path).await;
    assert!(after.body.contains("5 failed sign-ins count, the last on"), "{}", after.body);
    assert!(after.body.contains("The person has to wait for 30 more seconds."), "{}", after.body);
    let elsewhere = operator.get("/operator/sign-ins?email=ada%40example.com&address=203.0.113.10").await;
    assert!(elsewhere.body.contains("No failed sign-in counts"));
    dashboard.memory.clock.advance(Duration::from_secs(31));
    assert!(operator.get(path).await.body.contains("allowed now"));
    for limit in
        ["30 a minute", "30 s, 1 min, 2 min, 4 min, 8 min, 15 min, and so on", "100,000", "600 a minute"]
    {
        assert!(before.body.contains(limit), "{limit}");
    }
    let unknown = operator.get("/operator/sign-ins?email=nobody%40example.com&address=").await;
    assert!(
        unknown.status == 200 && unknown.body.contains("No user with a second factor"),
        "{}",
        unknown.body
    );
    let refused = operator.get("/operator/sign-ins?email=nobody&address=here").await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("value=\"nobody\"") && refused.body.contains("Must be an IP address"));
}

#[actix_web::test]
async fn d75_operators_see_who_waits_after_wrong_codes() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let ada = dashboard.invited("ada@example.com", None, false).await;
    // Wrong codes count for the user, from whatever address.
    let path = "/operator/sign-ins?email=ada%40example.com&address=198.51.100.7";
    let note = "wrong code of the second factor counts";
    assert!(!operator.get(path).await.body.contains(note), "she has no second factor");
    set_up(&ada).await;
    assert!(operator.get(path).await.body.contains(&format!("At sign-in, no {note}")));
    let guesser = dashboard.browser();
    guesser.sign_in("ada@example.com", PASSWORD).await;
    for _ in 0..5 {
        guesser.post("/sign-in/code", &[("code", "000000")]).await;
    }
    for path in [path, "/operator/sign-ins?email=ada%40example.com"] {
        let waits = operator.get(path).await.body;
        assert!(waits.contains("5 wrong codes of the second factor count, the last on"), "{waits}");
        assert_eq!(waits.contains("No failed sign-in counts"), path.contains("address"), "{waits}");
    }
    let waits = operator.get(path).await.body;
    assert!(waits.contains("30 more seconds") && waits.contains("No failed sign-in counts"), "{waits}");
}

#[actix_web::test]
async fn d75_operators_forget_failures_and_the_audit_says_so() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    dashboard.invited("ada@example.com", None, false).await;
    let path = "/operator/sign-ins?email=ada%40example.com&address=203.0.113.9";
    let ada = dashboard.browser();
    let button = "Forget these failures";
    assert!(!operator.get(path).await.body.contains(button), "there is nothing to forget");
    for _ in 0..5 {
        ada.sign_in("ada@example.com", "wrong password").await;
    }
    assert!(operator.get(path).await.body.contains(button));
    assert_eq!(ada.sign_in("ada@example.com", PASSWORD).await.status, 429);
    let form = [("email", "ada@example.com"), ("address", "203.0.113.9")];
    let forgotten = operator.post("/operator/sign-ins", &form).await;
    assert_eq!(forgotten.location(), format!("{path}&said=failures-forgotten"));
    let after = operator.get(forgotten.location()).await.body;
    assert!(after.contains("No failed sign-in counts") && after.contains("are forgotten"), "{after}");
    assert_eq!(ada.sign_in("ada@example.com", PASSWORD).await.status, 303);
    let audit = operator.get("/audit?action=failures_forgotten").await.body;
    assert!(audit.contains("ada@example.com from 203.0.113.0/24"), "{audit}");
    let wrong = operator.post("/operator/sign-ins", &[("email", "nobody"), ("address", "here")]).await;
    assert_eq!(wrong.location(), "/operator/sign-ins?email=nobody&address=here");
}

#[actix_web::test]
async fn d69_the_health_page_has_the_last_error_of_each_part() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let well = operator.get("/operator/health").await;
    assert!(well.body.contains("Everything that this node depends on works."), "{}", well.body);
    assert!(well.body.contains("Database, writing") && well.body.contains("runs no background jobs"));
    let now = dashboard.app.clock.now();
    dashboard.app.health.fails_with(Part::ClickStore, now, "no space <left>");
    let ill = operator.get("/operator/health").await;
    assert!(ill.body.contains("One part fails at present.") && ill.body.contains("no space &#60;left&#62;"));
    dashboard.app.health.works(Part::ClickStore, now);
    let again = operator.get("/operator/health").await;
    assert!(again.body.contains("Everything that") && again.body.contains("no space &#60;left&#62;"));
}

#[actix_web::test]
async fn d69_the_health_page_says_which_jobs_this_node_does() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let app = Arc::clone(&dashboard.app);
    let all = jobs(&app).into_iter();
    let mut runners: Vec<JobRunner> =
        all.map(|job| JobRunner::new(&app, job, LeaseHolder::from_bytes([1; 16]))).collect();
    let before = operator.get("/operator/health").await;
    assert!(before.body.contains("Not on this node") && before.body.contains("check-domains"));
    for runner in &mut runners {
        runner.tick().await;
        runner.work().await;
    }
    let after = operator.get("/operator/health").await;
    assert!(!after.body.contains("Not on this node"), "{}", after.body);
    for name in ["pack-clicks", "note-uses", "forget-changes"] {
        assert!(after.body.contains(name), "{name}");
    }
    for (name, condition) in app.health.jobs() {
        assert!(condition.worked_at.is_some(), "{name}");
    }
}

#[actix_web::test]
async fn d69_the_health_page_counts_the_clicks_that_wait_on_this_node() {
    let dashboard = Dashboard::start().await;
    let operator = operator(&dashboard).await;
    let page = async || operator.get("/operator/health").await.body;
    let fact =
        |value: &str| format!("<dt>Clicks waiting on this node for the click store</dt><dd>{value}</dd>");
    let before = page().await;
    assert!(before.contains(&fact("This node records no clicks")), "{before}");
    assert!(before.contains("This page is about this node alone"), "{before}");
    let health = &dashboard.app.health;
    health.clicks_wait(WaitingClicks::default());
    assert!(page().await.contains(&fact("None")));
    let oldest = Timestamp::from_unix_millis(1_769_850_300_000).unwrap();
    health.clicks_wait(WaitingClicks { clicks: 1_204, bytes: 350 * 1024 - 1, oldest: Some(oldest) });
    let waiting = page().await;
    assert!(waiting.contains("<dd>1,204 (350 KB), the oldest since 31 Jan 2026, "), "{waiting}");
}

/// Counts that never change.
struct FixedRefusals(Vec<RefusalCount>);

impl RefusalCounts for FixedRefusals {
    fn since_start(&self) -> Vec<RefusalCount> {
        self.0.clone()
    }
}

#[actix_web::test]
async fn d69_the_health_page_says_what_was_refused() {
    let dashboard = Dashboard::start().await;
    let operator = dashboard.invited("op@example.com", None, true).await;
    assert!(operator.get("/operator/health").await.body.contains("set metrics-listen"));
    let count = |refused, reason: &str, times| RefusalCount { refused, reason: reason.to_owned(), times };
    let counts = vec![
        count(Refused::ApiRequests, "validation_failed", 1_204),
        count(Refused::Visits, "country", 3),
        count(Refused::Visits, "a_new_one", 2),
        count(Refused::SignIns, "", 7),
        count(Refused::DashboardRequests, "", 31),
    ];
    let counting = dashboard.with_refusals(Arc::new(FixedRefusals(counts))).await.browser();
    counting.cookies.borrow_mut().clone_from(&operator.cookies.borrow());
    let page = counting.get("/operator/health").await.body;
    for fact in [
        "<dt>Requests to the API: validation_failed</dt><dd>1,204</dd>",
        "<dt>Visits from countries that the link blocks</dt><dd>3</dd>",
        "<dt>a_new_one</dt><dd>2</dd>",
        "<dt>Sign-ins and confirmations with a wrong password or code</dt><dd>7</dd>",
        "<dt>Requests to the dashboard, sign-ins among them, beyond a limit (429)</dt><dd>31</dd>",
    ] {
        assert!(page.contains(fact), "{fact} in {page}");
    }
}
