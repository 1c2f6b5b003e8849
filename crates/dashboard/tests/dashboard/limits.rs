//! How many visits redirects send on at most: their form, their page and the list (D128, D130, D137).

use signpost_app::visits::take_clicks;
use signpost_app::{Operator, accounts};
use signpost_domain::{PlanName, RedirectId, Role};

use crate::edits::link;
use crate::harness::{Browser, Dashboard};
use crate::life::{create, fields, input, page_of, save, value};

/// The limit of a redirect, and how many clicks are taken of it.
async fn limit(dashboard: &Dashboard, id: &str) -> Option<(u64, u64)> {
    let redirect = link(dashboard, id).await.into_redirect().unwrap();
    redirect.content.click_limit.map(|limit| (limit.max().get(), limit.taken()))
}

/// Creates a redirect with a limit.
async fn limited(editor: &Browser, slug: &str, max_clicks: &str) -> String {
    create(editor, "redirect", slug, &[("max_clicks", max_clicks)]).await.followed_id()
}

/// Takes clicks of a small limit, as nodes do: one by one.
async fn take(dashboard: &Dashboard, id: &str, clicks: u64) {
    let redirect: RedirectId = id.parse().unwrap();
    for _ in 0..clicks {
        let taken = take_clicks(&dashboard.app, dashboard.account, redirect).await.unwrap().taken().unwrap();
        assert_eq!(taken.number, 1);
    }
}

#[actix_web::test]
async fn d128_the_form_of_a_redirect_takes_its_most_clicks() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = limited(&editor, "one", " 1500 ").await;
    assert_eq!(limit(&dashboard, &id).await, Some((1500, 0)));
    let made = link(&dashboard, &id).await;
    let page = page_of(&editor, &id).await;
    assert_eq!(value(&page, "max_clicks"), "1500");
    for part in [
        "<details class=\"more\" open><summary>Start and end",
        "<dt>Clicks left</dt><dd>1,500 of 1,500</dd>",
        "&#34;max_clicks&#34;:1500",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    for kept in [&[("max_clicks", "1500")][..], &[]] {
        assert_eq!(save(&editor, &id, "one", kept).await.status, 303);
        assert_eq!(link(&dashboard, &id).await, made, "{kept:?}");
    }
    assert_eq!(save(&editor, &id, "one", &[("max_clicks", " ")]).await.status, 303);
    assert_eq!(limit(&dashboard, &id).await, None);
    let page = page_of(&editor, &id).await.body;
    assert!(!page.contains("Clicks left") && !page.contains("max_clicks&#34;"), "{page}");
    let landing = editor.get(&dashboard.path("links/new?kind=landing")).await.body;
    assert!(!landing.contains("max_clicks"), "{landing}");
}

#[actix_web::test]
async fn d128_a_refused_limit_is_blamed_on_its_field_and_kept() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let range = "Must be from 1 to 1000000000.";
    let number = "Must be a whole number in digits alone, such as 1000.";
    for (typed, reason) in
        [("0", range), ("-7", range), ("1000000001", range), ("1,000", number), ("many", number)]
    {
        let refused = create(&editor, "redirect", "one", &[("max_clicks", typed)]).await;
        assert_eq!(refused.status, 422, "{typed}");
        assert_eq!(value(&refused, "max_clicks"), typed);
        assert!(input(&refused, "max_clicks").contains("aria-invalid"), "{}", refused.body);
        for part in ["open><summary>Start and end", &format!("id=\"e-max_clicks\">{reason}")] {
            assert!(refused.body.contains(part), "{part}: {}", refused.body);
        }
    }
}

#[actix_web::test]
async fn d130_the_list_and_the_page_of_a_redirect_show_that_its_clicks_are_used_up() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = limited(&editor, "one", "10").await;
    let shown = async || {
        let page = page_of(&editor, &id).await.body;
        let list = editor.get(&dashboard.path("links")).await.body;
        (page, list)
    };
    take(&dashboard, &id, 9).await;
    let (page, list) = shown().await;
    assert!(page.contains("<dd>1 of 10</dd>") && page.contains("<b class=\"tag on\">Active</b>"), "{page}");
    assert!(!list.contains("Used up</b>"), "{list}");
    take(&dashboard, &id, 1).await;
    let (page, list) = shown().await;
    assert!(page.contains("<dd>0 of 10</dd>"), "{page}");
    for screen in [page, list] {
        assert!(screen.contains("<b class=\"tag\">Used up</b>"), "{screen}");
    }
    // A higher limit opens the link again, and keeps what was used.
    assert_eq!(save(&editor, &id, "one", &[("max_clicks", "12")]).await.status, 303);
    assert_eq!(limit(&dashboard, &id).await, Some((12, 10)));
    assert!(!shown().await.1.contains("Used up</b>"));
}

#[actix_web::test]
async fn d137_on_a_plan_without_limits_one_that_is_there_stays_and_can_only_be_removed() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = limited(&editor, "one", "10").await;
    take(&dashboard, &id, 4).await;
    let free = PlanName::parse("free").unwrap();
    accounts::set_plan(&dashboard.app, &Operator::COMMAND, dashboard.account, &free).await.unwrap();
    let page = page_of(&editor, &id).await;
    assert_eq!(value(&page, "max_clicks"), "10");
    assert!(page.body.contains("Empty the field to remove this one"), "{}", page.body);
    for other in ["9", "11"] {
        let refused = save(&editor, &id, "one", &[("max_clicks", other)]).await;
        assert_eq!(refused.status, 422, "{other}");
        assert!(
            refused.body.contains("id=\"e-max_clicks\">The feature <code>link_access</code> is not part"),
            "{}",
            refused.body
        );
        assert_eq!(value(&refused, "max_clicks"), other);
    }
    for kept in [&[("max_clicks", "10"), ("note", "Kept")][..], &[("note", "Still")]] {
        assert_eq!(save(&editor, &id, "one", kept).await.status, 303);
        assert_eq!(limit(&dashboard, &id).await, Some((10, 4)));
    }
    // A refused form still has the emptied field: without it, sending the form again would keep the limit.
    let refused = save(&editor, &id, "two words", &[("max_clicks", "")]).await;
    assert_eq!((refused.status, value(&refused, "max_clicks").as_str()), (422, ""));
    assert_eq!(save(&editor, &id, "one", &[("max_clicks", "")]).await.status, 303);
    assert_eq!(limit(&dashboard, &id).await, None);
    for path in [format!("links/{id}"), "links/new".to_owned()] {
        let page = editor.get(&dashboard.path(&path)).await.body;
        assert!(
            page.contains("your plan has no limits on visits") && !page.contains("f-max_clicks"),
            "{page}"
        );
    }
    let refused = create(&editor, "redirect", "two", &[("max_clicks", "1")]).await;
    assert_eq!((refused.status, value(&refused, "max_clicks").as_str()), (422, "1"));
}

#[actix_web::test]
async fn d120_d128_a_stale_edit_shows_both_limits() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = limited(&editor, "one", "10").await;
    let revision = page_of(&editor, &id).await.hidden("revision");
    assert_eq!(save(&editor, &id, "one", &[("max_clicks", "20")]).await.status, 303);
    let mine = fields("", "one", &[("max_clicks", "30"), ("revision", &revision)]);
    let stale = editor.post(&dashboard.path(&format!("links/{id}")), &mine).await;
    assert_eq!((stale.status, value(&stale, "max_clicks").as_str()), (409, "30"));
    let (_, rest) = stale.body.split_once("<h3>Most clicks</h3>").unwrap();
    let both = rest.split("</div>").next().unwrap();
    assert!(both.contains("<bdi>30</bdi>") && both.contains("<bdi>20</bdi>"), "{both}");
}
