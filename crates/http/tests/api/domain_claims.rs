//! Custom domains that several accounts want, and connecting and verifying once only: contract D12, D40, D41, R8.

use serde_json::{Value, json};
use signpost_domain::{AccountId, Hostname, VerificationRecord};

use crate::harness::{Answer, Api, request};
use crate::idempotency::post;

const HOST: &str = "links.shop.com";

/// Another account, which wants what the first one has.
struct Rival {
    account: AccountId,
    key: String,
}

impl Rival {
    async fn of(api: &Api) -> Self {
        let (account, key) = api.account("bob@example.com", "agency").await;
        Self { account, key }
    }

    async fn connect(&self, api: &Api) -> Answer {
        api.send(request("POST", "/v1/domains", &self.key).set_json(json!({"hostname": HOST}))).await
    }

    fn record(&self) -> VerificationRecord {
        VerificationRecord::of(self.account, &Hostname::parse(HOST).unwrap())
    }

    /// Has DNS say that the hostname is this account's.
    fn publish_proof(&self, api: &Api) {
        api.memory.dns.set_texts(&self.record().name(), [self.record().value()]);
    }

    async fn domains(&self, api: &Api) -> Value {
        api.send(request("GET", "/v1/domains", &self.key)).await.body["data"].clone()
    }
}

fn path_of(domain: &Value) -> String {
    format!("/v1/domains/{}", domain["id"].as_str().unwrap())
}

#[actix_web::test]
async fn d41_the_refusal_of_a_hostname_that_another_account_holds_names_the_callers_own_record() {
    let api = Api::start().await;
    api.domain(HOST).await;
    let rival = Rival::of(&api).await;
    let refused = rival.connect(&api).await;
    assert_eq!(refused.error(), (409, "hostname_already_taken"));
    let message = refused.body["error"]["message"].as_str().unwrap();
    let record = rival.record();
    for part in [record.name(), record.value()] {
        assert!(message.contains(&format!("`{part}`")), "{message}");
    }
    let owners = VerificationRecord::of(api.account, &Hostname::parse(HOST).unwrap());
    assert!(!message.contains(&owners.value()), "the holder's record is nobody else's affair");
    assert_eq!(rival.domains(&api).await, json!([]));
}

#[actix_web::test]
async fn d41_r8_proof_beats_a_mere_claim() {
    let api = Api::start().await;
    let claimed = api.domain(HOST).await;
    let rival = Rival::of(&api).await;
    rival.publish_proof(&api);
    let connected = rival.connect(&api).await;
    assert!(connected.id(201) != claimed["id"]);
    assert_eq!(connected.body["status"], json!("pending"));
    assert_eq!(api.call("GET", &path_of(&claimed)).await.body["status"], json!("failed"));
    // The squatter gets it back neither by connecting nor by verifying.
    let again = api.call_with("POST", "/v1/domains", json!({"hostname": HOST})).await;
    assert_eq!(again.error(), (409, "hostname_already_taken"));
    let verified = api.call("POST", &format!("{}/verify", path_of(&claimed))).await;
    assert_eq!(verified.error(), (409, "hostname_already_taken"));
    assert_eq!(rival.domains(&api).await, json!([connected.body]));
}

#[actix_web::test]
async fn d41_what_was_proven_is_never_displaced() {
    let api = Api::start().await;
    let id = api.active_domain(HOST).await;
    let rival = Rival::of(&api).await;
    rival.publish_proof(&api);
    assert_eq!(rival.connect(&api).await.error(), (409, "hostname_already_taken"));
    assert_eq!(api.call("GET", &format!("/v1/domains/{id}")).await.body["status"], json!("active"));
    // Once it is removed, it is free at once (contract D43).
    api.call("DELETE", &format!("/v1/domains/{id}")).await.id(200);
    rival.connect(&api).await.id(201);
}

#[actix_web::test]
async fn d41_when_dns_does_not_say_whose_a_claimed_hostname_is_it_is_503_and_nothing_changes() {
    let api = Api::start().await;
    let claimed = api.domain(HOST).await;
    let rival = Rival::of(&api).await;
    rival.publish_proof(&api);
    api.memory.dns.set_unavailable(true);
    let answer = rival.connect(&api).await;
    assert_eq!(answer.error(), (503, "domain_provider_unavailable"));
    assert_eq!(answer.header("retry-after"), Some("10"));
    assert_eq!(api.call("GET", &path_of(&claimed)).await.body, claimed);
    assert_eq!(rival.domains(&api).await, json!([]));
    api.memory.dns.set_unavailable(false);
    rival.connect(&api).await.id(201);
}

#[actix_web::test]
async fn d12_a_connection_that_is_sent_again_gets_the_first_answer() {
    let api = Api::start().await;
    let body = json!({"hostname": HOST});
    let first = post(&api, "/v1/domains", "new", &body).await;
    first.id(201);
    // The domain is another one by now, the answer is not.
    api.follow_instructions(&first.body);
    api.call("POST", &format!("{}/verify", path_of(&first.body))).await.id(200);
    let again = post(&api, "/v1/domains", "new", &body).await;
    assert!(again.is_replayed());
    assert_eq!(again.repeated(), first.repeated());
    assert!(again.header("location").is_some());

    let existing = post(&api, "/v1/domains", "old", &body).await;
    assert_eq!((existing.status, &existing.body["status"]), (200, &json!("active")));
    api.call("DELETE", &path_of(&first.body)).await.id(200);
    let again = post(&api, "/v1/domains", "old", &body).await;
    assert!(again.is_replayed());
    assert_eq!(again.repeated(), existing.repeated());
    assert_eq!(api.call("GET", "/v1/domains").await.body["data"], json!([]), "nothing was connected");
}

#[actix_web::test]
async fn d12_a_refused_connection_is_remembered_and_an_unanswered_one_is_not() {
    let api = Api::start().await;
    api.domain(HOST).await;
    let rival = Rival::of(&api).await;
    let connect = async |key: &str| {
        let call = request("POST", "/v1/domains", &rival.key).insert_header(("idempotency-key", key));
        api.send(call.set_json(json!({"hostname": HOST}))).await
    };
    let taken = connect("refused").await;
    assert_eq!(taken.error(), (409, "hostname_already_taken"));
    api.memory.dns.set_unavailable(true);
    let unanswered = connect("unanswered").await;
    assert_eq!(unanswered.error(), (503, "domain_provider_unavailable"));
    api.memory.dns.set_unavailable(false);
    rival.publish_proof(&api);
    let again = connect("refused").await;
    assert!(again.is_replayed());
    assert_eq!(again.body["error"]["message"], taken.body["error"]["message"]);
    let carried_out = connect("unanswered").await;
    assert_eq!((carried_out.status, carried_out.is_replayed()), (201, false));
    assert!(connect("unanswered").await.is_replayed());
}

#[actix_web::test]
async fn d12_a_verification_that_is_sent_again_asks_nobody() {
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
    // No body and an empty object are not the same bytes.
    post(&api, &path, "k", &json!({})).await.assert_key_is_anothers();
    let two_keys = request("POST", &path, &api.key).append_header(("idempotency-key", "a"));
    let two_keys = api.send(two_keys.append_header(("idempotency-key", "b"))).await;
    assert_eq!(two_keys.violations(), [("Idempotency-Key", "invalid_format")]);
}
