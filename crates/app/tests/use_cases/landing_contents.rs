//! The content of landing pages (D27, D33, D34).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, links};
use signpost_domain::{
    AccentColor, Change, LandingPage, LandingRequest, Name, PageContent, PageContentRequest, Submitted,
    Theme, WidgetContent, WidgetDraft,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal};

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

async fn create(world: &World, content: PageContentRequest) -> Result<LandingPage, AppError> {
    let slug = Change::Set(samples::slug("menu"));
    let draft = LandingRequest { slug, content, ..LandingRequest::new(samples::name("Menu")) };
    links::create::<PageContent>(
        &world.app,
        &world.caller().await,
        Submitted::valid(draft),
        Idempotency::disabled(),
    )
    .await
}

async fn update(
    world: &World,
    page: &LandingPage,
    content: PageContentRequest,
) -> Result<LandingPage, AppError> {
    let patch = Submitted::valid(LandingRequest { content, ..LandingRequest::default() });
    links::update::<PageContent>(&world.app, &world.caller().await, page.id.into(), patch).await
}

async fn read(world: &World, page: &LandingPage) -> LandingPage {
    links::get::<PageContent>(&world.app, &world.caller().await, page.id.into()).await.unwrap()
}

#[tokio::test]
async fn d34_a_page_is_created_empty_or_with_content() {
    let world = World::new().await;
    let page = create(&world, dark()).await.unwrap();
    assert_eq!(page.content.theme, Theme::Dark);
    assert_eq!(page.content.widgets.as_slice().len(), 2);
    assert_eq!(read(&world, &page).await, page);
    let draft = LandingRequest::new(samples::name("Empty"));
    let empty = links::create::<PageContent>(
        &world.app,
        &world.caller().await,
        Submitted::valid(draft),
        Idempotency::disabled(),
    )
    .await
    .unwrap();
    assert_eq!(empty.content, PageContent::default());
    assert_eq!(read(&world, &empty).await, empty);
}

/// The other fields stay.
#[tokio::test]
async fn d34_a_patch_replaces_the_widgets_and_keeps_known_ids() {
    let world = World::new().await;
    let page = create(&world, dark()).await.unwrap();
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
    let page = create(&world, dark()).await.unwrap();
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
    let page = create(&world, dark()).await.unwrap();
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let emptied = PageContentRequest { widgets: Some(vec![]), ..PageContentRequest::default() };
    assert_internal(update(&world, &page, emptied).await);
    assert_eq!(read(&world, &page).await, page);
}
