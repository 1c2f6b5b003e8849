//! Passwords of links in exports and imports (D131).

use signpost_app::links;
use signpost_app::transfer::{Field, FieldValue, Imported, Record};
use signpost_app::visits::{PasswordCheck, check_password};
use signpost_domain::{Feature, Link, LinkId, Password, Precondition};

use crate::transfer::{exported, import, rehearse, row, stored};
use crate::world::{World, plan};

const TARGET: &str = "https://example.com/";

fn with(fields: &[(Field, FieldValue)]) -> Record {
    let mut record = row("x", TARGET);
    for (field, value) in fields {
        record.set(*field, value.clone());
    }
    record
}

fn password(text: &str) -> (Field, FieldValue) {
    (Field::Password, FieldValue::Text(text.to_owned()))
}

fn has_password(flag: bool) -> (Field, FieldValue) {
    (Field::HasPassword, FieldValue::Flag(flag))
}

async fn world() -> World {
    World::with_plan(plan(&[Feature::LinkAccess])).await
}

async fn import_one(world: &World, record: Record) -> Imported {
    import(&world.app, world.account.id, vec![record]).await.pop().unwrap()
}

fn failure(outcome: Imported) -> (&'static str, String) {
    match outcome {
        Imported::Failed { code, message } => (code.as_str(), message),
        other => panic!("not refused: {other:?}"),
    }
}

async fn link(world: &World) -> Link {
    stored(&world.app, world.account.id).await.1.pop().unwrap()
}

async fn opens(world: &World, link: LinkId, text: &str) -> PasswordCheck {
    check_password(&world.app, link, world.account.id, Password::typed(text)).await.unwrap()
}

#[tokio::test]
async fn d131_a_row_with_a_password_makes_a_link_that_asks_for_it() {
    let world = world().await;
    let record = with(&[password(" mint "), has_password(true)]);
    assert_eq!(rehearse(&world.app, world.account.id, vec![record.clone()]).await, [Imported::WouldCreate]);
    assert_eq!(import_one(&world, record.clone()).await, Imported::Created);
    let link = link(&world).await;
    assert!(link.has_password);
    assert_eq!(opens(&world, link.id(), " mint ").await, PasswordCheck::Right);
    assert_eq!(opens(&world, link.id(), "mint").await, PasswordCheck::Wrong);
    // Only the hash is stored, so any password is the same.
    for same in [record, with(&[password("sage")]), with(&[has_password(true)]), with(&[])] {
        assert_eq!(import_one(&world, same).await, Imported::Unchanged);
    }
    let differing = Imported::Conflict { differing: vec![Field::HasPassword] };
    for other in [with(&[has_password(false)]), with(&[(Field::Password, FieldValue::Null)])] {
        assert_eq!(import_one(&world, other).await, differing);
    }
    assert_eq!(opens(&world, link.id(), " mint ").await, PasswordCheck::Right);
}

/// A link that asked for a password must not come back open.
#[tokio::test]
async fn d131_an_exported_link_does_not_come_back_without_its_password() {
    let (here, there) = (world().await, world().await);
    assert_eq!(import_one(&here, with(&[password("mint")])).await, Imported::Created);
    let records = exported(&here.app, here.account.id).await;
    assert!(!format!("{records:?}").contains("mint"), "{records:?}");
    let [record] = records.as_slice() else { panic!("{records:?}") };
    assert_eq!(record.get(Field::HasPassword), Some(&FieldValue::Flag(true)));
    assert_eq!(record.get(Field::Password), None);
    // At home, the row says what is there.
    assert_eq!(import_one(&here, record.clone()).await, Imported::Unchanged);
    for outcome in [
        rehearse(&there.app, there.account.id, vec![record.clone()]).await.pop().unwrap(),
        import_one(&there, record.clone()).await,
    ] {
        let (code, message) = failure(outcome);
        assert!(code == "invalid_request" && message.contains("`password` is required"), "{message}");
    }
    let mut completed = record.clone();
    completed.set(Field::Password, FieldValue::Text("sage".to_owned()));
    assert_eq!(import_one(&there, completed).await, Imported::Created);
    let id = link(&there).await.id();
    assert_eq!(opens(&there, id, "sage").await, PasswordCheck::Right);
    assert_eq!(opens(&there, id, "mint").await, PasswordCheck::Wrong);
}

/// A link that an import restores with its id has the password of the row, not that of the dead one.
#[tokio::test]
async fn d131_a_restored_link_has_the_password_of_its_row() {
    let world = world().await;
    assert_eq!(import_one(&world, with(&[password("mint")])).await, Imported::Created);
    let mut records = exported(&world.app, world.account.id).await;
    let LinkId::Redirect(id) = link(&world).await.id() else { panic!("not a redirect") };
    links::delete(&world.app, &world.caller().await, id.into(), &Precondition::None).await.unwrap();
    records[0].set(Field::Password, FieldValue::Text("sage".to_owned()));
    assert_eq!(import(&world.app, world.account.id, records).await, [Imported::Created]);
    assert_eq!(link(&world).await.id(), id.into());
    assert_eq!(opens(&world, id.into(), "sage").await, PasswordCheck::Right);
    assert_eq!(opens(&world, id.into(), "mint").await, PasswordCheck::Wrong);
}

#[tokio::test]
async fn d131_d137_a_password_that_no_creation_takes_is_refused() {
    let world = world().await;
    for (record, field) in [
        (with(&[password("abc")]), "password"),
        (with(&[password(&"x".repeat(129))]), "password"),
        (with(&[(Field::Password, FieldValue::Flag(true))]), "password"),
        (with(&[password("mint"), has_password(false)]), "has_password"),
        (with(&[password("mint"), (Field::RedirectStatus, FieldValue::Number(301))]), "redirect_status"),
    ] {
        let (code, message) = failure(import_one(&world, record).await);
        assert!(code == "invalid_request" && message.contains(&format!("`{field}` ")), "{message}");
        assert!(!message.contains("xxx"), "{message}");
    }
    let without = World::with_plan(plan(&[])).await;
    let outcome = import_one(&without, with(&[password("mint")])).await;
    assert_eq!(failure(outcome).0, "feature_not_available_on_current_plan");
}

/// Everybody sees slugs, so nothing in them may tell passwords.
#[tokio::test]
async fn d131_the_slug_of_a_row_without_one_does_not_depend_on_its_password() {
    let mut slugs = Vec::new();
    for text in ["mint", "sage"] {
        let world = world().await;
        let mut record = Record::default();
        record.set(Field::TargetUrl, FieldValue::Text(TARGET.to_owned()));
        record.set(Field::Password, FieldValue::Text(text.to_owned()));
        assert_eq!(import_one(&world, record).await, Imported::Created);
        slugs.push(link(&world).await.placement.slug().cloned());
    }
    assert_eq!(slugs[0], slugs[1]);
}
