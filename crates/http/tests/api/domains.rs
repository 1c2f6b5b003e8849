//! Custom domains: contract "Domain", "POST /v1/domains", "GET /v1/domains", D5, D8, D15, D32, D37 to D40, D42, D43.

use std::time::Duration;

use serde_json::{Value, json};
use signpost_domain::{Hostname, RecordMistake, VerificationRecord};

use crate::harness::{Answer, Api, is_id, request};

const HOST: &str = "links.shop.com";

/// Contract "States and transitions".
const VERIFICATION_PERIOD: Duration = Duration::from_hours(72);

async fn connect(api: &Api, hostname: &str) -> Answer {
    api.call_with("POST", "/v1/domains", json!({ "hostname": hostname })).await
}

fn path_of(domain: &Value) -> String {
    format!("/v1/domains/{}", domain["id"].as_str().unwrap())
}

async fn verify(api: &Api, domain: &Value) -> Answer {
    api.call("POST", &format!("{}/verify", path_of(domain))).await
}

/// The time of the next background check.
fn next_check_of(domain: &Value) -> Value {
    assert!(domain["next_check_at"].as_str().unwrap() > domain["created_at"].as_str().unwrap());
    domain["next_check_at"].clone()
}

/// Adds the values that were found instead of its records to a domain.
fn saw<const N: usize>(domain: &mut Value, seen: [(&str, Value); N]) {
    for (record, (status, observed)) in
        domain["dns_instructions"].as_array_mut().unwrap().iter_mut().zip(seen)
    {
        record["status"] = json!(status);
        record["observed"] = observed;
    }
}

/// A domain as the list shows it: without files (D127).
fn listed(domain: &Value) -> Value {
    let mut domain = domain.clone();
    for file in ["apple_app_site_association", "asset_links"] {
        assert!(domain.as_object_mut().unwrap().remove(file).is_some(), "{file}");
    }
    domain
}

#[actix_web::test]
async fn d65_a_failed_domain_shows_the_reason_and_the_values_found() {
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
    expected["dns_instructions"][0]["hint"] = json!(RecordMistake::OtherAlias.hint(HOST));
    expected["updated_at"] = domain["expires_at"].clone();
    expected["revision"] = json!(2);
    assert_eq!(api.call("GET", &path_of(&domain)).await.body, expected);
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([listed(&expected)]));
}

#[actix_web::test]
async fn a_domain_is_connected_verified_and_removed() {
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
        "certificate": {
            "status": "none", "issuer": null, "not_after": null, "renews_at": null, "last_attempt_at": null,
            "next_attempt_at": null, "failure_reason": null, "message": null,
        },
        "dns_instructions": [
            {
                "type": "CNAME", "name": HOST, "value": "edge.example.net",
                "purpose": "Sends the visitors of this hostname to your links. Remove other records of the same name.",
                "status": "unknown", "observed": [], "hint": null,
            },
            {
                "type": "TXT", "name": "_signpost.links.shop.com", "value": proof.value(),
                "purpose": "Proves that the hostname is yours.",
                "status": "unknown", "observed": [], "hint": null,
            },
        ],
        "root_url": null, "not_found_url": null, "expired_url": null,
        "updated_at": "2026-01-31T09:05:07.042Z", "revision": 1,
        "apple_app_site_association": null, "asset_links": null,
    });
    assert_eq!(connected.body, expected);
    assert_eq!(api.call("GET", &path).await.body, expected);
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([listed(&expected)]));
    assert_eq!(api.call("GET", "/v1/account").await.body["usage"]["domains"], json!(1));
    assert_eq!(api.memory.dns.all_lookups(), 0, "connecting a free hostname sends no DNS query");

    let early = verify(&api, &expected).await;
    expected["checked_at"] = json!("2026-01-31T09:05:07.042Z");
    saw(&mut expected, [("missing", json!([])), ("missing", json!([]))]);
    assert_eq!((early.status, &early.body), (200, &expected), "no record exists yet");
    api.follow_instructions(&expected);
    let verified = verify(&api, &expected).await;
    expected["status"] = json!("active");
    expected["revision"] = json!(3);
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
async fn d8_d37_all_violations_of_a_connection_come_before_refusals() {
    let api = Api::start().await;
    let unknown = [("id", "unknown_field"), ("x", "unknown_field")];
    let invalid = [&[("hostname", "invalid_value")][..], &unknown].concat();
    for (hostname, expected) in [("co.uk", invalid), ("go.example.com", unknown.to_vec())] {
        let body = json!({"hostname": hostname, "id": "x"});
        let answer = api.call_with("POST", "/v1/domains?x=1", body).await;
        assert_eq!(answer.violations(), expected, "{hostname}");
    }
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([]));
    assert_eq!(api.memory.dns.all_lookups(), 0);
}

#[actix_web::test]
async fn d40_connecting_an_own_hostname_again_is_a_200_and_changes_nothing() {
    let api = Api::start().await;
    let domain = api.domain(HOST).await;
    api.memory.clock.advance(Duration::from_hours(1));
    let again = connect(&api, "LINKS.shop.com.").await;
    assert_eq!((again.status, &again.body, again.header("location")), (200, &domain, None));
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
    let proof = format!("_signpost.{HOST}");
    assert_eq!(api.memory.dns.lookups(&proof), 2, "an invalid request sends no DNS query");
}

#[actix_web::test]
async fn d42_without_a_dns_answer_verification_is_a_503() {
    let api = Api::start().await;
    let domain = api.domain(HOST).await;
    api.memory.dns.set_unavailable(true);
    let answer = verify(&api, &domain).await;
    assert_eq!(answer.error(), (503, "domain_provider_unavailable"));
    assert_eq!(answer.header("retry-after"), Some("10"));
    assert_eq!(api.call("GET", &path_of(&domain)).await.body, domain);
}

/// The refusal names the record that proves the hostname, and does not disclose the holder.
#[actix_web::test]
async fn d41_the_refusal_of_a_taken_hostname_names_the_callers_own_record() {
    let api = Api::start().await;
    api.domain(HOST).await;
    let (rival, key) = api.account("bob@example.com", "agency").await;
    let refused = api.send(request("POST", "/v1/domains", &key).set_json(json!({"hostname": HOST}))).await;
    assert_eq!(refused.error(), (409, "hostname_already_taken"));
    let message = refused.body["error"]["message"].as_str().unwrap();
    let record_of = |account| VerificationRecord::of(account, &Hostname::parse(HOST).unwrap());
    for part in [record_of(rival).name(), record_of(rival).value()] {
        assert!(message.contains(&format!("`{part}`")), "{message}");
    }
    assert!(!message.contains(&record_of(api.account).value()), "{message}");
    assert_eq!(api.send(request("GET", "/v1/domains", &key)).await.body["data"], json!([]));
}

#[actix_web::test]
async fn d12_a_repeated_verification_sends_no_dns_query() {
    let api = Api::start().await;
    let domain = api.domain(HOST).await;
    let path = format!("{}/verify", path_of(&domain));
    let keyed = async |key: &str| {
        api.send(request("POST", &path, &api.key).insert_header(("idempotency-key", key))).await
    };
    api.memory.dns.set_unavailable(true);
    assert_eq!(keyed("k").await.error(), (503, "domain_provider_unavailable"));
    api.memory.dns.set_unavailable(false);
    let first = keyed("k").await;
    let found = &first.body["dns_instructions"][0]["status"];
    assert_eq!((first.status, found, first.is_replayed()), (200, &json!("missing"), false));
    api.follow_instructions(&domain);
    let asked = api.memory.dns.all_lookups();
    let again = keyed("k").await;
    assert!(again.is_replayed());
    assert_eq!(again.repeated(), first.repeated());
    assert_eq!(api.memory.dns.all_lookups(), asked);
    assert_eq!(keyed("other").await.body["status"], json!("active"));
}

#[actix_web::test]
async fn d65_common_mistakes_in_dns_have_a_hint() {
    let api = Api::start().await;
    let domain = api.domain("go.shop.com").await;
    let path = format!("/v1/domains/{}", domain["id"].as_str().unwrap());
    let proof = domain["dns_instructions"][1]["value"].as_str().unwrap().to_owned();
    let hints = async || {
        let verified = api.call("POST", &format!("{path}/verify")).await;
        let shown = api.call("GET", &path).await;
        assert_eq!(shown.body["dns_instructions"], verified.body["dns_instructions"]);
        [0, 1].map(|index| shown.body["dns_instructions"][index]["hint"].clone())
    };
    assert_eq!(hints().await, [Value::Null, Value::Null]);

    let dns = &api.memory.dns;
    dns.set_texts("_signpost.go.shop.com", [format!("\"{proof}\"")]);
    dns.set_alias("go.shop.com", "\"edge.example.net\"");
    let quoted = json!("The value in DNS has quotation marks around it: enter it without them.");
    assert_eq!(hints().await, [quoted.clone(), quoted]);

    for name in ["_signpost.go.shop.com", "go.shop.com"] {
        dns.remove(name);
    }
    dns.set_texts("_signpost.go.shop.com.shop.com", [proof.clone()]);
    dns.set_alias("go.shop.com.shop.com", "edge.example.net");
    let [alias, text] = hints().await.map(|hint| hint.as_str().unwrap().to_owned());
    assert!(alias.contains("`go.shop.com.shop.com`") && alias.contains("enter `go` as"), "{alias}");
    assert!(
        text.contains("`_signpost.go.shop.com.shop.com`") && text.contains("enter `_signpost.go` as"),
        "{text}"
    );

    dns.remove("_signpost.go.shop.com.shop.com");
    for (texts, explanation) in [
        (&proof[..40], "The value in DNS lacks its end"),
        (&proof.to_uppercase(), "enter it in small letters"),
        ("signpost-verification=0", "another account"),
    ] {
        dns.set_texts("_signpost.go.shop.com", [texts]);
        let [_, text] = hints().await;
        assert!(text.as_str().unwrap().contains(explanation), "{texts}: {text}");
    }
    dns.set_alias("_signpost.go.shop.com", "edge.example.net");
    let asked = dns.all_lookups();
    let verified = api.call("POST", &format!("{path}/verify")).await.body;
    let seen = &verified["dns_instructions"][1];
    assert_eq!((&seen["status"], &seen["observed"]), (&json!("wrong"), &json!(["edge.example.net"])));
    assert!(seen["hint"].as_str().unwrap().contains("`_signpost.go.shop.com` is an alias"), "{seen}");
    let with_an_alias = dns.all_lookups() - asked;
    dns.remove("_signpost.go.shop.com");
    hints().await;
    assert_eq!(dns.all_lookups() - asked, 2 * with_an_alias, "an alias takes no more look-ups");

    // Look-ups that only explain do not make a check fail.
    for name in ["_signpost.go.shop.com.shop.com", "go.shop.com.shop.com"] {
        dns.set_name_unavailable(name, true);
    }
    assert_eq!(hints().await, [Value::Null, Value::Null]);
    api.follow_instructions(&domain);
    assert_eq!(hints().await, [Value::Null, Value::Null]);
}
