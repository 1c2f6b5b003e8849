//! Contents of landing pages.

use signpost_domain::{
    AccentColor, AltText, Background, ButtonStyle, ContactMethod, Description, Font, Id, LanguageTag,
    PageContent, PhoneNumber, SocialNetwork, Theme, VideoUrl, Widget, WidgetBody, WidgetContent, WidgetText,
    Widgets,
};

use super::{email, name, web_url};

/// The content of a landing page with every field set and a widget of each type. Each call returns the same content.
#[must_use]
pub fn page_content() -> PageContent {
    PageContent {
        description: Some(Description::parse("All that we do,\nin one place").expect("a description")),
        avatar_url: Some(web_url("https://example.com/avatar.png")),
        theme: Theme::Dark,
        accent_color: Some(AccentColor::parse("#1a2b3c").expect("a colour")),
        search_engines: true,
        language: Some(LanguageTag::parse("en-GB").expect("a language")),
        background: Background::Dots,
        button_style: ButtonStyle::Pill,
        font: Font::Serif,
        widgets: widgets(one_of_each_type()),
    }
}

/// A telephone number.
#[must_use]
pub fn phone_number(text: &str) -> PhoneNumber {
    PhoneNumber::parse(text).expect("a telephone number")
}

/// Widgets with ids from 1 upwards.
#[must_use]
pub fn widgets(contents: Vec<WidgetContent>) -> Widgets {
    let numbered = (1_u128..).zip(contents).map(|(number, content)| Widget {
        id: Id::from_bytes(number.to_be_bytes()),
        body: WidgetBody::Known(content),
    });
    Widgets::new(numbered.collect()).expect("at most a hundred widgets")
}

/// A widget of each type, with every field set.
#[must_use]
pub fn one_of_each_type() -> Vec<WidgetContent> {
    vec![
        WidgetContent::Heading { text: name("Welcome") },
        WidgetContent::Text { text: WidgetText::parse("Open daily,\nexcept today.").expect("a text") },
        WidgetContent::Link {
            title: name("Menu"),
            url: web_url("https://example.com/menu?of=today#top"),
            thumbnail_url: Some(web_url("https://example.com/menu.png")),
        },
        WidgetContent::Image {
            image_url: web_url("https://example.com/house.jpg"),
            alt: AltText::parse("The house").expect("a text for an image"),
            url: Some(web_url("https://example.com/house")),
        },
        WidgetContent::Social {
            network: SocialNetwork::parse("instagram").expect("a network"),
            url: web_url("https://www.instagram.com/example"),
        },
        WidgetContent::Video {
            url: VideoUrl::parse("https://youtu.be/dQw4w9WgXcQ").expect("a video"),
            title: Some(name("A day here")),
            thumbnail_url: Some(web_url("https://example.com/day.jpg")),
        },
        WidgetContent::Email { address: email("owner@example.com"), title: Some(name("Write to us")) },
        WidgetContent::Contact {
            method: ContactMethod::Phone,
            number: phone_number("+442079460958"),
            title: Some(name("Call us")),
        },
        WidgetContent::Divider,
    ]
}
