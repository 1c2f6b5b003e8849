//! Faults during imports and exports.

use signpost_app::Operator;
use signpost_app::accounts::{self, OperatorError};
use signpost_app::transfer::{Export, Field, FieldValue, Import, ImportMode, Imported, Record};
use signpost_domain::Redirect;
use signpost_memory::{Fault, Step};
use signpost_port_contracts::samples;

use crate::transfer::{exported, import, import_in, record, rehearse, row, stored, words};
use crate::world::World;

fn rows(count: usize) -> Vec<Record> {
    (0..count).map(|number| row(&format!("s{number}"), "https://example.com/")).collect()
}

#[tokio::test]
async fn a_missing_account_or_plan_is_named() {
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

/// A part is stored as a whole or not at all.
#[tokio::test]
async fn a_second_import_completes_an_interrupted_one() {
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
        // Every attempt fails, for the part as a whole and for single rows.
        world.memory.store.faults().fail_next(step, Fault::Unavailable, 50);
        assert!(import_of.rows(&world.app, numbered(all[10..].to_vec())).await.is_err(), "{step:?}");
        let fresh = World { app: world.app.clone(), ..world };
        assert_eq!(fresh.usage().await.links, 10, "{step:?}");
        let left = fresh.memory.store.faults().outstanding();
        assert!(left > 0, "{step:?}: the import retries without end");
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

/// The rows of a batch that the store cannot commit are stored one by one.
#[tokio::test]
async fn a_row_that_breaks_the_store_fails_alone() {
    let world = World::new().await;
    // The batch, and then its first row.
    world.memory.store.faults().fail_next(Step::Commit, Fault::Unavailable, 2);
    let outcomes = import(&world.app, world.account.id, rows(3)).await;
    assert_eq!(words(&outcomes), ["internal_error", "created", "created"]);
    assert_eq!(world.usage().await.links, 2);
    assert_eq!(
        words(&import(&world.app, world.account.id, rows(3)).await),
        ["created", "unchanged", "unchanged"]
    );
}

#[tokio::test]
async fn an_unavailable_store_fails_no_single_row() {
    let world = World::new().await;
    let mut import_of = Import::start(&world.app, world.account.id, ImportMode::Write).await.unwrap();
    world.memory.store.faults().set_unavailable(true);
    let row = signpost_app::transfer::ImportRow { line: 1, record: Ok(rows(1).remove(0)) };
    let batch = vec![row];
    assert!(matches!(import_of.rows(&world.app, batch).await, Err(OperatorError::Broken(_))));
}

#[tokio::test]
async fn d30_a_contended_import_is_retried() {
    for step in [Step::Begin, Step::Write, Step::Commit] {
        let world = World::new().await;
        world.memory.store.faults().fail_next(step, Fault::Contended, 4);
        assert_eq!(words(&import(&world.app, world.account.id, rows(20)).await), ["created"; 20], "{step:?}");
        assert_eq!(world.usage().await.links, 20);
    }
}

/// Ids are unique across accounts in the store.
#[tokio::test]
async fn an_id_of_another_account_fails_only_its_row() {
    let world = World::new().await;
    let (other, _) = world.another_account("agency").await;
    let group = record(&[
        (Field::Object, "group"),
        (Field::Id, "grp_00000000000000000000000000000001"),
        (Field::Name, "Spring"),
    ]);
    let with_id = |slug: &str, number: u8| {
        let mut record = row(slug, "https://example.com/");
        let id = format!("rdr_0000000000000000000000000000000{number}");
        record.set(Field::Id, FieldValue::Text(id));
        record
    };
    let theirs = vec![group.clone(), with_id("theirs", 1), with_id("theirs-too", 2)];
    assert_eq!(words(&import(&world.app, other.id, theirs).await), ["created"; 3]);
    let other_group = record(&[
        (Field::Object, "group"),
        (Field::Id, "grp_00000000000000000000000000000002"),
        (Field::Name, "Summer"),
    ]);
    let mut records = vec![group.clone(), other_group, with_id("ours", 1)];
    records.extend(rows(3));
    let rehearsed = rehearse(&world.app, world.account.id, records.clone()).await;
    let outcomes = import(&world.app, world.account.id, records).await;
    let expected = ["invalid_request", "created", "invalid_request", "created", "created", "created"];
    assert_eq!(words(&outcomes), expected);
    // A dry run foresees it, with the same messages.
    assert_eq!(words(&rehearsed), expected.map(|word| word.replace("created", "would_create")));
    assert_eq!([&rehearsed[0], &rehearsed[2]], [&outcomes[0], &outcomes[2]]);
    let message = |row: usize| match &outcomes[row] {
        Imported::Failed { message, .. } => message.as_str(),
        other => panic!("{other:?}"),
    };
    assert!(message(0).contains("`id` grp_00000000000000000000000000000001"), "{}", message(0));
    assert!(message(0).contains("name the group in `group` of its links"), "{}", message(0));
    assert!(message(2).contains("`id` rdr_00000000000000000000000000000001"), "{}", message(2));
    assert_eq!(world.usage().await.links, 3);
    // Also if the file has no other rows.
    for records in [vec![with_id("ours", 1), with_id("ours-too", 2)], vec![group]] {
        let alone = import(&world.app, world.account.id, records).await;
        assert!(words(&alone).iter().all(|word| *word == "invalid_request"), "{alone:?}");
    }
    assert_eq!((world.usage().await.links, world.usage().await.groups), (3, 1));
}

/// The decisions about one row and what they leave to the next are those of the import.
#[tokio::test]
async fn d121_a_dry_run_foresees_what_a_refused_id_leaves_to_later_rows() {
    let world = World::new().await;
    let (other, _) = world.another_account("agency").await;
    let id = "rdr_00000000000000000000000000000001";
    let named = |slug: &str, id: Option<&str>| {
        let mut record = row(slug, "https://example.com/");
        if let Some(id) = id {
            record.set(Field::Id, FieldValue::Text(id.to_owned()));
        }
        record.set(Field::ExternalId, FieldValue::Text("order-1".to_owned()));
        record
    };
    assert_eq!(words(&import(&world.app, other.id, vec![named("theirs", Some(id))]).await), ["created"]);
    let records = vec![named("ours", Some(id)), named("ours-too", None)];
    let rehearsed = rehearse(&world.app, world.account.id, records.clone()).await;
    let outcomes = import(&world.app, world.account.id, records).await;
    assert_eq!(words(&rehearsed)[0], "invalid_request");
    let as_foreseen: Vec<_> =
        words(&outcomes).iter().map(|word| word.replace("created", "would_create")).collect();
    assert_eq!(words(&rehearsed), as_foreseen, "{outcomes:?}");
}

/// A partial export must not look complete.
#[tokio::test]
async fn an_export_fails_when_its_account_is_deleted() {
    let world = World::new().await;
    world.redirect("a").await;
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    export.next(&world.app).await.unwrap();
    accounts::delete(&world.app, &Operator::COMMAND, world.account.id).await.unwrap();
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

#[tokio::test]
async fn a_failed_export_can_be_restarted() {
    let world = World::new().await;
    world.redirect("a").await;
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    world.memory.store.faults().fail_next(Step::Read, Fault::Unavailable, 1);
    assert!(export.next(&world.app).await.is_err());
    assert_eq!(exported(&world.app, world.account.id).await.len(), 1);
    assert_eq!(stored(&world.app, world.account.id).await.1.len(), 1);
}

/// An unreadable row does not stop the export.
#[tokio::test]
async fn an_export_counts_unreadable_rows() {
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
