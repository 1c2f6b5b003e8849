//! The ways of redirects in records (D132).

use signpost_app::transfer::{Field, FieldValue, Imported, Record};
use signpost_port_contracts::samples;

use crate::transfer::{import, record, stored};
use crate::world::World;

const TARGET: &str = "https://example.com/";

/// Some 1,000 seconds after the instant of the samples, so that these lie in the past.
async fn world() -> World {
    let world = World::new().await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

async fn one(world: &World, record: Record) -> Imported {
    import(&world.app, world.account.id, vec![record]).await.pop().unwrap()
}

fn redirect(others: &[(Field, &str)]) -> Record {
    let own = [(Field::Slug, "tagged"), (Field::TargetUrl, TARGET)];
    record(&[&own[..], others].concat())
}

fn with_status(status: i64, others: &[(Field, &str)]) -> Record {
    let mut record = redirect(others);
    record.set(Field::RedirectStatus, FieldValue::Number(status));
    record
}

/// With the codes and the fields of the API, but that each part of `utm` is a field of its own.
#[tokio::test]
async fn d132_the_way_of_a_record_is_judged_as_that_of_a_creation() {
    let world = world().await;
    let long = "x".repeat(256);
    let landing = [(Field::Object, "landing"), (Field::Title, "x"), (Field::UtmTerm, "x")];
    for (record, field) in [
        (with_status(200, &[]), "redirect_status"),
        (with_status(301, &[(Field::ExpiresAt, "2036-01-01T00:00:00Z")]), "redirect_status"),
        (redirect(&[(Field::RedirectStatus, "301")]), "redirect_status"),
        (redirect(&[(Field::ForwardQuery, "maybe")]), "forward_query"),
        (redirect(&[(Field::UtmTerm, &long)]), "utm_term"),
        (record(&landing), "utm_term"),
    ] {
        match one(&world, record).await {
            Imported::Failed { code, message } => {
                assert_eq!(code.as_str(), "invalid_request");
                assert!(message.starts_with(&format!("`{field}` ")), "{message}");
            }
            other => panic!("not refused: {other:?}"),
        }
    }
    assert_eq!(world.usage().await.links, 0);
}

/// A part that the record leaves out is the same, and null is no value.
#[tokio::test]
async fn d132_the_parts_of_a_campaign_are_compared_one_by_one() {
    let world = world().await;
    let both = redirect(&[(Field::UtmSource, "mail"), (Field::UtmTerm, "a b")]);
    assert_eq!(one(&world, both.clone()).await, Imported::Created);
    let (_, links) = stored(&world.app, world.account.id).await;
    let created = links[0].clone().into_redirect().unwrap();
    assert_eq!(created.content.final_url().as_str(), format!("{TARGET}?utm_source=mail&utm_term=a%20b"));
    for same in [both, redirect(&[]), redirect(&[(Field::UtmTerm, " a b ")])] {
        assert_eq!(one(&world, same).await, Imported::Unchanged);
    }
    let mut other = with_status(307, &[(Field::UtmMedium, "cpc")]);
    other.set(Field::UtmSource, FieldValue::Null);
    other.set(Field::ForwardQuery, FieldValue::Flag(true));
    let differing = vec![Field::RedirectStatus, Field::ForwardQuery, Field::UtmSource, Field::UtmMedium];
    assert_eq!(one(&world, other).await, Imported::Conflict { differing });
}
