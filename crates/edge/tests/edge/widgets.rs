//! Where the widgets of a landing page lead (D59).

use signpost_app::ports::{ClickKind, TargetBlocklist as _};
use signpost_domain::{HostBlocklist, Landing, PageContent, WidgetContent, WidgetId};
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Edge, HOST, redirect_to};

/// The address of the widget with this number on the page `menu`.
fn at(number: u128) -> String {
    format!("/menu/w/{}", id(number))
}

fn id(number: u128) -> WidgetId {
    WidgetId::from_bytes(number.to_be_bytes())
}

async fn started() -> (Edge, Landing) {
    let edge = Edge::start().await;
    let page = samples::landing("menu");
    edge.add(&page).await;
    edge.write_page(&page, &samples::page_content()).await;
    (edge, page)
}

/// The sample's link, image, social account and video, in this order. Heading, text, e-mail and divider have
/// no target.
#[tokio::test(flavor = "multi_thread")]
async fn d59_widget_leads_to_its_stored_url() {
    let (edge, _) = started().await;
    for (number, location) in [
        (3, "https://example.com/menu?of=today#top"),
        (4, "https://example.com/house"),
        (5, "https://www.instagram.com/example"),
        (6, "https://youtu.be/dQw4w9WgXcQ"),
    ] {
        for path in
            [at(number), format!("{}/", at(number)), format!("{}?url=https://evil.example", at(number))]
        {
            let answer = edge.get(&path);
            assert_eq!((answer.status, answer.header("location")), (302, Some(location)), "{path}");
            assert_eq!(answer.header("cache-control"), Some("private, no-store"));
        }
    }
    let missing = edge.get("/none");
    for number in [1, 2, 7, 8, 9, 0] {
        assert_eq!(edge.get(&at(number)), missing, "{number}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_widgets_of_a_missing_page_are_404() {
    let (edge, page) = started().await;
    edge.add(&samples::redirect("sale")).await;
    let missing = edge.get("/none");
    assert_eq!(edge.get(&at(3).replace("menu", "sale")), missing, "a redirect has no widgets");
    assert_eq!(edge.get(&at(3).replace("/menu", "")), missing, "the system domain has no root");
    edge.update(&page, &Landing { is_active: false, ..page.clone() }).await;
    assert_eq!(edge.get(&at(3)), missing);
}

/// The current URL of the widget counts, even if the visitor loaded the page before the change.
#[tokio::test(flavor = "multi_thread")]
async fn d58_changed_widget_takes_effect_at_once() {
    let (edge, page) = started().await;
    assert_eq!(edge.get(&at(3)).status, 302);
    let title = samples::name("Menu");
    let link = |url: &str| WidgetContent::Link {
        title: title.clone(),
        url: samples::web_url(url),
        thumbnail_url: None,
    };
    let widgets =
        samples::widgets(vec![WidgetContent::Divider, WidgetContent::Divider, link("https://example.org/")]);
    edge.write_page(&page, &PageContent { widgets, ..PageContent::default() }).await;
    assert_eq!(edge.get(&at(3)).header("location"), Some("https://example.org/"));
    assert_eq!(edge.get(&at(4)).status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn r33_operators_list_applies_to_widgets() {
    let (edge, _) = started().await;
    assert_eq!(edge.get(&at(5)).status, 302);
    let list = |text: &str| edge.memory.target_blocklist.replace(HostBlocklist::parse(text).unwrap());
    list("instagram.com");
    assert_eq!(edge.get(&at(5)), edge.get("/none"));
    assert_eq!(edge.get(&at(3)).status, 302);
    assert_eq!(edge.get("/menu").status, 200, "the page itself stays available");
    list("");
    assert!(edge.memory.target_blocklist.current().is_empty());
    assert_eq!(edge.get(&at(5)).status, 302);
}

#[tokio::test(flavor = "multi_thread")]
async fn r33_operators_list_applies_to_addresses_in_texts() {
    let (edge, page) = started().await;
    let text =
        signpost_domain::WidgetText::parse("See https://evil.example/a and https://good.example/").unwrap();
    let widgets = samples::widgets(vec![WidgetContent::Text { text }]);
    edge.write_page(&page, &PageContent { widgets, ..PageContent::default() }).await;
    let leads_to = |host: &str| edge.get("/menu").body.contains(&format!("href=\"https://{host}/"));
    assert_eq!([leads_to("evil.example"), leads_to("good.example")], [true, true]);
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    assert_eq!([leads_to("evil.example"), leads_to("good.example")], [false, true]);
    edge.memory.target_blocklist.replace(HostBlocklist::default());
    assert_eq!([leads_to("evil.example"), leads_to("good.example")], [true, true]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d59_click_on_a_widget_records_the_widget() {
    let (edge, page) = started().await;
    edge.get(&at(3));
    edge.request("HEAD", &at(3));
    edge.get(&at(1));
    edge.request_with("GET", &at(6), &format!("Host: {HOST}\r\nReferer: https://{HOST}/menu\r\n"));
    let clicks: Vec<_> = edge.clicks().await.iter().map(|click| (click.kind, click.link)).collect();
    // Each worker passes its own clicks on, so clicks of two connections come in any order.
    let expected = [3, 6].map(|number| (ClickKind::Widget(id(number)), page.id.into()));
    assert!(clicks == expected || clicks == [expected[1], expected[0]], "{clicks:?}");
}

/// Writes a page with these targets of its widgets, which get the numbers from 1 on.
async fn write_links(edge: &Edge, page: &Landing, urls: &[&str]) {
    let link = |url: &&str| WidgetContent::Link {
        title: samples::name("Menu"),
        url: samples::web_url(url),
        thumbnail_url: None,
    };
    let widgets = samples::widgets(urls.iter().map(link).collect());
    edge.write_page(page, &PageContent { widgets, ..PageContent::default() }).await;
}

/// Requests refuse such targets, but a link may be older than the rule, or than a domain.
#[tokio::test(flavor = "multi_thread")]
async fn d24_redirects_and_widgets_that_lead_to_each_other_are_404() {
    let (edge, page) = started().await;
    edge.connect_domain("links.example.net", ACTIVE).await;
    let on_custom =
        Landing { placement: samples::on_custom("links.example.net", Some("menu")), ..samples::landing("x") };
    edge.add(&on_custom).await;
    let own = |number| format!("https://{HOST}{}", at(number));
    let custom = |number| format!("https://links.example.net{}", at(number));
    for (slug, target) in [("a", own(1)), ("b", custom(1)), ("end", own(4)), ("gone", own(9))] {
        edge.add(&redirect_to(slug, &target)).await;
    }
    write_links(&edge, &on_custom, &[&format!("https://{HOST}/b")]).await;
    let itself = own(2);
    let urls = [&format!("https://{HOST}/a"), itself.as_str(), &custom(1), "https://example.com/", &own(9)];
    write_links(&edge, &page, &urls).await;
    let missing = edge.get("/none");
    for path in ["/a".to_owned(), "/b".to_owned(), "/gone".to_owned(), at(1), at(2), at(3), at(5)] {
        assert_eq!(edge.get(&path), missing, "{path}");
    }
    assert_eq!(edge.get("/end").header("location"), Some("https://example.com/"));
}

/// The link at the target has gates and clicks of its own.
#[tokio::test(flavor = "multi_thread")]
async fn d24_a_widget_leads_to_links_that_lead_somewhere() {
    let (edge, page) = started().await;
    edge.add(&redirect_to("sale", "https://example.com/")).await;
    edge.add(&redirect_to("loop", &format!("https://{HOST}/loop/"))).await;
    let targets = ["sale", "loop", "none", "menu", "qr.svg"].map(|path| format!("https://{HOST}/{path}"));
    let foreign = ["https://example.org/menu".to_owned(), format!("https://example.org{}", at(1))];
    let urls: Vec<&str> = targets.iter().chain(&foreign).map(String::as_str).collect();
    write_links(&edge, &page, &urls).await;
    for (number, url) in (1..).zip(&urls) {
        let answer = edge.get(&at(number));
        let leads = !url.ends_with("/loop") && !url.ends_with("/none");
        assert_eq!(answer.header("location"), leads.then_some(*url), "{url}");
        assert_eq!(answer.status, if leads { 302 } else { 404 }, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d24_a_chain_of_widgets_is_followed_five_deep() {
    let (edge, page) = started().await;
    let targets = (2..=8).map(|number| format!("https://{HOST}{}", at(number)));
    let targets: Vec<String> = targets.chain(["https://example.com/".to_owned()]).collect();
    let urls: Vec<&str> = targets.iter().map(String::as_str).collect();
    write_links(&edge, &page, &urls).await;
    assert_eq!(edge.get(&at(3)).status, 302, "through widgets 4 to 8");
    assert_eq!(edge.get(&at(2)).status, 404);
}
