//! What the address of statistics asks for.

use signpost_domain::analytics::RecordedKind;

use crate::analytics::{record, visited};

#[actix_web::test]
async fn two_dates_in_the_address_are_the_period() {
    let (dashboard, viewer, _) = visited().await;
    for query in ["range=dates&from=2026-02-20&to=2026-02-21", "from=2026-02-20&to=2026-02-21"] {
        let page = viewer.get(&dashboard.path(&format!("analytics?{query}"))).await;
        assert!(
            page.body.contains("20 Feb 2026 – 21 Feb 2026, Europe/Berlin time"),
            "{query}: {}",
            page.body
        );
        assert!(page.body.contains("Dashed: the previous period, 18 Feb 2026 – 19 Feb 2026."), "{query}");
    }
    let one = viewer.get(&dashboard.path("analytics?from=2026-02-20")).await;
    assert_eq!(one.status, 422, "{}", one.body);
    let named = viewer.get(&dashboard.path("analytics?range=today&from=2026-02-20&to=2026-02-21")).await;
    assert!(!named.body.contains("20 Feb 2026"), "{}", named.body);
}

#[actix_web::test]
async fn d47_a_deleted_link_is_marked() {
    let (dashboard, viewer, id) = visited().await;
    let editor = dashboard.member("remover@example.com", signpost_domain::Role::Editor).await;
    let deleted = editor.post(&dashboard.path(&format!("links/{id}/delete")), &[]).await;
    assert_eq!(deleted.status, 303, "{}", deleted.body);
    let page = viewer.get(&dashboard.path(&format!("analytics?part=targets&link={id}"))).await;
    assert!(page.body.contains(&format!("<bdi>{id} (deleted)</bdi>")), "{}", page.body);
    let csv = viewer.get(&dashboard.path("analytics.csv?part=targets")).await;
    assert!(csv.body.contains(&format!(",,,{id} (deleted)\r\n")), "{}", csv.body);
    let never = "rdr_00000000000000000000000000000001";
    let other = viewer.get(&dashboard.path(&format!("analytics?part=targets&link={never}"))).await;
    assert!(other.body.contains(never) && !other.body.contains(&format!("{never} (deleted)")));
}

#[actix_web::test]
async fn d47_the_page_says_that_it_shows_at_most_100_values() {
    let (dashboard, viewer, id) = visited().await;
    let at = dashboard.app.clock.now();
    for number in 0..101 {
        record(&dashboard, &id, at, RecordedKind::Click, 1, "DE", &format!("campaign {number}"));
    }
    let shown = async |values: &str| viewer.get(&dashboard.path(&format!("analytics?{values}"))).await.body;
    assert!(!shown("").await.contains("values are shown."), "there is a link to more");
    let all = shown("values=100&values_of=utm_campaign").await;
    assert!(all.contains("At most 100 values are shown."), "{all}");
}

#[actix_web::test]
async fn d45_live_figures_need_readable_filters() {
    let (dashboard, viewer, _) = visited().await;
    assert_eq!(viewer.get(&dashboard.path("analytics/live?country=DE")).await.status, 200);
    assert_eq!(viewer.get(&dashboard.path("analytics/live?country=a%5Cb")).await.status, 404);
}
