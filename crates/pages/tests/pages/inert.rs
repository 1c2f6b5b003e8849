//! Customer data never changes a page's structure (R23).

use std::collections::BTreeSet;

use signpost_domain::{
    Name, PageContent, PixelCode, PixelType, TargetUrl, WebUrl, WidgetContent, WidgetText,
};
use signpost_pages::{HtmlPage, Language, PixelPage, QrCode, QrOptions, SmallPage};

use crate::document::Document;
use crate::landings::{URL, full_page, rendered, rendered_at, widgets};
use crate::payloads;

/// A URL with as much of `payload` as stored URLs can hold.
fn address_of(payload: &str) -> String {
    let payload: String = payload.chars().filter(|character| !character.is_whitespace()).collect();
    format!("https://pictures.example.com/{payload}?{payload}#{payload}")
}

/// Checks that attributes run nothing and that addresses lead only through Signpost, to a mail program, or to
/// a picture.
#[track_caller]
fn is_inert(document: &Document) {
    for element in &document.0 {
        assert!(
            !["script", "iframe", "object", "embed", "base", "form"].contains(&element.name.as_str()),
            "{element:?}"
        );
        for (name, value) in &element.attributes {
            assert!(
                !name.starts_with("on")
                    && !["style", "srcdoc", "action", "formaction"].contains(&name.as_str()),
                "{element:?}"
            );
            let leads = [
                "/sample/w/wgt_",
                "mailto:",
                "tel:+442079460958",
                "sms:+442079460958",
                "https://wa.me/442079460958",
                "#n",
                "https://pictures.example.com/",
                "data:image/svg+xml,",
                "https://go.example.com/sample",
            ];
            if matches!(name.as_str(), "href" | "src") {
                assert!(leads.iter().any(|lead| value.starts_with(lead)), "{element:?}");
            }
        }
    }
}

#[test]
fn r23_payloads_do_not_change_the_structure_of_a_landing_page() {
    let HtmlPage { html, content_security_policy } =
        rendered("plain", &full_page("plain", &address_of("plain"), "plain@example.com"));
    let plain = Document::read(&html);
    is_inert(&plain);
    let payloads = payloads::all();
    assert!(payloads.len() >= 500, "{}", payloads.len());
    for payload in payloads {
        let mail = format!("{payload}@example.com");
        let url = format!("{URL}{payload}");
        let page = rendered_at(&url, &payload, &full_page(&payload, &address_of(&payload), &mail));
        let document = Document::read(&page.html);
        assert_eq!(document.outline(), plain.outline(), "{payload}");
        is_inert(&document);
        assert_eq!(document.only("style").text, plain.only("style").text, "{payload}");
        assert_eq!(page.content_security_policy, content_security_policy, "{payload}");
        for element in ["title", "h1", "h2"] {
            assert_eq!(document.only(element).text, payload);
        }
        assert_eq!(document.meta("property", "og:title"), Some(payload.as_str()));
        assert_eq!(document.meta("property", "og:url"), Some(url.as_str()));
    }
}

#[test]
fn r23_payloads_do_not_break_out_of_a_link_in_a_text() {
    for payload in payloads::all() {
        let text = format!(
            "https://pictures.example.com/{payload} https://pictures.example.com/?{payload}#{payload}"
        );
        let text = WidgetContent::Text { text: WidgetText::from_stored(text.clone()).unwrap() };
        let content = PageContent { widgets: widgets(vec![text]), ..PageContent::default() };
        let document = Document::read(&rendered("x", &content).html);
        is_inert(&document);
        let names: BTreeSet<&str> =
            document.all("a").flat_map(|link| &link.attributes).map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, BTreeSet::from(["dir", "href"]), "{payload}");
        let elements: BTreeSet<&str> = document
            .0
            .iter()
            .skip_while(|element| element.name != "p")
            .map(|element| element.name.as_str())
            .collect();
        assert_eq!(elements, BTreeSet::from(["a", "p"]), "{payload}");
    }
}

#[test]
fn r23_payloads_do_not_break_out_of_a_drawn_icon() {
    for payload in payloads::all() {
        let document = Document::read(&rendered(&payload, &signpost_domain::PageContent::default()).html);
        is_inert(&document);
        let icon = document.linked("icon").unwrap().strip_prefix("data:image/svg+xml,").unwrap();
        let svg = percent_encoding::percent_decode_str(icon).decode_utf8().unwrap();
        let drawing = Document::read(&svg);
        let names: Vec<&str> = drawing.0.iter().map(|element| element.name.as_str()).collect();
        assert_eq!(names, ["html", "head", "body", "svg", "rect", "text"], "{payload}: {svg}");
    }
}

#[test]
fn r23_payloads_do_not_change_the_structure_of_a_pixel_page() {
    let pixels = [
        PixelCode::parse(PixelType::Meta, "123456").unwrap(),
        PixelCode::parse(PixelType::GoogleTagManager, "GTM-AB12CDE").unwrap(),
    ];
    let page = |target: &str| {
        let target = TargetUrl::from_stored(target.to_owned()).unwrap();
        let page =
            PixelPage { pixels: &pixels, target: &target, language: Language::English, nonce: [1; 16] };
        page.render().unwrap()
    };
    let plain = page("https://example.com/");
    let plain_document = Document::read(&plain.html);
    for payload in payloads::all() {
        let target = address_of(&payload);
        let location = TargetUrl::from_stored(target.clone()).unwrap().location();
        let hostile = page(&target);
        let document = Document::read(&hostile.html);
        assert_eq!(document.outline(), plain_document.outline(), "{payload}");
        assert_eq!(hostile.content_security_policy, plain.content_security_policy, "{payload}");
        assert_eq!(document.only("a").attribute("href"), Some(location.as_str()));
        let refresh = document.all("meta").find(|meta| meta.attribute("http-equiv").is_some()).unwrap();
        assert_eq!(refresh.attribute("content"), Some(format!("0; url={location}").as_str()));
        let scripts = |document: &Document| document.all("script").cloned().collect::<Vec<_>>();
        assert_eq!(scripts(&document), scripts(&plain_document), "{payload}");
    }
}

/// A code contains its text only as dark and light modules.
#[test]
fn r23_qr_code_contains_no_text() {
    for payload in payloads::all() {
        let svg = QrCode::new(&QrCode::marked(&address_of(&payload)), QrOptions::default()).unwrap().svg();
        let drawing = Document::read(&svg);
        let names: Vec<&str> = drawing.0.iter().map(|element| element.name.as_str()).collect();
        assert_eq!(names, ["html", "head", "body", "svg", "path", "path"], "{payload}");
        assert_eq!(drawing.only("html").text, "");
    }
}

/// Hosts that the store may hold never change another directive of the policy.
#[test]
fn r23_hosts_do_not_break_out_of_the_policy() {
    let mut read = 0;
    for hostile in [
        "a;script-src",
        "a,b",
        "a'b",
        "*",
        "a*",
        "a b",
        "a\"",
        "data:",
        "a.example;",
        "'unsafe-inline'",
        "xn--a",
        "a_b.example",
        "ünsafe.example",
        "*.example.com",
        "a%20b",
        "[::1]",
        "[2606:4700::1]",
        "1.2.3.4",
        "a.example:8443",
    ] {
        let Ok(url) = WebUrl::from_stored(format!("https://{hostile}/a.png")) else { continue };
        read += 1;
        let content = signpost_domain::PageContent { avatar_url: Some(url), ..Default::default() };
        let policy = rendered("x", &content).content_security_policy;
        let names: Vec<&str> =
            policy.split("; ").filter_map(|directive| directive.split(' ').next()).collect();
        let expected = ["default-src", "style-src", "img-src", "base-uri", "form-action", "frame-ancestors"];
        assert_eq!(names, expected, "{hostile}: {policy}");
        assert!(
            !policy.contains("unsafe-") && !policy.contains('*') && policy.is_ascii(),
            "{hostile}: {policy}"
        );
    }
    assert!(read >= 5, "only {read} of these hosts can be stored");
}

/// Small pages take no data from customers; the same rules apply to their own content.
#[test]
fn r23_small_pages_run_and_load_nothing() {
    for page in SmallPage::ALL {
        for language in Language::ALL {
            let HtmlPage { html, content_security_policy } = page.render(language).unwrap();
            let document = Document::read(&html);
            // `password_pages.rs` looks at the form.
            if !matches!(page, SmallPage::Password(page) if page.has_form()) {
                is_inert(&document);
            }
            assert!(document.all("img").next().is_none() && document.all("link").next().is_none());
            assert!(!html.contains("url(") && !html.contains("@import"), "{html}");
            assert!(
                !content_security_policy.contains("unsafe")
                    && content_security_policy.starts_with("default-src 'none'; ")
            );
        }
    }
}

/// This rule of the type protects the scripts.
#[test]
fn r23_stored_pixel_code_cannot_leave_its_script() {
    for payload in payloads::all() {
        let is_plain = payload.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        assert_eq!(PixelCode::from_stored(PixelType::Meta, payload.clone()).is_ok(), is_plain, "{payload}");
        assert!(Name::from_stored(payload).is_ok());
    }
}
