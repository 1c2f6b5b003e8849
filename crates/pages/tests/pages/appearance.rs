//! Language, background, buttons and font of landing pages (D34).

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};
use signpost_domain::{Background, ButtonStyle, Font, LanguageTag, PageContent, Theme};

use crate::document::Document;
use crate::landings::{full_page, rendered};

/// A page with every widget, in each combination of choices.
fn every_look() -> Vec<PageContent> {
    let page = full_page("Some words", "https://pictures.example.com/a.png", "ada@example.com");
    let mut looks = Vec::new();
    for theme in Theme::ALL {
        for background in Background::ALL {
            for button_style in ButtonStyle::ALL {
                looks.extend(Font::ALL.map(|font| PageContent {
                    theme,
                    background,
                    button_style,
                    font,
                    ..page.clone()
                }));
            }
        }
    }
    looks
}

#[test]
fn d34_page_states_its_language() {
    let language_of = |language: Option<&str>| {
        let language = language.map(|tag| LanguageTag::parse(tag).unwrap());
        let html = rendered("Café", &PageContent { language, ..PageContent::default() }).html;
        Document::read(&html).only("html").attribute("lang").map(str::to_owned)
    };
    assert_eq!(language_of(None).as_deref(), Some("und"));
    assert_eq!(language_of(Some("pt-br")).as_deref(), Some("pt-BR"));
}

/// A newer version may store a form of tags that this one does not know.
#[test]
fn r23_stored_language_cannot_leave_its_attribute() {
    let stored = "x\"><script>alert(1)</script>";
    let language = Some(LanguageTag::from_stored(stored.to_owned()).unwrap());
    let document = Document::read(&rendered("x", &PageContent { language, ..PageContent::default() }).html);
    assert_eq!(document.only("html").attribute("lang"), Some(stored));
    assert!(document.all("script").next().is_none());
}

/// The choices change the style sheet and the colour of the browser's bars, never the content.
#[test]
fn d34_choices_change_only_the_style_sheet() {
    let outline = |content: &PageContent| Document::read(&rendered("Ada", content).html).outline();
    for content in every_look() {
        let plain = PageContent {
            theme: content.theme,
            ..full_page("Some words", "https://pictures.example.com/a.png", "ada@example.com")
        };
        assert_eq!(outline(&content), outline(&plain));
    }
}

#[test]
fn d34_no_choice_makes_the_page_load_anything() {
    for content in every_look() {
        let page = rendered("Ada", &content);
        let style = Document::read(&page.html).only("style").text.clone();
        for forbidden in ["url(", "@import", "@font-face", "http"] {
            assert!(!style.contains(forbidden), "{forbidden} in {style}");
        }
        let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
        let expected = format!(
            "default-src 'none'; style-src 'sha256-{hash}'; img-src https://pictures.example.com; base-uri 'none'; \
             form-action 'none'; frame-ancestors 'none'"
        );
        assert_eq!(page.content_security_policy, expected);
    }
}

/// Every custom property that a rule uses has a value.
#[test]
fn d34_every_colour_of_a_page_is_defined() {
    for content in every_look() {
        let style = Document::read(&rendered("Ada", &content).html).only("style").text.clone();
        for used in style.split("var(").skip(1).filter_map(|rest| rest.split(')').next()) {
            assert!(style.contains(&format!("{used}:#")), "{used} of {content:?}");
        }
    }
}

#[test]
fn d34_defaults_carry_no_rules_of_other_choices() {
    let size = |content: &PageContent| rendered("Ada", content).html.len();
    let default = size(&PageContent::default());
    let sizes = every_look().into_iter().map(|look| {
        size(&PageContent {
            widgets: PageContent::default().widgets,
            avatar_url: None,
            description: None,
            ..look
        })
    });
    let (least, most) = sizes.fold((usize::MAX, 0), |(least, most), size| (least.min(size), most.max(size)));
    assert!(least <= default && most <= default + 1_300, "{least} to {most} bytes; by default {default}");
}
