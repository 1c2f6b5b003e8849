//! The structure of a landing page (D34, D35, D59).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use signpost_domain::{
    Description, Email, HostBlocklist, PageContent, Slug, SocialNetwork, Theme, WidgetContent, WidgetText,
};
use signpost_pages::Landing;

use crate::document::{Document, Element};
use crate::landings::{URL, every_widget, full_page, name, rendered, rendered_at, url, widgets};

fn page(content: &PageContent) -> Document {
    Document::read(&rendered("Ada's page", content).html)
}

fn ordinary() -> PageContent {
    full_page("Some words", "https://pictures.example.com/a.png", "ada@example.com")
}

#[test]
fn d34_page_has_one_heading_landmarks_and_named_links() {
    let document = page(&ordinary());
    assert_eq!(document.only("h1").text, "Ada's page");
    document.only("main");
    document.only("header");
    for link in document.all("a") {
        let place = document.0.iter().position(|element| element == link).unwrap();
        let inside = document.0[place + 1..].iter().take_while(|element| element.depth > link.depth);
        let has_alt = inside.filter_map(|element| element.attribute("alt")).any(|alt| !alt.is_empty());
        let is_named = !link.text.trim().is_empty() || has_alt || link.attribute("aria-label").is_some();
        assert!(is_named, "{link:?}");
    }
    for picture in document.all("img") {
        assert!(picture.attribute("alt").is_some(), "{picture:?}");
    }
}

#[test]
fn d59_widgets_link_through_the_address_of_their_page() {
    let contents = every_widget("Some words", "https://elsewhere.example/", "ada@example.com");
    let content = PageContent { widgets: widgets(contents), ..PageContent::default() };
    let leads = |slug: Option<&Slug>| -> Vec<String> {
        let title = name("x");
        let html =
            Landing { title: &title, content: &content, url: URL, slug, blocked: &HostBlocklist::default() }
                .render()
                .unwrap()
                .html;
        Document::read(&html).all("a").map(|link| link.attribute("href").unwrap().to_owned()).collect()
    };
    let slug = Slug::parse("Sale-1_a").unwrap();
    let through = |number: u8| format!("/Sale-1_a/w/wgt_{}", format!("{number:02x}").repeat(16));
    let mail = || "mailto:ada@example.com".to_owned();
    // Two links, the two images with an address, two social accounts, a video, two e-mail addresses, another video, and a
    // number to call, to text and to reach on WhatsApp.
    let through_the_page = [1, 2, 5, 7, 8, 9, 10].map(through).to_vec();
    let numbers = ["tel:+442079460958", "sms:+442079460958", "https://wa.me/442079460958"].map(str::to_owned);
    let expected = [through_the_page, vec![mail(), mail(), through(14)], numbers.to_vec()].concat();
    assert_eq!(leads(Some(&slug)), expected);
    assert_eq!(leads(None)[0], format!("/w/wgt_{}", "01".repeat(16)));
}

#[test]
fn d35_mail_address_cannot_add_fields_to_the_message() {
    let email = |address: &str| WidgetContent::Email { address: Email::parse(address).unwrap(), title: None };
    let contents = vec![email("a?bcc=b%0a@example.com"), email("a+tag.x-y_z@example.com")];
    let document = page(&PageContent { widgets: widgets(contents), ..PageContent::default() });
    let leads: Vec<_> = document.all("a").map(|link| link.attribute("href").unwrap()).collect();
    assert_eq!(leads, ["mailto:a%3Fbcc%3Db%250a@example.com", "mailto:a+tag.x-y_z@example.com"]);
}

#[test]
fn d35_unknown_widgets_are_skipped() {
    let json = r#"{"widgets":[
        {"id":"wgt_00000000000000000000000000000001","type":"hologram","text":"from the future"},
        {"id":"wgt_00000000000000000000000000000002","type":"heading","text":"Now"}]}"#;
    let document = page(&PageContent::from_json(json).unwrap());
    assert_eq!(document.only("h2").text, "Now");
    assert!(!document.only("html").text.contains("future"));
}

#[test]
fn d35_page_loads_nothing_of_a_video() {
    let contents = vec![WidgetContent::Video {
        url: signpost_domain::VideoUrl::parse("https://youtu.be/dQw4w9WgXcQ").unwrap(),
        title: None,
        thumbnail_url: None,
    }];
    let page = rendered("x", &PageContent { widgets: widgets(contents), ..PageContent::default() });
    assert!(!page.html.contains("youtu.be") && !page.html.contains("iframe"));
    assert!(page.content_security_policy.contains("; img-src data:; "), "{}", page.content_security_policy);
    assert_eq!(Document::read(&page.html).only("a").text.trim(), "Video YouTube");
}

#[test]
fn d34_page_is_not_indexed_unless_allowed() {
    let render = |search_engines| {
        let content = PageContent { search_engines, ..PageContent::default() };
        Landing {
            title: &name("x"),
            content: &content,
            url: URL,
            slug: None,
            blocked: &HostBlocklist::default(),
        }
        .render()
        .unwrap()
        .html
    };
    let noindex = "<meta name=\"robots\" content=\"noindex\">";
    assert!(render(false).contains(noindex) && !render(true).contains("noindex"));
}

#[test]
fn d34_cards_and_icon_derive_from_the_page() {
    let content = PageContent {
        description: Some(Description::parse("Two\n  lines").unwrap()),
        avatar_url: Some(url("https://pictures.example.com/ada.png")),
        ..PageContent::default()
    };
    let document = page(&content);
    assert_eq!(document.meta("property", "og:title"), Some("Ada's page"));
    assert_eq!(document.meta("property", "og:description"), Some("Two lines"));
    assert_eq!(document.meta("name", "description"), Some("Two lines"));
    assert_eq!(document.meta("property", "og:image"), Some("https://pictures.example.com/ada.png"));
    assert_eq!(document.meta("name", "twitter:card"), Some("summary"));
    assert_eq!(document.linked("icon"), Some("https://pictures.example.com/ada.png"));
    let plain = page(&PageContent::default());
    assert!(plain.linked("icon").unwrap().starts_with("data:image/svg+xml,"));
    assert_eq!(plain.meta("property", "og:image"), None);
}

#[test]
fn d34_page_without_a_description_has_a_complete_card() {
    let link = |title: &str| WidgetContent::Link {
        title: name(title),
        url: url("https://example.com/"),
        thumbnail_url: None,
    };
    let heading = |text: &str| WidgetContent::Heading { text: name(text) };
    let text = |text: &str| WidgetContent::Text { text: WidgetText::from_stored(text.to_owned()).unwrap() };
    let long = "word ".repeat(60);
    let cut = format!("{}…", "word ".repeat(32).trim_end());
    for (contents, expected) in [
        (vec![heading("Hello"), text("Some\n text"), text("more")], "Some text"),
        (vec![heading("Hello"), link("Shop"), link("Blog")], "Hello · Shop · Blog"),
        (vec![text(&long)], cut.as_str()),
        (vec![WidgetContent::Divider], "go.example.com/sample"),
        (vec![], "go.example.com/sample"),
    ] {
        let document = page(&PageContent { widgets: widgets(contents), ..PageContent::default() });
        assert_eq!(document.meta("property", "og:title"), Some("Ada's page"));
        assert_eq!(document.meta("property", "og:description"), Some(expected));
        assert_eq!(document.meta("name", "description"), Some(expected));
        assert_eq!(document.meta("name", "twitter:card"), Some("summary"));
    }
}

#[test]
fn d35_addresses_in_a_text_are_links() {
    let text = "Menu: https://example.com/menu?a=1&b=\"2\". Call us!\nhttps://пример.рф";
    let contents = vec![WidgetContent::Text { text: WidgetText::from_stored(text.to_owned()).unwrap() }];
    let page = rendered("x", &PageContent { widgets: widgets(contents), ..PageContent::default() });
    let document = Document::read(&page.html);
    let links: Vec<_> =
        document.all("a").map(|link| (link.attribute("href").unwrap(), link.text.as_str())).collect();
    let first = "https://example.com/menu?a=1&b=";
    assert_eq!(links, [(first, first), ("https://xn--e1afmkfd.xn--p1ai", "https://пример.рф")]);
    assert_eq!(document.only("p").text, text, "the text itself stays");
}

/// The edge of the titles: each button of a list has a picture, or none has.
#[test]
fn d35_titles_of_a_list_begin_at_one_edge() {
    let link = |title: &str, thumbnail: Option<&str>| WidgetContent::Link {
        title: name(title),
        url: url("https://example.com/"),
        thumbnail_url: thumbnail.map(url),
    };
    let email = WidgetContent::Email { address: Email::parse("ada@example.com").unwrap(), title: None };
    let picture = Some("https://pictures.example.com/a.png");
    for (contents, pictures, initials) in [
        (vec![link("Plain & Black", None), link("Shop", picture)], 2, vec!["PB"]),
        (vec![link("Plain & Black", None), email.clone()], 2, vec!["PB"]),
        (vec![link("One", None), link("Two", None)], 0, vec![]),
        (vec![link("One", picture), link("Two", picture)], 2, vec![]),
        (vec![link("One", picture), WidgetContent::Divider, link("Two", None)], 1, vec![]),
    ] {
        let document = page(&PageContent { widgets: widgets(contents), ..PageContent::default() });
        let has = |element: &&Element, class: &str| {
            element.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
        };
        assert_eq!(document.0.iter().filter(|element| has(element, "pic")).count(), pictures);
        let drawn = document.0.iter().filter(|element| has(element, "ab"));
        let drawn: Vec<_> = drawn.map(|one| (one.text.as_str(), one.attribute("aria-hidden"))).collect();
        assert_eq!(drawn, initials.into_iter().map(|text| (text, Some("true"))).collect::<Vec<_>>());
    }
}

#[test]
fn d35_social_accounts_show_the_proper_name_of_their_network() {
    let social = |network: &str, address: &str| WidgetContent::Social {
        network: SocialNetwork::parse(network).unwrap(),
        url: url(address),
    };
    let contents = vec![
        social("github", "https://github.com/a"),
        social("vk", "https://vk.com/a"),
        social("friendica", "https://friendica.example/a"),
        social("other", "https://www.forum.example/a"),
    ];
    let document = page(&PageContent { widgets: widgets(contents), ..PageContent::default() });
    let names: Vec<_> = document.all("a").map(|link| link.text.as_str()).collect();
    assert_eq!(names, ["GitHub", "VK", "Friendica", "forum.example"]);
}

#[test]
fn d34_page_names_its_public_url_for_cards_and_search_engines() {
    for (url, written) in [
        (URL, URL),
        ("http://[2001:db8::1]:8081/Sale-1_a", "http://[2001:db8::1]:8081/Sale-1_a"),
        ("https://links.example.net/", "https://links.example.net/"),
        ("https://x.example/?a=1&b=\"'<>", "https://x.example/?a=1&#38;b=&#34;&#39;&#60;&#62;"),
    ] {
        let html = rendered_at(url, "x", &PageContent::default()).html;
        let document = Document::read(&html);
        assert_eq!(document.meta("property", "og:url"), Some(url));
        assert_eq!(document.linked("canonical"), Some(url));
        assert_eq!(html.matches(&format!("\"{written}\"")).count(), 2, "{html}");
    }
}

#[test]
fn r23_policy_allows_the_style_and_pictures_of_the_page() {
    for theme in Theme::ALL {
        let page = rendered("x", &PageContent { theme, ..ordinary() });
        let style = Document::read(&page.html).only("style").text.clone();
        let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
        let expected = format!(
            "default-src 'none'; style-src 'sha256-{hash}'; img-src https://pictures.example.com; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        assert_eq!(page.content_security_policy, expected);
    }
}

#[test]
fn d34_right_to_left_title_sets_the_layout_direction() {
    let direction = |title: &str| {
        let html = rendered(title, &PageContent::default()).html;
        Document::read(&html).only("html").attribute("dir").map(str::to_owned)
    };
    assert_eq!(direction("مقهى الأمل").as_deref(), Some("rtl"));
    assert_eq!(direction("Café"), None);
}

/// Typical pages of eight and of a hundred widgets.
#[test]
fn typical_pages_have_at_most_30_kb() {
    let many = |count: usize| -> PageContent {
        let contents: Vec<WidgetContent> = every_widget(
            "Tour dates, autumn 2026",
            "https://pictures.example.com/2026/autumn.jpg",
            "ada@example.com",
        )
        .into_iter()
        .cycle()
        .take(count)
        .collect();
        PageContent { widgets: widgets(contents), ..ordinary() }
    };
    for (count, most) in [(8, 11_000), (100, 30_000)] {
        let size = rendered("Ines Okafor", &many(count)).html.len();
        assert!(size <= most, "{count} widgets take {size} bytes");
    }
}

/// Titles and addresses belong to the owner. The markup around them fits, whatever they are.
#[test]
fn markup_of_a_hundred_pictured_links_has_at_most_30_kb() {
    for letter in ["a", "ж", "猫"] {
        let mut of_owner = 0;
        let links = (0..100).map(|number| {
            let host = format!("host-{number:02}.pictures.example.com");
            let title = format!("{number:02}{}", letter.repeat(38));
            let start = format!("https://{host}/");
            let picture = format!("{start}{}", "p".repeat(100 - start.len()));
            // The host is shown below the title, and once more in the list of allowed image hosts.
            of_owner += title.len() + host.len() + picture.len() + format!("https://{host} ").len();
            WidgetContent::Link {
                title: name(&title),
                url: url(&picture),
                thumbnail_url: Some(url(&picture)),
            }
        });
        let content = PageContent { widgets: widgets(links.collect()), ..PageContent::default() };
        let size = rendered("Ines Okafor", &content).html.len();
        assert!(
            size.saturating_sub(of_owner) <= 30_000,
            "{letter}: {size} bytes, {of_owner} of them the owner's"
        );
    }
}

/// The sizes of the largest pages, as the module's documentation states.
#[test]
fn text_only_page_is_little_larger_than_its_text() {
    for (letter, most) in [("a", 210_000), ("\u{1f388}", 812_000), ("\"", 1_012_000)] {
        let text =
            WidgetContent::Text { text: WidgetText::parse(&letter.repeat(WidgetText::MAX_CHARS)).unwrap() };
        let content = PageContent { widgets: widgets(vec![text; 100]), ..PageContent::default() };
        let size = rendered("x", &content).html.len();
        assert!(size <= most && size > most - 20_000, "{letter}: {size} bytes");
    }
}

/// The preview of the editor is scrolled to the widget that is edited.
#[test]
fn widgets_have_the_ids_of_a_marked_page() {
    let link = |text: &str| WidgetContent::Link {
        title: name(text),
        url: url("https://example.com/"),
        thumbnail_url: None,
    };
    let contents = vec![
        WidgetContent::Divider,
        link("One"),
        link("Two"),
        WidgetContent::Heading { text: name("Three") },
        WidgetContent::Divider,
    ];
    let content = PageContent { widgets: widgets(contents), ..PageContent::default() };
    let (title, blocked) = (name("x"), HostBlocklist::default());
    let landing = Landing { title: &title, content: &content, url: URL, slug: None, blocked: &blocked };
    let marked = landing.render_marked(&["w0", "w1", "w2", "w3", "\"><b>"]).unwrap().html;
    for part in [
        "<hr id=\"w0\">",
        "<li id=\"w1\"><a",
        "<li id=\"w2\"><a",
        "<h2 dir=\"auto\" id=\"w3\">",
        "<hr id=\"&#34;&#62;&#60;b&#62;\">",
    ] {
        assert!(marked.contains(part), "{part}: {marked}");
    }
    assert!(!landing.render().unwrap().html.contains(" id=\"w"));
}
