//! Updating redirects (contract "PATCH /v1/redirects/{id}", D15, D33).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::{accounts, groups, links};
use signpost_domain::{
    Change, CountryCode, Feature, GeoBlocklist, IdReference, Redirect, RedirectContent,
    RedirectContentRequest, RedirectRequest, Refusal, Submitted,
};
use signpost_memory::{Fault, InMemory, Step};
use signpost_port_contracts::samples;

use crate::world::{World, at_once, draft, plan, refusal};

const LATER: Duration = Duration::from_secs(10);

fn blocks(code: &str) -> GeoBlocklist {
    GeoBlocklist::new(vec![CountryCode::parse(code).unwrap()])
}

/// What a patch does to a redirect.
type Effect = fn(&mut Redirect);

#[tokio::test]
async fn only_the_fields_present_are_changed() {
    let world = World::new().await;
    let group = world.group("Spring").await.id;
    let nothing = RedirectRequest::default;
    let mut expected = world.redirect("start").await;
    let mut later = 0;
    let changes: [(RedirectRequest, Effect); 9] = [
        (RedirectRequest { name: Some(samples::name("New")), ..nothing() }, |link| {
            link.name = samples::name("New");
        }),
        (nothing().with(|content| content.target_url = Some(samples::target("https://a.example"))), |link| {
            link.content.target_url = samples::target("https://a.example");
        }),
        (RedirectRequest { slug: Change::Set(samples::slug("end")), ..nothing() }, |link| {
            link.placement = samples::on_system("end");
        }),
        (RedirectRequest { note: Change::Set(samples::note(" x ")), ..nothing() }, |link| {
            link.note = Some(samples::note(" x "));
        }),
        (RedirectRequest { note: Change::Clear, ..nothing() }, |link| link.note = None),
        (RedirectRequest { is_active: Some(false), ..nothing() }, |link| link.is_active = false),
        (nothing().with(|content| content.antibot_enabled = Some(true)), |link| {
            link.content.antibot_enabled = true
        }),
        (nothing().with(|content| content.geo_blocklist = Change::Set(blocks("AT"))), |link| {
            link.content.geo_blocklist = blocks("AT");
        }),
        (nothing().with(|content| content.geo_blocklist = Change::Clear), |link| {
            link.content.geo_blocklist = GeoBlocklist::default();
        }),
    ];
    for (patch, change) in changes {
        world.memory.clock.advance(Duration::from_millis(1));
        later += 1;
        change(&mut expected);
        expected.updated_at = samples::at(later);
        assert_eq!(world.update(expected.id, patch).await.unwrap(), expected);
        assert_eq!(world.stored(expected.id).await.as_ref(), Some(&expected));
    }
    for (change, group_id) in [(Change::Set(group.into()), Some(group)), (Change::Clear, None)] {
        let patch = RedirectRequest { group: change, ..nothing() };
        assert_eq!(world.update(expected.id, patch).await.unwrap().group_id, group_id);
        let stored = groups::get(&world.app, &world.caller().await, group.into()).await.unwrap();
        assert_eq!(stored.redirects_count, u64::from(group_id.is_some()));
    }
}

/// A PATCH that changes nothing leaves `updated_at` alone, and writes nothing.
#[tokio::test]
async fn d33_an_update_that_changes_nothing_writes_nothing() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    let draft = RedirectRequest {
        note: Change::Set(samples::note("note")),
        group: Change::Set(group.id.into()),
        ..draft("sale")
    }
    .with(|content| content.geo_blocklist = Change::Set(blocks("DE")));
    let link = world.create(draft).await.unwrap();
    world.memory.clock.advance(LATER);
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 1);
    let same = RedirectRequest {
        name: Some(link.name.clone()),
        slug: Change::Set(samples::slug("sale")),
        note: Change::Set(samples::note("note")),
        domain: Change::Clear,
        group: Change::Set(group.id.into()),
        is_active: Some(true),
        analytics_enabled: None,
        content: RedirectContentRequest {
            target_url: Some(link.content.target_url.clone()),
            antibot_enabled: Some(false),
            geo_blocklist: Change::Set(blocks("DE")),
            pixels: Change::Clear,
        },
    };
    for patch in [RedirectRequest::default(), same] {
        assert_eq!(world.update(link.id, patch).await.unwrap(), link);
        assert_eq!(world.stored(link.id).await.as_ref(), Some(&link));
    }
    assert_eq!(world.memory.store.faults().outstanding(), 1, "nothing was committed");
}

#[tokio::test]
async fn d33_updated_at_never_goes_back() {
    let world = World::new().await;
    let link = world.redirect("sale").await;
    world.memory.clock.step_back(Duration::from_hours(1));
    let patch = RedirectRequest { is_active: Some(false), ..RedirectRequest::default() };
    let updated = world.update(link.id, patch).await.unwrap();
    assert_eq!((updated.created_at, updated.updated_at), (link.created_at, link.updated_at));
    assert!(!updated.is_active);
}

/// D2: unknown, malformed and another account's are alike, and the other account's stays as it is.
#[tokio::test]
async fn d2_a_redirect_that_the_caller_does_not_have_is_not_found() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    let stranger = world.stranger().await;
    for id in [IdReference::Malformed, samples::id().into(), link.id.into()] {
        let patch = RedirectRequest { name: Some(samples::name("Stolen")), ..RedirectRequest::default() };
        let outcome =
            links::update::<RedirectContent>(&world.app, &stranger, id, Submitted::valid(patch)).await;
        assert_eq!(refusal(outcome), Refusal::RedirectNotFound);
    }
    assert_eq!(world.stored(link.id).await, Some(link));
}

#[tokio::test]
async fn d6_a_group_that_the_caller_does_not_have_is_not_found() {
    let world = World::new().await;
    let link = world.redirect("mine").await;
    let stranger = world.stranger().await;
    let foreign = groups::create(&world.app, &stranger, samples::name("Theirs"), Idempotency::disabled())
        .await
        .unwrap();
    for group in [IdReference::Malformed, samples::id().into(), foreign.id.into()] {
        let patch = RedirectRequest {
            group: Change::Set(group),
            name: Some(samples::name("Renamed")),
            ..RedirectRequest::default()
        };
        assert_eq!(refusal(world.update(link.id, patch).await), Refusal::GroupNotFound);
    }
    assert_eq!(world.stored(link.id).await, Some(link));
}

/// A plan must have a feature for a link to begin to use it; what a link has, it keeps, and may give up.
#[tokio::test]
async fn d15_a_smaller_plan_ends_new_uses_of_a_feature_only() {
    let mut memory = InMemory::default();
    memory.plans = memory.plans.with(plan(&[]));
    let world = World::on(memory, "agency").await;
    let user = draft("user").with(|content| {
        content.antibot_enabled = Some(true);
        content.geo_blocklist = Change::Set(blocks("DE"));
    });
    let user = world.create(user).await.unwrap();
    let other = world.redirect("other").await;
    accounts::set_plan(&world.app, world.account.id, &samples::plan("tailored")).await.unwrap();

    let antibot = |on| RedirectRequest::default().with(|content| content.antibot_enabled = Some(on));
    let geo = |change| RedirectRequest::default().with(|content| content.geo_blocklist = change);
    let no_antibot = Refusal::FeatureNotAvailable(Feature::Antibot);
    let no_geo = Refusal::FeatureNotAvailable(Feature::GeoBlocking);
    assert_eq!(refusal(world.update(other.id, antibot(true)).await), no_antibot);
    assert_eq!(refusal(world.update(other.id, geo(Change::Set(blocks("DE")))).await), no_geo);
    assert_eq!(refusal(world.update(user.id, geo(Change::Set(blocks("AT")))).await), no_geo);

    let kept = RedirectRequest { name: Some(samples::name("Renamed")), ..antibot(true) }
        .with(|content| content.geo_blocklist = Change::Set(blocks("DE")));
    let kept = world.update(user.id, kept).await.unwrap();
    assert!(kept.content.antibot_enabled && !kept.content.geo_blocklist.is_empty());
    let given_up = antibot(false).with(|content| content.geo_blocklist = Change::Clear);
    let given_up = world.update(user.id, given_up).await.unwrap();
    assert!(!given_up.content.antibot_enabled && given_up.content.geo_blocklist.is_empty());
    assert_eq!(refusal(world.update(user.id, antibot(true)).await), no_antibot);
}

/// Concurrent updates of different fields all come through: each is decided from what the other wrote.
#[tokio::test(flavor = "multi_thread")]
async fn no_update_is_lost() {
    let world = World::new().await;
    let link = world.redirect("start").await;
    let caller = world.caller().await;
    let nothing = RedirectRequest::default;
    let patches = [
        RedirectRequest { name: Some(samples::name("New")), ..nothing() },
        nothing().with(|content| content.target_url = Some(samples::target("https://a.example"))),
        RedirectRequest { slug: Change::Set(samples::slug("end")), ..nothing() },
        RedirectRequest { note: Change::Set(samples::note("x")), ..nothing() },
        RedirectRequest { is_active: Some(false), ..nothing() },
        nothing().with(|content| content.antibot_enabled = Some(true)),
        nothing().with(|content| content.geo_blocklist = Change::Set(blocks("AT"))),
    ];
    at_once(patches.len(), async |number| {
        let command = Submitted::valid(patches[number].clone());
        links::update::<RedirectContent>(&world.app, &caller, link.id.into(), command).await.unwrap();
    });
    let expected = Redirect {
        name: samples::name("New"),
        placement: samples::on_system("end"),
        note: Some(samples::note("x")),
        is_active: false,
        ..link
    }
    .with(|content| {
        content.target_url = samples::target("https://a.example");
        content.antibot_enabled = true;
        content.geo_blocklist = blocks("AT");
    });
    assert_eq!(world.stored(link.id).await, Some(expected));
}
