//! Tags in exports and imports (D122).

use signpost_app::transfer::{Field, FieldValue, Record};
use signpost_domain::{PageLimit, Plan, PlanLimits, RedirectRequest, TagName, Tags};
use signpost_port_contracts::samples;

use crate::transfer::{exported, import, record, rehearse, row, words};
use crate::world::{World, draft, plan};

const TARGET: &str = "https://example.com/";

fn with_tags(slug: &str, names: &[&str]) -> Record {
    let mut record = record(&[(Field::TargetUrl, TARGET), (Field::Slug, slug)]);
    record.set(Field::Tags, FieldValue::Names(names.iter().map(|name| (*name).to_owned()).collect()));
    record
}

async fn world(tags: u64) -> World {
    let Plan { limits, .. } = plan(&[]);
    let world = World::with_plan(Plan { limits: PlanLimits { tags, ..limits }, ..plan(&[]) }).await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

async fn counts(world: &World) -> Vec<(String, u64)> {
    let tags = world.app.store.tags(world.account.id, PageLimit::MAX, None).await.unwrap().items;
    let mut counts: Vec<_> = tags.into_iter().map(|tag| (tag.name.to_string(), tag.links_count)).collect();
    counts.sort();
    counts
}

#[tokio::test]
async fn d122_links_move_to_another_installation_with_their_tags() {
    let (here, there) = (world(9).await, world(9).await);
    for (slug, names) in [("a", &["Sale", "ü 🌷"][..]), ("b", &["Sale"]), ("c", &[])] {
        let tags = Tags::new(names.iter().map(|name| TagName::parse(name).unwrap())).unwrap();
        here.create(RedirectRequest { tags: Some(tags), ..draft(slug) }).await.unwrap();
    }
    let records = exported(&here.app, here.account.id).await;
    let imported = import(&there.app, there.account.id, records.clone()).await;
    assert_eq!(words(&imported), ["created"; 3]);
    assert_eq!(counts(&there).await, [("Sale".to_owned(), 2), ("ü 🌷".to_owned(), 1)]);
    assert_eq!(exported(&there.app, there.account.id).await, records);
    assert_eq!(words(&import(&there.app, there.account.id, records).await), ["unchanged"; 3]);
}

/// A link with other tags is a conflict; another spelling, or no field, is none.
#[tokio::test]
async fn d122_tags_are_compared_without_regard_to_case() {
    let world = world(9).await;
    import(&world.app, world.account.id, vec![with_tags("a", &["Sale", "x"])]).await;
    let rows =
        vec![with_tags("a", &["X", "SALE"]), row("a", TARGET), with_tags("a", &["x"]), with_tags("a", &[])];
    let expected = ["unchanged", "unchanged", "conflict", "conflict"];
    assert_eq!(words(&rehearse(&world.app, world.account.id, rows.clone()).await), expected);
    let imported = import(&world.app, world.account.id, rows).await;
    assert_eq!(words(&imported), expected);
    assert!(imported[2].message().unwrap().contains("`tags`"));
}

/// A row that does not fit leaves the room to the next one, also in a rehearsal.
#[tokio::test]
async fn d122_d15_an_import_keeps_to_the_limit_of_tags() {
    let world = world(3).await;
    import(&world.app, world.account.id, vec![with_tags("held", &["old"])]).await;
    let rows = vec![
        with_tags("a", &["1", "2", "3"]),
        with_tags("b", &["1", "OLD"]),
        with_tags("c", &["2"]),
        with_tags("d", &["3"]),
        row("e", TARGET),
    ];
    let expected = ["plan_limit_reached", "created", "created", "plan_limit_reached", "created"];
    let rehearsed = words(&rehearse(&world.app, world.account.id, rows.clone()).await);
    assert_eq!(rehearsed, expected.map(|word| word.replace("created", "would_create")));
    assert_eq!(words(&import(&world.app, world.account.id, rows).await), expected);
    let expected = [("1".to_owned(), 1), ("2".to_owned(), 1), ("old".to_owned(), 2)];
    assert_eq!(counts(&world).await, expected);
}

#[tokio::test]
async fn d122_d8_every_invalid_tag_of_a_record_is_named() {
    let world = world(9).await;
    let mut wrong = vec![with_tags("a", &["good", " ", "a,b"])];
    let many: Vec<String> = (0..21).map(|number| number.to_string()).collect();
    wrong.push(with_tags("b", &many.iter().map(String::as_str).collect::<Vec<_>>()));
    let mut text = record(&[(Field::TargetUrl, TARGET), (Field::Slug, "c")]);
    text.set(Field::Tags, FieldValue::Text("a".to_owned()));
    wrong.push(text);
    let outcomes = import(&world.app, world.account.id, wrong).await;
    assert_eq!(words(&outcomes), ["invalid_request"; 3]);
    let message = outcomes[0].message().unwrap();
    assert!(
        message.contains("tags[1]") && message.contains("tags[2]") && !message.contains("tags[0]"),
        "{message}"
    );
    assert!(counts(&world).await.is_empty());
}
