//! Links that ask for a password (D125, D126, D131, D137).

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use signpost_app::ports::{Asker, HashingError, HashingPlace, PasswordHasher, Verdict};
use signpost_domain::{FeatureSet, Password, PasswordHash, Plan, PlanName};

use crate::harness::{Answer, Api, commit, link_body, memory_on_plan, request};

const COLLECTIONS: [(&str, &str); 2] = [("/v1/redirects", "redirects"), ("/v1/landings", "landings")];

const PASSWORD: &str = "plover egg tin";

const OTHER: &str = "p\u{e5}ssord";

/// The answer, after a look that no password is in it.
fn without_password(answer: Answer) -> Answer {
    let text = format!("{:?} {}", answer.headers, answer.body);
    for secret in [PASSWORD, OTHER, "plain:"] {
        assert!(!text.contains(secret), "{answer:?}");
    }
    answer
}

/// `has_password` of a link, which has no field `password`.
fn asks(link: &Value) -> bool {
    assert!(link.get("password").is_none(), "{link}");
    link["has_password"].as_bool().unwrap_or_else(|| panic!("D125: {link}"))
}

#[actix_web::test]
async fn d131_every_call_that_writes_links_takes_a_password_and_none_shows_it() {
    for (collection, items) in COLLECTIONS {
        let api = Api::start().await;
        let call =
            async |method: &str, path: &str, body| without_password(api.call_with(method, path, body).await);
        let body = |password: &Value| link_body(collection, json!({ "password": password }));
        let created = call("POST", collection, body(&json!(PASSWORD))).await;
        let path = format!("{collection}/{}", created.id(201));
        assert!(asks(&created.body));
        assert_eq!(api.call("GET", &path).await.body, created.body);
        assert!(asks(&api.call("GET", collection).await.body["data"][0]), "D125");

        let patch = async |fields: Value| {
            let answer = call("PATCH", &path, fields).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            (asks(&answer.body), answer.body["revision"].clone())
        };
        assert_eq!(patch(json!({"note": "x"})).await, (true, json!(2)), "absent fields stay");
        assert_eq!(
            patch(json!({"password": PASSWORD})).await,
            (true, json!(3)),
            "D120: set anew is a change"
        );
        assert_eq!(patch(json!({"password": null})).await, (false, json!(4)));
        assert_eq!(patch(json!({"password": null})).await, (false, json!(4)), "D33");
        assert_eq!(patch(json!({"password": OTHER})).await, (true, json!(5)));

        let by_external_id = format!("{collection}/by-external-id/1");
        let put = async |fields: Value| {
            let answer = call("PUT", &by_external_id, link_body(collection, fields)).await;
            (answer.status, asks(&answer.body))
        };
        assert_eq!(put(json!({"password": PASSWORD})).await, (201, true));
        assert_eq!(put(json!({})).await, (200, true));
        assert_eq!(put(json!({"password": null})).await, (200, false));

        let bulk = format!("{collection}/bulk");
        let of_both = json!({items: [body(&json!(PASSWORD)), body(&json!(null))]});
        let batch = call("POST", &bulk, of_both).await.body;
        let data = |number: usize| &batch["created"][number]["data"];
        assert_eq!([asks(data(0)), asks(data(1))], [true, false]);
        let swapped = json!({items: [
            {"id": data(0)["id"], "password": null}, {"id": data(1)["id"], "password": OTHER},
        ]});
        let batch = call("PATCH", &bulk, swapped).await.body;
        let data = |number: usize| &batch["updated"][number]["data"];
        assert_eq!([asks(data(0)), asks(data(1))], [false, true]);
    }
}

#[actix_web::test]
async fn d131_a_password_has_4_to_128_characters_in_nfc() {
    for (collection, _) in COLLECTIONS {
        let api = Api::start().await;
        let path = format!(
            "{collection}/{}",
            api.call_with("POST", collection, link_body(collection, json!({}))).await.id(201)
        );
        let (long, decomposed) = ("\u{e9}".repeat(128), "e\u{301}".repeat(128));
        for fine in ["    ", "\u{e9}\u{e9}\u{e9}\u{e9}", &long, &decomposed] {
            assert_eq!(
                api.call_with("PATCH", &path, json!({ "password": fine })).await.status,
                200,
                "{fine}"
            );
        }
        for (password, code) in [
            (json!(""), "too_short"),
            (json!("abc"), "too_short"),
            (json!("plover\negg"), "invalid_format"),
            // Six code points, and three characters.
            (json!("e\u{301}".repeat(3)), "too_short"),
            (json!("\u{e9}".repeat(129)), "too_long"),
            (json!(1234), "invalid_type"),
            (json!([PASSWORD]), "invalid_type"),
            (json!({"hash": PASSWORD}), "invalid_type"),
        ] {
            let created = api
                .call_with("POST", collection, link_body(collection, json!({ "password": password })))
                .await;
            assert_eq!(created.violations(), [("password", code)], "{password}");
            let patched = api.call_with("PATCH", &path, json!({ "password": password })).await;
            assert_eq!(patched.violations(), [("password", code)], "{password}");
        }
        let shown = api.call_with("PATCH", &path, json!({"has_password": false})).await;
        assert_eq!(shown.violations(), [("has_password", "unknown_field")]);
    }
}

/// The answer of a batch repeats invalid texts, and a remembered one is stored (D12, D29). Both must leave out passwords.
#[actix_web::test]
async fn d29_d131_no_answer_repeats_an_invalid_password() {
    for (collection, items) in COLLECTIONS {
        let api = Api::start().await;
        let bulk = format!("{collection}/bulk");
        let long = PASSWORD.repeat(10);
        let body = json!({items: [
            link_body(collection, json!({ "password": long })),
            link_body(collection, json!({ "password": long, "slug": "a b" })),
            link_body(collection, json!({"password": PASSWORD})),
        ]});
        let send = async || {
            let request = request("POST", &bulk, &api.key).insert_header(("idempotency-key", "k"));
            without_password(api.send(request.set_json(&body)).await)
        };
        let first = send().await;
        let failed = &first.body["failed"];
        let [alone, beside] = [&failed[0]["error"], &failed[1]["error"]];
        assert_eq!(alone["details"][0]["field"], json!("password"), "{first:?}");
        assert_eq!(alone["details"][0]["code"], json!("too_long"));
        assert!(alone.get("value").is_none_or(Value::is_null), "{alone}");
        assert_eq!(beside["value"], json!("a b"), "another text at fault is repeated");
        let again = send().await;
        assert_eq!((again.header("idempotent-replayed"), &again.body), (Some("true"), &first.body));

        let ids = &first.body["created"][0]["data"]["id"];
        let changes =
            json!({items: [{"id": ids, "password": long}, {"external_id": "none", "password": PASSWORD}]});
        let answer = without_password(api.call_with("PATCH", &bulk, changes).await);
        assert_eq!(answer.body["failed_count"], json!(2), "{answer:?}");
        without_password(api.call_with("POST", collection, json!({"password": long, "url": 1})).await);
    }
}

#[actix_web::test]
async fn d12_another_password_makes_it_another_request() {
    let api = Api::start().await;
    let send = async |password: &str| {
        let body = link_body("/v1/redirects", json!({ "password": password }));
        let request = request("POST", "/v1/redirects", &api.key).insert_header(("idempotency-key", "k"));
        api.send(request.set_json(body)).await
    };
    assert_eq!(send(PASSWORD).await.status, 201);
    assert_eq!(send(PASSWORD).await.header("idempotent-replayed"), Some("true"));
    assert_eq!(send(OTHER).await.violations(), [("Idempotency-Key", "invalid_value")]);
}

#[actix_web::test]
async fn d124_changes_by_filter_set_no_password() {
    let api = Api::start().await;
    let body = json!({"filter": {"all": true}, "patch": {"password": PASSWORD}});
    let answer = without_password(api.call_with("POST", "/v1/redirects/update-matching", body).await);
    assert_eq!(answer.violations(), [("patch.password", "unknown_field")]);
}

/// D137: after a downgrade a link keeps its password and may lose it, but gets no other.
#[actix_web::test]
async fn d137_a_new_password_needs_the_feature_link_access() {
    let bare = PlanName::parse("bare").unwrap();
    let plan = |plan: Plan| Plan { name: bare.clone(), features: FeatureSet::none(), ..plan };
    let api = Api::on(memory_on_plan(plan), |_| {}).await;
    let with = |collection: &str| link_body(collection, json!({"password": PASSWORD}));
    let mut paths = vec![];
    for (collection, _) in COLLECTIONS {
        let id = api.call_with("POST", collection, with(collection)).await.id(201);
        paths.push(format!("{collection}/{id}"));
    }
    let mut work = api.app.store.begin().await.unwrap();
    assert!(work.set_plan(api.account, &bare).await.unwrap());
    commit(work).await;

    let refused = (403, "feature_not_available_on_current_plan");
    for ((collection, items), path) in COLLECTIONS.into_iter().zip(paths) {
        let created = api.call_with("POST", collection, with(collection)).await;
        assert_eq!(created.error(), refused);
        let batch = json!({items: [with(collection), link_body(collection, json!({}))]});
        let batch = api.call_with("POST", &format!("{collection}/bulk"), batch).await.body;
        assert_eq!(batch["failed"][0]["error"]["code"], json!(refused.1));
        assert_eq!((&batch["created_count"], &batch["failed_count"]), (&json!(1), &json!(1)));
        let patch = async |fields: Value| api.call_with("PATCH", &path, fields).await;
        assert!(asks(&patch(json!({"note": "x"})).await.body));
        for other in [PASSWORD, OTHER] {
            assert_eq!(patch(json!({ "password": other })).await.error(), refused);
        }
        assert!(!asks(&patch(json!({"password": null})).await.body));
        assert_eq!(patch(json!({"password": PASSWORD})).await.error(), refused);
    }
}

#[actix_web::test]
async fn d126_links_are_found_by_whether_they_ask_for_a_password() {
    for (collection, _) in COLLECTIONS {
        let api = Api::start().await;
        let create = async |fields: Value| {
            api.call_with("POST", collection, link_body(collection, fields)).await.id(201)
        };
        let (plain, first) = (create(json!({})).await, create(json!({"password": PASSWORD})).await);
        let inactive = create(json!({"password": PASSWORD, "is_active": false})).await;
        let found = async |query: &str| {
            let answer = api.call("GET", &format!("{collection}?{query}")).await;
            assert_eq!(answer.status, 200, "{answer:?}");
            let links = answer.body["data"].as_array().unwrap().clone();
            let ids = links.iter().map(|link| link["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>();
            (ids, answer.body["pagination"]["next_cursor"].as_str().map(str::to_owned))
        };
        for (query, expected) in [
            ("has_password=true", vec![&inactive, &first]),
            ("has_password=false", vec![&plain]),
            ("has_password=true&is_active=true", vec![&first]),
            ("has_password=false&is_active=false", vec![]),
        ] {
            assert_eq!(found(query).await.0.iter().collect::<Vec<_>>(), expected, "{query}");
        }
        let (page, cursor) = found("has_password=true&limit=1").await;
        let next = format!("has_password=true&limit=1&cursor={}", cursor.unwrap());
        assert_eq!((page, found(&next).await.0), (vec![inactive.clone()], vec![first.clone()]));
        for value in ["", "1", "yes", "TRUE", "null"] {
            let answer = api.call("GET", &format!("{collection}?has_password={value}")).await;
            assert_eq!(answer.violations(), [("has_password", "invalid_value")], "{value}");
        }
        if collection == "/v1/redirects" {
            let body = json!({"filter": {"has_password": true}, "patch": {"note": "protected"}});
            let changed = api.call_with("POST", "/v1/redirects/update-matching", body).await.body;
            assert_eq!((&changed["matched_count"], &changed["updated_count"]), (&json!(2), &json!(2)));
        }
    }
}

/// A pool of passwords without a place.
struct FullPool;

#[async_trait]
impl PasswordHasher for FullPool {
    fn weakness(&self, _: &Password, _: &[&str]) -> Option<String> {
        None
    }

    fn place(&self, _: Asker) -> Result<HashingPlace, HashingError> {
        Err(HashingError::Busy)
    }

    async fn hash(&self, _: HashingPlace, _: Password) -> Result<PasswordHash, HashingError> {
        Err(HashingError::Busy)
    }

    async fn hash_each(&self, _: HashingPlace, _: Vec<Password>) -> Result<Vec<PasswordHash>, HashingError> {
        Err(HashingError::Busy)
    }

    async fn verify(
        &self,
        _: HashingPlace,
        _: Password,
        _: Option<PasswordHash>,
    ) -> Result<Verdict, HashingError> {
        Err(HashingError::Busy)
    }
}

#[actix_web::test]
async fn d131_while_too_many_passwords_wait_a_new_one_is_a_503_and_nothing_changes() {
    let api =
        Api::on(signpost_memory::InMemory::default(), |app| app.link_passwords = Arc::new(FullPool)).await;
    for (collection, items) in COLLECTIONS {
        let with = link_body(collection, json!({"password": PASSWORD}));
        let path = format!(
            "{collection}/{}",
            api.call_with("POST", collection, link_body(collection, json!({}))).await.id(201)
        );
        let before = api.call("GET", &path).await.body;
        for (method, path, body) in [
            ("POST", collection, with.clone()),
            ("POST", &format!("{collection}/bulk"), json!({items: [link_body(collection, json!({})), with]})),
            ("PATCH", &path, json!({"password": PASSWORD, "note": "x"})),
        ] {
            let answer = api.call_with(method, path, body).await;
            assert_eq!(answer.error(), (503, "internal_error"), "{method} {path}");
            assert_eq!(answer.header("retry-after"), Some("1"));
            let message = answer.body["error"]["message"].as_str().unwrap();
            assert!(message.contains("Nothing was changed"), "{message}");
        }
        assert_eq!(api.call("GET", &path).await.body, before);
        assert_eq!(api.call("GET", collection).await.body["data"].as_array().unwrap().len(), 1);
        // A password is removed without a hash.
        assert_eq!(api.call_with("PATCH", &path, json!({"password": null, "note": "x"})).await.status, 200);
    }
}
