use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::page_content::tests::any_page;

const ID: &str = "wgt_019b5a3c6e2d7f4880112233445566aa";

fn whole() -> PageContent {
    let url = |text: &str| WebUrl::parse(text).unwrap();
    let name = |text: &str| Name::parse(text).unwrap();
    let contents = [
        WidgetContent::Link {
            title: name("Shop \"now\""),
            url: url("https://example.com/?a=b"),
            thumbnail_url: Some(url("https://example.com/t.png")),
        },
        WidgetContent::Link { title: name("ü"), url: url("https://example.com/"), thumbnail_url: None },
        WidgetContent::Heading { text: name("Heading") },
        WidgetContent::Text { text: WidgetText::parse("two\nlines \\ </script>").unwrap() },
        WidgetContent::Image {
            image_url: url("https://example.com/i.png"),
            alt: AltText::parse("").unwrap(),
            url: None,
        },
        WidgetContent::Social { network: SocialNetwork::parse("x").unwrap(), url: url("https://x.com/a") },
        WidgetContent::Video {
            url: VideoUrl::parse("https://youtu.be/x").unwrap(),
            title: Some(name("Film")),
            thumbnail_url: Some(url("https://example.com/f.png")),
        },
        WidgetContent::Email { address: Email::parse("a@b.example").unwrap(), title: Some(name("Write")) },
        WidgetContent::Contact {
            method: ContactMethod::Whatsapp,
            number: PhoneNumber::parse("+442079460958").unwrap(),
            title: Some(name("Call")),
        },
        WidgetContent::Divider,
    ];
    let widgets = (1..).zip(contents).map(|(number, content)| Widget {
        id: WidgetId::from_bytes([number; 16]),
        body: WidgetBody::Known(content),
    });
    PageContent {
        description: Some(Description::parse("About\nus").unwrap()),
        avatar_url: Some(url("https://example.com/a.png")),
        theme: Theme::Dark,
        accent_color: Some(AccentColor::parse("#aabbcc").unwrap()),
        search_engines: true,
        language: Some(LanguageTag::parse("pt-BR").unwrap()),
        background: Background::Dots,
        button_style: ButtonStyle::Outline,
        font: Font::Serif,
        widgets: Widgets::new(widgets.collect()).unwrap(),
    }
}

#[test]
fn stored_content_reads_back() {
    assert_eq!(PageContent::default().to_json(), "{}");
    for content in [PageContent::default(), whole()] {
        assert_eq!(PageContent::from_json(&content.to_json()), Ok(content));
    }
}

/// Contract D35: a widget that a newer version wrote is passed through untouched; so is one of a known type that has
/// more fields than this version knows, or breaks a rule of this version.
#[test]
fn d35_unknown_widgets_are_passed_through() {
    for fields in [
        r#""price":1.10,"tags":[1e400,{"a":null}],"type":"product""#,
        r#""text":"Hi","type":"heading","size":3"#,
        r#""type":"heading","text":"""#,
        r#""type":"divider","text":5"#,
        r#""method":"pager","number":"+442079460958","type":"contact""#,
        r#""method":"sms","number":"4420","type":"contact""#,
        r#""type":7"#,
    ] {
        let stored = format!(r#"{{"widgets":[{{"id":"{ID}",{fields}}}]}}"#);
        let content = PageContent::from_json(&stored).unwrap();
        let [Widget { id, body: WidgetBody::Unknown(unknown) }] = content.widgets.as_slice() else {
            panic!("{content:?}")
        };
        assert_eq!(id.to_string(), ID);
        for field in fields.split(r#",""#) {
            let field = field.trim_start_matches('"');
            assert!(unknown.as_json().contains(field), "{field} in {}", unknown.as_json());
        }
        assert!(!unknown.as_json().contains(ID));
        assert_eq!(PageContent::from_json(&content.to_json()), Ok(content));
    }
}

#[test]
fn malformed_content_is_refused() {
    let many = vec![format!(r#"{{"id":"{ID}","type":"divider"}}"#); 1_001].join(",");
    for bad in [
        "",
        "[]",
        "null",
        "{\"theme\":\"blue\"}",
        "{\"theme\":null}",
        "{\"background\":\"stripes\"}",
        "{\"button_style\":\"\"}",
        "{\"font\":5}",
        "{\"language\":\"\"}",
        "{\"avatar_url\":\"x\"}",
        "{\"later\":1}",
        "{\"widgets\":{}}",
        "{\"widgets\":[1]}",
        "{\"widgets\":[{\"type\":\"divider\"}]}",
        "{\"widgets\":[{\"id\":\"1\",\"type\":\"divider\"}]}",
        &format!("{{\"widgets\":[{{\"id\":\"{ID}\"}}]}}"),
        &format!("{{\"widgets\":[{many}]}}"),
    ] {
        assert!(PageContent::from_json(bad).is_err(), "{bad:.100}");
    }
}

/// Contract D35: a page that breaks a stricter rule is still shown, with the types of its widgets.
#[test]
fn d35_a_stored_page_that_breaks_current_rules_is_read_unchanged() {
    let (long, url) = ("n".repeat(3_000), "https://0x7f.1/a");
    assert!(Name::parse(&long).is_err() && WebUrl::parse(url).is_err());
    let stored = format!(
        r#"{{"avatar_url":"{url}","description":"{long}","widgets":[{{"id":"{ID}","type":"link","title":"{long}","url":"{url}"}}]}}"#
    );
    let content = PageContent::from_json(&stored).unwrap();
    let [Widget { body: WidgetBody::Known(widget), .. }] = content.widgets.as_slice() else {
        panic!("{content:?}")
    };
    assert_eq!(widget.leads_to().map(|(_, url)| url.as_str()), Some(url));
    assert_eq!(PageContent::from_json(&content.to_json()), Ok(content));
}

/// Contract D35: every widget shows `object`, so one that was stored with it must not show it twice.
#[test]
fn d35_a_widget_stored_with_its_object_is_read_without_it() {
    let read = |fields: &str| {
        let stored = format!(r#"{{"widgets":[{{"id":"{ID}","object":"widget",{fields}}}]}}"#);
        let content = PageContent::from_json(&stored).unwrap();
        let [Widget { id: _, body }] = content.widgets.as_slice() else { panic!("{content:?}") };
        body.clone()
    };
    assert_eq!(read(r#""type":"divider""#), WidgetBody::Known(WidgetContent::Divider));
    let poll = UnknownWidget::from_json(r#"{"type":"poll"}"#.to_owned());
    assert_eq!(read(r#""type":"poll""#), WidgetBody::Unknown(poll));
}

/// JSON values, including different texts of the same value.
fn any_json() -> impl Strategy<Value = String> {
    let leaves =
        ["null", "true", "1", "1.0", "-0", "1E400", "0.10", "\"\"", "\"\\u00e9\"", "\"\\ud800\"", "\"é\""];
    select(leaves.to_vec()).prop_map(str::to_owned).prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(", "))),
            vec(("[a-c]", inner), 0..3).prop_map(|fields| {
                let fields: Vec<_> =
                    fields.iter().map(|(name, json)| format!("\"{name}\": {json}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn d34_d35_every_page_reads_back_as_itself(page in any_page()) {
        prop_assert_eq!(PageContent::from_json(&page.to_json()), Ok(page));
    }

    /// Contract D35: each value of an unknown widget is written back with its original text.
    #[test]
    fn d35_values_of_an_unknown_widget_keep_their_text(
        fields in proptest::collection::btree_map("[a-c\"\\\\]{1,3}", any_json(), 0..4),
    ) {
        let mut fields = fields;
        fields.insert("type".to_owned(), "\"poll\"".to_owned());
        let fields: Vec<_> = fields.iter().map(|(name, json)| format!("{}:{json}", text(name))).collect();
        let json = format!(r#"{{"widgets":[{{"id":"{ID}",{}}}]}}"#, fields.join(","));
        prop_assert_eq!(PageContent::from_json(&json).unwrap().to_json(), json);
    }

    #[test]
    fn any_text_is_a_page_or_malformed(json in "\\PC{0,60}|\\{\"(widgets|theme|font|language)\":[\\[\\]{}\",:a-z0-9]{0,40}\\}") {
        if let Ok(page) = PageContent::from_json(&json) {
            prop_assert_eq!(PageContent::from_json(&page.to_json()), Ok(page));
        }
    }
}
