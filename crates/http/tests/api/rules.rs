//! Rules and splits of redirects (D125, D126, D133, D134, D137).

use serde_json::{Value, json};
use signpost_domain::routing::Test;
use signpost_domain::{FeatureSet, Plan, PlanName};

use crate::harness::{Answer, Api, commit, is_id, link_body, memory_on_plan};

const REDIRECTS: &str = "/v1/redirects";

const URL: &str = "https://example.com/a";

/// A condition that holds for some visitors.
fn country() -> Value {
    json!({"type": "country", "in": ["DE"]})
}

/// A rule with this name that leads to one target.
fn rule(name: &str) -> Value {
    json!({"name": name, "conditions": [country()], "target_url": URL})
}

fn variant(name: &str) -> Value {
    json!({"name": name, "target_url": URL, "weight": 1})
}

/// A body of a creation with these rules.
fn body(rules: &Value) -> Value {
    link_body(REDIRECTS, json!({ "rules": rules }))
}

/// A condition of every type: as it is sent, and as it is shown.
fn conditions() -> Vec<(Value, Value)> {
    let same = |condition: Value| (condition.clone(), condition);
    let mut all = vec![
        (
            json!({"type": "country", "in": ["de", "AT", "DE"]}),
            json!({"type": "country", "in": ["DE", "AT"]}),
        ),
        same(json!({"type": "device", "in": ["desktop", "mobile", "tablet", "tv", "other"]})),
        same(json!({"type": "os", "in": ["iOS", "Windows"]})),
        same(json!({"type": "browser", "in": ["Firefox"]})),
        (
            json!({"type": "language", "in": ["DE-at", "en"]}),
            json!({"type": "language", "in": ["de-AT", "en"]}),
        ),
        (
            json!({"type": "date", "from": "2026-12-24T18:00:00+01:00"}),
            json!({"type": "date", "from": "2026-12-24T17:00:00.000Z", "until": null}),
        ),
        (
            json!({"type": "date", "from": null, "until": "2026-12-24T18:00:00Z"}),
            json!({"type": "date", "from": null, "until": "2026-12-24T18:00:00.000Z"}),
        ),
        (
            json!({"type": "hours", "timezone": "europe/berlin", "days": [7, 1, 1], "from": "22:00", "until": "04:00"}),
            json!({"type": "hours", "timezone": "Europe/Berlin", "days": [1, 7], "from": "22:00", "until": "04:00"}),
        ),
        (
            json!({"type": "query", "name": "plan", "is": "present"}),
            json!({"type": "query", "name": "plan", "is": "present", "value": null}),
        ),
        (
            json!({"type": "query", "name": "plan", "is": "absent", "value": null}),
            json!({"type": "query", "name": "plan", "is": "absent", "value": null}),
        ),
        same(json!({"type": "query", "name": "plan", "is": "equals", "value": ""})),
        (
            json!({"type": "referrer", "in": ["News.Example.", ""]}),
            json!({"type": "referrer", "in": ["news.example", ""]}),
        ),
        (
            json!({"type": "network", "in": ["192.0.2.0/24", "2001:DB8::/32"]}),
            json!({"type": "network", "in": ["192.0.2.0/24", "2001:db8::/32"]}),
        ),
    ];
    for (index, (sent, shown)) in all.iter_mut().enumerate() {
        let is_negated = index % 2 == 1;
        shown["not"] = json!(is_negated);
        if is_negated {
            sent["not"] = json!(true);
        }
    }
    all
}

#[actix_web::test]
async fn d133_every_condition_is_shown_with_exactly_its_fields_and_can_be_sent_back() {
    let api = Api::start().await;
    let all = conditions();
    for name in Test::TYPES {
        assert!(all.iter().any(|(sent, _)| sent["type"] == name), "{name}");
    }
    let rules: Vec<Value> =
        all.iter().map(|(sent, _)| json!({"conditions": [sent], "target_url": URL})).collect();
    let created = api.call_with("POST", REDIRECTS, body(&json!(rules))).await;
    let path = format!("{REDIRECTS}/{}", created.id(201));
    let shown = created.body["rules"].as_array().unwrap();
    for (shown, (_, expected)) in shown.iter().zip(&all) {
        assert!(is_id(shown["id"].as_str().unwrap(), "rul_"));
        let rule = json!({
            "id": shown["id"], "name": null, "conditions": [expected], "target_url": URL, "split": null,
        });
        assert_eq!(*shown, rule);
    }
    assert_eq!(api.call("GET", &path).await.body, created.body);
    for same in [json!(shown), json!(rules)] {
        let same = api.call_with("PATCH", &path, json!({ "rules": same })).await;
        assert_eq!(same.body, created.body, "D33: ids stay, and the revision too");
    }
}

#[actix_web::test]
async fn d134_a_split_is_shown_with_its_variants() {
    let api = Api::start().await;
    let split = json!([
        {"name": "old", "target_url": "https://example.com/é", "weight": 1_000},
        {"name": "new", "target_url": URL, "weight": 1},
    ]);
    let rules =
        json!([rule("german"), {"name": "try", "conditions": [], "target_url": null, "split": split}]);
    let created = api.call_with("POST", REDIRECTS, body(&rules)).await;
    created.id(201);
    let shown = &created.body["rules"][1];
    let expected =
        json!({"id": shown["id"], "name": "try", "conditions": [], "target_url": null, "split": split});
    assert_eq!(*shown, expected);
}

/// What lists and answers about one redirect show: `has_rules`, and the names of `rules`.
fn names(link: &Value) -> Value {
    let rules = link.get("rules").and_then(Value::as_array);
    json!([
        link["has_rules"],
        rules.map(|rules| rules.iter().map(|rule| rule["name"].clone()).collect::<Vec<_>>())
    ])
}

#[actix_web::test]
async fn d133_every_call_that_writes_redirects_takes_rules() {
    let api = Api::start().await;
    let created = api.call_with("POST", REDIRECTS, body(&json!([rule("a"), rule("b")]))).await;
    let path = format!("{REDIRECTS}/{}", created.id(201));
    assert_eq!(names(&created.body), json!([true, ["a", "b"]]));
    let listed = api.call("GET", REDIRECTS).await.body["data"][0].take();
    assert_eq!(names(&listed), json!([true, null]), "D125");

    let patch = async |fields: Value| {
        let patched = api.call_with("PATCH", &path, fields).await;
        assert_eq!(patched.status, 200, "{patched:?}");
        patched.body
    };
    assert_eq!(names(&patch(json!({"note": "x"})).await), json!([true, ["a", "b"]]), "absent fields stay");
    // A list replaces, and keeps the ids that it names.
    let ids = [0, 1].map(|index| created.body["rules"][index]["id"].clone());
    let mut second = rule("b2");
    second["id"] = ids[1].clone();
    let mut foreign = rule("new");
    foreign["id"] = json!(format!("rul_{}", "0".repeat(32)));
    let replaced = patch(json!({"rules": [second, foreign]})).await;
    assert_eq!(names(&replaced), json!([true, ["b2", "new"]]));
    assert_eq!(replaced["rules"][0]["id"], ids[1]);
    assert!(replaced["rules"][1]["id"] != ids[0] && replaced["rules"][1]["id"] != foreign["id"]);
    for none in [Value::Null, json!([])] {
        patch(json!({"rules": [rule("a")]})).await;
        let removed = patch(json!({ "rules": none })).await;
        assert_eq!(names(&removed), json!([false, []]));
        let same = patch(json!({ "rules": none })).await;
        assert_eq!(same["revision"], removed["revision"], "D33");
    }

    let put = async |rules: Option<Value>| {
        let fields = rules.map_or_else(|| json!({}), |rules| json!({ "rules": rules }));
        api.call_with("PUT", "/v1/redirects/by-external-id/1", link_body(REDIRECTS, fields)).await
    };
    let made = put(Some(json!([rule("a")]))).await;
    assert_eq!((made.status, names(&made.body)), (201, json!([true, ["a"]])));
    let kept = put(None).await;
    assert_eq!((kept.status, names(&kept.body)), (200, json!([true, ["a"]])));
    assert_eq!(names(&put(Some(json!(null))).await.body), json!([false, []]));

    let bulk = format!("{REDIRECTS}/bulk");
    let items = json!({"redirects": [body(&json!([rule("a")])), body(&json!(null))]});
    let batch = api.call_with("POST", &bulk, items).await.body;
    let data = |number: usize| &batch["created"][number]["data"];
    assert_eq!([names(data(0)), names(data(1))], [json!([true, null]), json!([false, null])]);
    let items = json!({"redirects": [{"id": data(1)["id"], "rules": [rule("b")]}, {"id": data(0)["id"], "rules": []}]});
    let batch = api.call_with("PATCH", &bulk, items).await.body;
    let data = |number: usize| names(&batch["updated"][number]["data"]);
    assert_eq!([data(0), data(1)], [json!([true, null]), json!([false, null])]);
}

#[actix_web::test]
async fn d126_lists_are_filtered_by_whether_links_have_rules() {
    let api = Api::start().await;
    let with = api.call_with("POST", REDIRECTS, body(&json!([rule("a")]))).await.id(201);
    let without = api.redirect("plain").await;
    let page = api.landing("menu").await;
    for (path, expected) in [
        ("/v1/redirects?has_rules=true", vec![&with]),
        ("/v1/redirects?has_rules=false", vec![&without]),
        ("/v1/redirects?has_rules=true&slug=plain", vec![]),
        ("/v1/landings?has_rules=true", vec![]),
        ("/v1/landings?has_rules=false", vec![&page]),
    ] {
        let list = api.call("GET", path).await.body;
        let ids: Vec<_> = list["data"].as_array().unwrap().iter().map(|link| link["id"].clone()).collect();
        assert_eq!(json!(ids), json!(expected), "{path}");
    }
    let refused = api.call("GET", "/v1/redirects?has_rules=1").await;
    assert_eq!(refused.violations(), [("has_rules", "invalid_value")]);
}

async fn refused(api: &Api, rules: &Value) -> Answer {
    api.call_with("POST", REDIRECTS, body(rules)).await
}

#[actix_web::test]
async fn d8_d133_every_violation_of_every_rule_has_its_path() {
    let api = Api::start().await;
    let rules = json!([
        null,
        {"name": "A b", "conditions": [country()], "target_url": "x", "target": URL},
        {"conditions": [
            {"type": "country", "in": ["DE", "??", 7]},
            {"type": "city", "in": ["Berlin"], "radius": 3},
            {"in": ["DE"], "radius": 3},
            {"type": "device", "in": ["phone"], "not": "no"},
            {"type": "date"},
        ]},
        {"name": "a", "conditions": [
            {"type": "date", "from": "2026-12-24T18:00:00Z", "until": "2026-12-24T18:00:00Z"},
            {"type": "date", "from": "tomorrow"},
            {"type": "hours", "timezone": "Mars/Olympus", "days": [0, 8, "Mon"], "from": "24:00", "until": "9:00"},
            {"type": "query", "name": "", "is": "like", "value": "x"},
            {"type": "query", "name": "a", "is": "equals"},
        ], "target_url": URL, "split": [variant("a"), variant("b")]},
        {"name": "a", "conditions": [
            {"type": "query", "name": "a", "is": "present", "value": "x"},
            {"type": "referrer", "in": ["https://example.com/"]},
            {"type": "network", "in": ["192.0.2.0/33", "example.com"]},
            {"type": "language", "in": []},
            {"type": "os", "in": [""]},
        ], "split": [variant("a")]},
        {"conditions": [], "split": [variant("a"), variant("a"), {"name": "c", "target_url": "ftp://x", "weight": 0}, 7]},
        {"target_url": "https://example.com/"},
    ]);
    assert_eq!(
        refused(&api, &rules).await.violations(),
        [
            ("rules[0]", "invalid_type"),
            ("rules[1].name", "invalid_format"),
            ("rules[1].target", "unknown_field"),
            ("rules[1].target_url", "invalid_format"),
            ("rules[2]", "required"),
            ("rules[2].conditions[0].in[1]", "invalid_value"),
            ("rules[2].conditions[0].in[2]", "invalid_type"),
            ("rules[2].conditions[1].radius", "unknown_field"),
            ("rules[2].conditions[1].type", "invalid_value"),
            ("rules[2].conditions[2].radius", "unknown_field"),
            ("rules[2].conditions[2].type", "required"),
            ("rules[2].conditions[3].in[0]", "invalid_value"),
            ("rules[2].conditions[3].not", "invalid_type"),
            ("rules[2].conditions[4]", "required"),
            ("rules[3].conditions[0].until", "invalid_value"),
            ("rules[3].conditions[1].from", "invalid_format"),
            ("rules[3].conditions[2].days[0]", "out_of_range"),
            ("rules[3].conditions[2].days[1]", "out_of_range"),
            ("rules[3].conditions[2].days[2]", "invalid_type"),
            ("rules[3].conditions[2].from", "invalid_format"),
            ("rules[3].conditions[2].timezone", "invalid_value"),
            ("rules[3].conditions[2].until", "invalid_format"),
            ("rules[3].conditions[3].is", "invalid_value"),
            ("rules[3].conditions[3].name", "too_short"),
            ("rules[3].conditions[4].value", "required"),
            ("rules[3].split", "invalid_value"),
            ("rules[4].conditions[0].value", "invalid_value"),
            ("rules[4].conditions[1].in[0]", "invalid_value"),
            ("rules[4].conditions[2].in[0]", "invalid_format"),
            ("rules[4].conditions[2].in[1]", "invalid_format"),
            ("rules[4].conditions[3].in", "too_few_items"),
            ("rules[4].conditions[4].in[0]", "too_short"),
            ("rules[4].name", "invalid_value"),
            ("rules[4].split", "too_few_items"),
            ("rules[5].conditions", "too_few_items"),
            ("rules[5].split[1].name", "invalid_value"),
            ("rules[5].split[2].target_url", "invalid_format"),
            ("rules[5].split[2].weight", "out_of_range"),
            ("rules[5].split[3]", "invalid_type"),
            ("rules[6].conditions", "required"),
        ]
    );
    // Items of a batch are named from the item on.
    let batch = json!({"redirects": [body(&json!([rule("a"), rule("A")]))]});
    let failed = api.call_with("POST", "/v1/redirects/bulk", batch).await.body["failed"][0].take();
    assert_eq!(failed["error"]["details"][0]["field"], json!("rules[1].name"));
    let landing = json!({"title": "First", "rules": []});
    let answer = api.call_with("POST", "/v1/landings", landing).await;
    assert_eq!(answer.violations(), [("rules", "unknown_field")]);
}

#[actix_web::test]
async fn d133_d134_numbers_of_rules_conditions_values_and_variants_are_bounded() {
    let api = Api::start().await;
    let rules = |count: usize| (0..count).map(|number| rule(&format!("r{number}"))).collect::<Value>();
    let with = |conditions: Value| json!([{"conditions": conditions, "target_url": URL}]);
    let split = |count: usize| {
        let variants = (0..count).map(|number| variant(&format!("v{number}"))).collect::<Value>();
        json!([{"conditions": [], "split": variants}])
    };
    let systems = |count: usize| with(json!([{"type": "os", "in": vec!["iOS"; count]}]));
    let named = |name: String| json!([{"name": name, "conditions": [], "target_url": URL}]);
    for (most, beyond, expected) in [
        (rules(20), rules(21), ("rules", "too_many_items")),
        (
            with(json!(vec![country(); 5])),
            with(json!(vec![country(); 6])),
            ("rules[0].conditions", "too_many_items"),
        ),
        (split(10), split(11), ("rules[0].split", "too_many_items")),
        (systems(20), systems(21), ("rules[0].conditions[0].in", "too_many_items")),
        (named("a".repeat(32)), named("a".repeat(33)), ("rules[0].name", "too_long")),
    ] {
        refused(&api, &most).await.id(201);
        assert_eq!(refused(&api, &beyond).await.violations(), [expected]);
    }
}

/// A body of the greatest rules fits into the 1 MiB of a request, but a store and a node would have to keep them.
#[actix_web::test]
async fn d133_all_rules_of_a_redirect_together_are_bounded() {
    let api = Api::start().await;
    let long = format!("https://example.com/{}", "x".repeat(2_028));
    let of_length = |count: usize| {
        let rule = |number: usize| {
            let variants: Value = (0..10)
                .map(|variant| json!({"name": format!("v{variant}"), "target_url": long, "weight": 1}))
                .collect();
            json!({"name": format!("r{number}"), "conditions": [country()], "split": variants})
        };
        (0..count).map(rule).collect::<Value>()
    };
    refused(&api, &of_length(3)).await.id(201);
    for count in [4, 20] {
        assert_eq!(refused(&api, &of_length(count)).await.violations(), [("rules", "too_long")], "{count}");
    }
}

/// D24: the rules of targets hold for those of rules too.
#[actix_web::test]
async fn d133_no_rule_leads_to_the_redirect_itself() {
    let api = Api::start().await;
    let mut loops = body(&json!([
        {"conditions": [country()], "target_url": "https://go.example.com/loop"},
        {"conditions": [], "split": [variant("a"), {"name": "b", "target_url": "https://go.example.com/loop", "weight": 1}]},
    ]));
    loops["slug"] = json!("loop");
    let expected =
        [("rules[0].target_url", "invalid_value"), ("rules[1].split[1].target_url", "invalid_value")];
    assert_eq!(api.call_with("POST", REDIRECTS, loops).await.violations(), expected);
}

#[actix_web::test]
async fn d132_parameters_of_a_campaign_are_judged_with_the_targets_of_rules() {
    let api = Api::start().await;
    let long = format!("https://example.com/{}", "x".repeat(2_028));
    let source = "ä".repeat(255);
    let mut both = body(&json!([{"conditions": [], "target_url": long}]));
    both["utm"] = json!({"source": source, "term": source});
    let answer = api.call_with("POST", REDIRECTS, both).await;
    assert!(answer.violations().iter().all(|(_, code)| *code == "too_long"), "{answer:?}");
}

/// D137: after a downgrade a redirect keeps its rules and may lose them, but gets no others.
#[actix_web::test]
async fn d137_new_rules_need_the_feature_routing() {
    let bare = PlanName::parse("bare").unwrap();
    let plan = |plan: Plan| Plan { name: bare.clone(), features: FeatureSet::none(), ..plan };
    let api = Api::on(memory_on_plan(plan), |_| {}).await;
    let created = api.call_with("POST", REDIRECTS, body(&json!([rule("a")]))).await;
    let path = format!("{REDIRECTS}/{}", created.id(201));
    let mut work = api.app.store.begin().await.unwrap();
    assert!(work.set_plan(api.account, &bare).await.unwrap());
    commit(work).await;

    let missing = (403, "feature_not_available_on_current_plan");
    assert_eq!(refused(&api, &json!([rule("a")])).await.error(), missing);
    refused(&api, &json!([])).await.id(201);
    let patch = async |fields: Value| api.call_with("PATCH", &path, fields).await;
    for kept in [json!({"note": "x"}), json!({"rules": created.body["rules"]}), json!({"rules": [rule("a")]})]
    {
        assert_eq!(patch(kept).await.body["rules"], created.body["rules"]);
    }
    assert_eq!(patch(json!({"rules": [rule("b")]})).await.error(), missing);
    assert_eq!(names(&patch(json!({"rules": null})).await.body), json!([false, []]));
    assert_eq!(patch(json!({"rules": created.body["rules"]})).await.error(), missing);
}
