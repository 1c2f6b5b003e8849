//! Deleting links in bulk, and putting them into groups and taking them out (D30, D31, D32).

use std::time::Duration;

use signpost_app::idempotency::Idempotency;
use signpost_app::{AppError, groups, links};
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{
    Batch, GroupId, Landing, LandingRequest, Link, LinkId, NoContent, Redirect, Refusal, Rejection,
};
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::world::{World, assert_internal, create_as, draft, refusal};

async fn landing(world: &World, title: &str) -> Landing {
    let draft = LandingRequest::new(samples::name(title));
    world.create_page(draft).await.unwrap().with_content(NoContent)
}

fn texts<const N: usize>(ids: [&dyn std::fmt::Display; N]) -> Batch<String> {
    Batch::new(ids.iter().map(ToString::to_string).collect()).unwrap()
}

/// The refusal of each item, or `None`.
fn refusals<T>(outcomes: &[Result<T, Rejection>]) -> Vec<Option<Refusal>> {
    let tell = |outcome: &Result<T, Rejection>| match outcome {
        Ok(_) => None,
        Err(Rejection::Refused(refusal)) => Some(refusal.clone()),
        Err(Rejection::Invalid(violations)) => panic!("invalid: {violations}"),
    };
    outcomes.iter().map(tell).collect()
}

/// Malformed, unknown and foreign ids and ids of the other kind are not found. The first of several equal
/// ids counts.
#[tokio::test]
async fn d31_each_id_of_a_bulk_deletion_has_its_own_result() {
    let world = World::new().await;
    let (mine, page) = (world.redirect("mine").await, landing(&world, "Menu").await);
    let kept = world.redirect("kept").await;
    let stranger = world.stranger().await;
    let foreign = create_as(&world.app, &stranger, draft("foreign")).await.unwrap();
    let unknown: LinkId = samples::id::<RedirectKind>().into();
    let ids = texts([&mine.id, &page.id, &foreign.id, &unknown, &"rdr_x", &"", &mine.id, &unknown, &""]);
    let caller = world.caller().await;
    let outcomes =
        links::delete_many::<RedirectKind>(&world.app, &caller, &ids, Idempotency::disabled()).await.unwrap();
    assert_eq!(outcomes.first(), Some(&Ok(mine.id)));
    let (not_found, repeated) = (Some(Refusal::RedirectNotFound), Some(Refusal::DuplicateIdInBatch));
    let mut expected = vec![None];
    expected.extend(std::iter::repeat_n(not_found, 5));
    expected.extend(std::iter::repeat_n(repeated, 3));
    assert_eq!(refusals(&outcomes), expected);
    assert_eq!(world.stored(mine.id).await, None);
    assert_eq!(world.stored(kept.id).await, Some(kept));
    assert_eq!(world.usage().await.links, 2);
    // The operation of the other kind deletes the page.
    let outcomes =
        links::delete_many::<LandingKind>(&world.app, &caller, &ids, Idempotency::disabled()).await.unwrap();
    assert_eq!(outcomes.get(1), Some(&Ok(page.id)));
    assert_eq!(outcomes.first(), Some(&Err(Refusal::LandingNotFound.into())));
}

struct Moves {
    world: World,
    group: GroupId,
    other_group: GroupId,
    inside: Redirect,
    page_inside: Landing,
    elsewhere: Redirect,
    ungrouped: Landing,
}

impl Moves {
    async fn new() -> Self {
        let world = World::new().await;
        let (group, other_group) = (world.group("Spring").await.id, world.group("Summer").await.id);
        let inside = world.redirect("inside").await;
        let page_inside = landing(&world, "Inside").await;
        let elsewhere = world.redirect("elsewhere").await;
        let ungrouped = landing(&world, "Ungrouped").await;
        let moves = Self { world, group, other_group, inside, page_inside, elsewhere, ungrouped };
        moves.assign(group, texts([&moves.inside.id, &moves.page_inside.id])).await.unwrap();
        moves.assign(other_group, texts([&moves.elsewhere.id])).await.unwrap();
        moves.world.memory.clock.advance(Duration::from_secs(1));
        moves
    }

    async fn assign(
        &self,
        group: GroupId,
        ids: Batch<String>,
    ) -> Result<Vec<Result<Link, Rejection>>, AppError> {
        let (app, caller) = (&self.world.app, self.world.caller().await);
        groups::assign(app, &caller, group.into(), &ids, Idempotency::disabled()).await
    }

    async fn unassign(
        &self,
        group: GroupId,
        ids: Batch<String>,
    ) -> Result<Vec<Result<Link, Rejection>>, AppError> {
        let (app, caller) = (&self.world.app, self.world.caller().await);
        groups::unassign(app, &caller, group.into(), &ids, Idempotency::disabled()).await
    }

    /// How many landings and redirects each group has.
    async fn counts(&self) -> [(u64, u64); 2] {
        let store = &self.world.app.store;
        let mut counts = [(0, 0); 2];
        for (count, group) in counts.iter_mut().zip([self.group, self.other_group]) {
            let group = store.group(self.world.account.id, group).await.unwrap().unwrap();
            *count = (group.landings_count, group.redirects_count);
        }
        counts
    }

    async fn stored(&self, id: impl Into<LinkId>) -> Link {
        self.world.app.store.link(self.world.account.id, id.into()).await.unwrap().unwrap()
    }
}

/// Contract, `POST /v1/groups/{id}/unassign` 1: a request must not remove links from another group.
#[tokio::test]
async fn d31_only_links_of_the_group_are_removed_from_it() {
    let moves = Moves::new().await;
    let ids = texts([
        &moves.elsewhere.id,
        &moves.inside.id,
        &moves.ungrouped.id,
        &moves.page_inside.id,
        &moves.inside.id,
        &"lnd_x",
        &samples::id::<RedirectKind>(),
    ]);
    let outcomes = moves.unassign(moves.group, ids).await.unwrap();
    assert_eq!(
        refusals(&outcomes),
        [
            Some(Refusal::RedirectNotFound),
            None,
            Some(Refusal::LandingNotFound),
            None,
            Some(Refusal::DuplicateIdInBatch),
            Some(Refusal::LandingNotFound),
            Some(Refusal::RedirectNotFound)
        ]
    );
    assert_eq!(moves.counts().await, [(0, 0), (0, 1)]);
    // It went into the group and out of it.
    let revision = moves.inside.revision.next().next();
    let expected = Redirect { updated_at: moves.world.app.clock.now(), revision, ..moves.inside.clone() };
    assert_eq!(outcomes.get(1), Some(&Ok(expected.clone().into_any())));
    assert_eq!(moves.stored(expected.id).await, expected.into_any());
    assert_eq!(moves.stored(moves.elsewhere.id).await.group_id, Some(moves.other_group));
}

/// A link that is in the group already does not change (D33).
#[tokio::test]
async fn d32_links_are_assigned_from_any_group_or_none() {
    let moves = Moves::new().await;
    let before = moves.stored(moves.inside.id).await;
    let ids = texts([
        &moves.ungrouped.id,
        &moves.elsewhere.id,
        &moves.inside.id,
        &samples::id::<LandingKind>(),
        &moves.elsewhere.id,
    ]);
    let outcomes = moves.assign(moves.group, ids).await.unwrap();
    assert_eq!(
        refusals(&outcomes),
        [None, None, None, Some(Refusal::LandingNotFound), Some(Refusal::DuplicateIdInBatch)]
    );
    for link in outcomes.iter().flatten() {
        assert_eq!(link.group_id, Some(moves.group));
        assert_eq!(moves.stored(link.id()).await, *link);
    }
    assert_eq!(outcomes.get(2), Some(&Ok(before)));
    assert_eq!(moves.counts().await, [(2, 2), (0, 0)]);
}

/// The violation names the item.
#[tokio::test]
async fn d31_an_id_of_no_kind_of_link_is_invalid() {
    let moves = Moves::new().await;
    let ids = texts([&moves.inside.id, &"RDR_x", &moves.group, &""]);
    let outcomes = moves.unassign(moves.group, ids).await.unwrap();
    assert!(outcomes.first().unwrap().is_ok());
    for (index, outcome) in outcomes.iter().enumerate().skip(1) {
        let Err(Rejection::Invalid(violations)) = outcome else { panic!("{outcome:?}") };
        let fields: Vec<_> = violations.iter().map(signpost_domain::Violation::field).collect();
        assert_eq!(fields, [format!("link_ids[{index}]")]);
    }
}

/// Unlike an invalid id of a link, it refuses the whole request.
#[tokio::test]
async fn d2_a_missing_group_is_reported_before_the_ids() {
    let moves = Moves::new().await;
    for ids in [texts([&moves.inside.id]), texts([&"none"])] {
        assert_eq!(refusal(moves.assign(samples::id(), ids.clone()).await), Refusal::GroupNotFound);
        assert_eq!(refusal(moves.unassign(samples::id(), ids).await), Refusal::GroupNotFound);
    }
}

#[tokio::test]
async fn d30_a_fault_anywhere_moves_and_deletes_nothing() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let moves = Moves::new().await;
        let ids = texts([&moves.inside.id, &moves.elsewhere.id]);
        let fail = || moves.world.memory.store.faults().fail_next(step, Fault::Unavailable, 1);
        fail();
        assert_internal(moves.assign(moves.other_group, ids.clone()).await);
        fail();
        assert_internal(moves.unassign(moves.group, ids.clone()).await);
        fail();
        let caller = moves.world.caller().await;
        assert_internal(
            links::delete_many::<RedirectKind>(&moves.world.app, &caller, &ids, Idempotency::disabled())
                .await,
        );
        assert_eq!(moves.counts().await, [(1, 1), (0, 1)], "{step:?}");
        assert_eq!(moves.world.usage().await.links, 4);
    }
}
