//! The limit of clicks (D128, D130, D137).

use proptest::prelude::*;

use super::*;
use crate::id::Id;
use crate::life::LinkState;
use crate::link_request::Submitted;
use crate::link_request::tests::{World, at, fields, new_redirect};
use crate::plan::{Feature, FeatureSet};
use crate::redirect::{Redirect, RedirectRequest};
use crate::refusal::{Refusal, Rejection};
use crate::slug::Slug;

fn max(number: u64) -> MaxClicks {
    MaxClicks::new(number).unwrap()
}

fn limit(number: u64, taken: u64) -> ClickLimit {
    ClickLimit::new(max(number), taken, Revision::FIRST)
}

fn with_max(max_clicks: Change<MaxClicks>) -> RedirectRequest {
    RedirectRequest::default().with(|content| content.click_limit.max_clicks = max_clicks)
}

fn creation(number: u64, clicks_left: Option<u64>) -> RedirectRequest {
    let click_limit = ClickLimitRequest { max_clicks: Change::Set(max(number)), clicks_left };
    new_redirect().with(|content| content.click_limit = click_limit)
}

/// A redirect with this limit.
fn limited(click_limit: ClickLimit) -> Redirect {
    let redirect: Redirect = World::new().create(new_redirect()).unwrap();
    redirect.with(|content| content.click_limit = Some(click_limit))
}

#[test]
fn d128_limits_are_from_one_to_a_billion() {
    for good in [1, 2, 1_000_000_000] {
        assert_eq!(MaxClicks::new(good).map(MaxClicks::get), Ok(good));
    }
    for bad in [0, 1_000_000_001, u64::MAX] {
        assert_eq!(MaxClicks::new(bad).unwrap_err().code(), ViolationCode::OutOfRange, "{bad}");
        assert!(MaxClicks::from_stored(bad).is_err(), "{bad}");
    }
    assert_eq!(MaxClicks::parse(7), MaxClicks::new(7));
    for bad in [i64::MIN, -1, 0, i64::MAX] {
        assert_eq!(MaxClicks::parse(bad).unwrap_err().code(), ViolationCode::OutOfRange, "{bad}");
    }
    assert_eq!(ClickLimit::parse_left(0), Ok(0));
    assert_eq!(ClickLimit::parse_left(-1).unwrap_err().code(), ViolationCode::OutOfRange);
}

#[test]
fn d130_a_block_is_a_sixty_fourth_of_what_is_left() {
    for (left, block) in [
        (0, 0),
        (1, 1),
        (63, 1),
        (127, 1),
        (128, 2),
        (1_000, 15),
        (16_383, 255),
        (16_384, 256),
        (1_000_000, 256),
    ] {
        assert_eq!(limit(1_000_000, 1_000_000 - left).next_block(), block, "{left}");
    }
    assert_eq!(limit(3, 9).next_block(), 0);
}

/// A higher limit opens an exhausted link again, and one below what is taken exhausts it.
#[test]
fn d128_a_changed_limit_keeps_what_is_taken() {
    let world = World::new();
    let redirect = limited(limit(10, 7));
    for (number, left, state) in [
        (10, 3, LinkState::Active),
        (8, 1, LinkState::Active),
        (7, 0, LinkState::Exhausted),
        (2, 0, LinkState::Exhausted),
        (1_000, 993, LinkState::Active),
    ] {
        let updated = world.update(&redirect, with_max(Change::Set(max(number)))).unwrap();
        let found = updated.content.click_limit.unwrap();
        assert_eq!((found.max(), found.taken(), found.left()), (max(number), 7, left), "{number}");
        assert_eq!((updated.state(at(0)), found.since()), (state, Revision::FIRST), "{number}");
        assert_eq!(updated == redirect, number == 10, "{number}");
    }
    assert_eq!(world.update(&redirect, with_max(Change::Keep)).unwrap(), redirect);
}

/// Clicks that nodes took of a limit that was removed must not come back into a later one (D130).
#[test]
fn d128_a_limit_that_was_removed_and_set_again_counts_anew() {
    let world = World::new();
    let redirect = limited(limit(10, 10));
    assert_eq!(redirect.state(at(0)), LinkState::Exhausted);
    let removed = world.update(&redirect, with_max(Change::Clear)).unwrap();
    assert_eq!((removed.content.click_limit, removed.state(at(0))), (None, LinkState::Active));
    let again = world.update(&removed, with_max(Change::Set(max(10)))).unwrap();
    let expected = ClickLimit::new(max(10), 0, ClickLimit::name_of_count(at(2_000), again.revision));
    assert_eq!(again.content.click_limit, Some(expected));
    assert!(again.revision > redirect.revision);
}

/// An import restores a deleted link with its id and its first revision (D130).
#[test]
fn d130_no_count_of_a_link_or_of_a_restored_one_has_the_name_of_another() {
    let first = Revision::FIRST;
    let last = Timestamp::from_unix_millis(253_402_300_799_999).unwrap();
    let mut names = Vec::new();
    for now in [at(0), at(1), at(1_000), at(1_001), last] {
        for revision in [first, first.next(), Revision::from_stored(32_767).unwrap()] {
            names.push(ClickLimit::name_of_count(now, revision).get());
        }
    }
    // Each is larger than those before.
    assert!(names.is_sorted_by(|before, after| before < after), "{names:?}");
    assert!(names.iter().all(|name| i64::try_from(*name).is_ok()), "{names:?}");
    let name = |millis| {
        let request = Submitted::valid(creation(10, None));
        let slug = Slug::parse("mine").ok();
        let world = World::new();
        let created = Redirect::create(Id::from_bytes([1; 16]), &request, slug, &world.at(millis)).unwrap();
        created.content.click_limit.map(ClickLimit::since)
    };
    assert_eq!(name(1_000), name(1_000));
    assert_ne!(name(1_000), name(1_001));
}

#[test]
fn d128_a_file_moves_a_link_with_the_clicks_that_it_has_left() {
    let world = World::new();
    for (clicks_left, taken) in [(None, 0), (Some(10), 0), (Some(4), 6), (Some(0), 10)] {
        let redirect: Redirect = world.create(creation(10, clicks_left)).unwrap();
        let since = ClickLimit::name_of_count(at(1_000), Revision::FIRST);
        assert_eq!(
            redirect.content.click_limit,
            Some(ClickLimit::new(max(10), taken, since)),
            "{clicks_left:?}"
        );
    }
    let refused: Result<Redirect, Rejection> = world.create(creation(10, Some(11)));
    let expected = [(ClickLimit::LEFT_FIELD.to_owned(), ViolationCode::OutOfRange)];
    assert_eq!(fields(refused.unwrap_err()), expected);
    for max_clicks in [Change::Keep, Change::Clear] {
        let click_limit = ClickLimitRequest { max_clicks, clicks_left: Some(1) };
        let request = new_redirect().with(|content| content.click_limit = click_limit);
        let refused: Result<Redirect, Rejection> = world.create(request);
        let expected = [(ClickLimit::LEFT_FIELD.to_owned(), ViolationCode::InvalidValue)];
        assert_eq!(fields(refused.unwrap_err()), expected);
    }
}

#[test]
fn d137_a_new_limit_needs_the_feature_and_a_kept_one_does_not() {
    let mut world = World::new();
    world.features = FeatureSet::none();
    let lacking = Err(Rejection::from(Refusal::FeatureNotAvailable(Feature::LinkAccess)));
    let created: Result<Redirect, Rejection> = world.create(creation(10, None));
    assert_eq!(created, lacking);
    let redirect = limited(limit(10, 7));
    for number in [9, 11] {
        assert_eq!(world.update(&redirect, with_max(Change::Set(max(number)))), lacking, "{number}");
    }
    for kept in [Change::Keep, Change::Set(max(10))] {
        assert_eq!(world.update(&redirect, with_max(kept)).unwrap(), redirect);
    }
    let removed = world.update(&redirect, with_max(Change::Clear)).unwrap();
    assert_eq!(removed.content.click_limit, None);
    assert_eq!(world.update(&removed, with_max(Change::Set(max(10)))), lacking);
}

proptest! {
    /// D130: nodes that take blocks in any order, and give some back, never have more than the limit together.
    #[test]
    fn d130_no_order_of_takers_gets_more_than_the_limit(
        number in 1..5_000_u64,
        steps in proptest::collection::vec((0..3_usize, any::<bool>()), 1..400),
    ) {
        let mut limit = limit(number, 0);
        let mut nodes = [0_u64; 3];
        let mut used = 0;
        for (node, gives_back) in steps {
            if gives_back {
                limit = limit.with_given_back(nodes[node]).unwrap();
                nodes[node] = 0;
            } else if nodes[node] > 0 {
                nodes[node] -= 1;
                used += 1;
            } else {
                let block = limit.next_block();
                prop_assert_eq!(block == 0, limit.is_exhausted());
                limit = limit.with_more_taken(block);
                nodes[node] = block;
            }
            prop_assert!(limit.taken() <= number);
            prop_assert_eq!(limit.taken(), used + nodes.iter().sum::<u64>());
        }
    }
}
