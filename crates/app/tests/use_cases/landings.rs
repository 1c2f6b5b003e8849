//! Landing pages (D20, D22, D28, D33).

use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, ListLinks};
use signpost_domain::{
    Change, IdReference, Landing, LandingRequest, LinkKind, NoContent, PageContent, Redirect, Refusal,
    Submitted,
};
use signpost_port_contracts::samples;

use crate::world::{World, refusal};

fn page(slug: &str) -> LandingRequest {
    LandingRequest { slug: Change::Set(samples::slug(slug)), ..LandingRequest::new(samples::name("Menu")) }
}

async fn create(world: &World, draft: LandingRequest) -> Result<Landing, AppError> {
    let (caller, request) = (world.caller().await, Submitted::valid(draft));
    let page = links::create::<PageContent>(&world.app, &caller, request, Idempotency::disabled()).await?;
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

/// Unknown, malformed and foreign ids get the same answer.
#[tokio::test]
async fn d2_missing_and_foreign_landing_pages_are_not_found() {
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
