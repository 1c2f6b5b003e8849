//! Round trips: an import restores an export, and a second import changes nothing.

use proptest::prelude::*;
use signpost_app::ports::NeededTags;
use signpost_app::transfer::{Field, Imported, Record};
use signpost_app::{links, transfer::Export};
use signpost_domain::{
    AnyContent, Change, ClickLimit, Landing, Life, Link, MaxClicks, Note, PixelIds, Placement, Precondition,
    Redirect, RedirectRequest, Revision, Schedule,
};
use signpost_memory::InMemory;
use signpost_port_contracts::{one_of_each, samples};

use crate::transfer::{counted, exported, import, rehearse, stored, without, words};
use crate::world::{World, draft_without_slug};

/// Stores links and their tags without any use case.
async fn store_all(world: &World, links: &[Link]) {
    for links in links.chunks(100) {
        let mut work = world.app.store.begin().await.unwrap();
        let need = |link: &Link| link.tags.iter().map(|name| (samples::id(), name.clone())).collect();
        let needs: Vec<NeededTags> = links.iter().map(need).collect();
        work.provide_tags(world.account.id, &needs, u64::MAX, samples::at(0)).await.unwrap();
        work.insert_links(world.account.id, links, u64::MAX).await.unwrap();
        work.commit().await.unwrap();
    }
}

/// A world with a group and links with every kind of value in every field.
async fn varied() -> World {
    let world = World::new().await;
    let group = world.group("Spring").await.id;
    world.group("Spring").await;
    let now = samples::at(1_000);
    // An import takes no dates in the future, and no links on a domain that the account lacks. Exports omit pixels, and a new link
    // begins the count of its limit, here at the instant of the imports.
    let mut links = one_of_each::links();
    // No export has passwords, without which no import creates such links.
    links.retain(|link| {
        link.updated_at <= now && !link.has_password && !matches!(link.placement, Placement::Custom { .. })
    });
    for (link, number) in links.iter_mut().zip(0..) {
        link.group_id = (number % 2 == 0).then_some(group);
        if let AnyContent::Redirect(content) = &mut link.content {
            content.pixel_ids = PixelIds::default();
            let since = ClickLimit::name_of_count(samples::at(2_000), Revision::FIRST);
            let begun = |limit: ClickLimit| ClickLimit::new(limit.max(), limit.taken(), since);
            content.click_limit = content.click_limit.map(begun);
        }
    }
    world.memory.clock.set(now);
    store_all(&world, &links).await;
    world
}

/// An account of another installation, with a system domain of another name.
async fn elsewhere() -> World {
    let system = signpost_domain::SystemDomain::new("https://moved.example.org", vec![]).unwrap();
    let memory = InMemory::new(system);
    memory.clock.set(samples::at(2_000));
    World::on(memory, "agency").await
}

/// A second import changes nothing, and two groups of one name stay two.
#[tokio::test]
async fn an_account_moves_to_another_installation_with_ids_and_dates() {
    let (here, there) = (varied().await, elsewhere().await);
    let records = exported(&here.app, here.account.id).await;
    let outcomes = import(&there.app, there.account.id, records.clone()).await;
    assert!(outcomes.iter().all(|outcome| *outcome == Imported::Created), "{outcomes:?}");
    let before = stored(&here.app, here.account.id).await;
    assert_eq!(stored(&there.app, there.account.id).await, before);
    assert_eq!(exported(&there.app, there.account.id).await, records);
    there.memory.clock.set(samples::at(9_000));
    for again in [
        rehearse(&there.app, there.account.id, records.clone()).await,
        import(&there.app, there.account.id, records).await,
    ] {
        assert!(again.iter().all(|outcome| *outcome == Imported::Unchanged), "{again:?}");
    }
    assert_eq!(stored(&there.app, there.account.id).await, before);
}

#[tokio::test]
async fn an_import_restores_deleted_links() {
    let world = varied().await;
    let records = exported(&world.app, world.account.id).await;
    let before = stored(&world.app, world.account.id).await;
    let (_, links_before) = &before;
    let redirect = links_before[0].clone().into_redirect().unwrap();
    links::delete(&world.app, &world.caller().await, redirect.id.into(), &Precondition::None).await.unwrap();
    world.memory.clock.set(samples::at(2_000));
    let outcomes = import(&world.app, world.account.id, records).await;
    let counts = counted(&outcomes);
    assert_eq!((counts.created, counts.unchanged), (1, counts.rows() - 1));
    assert_eq!(stored(&world.app, world.account.id).await, before);
}

/// Links refer to groups, so groups come first.
#[tokio::test]
async fn an_export_walks_all_pages_groups_first() {
    let world = World::new().await;
    for number in 0..103 {
        world.group(&format!("group {number}")).await;
    }
    let links: Vec<Link> = (0..205).map(|number| samples::redirect(&format!("s{number}")).into()).collect();
    store_all(&world, &links).await;
    let export = Export::start(&world.app, world.account.id).await.unwrap();
    assert_eq!(export.expected(), 308);
    let records = exported(&world.app, world.account.id).await;
    assert_eq!(records.len(), 308);
    let is_group = |record: &Record| record.get(Field::TargetUrl).is_none();
    assert!(records[..103].iter().all(is_group) && !records[103..].iter().any(is_group));
}

/// The group is created, and the link moves into it, during the export.
#[tokio::test]
async fn an_export_names_only_groups_that_it_contains() {
    let world = World::new().await;
    let early = world.redirect("early").await;
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    let mut records = export.next(&world.app).await.unwrap().unwrap();
    let late = world.group("Late").await;
    let patch = RedirectRequest { group: Change::Set(late.id.into()), ..RedirectRequest::default() };
    world.update(early.id, patch).await.unwrap();
    while let Some(more) = export.next(&world.app).await.unwrap() {
        records.extend(more);
    }
    let there = elsewhere().await;
    assert_eq!(words(&import(&there.app, there.account.id, records).await), ["created", "created"]);
}

/// Tables of other services have targets and at most slugs.
#[tokio::test]
async fn a_second_import_of_a_bare_table_changes_nothing() {
    let world = World::new().await;
    world.redirect("own").await;
    let bare = |slug: Option<&str>, target: &str| {
        let mut fields = vec![(Field::TargetUrl, target)];
        fields.extend(slug.map(|slug| (Field::Slug, slug)));
        crate::transfer::record(&fields)
    };
    let records = vec![
        bare(Some("sale"), "https://example.com/sale"),
        bare(None, "https://example.com/a"),
        bare(None, "https://example.com/b"),
        // Equal rows are one link.
        bare(None, "https://example.com/a"),
        bare(Some("sale"), "https://example.com/sale"),
        bare(Some("own"), "https://example.com/sale"),
    ];
    let expected = ["created", "created", "created", "unchanged", "unchanged", "unchanged"];
    let rehearsed = rehearse(&world.app, world.account.id, records.clone()).await;
    assert_eq!(words(&rehearsed), expected.map(|word| if word == "created" { "would_create" } else { word }));
    assert_eq!(words(&import(&world.app, world.account.id, records.clone()).await), expected);
    let before = stored(&world.app, world.account.id).await;
    assert_eq!(words(&import(&world.app, world.account.id, records).await), ["unchanged"; 6]);
    assert_eq!(stored(&world.app, world.account.id).await, before);
    let names: Vec<_> = before.1.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names.iter().filter(|name| **name == "example.com/a").count(), 1, "{names:?}");
}

/// A second import finds the same slug again.
#[tokio::test]
async fn a_row_without_a_slug_skips_taken_slugs() {
    let world = World::new().await;
    let records = vec![crate::transfer::record(&[(Field::TargetUrl, "https://example.com/a")])];
    import(&world.app, world.account.id, records.clone()).await;
    let (_, links) = stored(&world.app, world.account.id).await;
    let first = links[0].clone().into_redirect().unwrap();
    let slug = first.placement.slug().unwrap().as_str().to_owned();
    // A new target makes the link differ from the row.
    let target_url = Some(samples::target("https://example.com/changed"));
    world
        .update(first.id, RedirectRequest::default().with(|content| content.target_url = target_url))
        .await
        .unwrap();
    assert_eq!(words(&import(&world.app, world.account.id, records.clone()).await), ["created"]);
    assert_eq!(words(&import(&world.app, world.account.id, records).await), ["unchanged"]);
    let (_, links) = stored(&world.app, world.account.id).await;
    let slugs: Vec<_> = links.iter().filter_map(|link| link.placement.slug()).collect();
    assert!(slugs.len() == 2 && slugs[0].as_str() != slug, "{slugs:?}");
}

#[derive(Debug, Clone)]
struct Sketch {
    is_landing: bool,
    slug: u8,
    is_lost: bool,
    note: Option<String>,
    in_group: bool,
    flags: [bool; 4],
    dates: (Option<i64>, Option<i64>),
    /// A limit of ten clicks, of which so many are taken.
    taken: Option<u64>,
}

prop_compose! {
    fn any_sketch()(
        is_landing in any::<bool>(),
        slug in 0..40_u8,
        is_lost in proptest::bool::weighted(0.2),
        note in proptest::option::of(".{0,20}".prop_filter("no U+0000", |note| Note::parse(note).is_ok())),
        in_group in any::<bool>(),
        flags in any::<[bool; 4]>(),
        dates in (proptest::option::of(0..9_i64), proptest::option::of(9..20_i64)),
        taken in proptest::option::of(0..11_u64),
    ) -> Sketch {
        Sketch { is_landing, slug, is_lost, note, in_group, flags, dates, taken }
    }
}

impl Sketch {
    fn link(&self, group: signpost_domain::GroupId) -> Link {
        let slug = format!("s{}", self.slug);
        let placement = if self.is_lost {
            samples::lost(Some(&slug))
        } else {
            Placement::System { slug: samples::slug(&slug) }
        };
        let note = self.note.as_deref().map(samples::note);
        let group_id = self.in_group.then_some(group);
        let [is_active, antibot_enabled, analytics_enabled, has_fallback] = self.flags;
        let (start, end) = self.dates;
        let schedule = Schedule::new(start.map(samples::at), end.map(samples::at)).unwrap();
        let fallback_url = has_fallback.then(|| samples::target("https://example.com/over"));
        let life = Life { schedule, fallback_url };
        if self.is_landing {
            let landing = samples::landing(&slug);
            Landing { placement, note, group_id, is_active, analytics_enabled, life, ..landing }.into()
        } else {
            let redirect = samples::redirect(&slug);
            let max = MaxClicks::new(10).unwrap();
            let click_limit = self.taken.map(|taken| ClickLimit::new(max, taken, Revision::FIRST));
            Redirect { placement, note, group_id, is_active, analytics_enabled, life, ..redirect }
                .with(|content| {
                    content.antibot_enabled = antibot_enabled;
                    content.click_limit = click_limit;
                })
                .into()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Without their ids too, except lost links, which only their ids identify.
    #[test]
    fn exports_survive_an_import(sketches in prop::collection::vec(any_sketch(), 0..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (here, there, third) = (World::new().await, elsewhere().await, elsewhere().await);
            let group = here.group("Spring").await.id;
            let links: Vec<_> = sketches.iter().map(|sketch| sketch.link(group)).collect();
            store_all(&here, &links).await;
            let records = exported(&here.app, here.account.id).await;
            import(&there.app, there.account.id, records.clone()).await;
            assert_eq!(exported(&there.app, there.account.id).await, records);
            let again = import(&there.app, there.account.id, records.clone()).await;
            assert!(again.iter().all(|outcome| *outcome == Imported::Unchanged), "{again:?}");

            let bare: Vec<_> = records
                .iter()
                .filter(|record| record.get(Field::IsLost).is_none())
                .map(|record| {
                    let is_group = record.get(Field::Slug).is_none();
                    without(record, if is_group { &[] } else { &[Field::Id] })
                })
                .collect();
            let outcomes = import(&third.app, third.account.id, bare.clone()).await;
            assert!(outcomes.iter().all(|outcome| *outcome == Imported::Created), "{outcomes:?}");
            let again = import(&third.app, third.account.id, bare.clone()).await;
            assert!(again.iter().all(|outcome| *outcome == Imported::Unchanged), "{again:?}");
            let nameless = |records: &[Record]| {
                let mut texts: Vec<_> =
                    records.iter().map(|record| format!("{:?}", without(record, &[Field::Id]))).collect();
                texts.sort_unstable();
                texts
            };
            assert_eq!(nameless(&exported(&third.app, third.account.id).await), nameless(&bare));
        });
    }
}

/// A row without dates is dated today.
#[tokio::test]
async fn a_record_with_only_a_target_gets_the_api_defaults() {
    let world = World::new().await;
    let by_api = world.create(draft_without_slug()).await.unwrap();
    let named = crate::transfer::record(&[
        (Field::Slug, "by-file"),
        (Field::Name, by_api.name.as_str()),
        (Field::TargetUrl, by_api.content.target_url.as_str()),
    ]);
    assert_eq!(words(&import(&world.app, world.account.id, vec![named]).await), ["created"]);
    let (_, links) = stored(&world.app, world.account.id).await;
    let by_file = links.into_iter().find(|link| link.id() != by_api.id.into()).unwrap();
    let by_file = by_file.into_redirect().unwrap();
    let expected = Redirect { id: by_file.id, placement: samples::on_system("by-file"), ..by_api };
    assert_eq!(by_file, expected);
}
