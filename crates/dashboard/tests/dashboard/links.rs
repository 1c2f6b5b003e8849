//! Links: the list, the forms, stale edits, and several at once.

use std::time::Duration;

use futures_util::future::join_all;
use signpost_domain::Role;

use crate::harness::{Browser, Dashboard};

const REDIRECT: [(&str, &str); 6] = [
    ("kind", "redirect"),
    ("target_url", "https://example.com/autumn"),
    ("slug", "autumn"),
    ("name", "Autumn"),
    ("is_active", "on"),
    ("analytics_enabled", "on"),
];

async fn redirect(browser: &Browser, slug: &str) -> String {
    let form = [
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("slug", slug),
        ("name", slug),
        ("is_active", "on"),
    ];
    let created = browser.post(&browser.dashboard.path("links"), &form).await;
    browser.dashboard.memory.clock.advance(Duration::from_millis(1));
    created.followed_id()
}

async fn landing(browser: &Browser, slug: &str) -> String {
    let form = [("kind", "landing"), ("title", slug), ("slug", slug), ("theme", "auto"), ("is_active", "on")];
    let created = browser.post(&browser.dashboard.path("links"), &form).await;
    browser.dashboard.memory.clock.advance(Duration::from_millis(1));
    created.followed_id()
}

#[actix_web::test]
async fn d12_a_form_sent_twenty_times_at_once_makes_one_link() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let key = editor.get(&dashboard.path("links/new")).await.hidden("idempotency_key");
    let mut form = REDIRECT.to_vec();
    form.retain(|(name, _)| *name != "slug");
    form.push(("idempotency_key", &key));
    let path = dashboard.path("links");
    let answers = join_all((0..20).map(|_| editor.post(&path, &form))).await;
    let places: std::collections::BTreeSet<String> =
        answers.iter().map(|answer| answer.location().to_owned()).collect();
    assert_eq!(places.len(), 1, "{places:?}");
    assert_eq!(dashboard.app.store.usage(dashboard.account).await.unwrap().unwrap().links, 1);
}

#[actix_web::test]
async fn both_kinds_are_listed_together_newest_first_on_every_page() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let mut made = vec![];
    for number in 0..60 {
        let slug = format!("s{number:02}");
        made.push(if number % 7 == 3 {
            landing(&editor, &slug).await
        } else {
            redirect(&editor, &slug).await
        });
    }
    let (mut walked, mut path) = (vec![], dashboard.path("links"));
    loop {
        let page = editor.get(&path).await;
        assert_eq!(page.status, 200);
        walked.extend(
            page.body
                .split("name=\"ids\" value=\"")
                .skip(1)
                .map(|rest| rest.split('"').next().unwrap().to_owned()),
        );
        let mut older =
            page.body.split("href=\"").filter_map(|rest| rest.split_once('"')).map(|(href, _)| href);
        let Some((_, after)) = older.find_map(|href| href.split_once("?after=")) else { break };
        path = dashboard.path(&format!("links?after={after}"));
    }
    made.reverse();
    assert_eq!(walked, made);
}

#[actix_web::test]
async fn the_list_is_searched_and_filtered() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let autumn = redirect(&editor, "autumn").await;
    let page = landing(&editor, "winter").await;
    let shown = async |query: &str| {
        let list = editor.get(&dashboard.path(&format!("links?{query}"))).await;
        assert_eq!(list.status, 200, "{query}");
        [list.body.contains(&autumn), list.body.contains(&page)]
    };
    for (query, expected) in [
        ("", [true, true]),
        ("q=AUTU", [true, false]),
        ("q=nothing", [false, false]),
        ("kind=landing", [false, true]),
        ("kind=redirect", [true, false]),
        ("active=off", [false, false]),
        ("active=on", [true, true]),
        ("state=off", [false, false]),
        ("state=on", [true, true]),
        ("state=active", [true, true]),
        ("state=inactive", [false, false]),
        ("state=expired&active=on", [false, false]),
        ("state=expired%2Cactive", [true, true]),
        ("state=unknown", [false, false]),
        ("group=none", [true, true]),
        ("group=grp_1", [false, false]),
        ("domain=go.example.com", [true, true]),
        ("domain=other.example", [false, false]),
    ] {
        assert_eq!(shown(query).await, expected, "{query}");
    }
}

#[actix_web::test]
async fn d126_the_list_is_filtered_by_the_states_that_links_show() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let off = redirect(&editor, "off").await;
    editor.post(&dashboard.path("links/bulk"), &[("ids", &off), ("action", "deactivate")]).await;
    let active = redirect(&editor, "active").await;
    for (query, value, expected) in [
        ("state=active", "active", [true, false]),
        ("state=inactive", "inactive", [false, true]),
        ("state=lost", "lost", [false, false]),
        ("state=active%2Cactive", "active", [true, false]),
        ("state=active,inactive", "inactive,active", [true, true]),
        ("active=scheduled%2Cinactive", "inactive,scheduled", [false, true]),
        ("active=off", "off", [false, true]),
        ("active=on", "on", [true, false]),
    ] {
        let list = editor.get(&dashboard.path(&format!("links?{query}"))).await.body;
        let shows = [&active, &off].map(|id| list.contains(&format!("links/{id}")));
        assert_eq!(shows, expected, "{query}");
        assert!(list.contains(&format!("<option value=\"{value}\" selected>")), "{query}: {list}");
        assert_eq!(list.contains("Switched o"), value.starts_with('o'), "{query}");
        assert!(list.contains("class=\"n\">1</b>"), "one filter is set: {list}");
    }
    let several = editor.get(&dashboard.path("links?state=active,lost,inactive")).await.body;
    let option = "<option value=\"lost,inactive,active\" selected>No address, Inactive, Active";
    assert!(several.contains(option), "{several}");
    assert!(several.contains("name=\"back\" value=\"?state=lost%2Cinactive%2Cactive\""), "{several}");
}

#[actix_web::test]
async fn d126_a_list_of_a_state_that_there_is_not_is_empty_and_says_why() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let link = redirect(&editor, "flyer").await;
    let row = format!("links/{link}");
    for wrong in ["paused", "Active", "lost%00", "active%2C", "active%2Cpaused", "ON"] {
        for query in [
            format!("state={wrong}"),
            format!("active={wrong}"),
            format!("state={wrong}&q=go.example.com%2Fflyer"),
            format!("state={wrong}&after={}", "f".repeat(32)),
        ] {
            let list = editor.get(&dashboard.path(&format!("links?{query}"))).await;
            assert_eq!(list.status, 200, "{query}");
            assert!(list.body.contains("State must be one or more of lost, "), "{query}: {}", list.body);
            assert!(
                !list.body.contains(&row) && !list.body.contains("name=\"ids\""),
                "{query}: {}",
                list.body
            );
            assert!(list.body.contains("name=\"state\""), "another can be chosen: {}", list.body);
            assert!(!list.body.contains("class=\"n\""), "no filter is set: {}", list.body);
            let mut hrefs = list.body.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
            let carries = |href: &str| href.contains("state=") || href.contains("active=");
            assert!(!hrefs.any(carries), "{query}: {}", list.body);
        }
    }
    let form = [("ids", link.as_str()), ("action", "deactivate"), ("back", "?state=paused")];
    let done = editor.post(&dashboard.path("links/bulk"), &form).await.body;
    assert!(done.contains("State must be one or more of lost, ") && !done.contains(&row), "{done}");
}

#[actix_web::test]
async fn a_pasted_short_address_finds_its_link() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let flyer = redirect(&editor, "flyer").await;
    let other = redirect(&editor, "flyer-2").await;
    let shown = async |query: &str| {
        let path = dashboard.path("links?");
        let query = url::form_urlencoded::Serializer::new(path).append_pair("q", query).finish();
        let list = editor.get(&query.replace("?&", "?")).await;
        assert_eq!(list.status, 200, "{query}");
        [list.body.contains(&flyer), list.body.contains(&other)]
    };
    for query in ["go.example.com/flyer", "https://go.example.com/flyer", "http://GO.example.com/flyer/?x=1"]
    {
        assert_eq!(shown(query).await, [true, false], "{query}");
    }
    assert_eq!(shown("flyer").await, [true, true]);
    assert_eq!(shown("example.com/").await, [true, true], "targets are found as before");
    assert_eq!(shown("go.example.com/nothing").await, [false, false]);
}

#[actix_web::test]
async fn a_refused_form_names_the_fields_and_keeps_what_was_typed() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    redirect(&editor, "taken").await;
    for (form, reason) in [
        (&[("target_url", "")][..], "Must not be empty"),
        (&[("target_url", "https://exa mple.com/<x>")], "Must"),
        (&[("target_url", "https://example.com/"), ("slug", "two words")], "Must"),
        (&[("target_url", "https://example.com/"), ("slug", "taken")], "already taken"),
        (&[("target_url", "https://example.com/"), ("countries", "DE, Narnia")], "Must"),
        (&[("target_url", "https://example.com/"), ("domain", "not-mine.example")], "No such domain"),
        (&[("target_url", "https://example.com/"), ("group_id", "grp_1")], "No such group"),
    ] {
        let mut all = vec![("kind", "redirect"), ("note", "kept & safe")];
        all.extend_from_slice(form);
        let answer = editor.post(&dashboard.path("links"), &all).await;
        assert_eq!(answer.status, 422, "{form:?}");
        assert!(answer.body.contains(reason), "{form:?}: {}", answer.body);
        assert!(answer.body.contains("kept &#38; safe"), "{}", answer.body);
    }
    assert_eq!(dashboard.app.store.usage(dashboard.account).await.unwrap().unwrap().links, 1);
}

#[actix_web::test]
async fn an_edit_keeps_what_it_does_not_show_and_saves_what_it_does() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = editor.post(&dashboard.path("links"), &REDIRECT).await.followed_id();
    let path = dashboard.path(&format!("links/{id}"));
    let page = editor.get(&path).await;
    let version = page.hidden("revision");
    dashboard.memory.clock.advance(Duration::from_secs(1));
    let form = [
        ("revision", version.as_str()),
        ("target_url", "https://example.com/winter"),
        ("slug", "autumn"),
        ("domain", "go.example.com"),
        ("name", "Winter"),
        ("note", "first\r\nsecond"),
        ("countries", "de, FR"),
    ];
    assert_eq!(editor.post(&path, &form).await.location(), format!("{path}?said=saved"));
    let saved = editor.get(&path).await;
    for part in ["https://example.com/winter", "Winter", "DE, FR", "first\nsecond"] {
        assert!(saved.body.contains(part), "{part}: {}", saved.body);
    }
}

#[actix_web::test]
async fn a_stale_edit_is_refused_and_both_versions_are_shown() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = editor.post(&dashboard.path("links"), &REDIRECT).await.followed_id();
    let path = dashboard.path(&format!("links/{id}"));
    let version = editor.get(&path).await.hidden("revision");
    dashboard.memory.clock.advance(Duration::from_secs(1));
    let edit = |version: &str, name: &'static str| {
        vec![
            ("revision".to_owned(), version.to_owned()),
            ("target_url".to_owned(), "https://example.com/autumn".to_owned()),
            ("slug".to_owned(), "autumn".to_owned()),
            ("domain".to_owned(), "go.example.com".to_owned()),
            ("name".to_owned(), name.to_owned()),
            ("is_active".to_owned(), "on".to_owned()),
        ]
    };
    let send = async |fields: Vec<(String, String)>| {
        let fields: Vec<(&str, &str)> =
            fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        editor.post(&path, &fields).await
    };
    assert_eq!(send(edit(&version, "Theirs")).await.status, 303);
    let stale = send(edit(&version, "Mine")).await;
    assert_eq!(stale.status, 409);
    assert!(stale.body.contains("Mine") && stale.body.contains("Theirs"), "{}", stale.body);
    let again = stale.hidden("revision");
    assert_ne!(again, version);
    assert_eq!(send(edit(&again, "Mine")).await.status, 303, "mine anyway");
    assert!(editor.get(&path).await.body.contains("Mine"));
}

#[actix_web::test]
async fn several_links_are_deactivated_moved_and_deleted_with_a_result_for_each() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let [one, two] = [redirect(&editor, "one").await, landing(&editor, "two").await];
    let gone = format!("rdr_{}", "0".repeat(32));
    let bulk = async |fields: &[(&str, &str)]| {
        let mut form = vec![("ids", one.as_str()), ("ids", two.as_str()), ("ids", gone.as_str())];
        form.extend_from_slice(fields);
        editor.post(&dashboard.path("links/bulk"), &form).await
    };
    let deactivated = bulk(&[("action", "deactivate")]).await;
    assert!(deactivated.body.contains("2 links deactivated. One failed:"), "{}", deactivated.body);
    assert!(deactivated.body.contains("No such redirect."));
    assert!(editor.get(&dashboard.path("links?active=off")).await.body.contains(&one));
    editor.post(&dashboard.path("groups"), &[("name", "Season")]).await;
    let groups = editor.get(&dashboard.path("groups")).await;
    let group = format!("grp_{}", groups.body.split("/groups/grp_").nth(1).unwrap().get(..32).unwrap());
    assert!(bulk(&[("action", "move"), ("group", &group)]).await.body.contains("2 links moved."));
    let asked = bulk(&[("action", "delete")]).await;
    assert!(
        asked.body.contains("Delete these links?"),
        "without scripts the question is a page: {}",
        asked.body
    );
    assert!(editor.get(&dashboard.path("links")).await.body.contains(&one), "nothing is deleted yet");
    assert!(bulk(&[("action", "delete"), ("confirmed", "yes")]).await.body.contains("2 links deleted."));
    assert!(!editor.get(&dashboard.path("links")).await.body.contains(&one));
    let none = editor.post(&dashboard.path("links/bulk"), &[("action", "delete")]).await;
    assert!(none.location().ends_with("said=none-selected"));
}

#[actix_web::test]
async fn a_link_has_a_qr_code_of_its_own_account_only() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = redirect(&editor, "one").await;
    let code = editor.get(&dashboard.path(&format!("links/{id}/qr.svg"))).await;
    assert_eq!((code.status, code.header("content-type")), (200, "image/svg+xml"));
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let stranger = dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await;
    assert_eq!(stranger.get(&format!("/{elsewhere}/links/{id}/qr.svg")).await.status, 404);
    assert_eq!(stranger.get(&format!("/{elsewhere}/links/{id}")).await.status, 404);
}
