//! What is on a landing page (D27, D33, D34).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, links};
use signpost_domain::{
    AccentColor, Change, FieldError, HostBlocklist, LandingPage, LandingRequest, Name, PageContent,
    PageContentRequest, Submitted, Theme, ViolationCode, WebUrl, WidgetContent, WidgetDraft,
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

/// Contract D34: widgets are replaced as a whole, and one that is sent back keeps its id; the other fields stay.
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

/// Contract D33: a PATCH that changes nothing leaves `updated_at` alone, and writes nothing.
#[tokio::test]
async fn d33_sending_back_what_is_there_writes_nothing() {
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

/// What breaks takes everything with it: the page and what is on it stand or fall together.
#[tokio::test]
async fn a_failed_commit_changes_neither_the_page_nor_its_content() {
    let world = World::new().await;
    let page = create(&world, dark()).await.unwrap();
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let emptied = PageContentRequest { widgets: Some(vec![]), ..PageContentRequest::default() };
    assert_internal(update(&world, &page, emptied).await);
    assert_eq!(read(&world, &page).await, page);
}

/// Contract D8 and D24: hosts that may not be targets are told together with what is wrong with single fields.
#[tokio::test]
async fn d24_widgets_do_not_lead_to_blocked_hosts() {
    let world = World::new().await;
    world.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    let url = WebUrl::parse("https://evil.example/").unwrap();
    let link = WidgetContent::Link { title: samples::name("Go"), url, thumbnail_url: None };
    let content = PageContentRequest {
        widgets: Some(vec![heading("Fine"), WidgetDraft { id: None, content: link }]),
        ..PageContentRequest::default()
    };
    let page = create(&world, PageContentRequest::default()).await.unwrap();
    let value = LandingRequest { content: content.clone(), ..LandingRequest::default() };
    let violation = FieldError::new(ViolationCode::Required, "is required").at("title");
    let command = Submitted { value, violations: violation.into() };
    let outcomes = [
        (
            links::create::<PageContent>(&world.app, &world.caller().await, command, Idempotency::disabled())
                .await,
            &["title", "widgets[1].url"][..],
        ),
        (create(&world, content.clone()).await, &["widgets[1].url"]),
        (update(&world, &page, content).await, &["widgets[1].url"]),
    ];
    for (outcome, expected) in outcomes {
        let Err(AppError::Invalid(violations)) = outcome else { panic!("{outcome:?}") };
        let fields: Vec<_> = violations.iter().map(|violation| violation.field().to_owned()).collect();
        assert_eq!(fields, expected);
    }
}
