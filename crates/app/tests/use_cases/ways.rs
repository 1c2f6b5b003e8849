//! How visitors of chains are sent on (D24, D132).

use signpost_app::visits::{Missing, Resolution, Sending};
use signpost_domain::{
    PageContent, Redirect, RedirectStatus, Utm, UtmPart, UtmValue, Way, WidgetContent, WidgetId,
};
use signpost_port_contracts::samples;

use crate::world::{World, page_draft};

const END: &str = "https://target.example/end";

fn to(slug: &str, target: &str, way: Way) -> Redirect {
    samples::redirect(slug).with(|content| {
        content.target_url = samples::target(target);
        content.way = way;
    })
}

fn way(redirect_status: RedirectStatus, forward_query: bool) -> Way {
    Way { redirect_status, forward_query, utm: Utm::default() }
}

async fn resolved(world: &World, slug: &str) -> (Resolution, Sending) {
    let resolved = world.resolved("go.example.com", Some(slug)).await;
    (resolved.resolution, resolved.sending)
}

#[tokio::test]
async fn d132_a_single_redirect_is_sent_on_in_its_own_way() {
    let world = World::new().await;
    for status in RedirectStatus::ALL {
        for forwards_query in [false, true] {
            let slug = format!("{}-{forwards_query}", status.code());
            world.store_as_it_is(to(&slug, END, way(status, forwards_query))).await;
            let expected = (Resolution::Redirect(samples::target(END)), Sending { status, forwards_query });
            assert_eq!(resolved(&world, &slug).await, expected);
        }
    }
    let utm = Utm::new(|part| UtmValue::parse("mail").ok().filter(|_| part == UtmPart::Medium));
    world
        .store_as_it_is(to("tagged", &format!("{END}?utm_medium=own#top"), Way { utm, ..Way::default() }))
        .await;
    let target = samples::target(&format!("{END}?utm_medium=mail#top"));
    assert_eq!(resolved(&world, "tagged").await, (Resolution::Redirect(target), Sending::default()));
}

/// The answer of each widget is a 302 that forwards nothing.
#[tokio::test]
async fn d24_d132_a_chain_over_a_widget_is_temporary_and_forwards_nothing() {
    let world = World::new().await;
    let page = world.create_page(page_draft("menu")).await.unwrap();
    let link =
        WidgetContent::Link { title: samples::name("a"), url: samples::web_url(END), thumbnail_url: None };
    let content = PageContent { widgets: samples::widgets(vec![link]), ..PageContent::default() };
    let mut work = world.app.store.begin().await.unwrap();
    work.write_page_content(world.account.id, page.id, &content).await.unwrap();
    work.commit().await.unwrap();
    let widget = format!("https://go.example.com/menu/w/{}", WidgetId::from_bytes(1_u128.to_be_bytes()));
    world.store_as_it_is(to("a", &widget, way(RedirectStatus::PermanentRedirect, true))).await;
    let sending = Sending { status: RedirectStatus::TemporaryRedirect, forwards_query: false };
    assert_eq!(resolved(&world, "a").await, (Resolution::Redirect(samples::target(END)), sending));
}

/// Added parameters do not make another address of a link.
#[tokio::test]
async fn d24_d132_a_round_of_links_that_add_parameters_leads_nowhere() {
    let world = World::new().await;
    let utm = Utm::new(|part| UtmValue::parse(part.as_str()).ok());
    for (slug, next) in [("a", "b"), ("b", "a")] {
        let way = Way { forward_query: true, utm: utm.clone(), ..Way::default() };
        world.store_as_it_is(to(slug, &format!("https://go.example.com/{next}"), way)).await;
    }
    let resolved = world.resolved("go.example.com", Some("a")).await;
    assert_eq!((resolved.resolution, resolved.missing), (Resolution::NotThere, Missing::Loop));
}
