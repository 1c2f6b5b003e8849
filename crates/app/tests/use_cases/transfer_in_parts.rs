//! Imports in parts: rows are judged while the links of the rows before them are inserted.

use signpost_app::transfer::{Field, Import, ImportMode, ImportRow, Record};

use crate::transfer::{outcomes, record, row, stored, words};
use crate::world::World;

const ID: &str = "rdr_00000000000000000000000000000001";

/// Rows that depend on earlier ones: by id, by address, by all that they say, and by a group.
fn dependent() -> Vec<Record> {
    let target = (Field::TargetUrl, "https://example.com/");
    let group_id = "grp_00000000000000000000000000000001";
    let group = record(&[(Field::Object, "group"), (Field::Id, group_id), (Field::Name, "Later")]);
    vec![
        row("a", "https://example.com/"),
        row("a", "https://example.com/"),
        row("a", "https://example.com/other"),
        record(&[target]),
        record(&[target]),
        record(&[(Field::Id, ID), (Field::Slug, "b"), target]),
        record(&[(Field::Id, ID), (Field::Slug, "b"), target]),
        record(&[(Field::Id, ID), (Field::Slug, "c"), target]),
        record(&[(Field::Slug, "d"), (Field::Group, "Spring"), target]),
        record(&[(Field::Slug, "e"), (Field::Group, "Spring"), target]),
        group,
        record(&[(Field::Slug, "f"), (Field::GroupId, group_id), target]),
        row("g", "https://example.com/"),
    ]
}

#[tokio::test]
async fn rows_depend_on_rows_of_the_part_before() {
    let expected = [
        "created",
        "unchanged",
        "conflict",
        "created",
        "unchanged",
        "created",
        "unchanged",
        "conflict",
        "created",
        "created",
        "created",
        "created",
        "created",
    ];
    for size in [1, 2, 3, 5] {
        let world = World::new().await;
        let mut import = Import::start(&world.app, world.account.id, ImportMode::Write).await.unwrap();
        let mut imported = vec![];
        for (part, records) in dependent().chunks(size).enumerate() {
            let first = u64::try_from(part * size + 1).unwrap();
            let rows =
                (first..).zip(records).map(|(line, record)| ImportRow { line, record: Ok(record.clone()) });
            imported.extend(import.push(&world.app, rows.collect()).await.unwrap());
        }
        imported.extend(import.finish(&world.app).await.unwrap());
        assert!(imported.iter().map(|row| row.line).eq(1..=13), "{size}");
        assert_eq!(words(&outcomes(imported)), expected, "{size} at once");
        assert_eq!(import.groups_created(), 1, "{size}");
        let (groups, links) = stored(&world.app, world.account.id).await;
        assert_eq!((groups.len(), links.len()), (2, 7), "{size}");
        assert_eq!(world.usage().await.links, 7, "{size}");
        assert_eq!(import.finish(&world.app).await.unwrap(), []);
    }
}
