//! A form that was sent before with other content, as after the back button of the browser: the page shows it again, with what was
//! typed and a new key (D12).

use signpost_domain::Role;

use crate::harness::{Answer, Browser, Dashboard};

/// The key of the form on a page that is sent to `path`.
fn key_of(page: &Answer, path: &str) -> String {
    let form = format!("action=\"{path}\" data-once>");
    let (_, form) = page.body.split_once(&form).unwrap_or_else(|| panic!("no {path} in {}", page.body));
    let (_, key) = form.split_once("name=\"idempotency_key\" value=\"").unwrap();
    key.split('"').next().unwrap().to_owned()
}

async fn send(
    browser: &Browser,
    path: &str,
    others: &[(&str, &str)],
    field: (&str, &str),
    key: &str,
) -> Answer {
    let mut fields = others.to_vec();
    fields.push(field);
    fields.push(("idempotency_key", key));
    browser.post(path, &fields).await
}

/// Sends the form of a screen with one value of a field, with another value under the same key, and then as the answer has it.
/// `status` is that of an accepted form.
async fn check(screen: &str, status: u16, others: &[(&str, &str)], field: &str, [first, second]: [&str; 2]) {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let path = dashboard.path(screen);
    let key = key_of(&owner.get(&path).await, &path);
    let made = send(&owner, &path, others, (field, first), &key).await;
    assert_eq!(made.status, status, "{}", made.body);
    let again = send(&owner, &path, others, (field, second), &key).await;
    assert_eq!(again.status, 422, "{}", again.body);
    for part in ["This form was sent before with other content.", &format!("value=\"{second}\"")] {
        assert!(again.body.contains(part), "{part}: {}", again.body);
    }
    let new_key = key_of(&again, &path);
    assert_ne!(new_key, key);
    let list = owner.get(&path).await.body;
    assert!(list.contains(first) && !list.contains(second), "nothing was saved: {list}");
    let sent = send(&owner, &path, others, (field, second), &new_key).await;
    assert_eq!(sent.status, status, "{}", sent.body);
    let list = owner.get(&path).await.body;
    assert!(list.contains(first) && list.contains(second), "{list}");
}

#[actix_web::test]
async fn d12_a_group_form_sent_with_another_name_is_shown_again() {
    check("groups", 303, &[], "name", ["Spring", "Autumn"]).await;
}

#[actix_web::test]
async fn d12_a_pixel_form_sent_with_another_id_is_shown_again() {
    let others = [("pixel_type", "meta"), ("name", "")];
    check("pixels", 303, &others, "pixel_id", ["123456789012345", "543210987654321"]).await;
}

#[actix_web::test]
async fn d12_an_invitation_form_sent_with_another_address_is_shown_again() {
    check("members", 200, &[("role", "editor")], "email", ["one@example.com", "two@example.com"]).await;
}

#[actix_web::test]
async fn d12_a_key_form_sent_with_another_name_is_shown_again() {
    let others = [("expires", "never"), ("all_scopes", "true")];
    check("keys", 200, &others, "name", ["Reports", "Backups"]).await;
}

#[actix_web::test]
async fn d12_a_domain_form_sent_with_another_hostname_is_shown_again() {
    check("domains", 303, &[], "hostname", ["go.customer.com", "to.customer.com"]).await;
}
