//! Creating redirects in bulk (D15, D29, D30).

use std::fmt::Write as _;

use proptest::prelude::*;
use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, links};
use signpost_domain::{
    Batch, Change, CountryCode, Feature, FieldError, GeoBlocklist, HostReference, Plan, PlanLimits,
    PlanResource, Precondition, Redirect, RedirectContent, RedirectId, RedirectRequest, Refusal, Rejection,
    Submitted, ViolationCode, Violations,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::given_domains::draft_on;
use crate::world::{World, assert_internal, create_as, draft, draft_without_slug, generated, plan};

const HOST: &str = "links.example.net";

type Outcome = Result<Redirect, Rejection>;
type Outcomes = Vec<Outcome>;

/// An item of a batch, as it was sent.
type Sent = Result<Submitted<RedirectRequest>, Violations>;

async fn create_many(world: &World, commands: Vec<Sent>) -> Result<Outcomes, AppError> {
    links::create_many::<RedirectContent>(
        &world.app,
        &world.caller().await,
        Batch::new(commands).unwrap(),
        Idempotency::disabled(),
    )
    .await
}

async fn created(world: &World, drafts: impl IntoIterator<Item = RedirectRequest>) -> Outcomes {
    create_many(world, drafts.into_iter().map(valid).collect()).await.unwrap()
}

fn refused(outcome: &Result<Redirect, Rejection>) -> Option<Refusal> {
    match outcome {
        Err(Rejection::Refused(refusal)) => Some(refusal.clone()),
        Err(Rejection::Invalid(_)) | Ok(_) => None,
    }
}

#[expect(clippy::unnecessary_wraps, reason = "it stands beside items without readable fields")]
fn valid(request: RedirectRequest) -> Sent {
    Ok(Submitted::valid(request))
}

fn unreadable() -> Sent {
    let error = FieldError::new(ViolationCode::InvalidType, "must be an object");
    Err(Violations::from(error.at("redirects[1]")))
}

fn limited(links: u64) -> Plan {
    let Plan { limits, .. } = plan(&[]);
    Plan { limits: PlanLimits { links, ..limits }, ..plan(&[]) }
}

#[tokio::test]
async fn d29_ids_ascend_in_the_order_of_the_batch() {
    let world = World::new().await;
    let drafts = ["c", "a", "b"].map(draft).into_iter().chain([draft_without_slug()]);
    let outcomes = created(&world, drafts).await;
    let ids: Vec<_> = outcomes.iter().map(|outcome| outcome.as_ref().unwrap().id).collect();
    assert!(ids.is_sorted());
    for redirect in outcomes.into_iter().flatten() {
        assert_eq!(world.stored(redirect.id).await, Some(redirect));
    }
    assert_eq!(world.usage().await.links, 4);
}

#[tokio::test]
async fn d29_the_first_valid_claim_of_an_address_wins() {
    let world = World::with_plan(plan(&[Feature::CustomDomains])).await;
    world.active_domain(HOST).await;
    let taken_by = |id: RedirectId| Some(Refusal::AddressTaken { existing: Some(id.into()) });
    let taken = taken_by(world.redirect("taken").await.id);
    let root = taken_by(world.create(draft_on(HOST, None)).await.unwrap().id);
    create_as(&world.app, &world.stranger().await, draft("theirs")).await.unwrap();
    let outcomes = created(
        &world,
        [
            RedirectRequest { group: Change::Set(samples::id().into()), ..draft("mine") },
            draft("mine").with(|content| content.antibot_enabled = Some(true)),
            draft("mine"),
            draft("mine"),
            draft("Mine"),
            draft("taken"),
            draft("taken"),
            draft("theirs"),
            draft("admin"),
            draft_on(HOST, None),
            draft("mine"),
        ],
    )
    .await;
    let refusals: Vec<_> = outcomes.iter().map(refused).collect();
    assert_eq!(
        refusals,
        [
            Some(Refusal::GroupNotFound),
            Some(Refusal::FeatureNotAvailable(Feature::Antibot)),
            None,
            Some(Refusal::DuplicateSlugInBatch),
            None,
            // D20: the holder is not an item of the batch.
            taken.clone(),
            taken,
            Some(Refusal::AddressTaken { existing: None }),
            Some(Refusal::SlugReserved),
            root,
            Some(Refusal::DuplicateSlugInBatch),
        ]
    );
}

/// Failed items take no room.
#[tokio::test]
async fn d15_the_items_that_fit_succeed() {
    let world = World::with_plan(limited(3)).await;
    let taken = Refusal::AddressTaken { existing: Some(world.redirect("taken").await.id.into()) };
    let outcomes = created(
        &world,
        [draft("taken"), draft("a"), draft("a"), draft_without_slug(), draft("b"), draft("a")],
    )
    .await;
    let full = Refusal::PlanLimitReached { resource: PlanResource::Links, limit: 3 };
    let refusals: Vec<_> = outcomes.iter().map(refused).collect();
    let duplicate = Refusal::DuplicateSlugInBatch;
    assert_eq!(refusals, [Some(taken), None, Some(duplicate.clone()), None, Some(full), Some(duplicate)]);
    assert_eq!(world.usage().await.links, 3);
}

/// A larger plan would not mend the repeated address.
#[tokio::test]
async fn d29_a_repeated_address_beyond_the_limit_is_a_duplicate() {
    let world = World::with_plan(limited(0)).await;
    let in_no_group = RedirectRequest { group: Change::Set(samples::id().into()), ..draft("a") };
    let drafts = [in_no_group, draft("a"), draft("a"), draft("b"), draft_without_slug(), draft("a")];
    let outcomes = created(&world, drafts).await;
    let codes: Vec<_> = outcomes.iter().map(|outcome| outcome.as_ref().unwrap_err().code()).collect();
    assert_eq!(
        codes.iter().map(|code| code.as_str()).collect::<Vec<_>>(),
        [
            "group_not_found",
            "plan_limit_reached",
            "duplicate_slug_in_batch",
            "plan_limit_reached",
            "plan_limit_reached",
            "duplicate_slug_in_batch",
        ]
    );
}

/// A taken slug is generated again, as for a single link.
#[tokio::test]
async fn d21_generated_slugs_avoid_all_other_slugs() {
    let world = World::new().await;
    let (stored, explicit, free) = ([1; 16], [2; 16], [3; 16]);
    world.redirect(generated(stored).as_str()).await;
    for bytes in [stored, explicit, explicit, free, [4; 16]] {
        world.memory.randomness.queue(bytes);
    }
    // The first two draws are for the two items; both are taken, then the first takes what the explicit item has.
    let outcomes =
        created(&world, [draft(generated(explicit).as_str()), draft_without_slug(), draft_without_slug()])
            .await;
    let slugs: Vec<_> = outcomes
        .iter()
        .map(|outcome| outcome.as_ref().unwrap().placement.slug().unwrap().as_str().to_owned())
        .collect();
    assert_eq!(
        slugs,
        [generated(explicit), generated([4; 16]), generated(free)].map(|slug| slug.as_str().to_owned())
    );
}

#[tokio::test]
async fn d30_a_batch_without_a_free_slug_creates_nothing() {
    let world = World::new().await;
    world.redirect(generated([1; 16]).as_str()).await;
    for _ in 0..20 {
        world.memory.randomness.queue([1; 16]);
    }
    assert_internal(create_many(&world, vec![valid(draft("a")), valid(draft_without_slug())]).await);
    assert_eq!(world.usage().await.links, 1);
}

/// R34: successful items are committed together or not at all.
#[tokio::test]
async fn d30_a_fault_anywhere_leaves_nothing_of_the_batch() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = World::new().await;
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        assert_internal(create_many(&world, vec![valid(draft("a")), unreadable(), valid(draft("b"))]).await);
        assert_eq!(world.usage().await.links, 0, "{step:?}");
        // The same batch can be sent again.
        let outcomes =
            create_many(&world, vec![valid(draft("a")), unreadable(), valid(draft("b"))]).await.unwrap();
        assert_eq!(outcomes.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    }
}

#[tokio::test]
async fn d30_a_contended_batch_is_retried_as_a_whole() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = World::new().await;
        world.memory.store.faults().fail_next(step, Fault::Contended, 4);
        let outcomes = created(&world, [draft("a"), draft("a"), draft_without_slug()]).await;
        let refusals: Vec<_> = outcomes.iter().map(refused).collect();
        assert_eq!(refusals, [None, Some(Refusal::DuplicateSlugInBatch), None], "{step:?}");
        assert_eq!(world.usage().await.links, 2);
        assert_eq!(world.memory.store.faults().outstanding(), 0);
    }
}

#[tokio::test]
async fn a_batch_without_a_valid_item_touches_no_store() {
    let world = World::new().await;
    let caller = world.caller().await;
    world.memory.store.faults().set_unavailable(true);
    let outcomes = links::create_many::<RedirectContent>(
        &world.app,
        &caller,
        Batch::new(vec![unreadable(), unreadable()]).unwrap(),
        Idempotency::disabled(),
    )
    .await
    .unwrap();
    assert!(outcomes.iter().all(|outcome| matches!(outcome, Err(Rejection::Invalid(_)))));
}

/// An item of a random batch.
#[derive(Debug, Clone)]
struct Item {
    slug: Option<u8>,
    group: Option<bool>,
    domain: Option<bool>,
    antibot_enabled: bool,
    blocks_countries: bool,
    target: Target,
    form: Form,
}

#[derive(Debug, Clone, Copy)]
enum Target {
    Plain,
    Blocked,
    /// The link's own address, if its slug is "b".
    Looping,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Whole,
    /// All but the name could be read.
    Nameless,
    Unreadable,
}

prop_compose! {
    fn any_item()(
        slug in proptest::option::weighted(0.8, 0..7_u8),
        group in proptest::option::weighted(0.3, any::<bool>()),
        domain in proptest::option::weighted(0.2, any::<bool>()),
        antibot_enabled in proptest::bool::weighted(0.1),
        blocks_countries in proptest::bool::weighted(0.1),
        target in prop_oneof![8 => Just(Target::Plain), 1 => Just(Target::Blocked), 2 => Just(Target::Looping)],
        form in prop_oneof![8 => Just(Form::Whole), 2 => Just(Form::Nameless), 1 => Just(Form::Unreadable)],
    ) -> Item {
        Item { slug, group, domain, antibot_enabled, blocks_countries, target, form }
    }
}

impl Item {
    fn command(&self, group: signpost_domain::GroupId) -> Sent {
        // The last slug is reserved, and the number after it means null.
        let slugs = ["a", "b", "c", "d", "e", "admin"];
        let slug = self.slug.map_or(Change::Keep, |slug| {
            slugs.get(usize::from(slug)).map_or(Change::Clear, |slug| Change::Set(samples::slug(slug)))
        });
        let domain = self.domain.map(|is_known| if is_known { "go.example.com" } else { "other.example" });
        let domain = domain.map(HostReference::parse);
        let target_url = samples::target(match self.target {
            Target::Plain => "https://example.com/x",
            Target::Blocked => "https://blocked.example/x",
            Target::Looping => "https://go.example.com/b",
        });
        let whole = RedirectRequest {
            slug,
            group: self
                .group
                .map(|is_known| if is_known { group } else { samples::id() }.into())
                .map_or(Change::Keep, Change::Set),
            domain: domain.map_or(Change::Keep, Change::Set),
            ..draft_without_slug()
        }
        .with(|content| {
            content.antibot_enabled = Some(self.antibot_enabled);
            content.geo_blocklist = Change::Set(if self.blocks_countries {
                GeoBlocklist::new(vec![CountryCode::parse("DE").unwrap()])
            } else {
                GeoBlocklist::default()
            });
            content.target_url = Some(target_url);
        });
        match self.form {
            Form::Unreadable => unreadable(),
            Form::Nameless => {
                let error = FieldError::new(ViolationCode::Required, "is required");
                let value = RedirectRequest { name: None, ..whole };
                Ok(Submitted { value, violations: Violations::from(error.at("name")) })
            }
            Form::Whole => valid(whole),
        }
    }
}

/// A world with a group, a limit of five links and one link.
async fn small_world() -> (World, signpost_domain::GroupId) {
    let world = World::with_plan(limited(5)).await;
    world.memory.target_blocklist.replace(signpost_domain::HostBlocklist::parse("blocked.example").unwrap());
    world.redirect("a").await;
    let group = world.group("Spring").await.id;
    (world, group)
}

fn is_limit(outcome: &Outcome) -> bool {
    matches!(refused(outcome), Some(Refusal::PlanLimitReached { .. }))
}

fn told(outcome: &Result<Redirect, Rejection>) -> String {
    match outcome {
        Ok(redirect) => format!("{:?}", redirect.placement.slug().map(|slug| slug.as_str().len())),
        // Only a link that existed before the batch is named.
        Err(Rejection::Refused(Refusal::DuplicateSlugInBatch | Refusal::AddressTaken { .. })) => {
            "taken".to_owned()
        }
        Err(Rejection::Refused(refusal)) => format!("{refusal:?}"),
        Err(Rejection::Invalid(violations)) => violations.iter().fold(String::new(), |mut text, each| {
            let _ = write!(text, "{} {} {}; ", each.field(), each.code(), each.message());
            text
        }),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Contract D29: the single requests follow the order of the batch. Only the code of an address that is repeated within
    /// the batch differs.
    #[test]
    fn r34_an_item_is_answered_like_a_single_request(items in prop::collection::vec(any_item(), 1..=12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (batched, batched_group) = small_world().await;
            let (single, single_group) = small_world().await;
            let commands: Vec<_> = items.iter().map(|item| item.command(batched_group)).collect();
            let outcomes = create_many(&batched, commands).await.unwrap();
            assert_eq!(outcomes.len(), items.len());
            for (item, outcome) in items.iter().zip(&outcomes) {
                let alone = match item.command(single_group) {
                    Err(violations) => Err(Rejection::Invalid(violations)),
                    Ok(request) => match single.create_submitted(request).await {
                        Ok(redirect) => Ok(redirect),
                        Err(AppError::Refused(refusal)) => Err(refusal.into()),
                        Err(AppError::Invalid(violations)) => Err(Rejection::Invalid(violations)),
                        Err(error) => panic!("{error}"),
                    },
                };
                let is_duplicate = refused(outcome) == Some(Refusal::DuplicateSlugInBatch);
                if is_duplicate {
                    // A duplicate has its twin before it in the batch, created or beyond the limit.
                    let address = item.command(batched_group).unwrap().value.slug;
                    let is_twin = |(other, outcome): (&Item, &Outcome)| {
                        let claims = outcome.is_ok() || is_limit(outcome);
                        claims && other.command(batched_group).is_ok_and(|other| other.value.slug == address)
                    };
                    assert_eq!(items.iter().zip(&outcomes).filter(|pair| is_twin(*pair)).count(), 1);
                }
                assert!(told(outcome) == told(&alone) || is_duplicate && is_limit(&alone), "{item:?}: {outcome:?}");
            }
            let counts = async |world: &World, group| {
                let group = world.app.store.group(world.account.id, group).await.unwrap().unwrap();
                (world.usage().await.links, group.redirects_count)
            };
            assert_eq!(counts(&batched, batched_group).await, counts(&single, single_group).await);
            for redirect in outcomes.into_iter().flatten() {
                assert_eq!(batched.stored(redirect.id).await.as_ref(), Some(&redirect));
                links::delete(&batched.app, &batched.caller().await, redirect.id.into(), &Precondition::None).await.unwrap();
            }
        });
    }
}
