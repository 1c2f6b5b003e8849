//! Landing pages and their content (D27, D28, D33, D34).

use std::time::Duration;

use signpost_app::AppError;
use signpost_app::links::{self, ListLinks};
use signpost_domain::{
    AccentColor, Change, LandingPage, LandingRequest, LinkKind, Name, NoContent, PageContent,
    PageContentRequest, SearchText, Theme, WidgetContent, WidgetDraft,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, page_draft};

fn heading(text: &str) -> WidgetDraft {
    WidgetDraft { id: None, content: WidgetContent::Heading { text: Name::parse(text).unwrap() } }
}

fn dark() -> PageContentRequest {
    PageContentRequest {
        theme: Some(Theme::Dark),
        accent_color: Change::Set(AccentColor::parse("#112233").unwrap()),
        widgets: Some(vec![heading("First"), heading("Second")]),
        ..PageContentRequest::default()
    }
}

async fn create(world: &World, content: PageContentRequest) -> LandingPage {
    world.create_page(LandingRequest { content, ..page_draft("menu") }).await.unwrap()
}

async fn update(
    world: &World,
    page: &LandingPage,
    content: PageContentRequest,
) -> Result<LandingPage, AppError> {
    world.update_page(page.id, LandingRequest { content, ..LandingRequest::default() }).await
}

async fn read(world: &World, page: &LandingPage) -> LandingPage {
    links::get::<PageContent>(&world.app, &world.caller().await, page.id.into(), None).await.unwrap()
}

#[tokio::test]
async fn d28_d34_a_page_is_created_with_a_title_alone_or_with_content() {
    let world = World::new().await;
    let page = create(&world, dark()).await;
    assert_eq!(page.content.theme, Theme::Dark);
    assert_eq!(page.content.widgets.as_slice().len(), 2);
    assert_eq!(read(&world, &page).await, page);
    let empty = world.create_page(LandingRequest::new(samples::name("Empty"))).await.unwrap();
    assert_eq!(empty.placement.slug().unwrap().as_str().len(), 7);
    assert_eq!((empty.is_active, empty.analytics_enabled), (true, true));
    assert_eq!(empty.content, PageContent::default());
    assert_eq!(read(&world, &empty).await, empty);
}

/// The other fields stay.
#[tokio::test]
async fn d34_a_patch_replaces_the_widgets_and_keeps_known_ids() {
    let world = World::new().await;
    let page = create(&world, dark()).await;
    let [first, second] = page.content.widgets.as_slice() else { panic!("{page:?}") };
    world.memory.clock.advance(Duration::from_secs(1));
    let kept = WidgetDraft { id: Some(second.id.into()), ..heading("Second, changed") };
    let widgets = Some(vec![kept, heading("Third")]);
    let updated =
        update(&world, &page, PageContentRequest { widgets, ..PageContentRequest::default() }).await.unwrap();
    let ids: Vec<_> = updated.content.widgets.as_slice().iter().map(|widget| widget.id).collect();
    assert_eq!(ids[0], second.id);
    assert!(ids[1] != first.id && ids[1] != second.id);
    assert_eq!(
        (updated.content.theme, &updated.content.accent_color),
        (Theme::Dark, &page.content.accent_color)
    );
    assert_eq!(updated.updated_at, samples::at(1_000));
    assert_eq!(read(&world, &page).await, updated);
}

#[tokio::test]
async fn d33_sending_back_the_same_content_writes_nothing() {
    let world = World::new().await;
    let page = create(&world, dark()).await;
    world.memory.clock.advance(Duration::from_secs(1));
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let widgets = page.content.widgets.as_slice().iter().zip(["First", "Second"]);
    let widgets = widgets.map(|(widget, text)| WidgetDraft { id: Some(widget.id.into()), ..heading(text) });
    let same = PageContentRequest { widgets: Some(widgets.collect()), ..dark() };
    for content in [PageContentRequest::default(), same] {
        assert_eq!(update(&world, &page, content).await.unwrap(), page);
    }
    assert_eq!(world.memory.store.faults().outstanding(), 1, "nothing was committed");
}

#[tokio::test]
async fn a_failed_commit_changes_neither_the_page_nor_its_content() {
    let world = World::new().await;
    let page = create(&world, dark()).await;
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let emptied = PageContentRequest { widgets: Some(vec![]), ..PageContentRequest::default() };
    assert_internal(update(&world, &page, emptied).await);
    assert_eq!(read(&world, &page).await, page);
}

/// Each list shows its own kind, and the same query means the same in both.
#[tokio::test]
async fn lists_show_one_kind() {
    let world = World::new().await;
    let landing = world.create_page(page_draft("menu")).await.unwrap().with_content(NoContent);
    let redirect = world.redirect("sale").await;
    let caller = world.caller().await;
    let list = async |kind, search: Option<&str>, is_active| {
        let search = search.map(|text| SearchText::parse(text).unwrap());
        let query = ListLinks { search, is_active, ..ListLinks::default() };
        links::list(&world.app, &caller, kind, query, world.app.clock.now()).await.unwrap().items
    };
    for (search, is_active, landings, redirects) in [
        (Some("e"), None, 1, 1),
        (Some("MENU"), None, 1, 0),
        (Some("example.com"), None, 0, 1),
        (None, Some(true), 1, 1),
        (None, Some(false), 0, 0),
        (Some("e"), Some(false), 0, 0),
    ] {
        let expected = vec![landing.clone().into_any(); landings];
        assert_eq!(list(LinkKind::Landing, search, is_active).await, expected, "{search:?} {is_active:?}");
        let expected = vec![redirect.clone().into_any(); redirects];
        assert_eq!(list(LinkKind::Redirect, search, is_active).await, expected, "{search:?} {is_active:?}");
    }
}
