//! Pixels (D15, D27, D36).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::links;
use signpost_app::pixels::{self, NewPixel};
use signpost_domain::{
    Change, Feature, Pixel, PixelCode, PixelType, Plan, PlanLimits, PlanResource, Precondition,
    RedirectContent, RedirectRequest, Refusal, Submitted,
};
use signpost_port_contracts::samples;

use crate::world::{World, draft, plan, refusal};

fn new_pixel() -> NewPixel {
    NewPixel { code: PixelCode::parse(PixelType::Meta, "123456789").unwrap(), name: None }
}

async fn pixel(world: &World) -> Pixel {
    pixels::create(&world.app, &world.caller().await, new_pixel(), Idempotency::disabled()).await.unwrap()
}

/// Contract D27: in the redirect's order, without deleted pixels.
#[tokio::test]
async fn d36_a_redirect_shows_its_existing_pixels() {
    let world = World::new().await;
    let (first, second) = (pixel(&world).await, pixel(&world).await);
    let caller = world.caller().await;
    let named = vec![second.id.into(), first.id.into()];
    let command = Submitted::valid(draft("sale").with(|content| content.pixels = Change::Set(named)));
    let created = links::create::<RedirectContent>(&world.app, &caller, command, Idempotency::disabled())
        .await
        .unwrap();
    assert_eq!(created.pixels, [second.clone(), first.clone()]);
    let id = created.redirect.id.into();
    assert_eq!(links::get::<RedirectContent>(&world.app, &caller, id, None).await.unwrap(), created);
    pixels::delete(&world.app, &caller, second.id.into()).await.unwrap();
    let read = links::get::<RedirectContent>(&world.app, &caller, id, None).await.unwrap();
    assert_eq!(read.pixels, [first]);
    assert_eq!(read.redirect.updated_at, created.redirect.updated_at);
    assert_eq!(world.usage().await.pixels, 1);
}

#[tokio::test]
async fn d33_leaving_out_a_deleted_pixel_changes_nothing() {
    let world = World::new().await;
    let (kept, deleted) = (pixel(&world).await, pixel(&world).await);
    let caller = world.caller().await;
    let command = Submitted::valid(
        draft("sale").with(|content| content.pixels = Change::Set(vec![kept.id.into(), deleted.id.into()])),
    );
    let created = links::create::<RedirectContent>(&world.app, &caller, command, Idempotency::disabled())
        .await
        .unwrap();
    pixels::delete(&world.app, &caller, deleted.id.into()).await.unwrap();
    let patched = async |pixels| {
        world.memory.clock.advance(Duration::from_secs(1));
        let patch = RedirectRequest::default().with(|content| content.pixels = pixels);
        let id = created.redirect.id.into();
        links::update::<RedirectContent>(
            &world.app,
            &caller,
            id,
            Submitted::valid(patch),
            &Precondition::None,
        )
        .await
        .unwrap()
    };
    let same = patched(Change::Set(vec![kept.id.into()])).await;
    assert_eq!((same.redirect.updated_at, same.pixels.len()), (created.redirect.updated_at, 1));
    let none = patched(Change::Clear).await;
    assert!(none.redirect.updated_at > created.redirect.updated_at && none.pixels.is_empty());
}

/// Contract D2: foreign and unknown pixels get the same answer.
#[tokio::test]
async fn d6_a_redirect_takes_only_pixels_of_its_account() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    let foreign = pixels::create(&world.app, &stranger, new_pixel(), Idempotency::disabled()).await.unwrap();
    let link = world.redirect("mine").await;
    for pixel in [foreign.id, samples::id()] {
        let outcomes = [
            world
                .create(draft("other").with(|content| content.pixels = Change::Set(vec![Some(pixel)])))
                .await,
            world
                .update(
                    link.id,
                    RedirectRequest::default()
                        .with(|content| content.pixels = Change::Set(vec![Some(pixel)])),
                )
                .await,
        ];
        for outcome in outcomes {
            let Err(signpost_app::AppError::Invalid(violations)) = outcome else { panic!("{outcome:?}") };
            let fields: Vec<_> = violations.iter().map(|violation| violation.field().to_owned()).collect();
            assert_eq!(fields, ["pixel_ids[0]"]);
        }
    }
    assert_eq!(world.stored(link.id).await, Some(link));
}

#[tokio::test]
async fn d15_pixels_are_a_feature_and_limited() {
    let with_pixels = plan(&[Feature::Pixels]);
    let limits = PlanLimits { pixels: 3, ..with_pixels.limits };
    let world = World::with_plan(Plan { limits, ..with_pixels }).await;
    let caller = world.caller().await;
    for _ in 0..3 {
        pixel(&world).await;
    }
    let reached = Refusal::PlanLimitReached { resource: PlanResource::Pixels, limit: 3 };
    let outcome = pixels::create(&world.app, &caller, new_pixel(), Idempotency::disabled()).await;
    assert_eq!(refusal(outcome), reached);

    let world = World::with_plan(plan(&[])).await;
    let outcome =
        pixels::create(&world.app, &world.caller().await, new_pixel(), Idempotency::disabled()).await;
    assert_eq!(refusal(outcome), Refusal::FeatureNotAvailable(Feature::Pixels));
}
