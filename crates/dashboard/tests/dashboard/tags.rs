//! Tags in forms and lists, and their page (D122).

use signpost_domain::Role;

use crate::harness::{Browser, Dashboard};

/// A redirect with these tags, by its form.
async fn link(dashboard: &Dashboard, editor: &Browser, name: &str, tags: &str) -> String {
    let form = [("kind", "redirect"), ("target_url", "https://example.com/"), ("name", name), ("tags", tags)];
    editor.post(&dashboard.path("links"), &form).await.followed_id()
}

/// The path of the page's only tag with this name.
fn tag(dashboard: &Dashboard, page: &str, name: &str) -> String {
    let row = page.split("<li>").find(|row| row.contains(&format!("<bdi>{name}</bdi>")));
    let id =
        row.and_then(|row| row.split("/tags/tag_").nth(1)).unwrap_or_else(|| panic!("no {name}: {page}"));
    dashboard.path(&format!("tags/tag_{}", &id[..32]))
}

#[actix_web::test]
async fn d122_a_form_names_the_tags_of_a_link() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let sale = link(&dashboard, &editor, "First", " Sale , mail,,SALE").await;
    let path = dashboard.path(&format!("links/{sale}"));
    let page = editor.get(&path).await;
    assert!(page.body.contains("value=\"mail, Sale\""), "{}", page.body);
    let revision = page.hidden("revision");
    let save = async |tags: &str| {
        let form = [
            ("target_url", "https://example.com/"),
            ("name", "First"),
            ("slug", "first"),
            ("tags", tags),
            ("revision", &revision),
        ];
        editor.post(&path, &form).await
    };
    for (tags, message) in [
        ("a,x\u{1}".to_owned(), "control characters"),
        ("y".repeat(51), "at most 50 characters"),
        ((0..21).map(|number| number.to_string()).collect::<Vec<_>>().join(","), "at most 20"),
    ] {
        let refused = save(&tags).await;
        assert_eq!(refused.status, 422, "{tags}");
        assert!(refused.body.contains("e-tags") && refused.body.contains(message), "{}", refused.body);
    }
    assert_eq!(save("").await.status, 303);
    assert!(!editor.get(&path).await.body.contains("mail, Sale"));
}

/// A rename moves no revision, so the open form does not count as stale.
#[actix_web::test]
async fn d122_a_form_that_was_open_during_a_rename_brings_no_tag_back() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = link(&dashboard, &editor, "First", "old, other").await;
    let path = dashboard.path(&format!("links/{id}"));
    let open = editor.get(&path).await;
    assert_eq!(open.hidden("tags_shown"), "old, other");
    let tags = editor.get(&dashboard.path("tags")).await.body;
    editor.post(&tag(&dashboard, &tags, "old"), &[("name", "new")]).await;
    let save = async |tags: &str| {
        let form = [
            ("target_url", "https://example.com/"),
            ("name", "Second"),
            ("slug", "first"),
            ("tags", tags),
            ("tags_shown", "old, other"),
            ("revision", &editor.get(&path).await.hidden("revision")),
        ];
        assert_eq!(editor.post(&path, &form).await.status, 303);
        editor.get(&path).await.hidden("tags_shown")
    };
    assert_eq!(save("old, other").await, "new, other");
    assert_eq!(save("old").await, "old", "a text of one's own counts");
    assert_eq!(save("").await, "");
}

/// What was typed into a row of a later part of the list is not lost, and the list stays at that part.
#[actix_web::test]
async fn d122_a_refused_rename_in_a_later_part_of_the_list_keeps_the_text() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    for part in 0..2 {
        let names: Vec<String> = (0..15).map(|number| format!("tag {part} {number}")).collect();
        link(&dashboard, &editor, "Tagged", &names.join(",")).await;
    }
    let first = editor.get(&dashboard.path("tags")).await.body;
    let older = first
        .split("href=\"")
        .filter_map(|rest| rest.split('"').next())
        .find(|href| href.contains("?after="));
    let older = older.unwrap().to_owned();
    let second = editor.get(&older).await.body;
    let row = tag(&dashboard, &second, "tag 0 0");
    let query = &older[older.find('?').unwrap()..];
    assert!(second.contains(&format!("action=\"{row}{query}\"")), "{second}");
    let refused = editor.post(&format!("{row}{query}"), &[("name", "a,b")]).await;
    assert!(refused.status == 422 && refused.body.contains("value=\"a,b\""), "{}", refused.body);
    let renamed = editor.post(&format!("{row}{query}"), &[("name", "new")]).await;
    assert!(renamed.location().ends_with(&format!("{query}&said=tag-renamed")), "{}", renamed.location());
}

#[actix_web::test]
async fn d126_the_list_shows_tags_that_lead_to_their_links() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    link(&dashboard, &editor, "First", "Spring sale").await;
    link(&dashboard, &editor, "Second", "mail").await;
    let list = editor.get(&dashboard.path("links")).await.body;
    let href = list.split("\"?tag=").nth(1).unwrap().split('"').next().unwrap();
    assert_eq!(href, "mail");
    let found = editor.get(&dashboard.path("links?tag=SPRING+sale")).await.body;
    assert!(found.contains("<bdi>First</bdi>") && !found.contains("<bdi>Second</bdi>"), "{found}");
    assert!(found.contains("value=\"SPRING sale\""), "the filter shows what is looked for");
    let both = editor.get(&dashboard.path("links?tag=mail,Spring%20sale")).await.body;
    assert!(both.contains("<bdi>First</bdi>") && both.contains("<bdi>Second</bdi>"), "{both}");
    let long = "x".repeat(51);
    let refused = editor.get(&dashboard.path(&format!("links?tag={long}"))).await;
    assert!(refused.status == 200 && refused.body.contains("at most 50 characters"), "{}", refused.body);
}

#[actix_web::test]
async fn d122_tags_are_renamed_merged_and_deleted() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    link(&dashboard, &editor, "First", "old, other").await;
    let path = dashboard.path("tags");
    let page = editor.get(&path).await.body;
    let (old, other) = (tag(&dashboard, &page, "old"), tag(&dashboard, &page, "other"));
    let refused = editor.post(&old, &[("name", "a,b")]).await;
    assert!(refused.status == 422 && refused.body.contains("value=\"a,b\""), "{}", refused.body);
    assert!(editor.post(&old, &[("name", "new")]).await.location().ends_with("tags?said=tag-renamed"));
    let page = editor.get(&path).await.body;
    assert!(page.contains("<bdi>new</bdi>") && page.contains("1 link<"), "{page}");
    editor.post(&other, &[("name", "NEW")]).await;
    let page = editor.get(&path).await.body;
    assert!(!page.contains("<bdi>other</bdi>") && page.contains("<bdi>new</bdi>"), "{page}");
    assert!(editor.post(&format!("{old}/delete"), &[]).await.location().ends_with("tags?said=tag-deleted"));
    assert!(editor.get(&path).await.body.contains("No tags yet"));
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    link(&dashboard, &editor, "Second", "kept").await;
    let shown = viewer.get(&path).await.body;
    assert!(shown.contains("<bdi>kept</bdi>") && !shown.contains("/delete"), "{shown}");
}
