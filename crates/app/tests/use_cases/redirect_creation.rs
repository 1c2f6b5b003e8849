//! Creating redirects (D15, D20, D21, D28).

use signpost_app::{AppError, links};
use signpost_domain::{
    Change, CountryCode, ErrorCode, Feature, GeoBlocklist, Life, Placement, Plan, PlanLimits, PlanResource,
    Precondition, Redirect, RedirectContent, RedirectRequest, Refusal, Revision, Tags,
};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, draft, draft_without_slug, generated, plan, refusal};

fn germany() -> GeoBlocklist {
    GeoBlocklist::new(vec![CountryCode::parse("DE").unwrap()])
}

#[tokio::test]
async fn d28_a_name_and_a_target_suffice_for_a_redirect() {
    let world = World::new().await;
    let created = world.create(draft_without_slug()).await.unwrap();
    let Placement::System { slug } = created.placement.clone() else { panic!("{created:?}") };
    assert_eq!(slug.as_str().len(), 7);
    let expected = Redirect {
        id: created.id,
        name: samples::name("Autumn sale"),
        placement: Placement::System { slug },
        is_active: true,
        is_domain_active: true,
        has_password: false,
        life: Life::default(),
        note: None,
        analytics_enabled: true,
        group_id: None,
        tags: Tags::default(),
        created_at: samples::at(0),
        updated_at: samples::at(0),
        revision: Revision::FIRST,
        external_id: None,
        content: RedirectContent::to(samples::target("https://example.com/sale")),
    };
    assert_eq!(created, expected);
    assert_eq!(world.stored(created.id).await, Some(expected));
    assert_eq!(world.usage().await.links, 1);
}

#[tokio::test]
async fn d21_taken_slugs_are_generated_again() {
    let world = World::new().await;
    let randomness = &world.memory.randomness;
    randomness.queue([1; 16]);
    let first = world.create(draft_without_slug()).await.unwrap();
    assert_eq!(first.placement.slug(), Some(&generated([1; 16])));
    for _ in 0..9 {
        randomness.queue([1; 16]);
    }
    randomness.queue([2; 16]);
    let second = world.create(draft_without_slug()).await.unwrap();
    assert_eq!(second.placement.slug(), Some(&generated([2; 16])));
    assert_eq!(world.usage().await.links, 2);
}

#[tokio::test]
async fn d21_slug_generation_fails_after_ten_attempts_and_leaves_nothing() {
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
async fn d21_slug_generation_fails_without_random_bytes() {
    let world = World::new().await;
    world.memory.randomness.set_unavailable(true);
    assert_internal(world.create(draft_without_slug()).await);
    // A chosen slug needs no random bytes.
    world.redirect("own").await;
}

#[tokio::test]
async fn d15_creations_and_updates_are_judged_by_the_accounts_features() {
    let world = World::with_plan(plan(&[Feature::Antibot])).await;
    let antibot = draft_without_slug().with(|content| content.antibot_enabled = Some(true));
    let link = world.create(antibot).await.unwrap();
    let no_geo = Refusal::FeatureNotAvailable(Feature::GeoBlocking);
    let blocking = draft_without_slug().with(|content| content.geo_blocklist = Change::Set(germany()));
    assert_eq!(refusal(world.create(blocking).await), no_geo);
    let blocking = RedirectRequest::default().with(|content| content.geo_blocklist = Change::Set(germany()));
    assert_eq!(refusal(world.update(link.id, blocking).await), no_geo);
    assert_eq!(world.usage().await.links, 1);
}

fn three_links() -> Plan {
    Plan { limits: PlanLimits { links: 3, ..plan(&[]).limits }, ..plan(&[]) }
}

const THREE: Refusal = Refusal::PlanLimitReached { resource: PlanResource::Links, limit: 3 };

/// The order: domain, slug, feature, group, limit, address.
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
    links::delete(&world.app, &world.caller().await, last.id.into(), &Precondition::None).await.unwrap();
    assert_eq!(refused(&all_wrong).await.code(), ErrorCode::SlugAlreadyTaken);
    all_wrong.slug = Change::Keep;
    world.create(all_wrong).await.unwrap();
}
