//! Health checks and metrics (D63).

use crate::harness::{Program, Visitor};

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
