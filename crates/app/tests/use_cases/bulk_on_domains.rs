//! Batches over several domains, and concurrent requests about one domain (D22, D29, D43).

use std::sync::Arc;

use signpost_app::idempotency::Idempotency;
use signpost_app::ports::{LinksOf, UnitOfWork};
use signpost_app::{AppError, links};
use signpost_domain::{
    Batch, Change, CustomDomain, HostReference, Placement, Redirect, RedirectContent, RedirectRequest,
    Refusal, Rejection, Submitted, ViolationCode,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, draft_on, given_domain, not_active};
use crate::transfer::stored;
use crate::world::{World, create_as, draft, fields, refusal, update_as, violation};

const HOST: &str = "links.example.net";
const OTHER: &str = "other.example.org";

/// The placement of an item, or its refusal.
fn placement_or_refusal(outcome: &Result<Redirect, Rejection>) -> Result<Placement, Refusal> {
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
    assert_eq!(outcomes.iter().map(placement_or_refusal).collect::<Vec<_>>(), expected);
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

/// Runs `request` until it needs a unit of work, then makes a change in a unit of work that began before it.
async fn after_a_change<T: Send + 'static>(
    world: &World,
    request: impl Future<Output = T> + Send + 'static,
    change: impl AsyncFnOnce(&mut dyn UnitOfWork),
) -> T {
    let mut meanwhile = world.app.store.begin().await.unwrap();
    let request = tokio::spawn(request);
    tokio::task::yield_now().await;
    assert!(!request.is_finished());
    change(meanwhile.as_mut()).await;
    meanwhile.commit().await.unwrap();
    request.await.unwrap()
}

/// Contract D23: the unit of work decides, not an earlier read. So no link stays on a domain that is removed meanwhile.
#[tokio::test]
async fn d43_no_link_is_placed_on_a_domain_removed_meanwhile() {
    for request in ["creation", "batch", "move", "rename"] {
        let world = World::new().await;
        let domain = world.active_domain(HOST).await;
        let there = world.create(draft_on(HOST, Some("there"))).await.unwrap();
        let moving = world.redirect("moving").await;
        let (app, caller) = (Arc::clone(&world.app), world.caller().await);
        let placing = async move {
            let slug = Change::Set(samples::slug("new"));
            let renaming = RedirectRequest { slug, ..RedirectRequest::default() };
            let to_host = Change::Set(HostReference::parse(HOST));
            match request {
                "creation" => create_as(&app, &caller, draft_on(HOST, Some("new"))).await.map(drop),
                "batch" => {
                    let batch = Batch::new(vec![Ok(Submitted::valid(draft_on(HOST, Some("new"))))]).unwrap();
                    let outcomes =
                        links::create_many::<RedirectContent>(&app, &caller, batch, Idempotency::disabled());
                    match outcomes.await.unwrap().remove(0) {
                        Err(Rejection::Refused(refusal)) => Err(AppError::Refused(refusal)),
                        other => panic!("not refused: {other:?}"),
                    }
                }
                "move" => {
                    let patch = RedirectRequest { domain: to_host, ..renaming };
                    update_as(&app, &caller, moving.id, patch).await.map(drop)
                }
                _ => update_as(&app, &caller, there.id, renaming).await.map(drop),
            }
        };
        let CustomDomain { id, account_id, hostname, .. } = domain;
        let outcome = after_a_change(&world, placing, async |work| {
            work.lock_custom_domain(account_id, id).await.unwrap().unwrap();
            let whose = LinksOf::Account(account_id);
            work.lose_some_links(whose, &hostname, 1_000, samples::at(0)).await.unwrap();
            assert!(work.delete_custom_domain(account_id, id).await.unwrap());
        })
        .await;
        // A lost link keeps its new slug, and has no domain.
        if request == "rename" {
            outcome.unwrap();
        } else {
            assert_eq!(refusal(outcome), Refusal::DomainNotFound, "{request}");
        }
        for link in stored(&world.app, world.account.id).await.1 {
            assert!(!matches!(link.placement, Placement::Custom { .. }), "{request}: {link:?}");
        }
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
        let (app, caller, id) = (Arc::clone(&world.app), world.caller().await, link.id);
        let slug = Change::Set(samples::slug("new"));
        let patch = RedirectRequest { slug, ..RedirectRequest::default() };
        let update = async move { update_as(&app, &caller, id, patch).await };
        let outcome = after_a_change(&world, update, async |work| {
            let moved = Redirect { placement: samples::on_custom(OTHER, Some("old")), ..link.clone() };
            let before = work.lock_link(world.account.id, link.id.into()).await.unwrap().unwrap();
            work.update_link(world.account.id, &before, &moved.into()).await.unwrap();
        })
        .await;
        match outcome {
            Ok(updated) => assert_eq!(Ok(updated.placement), expected),
            refused => assert_eq!(Err(refusal(refused)), expected),
        }
    }
}
