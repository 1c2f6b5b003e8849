//! Custom domains: contract "Domain", "POST /v1/domains", "GET /v1/domains", D5, D8, D15, D32, D37 to D40, D42, D43.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_domain::{Feature, Hostname, Plan, PlanLimits, SpecialUseName, VerificationRecord};
use signpost_memory::InMemory;

use crate::harness::{Answer, Api, all_but, is_id, memory_on_plan};

const HOST: &str = "links.shop.com";

/// Contract "States and transitions".
const VERIFICATION_PERIOD: Duration = Duration::from_hours(72);

const MILLISECOND: Duration = Duration::from_millis(1);

async fn connect(api: &Api, hostname: &str) -> Answer {
    api.call_with("POST", "/v1/domains", json!({ "hostname": hostname })).await
}

fn path_of(domain: &Value) -> String {
    format!("/v1/domains/{}", domain["id"].as_str().unwrap())
}

async fn verify(api: &Api, domain: &Value) -> Answer {
    api.call("POST", &format!("{}/verify", path_of(domain))).await
}

/// When the background looks at it next, which it does.
fn next_check_of(domain: &Value) -> Value {
    assert!(domain["next_check_at"].as_str().unwrap() > domain["created_at"].as_str().unwrap());
    domain["next_check_at"].clone()
}

/// Writes into a domain what was seen in place of its records.
fn saw<const N: usize>(domain: &mut Value, seen: [(&str, Value); N]) {
    for (record, (status, observed)) in
        domain["dns_instructions"].as_array_mut().unwrap().iter_mut().zip(seen)
    {
        record["status"] = json!(status);
        record["observed"] = observed;
    }
}

#[actix_web::test]
async fn d65_a_failed_domain_says_why_and_what_was_seen() {
    let api = Api::start().await;
    let domain = connect(&api, HOST).await.body;
    api.memory.dns.set_texts("_signpost.links.shop.com", ["\u{1b}[31m", "\"</script>"]);
    api.memory.dns.set_alias(HOST, "shops.example.com");
    verify(&api, &domain).await;
    api.memory.clock.advance(VERIFICATION_PERIOD);
    let mut expected = domain.clone();
    expected["status"] = json!("failed");
    expected["expires_at"] = json!(null);
    expected["next_check_at"] = json!(null);
    expected["checked_at"] = domain["created_at"].clone();
    expected["failure_reason"] = json!("deadline_passed");
    let texts = json!(["\u{fffd}[31m", "\"</script>"]);
    saw(&mut expected, [("wrong", json!(["shops.example.com"])), ("wrong", texts)]);
    assert_eq!(api.call("GET", &path_of(&domain)).await.body, expected);
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([expected]));
}

#[actix_web::test]
async fn a_domain_lives_from_connecting_to_removal() {
    let api = Api::start().await;
    let connected = connect(&api, " Links.Shop.COM. ").await;
    let id = connected.id(201);
    assert!(is_id(&id, "dom_"));
    let path = format!("/v1/domains/{id}");
    assert_eq!(connected.header("location"), Some(path.as_str()));
    let proof = VerificationRecord::of(api.account, &Hostname::parse(HOST).unwrap());
    let mut expected = json!({
        "id": id, "object": "domain", "hostname": HOST, "status": "pending",
        "expires_at": "2026-02-03T09:05:07.042Z", "created_at": "2026-01-31T09:05:07.042Z",
        "next_check_at": next_check_of(&connected.body), "checked_at": null, "failure_reason": null,
        "dns_instructions": [
            {
                "type": "CNAME", "name": HOST, "value": "edge.example.net",
                "purpose": "Sends the visitors of this hostname to your links. Remove other records of the same name.",
                "status": "unknown", "observed": [],
            },
            {
                "type": "TXT", "name": "_signpost.links.shop.com", "value": proof.value(),
                "purpose": "Proves that the hostname is yours.",
                "status": "unknown", "observed": [],
            },
        ],
    });
    assert_eq!(connected.body, expected);
    assert_eq!(api.call("GET", &path).await.body, expected);
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([expected]));
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["domains"], json!(1));
    assert_eq!(api.memory.dns.all_lookups(), 0, "connecting a free hostname asks nobody");

    let early = verify(&api, &expected).await;
    expected["checked_at"] = json!("2026-01-31T09:05:07.042Z");
    saw(&mut expected, [("missing", json!([])), ("missing", json!([]))]);
    assert_eq!((early.status, &early.body), (200, &expected), "no record is there yet");
    api.follow_instructions(&expected);
    let verified = verify(&api, &expected).await;
    expected["status"] = json!("active");
    expected["expires_at"] = json!(null);
    expected["next_check_at"] = next_check_of(&verified.body);
    saw(&mut expected, [("found", json!(["edge.example.net"])), ("found", json!([proof.value()]))]);
    assert_eq!((verified.status, &verified.body), (200, &expected));
    assert_eq!(verified.header("location"), None);
    assert_eq!(api.call("GET", &path).await.body, expected);

    let deleted = api.call("DELETE", &path).await;
    let message = "The domain is removed; its links stay, without an address.";
    let gone = json!({"id": id, "object": "domain", "deleted": true, "message": message});
    assert_eq!((deleted.status, deleted.body), (200, gone), "contract D5");
    for (method, path) in
        [("GET", path.clone()), ("DELETE", path.clone()), ("POST", format!("{path}/verify"))]
    {
        assert_eq!(api.call(method, &path).await.error(), (404, "domain_not_found"));
    }
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([]));
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["domains"], json!(0));
}

#[actix_web::test]
async fn d38_an_apex_gets_the_addresses_of_the_edge() {
    let api = Api::start().await;
    let domain = api.domain("shop.co.uk").await;
    let records = domain["dns_instructions"].as_array().unwrap();
    let shown: Vec<_> = records
        .iter()
        .map(|record| ["type", "name", "value"].map(|field| record[field].as_str().unwrap()))
        .collect();
    assert_eq!(shown[..2], [["A", "shop.co.uk", "192.0.2.1"], ["AAAA", "shop.co.uk", "2001:db8::1"]]);
    assert_eq!(shown[2][..2], ["TXT", "_signpost.shop.co.uk"]);
    api.follow_instructions(&domain);
    assert_eq!(verify(&api, &domain).await.body["status"], json!("active"));
}

/// A name of so many characters, which is legal up to 253.
fn name_of(length: usize) -> String {
    let labels = ["a".repeat(63), "b".repeat(63), "c".repeat(63)].join(".");
    format!("{}.{labels}.com", "d".repeat(length - labels.len() - 5))
}

#[actix_web::test]
async fn d37_hostnames_are_normalised() {
    let api = Api::start().await;
    let longest = name_of(253);
    for (sent, kept) in [
        ("shop.com", "shop.com"),
        ("\t GO.Shop.Com.\n", "go.shop.com"),
        ("a-1.b--2.3.shop.co.uk", "a-1.b--2.3.shop.co.uk"),
        ("shop.github.io", "shop.github.io"),
        (&longest, &longest),
        (&format!(" {}. ", name_of(252)), &name_of(252)),
    ] {
        let connected = connect(&api, sent).await;
        assert_eq!((connected.status, &connected.body["hostname"]), (201, &json!(kept)), "{sent:?}");
    }
}

/// Every class of D37, with the code of its violation.
#[actix_web::test]
async fn d37_hostnames_that_cannot_be_connected_are_violations_of_hostname() {
    let api = Api::start().await;
    for (hostname, code) in [
        ("", "too_short"),
        (" ", "too_short"),
        (".", "too_short"),
        (&name_of(254), "too_long"),
        ("shop", "invalid_format"),
        ("192.0.2.1", "invalid_format"),
        ("[2001:db8::1]", "invalid_format"),
        ("2001:db8::1", "invalid_format"),
        ("0x7f.1", "invalid_format"),
        ("-go.shop.com", "invalid_format"),
        ("go-.shop.com", "invalid_format"),
        ("go_links.shop.com", "invalid_format"),
        ("*.shop.com", "invalid_format"),
        ("go..shop.com", "invalid_format"),
        (".shop.com", "invalid_format"),
        ("shop.com..", "invalid_format"),
        ("go shop.com", "invalid_format"),
        ("go.shop.com:443", "invalid_format"),
        ("https://go.shop.com", "invalid_format"),
        ("go.shop.com/", "invalid_format"),
        ("go.shop.com\0", "invalid_format"),
        ("bücher.shop.com", "invalid_format"),
        ("ｓhop.com", "invalid_format"),
        (&format!("{}.shop.com", "a".repeat(64)), "invalid_format"),
        ("xn--bcher-kva.shop.com", "invalid_value"),
        ("go.XN--P1AI", "invalid_value"),
        ("a.localhost", "invalid_value"),
        ("printer.local", "invalid_value"),
        ("a.internal", "invalid_value"),
        ("shop.test", "invalid_value"),
        ("a.invalid", "invalid_value"),
        ("www.shop.example", "invalid_value"),
        ("a.onion", "invalid_value"),
        ("1.2.0.192.in-addr.arpa", "invalid_value"),
        ("co.uk", "invalid_value"),
        ("github.io", "invalid_value"),
    ] {
        let answer = connect(&api, hostname).await;
        assert_eq!(answer.violations(), [("hostname", code)], "{hostname:?}");
        api.memory.clock.advance(Duration::from_secs(10));
    }
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([]));
    assert_eq!(api.memory.dns.all_lookups(), 0);
}

#[actix_web::test]
async fn d37_the_installations_own_names_are_refused_as_such() {
    let api = Api::start().await;
    for hostname in
        ["go.example.com", "GO.example.com.", "a.b.go.example.com", "edge.example.net", "a.edge.example.net"]
    {
        let answer = connect(&api, hostname).await;
        assert_eq!(answer.error(), (400, "hostname_is_system_domain"), "{hostname}");
    }
    // Beside them, not under them.
    for hostname in ["example.com", "xgo.example.com", "example.net"] {
        connect(&api, hostname).await.id(201);
    }
}

#[actix_web::test]
async fn d37_an_operator_may_allow_special_use_names() {
    let memory = InMemory { allowed_special_use: [SpecialUseName::Test].into(), ..InMemory::default() };
    let api = Api::on(memory, |_| {}).await;
    connect(&api, "links.shop.test").await.id(201);
    assert_eq!(connect(&api, "links.shop.local").await.violations(), [("hostname", "invalid_value")]);
}

#[actix_web::test]
async fn d8_every_violation_of_a_connection_is_listed() {
    let api = Api::start().await;
    for (body, expected) in [
        (json!({}), vec![("hostname", "required")]),
        (json!({"hostname": null}), vec![("hostname", "not_nullable")]),
        (json!({"hostname": ["shop.com"]}), vec![("hostname", "invalid_type")]),
        (
            json!({"hostname": "shop", "status": "active"}),
            vec![("hostname", "invalid_format"), ("status", "unknown_field")],
        ),
        (json!({"hostname": "shop.com", "id": "x"}), vec![("id", "unknown_field")]),
        // What is no violation is not told before all violations are gone.
        (json!({"hostname": "go.example.com", "id": "x"}), vec![("id", "unknown_field")]),
    ] {
        let answer = api.call_with("POST", "/v1/domains", body.clone()).await;
        assert_eq!(answer.violations(), expected, "{body}");
    }
    let answer = api.call_with("POST", "/v1/domains?x=1", json!({"hostname": "co.uk"})).await;
    assert_eq!(answer.violations(), [("hostname", "invalid_value"), ("x", "unknown_field")]);
}

#[actix_web::test]
async fn d40_a_hostname_that_the_account_has_is_answered_with_200_and_stays_as_it_is() {
    let api = Api::start().await;
    let domain = api.domain(HOST).await;
    api.memory.clock.advance(Duration::from_hours(1));
    for hostname in [HOST, "LINKS.shop.com."] {
        let again = connect(&api, hostname).await;
        assert_eq!((again.status, &again.body, again.header("location")), (200, &domain, None));
    }
    api.follow_instructions(&domain);
    let active = verify(&api, &domain).await.body;
    let again = connect(&api, HOST).await;
    assert_eq!((again.status, &again.body), (200, &active));
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["domains"], json!(1));
}

/// Contract D39, D40: at the deadline to the millisecond, however it is read.
#[actix_web::test]
async fn d39_d40_a_domain_fails_at_its_deadline_and_is_pending_anew_when_it_is_connected_again() {
    let api = Api::start().await;
    let domain = api.domain(HOST).await;
    let path = path_of(&domain);
    api.memory.clock.advance(VERIFICATION_PERIOD.saturating_sub(MILLISECOND));
    assert_eq!(api.call("GET", &path).await.body, domain);
    api.memory.clock.advance(MILLISECOND);
    let mut failed = domain.clone();
    failed["status"] = json!("failed");
    failed["expires_at"] = json!(null);
    failed["next_check_at"] = json!(null);
    failed["failure_reason"] = json!("deadline_passed");
    assert_eq!(api.call("GET", &path).await.body, failed);
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([failed]), "it stays listed");
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["domains"], json!(1));

    let mut anew = domain.clone();
    anew["expires_at"] = json!("2026-02-06T09:05:07.042Z");
    let again = connect(&api, HOST).await;
    anew["next_check_at"] = next_check_of(&again.body);
    assert_eq!((again.status, &again.body, again.header("location")), (200, &anew, None));
    assert_eq!(api.call("GET", &path).await.body, anew);

    api.memory.clock.advance(VERIFICATION_PERIOD);
    anew["expires_at"] = json!("2026-02-09T09:05:07.042Z");
    anew["checked_at"] = json!("2026-02-06T09:05:07.042Z");
    saw(&mut anew, [("missing", json!([])), ("missing", json!([]))]);
    let verified = verify(&api, &domain).await;
    anew["next_check_at"] = next_check_of(&verified.body);
    assert_eq!((verified.status, &verified.body), (200, &anew), "verifying claims it anew as well");
}

#[actix_web::test]
async fn d42_verification_takes_no_body_or_an_empty_object() {
    let api = Api::start().await;
    let domain = api.domain(HOST).await;
    let path = format!("{}/verify", path_of(&domain));
    let mut checked = domain.clone();
    checked["checked_at"] = domain["created_at"].clone();
    saw(&mut checked, [("missing", json!([])), ("missing", json!([]))]);
    assert_eq!(api.call("POST", &path).await.body, checked);
    assert_eq!(api.call_with("POST", &path, json!({})).await.body, checked);
    let with_body = async |body: Value| api.call_with("POST", &path, body).await;
    assert_eq!(with_body(json!({"force": true})).await.violations(), [("force", "unknown_field")]);
    assert_eq!(with_body(json!([])).await.violations(), [("body", "invalid_type")]);
    assert_eq!(with_body(json!(null)).await.violations(), [("body", "invalid_type")]);
    let answer = api.call_with("POST", &format!("{path}?force=1"), json!({"x": 1})).await;
    assert_eq!(answer.violations(), [("force", "unknown_field"), ("x", "unknown_field")]);
    assert_eq!(api.memory.dns.lookups(HOST), 2, "what is invalid asks nobody");
}

/// Contract D42: "could not ask" is never "no".
#[actix_web::test]
async fn d42_when_dns_does_not_answer_it_is_503_and_nothing_changes() {
    let api = Api::start().await;
    let pending = api.domain(HOST).await;
    api.active_domain("active.shop.com").await;
    let before = api.call("GET", "/v1/domains").await.body;
    api.memory.dns.set_unavailable(true);
    for domain in before["data"].as_array().unwrap() {
        let answer = verify(&api, domain).await;
        assert_eq!(answer.error(), (503, "domain_provider_unavailable"));
        assert_eq!(answer.header("retry-after"), Some("10"));
    }
    assert_eq!(api.call("GET", "/v1/domains").await.body, before);
    api.memory.dns.set_unavailable(false);
    api.follow_instructions(&pending);
    assert_eq!(verify(&api, &pending).await.body["status"], json!("active"));
}

#[actix_web::test]
async fn domains_are_listed_newest_first_in_pages_those_that_failed_too() {
    let api = Api::start().await;
    let mut created = vec![api.domain("failed.shop.com").await];
    api.memory.clock.advance(VERIFICATION_PERIOD);
    for number in 0..4 {
        created.push(api.domain(&format!("d{number}.shop.com")).await);
    }
    created.reverse();
    let ids: Vec<_> = created.iter().map(|domain| domain["id"].clone()).collect();
    for limit in 1..=6 {
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = api.call("GET", &format!("/v1/domains?limit={limit}{cursor}")).await.body;
            walked.extend(page["data"].as_array().unwrap().iter().map(|domain| domain["id"].clone()));
            match page["pagination"]["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(walked, ids, "limit {limit}");
    }
    let page = api.call("GET", "/v1/domains?limit=1").await.body;
    let cursor = page["pagination"]["next_cursor"].as_str().unwrap();
    let elsewhere = api.call("GET", &format!("/v1/groups?cursor={cursor}")).await;
    assert_eq!(elsewhere.violations(), [("cursor", "invalid_format")], "contract D11");
    let answer = api.call("GET", "/v1/domains?status=active&limit=0").await;
    assert_eq!(answer.violations(), [("limit", "out_of_range"), ("status", "unknown_field")]);
}

#[actix_web::test]
async fn d15_connecting_takes_the_feature_and_room() {
    let without = memory_on_plan(|plan| Plan { features: all_but(Feature::CustomDomains), ..plan });
    let api = Api::on(without, |_| {}).await;
    let answer = connect(&api, HOST).await;
    assert_eq!(answer.error(), (403, "feature_not_available_on_current_plan"));
    // Violations come first (ADR 3).
    assert_eq!(connect(&api, "co.uk").await.violations(), [("hostname", "invalid_value")]);
    assert_eq!(connect(&api, "go.example.com").await.error(), (400, "hostname_is_system_domain"));

    let with_two = memory_on_plan(|plan| Plan { limits: PlanLimits { domains: 2, ..plan.limits }, ..plan });
    let api = Api::on(with_two, |_| {}).await;
    api.domain("a.shop.com").await;
    let second = api.domain("b.shop.com").await;
    api.memory.clock.advance(VERIFICATION_PERIOD);
    let full = connect(&api, HOST).await;
    assert_eq!(full.error(), (403, "plan_limit_reached"), "those that failed count");
    assert_eq!(full.body["error"]["message"], json!("The plan allows at most 2 domains."));
    connect(&api, "a.shop.com").await.id(200);
    api.call("DELETE", &path_of(&second)).await.id(200);
    connect(&api, HOST).await.id(201);
}
