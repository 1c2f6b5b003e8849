//! What a visit would get: tests of redirects, and explanations of addresses (D136).

use serde_json::{Value, json};
use signpost_app::explain::{
    AppliedRule, Check, Explanation, StepResult, Steps, VisitFacts, VisitHeader, VisitOutcome, VisitQuery,
};
use signpost_app::keys::{self, NewKey};
use signpost_app::ports::ExplainedVisit;
use signpost_domain::routing::RuleName;
use signpost_domain::{CountryCode, Permission, PermissionSet, RuleId, Timestamp};

use crate::harness::{Answer, Api, request};
use crate::idempotency::post;

const EXPLAIN: &str = "/v1/explain";

/// A visit with everything that can be said about it.
fn visit() -> Value {
    json!({
        "country": "de", "user_agent": "curl/8.14.1", "language": "de-AT,en;q=0.5", "referrer": "https://news.example.com/a",
        "query": "?plan=pro&ref=x", "at": "2026-12-24T18:00:00+01:00", "address": "2001:db8::7",
    })
}

fn with_url(url: &str, mut visit: Value) -> Value {
    visit["url"] = json!(url);
    visit
}

fn path(id: &str) -> String {
    format!("/v1/redirects/{id}/test")
}

/// The one visit that was explained.
#[track_caller]
fn only(asked: Vec<ExplainedVisit>) -> ExplainedVisit {
    let [one] = <[_; 1]>::try_from(asked).unwrap();
    one
}

/// What of the facts is text.
fn texts(facts: &VisitFacts) -> [Option<&str>; 4] {
    let [agent, language, referrer] =
        [&facts.user_agent, &facts.language, &facts.referrer].map(|it| it.as_ref().map(VisitHeader::as_str));
    [agent, language, referrer, facts.query.as_ref().map(VisitQuery::as_str)]
}

/// A visit that a password stops.
fn stopped() -> Explanation {
    let mut steps = Steps::default();
    steps.pass(Check::Existence, "The link is active.");
    steps.stop(Check::Password, "The link asks for a password.");
    Explanation {
        outcome: VisitOutcome::Password,
        status: 200,
        location: None,
        rule: None,
        steps: steps.finish(),
    }
}

#[actix_web::test]
async fn d136_a_test_asks_about_the_visit_that_was_sent() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    let rule = AppliedRule {
        id: RuleId::from_bytes([7; 16]),
        name: RuleName::parse("german").ok(),
        variant: RuleName::parse("new").ok(),
    };
    let location = Some("https://example.com/de".to_owned());
    let explanation =
        Explanation { outcome: VisitOutcome::Redirect, status: 307, location, rule: Some(rule), ..stopped() };
    api.memory.explainer.answer_with(explanation);
    let answer = api.call_with("POST", &path(&id), visit()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    let steps = answer.body["steps"].as_array().unwrap();
    let checks: Vec<&str> = steps.iter().map(|step| step["check"].as_str().unwrap()).collect();
    assert_eq!(checks, Check::ALL.map(Check::as_str));
    let step = |check: Check, result: StepResult, reason: &str| {
        let found = steps.iter().find(|step| step["check"] == check.as_str()).unwrap();
        let expected = json!({"check": check.as_str(), "result": result.as_str(), "reason": reason});
        assert_eq!(*found, expected);
    };
    step(Check::Existence, StepResult::Pass, "The link is active.");
    step(Check::Password, StepResult::Stop, "The link asks for a password.");
    let expected = json!({
        "object": "explanation", "outcome": "redirect", "status": 307, "location": "https://example.com/de",
        "rule": {"id": format!("rul_{}", "07".repeat(16)), "name": "german", "variant": "new"}, "steps": steps,
    });
    assert_eq!(answer.body, expected);

    let asked = only(api.memory.explainer.asked());
    assert_eq!((asked.link.to_string(), asked.account, asked.is_active), (id, api.account, true));
    let sent = ["curl/8.14.1", "de-AT,en;q=0.5", "https://news.example.com/a", "plan=pro&ref=x"].map(Some);
    assert_eq!(texts(&asked.facts), sent);
    assert_eq!(asked.facts.country.map(CountryCode::as_str), Some("DE"));
    assert_eq!(asked.facts.address, "2001:db8::7".parse().ok());
    assert_eq!(asked.at, Timestamp::parse("2026-12-24T17:00:00Z").unwrap());
}

#[actix_web::test]
async fn d136_absent_and_null_say_nothing_and_an_empty_agent_is_none() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    let null = json!({
        "country": null, "user_agent": null, "language": null, "referrer": null, "query": null, "at": null, "address": null,
    });
    let bodies = [json!({}), null, json!({"user_agent": ""})];
    for body in bodies {
        assert_eq!(api.call_with("POST", &path(&id), body).await.status, 200);
    }
    let asked = api.memory.explainer.asked();
    let facts: Vec<&VisitFacts> = asked.iter().map(|visit| &visit.facts).collect();
    assert_eq!(facts[..2], [&VisitFacts::default(), &VisitFacts::default()]);
    assert_eq!(texts(facts[2]), [Some(""), None, None, None]);
    assert!(asked.iter().all(|visit| visit.at == api.app.clock.now()));
}

#[actix_web::test]
async fn d136_an_own_address_of_either_kind_is_explained() {
    let api = Api::start().await;
    let ids = [api.redirect("sale").await, api.landing("page").await];
    api.memory.explainer.answer_with(stopped());
    let tested = api.call_with("POST", &path(&ids[0]), json!({"query": "a=b"})).await;
    for (slug, id) in ["sale?a=b", "page?a=b"].into_iter().zip(ids) {
        let body = with_url(&format!("https://go.example.com/{slug}"), json!({}));
        let explained = api.call_with("POST", EXPLAIN, body).await;
        assert_eq!(explained.text, tested.text);
        let asked = api.memory.explainer.asked().pop().unwrap();
        assert_eq!((asked.link.to_string(), texts(&asked.facts)[3]), (id, Some("a=b")));
    }
    // What is sent as `query` counts instead of that of the address.
    let body = with_url("https://go.example.com/sale?a=b", json!({"query": "c=d"}));
    assert_eq!(api.call_with("POST", EXPLAIN, body).await.status, 200);
    let asked = api.memory.explainer.asked().pop().unwrap();
    assert_eq!(texts(&asked.facts)[3], Some("c=d"));
}

/// Another answer would tell where somebody else has a link.
#[actix_web::test]
async fn d136_an_address_without_an_own_link_answers_like_an_unknown_one() {
    let api = Api::start().await;
    let (_, stranger) = api.account("eve@example.com", "agency").await;
    api.redirect("sale").await;
    api.active_domain("links.customer.com").await;
    let explain = async |url: &str| -> Answer {
        let call = request("POST", EXPLAIN, &stranger).set_json(with_url(url, visit()));
        let answer = api.send(call).await;
        assert_eq!(answer.status, 200, "{url}: {answer:?}");
        answer
    };
    let unknown = explain("https://go.example.com/nothing").await;
    assert_eq!(unknown.body["outcome"], "not_found");
    let result = ["status", "location", "rule"].map(|field| unknown.body[field].clone());
    assert_eq!(result, [json!(404), Value::Null, Value::Null]);
    for url in [
        "https://go.example.com/sale",
        "http://GO.example.com/sale?a=b",
        "https://go.example.com/",
        "https://links.customer.com/sale",
        "https://links.customer.com/",
        "https://nobodys.example.com/sale",
        "https://go.example.com/a/b/c/d",
        "https://go.example.com/%zz",
        "https://",
        "http://[::1",
        "https://go.example.com:99999/sale",
        "HTTPS:// \u{0} \u{fffd}",
    ] {
        assert_eq!(explain(url).await.text, unknown.text, "{url}");
    }
    assert!(api.memory.explainer.asked().is_empty(), "nobody was asked about a foreign link");
}

#[actix_web::test]
async fn d136_each_violation_names_its_field() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    let long = |length: usize| "x".repeat(length);
    let wrong = json!({
        "country": "XX", "user_agent": "a\nb", "language": long(VisitHeader::MAX_CHARS + 1), "referrer": 1, "query": long(VisitQuery::MAX_CHARS + 1),
        "at": "tomorrow", "address": "192.0.2.0/24", "browser": "Firefox",
    });
    let mut expected = vec![
        ("address", "invalid_format"),
        ("at", "invalid_format"),
        ("browser", "unknown_field"),
        ("country", "invalid_value"),
        ("language", "too_long"),
        ("query", "too_long"),
        ("referrer", "invalid_type"),
        ("user_agent", "invalid_format"),
    ];
    assert_eq!(api.call_with("POST", &path(&id), wrong.clone()).await.violations(), expected);
    expected.insert(7, ("url", "invalid_format"));
    assert_eq!(
        api.call_with("POST", EXPLAIN, with_url("go.example.com/sale", wrong)).await.violations(),
        expected
    );
    assert_eq!(api.call_with("POST", EXPLAIN, json!({})).await.violations(), [("url", "required")]);
    let with_url =
        api.call_with("POST", &path(&id), with_url("https://go.example.com/sale", json!({}))).await;
    assert_eq!(with_url.violations(), [("url", "unknown_field")]);
    let longest = json!({
        "user_agent": long(VisitHeader::MAX_CHARS), "language": long(VisitHeader::MAX_CHARS), "referrer": long(VisitHeader::MAX_CHARS), "query": long(VisitQuery::MAX_CHARS),
    });
    assert_eq!(api.call_with("POST", &path(&id), longest).await.status, 200);
}

#[actix_web::test]
async fn d80_a_test_needs_the_scope_of_reading_alone() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    let calls =
        [(path(&id), json!({})), (EXPLAIN.to_owned(), with_url("https://go.example.com/sale", json!({})))];
    for (scope, status) in
        [(Permission::Read, 200), (Permission::WriteLinks, 403), (Permission::ReadAnalytics, 403)]
    {
        let new = NewKey { scopes: Some(PermissionSet::from_iter([scope])), ..NewKey::default() };
        let key = keys::issue(&api.app, api.account, new).await.unwrap().1.expose().to_owned();
        for (path, body) in &calls {
            let answer = api.send(request("POST", path, &key).set_json(body)).await;
            assert_eq!(answer.status, status, "{path} with {}: {answer:?}", scope.as_str());
        }
    }
}

/// D12 holds for every POST. Without a key nothing is kept.
#[actix_web::test]
async fn d12_with_a_key_a_test_is_answered_as_it_was_first() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    let first = post(&api, &path(&id), "k", &visit()).await;
    api.memory.explainer.answer_with(stopped());
    let again = post(&api, &path(&id), "k", &visit()).await;
    assert!(again.is_replayed());
    assert_eq!(again.text, first.text);
    assert_eq!(api.memory.explainer.asked().len(), 1);
    let now = api.call_with("POST", &path(&id), visit()).await;
    assert_eq!(now.body["outcome"], "password");
}

#[actix_web::test]
async fn d136_a_test_costs_one_request_and_changes_nothing() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    let one = format!("/v1/redirects/{id}");
    let before = api.call("GET", &one).await;
    let left = |answer: &Answer| answer.rate_limits().unwrap()[1];
    for number in 1..=3 {
        let answer = api.call_with("POST", &path(&id), visit()).await;
        assert_eq!(left(&answer), left(&before) - number);
    }
    assert_eq!(api.call("GET", &one).await.body, before.body);
}

#[actix_web::test]
async fn d136_without_the_store_a_test_says_so() {
    let api = Api::start().await;
    let id = api.redirect("sale").await;
    api.memory.explainer.set_unavailable(true);
    for (path, body) in
        [(path(&id), json!({})), (EXPLAIN.to_owned(), with_url("https://go.example.com/sale", json!({})))]
    {
        assert_eq!(api.call_with("POST", &path, body).await.error(), (500, "internal_error"), "{path}");
    }
}
