//! Tags of links (D122).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::links::ListLinks;
use signpost_app::ports::AuditScope;
use signpost_app::{AppError, links, tags};
use signpost_domain::{
    AuditAction, Batch, IdReference, LandingRequest, PageLimit, Permission, Plan, PlanLimits, PlanResource,
    RedirectContent, RedirectRequest, Refusal, Rejection, Submitted, Tag, TagFilter, TagId, TagName, Tags,
};
use signpost_memory::{Fault, Step};

use crate::world::{World, draft, list_redirects, page_draft, plan, refusal};

fn name(text: &str) -> TagName {
    TagName::parse(text).unwrap()
}

fn tags(names: &[&str]) -> Tags {
    Tags::new(names.iter().map(|text| name(text))).unwrap()
}

fn tagged(slug: &str, names: &[&str]) -> RedirectRequest {
    RedirectRequest { tags: Some(tags(names)), ..draft(slug) }
}

fn retagged(names: &[&str]) -> RedirectRequest {
    RedirectRequest { tags: Some(tags(names)), ..RedirectRequest::default() }
}

/// A world whose plan allows this many tags.
async fn limited(tags: u64) -> World {
    let Plan { limits, .. } = plan(&[]);
    World::with_plan(Plan { limits: PlanLimits { tags, ..limits }, ..plan(&[]) }).await
}

fn limit_reached(limit: u64) -> Refusal {
    Refusal::PlanLimitReached { resource: PlanResource::Tags, limit }
}

/// All tags, newest first.
async fn all(world: &World) -> Vec<Tag> {
    let page = tags::list(&world.app, &world.caller().await, PageLimit::MAX, None).await.unwrap();
    assert_eq!(page.next, None);
    page.items
}

/// The names and counts of all tags, by name.
async fn counts(world: &World) -> Vec<(String, u64)> {
    let tags = all(world).await.into_iter();
    let mut counts: Vec<_> = tags.map(|tag| (tag.name.to_string(), tag.links_count)).collect();
    counts.sort();
    counts
}

fn counted<const N: usize>(counts: [(&str, u64); N]) -> Vec<(String, u64)> {
    counts.map(|(name, count)| (name.to_owned(), count)).into()
}

async fn id_of(world: &World, text: &str) -> TagId {
    all(world).await.into_iter().find(|tag| tag.name.as_str() == text).unwrap().id
}

fn spellings(tags: &Tags) -> Vec<&str> {
    tags.iter().map(TagName::as_str).collect()
}

async fn rename(world: &World, id: TagId, text: &str) -> Result<Tag, AppError> {
    tags::rename(&world.app, &world.caller().await, id.into(), name(text)).await
}

#[tokio::test]
async fn d122_unknown_names_create_tags_and_known_ones_keep_their_spelling() {
    let world = World::new().await;
    let first = world.create(tagged("a", &["Sale", "new"])).await.unwrap();
    assert_eq!(spellings(&first.tags), ["new", "Sale"]);
    let second = world.create(tagged("b", &["SALE", "x"])).await.unwrap();
    assert_eq!(spellings(&second.tags), ["Sale", "x"]);
    let page = LandingRequest { tags: Some(tags(&["NEW"])), ..page_draft("c") };
    assert_eq!(spellings(&world.create_page(page).await.unwrap().tags), ["new"]);
    assert_eq!(world.stored(second.id).await.unwrap(), second);
    assert_eq!(counts(&world).await, counted([("Sale", 2), ("new", 2), ("x", 1)]));
    assert_eq!(world.usage().await.tags, 3);
}

#[tokio::test]
async fn d122_d33_an_update_replaces_the_list_and_the_same_tags_change_nothing() {
    let world = World::new().await;
    let created = world.create(tagged("a", &["Sale", "new"])).await.unwrap();
    world.memory.clock.advance(Duration::from_secs(1));
    for patch in [retagged(&["NEW", "sale"]), RedirectRequest::default()] {
        assert_eq!(world.update(created.id, patch).await.unwrap(), created);
    }
    let updated = world.update(created.id, retagged(&["SALE", "More"])).await.unwrap();
    assert_eq!(spellings(&updated.tags), ["More", "Sale"]);
    assert_eq!(updated.revision, created.revision.next());
    assert_eq!(world.stored(created.id).await.unwrap(), updated);
    let emptied = world.update(created.id, retagged(&[])).await.unwrap();
    assert!(emptied.tags.is_empty());
    assert_eq!(counts(&world).await, counted([("More", 0), ("Sale", 0), ("new", 0)]));
}

#[tokio::test]
async fn d122_d15_tags_beyond_the_limit_refuse_the_link_and_leave_no_trace() {
    let world = limited(2).await;
    assert_eq!(refusal(world.create(tagged("a", &["1", "2", "3"])).await), limit_reached(2));
    assert_eq!(all(&world).await, []);
    let link = world.create(tagged("a", &["1", "2"])).await.unwrap();
    assert_eq!(refusal(world.create(tagged("b", &["1", "3"])).await), limit_reached(2));
    assert_eq!(refusal(world.update(link.id, retagged(&["3"])).await), limit_reached(2));
    assert_eq!(world.stored(link.id).await.unwrap(), link);
    let page = LandingRequest { tags: Some(tags(&["3"])), ..page_draft("b") };
    assert_eq!(refusal(world.create_page(page).await), limit_reached(2));
    assert_eq!(spellings(&world.create(tagged("b", &["2"])).await.unwrap().tags), ["2"]);
}

/// An item that does not fit takes no room from the next one, and a refused item leaves no tags.
#[tokio::test]
async fn d122_only_the_items_that_need_one_more_tag_are_refused() {
    let world = limited(3).await;
    world.create(tagged("taken", &["old"])).await.unwrap();
    let items = [
        tagged("a", &["old", "1", "2", "3"]),
        tagged("b", &["1"]),
        tagged("taken", &["2"]),
        tagged("c", &["OLD"]),
        tagged("d", &["3"]),
        draft("e"),
    ];
    let items = Batch::new(items.into_iter().map(|item| Ok(Submitted::valid(item))).collect()).unwrap();
    let caller = world.caller().await;
    let outcomes =
        links::create_many::<RedirectContent>(&world.app, &caller, items, Idempotency::disabled()).await;
    let outcomes = outcomes.unwrap();
    let refused = |outcome: &Result<_, Rejection>| match outcome {
        Err(Rejection::Refused(refusal)) => Some(refusal.code().as_str()),
        Err(Rejection::Invalid(_)) | Ok(_) => None,
    };
    let codes: Vec<_> = outcomes.iter().map(refused).collect();
    let limit = Some("plan_limit_reached");
    assert_eq!(codes, [limit, None, Some("slug_already_taken"), None, limit, None]);
    assert_eq!(counts(&world).await, counted([("1", 1), ("old", 2)]), "the tag of the refused link is gone");
    assert_eq!(world.usage().await.tags, 2);
}

#[tokio::test]
async fn d122_lists_filter_by_tags() {
    let world = World::new().await;
    for (slug, names) in [("a", &["x"][..]), ("b", &["x", "y"]), ("c", &[])] {
        world.create(tagged(slug, names)).await.unwrap();
    }
    let found = async |tags: TagFilter| {
        let query = ListLinks { tags, ..ListLinks::default() };
        let page = list_redirects(&world.app, &world.caller().await, query).await.unwrap();
        page.items.iter().map(|link| link.placement.slug().unwrap().to_string()).collect::<Vec<_>>()
    };
    let names = |texts: &[&str]| texts.iter().map(|text| name(text)).collect::<Vec<_>>();
    assert_eq!(found(TagFilter { any: names(&["X"]), ..TagFilter::default() }).await, ["b", "a"]);
    assert_eq!(found(TagFilter { all: names(&["x", "y"]), ..TagFilter::default() }).await, ["b"]);
    assert_eq!(found(TagFilter { none: names(&["y"]), ..TagFilter::default() }).await, ["c", "a"]);
    assert_eq!(found(TagFilter { any: names(&["z"]), ..TagFilter::default() }).await, [""; 0]);
}

/// Contract D122: no revision moves.
#[tokio::test]
async fn d122_a_renamed_tag_shows_its_new_name_on_all_its_links() {
    let world = World::new().await;
    let link = world.create(tagged("a", &["old", "x"])).await.unwrap();
    let id = id_of(&world, "old").await;
    for (text, expected) in [("new", ["new", "x"]), ("NEW", ["NEW", "x"]), ("NEW", ["NEW", "x"])] {
        world.memory.clock.advance(Duration::from_secs(1));
        let renamed = rename(&world, id, text).await.unwrap();
        assert_eq!((renamed.id, renamed.name.as_str(), renamed.links_count), (id, text, 1));
        let stored = world.stored(link.id).await.unwrap();
        assert_eq!(spellings(&stored.tags), expected);
        assert_eq!((stored.revision, stored.updated_at), (link.revision, link.updated_at));
    }
}

#[tokio::test]
async fn d122_a_taken_name_merges_the_two_tags() {
    let world = World::new().await;
    let mut links = Vec::new();
    for (slug, names) in [("a", &["from"][..]), ("b", &["from", "to"]), ("c", &["to", "x"])] {
        links.push(world.create(tagged(slug, names)).await.unwrap());
    }
    let (from, to) = (id_of(&world, "from").await, id_of(&world, "to").await);
    let merged = rename(&world, from, "TO").await.unwrap();
    assert_eq!((merged.id, merged.name.as_str(), merged.links_count), (to, "to", 3));
    assert_eq!(counts(&world).await, counted([("to", 3), ("x", 1)]));
    for (link, names) in links.iter().zip([&["to"][..], &["to"], &["to", "x"]]) {
        let stored = world.stored(link.id).await.unwrap();
        assert_eq!((spellings(&stored.tags), stored.revision), (names.to_vec(), link.revision));
    }
    assert_eq!(refusal(rename(&world, from, "x").await), Tag::NOT_FOUND);
    assert_eq!(world.usage().await.tags, 2);
}

/// More links than one unit of work moves. An interrupted merge or deletion can be repeated.
#[tokio::test]
async fn d122_large_tags_are_merged_and_deleted_to_the_end() {
    let world = World::new().await;
    for part in 0..11 {
        let item = |number: u32| Ok(Submitted::valid(tagged(&format!("{part}-{number}"), &["from"])));
        let items = Batch::new((0..100).map(item).collect()).unwrap();
        let caller = world.caller().await;
        let created =
            links::create_many::<RedirectContent>(&world.app, &caller, items, Idempotency::disabled()).await;
        assert!(created.unwrap().iter().all(Result::is_ok));
    }
    world.create(tagged("to", &["to"])).await.unwrap();
    let (from, to) = (id_of(&world, "from").await, id_of(&world, "to").await);
    let faults = world.memory.store.faults();
    faults.fail_next(Step::Commit, Fault::Unavailable, 1);
    rename(&world, from, "to").await.unwrap_err();
    assert_eq!(counts(&world).await, counted([("from", 1_100), ("to", 1)]));
    faults.fail_next(Step::Commit, Fault::Contended, 1);
    assert_eq!(rename(&world, from, "to").await.unwrap().links_count, 1_101);
    let caller = world.caller().await;
    faults.fail_next(Step::Commit, Fault::Unavailable, 1);
    tags::delete(&world.app, &caller, to.into()).await.unwrap_err();
    assert_eq!(counts(&world).await, counted([("to", 1_101)]));
    faults.fail_next(Step::Commit, Fault::Contended, 1);
    assert_eq!(tags::delete(&world.app, &caller, to.into()).await.unwrap(), to);
    assert_eq!(counts(&world).await, []);
    assert_eq!(world.usage().await.links, 1_101);
}

#[tokio::test]
async fn d122_d6_an_unknown_tag_of_a_path_is_not_found() {
    let world = World::new().await;
    world.create(tagged("a", &["x"])).await.unwrap();
    let (id, stranger) = (id_of(&world, "x").await, world.stranger().await);
    let unknown = IdReference::Id(TagId::from_bytes([9; 16]));
    for (caller, id) in [
        (&stranger, IdReference::Id(id)),
        (&world.caller().await, unknown),
        (&world.caller().await, IdReference::Malformed),
    ] {
        let renamed = tags::rename(&world.app, caller, id, name("y")).await;
        assert_eq!(refusal(renamed), Refusal::NotFound("tag"));
        assert_eq!(refusal(tags::delete(&world.app, caller, id).await), Refusal::NotFound("tag"));
    }
    assert_eq!(tags::list(&world.app, &stranger, PageLimit::MAX, None).await.unwrap().items, []);
    assert_eq!(counts(&world).await, counted([("x", 1)]));
    assert_eq!(Permission::WriteLinks.as_str(), "links", "the scope that writes tags (D80)");
}

#[tokio::test]
async fn d78_renamed_merged_and_deleted_tags_are_recorded() {
    let world = World::new().await;
    world.create(tagged("a", &["a", "b", "c"])).await.unwrap();
    let (a, b, c) = (id_of(&world, "a").await, id_of(&world, "b").await, id_of(&world, "c").await);
    rename(&world, a, "a").await.unwrap();
    rename(&world, a, "A").await.unwrap();
    rename(&world, a, "b").await.unwrap();
    tags::delete(&world.app, &world.caller().await, c.into()).await.unwrap();
    let scope = AuditScope::Account(world.account.id);
    let entries = world.app.store.audit_entries(scope, PageLimit::MAX, None).await.unwrap().items;
    let of_tags = entries
        .into_iter()
        .filter(|entry| [AuditAction::TagRenamed, AuditAction::TagDeleted].contains(&entry.action));
    let recorded: Vec<_> = of_tags.map(|entry| (entry.action, entry.object)).collect();
    let expected = [
        (AuditAction::TagDeleted, format!("{c} c")),
        (AuditAction::TagRenamed, format!("{a} into {b} b")),
        (AuditAction::TagRenamed, format!("{a} A")),
    ];
    assert_eq!(recorded, expected);
}
