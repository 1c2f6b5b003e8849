//! Updating links in bulk (D30, D123).

use signpost_app::AppError;
use signpost_app::links::{self, LinkUpdate, NamedLink};
use signpost_domain::id::RedirectKind;
use signpost_domain::{
    Batch, Change, Description, ExternalId, Feature, FieldError, HostReference, IdReference, LandingRequest,
    LinkId, PageContent, Plan, PlanLimits, PlanResource, Redirect, RedirectContent, RedirectId,
    RedirectRequest, Refusal, Rejection, Revision, Submitted, TagName, Tags, ViolationCode, Violations,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::given_domains::{draft_on, removed};
use crate::world::{World, assert_internal, create_as, draft, fields, page_draft, plan, violation};

const HOST: &str = "links.example.net";

type Item = Result<LinkUpdate<RedirectContent>, Violations>;
type Outcome = Result<Redirect, Rejection>;

fn external_id(text: &str) -> ExternalId {
    ExternalId::parse(text).unwrap()
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside items without readable fields")]
fn item_of(link: NamedLink<RedirectKind>, patch: RedirectRequest) -> Item {
    Ok(LinkUpdate { link, request: Submitted::valid(patch), if_revision: None })
}

fn item(id: RedirectId, patch: RedirectRequest) -> Item {
    item_of(NamedLink::Id(id.into()), patch)
}

fn item_named(id: &str, patch: RedirectRequest) -> Item {
    item_of(NamedLink::ExternalId(external_id(id)), patch)
}

fn named(text: &str) -> RedirectRequest {
    RedirectRequest { name: Some(samples::name(text)), ..RedirectRequest::default() }
}

fn at(slug: &str) -> RedirectRequest {
    RedirectRequest { slug: Change::Set(samples::slug(slug)), ..RedirectRequest::default() }
}

fn with_external_id(id: Option<&str>) -> RedirectRequest {
    let external_id = id.map_or(Change::Clear, |id| Change::Set(external_id(id)));
    RedirectRequest { external_id, ..RedirectRequest::default() }
}

fn tagged(names: &[&str]) -> RedirectRequest {
    let tags = Tags::new(names.iter().map(|name| TagName::parse(name).unwrap())).unwrap();
    RedirectRequest { tags: Some(tags), ..RedirectRequest::default() }
}

async fn try_update(world: &World, items: Vec<Item>) -> Result<Vec<Outcome>, AppError> {
    links::update_many::<RedirectContent>(&world.app, &world.caller().await, Batch::new(items).unwrap()).await
}

async fn update(world: &World, items: Vec<Item>) -> Vec<Outcome> {
    try_update(world, items).await.unwrap()
}

fn refusals(outcomes: &[Outcome]) -> Vec<Option<Refusal>> {
    let refusal = |outcome: &Outcome| match outcome {
        Ok(_) => None,
        Err(Rejection::Refused(refusal)) => Some(refusal.clone()),
        Err(Rejection::Invalid(violations)) => panic!("invalid: {violations:?}"),
    };
    outcomes.iter().map(refusal).collect()
}

fn invalid(outcome: &Outcome) -> Vec<(String, ViolationCode)> {
    match outcome {
        Err(Rejection::Invalid(violations)) => fields(violations),
        other => panic!("not invalid: {other:?}"),
    }
}

fn taken_by(id: RedirectId) -> Refusal {
    Refusal::AddressTaken { existing: Some(id.into()) }
}

async fn redirects<const N: usize>(world: &World, slugs: [&str; N]) -> [RedirectId; N] {
    let mut ids = Vec::new();
    for slug in slugs {
        ids.push(world.redirect(slug).await.id);
    }
    ids.try_into().unwrap()
}

#[tokio::test]
async fn d123_items_change_the_links_that_they_name() {
    let world = World::new().await;
    let [first, second, third] = redirects(&world, ["a", "b", "c"]).await;
    world.update(second, with_external_id(Some("order 2"))).await.unwrap();
    let before = world.stored(third).await.unwrap();
    let group = world.group("Group").await.id;
    let everything = RedirectRequest {
        group: Change::Set(group.into()),
        is_active: Some(false),
        note: Change::Set(samples::note("A note")),
        ..tagged(&["new", "other"])
    };
    let items = vec![
        item_named("order 2", at("moved")),
        item(third, named(before.name.as_str())),
        item(first, everything),
    ];
    let outcomes = update(&world, items).await;
    let [moved, unchanged, changed] = outcomes.as_slice() else { panic!("{outcomes:?}") };
    let [moved, unchanged, changed] = [moved, unchanged, changed].map(|outcome| outcome.as_ref().unwrap());
    assert_eq!((moved.id, &moved.placement), (second, &samples::on_system("moved")));
    assert_eq!(*unchanged, before, "an update without changes keeps the revision");
    assert_eq!((changed.is_active, changed.group_id, changed.tags.len()), (false, Some(group), 2));
    assert_eq!(changed.revision, Revision::FIRST.next());
    for link in [moved, unchanged, changed] {
        assert_eq!(world.stored(link.id).await.as_ref(), Some(link));
    }
}

/// Each refusal is that of a single update.
#[tokio::test]
async fn d123_a_refused_item_leaves_the_others_alone() {
    let world = World::with_plan(plan(&[])).await;
    let [first, second, third] = redirects(&world, ["a", "b", "c"]).await;
    let stranger = create_as(&world.app, &world.stranger().await, draft("theirs")).await.unwrap().id;
    let page = LandingRequest { external_id: Change::Set(external_id("page")), ..page_draft("page") };
    world.create_page(page).await.unwrap();
    let error = FieldError::new(ViolationCode::InvalidType, "must be an object").at("redirects[1]");
    let malformed = item_of(NamedLink::Id(IdReference::Malformed), named("x"));
    let no_such_group = RedirectRequest { group: Change::Set(samples::id().into()), ..named("x") };
    let antibot = named("x").with(|content| content.antibot_enabled = Some(true));
    let outcomes = update(
        &world,
        vec![
            Err(error.clone().into()),
            item(first, named("New")),
            malformed,
            item(stranger, named("x")),
            item(samples::id(), named("x")),
            item_named("unknown", named("x")),
            item_named("page", named("x")),
            item(second, no_such_group),
            item(third, antibot),
        ],
    )
    .await;
    assert_eq!(invalid(&outcomes[0]), [violation("redirects[1]", ViolationCode::InvalidType)]);
    let not_found = Some(Refusal::RedirectNotFound);
    let mut expected = vec![None];
    expected.extend(vec![not_found; 5]);
    expected.extend([Refusal::GroupNotFound, Refusal::FeatureNotAvailable(Feature::Antibot)].map(Some));
    assert_eq!(refusals(&outcomes[1..]), expected);
    assert_eq!(world.stored(first).await.unwrap().name, samples::name("New"));
    assert_eq!(world.stored(second).await.unwrap().revision, Revision::FIRST);
}

#[tokio::test]
async fn d123_violations_come_before_a_link_that_is_not_found() {
    let world = World::new().await;
    let known = world.redirect("a").await.id;
    let error = FieldError::new(ViolationCode::TooLong, "must have at most 256 characters").at("note");
    let request = Submitted { value: named("x"), violations: error.into() };
    let items = [NamedLink::Id(samples::id::<RedirectKind>().into()), NamedLink::Id(known.into())]
        .map(|link| Ok(LinkUpdate { link, request: request.clone(), if_revision: None }));
    for outcome in update(&world, items.into()).await {
        assert_eq!(invalid(&outcome), [violation("note", ViolationCode::TooLong)]);
    }
}

/// Also if the earlier item is refused.
#[tokio::test]
async fn d31_an_item_about_the_link_of_an_earlier_one_is_a_duplicate() {
    let world = World::new().await;
    let [first, second] = redirects(&world, ["a", "b"]).await;
    world.update(first, with_external_id(Some("1"))).await.unwrap();
    let outcomes = update(
        &world,
        vec![
            item(first, named("First")),
            item_named("1", named("Again")),
            item(second, at("admin")),
            item(second, named("Second")),
            item_named("unknown", named("x")),
            item_named("unknown", named("x")),
        ],
    )
    .await;
    let duplicate = Some(Refusal::DuplicateIdInBatch);
    let not_found = Some(Refusal::RedirectNotFound);
    assert_eq!(
        refusals(&outcomes),
        [None, duplicate.clone(), Some(Refusal::SlugReserved), duplicate.clone(), not_found, duplicate]
    );
    assert_eq!(world.stored(first).await.unwrap().name, samples::name("First"));
}

#[tokio::test]
async fn d123_an_item_may_require_a_revision() {
    let world = World::new().await;
    let [first, second] = redirects(&world, ["a", "b"]).await;
    let with = |id, required| {
        item(id, at("admin")).map(|update| LinkUpdate { if_revision: Some(required), ..update })
    };
    let second_revision = Revision::FIRST.next();
    let outcomes = update(&world, vec![with(first, second_revision), with(second, Revision::FIRST)]).await;
    // Like a precondition, it comes before everything else about the link.
    assert_eq!(invalid(&outcomes[0]), [violation("if_revision", ViolationCode::InvalidValue)]);
    assert_eq!(refusals(&outcomes[1..]), [Some(Refusal::SlugReserved)]);
}

/// The holder of an address keeps it for the whole request, even if an item moves it away.
#[tokio::test]
async fn d123_a_taken_address_names_its_link_and_a_repeated_one_is_a_duplicate() {
    let world = World::new().await;
    create_as(&world.app, &world.stranger().await, draft("theirs")).await.unwrap();
    let ids = redirects(&world, ["a", "b", "c", "d", "e", "f", "g"]).await;
    let held = world.redirect("held").await.id;
    let no_such_group = RedirectRequest { group: Change::Set(samples::id().into()), ..at("new") };
    let outcomes = update(
        &world,
        vec![
            item(ids[0], at("moved")),
            item(ids[1], at("a")),
            item(ids[2], no_such_group),
            item(ids[3], at("new")),
            item(ids[4], at("new")),
            item(ids[5], at("held")),
            item(ids[6], at("theirs")),
            item(held, at("held")),
        ],
    )
    .await;
    assert_eq!(
        refusals(&outcomes),
        [
            None,
            Some(taken_by(ids[0])),
            Some(Refusal::GroupNotFound),
            None,
            Some(Refusal::DuplicateSlugInBatch),
            Some(taken_by(held)),
            Some(Refusal::AddressTaken { existing: None }),
            None,
        ]
    );
}

#[tokio::test]
async fn d121_a_taken_external_id_names_its_link_and_a_repeated_one_is_taken() {
    let world = World::new().await;
    let [a, b, c, d] = redirects(&world, ["a", "b", "c", "d"]).await;
    world.update(a, with_external_id(Some("1"))).await.unwrap();
    let outcomes = update(
        &world,
        vec![
            item(a, with_external_id(None)),
            item(b, with_external_id(Some("1"))),
            item(c, with_external_id(Some("2"))),
            item(d, with_external_id(Some("2"))),
        ],
    )
    .await;
    assert!(outcomes[0].is_ok() && outcomes[2].is_ok());
    let existing = |outcome: &Outcome| match outcome {
        Err(Rejection::Invalid(violations)) => violations.iter().next().unwrap().existing(),
        other => panic!("not invalid: {other:?}"),
    };
    assert_eq!((existing(&outcomes[1]), existing(&outcomes[3])), (Some(LinkId::Redirect(a)), None));
    for index in [1, 3] {
        assert_eq!(invalid(&outcomes[index]), [violation("external_id", ViolationCode::AlreadyTaken)]);
    }
}

/// Tags that were created for refused items go again.
#[tokio::test]
async fn d122_items_whose_tags_fit_into_the_plan_succeed() {
    let Plan { limits, .. } = plan(&[]);
    let limited = Plan { limits: PlanLimits { tags: 2, ..limits }, ..plan(&[]) };
    let world = World::with_plan(limited).await;
    let [a, b, c, d] = redirects(&world, ["a", "b", "c", "d"]).await;
    let taking = RedirectRequest { slug: Change::Set(samples::slug("a")), ..tagged(&["one"]) };
    let outcomes = update(
        &world,
        vec![
            item(a, tagged(&["x", "y", "z"])),
            item(b, taking),
            item(c, tagged(&["two"])),
            item(d, tagged(&["TWO"])),
        ],
    )
    .await;
    let full = Refusal::PlanLimitReached { resource: PlanResource::Tags, limit: 2 };
    assert_eq!(refusals(&outcomes), [Some(full), Some(taken_by(a)), None, None]);
    assert_eq!(outcomes[3].as_ref().unwrap().tags.iter().next().unwrap().as_str(), "two");
    assert_eq!(world.usage().await.tags, 1);
}

/// Of several links on a domain, each item is judged by the state of the domain on which it would place its link.
#[tokio::test]
async fn d23_items_place_links_on_active_domains_only() {
    let world = World::new().await;
    let custom = world.active_domain(HOST).await;
    let on_domain = world.create(draft_on(HOST, Some("a"))).await.unwrap().id;
    let [b, c, d] = redirects(&world, ["b", "c", "d"]).await;
    let to = |host: &str| RedirectRequest {
        domain: Change::Set(HostReference::parse(host)),
        ..RedirectRequest::default()
    };
    let outcomes = update(
        &world,
        vec![
            item(on_domain, at("moved")),
            item(b, to(HOST)),
            item(c, to("unknown.example.net")),
            item(d, to("go.example.com")),
        ],
    )
    .await;
    assert_eq!(refusals(&outcomes), [None, None, Some(Refusal::DomainNotFound), None]);
    let placement = |outcome: &Outcome| outcome.as_ref().unwrap().placement.clone();
    assert_eq!(placement(&outcomes[0]), samples::on_custom(HOST, Some("moved")));
    assert_eq!(placement(&outcomes[1]), samples::on_custom(HOST, Some("b")));
    assert_eq!(placement(&outcomes[3]), samples::on_system("d"));
    removed(&world.app, &custom).await;
    // As if the link had been placed there after the removal.
    let left = Redirect { placement: samples::on_custom(HOST, Some("left")), ..samples::redirect("left") };
    let left = world.store_as_it_is(left).await.id;
    let outcomes = update(&world, vec![item(left, at("new")), item(on_domain, at("lost"))]).await;
    assert_eq!(refusals(&outcomes), [Some(Refusal::DomainNotActive), None]);
}

#[tokio::test]
async fn d123_landing_pages_change_with_their_contents() {
    let world = World::new().await;
    let [first, second] =
        [world.create_page(page_draft("a")).await, world.create_page(page_draft("b")).await]
            .map(|page| page.unwrap().id);
    let described = |text: &str| {
        LandingRequest::default()
            .with(|content| content.description = Change::Set(Description::parse(text).unwrap()))
    };
    let items = [(first, described("First")), (second, described("Second"))].map(|(id, patch)| {
        let request = Submitted::valid(patch);
        Ok(LinkUpdate::<PageContent> { link: NamedLink::Id(id.into()), request, if_revision: None })
    });
    let batch = Batch::new(items.into()).unwrap();
    let outcomes = links::update_many(&world.app, &world.caller().await, batch).await.unwrap();
    for (outcome, id) in outcomes.into_iter().zip([first, second]) {
        let page = outcome.unwrap();
        assert_eq!(page.revision, Revision::FIRST.next());
        assert_eq!(world.app.store.landing_page(world.account.id, id).await.unwrap(), Some(page));
    }
}

#[tokio::test]
async fn d30_a_fault_anywhere_leaves_nothing_of_a_batch_of_changes() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = World::new().await;
        let [a, b] = redirects(&world, ["a", "b"]).await;
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        assert_internal(try_update(&world, vec![item(a, named("New")), item(b, at("c"))]).await);
        for id in [a, b] {
            assert_eq!(world.stored(id).await.unwrap().revision, Revision::FIRST, "{step:?}");
        }
    }
}

/// If other requests are faster every time, the links that would move there are refused at last.
#[tokio::test]
async fn d30_a_batch_that_loses_a_race_is_tried_again() {
    for (times, refused) in [(1, None), (3, Some(Refusal::AddressTaken { existing: None }))] {
        let world = World::new().await;
        let [a, b] = redirects(&world, ["a", "b"]).await;
        world.memory.store.faults().refuse_addresses(times);
        let outcomes = update(&world, vec![item(a, named("New")), item(b, at("c"))]).await;
        assert_eq!(refusals(&outcomes), [None, refused]);
        assert_eq!(world.stored(a).await.unwrap().revision, Revision::FIRST.next());
    }
    let world = World::new().await;
    let [a] = redirects(&world, ["a"]).await;
    world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 4);
    assert_eq!(refusals(&update(&world, vec![item(a, named("New"))]).await), [None]);
}

/// A unit of work is not even begun.
#[tokio::test]
async fn d123_items_without_links_write_nothing() {
    let world = World::new().await;
    world.memory.store.faults().fail_next(Step::Begin, Fault::Unavailable, 1);
    let outcomes = update(&world, vec![item_named("unknown", named("x"))]).await;
    assert_eq!(refusals(&outcomes), [Some(Refusal::RedirectNotFound)]);
    assert_eq!(world.memory.store.faults().outstanding(), 1);
}
