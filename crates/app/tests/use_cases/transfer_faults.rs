//! Imports and exports when something breaks.

use signpost_app::accounts::{self, OperatorError};
use signpost_app::transfer::{Export, Field, FieldValue, Import, ImportMode, Imported, Record};
use signpost_domain::Redirect;
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::transfer::{exported, import, import_in, record, row, stored, words};
use crate::world::World;

fn rows(count: usize) -> Vec<Record> {
    (0..count).map(|number| row(&format!("s{number}"), "https://example.com/")).collect()
}

#[tokio::test]
async fn an_account_or_a_plan_that_is_not_there_is_named() {
    let world = World::new().await;
    let nobody = samples::account().id;
    let missing = Export::start(&world.app, nobody).await.err();
    assert!(matches!(missing, Some(OperatorError::NoSuchAccount(id)) if id == nobody));
    for mode in [ImportMode::Write, ImportMode::Rehearse] {
        let missing = Import::start(&world.app, nobody, mode).await.err();
        assert!(matches!(missing, Some(OperatorError::NoSuchAccount(id)) if id == nobody));
    }
    let mut work = world.app.store.begin().await.unwrap();
    work.set_plan(world.account.id, &samples::plan("golden")).await.unwrap();
    work.commit().await.unwrap();
    let missing = Import::start(&world.app, world.account.id, ImportMode::Write).await.err();
    assert!(matches!(missing, Some(OperatorError::NoSuchPlan { .. })));
}

/// What was reported is there, what was not can be imported again: a store that breaks leaves no part of what is created
/// together.
#[tokio::test]
async fn an_import_that_was_cut_short_is_completed_by_another() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = World::new().await;
        let mut import_of = Import::start(&world.app, world.account.id, ImportMode::Write).await.unwrap();
        let numbered = |records: Vec<Record>| {
            let rows = records
                .into_iter()
                .map(|record| signpost_app::transfer::ImportRow { line: 1, record: Ok(record) });
            rows.collect::<Vec<_>>()
        };
        let all = rows(30);
        import_of.rows(&world.app, numbered(all[..10].to_vec())).await.unwrap();
        // Whatever is tried fails, together and one by one; yet the store answers.
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 50);
        assert!(import_of.rows(&world.app, numbered(all[10..].to_vec())).await.is_err(), "{step:?}");
        let fresh = World { app: world.app.clone(), ..world };
        assert_eq!(fresh.usage().await.links, 10, "{step:?}");
        let left = fresh.memory.store.faults().outstanding();
        assert!(left > 0, "{step:?}: no endless trying");
        let app = fresh.memory.application();
        while fresh.memory.store.faults().outstanding() > 0 {
            if let Ok(mut work) = app.store.begin().await {
                let _ = work.any_account().await;
                let _ = work.commit().await;
            }
        }
        let outcomes = import(&app, fresh.account.id, all).await;
        assert_eq!(words(&outcomes[..10]), ["unchanged"; 10]);
        assert_eq!(words(&outcomes[10..]), ["created"; 20]);
    }
}

#[tokio::test]
async fn a_store_that_is_away_is_no_fault_of_the_rows() {
    let world = World::new().await;
    let mut import_of = Import::start(&world.app, world.account.id, ImportMode::Write).await.unwrap();
    world.memory.store.faults().set_unavailable(true);
    let row = signpost_app::transfer::ImportRow { line: 1, record: Ok(rows(1).remove(0)) };
    let batch = vec![row];
    assert!(matches!(import_of.rows(&world.app, batch).await, Err(OperatorError::Broken(_))));
}

/// A transaction that the store asks to retry is retried whole.
#[tokio::test]
async fn d30_contention_is_nobodys_concern() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = World::new().await;
        world.memory.store.faults().fail_next(step, Fault::Contended, 4);
        assert_eq!(words(&import(&world.app, world.account.id, rows(20)).await), ["created"; 20], "{step:?}");
        assert_eq!(world.usage().await.links, 20);
    }
}

/// The store cannot take a second thing of one id, whosever the first is; the rows beside it are no worse for that.
#[tokio::test]
async fn an_id_that_another_account_has_fails_alone() {
    let world = World::new().await;
    let (other, _) = world.another_account("agency").await;
    let group = record(&[
        (Field::Object, "group"),
        (Field::Id, "grp_00000000000000000000000000000001"),
        (Field::Name, "Spring"),
    ]);
    let with_id = |slug: &str| {
        let mut record = row(slug, "https://example.com/");
        let id = "rdr_00000000000000000000000000000001".to_owned();
        record.set(Field::Id, signpost_app::transfer::FieldValue::Text(id));
        record
    };
    let theirs = import(&world.app, other.id, vec![group.clone(), with_id("theirs")]).await;
    assert_eq!(words(&theirs), ["created", "created"]);
    let other_group = record(&[
        (Field::Object, "group"),
        (Field::Id, "grp_00000000000000000000000000000002"),
        (Field::Name, "Summer"),
    ]);
    let mut records = vec![group, other_group, with_id("ours")];
    records.extend(rows(3));
    let outcomes = import(&world.app, world.account.id, records).await;
    assert_eq!(
        words(&outcomes),
        ["internal_error", "created", "internal_error", "created", "created", "created"]
    );
    let Imported::Failed { message, .. } = &outcomes[2] else { panic!("it failed") };
    assert!(message.contains("leave the id out"), "{message}");
    assert_eq!(world.usage().await.links, 3);
}

/// Half of a deleted account must not look like a whole one.
#[tokio::test]
async fn an_account_that_is_deleted_meanwhile_is_no_shorter_export() {
    let world = World::new().await;
    world.redirect("a").await;
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    export.next(&world.app).await.unwrap();
    accounts::delete(&world.app, world.account.id).await.unwrap();
    let outcome = loop {
        match export.next(&world.app).await {
            Ok(Some(_)) => {}
            outcome => break outcome,
        }
    };
    assert!(matches!(outcome, Err(OperatorError::NoSuchAccount(_))));
    let records = rows(1);
    let gone = import_in(ImportMode::Write, &world.app, world.account.id, records).await;
    assert!(matches!(gone, Err(OperatorError::NoSuchAccount(_))));
}

/// Everything that broke on the way is behind a second try.
#[tokio::test]
async fn an_export_fails_when_the_store_does_and_can_be_begun_again() {
    let world = World::new().await;
    world.redirect("a").await;
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    world.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    assert!(export.next(&world.app).await.is_err());
    assert_eq!(exported(&world.app, world.account.id).await.len(), 1);
    assert_eq!(stored(&world.app, world.account.id).await.1.len(), 1);
}

/// What cannot be read takes nothing else with it, and is counted.
#[tokio::test]
async fn an_export_says_how_many_rows_it_left_out() {
    let world = World::new().await;
    let group = world.group("Spring").await;
    let broken = world.redirect("b").await;
    world.store_as_it_is(Redirect { group_id: Some(group.id), ..samples::redirect("a") }).await;
    for id in [group.id.to_bytes(), broken.id.to_bytes()] {
        world.memory.store.faults().spoil(id);
    }
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    let mut records = vec![];
    while let Some(more) = export.next(&world.app).await.unwrap() {
        records.extend(more);
    }
    assert_eq!((records.len(), export.left_out().unreadable), (1, 2));
    assert_eq!(records[0].get(Field::GroupId), Some(&FieldValue::Null));
}
