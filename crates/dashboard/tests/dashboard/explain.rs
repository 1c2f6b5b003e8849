//! The page that tests a link or an address (D136).

use signpost_app::explain::{AppliedRule, Check, Explanation, Steps, VisitFacts, VisitOutcome, VisitQuery};
use signpost_app::ports::ExplainedVisit;
use signpost_domain::routing::RuleName;
use signpost_domain::{CountryCode, Role, RuleId, Timestamp};

use crate::harness::{Answer, Browser, Dashboard};
use crate::life::{create, page_of};

/// A visit that a rule sends elsewhere, and whose last checks were skipped.
fn sent_on() -> Explanation {
    let mut steps = Steps::default();
    steps.pass(Check::Existence, "The <b>link</b> is active.");
    steps.stop(Check::Credit, "No click is left.");
    Explanation {
        outcome: VisitOutcome::Redirect,
        status: 307,
        location: Some("https://example.com/de?a=1&b=2".to_owned()),
        rule: Some(AppliedRule {
            id: RuleId::from_bytes([7; 16]),
            name: RuleName::parse("german").ok(),
            variant: RuleName::parse("new").ok(),
        }),
        steps: steps.finish(),
    }
}

async fn test(browser: &Browser, id: &str, query: &str) -> Answer {
    browser.get(&browser.dashboard.path(&format!("links/{id}/test{query}"))).await
}

fn last_asked(dashboard: &Dashboard) -> ExplainedVisit {
    dashboard.memory.explainer.asked().pop().unwrap()
}

#[actix_web::test]
async fn d136_the_page_of_a_link_leads_to_its_test() {
    let dashboard = Dashboard::start().await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    dashboard.memory.explainer.answer_with(sent_on());
    for kind in ["redirect", "landing"] {
        let id = create(&editor, kind, kind, &[]).await.followed_id();
        let path = dashboard.path(&format!("links/{id}/test"));
        let page = page_of(&viewer, &id).await.body;
        assert!(page.contains(&format!("href=\"{path}\">Test this link")), "{page}");
        let page = test(&viewer, &id, "").await;
        assert_eq!(page.status, 200, "{}", page.body);
        for part in [
            "<h2>Sent on</h2><p>The visitor is sent to another address.</p>",
            "<dt>Status</dt><dd>307</dd>",
            "<dt>Leads to</dt><dd><bdi>https://example.com/de?a=1&#38;b=2</bdi></dd>",
            "<dt>Rule</dt><dd><bdi>german, variant new</bdi></dd>",
            "<b class=\"name\">1. Link</b><p>The &#60;b&#62;link&#60;/b&#62; is active.</p></div><b class=\"tag on\">Passed</b>",
            "<b class=\"name\">9. Limit of clicks</b><p>No click is left.</p></div><b class=\"tag del\">Stopped here</b>",
            "</p></div><b class=\"tag\">Not reached</b>",
        ] {
            assert!(page.body.contains(part), "{part}: {}", page.body);
        }
        let asked = last_asked(&dashboard);
        assert_eq!((asked.link.to_string(), asked.facts), (id, VisitFacts::default()));
    }
}

#[actix_web::test]
async fn d136_values_in_reasons_are_set_apart() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    let mut steps = Steps::default();
    steps.pass(Check::Existence, "The rule is `<b>`, and its variant `new`.");
    steps.stop(Check::Credit, "`curl` has an odd ` in it.");
    dashboard.memory.explainer.answer_with(Explanation { steps: steps.finish(), ..sent_on() });
    let page = test(&editor, &id, "").await.body;
    for part in [
        "<p>The rule is <code>&#60;b&#62;</code>, and its variant <code>new</code>.</p>",
        "<p>`curl` has an odd ` in it.</p>",
    ] {
        assert!(page.contains(part), "{part}: {page}");
    }
}

#[actix_web::test]
async fn d136_every_field_of_the_form_says_something_about_the_visit_and_stays() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    let query = "?country=DE&agent=iphone&language=de-AT&referrer=https%3A%2F%2Fnews.example.com%2F&query=plan%3Dpro\
                 &zone=Europe%2FBerlin&at=2026-12-24T18%3A00&address=2001%3Adb8%3A%3A7";
    let page = test(&editor, &id, query).await;
    assert_eq!(page.status, 200, "{}", page.body);
    let VisitFacts { country, user_agent, language, referrer, query, at, address } =
        last_asked(&dashboard).facts;
    assert_eq!(country.map(CountryCode::as_str), Some("DE"));
    assert!(user_agent.is_some_and(|agent| agent.as_str().contains("iPhone")));
    let sent = [language, referrer].map(|header| header.map(|header| header.as_str().to_owned()));
    assert_eq!(sent, ["de-AT", "https://news.example.com/"].map(|text| Some(text.to_owned())));
    assert_eq!(query.as_ref().map(VisitQuery::as_str), Some("plan=pro"));
    assert_eq!(at, Timestamp::parse("2026-12-24T17:00:00Z").ok());
    assert_eq!(address, "2001:db8::7".parse().ok());
    for part in [
        "<option value=\"DE\" selected>Germany",
        "<option value=\"iphone\" selected>",
        "name=\"language\" value=\"de-AT\"",
        "name=\"at\" value=\"2026-12-24T18:00\"",
        "name=\"zone\" value=\"Europe/Berlin\"",
        "<details class=\"more\" open><summary>More about the visitor",
        "&#34;country&#34;:&#34;DE&#34;",
        "&#34;at&#34;:&#34;2026-12-24T17:00:00.000Z&#34;",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let places =
        ["Åland Islands", "Albania", "Algeria", "Türkiye", "Turkmenistan", "Turks and Caicos Islands"];
    let places =
        places.map(|name| page.body.find(&format!(">{name}")).unwrap_or_else(|| panic!("no {name}")));
    assert!(places.is_sorted(), "countries are listed without regard to accents: {places:?}");
    let typed = test(&editor, &id, "?agent=googlebot&user_agent=curl%2F8.14.1").await;
    assert_eq!(typed.status, 200);
    assert_eq!(last_asked(&dashboard).facts.agent(), "curl/8.14.1", "what is typed counts");
    test(&editor, &id, "?agent=none").await;
    assert_eq!(last_asked(&dashboard).facts.agent(), "");
    test(&editor, &id, "?agent=nonsense&country=").await;
    assert_eq!(last_asked(&dashboard).facts, VisitFacts::default());
}

#[actix_web::test]
async fn d136_a_mistake_is_shown_at_its_field_and_nothing_is_explained() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    let long = "x".repeat(2_049);
    for (query, field) in [
        ("country=XX".to_owned(), "country"),
        ("address=192.0.2".to_owned(), "address"),
        ("at=tomorrow".to_owned(), "at"),
        // The clock shows it never, and twice.
        ("at=2026-03-29T02:30&zone=Europe/Berlin".to_owned(), "at"),
        ("at=2026-10-25T02:30&zone=Europe/Berlin".to_owned(), "at"),
        (format!("user_agent={long}"), "user_agent"),
        ("referrer=a%0Ab".to_owned(), "referrer"),
    ] {
        let page = test(&editor, &id, &format!("?{query}")).await;
        assert_eq!(page.status, 422, "{query}");
        assert!(page.body.contains(&format!("id=\"e-{field}\"")), "{query}: {}", page.body);
        assert!(page.body.contains(&format!("href=\"#f-{field}\"")), "{query}: {}", page.body);
        assert!(!page.body.contains("How it was decided"), "{query}: {}", page.body);
    }
    assert!(dashboard.memory.explainer.asked().is_empty());
    let chosen = test(&editor, &id, "?at=2026-10-25T02:30&zone=Europe/Berlin&at_which=second").await;
    assert_eq!(chosen.status, 200, "{}", chosen.body);
    assert_eq!(last_asked(&dashboard).at, Timestamp::parse("2026-10-25T01:30:00Z").unwrap());
}

#[actix_web::test]
async fn d136_an_address_is_explained_if_the_account_has_a_link_there() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    dashboard.memory.explainer.answer_with(sent_on());
    let explain = async |url: &str| editor.get(&dashboard.path(&format!("test?url={url}"))).await;
    let empty = editor.get(&dashboard.path("test")).await;
    assert_eq!(empty.status, 200);
    assert!(
        !empty.body.contains("How it was decided") && empty.body.contains("id=\"f-url\""),
        "{}",
        empty.body
    );
    for url in ["https://go.example.com/one?a=b", "go.example.com/one?a=b"] {
        let page = explain(url).await;
        assert!(page.body.contains("<h2>Sent on</h2>"), "{url}: {}", page.body);
        let asked = last_asked(&dashboard);
        assert_eq!(asked.link.to_string(), id);
        assert_eq!(asked.facts.query.as_ref().map(VisitQuery::as_str), Some("a=b"));
        assert!(
            page.body.contains("&#34;url&#34;:&#34;https://go.example.com/one?a=b&#34;"),
            "{}",
            page.body
        );
    }
    let unknown = explain("https://go.example.com/nothing").await;
    assert!(
        unknown.body.contains("<h2>No link of yours</h2>") && !unknown.body.contains("<dt>Status</dt>"),
        "{}",
        unknown.body
    );
    assert_eq!(unknown.status, 200);
    let local = explain("localhost:8081/one").await;
    assert!(local.status == 200 && local.body.contains("https://localhost:8081/one"), "{}", local.body);
    let refused = explain("ftp://go.example.com/one").await;
    assert_eq!(refused.status, 422);
    assert!(refused.body.contains("id=\"e-url\">Must be a URL that begins with"), "{}", refused.body);
}

#[actix_web::test]
async fn d2_a_link_of_another_account_is_not_tested() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let stranger = dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await;
    for id in [id.as_str(), "rdr_00000000000000000000000000000000", "nonsense"] {
        let page = stranger.get(&format!("/{elsewhere}/links/{id}/test")).await;
        assert_eq!(page.status, 404, "{id}");
    }
    let foreign = stranger.get(&format!("/{elsewhere}/test?url=https://go.example.com/one")).await;
    assert!(foreign.body.contains("<h2>No link of yours</h2>"), "{}", foreign.body);
}
