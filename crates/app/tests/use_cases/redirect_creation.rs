//! Creating redirects (D15, D20, D21, D28).

use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, links};
use signpost_domain::{
    Change, CountryCode, ErrorCode, Feature, GeoBlocklist, IdReference, Placement, Plan, PlanLimits,
    PlanResource, Redirect, RedirectContent, RedirectRequest, Refusal, Submitted,
};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, at_once, draft, draft_without_slug, drawn, plan, refusal};

fn germany() -> GeoBlocklist {
    GeoBlocklist::new(vec![CountryCode::parse("DE").unwrap()])
}

#[tokio::test]
async fn d28_a_draft_of_name_and_target_alone_gets_the_defaults() {
    let world = World::new().await;
    let created = world.create(draft_without_slug()).await.unwrap();
    let Placement::System { slug } = created.placement.clone() else { panic!("{created:?}") };
    assert_eq!(slug.as_str().len(), 7);
    let expected = Redirect {
        id: created.id,
        name: samples::name("Autumn sale"),
        placement: Placement::System { slug },
        is_active: true,
        note: None,
        analytics_enabled: true,
        group_id: None,
        created_at: samples::at(0),
        updated_at: samples::at(0),
        content: RedirectContent::to(samples::target("https://example.com/sale")),
    };
    assert_eq!(created, expected);
    assert_eq!(world.stored(created.id).await, Some(expected));
    assert_eq!(world.usage().await.links, 1);
}

#[tokio::test]
async fn d28_a_draft_may_set_every_field() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    let draft = RedirectRequest {
        note: Change::Set(samples::note("")),
        group: Change::Set(group.id.into()),
        is_active: Some(false),
        analytics_enabled: Some(false),
        ..draft("Sale_25")
    }
    .with(|content| {
        content.antibot_enabled = Some(true);
        content.geo_blocklist = Change::Set(germany());
    });
    let created = world.create(draft).await.unwrap();
    let expected = Redirect {
        note: Some(samples::note("")),
        group_id: Some(group.id),
        is_active: false,
        analytics_enabled: false,
        placement: samples::on_system("Sale_25"),
        ..created.clone()
    }
    .with(|content| {
        content.antibot_enabled = true;
        content.geo_blocklist = germany();
    });
    assert_eq!(created, expected);
    assert_eq!(world.stored(created.id).await, Some(expected));
    let group = world.app.store.group(world.account.id, group.id).await.unwrap().unwrap();
    assert_eq!(group.redirects_count, 1);
}

#[tokio::test]
async fn d1_ids_rise_with_creation() {
    let world = World::new().await;
    let first = world.redirect("a").await;
    world.memory.clock.step_back(std::time::Duration::from_hours(1));
    let second = world.redirect("b").await;
    assert!(second.id > first.id, "lists keep the order even when the clock steps back");
}

/// A generated slug is drawn again as long as it is taken.
#[tokio::test]
async fn d21_generation_goes_on_after_collisions() {
    let world = World::new().await;
    let randomness = &world.memory.randomness;
    randomness.queue([1; 16]);
    let first = world.create(draft_without_slug()).await.unwrap();
    assert_eq!(first.placement.slug(), Some(&drawn([1; 16])));
    for _ in 0..9 {
        randomness.queue([1; 16]);
    }
    randomness.queue([2; 16]);
    let second = world.create(draft_without_slug()).await.unwrap();
    assert_eq!(second.placement.slug(), Some(&drawn([2; 16])));
    assert_eq!(world.usage().await.links, 2);
}

#[tokio::test]
async fn d21_generation_gives_up_after_ten_draws_and_leaves_nothing() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    for _ in 0..11 {
        world.memory.randomness.queue([1; 16]);
    }
    world.create(draft_without_slug()).await.unwrap();
    let draft = RedirectRequest { group: Change::Set(group.id.into()), ..draft_without_slug() };
    let failure = world.create(draft).await.unwrap_err();
    assert!(matches!(failure, AppError::NoFreeSlug { attempts: 10 }), "{failure:?}");
    assert_eq!(failure.code(), ErrorCode::InternalError);
    assert_eq!(world.usage().await.links, 1);
    let group = world.app.store.group(world.account.id, group.id).await.unwrap().unwrap();
    assert_eq!(group.redirects_count, 0);
}

#[tokio::test]
async fn without_random_bytes_no_slug_is_generated() {
    let world = World::new().await;
    world.memory.randomness.set_unavailable(true);
    assert_internal(world.create(draft_without_slug()).await);
    // A slug of one's own needs none.
    world.redirect("own").await;
}

/// Only a generated slug is drawn again.
#[tokio::test]
async fn d20_a_slug_of_ones_own_that_is_taken_is_refused() {
    let world = World::new().await;
    world.redirect("sale").await;
    assert_eq!(refusal(world.create(draft("sale")).await).code(), ErrorCode::SlugAlreadyTaken);
    let stranger = world.stranger().await;
    let outcome = links::create::<RedirectContent>(
        &world.app,
        &stranger,
        Submitted::valid(draft("sale")),
        Idempotency::disabled(),
    )
    .await;
    assert_eq!(refusal(outcome).code(), ErrorCode::SlugAlreadyTaken);
    world.redirect("Sale").await;
}

/// R2: fifty concurrent creations of one slug: one succeeds, and the others are told that the address is
/// taken.
#[tokio::test(flavor = "multi_thread")]
async fn d20_of_fifty_concurrent_creations_of_one_slug_one_succeeds() {
    let world = World::new().await;
    let callers = [world.caller().await, world.stranger().await];
    let outcomes = at_once(50, async |number| {
        links::create::<RedirectContent>(
            &world.app,
            &callers[number % 2],
            Submitted::valid(draft("sale")),
            Idempotency::disabled(),
        )
        .await
    });
    let (created, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(created.len(), 1);
    assert!(refused.into_iter().all(|outcome| refusal(outcome).code() == ErrorCode::SlugAlreadyTaken));
}

/// D2: unknown, malformed and another account's are alike.
#[tokio::test]
async fn d6_a_group_that_the_caller_does_not_have_is_not_found() {
    let world = World::new().await;
    let stranger = world.stranger().await;
    let foreign =
        signpost_app::groups::create(&world.app, &stranger, samples::name("Theirs"), Idempotency::disabled())
            .await
            .unwrap();
    for group in [IdReference::Malformed, samples::id().into(), foreign.id.into()] {
        let outcome = world.create(RedirectRequest { group: Change::Set(group), ..draft("sale") }).await;
        assert_eq!(refusal(outcome), Refusal::GroupNotFound);
    }
    assert_eq!(world.usage().await.links, 0);
}

#[tokio::test]
async fn d15_a_plan_must_have_the_features_that_a_link_begins_to_use() {
    let uses = |antibot_enabled, blocks: bool| {
        draft_without_slug().with(|content| {
            content.antibot_enabled = Some(antibot_enabled);
            content.geo_blocklist = Change::Set(if blocks { germany() } else { GeoBlocklist::default() });
        })
    };
    for (features, antibot, geo) in [
        (&[][..], false, false),
        (&[Feature::Antibot], true, false),
        (&[Feature::GeoBlocking], false, true),
        (&[Feature::Antibot, Feature::GeoBlocking], true, true),
    ] {
        let world = World::with_plan(plan(features)).await;
        world.create(uses(false, false)).await.unwrap();
        for (draft, feature, is_included) in
            [(uses(true, false), Feature::Antibot, antibot), (uses(false, true), Feature::GeoBlocking, geo)]
        {
            let outcome = world.create(draft).await;
            if is_included {
                outcome.unwrap();
            } else {
                assert_eq!(refusal(outcome), Refusal::FeatureNotAvailable(feature));
            }
        }
        let links = 1 + u64::from(antibot) + u64::from(geo);
        assert_eq!(world.usage().await.links, links);
    }
}

fn three_links() -> Plan {
    Plan { limits: PlanLimits { links: 3, ..plan(&[]).limits }, ..plan(&[]) }
}

const THREE: Refusal = Refusal::PlanLimitReached { resource: PlanResource::Links, limit: 3 };

#[tokio::test]
async fn d15_the_plans_limit_on_links_is_kept() {
    let world = World::with_plan(three_links()).await;
    let first = world.redirect("a").await;
    world.redirect("b").await;
    world.create(draft_without_slug()).await.unwrap();
    for draft in [draft("c"), draft_without_slug()] {
        assert_eq!(refusal(world.create(draft).await), THREE);
    }
    links::delete(&world.app, &world.caller().await, first.id.into()).await.unwrap();
    world.redirect("a").await;
    assert_eq!(refusal(world.create(draft("c")).await), THREE);
}

/// A plan may be exchanged for a smaller one: nothing is deleted, and nothing new fits.
#[tokio::test]
async fn d15_a_smaller_plan_takes_no_link_away() {
    let mut memory = signpost_memory::InMemory::default();
    memory.plans = memory.plans.with(three_links());
    let world = World::on(memory, "agency").await;
    for slug in ["a", "b", "c", "d"] {
        world.redirect(slug).await;
    }
    let tailored = samples::plan("tailored");
    signpost_app::accounts::set_plan(&world.app, world.account.id, &tailored).await.unwrap();
    assert_eq!(refusal(world.create(draft("e")).await), THREE);
    assert_eq!(world.usage().await.links, 4);
}

/// R4: a limit of N never ends at N + 1, and every place is given out.
#[tokio::test(flavor = "multi_thread")]
async fn d15_the_limit_is_exact_under_concurrency() {
    let world = World::with_plan(three_links()).await;
    let caller = world.caller().await;
    let outcomes = at_once(53, async |number| {
        let draft = if number % 2 == 0 { draft(&format!("link-{number}")) } else { draft_without_slug() };
        links::create::<RedirectContent>(
            &world.app,
            &caller,
            Submitted::valid(draft),
            Idempotency::disabled(),
        )
        .await
    });
    let (created, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
    assert_eq!(created.len(), 3);
    assert!(refused.into_iter().all(|outcome| refusal(outcome) == THREE));
    assert_eq!(world.usage().await.links, 3);
}

/// No such domain, slug required or reserved, a feature, no such group, the limit, the address: the first
/// that applies.
#[tokio::test]
async fn the_first_refusal_that_applies_is_reported() {
    let world = World::with_plan(three_links()).await;
    world.redirect("taken").await;
    world.redirect("b").await;
    let last = world.redirect("c").await;
    let mut all_wrong = RedirectRequest {
        domain: Change::Set(signpost_domain::HostReference::parse("elsewhere.example.net")),
        slug: Change::Set(samples::slug("admin")),
        group: Change::Set(samples::id().into()),
        ..draft("taken")
    }
    .with(|content| content.antibot_enabled = Some(true));
    let refused = async |draft: &RedirectRequest| refusal(world.create(draft.clone()).await);
    assert_eq!(refused(&all_wrong).await, Refusal::DomainNotFound);
    all_wrong.domain = Change::Keep;
    assert_eq!(refused(&all_wrong).await, Refusal::SlugReserved);
    all_wrong.slug = Change::Clear;
    assert_eq!(refused(&all_wrong).await, Refusal::SlugRequiredForSystemDomain);
    all_wrong.slug = Change::Set(samples::slug("taken"));
    assert_eq!(refused(&all_wrong).await, Refusal::FeatureNotAvailable(Feature::Antibot));
    all_wrong.content.antibot_enabled = Some(false);
    assert_eq!(refused(&all_wrong).await, Refusal::GroupNotFound);
    all_wrong.group = Change::Keep;
    assert_eq!(refused(&all_wrong).await, THREE);
    links::delete(&world.app, &world.caller().await, last.id.into()).await.unwrap();
    assert_eq!(refused(&all_wrong).await.code(), ErrorCode::SlugAlreadyTaken);
    all_wrong.slug = Change::Keep;
    world.create(all_wrong).await.unwrap();
}
