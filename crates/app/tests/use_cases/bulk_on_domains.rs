//! Batches over several domains, and concurrent requests about one address or domain (D20, D29, D30).

use std::sync::Arc;

use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, links};
use signpost_domain::{
    Batch, Change, ErrorCode, HostReference, Link, Placement, Redirect, RedirectContent, RedirectRequest,
    Refusal, Rejection, Submitted, ViolationCode,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, draft_on, given_domain, not_active, removed};
use crate::transfer::stored;
use crate::world::{World, at_once, draft, fields, refusal, violation};

const HOST: &str = "links.example.net";
const OTHER: &str = "other.example.org";

/// The placement of an item, or its refusal.
fn told(outcome: &Result<Redirect, Rejection>) -> Result<Placement, Refusal> {
    match outcome {
        Ok(redirect) => Ok(redirect.placement.clone()),
        Err(Rejection::Refused(refusal)) => Err(refusal.clone()),
        Err(Rejection::Invalid(violations)) => panic!("invalid: {violations:?}"),
    }
}

async fn create_many(
    world: &World,
    commands: Vec<Submitted<RedirectRequest>>,
) -> Vec<Result<Redirect, Rejection>> {
    let requests = commands.into_iter().map(Ok).collect();
    let (caller, batch) = (world.caller().await, Batch::new(requests).unwrap());
    links::create_many::<RedirectContent>(&world.app, &caller, batch, Idempotency::disabled()).await.unwrap()
}

/// Each item gets the result of a single request.
#[tokio::test]
async fn d29_a_batch_creates_links_on_several_domains() {
    let world = World::new().await;
    let (other, _) = world.another_account("agency").await;
    for host in [HOST, OTHER] {
        world.active_domain(host).await;
    }
    given_domain(&world.app, world.account.id, "failed.example.net", not_active(&world.app)[2]).await;
    given_domain(&world.app, other.id, "theirs.example.net", ACTIVE).await;
    let drafts = [
        draft_on(HOST, Some("a")),
        draft_on(OTHER, Some("a")),
        draft("a"),
        draft_on("Links.Example.NET", Some("a")),
        draft_on("failed.example.net", Some("a")),
        draft_on("theirs.example.net", Some("a")),
        draft_on(HOST, None),
        draft_on(HOST, None),
        draft_on("go.example.com", Some("b")),
    ];
    // A retried unit of work must lock the domains again.
    world.memory.store.faults().fail_next(Step::Commit, Fault::Contended, 1);
    let outcomes = create_many(&world, drafts.into_iter().map(Submitted::valid).collect()).await;
    let expected = [
        Ok(samples::on_custom(HOST, Some("a"))),
        Ok(samples::on_custom(OTHER, Some("a"))),
        Ok(samples::on_system("a")),
        Err(Refusal::DuplicateSlugInBatch),
        Err(Refusal::DomainNotActive),
        Err(Refusal::DomainNotFound),
        Ok(samples::on_custom(HOST, None)),
        Err(Refusal::DuplicateSlugInBatch),
        Ok(samples::on_system("b")),
    ];
    assert_eq!(outcomes.iter().map(told).collect::<Vec<_>>(), expected);
    assert_eq!(world.usage().await.links, 5);
}

/// Contract D8: the item lists all its violations, loops included.
#[tokio::test]
async fn d29_an_incomplete_item_is_judged_on_its_domain() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let nameless = |host: &str| {
        let request = RedirectRequest { name: None, ..draft_on(host, Some("a")) };
        let target_url = samples::target("https://links.example.net/a");
        Submitted::valid(request.with(|content| content.target_url = Some(target_url)))
    };
    let outcomes = create_many(&world, vec![nameless(HOST), nameless(OTHER)]).await;
    let found: Vec<_> = outcomes
        .iter()
        .map(|outcome| match outcome {
            Err(Rejection::Invalid(violations)) => fields(violations),
            other => panic!("not invalid: {other:?}"),
        })
        .collect();
    let name = violation("name", ViolationCode::Required);
    let target_url = violation("target_url", ViolationCode::InvalidValue);
    assert_eq!(found, [vec![name.clone(), target_url], vec![name]]);
}

/// Creations and moves compete for the address.
#[tokio::test]
async fn d30_a_batch_over_domains_fails_as_a_whole_when_the_store_does() {
    let world = World::new().await;
    world.active_domain(HOST).await;
    let caller = world.caller().await;
    for step in [Step::Begin, Step::Write, Step::Commit] {
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        let batch =
            Batch::new(vec![Ok(Submitted::valid(draft_on(HOST, None))), Ok(Submitted::valid(draft("a")))])
                .unwrap();
        let outcome =
            links::create_many::<RedirectContent>(&world.app, &caller, batch, Idempotency::disabled()).await;
        assert!(matches!(outcome, Err(AppError::Store(_))), "{step:?}: {outcome:?}");
        assert_eq!(world.usage().await.links, 0);
    }
}

/// Contract D20: an address that several requests claim at once, some by creation and some by a move, one of them gets.
#[tokio::test(flavor = "multi_thread")]
async fn d20_one_of_many_concurrent_claims_of_an_address_succeeds() {
    for slug in [Some("sale"), None] {
        let world = World::new().await;
        world.active_domain(HOST).await;
        let mut links = vec![];
        for number in 0..4 {
            links.push(world.redirect(&format!("s{number}")).await);
        }
        let caller = world.caller().await;
        let outcomes = at_once(8, async |number| {
            if let Some(link) = links.get(number) {
                let slug = slug.map_or(Change::Clear, |slug| Change::Set(samples::slug(slug)));
                let domain = Change::Set(HostReference::parse(HOST));
                let patch = RedirectRequest { domain, slug, ..RedirectRequest::default() };
                links::update::<RedirectContent>(&world.app, &caller, link.id.into(), Submitted::valid(patch))
                    .await
            } else {
                let draft = Submitted::valid(draft_on(HOST, slug));
                links::create::<RedirectContent>(&world.app, &caller, draft, Idempotency::disabled()).await
            }
        });
        let (placed, refused): (Vec<_>, Vec<_>) = outcomes.into_iter().partition(Result::is_ok);
        assert_eq!(placed.len(), 1);
        for outcome in refused {
            assert_eq!(refusal(outcome).code(), ErrorCode::SlugAlreadyTaken);
        }
    }
}

/// Contract D23: a concurrent creation or move either precedes the removal, and loses the domain, or is
/// refused.
#[tokio::test(flavor = "multi_thread")]
async fn d43_no_link_stays_on_a_concurrently_removed_domain() {
    let world = World::new().await;
    let caller = world.caller().await;
    let mut placed = 0;
    for round in 0..40 {
        let host = format!("d{round}.example.net");
        let domain = world.active_domain(&host).await;
        let create = async |draft: RedirectRequest| {
            links::create::<RedirectContent>(
                &world.app,
                &caller,
                Submitted::valid(draft),
                Idempotency::disabled(),
            )
            .await
            .unwrap()
            .redirect
        };
        let there = create(draft_on(&host, Some("there"))).await;
        let moving = create(draft(&format!("moving-{round}"))).await;
        let patch = |domain, slug| {
            let slug = Change::Set(samples::slug(slug));
            Submitted::valid(RedirectRequest { domain, slug, ..RedirectRequest::default() })
        };
        let outcomes = at_once(5, async |task| match task {
            0 => {
                removed(&world.app, &domain).await;
                Ok(())
            }
            1 => {
                let draft = Submitted::valid(draft_on(&host, Some("new")));
                links::create::<RedirectContent>(&world.app, &caller, draft, Idempotency::disabled())
                    .await
                    .map(drop)
            }
            2 => {
                let patch = patch(Change::Set(HostReference::parse(&host)), "moved");
                links::update::<RedirectContent>(&world.app, &caller, moving.id.into(), patch).await.map(drop)
            }
            3 => {
                let patch = patch(Change::Keep, "renamed");
                links::update::<RedirectContent>(&world.app, &caller, there.id.into(), patch).await.map(drop)
            }
            _ => {
                let drafts = ["x", "y"].map(|slug| Ok(Submitted::valid(draft_on(&host, Some(slug))))).into();
                let batch = Batch::new(drafts).unwrap();
                links::create_many::<RedirectContent>(&world.app, &caller, batch, Idempotency::disabled())
                    .await
                    .map(drop)
            }
        });
        for outcome in outcomes {
            match outcome {
                Ok(()) => placed += 1,
                Err(AppError::Refused(Refusal::DomainNotFound)) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        for link in stored(&world.app, world.account.id).await.1 {
            assert!(!is_on(&link, &host), "{link:?}");
        }
    }
    assert!(placed > 80, "nothing was placed: {placed}");
}

fn is_on(link: &Link, host: &str) -> bool {
    match &link.placement {
        Placement::Custom { hostname, slug: _ } => hostname.as_str() == host,
        Placement::System { .. } | Placement::Lost { .. } => false,
    }
}

/// Contract D23: the use case judges the link as the unit of work finds it.
#[tokio::test]
async fn d22_a_concurrently_moved_link_gets_its_slug_at_its_new_place() {
    for (status, expected) in [
        (ACTIVE, Ok(samples::on_custom(OTHER, Some("new")))),
        (not_active(&World::new().await.app)[2], Err(Refusal::DomainNotActive)),
    ] {
        let world = World::new().await;
        world.active_domain(HOST).await;
        given_domain(&world.app, world.account.id, OTHER, status).await;
        let link = world.create(draft_on(HOST, Some("old"))).await.unwrap();
        let caller = world.caller().await;

        let mut meanwhile = world.app.store.begin().await.unwrap();
        let app = Arc::clone(&world.app);
        let slug = Change::Set(samples::slug("new"));
        let patch = Submitted::valid(RedirectRequest { slug, ..RedirectRequest::default() });
        let update = tokio::spawn(async move {
            links::update::<RedirectContent>(&app, &caller, link.id.into(), patch).await
        });
        // It runs until it needs a unit of work, which this test still holds.
        tokio::task::yield_now().await;
        assert!(!update.is_finished());
        let moved = Redirect { placement: samples::on_custom(OTHER, Some("old")), ..link.clone() };
        let before = meanwhile.lock_link(world.account.id, link.id.into()).await.unwrap().unwrap();
        meanwhile.update_link(world.account.id, &before, &moved.into()).await.unwrap();
        meanwhile.commit().await.unwrap();

        let outcome = match update.await.unwrap() {
            Ok(updated) => Ok(updated.redirect.placement),
            Err(AppError::Refused(refusal)) => Err(refusal),
            Err(error) => panic!("{error:?}"),
        };
        assert_eq!(outcome, expected);
    }
}
