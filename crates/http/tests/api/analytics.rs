//! Analytics queries: D45 to D51.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use signpost_app::analytics::AnalyticsBounds;
use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::{AccountId, Timestamp};
use signpost_memory::InMemory;

use crate::harness::{Api, memory_on_plan, request};

/// Records a click of a link: its time, its visitor, its kind and its values.
pub fn record(
    api: &Api,
    (account, link): (AccountId, &str),
    (at, visitor, kind): (&str, u8, RecordedKind),
    values: &[(Dimension, &str)],
) {
    let mut all = Values::default();
    for (dimension, value) in values {
        all.0[dimension.recorded_place().unwrap()] = *value;
    }
    api.memory.click_store.record([RecordedClick {
        at: Timestamp::parse(at).unwrap(),
        account,
        link: link.parse().unwrap(),
        kind,
        visitor: VisitorHash([visitor; 6]),
        values: all,
    }]);
}

fn millis(text: &str) -> i64 {
    Timestamp::parse(text).unwrap().unix_millis()
}

/// The API at noon on 2 April 2026.
async fn start_in_april() -> Api {
    let api = Api::start().await;
    api.memory.clock.set(Timestamp::parse("2026-04-02T12:00:00Z").unwrap());
    api
}

fn period(first: &str, last: &str) -> String {
    format!("start_date={}&end_date={}", millis(first), millis(last))
}

fn counts(answer: &Value) -> [u64; 4] {
    ["clicks", "visitors", "bots", "blocked"].map(|name| answer[name].as_u64().unwrap())
}

#[actix_web::test]
async fn d46_a_report_has_totals_series_and_dimensions_in_the_requested_order() {
    let api = start_in_april().await;
    let link = api.redirect("sale").await;
    let subject = (api.account, link.as_str());
    let (country, browser) = (Dimension::Country, Dimension::Browser);
    for (at, visitor, kind, values) in [
        ("2026-03-28T22:59:59.999Z", 1, RecordedKind::Click, &[(country, "DE")][..]),
        ("2026-03-28T23:00:00.000Z", 1, RecordedKind::Click, &[(country, "DE"), (browser, "Firefox")]),
        ("2026-03-29T21:59:59.999Z", 1, RecordedKind::Click, &[(country, "AT")]),
        ("2026-03-29T22:00:00.000Z", 2, RecordedKind::Click, &[]),
        ("2026-03-29T22:00:00.000Z", 3, RecordedKind::Bot, &[]),
        ("2026-03-30T21:59:59.999Z", 3, RecordedKind::Blocked, &[(country, "DE")]),
        ("2026-03-30T22:00:00.000Z", 4, RecordedKind::Click, &[]),
    ] {
        record(&api, subject, (at, visitor, kind), values);
    }
    let path = format!(
        "/v1/redirects/{link}/analytics?{}&timezone=europe/berlin&dimensions=country,browser",
        period("2026-03-28T23:00:00Z", "2026-03-30T21:59:59.999Z")
    );
    let answer = api.call("GET", &path).await;
    let expected = json!({
        "object": "analytics",
        "start_date": "2026-03-28T23:00:00.000Z",
        "end_date": "2026-03-30T21:59:59.999Z",
        "timezone": "Europe/Berlin",
        "interval": "day",
        // Visitor 1 came on two UTC days, but on one local day.
        "totals": {"clicks": 3, "visitors": 3, "bots": 1, "blocked": 1},
        "series": [
            {"start": "2026-03-28T23:00:00.000Z", "clicks": 2, "visitors": 2, "bots": 0, "blocked": 0},
            {"start": "2026-03-29T22:00:00.000Z", "clicks": 1, "visitors": 1, "bots": 1, "blocked": 1},
        ],
        "dimensions": {
            "country": [
                {"value": "", "clicks": 1, "visitors": 1},
                {"value": "AT", "clicks": 1, "visitors": 1},
                {"value": "DE", "clicks": 1, "visitors": 1},
            ],
            "browser": [
                {"value": "", "clicks": 2, "visitors": 2},
                {"value": "Firefox", "clicks": 1, "visitors": 1},
            ],
        },
    });
    assert_eq!((answer.status, &answer.body), (200, &expected));
    let names: Vec<_> = answer.body["dimensions"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["country", "browser"]);

    let filtered = api.call("GET", &format!("{path}&country=-,AT")).await;
    assert_eq!(counts(&filtered.body["totals"]), [1, 1, 0, 1], "DE alone is neither AT nor unknown");
    let limited = api.call("GET", &format!("{path}&limit=1")).await;
    assert_eq!(limited.body["dimensions"]["country"].as_array().unwrap().len(), 1);
}

#[actix_web::test]
async fn d50_a_link_without_analytics_is_refused() {
    let api = Api::start().await;
    let body = json!({"name": "a", "target_url": "https://example.com/", "analytics_enabled": false});
    let redirect = api.call_with("POST", "/v1/redirects", body).await.id(201);
    let landing = api
        .call_with("POST", "/v1/landings", json!({"title": "a", "analytics_enabled": false}))
        .await
        .id(201);
    for path in [format!("/v1/redirects/{redirect}/analytics"), format!("/v1/landings/{landing}/analytics")] {
        for path in
            [format!("{path}?start_date=0&end_date=1"), format!("{path}/clicks?start_date=0&end_date=1")]
        {
            assert_eq!(api.call("GET", &path).await.error(), (409, "analytics_not_configured"), "{path}");
        }
    }
}

#[actix_web::test]
async fn d45_analytics_cover_all_links_a_group_or_a_domain() {
    let api = start_in_april().await;
    let (sale, menu) = (api.redirect("sale").await, api.landing("menu").await);
    let group = api.group("spring").await;
    api.call_with("PATCH", &format!("/v1/landings/{menu}"), json!({ "group_id": group })).await.id(200);
    let gone = "rdr_00000000000000000000000000000001";
    let (other, _) = api.account("bob@example.com", "agency").await;
    for (account, link, clicks) in
        [(api.account, sale.as_str(), 3), (api.account, &menu, 2), (api.account, gone, 1), (other, gone, 9)]
    {
        for visitor in 0..clicks {
            record(&api, (account, link), ("2026-04-01T00:00:00Z", visitor, RecordedKind::Click), &[]);
        }
    }
    for (more, clicks) in [
        ("", 6),
        (&format!("&group_id={group}"), 2),
        ("&group_id=none", 3),
        ("&domain=go.example.com", 5),
        ("&domain=other.example.com", 0),
        (&format!("&link={sale},{gone}"), 4),
        (&format!("&link=-{sale}"), 3),
    ] {
        let range = period("2026-04-01T00:00:00Z", "2026-04-01T23:59:59.999Z");
        let answer = api.call("GET", &format!("/v1/analytics?{range}&dimensions=link{more}")).await;
        assert_eq!(answer.body["totals"]["clicks"], clicks, "{more}: {}", answer.text);
        let of_links = answer.body["dimensions"]["link"].as_array().unwrap();
        assert_eq!(
            of_links.iter().map(|each| each["clicks"].as_u64().unwrap()).sum::<u64>(),
            clicks,
            "{more}"
        );
    }
}

#[actix_web::test]
async fn d59_widget_clicks_count_only_in_their_dimension() {
    let api = start_in_april().await;
    let menu = api.landing("menu").await;
    let widget = "wgt_019b5a3d0c1f7b63c4d5e6f708192a3b";
    let at = "2026-04-01T10:00:00Z";
    record(&api, (api.account, &menu), (at, 1, RecordedKind::Click), &[]);
    record(&api, (api.account, &menu), (at, 1, RecordedKind::Widget), &[(Dimension::Widget, widget)]);
    record(&api, (api.account, &menu), (at, 2, RecordedKind::Widget), &[(Dimension::Widget, widget)]);
    let range = period("2026-04-01T00:00:00Z", "2026-04-01T23:59:59.999Z");
    let answer = api.call("GET", &format!("/v1/landings/{menu}/analytics?{range}&dimensions=widget")).await;
    assert_eq!(counts(&answer.body["totals"]), [1, 1, 0, 0]);
    assert_eq!(answer.body["dimensions"]["widget"], json!([{"value": widget, "clicks": 2, "visitors": 2}]));
}

#[actix_web::test]
async fn d51_analytics_are_unavailable_without_the_click_store() {
    let api = Api::start().await;
    api.redirect("sale").await;
    api.memory.click_store.set_unavailable(true);
    for path in [
        "/v1/analytics?start_date=0&end_date=1",
        "/v1/analytics/clicks?start_date=0&end_date=1",
        "/v1/redirects?with=clicks",
    ] {
        let answer = api.call("GET", path).await;
        assert_eq!(answer.error(), (503, "analytics_temporarily_unavailable"), "{path}");
        assert_eq!(answer.header("retry-after"), Some("5"));
    }
    assert_eq!(api.call("GET", "/v1/redirects").await.status, 200);
    api.memory.click_store.set_unavailable(false);
    assert_eq!(api.call("GET", "/v1/analytics?start_date=0&end_date=1").await.status, 200);
}

#[actix_web::test]
async fn d51_a_query_that_waits_too_long_is_a_503() {
    let memory = InMemory {
        analytics_bounds: AnalyticsBounds {
            time_limit: Duration::from_millis(200),
            ..AnalyticsBounds::default()
        },
        ..InMemory::default()
    };
    let api = Api::on(memory, |_| {}).await;
    let (_, other) = api.account("bob@example.com", "agency").await;
    let path = "/v1/analytics?start_date=0&end_date=1";
    let held = api.memory.click_store.hold();
    let (first, second, of_other) =
        tokio::join!(api.call("GET", path), api.call("GET", path), api.send(request("GET", path, &other)));
    for answer in [first, second, of_other] {
        assert_eq!(answer.error(), (503, "analytics_temporarily_unavailable"));
    }
    // The account's second query waited for the first. The other account's query did not wait.
    assert!((2..=3).contains(&api.memory.click_store.begun()), "{}", api.memory.click_store.begun());
    drop(held);
    // A busy machine may miss the time limit, which is short here, even without a wait.
    let start = Instant::now();
    while api.call("GET", path).await.status != 200 {
        assert!(start.elapsed() < Duration::from_mins(1), "the permits are not free again");
    }
}

#[actix_web::test]
async fn d66_lists_show_clicks_of_seven_days_on_request() {
    let api = start_in_april().await;
    let (sale, menu) = (api.redirect("sale").await, api.landing("menu").await);
    let unclicked = api.redirect("quiet").await;
    for at in ["2026-03-26T11:59:59.999Z", "2026-03-26T12:00:00Z", "2026-04-02T10:00:00Z"] {
        record(&api, (api.account, &sale), (at, 1, RecordedKind::Click), &[]);
        record(&api, (api.account, &sale), (at, 1, RecordedKind::Bot), &[]);
    }
    record(&api, (api.account, &menu), ("2026-01-01T00:00:00Z", 1, RecordedKind::Click), &[]);
    let shown = |list: &Value| -> Vec<(Value, Value, Value)> {
        let items = list["data"].as_array().unwrap().iter();
        items
            .map(|item| (item["id"].clone(), item["clicks_7d"].clone(), item["last_clicked_at"].clone()))
            .collect()
    };
    let redirects = api.call("GET", "/v1/redirects?with=clicks").await;
    assert_eq!(
        shown(&redirects.body),
        [
            (json!(unclicked), json!(0), json!(null)),
            (json!(sale), json!(2), json!("2026-04-02T10:00:00.000Z"))
        ]
    );
    let landings = api.call("GET", "/v1/landings?with=clicks").await;
    assert_eq!(shown(&landings.body), [(json!(menu), json!(0), json!("2026-01-01T00:00:00.000Z"))]);
    let plain = api.call("GET", "/v1/redirects").await;
    assert!(plain.body["data"][0].get("clicks_7d").is_none());
    assert_eq!(api.call("GET", "/v1/redirects?with=visits").await.violations(), [("with", "invalid_value")]);
}

#[actix_web::test]
async fn d49_the_refusal_of_a_long_period_names_the_plans_limit() {
    let memory = memory_on_plan(|mut plan| {
        plan.limits.analytics_days = 1;
        plan
    });
    let api = Api::on(memory, |_| {}).await;
    let day = "/v1/analytics?start_date=0&end_date=86399999";
    assert_eq!(api.call("GET", day).await.status, 200);
    for path in ["/v1/analytics", "/v1/analytics/clicks"] {
        let answer = api.call("GET", &format!("{path}?start_date=0&end_date=86400000")).await;
        assert_eq!(answer.error(), (403, "analytics_range_exceeds_plan_limit"));
        assert!(answer.text.contains("at most 1 day"), "{}", answer.text);
    }
}
