//! Buttons that call a number, and videos with a title or a still (D35).

use signpost_domain::{
    ContactMethod, HostBlocklist, PageContent, PhoneNumber, Slug, VideoUrl, WebUrl, WidgetContent,
};
use signpost_pages::Landing;

use crate::document::{Document, Element};
use crate::landings::{URL, name, rendered, url, widgets};

fn contact(method: ContactMethod, title: Option<&str>) -> WidgetContent {
    let number = PhoneNumber::parse("+442079460958").unwrap();
    WidgetContent::Contact { method, number, title: title.map(name) }
}

fn page(contents: Vec<WidgetContent>) -> Document {
    Document::read(&rendered("x", &PageContent { widgets: widgets(contents), ..PageContent::default() }).html)
}

fn texts(document: &Document, element: &str) -> Vec<String> {
    document.all(element).map(|found| found.text.trim().to_owned()).collect()
}

#[test]
fn d35_contacts_show_their_title_their_service_and_their_number() {
    let document = page(vec![
        contact(ContactMethod::Phone, None),
        contact(ContactMethod::Sms, None),
        contact(ContactMethod::Phone, Some("Call us")),
        contact(ContactMethod::Sms, Some("Text us")),
        contact(ContactMethod::Whatsapp, Some("Chat")),
    ]);
    let number = "+44\u{a0}207\u{a0}946\u{a0}0958";
    assert_eq!(texts(&document, "b"), [number, number, "Call us", "Text us", "Chat"]);
    let below = ["SMS", number, &format!("SMS · {number}"), &format!("WhatsApp · {number}")];
    assert_eq!(texts(&document, "small"), below);
    let leads: Vec<_> = document.all("a").map(|link| link.attribute("href").unwrap()).collect();
    assert_eq!(
        leads,
        [
            "tel:+442079460958",
            "sms:+442079460958",
            "tel:+442079460958",
            "sms:+442079460958",
            "https://wa.me/442079460958"
        ]
    );
}

/// Contract D24: the operator may list `wa.me`, also after the page was written.
#[test]
fn d24_a_contact_on_a_listed_host_is_not_shown() {
    let contents = [ContactMethod::Phone, ContactMethod::Whatsapp].map(|method| contact(method, None));
    let content = PageContent { widgets: widgets(contents.to_vec()), ..PageContent::default() };
    let blocked = HostBlocklist::parse("wa.me").unwrap();
    let (title, slug) = (name("x"), Slug::parse("sample").unwrap());
    let landing =
        Landing { title: &title, content: &content, url: URL, slug: Some(&slug), blocked: &blocked };
    let document = Document::read(&landing.render().unwrap().html);
    assert_eq!(document.only("a").attribute("href"), Some("tel:+442079460958"));
}

#[test]
fn d35_a_video_shows_its_title_and_its_still() {
    let video = |title: Option<&str>, still: Option<WebUrl>| WidgetContent::Video {
        url: VideoUrl::parse("https://youtu.be/dQw4w9WgXcQ").unwrap(),
        title: title.map(name),
        thumbnail_url: still,
    };
    let still = || Some(url("https://pictures.example.com/still.jpg"));
    for (title, picture, text, pictures) in [
        (None, None, "Video YouTube", 0),
        (Some("Baking rye"), None, "Baking rye YouTube", 0),
        (None, still(), "Video YouTube", 1),
        (Some("Baking rye"), still(), "Baking rye YouTube", 1),
        // No policy can name this host, so the place of the still stays empty.
        (None, Some(url("https://[2606:4700::1]/still.jpg")), "Video YouTube", 0),
    ] {
        let document = page(vec![video(title, picture)]);
        assert_eq!(document.only("a").text.trim(), text);
        assert_eq!(document.all("a").flat_map(|_| document.all("img")).count(), pictures, "{text}");
        let has_empty_alt = |still: &Element| still.attribute("alt") == Some("");
        assert!(document.all("img").all(has_empty_alt), "the title describes the video");
    }
}

#[test]
fn d35_a_videos_still_may_load_only_from_its_host() {
    let contents = vec![WidgetContent::Video {
        url: VideoUrl::parse("https://vimeo.com/1").unwrap(),
        title: None,
        thumbnail_url: Some(url("https://pictures.example.com/still.jpg")),
    }];
    let page = rendered("x", &PageContent { widgets: widgets(contents), ..PageContent::default() });
    let policy = page.content_security_policy;
    assert!(policy.contains("; img-src data: https://pictures.example.com; "), "{policy}");
    assert!(!page.html.contains("vimeo.com"));
}

#[test]
fn d35_titles_of_videos_describe_a_page_without_texts() {
    let contents = vec![WidgetContent::Video {
        url: VideoUrl::parse("https://vimeo.com/1").unwrap(),
        title: Some(name("Baking rye")),
        thumbnail_url: None,
    }];
    assert_eq!(page(contents).meta("property", "og:description"), Some("Baking rye"));
}
