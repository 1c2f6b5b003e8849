//! What an export says that it does not carry (docs/import-export.md).

use signpost_app::idempotency::Idempotency;
use signpost_app::transfer::{Export, LeftOut};
use signpost_app::{pixels, pixels::NewPixel};
use signpost_domain::analytics::{RecordedClick, RecordedKind, UtcDay, Values, VisitorHash};
use signpost_domain::{Landing, Link, PageContent, PixelId, RedirectId, Usage};
use signpost_port_contracts::samples;

use crate::world::World;

async fn left_out(world: &World) -> LeftOut {
    let mut export = Export::start(&world.app, world.account.id).await.unwrap();
    while export.next(&world.app).await.unwrap().is_some() {}
    export.left_out()
}

async fn pixel(world: &World) -> PixelId {
    let sample = samples::pixel("shop");
    let pixel = NewPixel { name: sample.name, code: sample.code };
    pixels::create(&world.app, &world.caller().await, pixel, Idempotency::disabled()).await.unwrap().id
}

async fn store(world: &World, links: &[Link], contents: &[(&Landing, PageContent)]) {
    let mut work = world.app.store.begin().await.unwrap();
    work.insert_links(world.account.id, links, u64::MAX).await.unwrap();
    for (landing, content) in contents {
        work.write_page_content(world.account.id, landing.id, content).await.unwrap();
    }
    work.commit().await.unwrap();
}

#[tokio::test]
async fn an_export_that_carries_everything_leaves_nothing_out() {
    let world = World::new().await;
    assert!(left_out(&world).await.is_nothing());
    let landing = samples::landing("page");
    world.group("Spring").await;
    let links = [samples::redirect("plain").into(), landing.clone().into()];
    store(&world, &links, &[(&landing, PageContent::default())]).await;
    assert_eq!(left_out(&world).await, LeftOut::default());
}

#[tokio::test]
async fn an_export_counts_what_it_leaves_out_over_all_its_pages() {
    let world = World::new().await;
    let (kept, gone) = (pixel(&world).await, pixel(&world).await);
    let with = |slug: String, ids: Vec<PixelId>| {
        samples::redirect(&slug).with(|content| content.pixel_ids = samples::pixel_ids(ids))
    };
    for batch in 0..3 {
        let slug = |kind: &str, number: usize| format!("{kind}{batch}-{number}");
        let redirects = (0..50).map(|number| with(slug("r", number), vec![kept, gone]));
        let landings: Vec<_> = (0..20).map(|number| samples::landing(&slug("l", number))).collect();
        let mut links: Vec<Link> = redirects.map(Link::from).collect();
        links.extend(landings.iter().cloned().map(Link::from));
        links.push(with(slug("g", 0), vec![gone]).into());
        links[0].has_password = true;
        let contents: Vec<_> = landings.iter().map(|landing| (landing, samples::page_content())).collect();
        store(&world, &links, &contents[..15]).await;
    }
    // A redirect keeps the ids of pixels that were deleted; they mean nothing.
    pixels::delete(&world.app, &world.caller().await, gone.into()).await.unwrap();
    let expected = LeftOut {
        page_contents: 45,
        redirects_with_pixels: 150,
        passwords: 3,
        resources: Usage { pixels: 1, ..Usage::default() },
        clicks: 0,
        unreadable: 0,
    };
    assert_eq!(left_out(&world).await, expected);
}

/// A move of an account loses its analytics, so the operator must learn that before the old installation is gone.
#[tokio::test]
async fn an_export_counts_the_clicks_of_the_account_that_it_leaves_out() {
    let world = World::new().await;
    let (stranger, _) = world.another_account("agency").await;
    let today = UtcDay::of(world.app.clock.now());
    for (account, days_ago, kind) in [
        (world.account.id, 0, RecordedKind::Click),
        (world.account.id, 1_000, RecordedKind::Click),
        (world.account.id, 3, RecordedKind::Bot),
        (stranger.id, 0, RecordedKind::Click),
    ] {
        world.memory.click_store.record([RecordedClick {
            at: today.minus(days_ago).first(),
            account,
            link: RedirectId::from_bytes([1; 16]).into(),
            kind,
            visitor: VisitorHash([0; 6]),
            values: Values::default(),
        }]);
    }
    assert_eq!(left_out(&world).await, LeftOut { clicks: 3, ..LeftOut::default() });
}
