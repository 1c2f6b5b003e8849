//! Rows that name their group by its name (docs/import-export.md).

use signpost_app::transfer::{Field, FieldValue, Import, ImportMode, ImportRow, Imported, Record};
use signpost_domain::{GroupId, Link, PlanLimits};

use crate::transfer::{import, record, rehearse, stored, words};
use crate::world::{World, plan};

const TARGET: &str = "https://example.com/";

fn in_group(slug: &str, group: &str) -> Record {
    record(&[(Field::Slug, slug), (Field::TargetUrl, TARGET), (Field::Group, group)])
}

async fn in_groups_of(world: &World) -> Vec<(String, Option<GroupId>)> {
    let (_, links) = stored(&world.app, world.account.id).await;
    let shown = |link: &Link| (link.placement.slug().unwrap().as_str().to_owned(), link.group_id);
    links.iter().rev().map(shown).collect()
}

/// A world whose plan allows so many groups and links.
async fn limited(groups: u64, links: u64) -> World {
    let plan = plan(&[]);
    World::with_plan(signpost_domain::Plan { limits: PlanLimits { groups, links, ..plan.limits }, ..plan })
        .await
}

#[tokio::test]
async fn a_named_group_is_found_or_created_with_its_first_link() {
    let world = World::new().await;
    let spring = world.group("Spring").await.id;
    let mut in_none = in_group("d", "x");
    in_none.set(Field::Group, FieldValue::Null);
    let rows = vec![in_group("a", " Spring "), in_group("b", "Summer"), in_group("c", "Summer"), in_none];
    assert_eq!(words(&rehearse(&world.app, world.account.id, rows.clone()).await), ["would_create"; 4]);
    assert_eq!(world.usage().await.groups, 1, "a rehearsal creates no group");
    assert_eq!(words(&import(&world.app, world.account.id, rows.clone()).await), ["created"; 4]);
    let (groups, _) = stored(&world.app, world.account.id).await;
    let summer = groups.iter().find(|group| group.name.as_str() == "Summer").unwrap();
    assert_eq!((groups.len(), summer.redirects_count), (2, 2));
    let expected = [("a", Some(spring)), ("b", Some(summer.id)), ("c", Some(summer.id)), ("d", None)];
    assert_eq!(in_groups_of(&world).await, expected.map(|(slug, group)| (slug.to_owned(), group)));

    assert_eq!(words(&import(&world.app, world.account.id, rows.clone()).await), ["unchanged"; 4]);
    assert_eq!(words(&rehearse(&world.app, world.account.id, rows).await), ["unchanged"; 4]);
    assert_eq!(world.usage().await.groups, 2);
}

/// The file has several parts, and one of its rows describes the group.
#[tokio::test]
async fn a_name_means_one_group_throughout_a_file() {
    let group = record(&[
        (Field::Object, "group"),
        (Field::Id, "grp_00000000000000000000000000000007"),
        (Field::Name, "Described"),
    ]);
    let mut rows = vec![group];
    for number in 0..250 {
        let name = if number % 2 == 0 { "Described" } else { "Named" };
        rows.push(in_group(&format!("s{number}"), name));
    }
    let world = World::new().await;
    let rehearsed = rehearse(&world.app, world.account.id, rows.clone()).await;
    assert_eq!(words(&rehearsed), ["would_create"; 251]);
    assert_eq!(words(&import(&world.app, world.account.id, rows).await), ["created"; 251]);
    let (groups, _) = stored(&world.app, world.account.id).await;
    let mut counts: Vec<_> =
        groups.iter().map(|group| (group.name.as_str(), group.redirects_count)).collect();
    counts.sort_unstable();
    assert_eq!(counts, [("Described", 125), ("Named", 125)]);
}

#[tokio::test]
async fn a_name_of_two_groups_is_ambiguous() {
    let world = World::new().await;
    let spring = world.group("Spring").await.id.to_string();
    world.group("Spring").await;
    let by_id = record(&[(Field::Slug, "b"), (Field::TargetUrl, TARGET), (Field::GroupId, &spring)]);
    let outcomes = import(&world.app, world.account.id, vec![in_group("a", "Spring"), by_id]).await;
    assert_eq!(words(&outcomes), ["invalid_request", "created"]);
    let expected = "`group` is the name of 2 groups; name the one by its id, in `group_id`.";
    assert_eq!(outcomes[0].message().as_deref(), Some(expected));
    assert_eq!(world.usage().await.groups, 2);
}

#[tokio::test]
async fn a_conflicting_row_creates_no_group() {
    let world = World::new().await;
    let rows = vec![in_group("a", "Spring")];
    import(&world.app, world.account.id, rows).await;
    let moved = import(&world.app, world.account.id, vec![in_group("a", "Summer")]).await;
    assert_eq!(moved, [Imported::Conflict { differing: vec![Field::Group] }]);
    let refused = record(&[(Field::TargetUrl, "ftp://example.com"), (Field::Group, "Autumn")]);
    assert_eq!(words(&import(&world.app, world.account.id, vec![refused]).await), ["invalid_request"]);
    assert_eq!(world.usage().await.groups, 1);
}

#[tokio::test]
async fn a_row_names_its_group_by_id_or_by_name() {
    let world = World::new().await;
    let spring = world.group("Spring").await.id.to_string();
    let row = |slug: &str, id: FieldValue, name: FieldValue| {
        let mut row = record(&[(Field::Slug, slug), (Field::TargetUrl, TARGET)]);
        row.set(Field::GroupId, id);
        row.set(Field::Group, name);
        row
    };
    let text = |text: &str| FieldValue::Text(text.to_owned());
    let rows = vec![
        row("a", text(&spring), FieldValue::Null),
        row("b", FieldValue::Null, text("Spring")),
        row("c", text(&spring), text("Spring")),
        row("d", FieldValue::Null, text("")),
    ];
    let outcomes = import(&world.app, world.account.id, rows).await;
    assert_eq!(words(&outcomes), ["created", "created", "invalid_request", "invalid_request"]);
    let message = "`group` must be empty where `group_id` names the group.";
    assert_eq!(outcomes[2].message().as_deref(), Some(message));
    assert!(in_groups_of(&world).await.iter().all(|(_, group)| group.unwrap().to_string() == spring));
}

/// Contract D15.
#[tokio::test]
async fn d15_a_group_beyond_the_plan_fails_the_rows_that_name_it() {
    let rows = vec![in_group("a", "One"), in_group("b", "Two"), in_group("c", "One"), in_group("d", "Two")];
    let failing = |word| [word, "plan_limit_reached", word, "plan_limit_reached"];
    let world = limited(1, 10).await;
    let rehearsed = rehearse(&world.app, world.account.id, rows.clone()).await;
    assert_eq!(words(&rehearsed), failing("would_create"));
    let mut import = Import::start(&world.app, world.account.id, ImportMode::Write).await.unwrap();
    for (word, created) in [("created", 1), ("unchanged", 1)] {
        let numbered = (1..).zip(rows.clone()).map(|(line, record)| ImportRow { line, record: Ok(record) });
        let rows = numbered.collect();
        let outcomes = crate::transfer::outcomes(import.rows(&world.app, rows).await.unwrap());
        assert_eq!(words(&outcomes), failing(word));
        assert_eq!(import.groups_created(), created);
    }
    assert_eq!(world.usage().await.groups, 1);
}
