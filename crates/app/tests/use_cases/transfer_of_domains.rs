//! Importing links on custom domains (D22, D23).

use signpost_app::transfer::{Field, FieldValue, ImportMode, Record};
use signpost_domain::{CustomDomain, CustomDomainStatus, Redirect};
use signpost_port_contracts::samples;

use crate::given_domains::{ACTIVE, UNCHECKED, becomes, draft_on, given_domain, not_active, removed};
use crate::transfer::{exported, import, import_in, record, rehearse, stored, without, words};
use crate::world::World;

const HOST: &str = "links.example.net";
const TARGET: &str = "https://example.com/";

/// Some 1,000 seconds after the instant of the samples, so that these lie in the past.
async fn world() -> World {
    let world = World::new().await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

/// The outcomes of records in words. A rehearsal must predict them.
async fn imported(world: &World, records: Vec<Record>) -> Vec<&'static str> {
    let rehearsed = rehearse(&world.app, world.account.id, records.clone()).await;
    let outcomes = words(&import(&world.app, world.account.id, records).await);
    let rehearsed: Vec<_> = words(&rehearsed)
        .into_iter()
        .map(|word| if word == "would_create" { "created" } else { word })
        .collect();
    assert_eq!(rehearsed, outcomes);
    outcomes
}

fn on(host: &str, slug: &str, target: &str) -> Record {
    record(&[(Field::Domain, host), (Field::Slug, slug), (Field::TargetUrl, target)])
}

fn at_root(host: &str) -> Record {
    let mut at_root = record(&[(Field::Domain, host), (Field::TargetUrl, TARGET)]);
    at_root.set(Field::Slug, FieldValue::Null);
    at_root
}

#[tokio::test]
async fn d23_records_need_an_active_domain() {
    let world = world().await;
    let (other, _) = world.another_account("agency").await;
    world.active_domain(HOST).await;
    given_domain(&world.app, other.id, "theirs.example.net", ACTIVE).await;
    given_domain(&world.app, world.account.id, "pending.example.net", not_active(&world.app)[0]).await;
    let unslugged = record(&[(Field::Domain, HOST), (Field::TargetUrl, TARGET)]);
    let records = vec![
        on(" Links.Example.NET. ", "a", TARGET),
        at_root(HOST),
        unslugged,
        on(HOST, "loop", "https://links.example.net/loop"),
        on("theirs.example.net", "a", TARGET),
        on("nobodys.example.net", "a", TARGET),
        on("no host", "a", TARGET),
        on("pending.example.net", "a", TARGET),
    ];
    let expected = [
        "created",
        "created",
        "created",
        "invalid_request",
        "domain_not_found",
        "domain_not_found",
        "domain_not_found",
        "domain_not_active",
    ];
    assert_eq!(imported(&world, records.clone()).await, expected);
    let (_, links) = stored(&world.app, world.account.id).await;
    let on_host = |slug| links.iter().any(|link| link.placement == samples::on_custom(HOST, slug));
    assert!(on_host(Some("a")) && on_host(None), "{links:?}");
    // A second import finds them.
    let again = imported(&world, records).await;
    assert_eq!(again[..3], ["unchanged", "unchanged", "unchanged"]);
    assert_eq!(again[3..], expected[3..]);
}

#[tokio::test]
async fn existing_links_are_compared_in_any_state_of_their_domain() {
    let world = world().await;
    let domain = world.active_domain(HOST).await;
    for slug in [Some("a"), None] {
        let target_url = samples::target(TARGET);
        world
            .create(draft_on(HOST, slug).with(|content| content.target_url = Some(target_url)))
            .await
            .unwrap();
    }
    let generated = record(&[(Field::Domain, HOST), (Field::TargetUrl, TARGET)]);
    assert_eq!(imported(&world, vec![generated.clone()]).await, ["created"]);
    let whole = exported(&world.app, world.account.id).await;
    let before = stored(&world.app, world.account.id).await;
    let statuses = [ACTIVE].into_iter().chain(not_active(&world.app));
    for status in statuses {
        becomes(&world.app, &domain, status).await;
        assert_eq!(imported(&world, whole.clone()).await, ["unchanged"; 3], "{status:?}");
        let without_ids: Vec<_> = whole.iter().map(|record| without(record, &[Field::Id])).collect();
        assert_eq!(imported(&world, without_ids).await, ["unchanged"; 3], "{status:?}");
        let rows = vec![
            generated.clone(),
            on(HOST, "a", TARGET),
            on(HOST, "a", "https://example.org/"),
            on(HOST, "new", "https://links.example.net/new"),
        ];
        let mut outcomes = imported(&world, rows).await;
        // A loop shows only on an active domain.
        let last = if status == ACTIVE { "invalid_request" } else { "domain_not_active" };
        assert_eq!(outcomes.pop(), Some(last), "{status:?}");
        assert_eq!(outcomes, ["unchanged", "unchanged", "conflict"], "{status:?}");
    }
    becomes(&world.app, &domain, ACTIVE).await;
    assert_eq!(stored(&world.app, world.account.id).await, before);
}

/// Its placement differs from the file's.
#[tokio::test]
async fn d22_a_link_lost_since_the_export_is_a_conflict() {
    let world = world().await;
    let domain = world.active_domain(HOST).await;
    world.create(draft_on(HOST, Some("a"))).await.unwrap();
    let whole = exported(&world.app, world.account.id).await;
    removed(&world.app, &domain).await;
    assert_eq!(imported(&world, whole.clone()).await, ["conflict"]);
    let lost = exported(&world.app, world.account.id).await;
    assert_eq!(imported(&world, lost).await, ["unchanged"]);
    // Without its id it is a new link, and its domain does not exist any more.
    let without_id = without(&whole[0], &[Field::Id]);
    assert_eq!(imported(&world, vec![without_id]).await, ["domain_not_found"]);
}

/// The domain fails between the rehearsal and the import.
#[tokio::test]
async fn a_row_on_a_failed_domain_stops_no_other() {
    let world = world().await;
    let domain = world.active_domain(HOST).await;
    let records = vec![on(HOST, "a", TARGET), on("go.example.com", "b", TARGET)];
    let rehearsed = import_in(ImportMode::Rehearse, &world.app, world.account.id, records.clone()).await;
    assert!(rehearsed.unwrap().iter().all(|row| row.outcome.code().is_none()));
    becomes(&world.app, &domain, CustomDomainStatus::Failed).await;
    assert_eq!(imported(&world, records).await, ["domain_not_active", "created"]);
    let kept: Vec<Redirect> =
        stored(&world.app, world.account.id).await.1.into_iter().map(crate::world::into_redirect).collect();
    assert_eq!(kept.len(), 1);
    assert_eq!(kept[0].placement, samples::on_system("b"));
}

/// The domain fails or is removed during the import.
#[tokio::test]
async fn a_row_on_a_concurrently_removed_domain_stops_no_other() {
    for (is_removed, expected) in [(false, "domain_not_active"), (true, "domain_not_found")] {
        let world = world().await;
        let domain = world.active_domain(HOST).await;
        let records = vec![on(HOST, "a", TARGET), on("go.example.com", "b", TARGET), on(HOST, "c", TARGET)];
        // Begun in another task, because a task may not read beside its own unit of work.
        let store = world.app.store.clone();
        let mut meanwhile = tokio::spawn(async move { store.begin().await.unwrap() }).await.unwrap();
        let account = world.account.id;
        let change = async {
            meanwhile.lock_custom_domain(account, domain.id).await.unwrap().unwrap();
            if is_removed {
                assert!(meanwhile.delete_custom_domain(account, domain.id).await.unwrap());
            } else {
                let failed = CustomDomain { status: CustomDomainStatus::Failed, ..domain };
                meanwhile.update_custom_domain(&failed, UNCHECKED).await.unwrap();
            }
            meanwhile.commit().await.unwrap();
        };
        // The import runs first, until it needs the unit of work of this test.
        let (outcomes, ()) = tokio::join!(biased; import(&world.app, account, records), change);
        assert_eq!(words(&outcomes), [expected, "created", expected]);
        assert_eq!(world.usage().await.links, 1);
    }
}
