//! Forms of groups, pixels and settings, and texts that try to become markup.

use signpost_domain::Role;

use crate::harness::Dashboard;

const PAYLOADS: [&str; 4] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onmouseover='alert(1)",
    "{{7191*7}}${7191*7}",
];

#[actix_web::test]
async fn texts_of_people_never_become_markup() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    for payload in PAYLOADS {
        let zone = ("time_zone", "UTC");
        owner
            .post("/me", &[("name", payload), ("email", "owner@example.com"), zone, ("theme", "auto")])
            .await;
        owner.post(&dashboard.path("groups"), &[("name", payload)]).await;
        owner
            .post(&dashboard.path("keys"), &[("name", payload), ("expires", "never"), ("all_scopes", "y")])
            .await;
        owner
            .post(
                &dashboard.path("pixels"),
                &[("pixel_type", "meta"), ("pixel_id", "123456789012345"), ("name", payload)],
            )
            .await;
        let form = [
            ("kind", "redirect"),
            ("target_url", "https://example.com/"),
            ("name", payload),
            ("note", payload),
            ("tags", payload),
        ];
        let link = owner.post(&dashboard.path("links"), &form).await.followed_id();
        let refused = [
            ("kind", "redirect"),
            ("target_url", payload),
            ("slug", payload),
            ("countries", payload),
            ("tags", payload),
            ("note", payload),
            ("zone", payload),
            ("starts_at", payload),
            ("expires_at", payload),
            ("fallback_url", payload),
            ("max_clicks", payload),
            ("redirect_status", payload),
            ("utm_source", payload),
        ];
        let typed = owner.post(&dashboard.path("links"), &refused).await;
        let query: String = url::form_urlencoded::byte_serialize(payload.as_bytes()).collect();
        let mut pages = vec![typed];
        for path in [
            "/me".to_owned(),
            format!("/me?email={query}&said={query}"),
            format!("/sign-in?next={query}"),
            format!("/confirm?next={query}"),
            dashboard.path(&format!(
                "links?q={query}&group={query}&tag={query}&domain={query}&kind={query}&after={query}"
            )),
            dashboard.path(&format!("links/{link}")),
            dashboard.path(&format!("links/new?target_url={query}")),
            dashboard.path("groups"),
            dashboard.path("tags"),
            dashboard.path("pixels"),
            dashboard.path(&format!("keys?expires=30&name={query}&scopes={query}")),
        ] {
            pages.push(owner.get(&path).await);
        }
        for page in pages {
            for dangerous in ["<script>alert", "<img src=x", "' onmouseover='alert"] {
                assert!(!page.body.contains(dangerous), "{payload}: {}", page.body);
            }
            assert!(!page.body.contains("50337"), "no template is evaluated twice: {payload}");
        }
    }
}

#[actix_web::test]
async fn settings_are_saved_and_a_taken_address_is_refused() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    dashboard.member("taken@example.com", Role::Viewer).await;
    let form = |email: &'static str| {
        [
            ("name", "Ada"),
            ("email", email),
            ("time_zone", "Asia/Kolkata"),
            ("theme", "dark"),
            ("date_language", "de"),
        ]
    };
    assert_eq!(owner.post("/me", &form("owner@example.com")).await.location(), "/me?said=saved");
    let page = owner.get("/me").await;
    assert!(page.body.contains("data-theme=\"dark\""), "{}", page.body);
    let taken = owner.post("/me", &form("TAKEN@example.com")).await;
    assert_eq!(taken.status, 422);
    assert!(taken.body.contains("another user"), "{}", taken.body);
    assert_eq!(owner.post("/me", &form("new@example.com")).await.status, 303);
    dashboard.memory.clock.advance(std::time::Duration::from_mins(15));
    let asked = owner.post("/me", &form("later@example.com")).await;
    assert!(asked.location().starts_with("/confirm?next="), "{asked:?}");
    assert!(owner.get("/me").await.body.contains("new@example.com"), "the address is unchanged");
}

#[actix_web::test]
async fn groups_are_created_renamed_and_deleted() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let path = dashboard.path("groups");
    assert_eq!(editor.post(&path, &[("name", " ")]).await.status, 422);
    let key = editor.get(&path).await.hidden("idempotency_key");
    for _ in 0..2 {
        editor.post(&path, &[("name", "Autumn"), ("idempotency_key", &key)]).await;
    }
    let page = editor.get(&path).await;
    assert_eq!(
        page.body.matches("/groups/grp_").count(),
        page.body.matches("/delete").count() * 2,
        "{}",
        page.body
    );
    let id = page.body.split("/groups/grp_").nth(1).unwrap().get(..32).unwrap().to_owned();
    let version = page.hidden("revision");
    dashboard.memory.clock.advance(std::time::Duration::from_secs(1));
    let rename = async |name| {
        editor.post(&format!("{path}/grp_{id}"), &[("name", name), ("revision", &version)]).await
    };
    assert_eq!(rename("Winter").await.status, 303);
    assert_eq!(rename("Winter").await.status, 303, "the same form is no conflict");
    let stale = rename("Spring").await;
    assert_eq!(stale.status, 409);
    for part in ["its name is “Winter” now", "value=\"Spring\""] {
        assert!(stale.body.contains(part), "{part}: {}", stale.body);
    }
    assert!(editor.get(&path).await.body.contains("Winter"));
    let shown = stale.hidden("revision");
    let again = editor.post(&format!("{path}/grp_{id}"), &[("name", "Summer"), ("revision", &shown)]).await;
    assert_eq!(again.status, 303, "{}", again.body);
    assert!(editor.get(&path).await.body.contains("Summer"));
    let long = "x".repeat(101);
    let refused = editor.post(&format!("{path}/grp_{id}"), &[("name", &long)]).await;
    assert!(refused.status == 422 && refused.body.contains(&long), "{}", refused.body);
    assert_eq!(editor.post(&format!("{path}/grp_{id}/delete"), &[]).await.status, 303);
    assert!(!editor.get(&path).await.body.contains("Summer"));
}

#[actix_web::test]
async fn a_form_is_bounded_and_has_the_type_of_forms() {
    use actix_web::test::TestRequest;

    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let large = "x".repeat(200_000);
    assert_eq!(editor.post(&dashboard.path("groups"), &[("name", &large)]).await.status, 413);
    let json = TestRequest::post()
        .uri(&dashboard.path("groups"))
        .insert_header(("content-type", "application/json"))
        .set_payload("{\"name\":\"x\"}");
    assert_eq!(editor.send(json).await.status, 405);
}
