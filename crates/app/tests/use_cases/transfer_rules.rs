//! The rules for records, and conflicts with existing data.

use std::time::Duration;

use proptest::prelude::*;
use signpost_app::transfer::{Field, FieldValue, ImportMode, Imported, NOT_IMPORTED, ObjectId, Record};
use signpost_app::{Operator, accounts};
use signpost_domain::{Change, ExternalId, Feature, HostBlocklist, Link, Plan, PlanLimits, RedirectRequest};
use signpost_port_contracts::samples;

use crate::transfer::{import, import_in, record, rehearse, row, stored, words};
use crate::world::{World, create_as, draft, plan, with_alias};

const TARGET: &str = "https://example.com/";

/// Some 1,000 seconds after the instant of the samples, so that these lie in the past.
async fn world() -> World {
    let world = World::new().await;
    world.memory.clock.set(samples::at(1_000_000));
    world
}

/// The outcome of one record. A rehearsal must predict it.
async fn one(world: &World, record: Record) -> Imported {
    let rehearsed = rehearse(&world.app, world.account.id, vec![record.clone()]).await;
    let outcome = import(&world.app, world.account.id, vec![record]).await.pop().unwrap();
    let expected = if outcome == Imported::Created { &Imported::WouldCreate } else { &outcome };
    assert_eq!(rehearsed, std::slice::from_ref(expected));
    outcome
}

async fn refused(world: &World, record: Record) -> (&'static str, String) {
    match one(world, record).await {
        Imported::Failed { code, message } => (code.as_str(), message),
        other => panic!("not refused: {other:?}"),
    }
}

#[tokio::test]
async fn kinds_of_objects_that_imports_do_not_read_are_ignored_and_others_fail() {
    let world = world().await;
    for kind in NOT_IMPORTED {
        let mut other = record(&[(Field::Object, kind), (Field::Id, "mem_1"), (Field::Name, " ")]);
        other.set_unknown("scopes");
        assert_eq!(one(&world, other).await, Imported::Ignored, "{kind}");
    }
    let (code, message) = refused(&world, record(&[(Field::Object, "members")])).await;
    assert!(code == "invalid_request" && message.starts_with("`object` must be"), "{message}");
}

#[tokio::test]
async fn d8_every_violation_of_a_record_is_named() {
    let world = world().await;
    world.memory.target_blocklist.replace(HostBlocklist::parse("blocked.example").unwrap());
    let mut wrong = record(&[
        (Field::Id, "lnd_00000000000000000000000000000001"),
        (Field::Slug, "a b"),
        (Field::Name, " "),
        (Field::TargetUrl, "https://blocked.example/"),
        (Field::Title, "no redirect has one"),
        (Field::IsActive, "yes"),
        (Field::CreatedAt, "yesterday"),
    ]);
    wrong.set(Field::GeoBlocklists, FieldValue::Countries(vec!["DE".to_owned(), "XX".to_owned()]));
    wrong.set(Field::AntibotEnabled, FieldValue::Unfit);
    wrong.set_unknown("colour");
    let (code, message) = refused(&world, wrong).await;
    assert_eq!(code, "invalid_request");
    for field in [
        "id",
        "slug",
        "name",
        "target_url",
        "title",
        "is_active",
        "created_at",
        "antibot_enabled",
        "colour",
        "geo_blocklists.countries[1]",
    ] {
        assert_eq!(message.matches(&format!("`{field}` ")).count(), 1, "{field}: {message}");
    }
}

fn dated(starts_at: &str, expires_at: &str) -> Record {
    record(&[(Field::TargetUrl, TARGET), (Field::StartsAt, starts_at), (Field::ExpiresAt, expires_at)])
}

fn with_fallback(object: &str, url: &str) -> Record {
    let own = if object == "redirect" { (Field::TargetUrl, TARGET) } else { (Field::Title, "x") };
    record(&[(Field::Object, object), (Field::Slug, "x"), own, (Field::FallbackUrl, url)])
}

/// Contract D20–D24 and D128: with the codes of the API.
#[tokio::test]
async fn a_record_is_judged_as_a_creation_is() {
    let world = world().await;
    world.memory.target_blocklist.replace(HostBlocklist::parse("blocked.example").unwrap());
    let stranger = world.stranger().await;
    create_as(&world.app, &stranger, draft("theirs")).await.unwrap();
    let nobodys = samples::group("Nobody's").id.to_string();
    let mut at_root = record(&[(Field::TargetUrl, TARGET)]);
    at_root.set(Field::Slug, FieldValue::Null);
    for (record, code) in [
        (row("Admin", TARGET), "slug_already_taken"),
        (row("theirs", TARGET), "slug_already_taken"),
        (row("loop", "https://go.example.com/loop"), "invalid_request"),
        (row("blocked", "https://www.blocked.example/"), "invalid_request"),
        (record(&[(Field::Slug, "x")]), "invalid_request"),
        (record(&[(Field::Object, "landing"), (Field::Slug, "x")]), "invalid_request"),
        (record(&[(Field::Object, "website"), (Field::TargetUrl, TARGET)]), "invalid_request"),
        (record(&[(Field::Object, "group"), (Field::Name, "x")]), "invalid_request"),
        (record(&[(Field::TargetUrl, TARGET), (Field::Domain, "other.example")]), "domain_not_found"),
        (record(&[(Field::TargetUrl, TARGET), (Field::Domain, "no host!")]), "domain_not_found"),
        (record(&[(Field::TargetUrl, TARGET), (Field::GroupId, &nobodys)]), "group_not_found"),
        (record(&[(Field::TargetUrl, TARGET), (Field::GroupId, "grp_x")]), "group_not_found"),
        (at_root, "slug_required_for_system_domain"),
        (dated("2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z"), "invalid_request"),
        (dated("yesterday", "2026-01-01T00:00:00Z"), "invalid_request"),
        (with_fallback("redirect", "https://go.example.com/x"), "invalid_request"),
        (with_fallback("landing", "https://www.blocked.example/"), "invalid_request"),
    ] {
        assert_eq!(refused(&world, record.clone()).await.0, code, "{record:?}");
    }
    assert_eq!(world.usage().await.links, 0);
}

/// By its hostname, an alias or null.
#[tokio::test]
async fn d22_the_system_domain_may_be_named() {
    let world = World::on(with_alias("old.example.com"), "agency").await;
    for (slug, domain) in [("a", Some("go.example.com")), ("b", Some("OLD.example.com.")), ("c", None)] {
        let mut record = row(slug, TARGET);
        record.set(
            Field::Domain,
            domain.map_or(FieldValue::Null, |domain| FieldValue::Text(domain.to_owned())),
        );
        assert_eq!(one(&world, record).await, Imported::Created);
    }
    let (_, links) = stored(&world.app, world.account.id).await;
    assert!(links.iter().all(|link| matches!(link.placement, signpost_domain::Placement::System { .. })));
}

/// An existing link keeps a feature that the plan lacks.
#[tokio::test]
async fn d15_features_are_those_of_the_plan() {
    let world = World::with_plan(plan(&[Feature::Antibot])).await;
    let mut guarded = row("guarded", TARGET);
    guarded.set(Field::AntibotEnabled, FieldValue::Flag(true));
    let mut blocking = row("blocking", TARGET);
    blocking.set(Field::GeoBlocklists, FieldValue::Countries(vec!["de".to_owned()]));
    assert_eq!(refused(&world, blocking).await.0, "feature_not_available_on_current_plan");
    assert_eq!(one(&world, guarded.clone()).await, Imported::Created);
    accounts::set_plan(&world.app, &Operator::COMMAND, world.account.id, &samples::plan("free"))
        .await
        .unwrap();
    assert_eq!(one(&world, guarded).await, Imported::Unchanged);
}

/// Rows before the limit are created, and existing links stay unchanged.
#[tokio::test]
async fn d15_the_limit_of_the_plan_in_the_middle_of_a_file() {
    let limits = PlanLimits { links: 130, groups: 1, ..plan(&[]).limits };
    let world = World::with_plan(Plan { limits, ..plan(&[]) }).await;
    let group = |id: &str| record(&[(Field::Object, "group"), (Field::Id, id), (Field::Name, "Spring")]);
    let mut records =
        vec![group("grp_00000000000000000000000000000001"), group("grp_00000000000000000000000000000002")];
    records.extend((0..150).map(|number| row(&format!("s{number}"), TARGET)));
    let rehearsed = rehearse(&world.app, world.account.id, records.clone()).await;
    let outcomes = import(&world.app, world.account.id, records.clone()).await;
    let mut expected = vec!["created", "plan_limit_reached"];
    expected.extend(["created"; 130]);
    expected.extend(["plan_limit_reached"; 20]);
    assert_eq!(words(&outcomes), expected);
    let as_rehearsed =
        |word: &str| if word == "created" { "would_create".to_owned() } else { word.to_owned() };
    assert_eq!(words(&rehearsed), expected.iter().map(|word| as_rehearsed(word)).collect::<Vec<_>>());
    assert_eq!(world.usage().await.links, 130);
    let again = import(&world.app, world.account.id, records).await;
    let as_again: Vec<_> =
        expected.iter().map(|word| if *word == "created" { "unchanged" } else { *word }).collect();
    assert_eq!(words(&again), as_again);
}

/// An import never changes an existing link.
#[tokio::test]
async fn existing_links_with_other_content_are_conflicts() {
    let world = world().await;
    let kept = world.redirect_to("kept", TARGET).await;
    let group = world.group("Spring").await;
    let before = stored(&world.app, world.account.id).await;
    let id = kept.id.to_string();
    let by_id =
        record(&[(Field::Id, &id), (Field::TargetUrl, "https://example.org/"), (Field::Slug, "other")]);
    let by_address = row("kept", "https://example.org/");
    let landing = record(&[(Field::Object, "landing"), (Field::Title, "Menu"), (Field::Slug, "kept")]);
    let group_id = group.id.to_string();
    let renamed = record(&[(Field::Object, "group"), (Field::Id, &group_id), (Field::Name, "Summer")]);
    for (record, differing) in [
        (by_id, vec![Field::Slug, Field::TargetUrl]),
        (by_address, vec![Field::TargetUrl]),
        (landing, vec![Field::Object]),
        (renamed, vec![Field::Name]),
    ] {
        assert_eq!(one(&world, record).await, Imported::Conflict { differing });
    }
    assert_eq!(stored(&world.app, world.account.id).await, before);
}

#[tokio::test]
async fn absent_fields_of_a_record_are_not_compared() {
    let world = world().await;
    let kept = world.redirect_to("kept", TARGET).await;
    let patch = RedirectRequest { note: Change::Set(samples::note("mine")), ..RedirectRequest::default() };
    world.update(kept.id, patch).await.unwrap();
    assert_eq!(one(&world, row("kept", TARGET)).await, Imported::Unchanged);
    let id = kept.id.to_string();
    assert_eq!(
        one(&world, record(&[(Field::Id, &id), (Field::TargetUrl, TARGET)])).await,
        Imported::Unchanged
    );
    let mut without_note = row("kept", TARGET);
    without_note.set(Field::Note, FieldValue::Null);
    assert_eq!(one(&world, without_note).await, Imported::Conflict { differing: vec![Field::Note] });
}

/// Lists are ordered by id, so the generated id carries the date.
#[tokio::test]
async fn d1_a_dated_link_without_an_id_is_listed_by_date() {
    let world = world().await;
    let dated = |slug: &str, date: &str| {
        record(&[(Field::Slug, slug), (Field::TargetUrl, TARGET), (Field::CreatedAt, date)])
    };
    let records = vec![
        row("today", TARGET),
        dated("old", "2019-05-04T03:02:01Z"),
        dated("older", "2018-05-04T03:02:01+02:00"),
        dated("same-day", "2019-05-04T03:02:01Z"),
    ];
    assert_eq!(words(&import(&world.app, world.account.id, records).await), ["created"; 4]);
    let (_, links) = stored(&world.app, world.account.id).await;
    let slugs: Vec<_> = links.iter().map(|link| link.placement.slug().unwrap().as_str()).collect();
    assert_eq!((slugs[0], slugs[3]), ("today", "older"));
    let Link { created_at, updated_at, .. } = &links[3];
    assert_eq!(created_at.to_string(), "2018-05-04T01:02:01.000Z");
    assert_eq!(created_at, updated_at, "the row has no later date");
}

#[tokio::test]
async fn dates_lie_in_the_past_and_in_order() {
    let world = world().await;
    let tomorrow = world.app.clock.now().plus(Duration::from_hours(24)).to_string();
    for (created, updated, fields) in [
        (tomorrow.as_str(), None, vec!["created_at"]),
        ("2020-01-01T00:00:00Z", Some(tomorrow.as_str()), vec!["updated_at"]),
        ("2020-01-01T00:00:00Z", Some("2019-12-31T23:59:59Z"), vec!["updated_at"]),
        ("1969-01-01T00:00:00Z", Some(""), vec!["created_at", "updated_at"]),
    ] {
        let mut fields_of = vec![(Field::TargetUrl, TARGET), (Field::CreatedAt, created)];
        fields_of.extend(updated.map(|updated| (Field::UpdatedAt, updated)));
        let (code, message) = refused(&world, record(&fields_of)).await;
        assert_eq!(code, "invalid_request");
        for field in fields {
            assert!(message.contains(&format!("`{field}` ")), "{field}: {message}");
        }
    }
}

/// It has no address that could identify it.
#[tokio::test]
async fn d22_a_lost_link_needs_an_id_and_no_domain() {
    let world = world().await;
    let mut lost = row("gone", TARGET);
    lost.set(Field::IsLost, FieldValue::Flag(true));
    let (_, message) = refused(&world, lost.clone()).await;
    assert!(message.contains("`id` is required"), "{message}");
    lost.set(Field::Id, FieldValue::Text(samples::redirect("x").id.to_string()));
    let mut placed = lost.clone();
    placed.set(Field::Domain, FieldValue::Text("go.example.com".to_owned()));
    let (_, message) = refused(&world, placed).await;
    assert!(message.contains("`domain` must be absent"), "{message}");
    assert_eq!(one(&world, lost.clone()).await, Imported::Created);
    assert_eq!(one(&world, lost).await, Imported::Unchanged);
}

#[tokio::test]
async fn a_result_names_the_line_the_id_and_the_address() {
    let world = world().await;
    let records = vec![row("a", TARGET), record(&[(Field::Slug, "b c")])];
    let results = import_in(ImportMode::Write, &world.app, world.account.id, records).await.unwrap();
    let (_, links) = stored(&world.app, world.account.id).await;
    assert_eq!(results.iter().map(|result| result.line).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(results[0].id, Some(ObjectId::Link(links[0].id())));
    assert_eq!(results[0].url.as_deref(), Some("https://go.example.com/a"));
    assert_eq!((results[1].id, results[1].url.as_deref()), (None, None));
}

prop_compose! {
    /// Records that conflict with each other.
    fn any_record()(
        id in proptest::option::weighted(0.4, 1..4_u8),
        slug in proptest::option::weighted(0.8, prop_oneof!["a", "b", "c", "admin", "a b"]),
        target in prop_oneof![Just(TARGET), Just("https://example.org/"), Just("https://go.example.com/a")],
        group in proptest::option::weighted(0.3, 1..3_u8),
        is_group in proptest::bool::weighted(0.2),
    ) -> Record {
        if is_group {
            let id = format!("grp_{:032x}", group.unwrap_or(1));
            return record(&[(Field::Object, "group"), (Field::Id, &id), (Field::Name, target)]);
        }
        let mut fields = record(&[(Field::TargetUrl, target)]);
        let text = |text: String| FieldValue::Text(text);
        if let Some(id) = id {
            fields.set(Field::Id, text(format!("rdr_{id:032x}")));
        }
        if let Some(slug) = slug {
            fields.set(Field::Slug, text(slug));
        }
        fields.set(Field::GroupId, group.map_or(FieldValue::Null, |group| text(format!("grp_{group:032x}"))));
        fields
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// A rehearsal predicts for each row whether the import creates it, finds it or fails.
    #[test]
    fn a_rehearsal_changes_nothing_and_is_right(records in prop::collection::vec(any_record(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let limits = PlanLimits { links: 4, groups: 1, ..plan(&[]).limits };
            let world = World::with_plan(Plan { limits, ..plan(&[]) }).await;
            world.redirect_to("b", TARGET).await;
            let before = stored(&world.app, world.account.id).await;
            let rehearsed = rehearse(&world.app, world.account.id, records.clone()).await;
            assert_eq!(stored(&world.app, world.account.id).await, before);
            let outcomes = import(&world.app, world.account.id, records.clone()).await;
            // A rehearsal cannot compare two rows with different fields of one link.
            let told = |outcomes: &[Imported]| -> Vec<_> {
                let word = |word| match word {
                    "would_create" => "created",
                    "unchanged" | "conflict" => "there",
                    word => word,
                };
                words(outcomes).into_iter().map(word).collect()
            };
            assert_eq!(told(&outcomes), told(&rehearsed), "{records:#?}");
            // A row refused for a missing group may succeed after a later row created the group.
            let again = import(&world.app, world.account.id, records).await;
            for (first, second) in words(&outcomes).into_iter().zip(words(&again)) {
                assert!(first != "created" || second == "unchanged", "{first}, {second}");
            }
        });
    }
}

/// Contract D121: the first of several rows gets the external id, also in a rehearsal, and after a row that failed.
#[tokio::test]
async fn d121_one_link_of_a_file_and_of_the_account_has_an_external_id() {
    let world = world().await;
    let taken =
        RedirectRequest { external_id: Change::Set(ExternalId::parse("taken").unwrap()), ..draft("held") };
    world.create(taken).await.unwrap();
    let with_id = |slug: &str, id: &str| {
        record(&[(Field::TargetUrl, TARGET), (Field::Slug, slug), (Field::ExternalId, id)])
    };
    let records = vec![
        with_id("z", "one"),
        with_id("a", "one"),
        with_id("b", "taken"),
        with_id("Admin", "two"),
        with_id("c", "two"),
        with_id("z", "one"),
        with_id("d", ""),
        row("e", TARGET),
    ];
    let expected = [
        "created",
        "invalid_request",
        "invalid_request",
        "slug_already_taken",
        "created",
        "unchanged",
        "invalid_request",
        "created",
    ];
    let rehearsed = words(&rehearse(&world.app, world.account.id, records.clone()).await);
    let imported = words(&import(&world.app, world.account.id, records.clone()).await);
    assert_eq!(imported, expected);
    assert_eq!(rehearsed, expected.map(|word| word.replace("created", "would_create")));
    let again = words(&import(&world.app, world.account.id, records.clone()).await);
    assert_eq!(again, expected.map(|word| word.replace("created", "unchanged")));
    let other = import(&world.app, world.account.id, vec![with_id("z", "three")]).await;
    assert_eq!(words(&other), ["conflict"]);
}
