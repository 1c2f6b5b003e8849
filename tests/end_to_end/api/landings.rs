//! Landing pages: contract "Landing"; D5, D28, D34, D59.

use serde_json::{Value, json};

use crate::harness::Program;

/// A landing page is created with content, shown to visitors, changed, moved, listed, and deleted.
#[test]
fn d34_a_landing_page_lives_from_creation_to_deletion() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let group = account.create_group("Spring")["id"].clone();
    let body = json!({
        "title": " Fish & <Chips> ", "slug": "menu", "note": "private", "group_id": group,
        "description": "a\nb", "theme": "dark", "accent_color": "#1A2B3C",
        "widgets": [{"type": "heading", "text": "Today"},
            {"type": "link", "title": "Order", "url": "https://example.com/order?a=b"}]
    });
    let created = account.post("/v1/landings", &body).expect_status(201);
    let address = created.header("location").unwrap().to_owned();
    let landing = created.body;
    assert_eq!((&landing["title"], &landing["accent_color"]), (&json!("Fish & <Chips>"), &json!("#1a2b3c")));
    assert_eq!(account.get(&address).expect_status(200).body, landing);
    let page = visitor.open("/menu");
    assert_eq!(page.status, 200);
    assert!(page.body.contains("Fish &#38; &#60;Chips&#62;") && page.body.contains("Today"), "{}", page.body);
    assert!(!page.body.contains("private") && !page.body.contains("/order?a=b"));
    let widget = format!("/menu/w/{}", landing["widgets"][1]["id"].as_str().unwrap());
    assert!(page.body.contains(&format!("<a href=\"{widget}\">")), "{}", page.body);
    assert_eq!(visitor.open(&widget).location(), Some("https://example.com/order?a=b"));
    let group = format!("/v1/groups/{}", group.as_str().unwrap());
    assert_eq!(account.get(&group).body["landings_count"], 1);

    // The widgets that were read go back in another order, and keep their ids.
    let widgets: Vec<Value> = landing["widgets"].as_array().unwrap().iter().rev().cloned().collect();
    let patch =
        json!({"title": "Card", "slug": "card", "description": null, "widgets": widgets, "group_id": null});
    let changed = account.patch(&address, &patch).expect_status(200).body;
    assert_eq!((&changed["widgets"], &changed["description"]), (&json!(widgets), &Value::Null));
    assert_eq!(account.get(&address).body, changed);
    assert_eq!((visitor.open("/menu").status, visitor.open("/card").status), (404, 200));
    assert_eq!(visitor.open(&widget).status, 404);
    assert_eq!(account.get(&group).body["landings_count"], 0);
    assert_eq!(account.walk("/v1/landings", "?q=CAR&is_active=true&group_id=none").len(), 1);
    account.patch(&address, &json!({"is_active": false})).expect_status(200);
    assert_eq!(visitor.open("/card").status, 404);

    let deleted = account.delete(&address).expect_status(200).body;
    let expected =
        json!({"id": landing["id"], "object": "landing", "deleted": true, "message": deleted["message"]});
    assert_eq!(deleted, expected);
    account.get(&address).expect_error(404, "landing_not_found");
    assert_eq!(account.get("/v1/account").body["usage"]["links"], 0);
}
