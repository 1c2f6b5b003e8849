//! Redirects with a status of their own, forwarded queries and parameters of campaigns (D132).

use serde_json::json;

use crate::harness::domains::path_of;
use crate::harness::{Program, Visit, redirect_body};

const TARGET: &str = "https://example.com/shop?lang=de#top";

fn seen(visit: &Visit) -> (u16, Option<&str>, Option<&str>) {
    (visit.status, visit.location(), visit.header("cache-control"))
}

/// From the request over the store to the answer of the next visit.
#[test]
fn d132_a_redirect_sends_its_visitors_on_in_its_own_way() {
    let program = Program::start();
    let account = program.first_account();
    let visitor = program.visitor();
    let utm = json!({"source": "mail", "campaign": "Spring & more"});
    let body = json!({
        "slug": "shop", "target_url": TARGET, "redirect_status": 308, "forward_query": true, "utm": utm,
    });
    let link = account.create_redirect(&redirect_body(body));
    let final_url = "https://example.com/shop?lang=de&utm_source=mail&utm_campaign=Spring%20%26%20more#top";
    assert_eq!((&link["target_url"], &link["final_url"]), (&json!(TARGET), &json!(final_url)));
    let kept = Some("private, max-age=90");
    assert_eq!(seen(&visitor.open("/shop")), (308, Some(final_url), kept));
    let with_query = final_url.replace("#top", "&ref=x%5B%5D#top");
    let path = "/shop?lang=en&utm_source=evil&ref=x[]&src=qr";
    assert_eq!(seen(&visitor.open(path)), (308, Some(with_query.as_str()), kept));

    // A link that leads to this one forwards nothing, and is a 302.
    let first = json!({"slug": "first", "target_url": link["url"]});
    account.create_redirect(&redirect_body(first));
    let not_kept = Some("private, no-store");
    assert_eq!(seen(&visitor.open("/first?ref=x")), (302, Some(final_url), not_kept));

    let one = path_of(&link);
    let refused = account.patch(&one, &json!({"antibot_enabled": true}));
    assert_eq!(refused.violations(), [("redirect_status".to_owned(), "invalid_value".to_owned())]);
    account.patch(&one, &json!({"antibot_enabled": true, "redirect_status": 307})).expect_status(200);
    let guarded = visitor.open("/shop");
    assert_eq!(seen(&guarded), (307, Some(final_url), not_kept));
    let plain =
        json!({"antibot_enabled": false, "redirect_status": 302, "forward_query": false, "utm": null});
    account.patch(&one, &plain).expect_status(200);
    assert_eq!(seen(&visitor.open(path)), (302, Some(TARGET), not_kept));
}
