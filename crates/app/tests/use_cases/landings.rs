//! Landing pages (D20, D22, D28, D33).

use std::time::Duration;

use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, ListLinks};
use signpost_domain::{
    Change, ErrorCode, IdReference, Landing, LandingRequest, LinkKind, NoContent, PageContent, Redirect,
    RedirectRequest, Refusal, Submitted,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft, refusal};

fn page(slug: &str) -> LandingRequest {
    LandingRequest { slug: Change::Set(samples::slug(slug)), ..LandingRequest::new(samples::name("Menu")) }
}

async fn create(world: &World, draft: LandingRequest) -> Result<Landing, AppError> {
    let (caller, request) = (world.caller().await, Submitted::valid(draft));
    let page = links::create::<PageContent>(&world.app, &caller, request, Idempotency::disabled()).await?;
    Ok(page.with_content(NoContent))
}

async fn update(world: &World, landing: &Landing, patch: LandingRequest) -> Result<Landing, AppError> {
    let (caller, request) = (world.caller().await, Submitted::valid(patch));
    let page = links::update::<PageContent>(&world.app, &caller, landing.id.into(), request).await?;
    Ok(page.with_content(NoContent))
}

#[tokio::test]
async fn d28_a_title_alone_makes_a_landing_page() {
    let world = World::new().await;
    let landing = create(&world, LandingRequest::new(samples::name("Menu"))).await.unwrap();
    assert_eq!(landing.placement.slug().unwrap().as_str().len(), 7);
    assert_eq!((landing.is_active, landing.analytics_enabled), (true, true));
    let caller = world.caller().await;
    let read = links::get::<PageContent>(&world.app, &caller, landing.id.into()).await.unwrap();
    assert_eq!(read.with_content(NoContent), landing);
}

/// Contract D20: landing pages and redirects share one address space, in every direction.
#[tokio::test]
async fn d20_a_landing_page_and_a_redirect_never_share_an_address() {
    let world = World::new().await;
    let redirect = world.redirect("menu").await;
    assert_eq!(refusal(create(&world, page("menu")).await).code(), ErrorCode::SlugAlreadyTaken);
    let landing = create(&world, page("card")).await.unwrap();
    assert_eq!(refusal(world.create(draft("card")).await).code(), ErrorCode::SlugAlreadyTaken);
    let slug = Change::Set(samples::slug("card"));
    let patch = RedirectRequest { slug, ..RedirectRequest::default() };
    assert_eq!(refusal(world.update(redirect.id, patch).await).code(), ErrorCode::SlugAlreadyTaken);
    let patch = LandingRequest { slug: Change::Set(samples::slug("menu")), ..LandingRequest::default() };
    assert_eq!(refusal(update(&world, &landing, patch).await).code(), ErrorCode::SlugAlreadyTaken);
    links::delete(&world.app, &world.caller().await, landing.id.into()).await.unwrap();
    world.redirect("card").await;
}

/// Contract D15: both kinds count against one limit.
#[tokio::test]
async fn d15_landing_pages_count_as_links() {
    let mut small = crate::world::plan(&[]);
    small.limits.links = 2;
    let world = World::with_plan(small).await;
    world.redirect("a").await;
    create(&world, page("b")).await.unwrap();
    assert!(matches!(refusal(create(&world, page("c")).await), Refusal::PlanLimitReached { .. }));
    assert!(matches!(refusal(world.create(draft("c")).await), Refusal::PlanLimitReached { .. }));
}

/// Contract D33, D28: a PATCH changes what it names, and `updated_at` moves only then.
#[tokio::test]
async fn d33_a_landing_page_is_updated() {
    let world = World::new().await;
    let group = world.group("Spring").await.id;
    let before = create(&world, page("menu")).await.unwrap();
    world.memory.clock.advance(Duration::from_secs(5));
    assert_eq!(update(&world, &before, LandingRequest::default()).await.unwrap(), before);
    let patch = LandingRequest {
        name: Some(samples::name("Card")),
        slug: Change::Set(samples::slug("card")),
        note: Change::Set(samples::note("n")),
        group: Change::Set(group.into()),
        is_active: Some(false),
        ..LandingRequest::default()
    };
    let after = update(&world, &before, patch).await.unwrap();
    let expected = Landing {
        name: samples::name("Card"),
        placement: samples::on_system("card"),
        note: Some(samples::note("n")),
        group_id: Some(group),
        is_active: false,
        updated_at: world.app.clock.now(),
        ..before.clone()
    };
    assert_eq!(after, expected);
    let stored = world.app.store.group(world.account.id, group).await.unwrap().unwrap();
    assert_eq!((stored.landings_count, stored.redirects_count), (1, 0));
    let unknown = LandingRequest { group: Change::Set(IdReference::Malformed), ..LandingRequest::default() };
    assert_eq!(refusal(update(&world, &after, unknown).await), Refusal::GroupNotFound);
    let foreign = LandingRequest { group: Change::Set(samples::id().into()), ..LandingRequest::default() };
    assert_eq!(refusal(update(&world, &after, foreign).await), Refusal::GroupNotFound);
}

/// Contract D2: not found, alike for a malformed id, an unknown one, and another account's.
#[tokio::test]
async fn d2_nobody_sees_another_accounts_landing_page() {
    let world = World::new().await;
    let landing = create(&world, page("menu")).await.unwrap();
    let stranger = world.stranger().await;
    for id in [landing.id.into(), samples::id().into(), IdReference::Malformed] {
        let app = &world.app;
        assert_eq!(refusal(links::get::<PageContent>(app, &stranger, id).await), Refusal::LandingNotFound);
        assert_eq!(refusal(links::delete(app, &stranger, id).await), Refusal::LandingNotFound);
        let patched =
            links::update::<PageContent>(app, &stranger, id, Submitted::valid(LandingRequest::default()))
                .await;
        assert_eq!(refusal(patched), Refusal::LandingNotFound);
    }
}

/// Each list shows its own kind, and the same query means the same in both.
#[tokio::test]
async fn lists_show_one_kind() {
    let world = World::new().await;
    let landing = create(&world, page("menu")).await.unwrap();
    let redirect: Redirect = world.redirect("sale").await;
    let caller = world.caller().await;
    let list = async |kind, text: &str| {
        let search = Some(signpost_domain::SearchText::parse(text).unwrap());
        links::list(&world.app, &caller, kind, ListLinks { search, ..ListLinks::default() })
            .await
            .unwrap()
            .items
    };
    assert_eq!(list(LinkKind::Landing, "e").await, [landing.clone().into_any()]);
    assert_eq!(list(LinkKind::Landing, "MENU").await, [landing.into_any()]);
    assert_eq!(list(LinkKind::Landing, "example.com").await, []);
    assert_eq!(list(LinkKind::Redirect, "e").await, [redirect.into_any()]);
    assert_eq!(list(LinkKind::Redirect, "menu").await, []);
}
