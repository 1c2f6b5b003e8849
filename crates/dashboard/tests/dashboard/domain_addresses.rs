//! Where visitors of a custom domain go who open no link (D127).

use signpost_domain::Role;

use crate::domains::{HOST, check, connect, proof_on};
use crate::harness::{Answer, Dashboard};

#[actix_web::test]
async fn d127_the_page_says_where_visitors_without_a_link_go() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let page = editor.get(&path).await;
    let first = page.hidden("revision");
    let form = format!("<form method=\"post\" action=\"{path}\" data-once data-guard>");
    assert!(page.body.contains(&form), "what is typed is not left without a question: {}", page.body);
    assert!(viewer.get(&path).await.body.contains("<dd>nowhere</dd>"));
    let over = "https://example.com/over";
    let form = |root, not_found, revision| {
        [("root_url", root), ("not_found_url", not_found), ("expired_url", over), ("revision", revision)]
    };
    let (root, nothing) = ("https://example.com/", "https://example.com/gone");
    let saved = editor.post(&path, &form(root, nothing, &first)).await;
    assert_eq!(saved.location(), format!("{path}?said=domain-saved"));
    let page = editor.get(&path).await;
    for url in [root, nothing, over] {
        assert!(page.body.contains(&format!("value=\"{url}\"")), "{}", page.body);
        assert!(viewer.get(&path).await.body.contains(&format!("<bdi>{url}</bdi>")));
    }
    let second = page.hidden("revision");
    assert_ne!(first, second);
    // A form that is sent twice is no conflict.
    let again = editor.post(&path, &form(root, nothing, &first)).await;
    assert_eq!(again.location(), saved.location());
    // A refused form keeps both addresses, and says what is wrong with one.
    let own = format!("https://{HOST}/x");
    let refused = editor.post(&path, &form("gone", &own, &second)).await;
    assert_eq!(refused.status, 422);
    for part in ["value=\"gone\"", &format!("value=\"{own}\""), "id=\"e-root_url\""] {
        assert!(refused.body.contains(part), "{part}: {}", refused.body);
    }
    let refused = editor.post(&path, &form("", &own, &second)).await;
    assert!(refused.body.contains("Must not be an address of the domain itself."), "{}", refused.body);
    // As people type it.
    let saved = editor.post(&path, &form("www.example.com", nothing, &second)).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let page = editor.get(&path).await;
    assert!(page.body.contains("value=\"https://www.example.com\""), "{}", page.body);
    let (root, second) = ("https://www.example.com", page.hidden("revision"));
    // A stale form shows both.
    let stale = editor.post(&path, &form("https://example.org/", "", &first)).await;
    assert_eq!(stale.status, 422);
    for part in ["value=\"https://example.org/\"", root, nothing, "Somebody changed this domain"] {
        assert!(stale.body.contains(part), "{part}: {}", stale.body);
    }
    assert_eq!(stale.hidden("revision"), second);
    // An empty field removes the address. One that the form does not have stays, as in a page of the version before.
    let older = [("root_url", " "), ("not_found_url", ""), ("revision", second.as_str())];
    let cleared = editor.post(&path, &older).await;
    assert_eq!(cleared.status, 303, "{}", cleared.body);
    let page = viewer.get(&path).await.body;
    assert_eq!(page.matches("<dd>nowhere</dd>").count(), 2);
    assert!(page.contains(&format!("<bdi>{over}</bdi>")), "{page}");
}

#[actix_web::test]
async fn d127_only_a_change_of_the_addresses_makes_their_form_stale() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let shown = editor.get(&path).await;
    let form = |shown: &Answer, root: &'static str| {
        let hidden = ["revision", "root_url_shown", "not_found_url_shown", "expired_url_shown"];
        let hidden = hidden.map(|name| (name, shown.hidden(name)));
        let typed = [("root_url", root), ("not_found_url", ""), ("expired_url", "")];
        hidden.into_iter().chain(typed.map(|(name, value)| (name, value.to_owned()))).collect::<Vec<_>>()
    };
    let send = async |form: Vec<(&'static str, String)>| {
        let form: Vec<(&str, &str)> = form.iter().map(|(name, value)| (*name, value.as_str())).collect();
        editor.post(&path, &form).await
    };
    // A check moves the revision, and changes nothing that the form shows.
    dashboard.memory.dns.set_alias(HOST, "edge.example.net");
    dashboard.memory.dns.set_texts(&format!("_signpost.{HOST}"), [proof_on(&shown)]);
    let checked = check(&editor, &path).await;
    assert_ne!(checked.hidden("revision"), shown.hidden("revision"));
    let mistaken = send(form(&shown, "gone")).await;
    assert_eq!(mistaken.status, 422);
    assert!(mistaken.body.contains("id=\"e-root_url\""), "{}", mistaken.body);
    let saved = send(form(&shown, "https://example.com/")).await;
    assert_eq!(saved.location(), format!("{path}?said=domain-saved"), "{}", saved.body);
    // Another person's address is not overwritten, also not by a form that was corrected meanwhile.
    let stale = send(form(&mistaken, "https://example.org/")).await;
    assert_eq!(stale.status, 422);
    for part in
        ["Somebody changed this domain", "root: https://example.com/", "value=\"https://example.org/\""]
    {
        assert!(stale.body.contains(part), "{part}: {}", stale.body);
    }
    assert_eq!(stale.hidden("root_url_shown"), "https://example.com/");
    // A mistake does not hide what somebody else stored.
    let conflict = ("conflict", stale.hidden("conflict"));
    let mistaken = send(form(&stale, "gone").into_iter().chain([conflict]).collect()).await;
    assert!(mistaken.body.contains("Somebody changed this domain"), "{}", mistaken.body);
    let saved = send(form(&stale, "https://example.org/")).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    // The form of the version before lacks these fields, so every change makes it stale.
    let old = [("root_url", "https://example.com/"), ("revision", &*shown.hidden("revision"))];
    assert_eq!(editor.post(&path, &old).await.status, 422);
}

#[actix_web::test]
async fn d127_the_address_of_ended_links_is_judged_kept_and_removed() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = connect(&dashboard, &editor, HOST).await;
    let revision = editor.get(&path).await.hidden("revision");
    let form = |expired, revision| [("expired_url", expired), ("revision", revision)];
    let own = format!("https://{HOST}/over");
    for (typed, reason) in
        [("over", "begins with http:// or https://"), (&own, "Must not be an address of the domain itself.")]
    {
        let refused = editor.post(&path, &form(typed, &revision)).await;
        assert_eq!(refused.status, 422, "{typed}");
        for part in ["id=\"e-expired_url\"", reason, &format!("value=\"{typed}\"")] {
            assert!(refused.body.contains(part), "{part}: {}", refused.body);
        }
        assert_eq!(refused.body.matches("aria-invalid").count(), 1, "{}", refused.body);
    }
    let saved = editor.post(&path, &form("www.example.com/over", &revision)).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
    let page = editor.get(&path).await;
    assert!(page.body.contains("value=\"https://www.example.com/over\""), "{}", page.body);
    assert!(page.body.contains("&#34;expired_url&#34;:null"), "the API can do it too: {}", page.body);
    // A stale form shows both.
    let stale = editor.post(&path, &form("https://example.org/", &revision)).await;
    for part in ["ended links: https://www.example.com/over", "value=\"https://example.org/\""] {
        assert!(stale.body.contains(part), "{part}: {}", stale.body);
    }
    let cleared = editor.post(&path, &form("", &stale.hidden("revision"))).await;
    assert_eq!(cleared.status, 303, "{}", cleared.body);
    assert!(!editor.get(&path).await.body.contains("example.com/over"));
}
