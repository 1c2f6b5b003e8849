//! Updating the redirects that match a filter (D124).

use std::time::Duration;

use signpost_app::AppError;
use signpost_app::idempotency::Idempotency;
use signpost_app::links::{self, ListLinks, MatchingUpdate, UpdateMatching};
use signpost_domain::{
    Change, Feature, HostReference, IdReference, Permission, PermissionSet, Plan, PlanLimits, PlanResource,
    PrefixReplacement, Redirect, RedirectId, RedirectPatch, RedirectRequest, Refusal, Rejection, Revision,
    TagChange, TagName, Tags, TargetPrefix, ViolationCode,
};
use signpost_port_contracts::samples;

use crate::world::{
    World, create_as, draft, fields, get_redirect, list_redirects, plan, refusal, violation, violations,
};

pub(crate) fn tags(names: &[&str]) -> Tags {
    Tags::new(names.iter().map(|name| TagName::parse(name).unwrap())).unwrap()
}

pub(crate) fn tagging(added: &[&str], removed: &[&str]) -> RedirectPatch {
    RedirectPatch { tags: TagChange::new(tags(added), tags(removed)).unwrap(), ..RedirectPatch::default() }
}

pub(crate) fn deactivating() -> RedirectPatch {
    RedirectPatch { is_active: Some(false), ..RedirectPatch::default() }
}

pub(crate) fn replacing(from: &str, to: &str) -> RedirectPatch {
    let [from, to] = [from, to].map(|text| TargetPrefix::parse(text).unwrap());
    RedirectPatch { target_prefix: Some(PrefixReplacement { from, to }), ..RedirectPatch::default() }
}

pub(crate) fn of_all(patch: RedirectPatch) -> UpdateMatching {
    UpdateMatching { patch, ..UpdateMatching::default() }
}

pub(crate) async fn try_run(world: &World, request: UpdateMatching) -> Result<MatchingUpdate, AppError> {
    let caller = world.caller().await;
    links::update_matching(&world.app, &caller, request, Idempotency::disabled()).await
}

/// Runs a request, after a dry run of it, which must have the same counts and change nothing.
pub(crate) async fn run(world: &World, request: UpdateMatching) -> MatchingUpdate {
    let before = (all(world).await, world.usage().await);
    let dry = try_run(world, UpdateMatching { is_dry_run: true, ..request.clone() }).await.unwrap();
    assert_eq!((all(world).await, world.usage().await), before, "a dry run writes nothing");
    let done = try_run(world, request).await.unwrap();
    let like_dry = MatchingUpdate { is_dry_run: true, examples: dry.examples.clone(), ..done.clone() };
    assert_eq!(dry, like_dry);
    assert_eq!(dry.examples.len(), dry.updated.min(10));
    for (_, after) in &dry.examples {
        assert_eq!(world.stored(after.id).await.as_ref(), Some(after));
    }
    done
}

/// The redirects of the first page, as they are stored.
async fn all(world: &World) -> Vec<Redirect> {
    let caller = world.caller().await;
    list_redirects(&world.app, &caller, ListLinks::default()).await.unwrap().items
}

fn counts(outcome: &MatchingUpdate) -> [usize; 4] {
    [outcome.matched(), outcome.updated, outcome.unchanged, outcome.failed.len()]
}

fn refusals(outcome: &MatchingUpdate) -> Vec<(RedirectId, Refusal)> {
    let refusal = |(id, rejection): &(RedirectId, Rejection)| match rejection {
        Rejection::Refused(refusal) => (*id, refusal.clone()),
        Rejection::Invalid(violations) => panic!("invalid: {violations:?}"),
    };
    outcome.failed.iter().map(refusal).collect()
}

#[tokio::test]
async fn d124_only_links_that_match_change() {
    let world = World::new().await;
    let group = world.group("Group").await.id;
    let stranger = world.stranger().await;
    let theirs = create_as(&world.app, &stranger, draft("theirs")).await.unwrap();
    let inside = RedirectRequest { group: Change::Set(group.into()), ..draft("a") };
    let inside = world.create(inside).await.unwrap();
    let off = RedirectRequest { group: Change::Set(group.into()), is_active: Some(false), ..draft("b") };
    let off = world.create(off).await.unwrap();
    let outside = world.redirect("c").await;
    world.memory.clock.advance(Duration::from_secs(1));
    let links = ListLinks { group: Some(Some(group.into())), ..ListLinks::default() };
    let outcome = run(&world, UpdateMatching { links, ..of_all(deactivating()) }).await;
    assert_eq!(counts(&outcome), [2, 1, 1, 0]);
    assert_eq!((outcome.failed_more, outcome.next), (0, None));
    let changed = world.stored(inside.id).await.unwrap();
    assert_eq!((changed.is_active, changed.revision), (false, Revision::FIRST.next()));
    assert!(changed.updated_at > inside.updated_at);
    assert_eq!(world.stored(off.id).await, Some(off));
    assert_eq!(world.stored(outside.id).await, Some(outside));
    assert_eq!(get_redirect(&world.app, &stranger, theirs.id.into()).await.unwrap(), theirs);
}

#[tokio::test]
async fn d124_every_field_of_the_patch_is_applied() {
    let world = World::new().await;
    let [old, new] = [world.group("Old").await.id, world.group("New").await.id];
    let request =
        RedirectRequest { group: Change::Set(old.into()), tags: Some(tags(&["mail", "Sale"])), ..draft("a") };
    let before = world.create(request).await.unwrap();
    let patch = RedirectPatch {
        is_active: Some(false),
        group: Change::Set(new.into()),
        antibot_enabled: Some(true),
        note: Change::Set(samples::note("A note")),
        ..replacing("https://example.com/", "https://example.org/shop/")
    };
    let outcome =
        run(&world, of_all(RedirectPatch { tags: tagging(&["new"], &["SALE"]).tags, ..patch })).await;
    assert_eq!(counts(&outcome), [1, 1, 0, 0]);
    let after = world.stored(before.id).await.unwrap();
    assert_eq!((after.is_active, after.group_id, after.content.antibot_enabled), (false, Some(new), true));
    assert_eq!(after.tags, tags(&["mail", "new"]));
    assert_eq!(after.note, Some(samples::note("A note")));
    assert_eq!(after.content.target_url.as_str(), "https://example.org/shop/sale");
}

/// Each rejection is that of a single update, and the other links change.
#[tokio::test]
async fn d124_a_refused_link_leaves_the_others_alone() {
    let world = World::new().await;
    let own = world.redirect_to("own", "https://example.com/next").await;
    let other = world.redirect_to("other", "https://example.com/last").await;
    let elsewhere = world.redirect_to("elsewhere", "https://example.net/").await;
    // Only the first would lead to itself.
    let patch = replacing("https://example.com/next", "https://go.example.com/own");
    let outcome = run(&world, of_all(patch)).await;
    assert_eq!(counts(&outcome), [3, 0, 2, 1]);
    let [(id, Rejection::Invalid(found))] = outcome.failed.as_slice() else { panic!("{outcome:?}") };
    assert_eq!((*id, fields(found)), (own.id, vec![violation("target_url", ViolationCode::InvalidValue)]));
    let outcome = run(&world, of_all(replacing("https://example.com/", "https://example.org/"))).await;
    assert_eq!(counts(&outcome), [3, 2, 1, 0]);
    assert_eq!(world.stored(other.id).await.unwrap().content.target_url.as_str(), "https://example.org/last");
    assert_eq!(world.stored(elsewhere.id).await, Some(elsewhere));
}

#[tokio::test]
async fn d124_an_unknown_group_refuses_the_call() {
    let world = World::new().await;
    let before = world.redirect("a").await;
    for group in [samples::id().into(), IdReference::Malformed] {
        let patch = RedirectPatch { group: Change::Set(group), ..deactivating() };
        for is_dry_run in [true, false] {
            let request = UpdateMatching { is_dry_run, ..of_all(patch.clone()) };
            assert_eq!(refusal(try_run(&world, request).await), Refusal::GroupNotFound);
        }
    }
    assert_eq!(world.stored(before.id).await, Some(before));
}

#[tokio::test]
async fn d137_a_link_keeps_a_feature_that_the_plan_lacks() {
    let world = World::with_plan(plan(&[])).await;
    let guarded = samples::redirect("guarded");
    let guarded = world.store_as_it_is(guarded.with(|content| content.antibot_enabled = true)).await;
    let plain = world.redirect("plain").await;
    let patch = RedirectPatch { antibot_enabled: Some(true), ..RedirectPatch::default() };
    let outcome = run(&world, of_all(patch)).await;
    assert_eq!(refusals(&outcome), [(plain.id, Refusal::FeatureNotAvailable(Feature::Antibot))]);
    assert_eq!(outcome.unchanged, 1);
    assert_eq!(world.stored(guarded.id).await, Some(guarded));
}

/// Tags that were created for refused links go again.
#[tokio::test]
async fn d122_tags_beyond_the_plan_refuse_the_links() {
    let Plan { limits, .. } = plan(&[]);
    let limited = Plan { limits: PlanLimits { tags: 1, ..limits }, ..plan(&[]) };
    let world = World::with_plan(limited).await;
    let id = world.redirect("a").await.id;
    let full = Refusal::PlanLimitReached { resource: PlanResource::Tags, limit: 1 };
    assert_eq!(refusals(&run(&world, of_all(tagging(&["x", "y"], &[]))).await), [(id, full)]);
    assert_eq!(world.usage().await.tags, 0);
    assert_eq!(counts(&run(&world, of_all(tagging(&["x"], &[]))).await), [1, 1, 0, 0]);
    assert_eq!(counts(&run(&world, of_all(tagging(&["X"], &[]))).await), [1, 0, 1, 0]);
}

#[tokio::test]
async fn d124_pixels_that_the_account_lacks_are_violations_of_the_request() {
    let world = World::new().await;
    world.redirect("a").await;
    let pixels = Change::Set(vec![Some(samples::id())]);
    let patch = RedirectPatch { pixels, ..deactivating() };
    let outcome = try_run(&world, of_all(patch)).await;
    assert_eq!(violations(outcome), [violation("patch.pixel_ids[0]", ViolationCode::InvalidValue)]);
}

#[tokio::test]
async fn d126_a_filter_that_names_nothing_matches_nothing() {
    let world = World::new().await;
    world.redirect("a").await;
    for links in [
        ListLinks { group: Some(Some(IdReference::Malformed)), ..ListLinks::default() },
        ListLinks { domain: Some(HostReference::Malformed), ..ListLinks::default() },
        ListLinks { domain: Some(HostReference::parse("links.example.net")), ..ListLinks::default() },
    ] {
        let outcome = run(&world, UpdateMatching { links, ..of_all(deactivating()) }).await;
        assert_eq!(outcome, MatchingUpdate::default());
    }
}

#[tokio::test]
async fn d80_updating_needs_the_permission_to_write_links() {
    let world = World::new().await;
    let caller = world.caller().await.limited_to(PermissionSet::default());
    let request = of_all(deactivating());
    let outcome = links::update_matching(&world.app, &caller, request, Idempotency::disabled()).await;
    assert!(matches!(refusal(outcome), Refusal::NotPermitted(Permission::WriteLinks)));
}

/// Its examples show links of which the caller names no id.
#[tokio::test]
async fn d80_a_dry_run_needs_the_permission_to_read_too() {
    let world = World::new().await;
    let caller = world.caller().await.limited_to(PermissionSet::from_iter([Permission::WriteLinks]));
    for (is_dry_run, is_refused) in [(false, false), (true, true)] {
        let request = UpdateMatching { is_dry_run, ..of_all(deactivating()) };
        let outcome = links::update_matching(&world.app, &caller, request, Idempotency::disabled()).await;
        assert_eq!(outcome.is_err(), is_refused);
        if is_refused {
            assert_eq!(refusal(outcome), Refusal::NotPermitted(Permission::Read));
        }
    }
}
