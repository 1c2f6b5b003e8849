//! The rules of the content of a landing page: D24 and D34.

use super::*;
use crate::link_request::tests::{World, at, fields};
use crate::violation::ViolationCode;
use crate::web_url::WebUrl;
use crate::widget::{WidgetContent, WidgetDraft};

fn title() -> Name {
    Name::parse("Mine").unwrap()
}

fn with_a_link_to(url: &str) -> Vec<WidgetDraft> {
    let content =
        WidgetContent::Link { title: title(), url: WebUrl::parse(url).unwrap(), thumbnail_url: None };
    vec![WidgetDraft { id: None, content }]
}

#[test]
fn d34_a_page_gets_ids_for_its_new_widgets() {
    let world = World::new();
    let request = LandingRequest::new(title())
        .with(|content| content.widgets = Some(with_a_link_to("https://example.com/menu")));
    let page: LandingPage = world.create(request).unwrap();
    let ids: Vec<_> = page.content.widgets.as_slice().iter().map(|widget| widget.id).collect();
    assert_eq!(ids, [crate::WidgetId::from_bytes([7; 16])]);
}

#[test]
fn d24_no_widget_leads_to_a_blocked_host() {
    let world = World::new();
    let change = |content: &mut PageContentRequest| {
        content.widgets = Some(with_a_link_to("https://blocked.example.net/menu"));
    };
    let expected = [("widgets[0].url".to_owned(), ViolationCode::InvalidValue)];
    let rejection = world.create::<PageContent>(LandingRequest::new(title()).with(change)).unwrap_err();
    assert_eq!(fields(rejection), expected);
    let page: LandingPage = world.create(LandingRequest::new(title())).unwrap();
    let rejection = world.update(&page, LandingRequest::default().with(change)).unwrap_err();
    assert_eq!(fields(rejection), expected);
}

#[test]
fn d33_a_change_of_the_content_moves_updated_at() {
    let world = World::new();
    let page: LandingPage = world.create(LandingRequest::new(title())).unwrap();
    let listed = |value| LandingRequest::default().with(|content| content.search_engines = Some(value));
    let same = world.update(&page, listed(page.content.search_engines)).unwrap();
    assert_eq!(same.updated_at, at(1_000));
    let changed = world.update(&page, listed(!page.content.search_engines)).unwrap();
    assert_eq!(changed.updated_at, at(2_000));
}
