//! Statistics of the widgets of a landing page, whose clicks are no visits of the page (D47, D59).

use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, Values, VisitorHash};

use crate::editor::{form_of, page, press, saved};
use crate::harness::{Browser, Dashboard};

/// A page with one link, which a visitor of the page has followed: the path of its statistics, and the id of the link.
async fn followed() -> (Dashboard, Browser, String, String) {
    let (dashboard, editor, path) = page().await;
    let shown = press(&editor, &path, &editor.get(&path).await, "add-link", &[]).await;
    let typed = [("w0.title", "Our shop"), ("w0.url", "https://example.com/")];
    let shown = saved(&editor, &path, &shown, &typed).await;
    let widget = form_of(&shown).into_iter().find(|(name, _)| name == "w0.id").unwrap().1;
    for (kind, followed) in [(RecordedKind::Click, ""), (RecordedKind::Widget, widget.as_str())] {
        let mut values = [""; Dimension::RECORDED.len()];
        values[Dimension::Widget.recorded_place().unwrap()] = followed;
        dashboard.memory.click_store.record([RecordedClick {
            at: dashboard.app.clock.now(),
            account: dashboard.account,
            link: path.rsplit('/').nth(1).unwrap().parse().unwrap(),
            kind,
            visitor: VisitorHash([1; 6]),
            values: Values(values),
        }]);
    }
    let statistics = path.replace("/page", "/analytics");
    (dashboard, editor, statistics, widget)
}

#[actix_web::test]
async fn d47_statistics_of_a_page_name_its_widgets() {
    let (_dashboard, editor, path, widget) = followed().await;
    let page = editor.get(&format!("{path}?widget={widget}")).await;
    assert!(page.body.contains("Widgets: Link: Our shop"), "{}", page.body);
    let csv = editor.get(&format!("{path}.csv?part=targets")).await;
    let line = csv.body.lines().find(|line| line.starts_with(&format!("widget,{widget},")));
    assert!(line.is_some_and(|line| line.ends_with(",,,Link: Our shop")), "{line:?}");
}

#[actix_web::test]
async fn d59_a_filter_by_widget_says_why_clicks_are_0_and_shows_those_of_the_widget() {
    let (_dashboard, editor, path, widget) = followed().await;
    let explains = "With a filter by widget, clicks and visitors are 0";
    let total =
        |body: &str| body.split("<b class=\"big\">").nth(1).unwrap().split('<').next().unwrap().to_owned();
    let all = editor.get(&format!("{path}?part=targets")).await.body;
    assert!(all.contains(&format!("widget={widget}\"><bdi>Link: Our shop</bdi>")), "{all}");
    assert!(total(&all) == "1" && !all.contains(explains), "{all}");
    let only = editor.get(&format!("{path}?part=targets&widget={widget}")).await.body;
    assert!(total(&only) == "0" && only.contains(explains), "{only}");
    assert!(only.contains("<bdi>Link: Our shop</bdi></a><span class=\"num\"><b>1</b>"), "{only}");
    assert!(!only.contains("matches the filters"), "{only}");
    let others = editor.get(&format!("{path}?part=targets&widget=-{widget}")).await.body;
    assert!(total(&others) == "1" && !others.contains(explains), "{others}");
    let without_filter = editor.get(&format!("{path}?part=targets&widget=,{widget}")).await.body;
    assert!(total(&without_filter) == "1" && !without_filter.contains(explains), "{without_filter}");
}
