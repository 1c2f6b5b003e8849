//! Health checks and metrics (D63).

use std::collections::BTreeSet;

use signpost_test_servers::certificates::LocalCertificate;

use crate::harness::https::{SYSTEM, with_certificate};
use crate::harness::{Account, BROWSER, Program, Visitor};

const DASHBOARD: &str = include_str!("../../../packaging/grafana-dashboard.json");
const ALERTS: &str = include_str!("../../../packaging/prometheus-alerts.yml");
const ALERTS_TEST: &str = include_str!("../../../packaging/prometheus-alerts-test.yml");

/// A program with metrics that has served a request, a refused one and a visit.
fn used_program() -> (Program, Account) {
    let program = Program::builder().setting("metrics-listen", "127.0.0.1:0").start();
    let account = program.first_account();
    let link = account.new_redirect();
    account.send_with("GET", "/v1/account", &[], None).expect_status(401);
    program.visitor().open_until(&format!("/{}", link["slug"].as_str().unwrap()), 302);
    (program, account)
}

fn scraped(program: &Program) -> String {
    Visitor::new(program.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body
}

/// The names of metrics in a text of the packaging.
fn metric_names(text: &str) -> BTreeSet<&str> {
    let is_of_name = |c: char| c.is_ascii_lowercase() || c == '_';
    let words = text.split(|c: char| !is_of_name(c) && !c.is_ascii_digit());
    words.filter(|word| word.starts_with("signpost_") || word.starts_with("process_")).collect()
}

/// A renamed metric would leave an empty graph, or an alert that never comes.
#[test]
fn d63_every_metric_of_the_packaging_exists() {
    let (program, _) = used_program();
    let (_folder, node) = with_certificate(Program::builder(), &LocalCertificate::of(&[SYSTEM]));
    let with_https = node.setting("metrics-listen", "127.0.0.1:0").start();
    let body = scraped(&program) + &scraped(&with_https);
    let samples = body.lines().filter(|line| !line.starts_with('#'));
    let known: BTreeSet<&str> = samples.filter_map(|line| line.split(['{', ' ']).next()).collect();
    for (file, text, at_least) in
        [("dashboard", DASHBOARD, 25), ("alerts", ALERTS, 12), ("test", ALERTS_TEST, 12)]
    {
        let named = metric_names(text);
        assert!(named.len() >= at_least, "{file}: {named:?}");
        let missing: Vec<_> = named.difference(&known).collect();
        assert!(missing.is_empty(), "{file}: {missing:?} are not in\n{body}");
    }
}

/// Prometheus sees no increase in a counter that appears with its first event.
#[test]
fn d63_counters_of_alerts_are_there_before_their_first_event() {
    let program = Program::builder().setting("metrics-listen", "127.0.0.1:0").start();
    let body = scraped(&program);
    for series in [
        r#"signpost_api_refused_total{code="internal_error"}"#,
        r#"signpost_visits_total{outcome="unavailable"}"#,
        r#"signpost_visits_total{outcome="failed"}"#,
        "signpost_clicks_dropped_total",
        "signpost_change_gaps_total",
        r#"signpost_domain_checks_total{outcome="unanswered"}"#,
        r#"signpost_domain_checks_total{outcome="panicked"}"#,
        "signpost_domain_checks_given_up_total",
    ] {
        assert!(body.lines().any(|line| line == format!("{series} 0")), "{series} is not in\n{body}");
    }
    let counters = metric_names(ALERTS).into_iter().filter(|name| name.ends_with("_total"));
    assert_eq!(counters.count(), 6, "a new counter belongs into the list above");
}

/// Prometheus itself gives every series the labels `job` and `instance`.
#[test]
fn d63_no_metric_has_a_label_of_prometheus() {
    let (program, _) = used_program();
    let body = scraped(&program);
    assert!(body.contains("signpost_background_lease{task="), "{body}");
    for label in ["{job=", ",job=", "{instance=", ",instance="] {
        assert!(!body.contains(label), "{label} is in\n{body}");
    }
}

#[test]
fn d63_pools_processes_and_durations_of_visits_are_measured() {
    let (program, _) = used_program();
    let body = scraped(&program);
    let text = |series: &str| {
        let found = body.lines().find_map(|line| line.strip_prefix(series)?.strip_prefix(' '));
        found.unwrap_or_else(|| panic!("{series} is not in\n{body}"))
    };
    let value = |series: &str| -> f64 { text(series).parse().unwrap() };
    // A busy machine may need more than one visit.
    let visits = text("signpost_visit_duration_seconds_count");
    assert_eq!(text(r#"signpost_visit_duration_seconds_bucket{le="+Inf"}"#), visits);
    assert_ne!(visits, "0");
    let sum = value("signpost_visit_duration_seconds_sum");
    assert!(0.0 < sum && sum < 60.0, "{sum}");
    let pool = if program.database().is_some() { "requests" } else { "reads" };
    let connections =
        |state: &str| value(&format!(r#"signpost_pool_connections{{pool="{pool}",state="{state}"}}"#));
    let max = value(&format!(r#"signpost_pool_connections_max{{pool="{pool}"}}"#));
    assert!(connections("in_use") + connections("idle") <= max && max >= 1.0);
    assert_eq!(text(&format!(r#"signpost_pool_waiting{{pool="{pool}"}}"#)), "0");
    assert!(value("process_resident_memory_bytes") > 1e6);
    assert!(value("process_open_fds") < value("process_max_fds"));
    assert!(value("process_cpu_seconds_total") > 0.0 && value("process_start_time_seconds") > 1e9);
}

/// A gap empties the links in memory, so an alarm rests on it.
#[test]
fn d58_a_healthy_start_counts_no_gap_of_changes() {
    let (program, _) = used_program();
    assert_eq!(program.metric("signpost_change_gaps_total"), "0");
}

#[test]
fn d63_health_checks_and_scrapes_are_no_lines_of_the_log() {
    for (level, is_logged) in [("info", false), ("debug", true)] {
        let mut program =
            Program::builder().setting("metrics-listen", "127.0.0.1:0").variable("RUST_LOG", level).start();
        scraped(&program);
        let account = program.first_account();
        for path in ["/health/live", "/health/ready", "/health/links"] {
            account.await_health(path, |answer| answer.status == 200);
        }
        account.get("/v1/account").expect_status(200);
        let log = program.stop_and_read_log();
        assert_eq!(log.contains("/health/"), is_logged, "{log}");
        assert_eq!(log.contains("route=\"/metrics\" status=200"), is_logged, "{log}");
        let line =
            log.lines().find(|line| line.contains("answered") && line.contains("/v1/account")).unwrap();
        let duration = line.split("duration_ms=").nth(1).unwrap().split(' ').next().unwrap();
        let (_, digits) = duration.split_once('.').unwrap();
        assert!(digits.len() <= 3, "{line}");
    }
}

/// A newcomer tries a new link with curl, and looks for the click in vain.
#[test]
fn d45_a_visit_by_curl_from_this_machine_says_why_it_is_no_click() {
    let line = "counts as a bot and not as a click";
    for (agent, forwarded, is_told) in
        [("curl/8.14.1", None, true), (BROWSER, None, false), ("curl/8.14.1", Some("203.0.113.9"), false)]
    {
        let mut program = Program::start();
        let path = format!("/{}", program.first_account().new_redirect()["slug"].as_str().unwrap());
        let mut headers = vec![("Host", "localhost:8081"), ("User-Agent", agent)];
        headers.extend(forwarded.map(|address| ("X-Forwarded-For", address)));
        for _ in 0..3 {
            assert_eq!(program.visitor().request("GET", &path, &headers).status, 302);
        }
        let log = program.stop_and_read_log();
        assert_eq!(log.matches(line).count(), usize::from(is_told), "{agent} {forwarded:?}: {log}");
        assert_eq!(log.contains("rule=\"curl\""), is_told, "{log}");
    }
}

#[test]
fn d63_metrics_have_their_own_listener_which_is_off_by_default() {
    let off = Program::start();
    off.first_account().send_with("GET", "/metrics", &[], None).expect_error(404, "invalid_request");

    let program = Program::builder().setting("metrics-listen", "127.0.0.1:0").start();
    let account = program.first_account();
    account.get("/v1/account").expect_status(200);
    account.send_with("GET", "/v1/account", &[], None).expect_status(401);
    let link = account.new_redirect();
    program.visitor().open(&format!("/{}", link["slug"].as_str().unwrap()));
    program.visitor().open("/nothing");

    let metrics = Visitor::new(program.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]);
    assert_eq!(metrics.status, 200);
    assert!(metrics.header("content-type").unwrap().starts_with("text/plain"));
    for line in [
        r#"signpost_visits_total{outcome="redirected"} 1"#,
        r#"signpost_visits_total{outcome="not_found"} 1"#,
    ] {
        assert!(metrics.body.lines().any(|shown| shown == line), "{line} is not in\n{}", metrics.body);
    }
    let requests = metrics.body.lines().filter(|line| line.starts_with("signpost_api_requests_total{"));
    assert!(requests.clone().any(|line| line.contains("/v1/account") && line.contains("401")));
    assert!(!metrics.body.contains(&account.key[8..]));
}
