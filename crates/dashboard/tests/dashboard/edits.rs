//! What a saved form leaves as it is.

use signpost_app::admission::enter;
use signpost_app::links;
use signpost_app::ports::LinksOf;
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    AnyContent, CheckPlan, CustomDomain, CustomDomainStatus, Hostname, IdReference, Life, Link, LinkId,
    Placement, RedirectContent, RedirectStatus, Role, Schedule, SecretToken, TargetUrl, Timestamp, Utm,
    UtmValue, Way,
};

use crate::harness::{Browser, Dashboard};

const HOSTNAME: &str = "links.customer.example";

/// Saves the form of a link with what it shows, and with `changed` in place of its fields.
async fn save(browser: &Browser, id: &str, changed: &[(&str, &str)]) {
    let path = browser.dashboard.path(&format!("links/{id}"));
    let version = browser.get(&path).await.hidden("revision");
    let mut form =
        vec![("revision", version.as_str()), ("target_url", "https://example.com/"), ("name", "One")];
    form.extend_from_slice(changed);
    let saved = browser.post(&path, &form).await;
    assert_eq!(saved.status, 303, "{}", saved.body);
}

/// A link as it is stored.
pub async fn link(dashboard: &Dashboard, id: &str) -> Link {
    let id: LinkId = id.parse().unwrap();
    dashboard.app.store.links_with_ids(dashboard.account, &[id]).await.unwrap().remove(0)
}

/// An active domain of the account.
async fn domain(dashboard: &Dashboard) -> CustomDomain {
    let app = &dashboard.app;
    let hostname = Hostname::parse(HOSTNAME).unwrap();
    let connected = CustomDomain::connect(app.ids.next(), dashboard.account, hostname, app.clock.now());
    let domain = CustomDomain { status: CustomDomainStatus::Active { misdirected_since: None }, ..connected };
    let mut work = app.store.begin().await.unwrap();
    let unchecked = CheckPlan { next_check_at: None, checks_made: 0 };
    work.insert_custom_domain(&domain, unchecked, u64::MAX).await.unwrap();
    work.commit().await.unwrap();
    domain
}

#[actix_web::test]
async fn d22_a_link_without_an_address_gets_none_by_being_saved() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let domain = domain(&dashboard).await;
    let form =
        [("kind", "redirect"), ("target_url", "https://example.com/"), ("slug", "one"), ("domain", HOSTNAME)];
    let id = editor.post(&dashboard.path("links"), &form).await.followed_id();
    let mut work = dashboard.app.store.begin().await.unwrap();
    let now = dashboard.app.clock.now();
    work.lose_some_links(LinksOf::Account(dashboard.account), &domain.hostname, 1_000, now).await.unwrap();
    work.commit().await.unwrap();
    let page = editor.get(&dashboard.path(&format!("links/{id}"))).await;
    assert!(page.body.contains("<option value=\"\" selected>No address"), "{}", page.body);
    save(&editor, &id, &[("domain", ""), ("slug", "one")]).await;
    assert!(matches!(link(&dashboard, &id).await.placement, Placement::Lost { slug: Some(_) }));
    save(&editor, &id, &[("domain", "go.example.com"), ("slug", "one")]).await;
    assert!(matches!(link(&dashboard, &id).await.placement, Placement::System { .. }));
}

/// A form that was shown by the version before has none of these fields.
#[actix_web::test]
async fn d128_d132_a_saved_form_keeps_the_life_and_the_way_of_a_link() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let form = [("kind", "redirect"), ("target_url", "https://example.com/"), ("slug", "one")];
    let id = editor.post(&dashboard.path("links"), &form).await.followed_id();
    let before = link(&dashboard, &id).await;
    let schedule = Schedule::new(Some(Timestamp::EPOCH), Some(Timestamp::LAST)).unwrap();
    let life = Life { schedule, fallback_url: TargetUrl::parse("https://example.com/over").ok() };
    let mut living = Link { life, ..before.clone() };
    let utm = Utm::new(|part| UtmValue::parse(part.as_str()).ok());
    let way = Way { redirect_status: RedirectStatus::TemporaryRedirect, forward_query: true, utm };
    let AnyContent::Redirect(content) = &mut living.content else { panic!("{living:?}") };
    content.way = way.clone();
    let mut work = dashboard.app.store.begin().await.unwrap();
    work.lock_link(dashboard.account, before.id()).await.unwrap().unwrap();
    work.update_link(dashboard.account, &before, &living).await.unwrap();
    work.commit().await.unwrap();
    save(&editor, &id, &[("slug", "one"), ("note", "Changed")]).await;
    let saved = link(&dashboard, &id).await;
    assert_eq!((saved.note.unwrap().as_str(), saved.life), ("Changed", living.life));
    let AnyContent::Redirect(content) = saved.content else { panic!("a landing page") };
    assert_eq!(content.way, way);
}

#[actix_web::test]
async fn pixels_keep_their_order_and_those_beyond_the_newest_hundred_stay() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let pixels = dashboard.path("pixels");
    let pixel = async |number: u32| {
        let code = format!("{:015}", 100_000_000_000_000_u64 + u64::from(number));
        let made =
            editor.post(&pixels, &[("pixel_type", "meta"), ("pixel_id", &code), ("name", &code)]).await;
        assert_eq!(made.status, 303, "{}", made.body);
        let page = editor.get(&pixels).await;
        format!("pxl_{}", page.body.split("/pixels/pxl_").nth(1).unwrap().get(..32).unwrap())
    };
    let (old, young) = (pixel(0).await, pixel(1).await);
    let form = [
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("pixel_ids", young.as_str()),
        ("pixel_ids", old.as_str()),
    ];
    let id = editor.post(&dashboard.path("links"), &form).await.followed_id();
    for number in 2..102 {
        pixel(number).await;
    }
    let newest = pixel(102).await;
    let page = editor.get(&dashboard.path(&format!("links/{id}"))).await;
    let box_of = |pixel: &str| {
        page.body.split('<').find(|tag| tag.contains(&format!("value=\"{pixel}\""))).map(str::to_owned)
    };
    assert!(box_of(&old).unwrap().contains("checked"), "{}", page.body);
    let held = async || {
        let token = SecretToken::parse(&editor.token()).unwrap();
        let address = "203.0.113.9".parse().unwrap();
        let (_, caller) = enter(&dashboard.app, Some(&token), dashboard.account, address).await.unwrap();
        let id = IdReference::<RedirectKind>::parse(&id);
        let single = links::get::<RedirectContent>(&dashboard.app, &caller, id, None).await.unwrap();
        single.pixels.iter().map(|pixel| pixel.id.to_string()).collect::<Vec<_>>()
    };
    // A browser sends boxes in the order of the page, which is not the order of the link.
    save(&editor, &id, &[("slug", "one"), ("pixel_ids", &old), ("pixel_ids", &young)]).await;
    assert_eq!(held().await, [young.clone(), old.clone()]);
    save(
        &editor,
        &id,
        &[("slug", "one"), ("pixel_ids", &newest), ("pixel_ids", &old), ("pixel_ids", &young)],
    )
    .await;
    assert_eq!(held().await, [young.clone(), old.clone(), newest]);
    save(&editor, &id, &[("slug", "one"), ("pixel_ids", &old)]).await;
    assert_eq!(held().await, [old]);
    save(&editor, &id, &[("slug", "one")]).await;
    assert!(held().await.is_empty());
}

#[actix_web::test]
async fn d12_a_form_sent_again_with_other_content_says_so_and_can_be_sent_then() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let key = editor.get(&dashboard.path("links/new")).await.hidden("idempotency_key");
    let path = dashboard.path("links");
    let form = |slug, key| {
        [
            ("kind", "redirect"),
            ("target_url", "https://example.com/"),
            ("slug", slug),
            ("idempotency_key", key),
        ]
    };
    assert_eq!(editor.post(&path, &form("one", &key)).await.status, 303);
    let again = editor.post(&path, &form("two", &key)).await;
    assert!(again.status == 422 && again.body.contains("This form was sent before"), "{}", again.body);
    let key = again.hidden("idempotency_key");
    assert_eq!(editor.post(&path, &form("two", &key)).await.status, 303);
}

#[actix_web::test]
async fn a_target_gets_a_scheme_only_if_it_begins_with_none() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let made = async |target: &str| {
        editor.post(&dashboard.path("links"), &[("kind", "redirect"), ("target_url", target)]).await
    };
    let id = made("example.com/?next=https://example.org/").await.followed_id();
    let page = editor.get(&dashboard.path(&format!("links/{id}"))).await;
    assert!(page.body.contains("value=\"https://example.com/?next=https://example.org/\""), "{}", page.body);
    for (target, completed) in
        [("www.shop.com", "https://www.shop.com"), (" shop.com:8443/a ", "https://shop.com:8443/a")]
    {
        let id = made(target).await.followed_id();
        let page = editor.get(&dashboard.path(&format!("links/{id}"))).await;
        assert!(page.body.contains(&format!("value=\"{completed}\"")), "{}", page.body);
    }
    let long = format!("https://example.com/{}", "x".repeat(9_000));
    let begins = "begins with http:// or https://";
    for (target, reason) in [
        ("ftp://example.com/", begins),
        ("javascript:alert(1)", begins),
        ("mailto:a@example.com", begins),
        ("shop", begins),
        (&long, "Must have at most 2048 characters."),
        ("user@shop.com/a b", "white space"),
    ] {
        let refused = made(target).await;
        assert_eq!(refused.status, 422, "{target}");
        assert!(refused.body.contains(reason), "{target}: {}", refused.body);
        assert!(refused.body.contains(&format!("value=\"{target}\"")), "{target}");
        assert_eq!(
            refused.body.matches("aria-invalid").count(),
            1,
            "only the target is wrong: {}",
            refused.body
        );
    }
    let completed = made("shop.com/a b").await;
    assert!(completed.body.contains("value=\"https://shop.com/a b\""), "{}", completed.body);
}

#[actix_web::test]
async fn a_new_page_leads_to_its_editor_whose_preview_marks_the_widgets_of_the_form() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let form = [("kind", "landing"), ("title", "Bread"), ("theme", "auto"), ("is_active", "on")];
    let made = editor.post(&dashboard.path("links"), &form).await;
    assert!(made.location().ends_with("/page?said=page-created"), "{}", made.location());
    assert!(editor.get(made.location()).await.body.contains("The page is live."));
    let path = made.location().split('?').next().unwrap();
    let form = [
        ("do", "preview"),
        ("has_widgets", "true"),
        ("widget", "w4"),
        ("w4.type", "link"),
        ("widget", "w2"),
        ("w2.type", "heading"),
        ("w2.text", "Hours"),
    ];
    let preview = editor.post(path, &form).await.body;
    assert!(preview.contains("<h2 dir=\"auto\" id=\"w2\">"), "an unfinished widget is left out: {preview}");
}
