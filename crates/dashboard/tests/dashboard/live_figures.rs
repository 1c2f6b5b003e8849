//! The figures of the last half hour (D48).

use std::time::Duration;

use signpost_domain::Role;
use signpost_domain::analytics::RecordedKind;

use crate::analytics::{HOUR, record, visited};
use crate::harness::Dashboard;

#[actix_web::test]
async fn d48_live_figures_are_those_of_the_last_half_hour() {
    let (dashboard, viewer, id) = visited().await;
    dashboard.memory.clock.advance(Duration::from_secs(HOUR));
    let live = |screen: String| {
        let (dashboard, viewer) = (&dashboard, &viewer);
        async move {
            let answer = viewer.get(&dashboard.path(&screen)).await;
            assert_eq!(answer.header("content-type"), "text/plain; charset=utf-8");
            answer.body
        }
    };
    assert_eq!(live("analytics/live".to_owned()).await, "Last 30 minutes: 0 clicks, 0 visitors");
    let now = dashboard.app.clock.now();
    for (minutes, kind, visitor, country) in [
        (1, RecordedKind::Click, 1, "DE"),
        (29, RecordedKind::Click, 1, "DE"),
        (30, RecordedKind::Click, 2, "AT"),
        (31, RecordedKind::Click, 3, "DE"),
        (2, RecordedKind::Bot, 4, "DE"),
        (3, RecordedKind::Blocked, 5, "DE"),
    ] {
        let at = now.minus(Duration::from_secs(60 * minutes));
        record(&dashboard, &id, at, kind, visitor, country, "autumn");
    }
    assert_eq!(live("analytics/live".to_owned()).await, "Last 30 minutes: 3 clicks, 2 visitors");
    let of_link = format!("links/{id}/analytics");
    assert_eq!(live(format!("{of_link}/live?country=AT")).await, "Last 30 minutes: 1 click, 1 visitor");
    let page = viewer.get(&dashboard.path(&format!("{of_link}?country=AT&range=today"))).await.body;
    let address = dashboard.path(&format!("{of_link}/live?country=AT"));
    assert!(
        page.contains(&format!(
            "data-live=\"{address}\" data-old=\" (not current)\">Last 30 minutes: 1 click, 1 visitor<"
        )),
        "{page}"
    );
    assert!(page.contains("Germany") || page.contains("Austria"), "countries have names: {page}");
}

#[actix_web::test]
async fn a_link_with_one_click_has_no_plural() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let form = [
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("is_active", "on"),
        ("analytics_enabled", "on"),
    ];
    let id = editor.post(&dashboard.path("links"), &form).await.followed_id();
    let at = dashboard.app.clock.now();
    for shown in ["<b>1</b> click</a>", "<b>2</b> clicks</a>"] {
        record(&dashboard, &id, at, RecordedKind::Click, 1, "DE", "autumn");
        let page = editor.get(&dashboard.path("links")).await.body;
        assert!(page.contains(shown), "{shown}: {page}");
    }
}
