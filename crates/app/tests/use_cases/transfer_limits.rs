//! Limits of clicks in exports and imports (D128).

use signpost_app::links;
use signpost_app::ports::UnusedClicks;
use signpost_app::transfer::{Field, FieldValue, Imported, Record};
use signpost_app::visits::{give_back_clicks, take_clicks};
use signpost_domain::{ClickLimit, Feature, Link, MaxClicks, Precondition, Revision};
use signpost_port_contracts::samples;

use crate::transfer::{exported, import, row, stored};
use crate::world::{World, plan};

const TARGET: &str = "https://example.com/";

fn limited(max_clicks: FieldValue, clicks_left: FieldValue) -> Record {
    let mut record = row("x", TARGET);
    record.set(Field::MaxClicks, max_clicks);
    record.set(Field::ClicksLeft, clicks_left);
    record
}

async fn world(features: &[Feature]) -> World {
    let world = World::with_plan(plan(features)).await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

async fn import_one(world: &World, record: Record) -> Imported {
    import(&world.app, world.account.id, vec![record]).await.pop().unwrap()
}

async fn refused(world: &World, record: Record) -> (&'static str, String) {
    match import_one(world, record).await {
        Imported::Failed { code, message } => (code.as_str(), message),
        other => panic!("not refused: {other:?}"),
    }
}

/// The name of the count of a link that was imported at this instant.
fn begun_at(millis: i64) -> Revision {
    ClickLimit::name_of_count(samples::at(millis), Revision::FIRST)
}

async fn limit(world: &World) -> Option<ClickLimit> {
    let (_, links) = stored(&world.app, world.account.id).await;
    let redirect = links.into_iter().find_map(Link::into_redirect).unwrap();
    redirect.content.click_limit
}

#[tokio::test]
async fn d128_a_limit_that_no_creation_has_is_refused() {
    let world = world(&[Feature::LinkAccess]).await;
    for (max, left, field) in [
        (FieldValue::Number(0), FieldValue::Null, "max_clicks"),
        (FieldValue::Text("ten".to_owned()), FieldValue::Null, "max_clicks"),
        (FieldValue::Number(10), FieldValue::Number(11), "clicks_left"),
        (FieldValue::Null, FieldValue::Number(1), "clicks_left"),
    ] {
        let (code, message) = refused(&world, limited(max, left)).await;
        assert!(code == "invalid_request" && message.contains(&format!("`{field}` ")), "{message}");
    }
    // Only the limit is wrong, unless what is left is no number either.
    let (_, message) = refused(&world, limited(FieldValue::Number(0), FieldValue::Number(3))).await;
    assert!(message.contains("`max_clicks` ") && !message.contains("clicks_left"), "{message}");
    let (_, message) = refused(&world, limited(FieldValue::Number(0), FieldValue::Number(-1))).await;
    assert!(message.contains("`max_clicks` ") && message.contains("`clicks_left` "), "{message}");
    let without = self::world(&[]).await;
    let record = limited(FieldValue::Number(10), FieldValue::Null);
    assert_eq!(refused(&without, record).await.0, "feature_not_available_on_current_plan");
}

/// Visits use clicks up between two imports, so what is left is no difference.
#[tokio::test]
async fn d128_a_redirect_moves_with_the_clicks_that_it_has_left() {
    let (here, there) = (world(&[Feature::LinkAccess]).await, world(&[Feature::LinkAccess]).await);
    let record = limited(FieldValue::Number(10), FieldValue::Null);
    assert_eq!(import_one(&here, record).await, Imported::Created);
    let (_, links) = stored(&here.app, here.account.id).await;
    let redirect = links.into_iter().find_map(Link::into_redirect).unwrap();
    for _ in 0..3 {
        take_clicks(&here.app, here.account.id, redirect.id).await.unwrap().taken().unwrap();
    }
    let records = exported(&here.app, here.account.id).await;
    assert_eq!(records[0].get(Field::MaxClicks), Some(&FieldValue::Number(10)));
    assert_eq!(records[0].get(Field::ClicksLeft), Some(&FieldValue::Number(7)));
    let moved = records[0].clone();
    assert_eq!(import_one(&there, moved.clone()).await, Imported::Created);
    let expected = ClickLimit::new(MaxClicks::new(10).unwrap(), 3, begun_at(1_000_000));
    assert_eq!(limit(&there).await, Some(expected));
    take_clicks(&there.app, there.account.id, redirect.id).await.unwrap().taken().unwrap();
    assert_eq!(import_one(&there, moved).await, Imported::Unchanged);
    assert_eq!(limit(&there).await, Some(expected.with_more_taken(1)));
}

/// D130: an import restores a deleted link with its id. Clicks that nodes hold of the dead one do not come back into it.
#[tokio::test]
async fn d130_a_restored_link_begins_another_count() {
    let world = world(&[Feature::LinkAccess]).await;
    let record = limited(FieldValue::Number(640), FieldValue::Null);
    assert_eq!(import_one(&world, record).await, Imported::Created);
    let records = exported(&world.app, world.account.id).await;
    let (_, stored_links) = stored(&world.app, world.account.id).await;
    let id = stored_links.into_iter().find_map(Link::into_redirect).unwrap().id;
    let held = take_clicks(&world.app, world.account.id, id).await.unwrap().taken().unwrap();
    assert_eq!((held.number, held.since), (10, begun_at(1_000_000)));

    links::delete(&world.app, &world.caller().await, id.into(), &Precondition::None).await.unwrap();
    world.memory.clock.set(samples::at(1_000_001));
    assert_eq!(import_one(&world, records[0].clone()).await, Imported::Created);
    let taken = take_clicks(&world.app, world.account.id, id).await.unwrap().taken().unwrap();
    assert_eq!((taken.number, taken.since), (10, begun_at(1_000_001)));
    let held = UnusedClicks { account: world.account.id, link: id, clicks: held };
    give_back_clicks(&world.app, &[held]).await.unwrap();
    assert_eq!(limit(&world).await.map(ClickLimit::left), Some(630));
}
