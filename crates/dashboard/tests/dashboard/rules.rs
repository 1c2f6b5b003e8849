//! Rules of redirects: their page shows them in words, forms leave them as they are, and statistics count by rule (D133, D134).

use signpost_app::admission::enter;
use signpost_app::links;
use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::id::RedirectKind;
use signpost_domain::routing::read_rules_text;
use signpost_domain::{
    Change, IdReference, LinkId, Precondition, RedirectContent, RedirectContentRequest, RedirectRequest,
    Role, Rules, RulesRequest, SecretToken, Submitted, Violations,
};

use crate::edits::link;
use crate::harness::{Browser, Dashboard};
use crate::life::{create, page_of, save};

const RULES: &str = r#"[
    {"name": "german", "conditions": [
        {"type": "country", "in": ["DE", "AT"]},
        {"type": "browser", "in": ["<b>"], "not": true},
        {"type": "date", "until": "2026-12-24T18:00:00Z"}
    ], "target_url": "https://example.com/de?a=1&b=2"},
    {"conditions": [], "split": [
        {"name": "old", "target_url": "https://example.com/old", "weight": 2},
        {"name": "new", "target_url": "https://example.com/new", "weight": 1}
    ]}
]"#;

/// Gives a redirect the rules, as the API does.
async fn set_rules(browser: &Browser, id: &str) {
    let mut violations = Violations::new();
    let list = read_rules_text(RULES, Rules::FIELD, &mut violations).map_or(Change::Keep, Change::Set);
    assert!(violations.is_empty(), "{violations:?}");
    change(browser, id, |content| content.rules = RulesRequest { list, ..RulesRequest::default() }).await;
}

/// Changes the content of a redirect, as the API does.
pub async fn change(browser: &Browser, id: &str, change: impl FnOnce(&mut RedirectContentRequest)) {
    let Dashboard { app, account, .. } = &browser.dashboard;
    let token = SecretToken::parse(&browser.token()).unwrap();
    let (_, caller) = enter(app, Some(&token), *account, "203.0.113.9".parse().unwrap()).await.unwrap();
    let mut content = RedirectContentRequest::default();
    change(&mut content);
    let value = RedirectRequest { content, ..RedirectRequest::default() };
    let request = Submitted { value, violations: Violations::new() };
    let id = IdReference::<RedirectKind>::parse(id);
    links::update::<RedirectContent>(app, &caller, id, request, &Precondition::None).await.unwrap();
}

#[actix_web::test]
async fn d133_the_page_of_a_redirect_shows_its_rules_in_words() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    assert!(!page_of(&editor, &id).await.body.contains("<h2>Rules</h2>"));
    set_rules(&editor, &id).await;
    let page = page_of(&editor, &id).await.body;
    let (_, shown) = page.split_once("<h2>Rules</h2>").unwrap();
    let stored = link(&dashboard, &id).await.into_redirect().unwrap().content.rules;
    let unnamed = stored.as_slice()[1].id;
    for part in [
        "<h3>1. <bdi>german</bdi></h3>",
        "<bdi>Country is Germany or Austria</bdi>",
        "<bdi>Browser is not &#60;b&#62;</bdi>",
        "<bdi>Until 24 Dec 2026, 19:00</bdi>",
        "<p>→ <bdi>https://example.com/de?a=1&#38;b=2</bdi></p>",
        &*format!("<h3>2. <bdi>{unnamed}</bdi></h3><p><bdi>Every visitor</bdi></p>"),
        "<p>→ <b><bdi>old</bdi></b> 66.7 %: <bdi>https://example.com/old</bdi></p>",
        "<p>→ <b><bdi>new</bdi></b> 33.3 %: <bdi>https://example.com/new</bdi></p>",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[actix_web::test]
async fn d133_a_saved_form_leaves_the_rules_as_they_are() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[]).await.followed_id();
    set_rules(&editor, &id).await;
    let rules = async || link(&dashboard, &id).await.into_redirect().unwrap().content.rules;
    let before = rules().await;
    assert_eq!(before.as_slice().len(), 2);
    assert_eq!(save(&editor, &id, "one", &[("note", "Changed")]).await.status, 303);
    assert_eq!(link(&dashboard, &id).await.note.unwrap().as_str(), "Changed");
    assert_eq!(rules().await, before);

    let refused = save(&editor, &id, "one", &[("redirect_status", "301")]).await;
    assert_eq!(refused.status, 422);
    let message = "Must be 302 or 307 beside “Rules”";
    assert!(refused.body.contains(message) && refused.body.contains("<h2>Rules</h2>"), "{}", refused.body);
    assert_eq!(rules().await, before);
}

#[actix_web::test]
async fn d134_statistics_of_a_redirect_count_by_rule() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = create(&editor, "redirect", "one", &[("analytics_enabled", "true")]).await.followed_id();
    for rule in ["try.new", "try.new", ""] {
        let mut values = [""; Dimension::RECORDED.len()];
        values[Dimension::Rule.recorded_place().unwrap()] = rule;
        dashboard.memory.click_store.record([RecordedClick {
            at: dashboard.app.clock.now(),
            account: dashboard.account,
            link: id.parse::<LinkId>().unwrap(),
            kind: RecordedKind::Click,
            visitor: VisitorHash([1; 6]),
            values: Values(values),
        }]);
    }
    let path = dashboard.path(&format!("links/{id}/analytics?part=targets"));
    let page = editor.get(&path).await.body;
    let (_, rules) = page.split_once("<h2>Rules</h2>").unwrap();
    assert!(rules.contains("<bdi>try.new</bdi></a><span class=\"num\"><b>2</b>"), "{rules}");
    assert!(rules.contains("<bdi>No rule: its own target</bdi></a><span class=\"num\"><b>1</b>"), "{rules}");
    let only = editor.get(&format!("{path}&rule=try.new")).await.body;
    assert!(only.contains("Rules: try.new"), "{only}");
}
