//! Contents of landing pages that together have every kind of value in every field, and the maximum lengths.

use signpost_domain::{
    AccentColor, AltText, Background, ButtonStyle, ContactMethod, Description, Font, LanguageTag,
    PageContent, Theme, VideoUrl, Widget, WidgetBody, WidgetContent, WidgetId, WidgetText, Widgets,
};

use crate::samples;

/// The content of a page with only a description.
pub(super) fn described(text: &str) -> PageContent {
    PageContent { description: Some(Description::parse(text).unwrap()), ..PageContent::default() }
}

/// Contents that overwrite each other in this order.
pub(super) fn contents() -> Vec<PageContent> {
    let of_widgets = |widgets| PageContent { widgets, ..PageContent::default() };
    let text = |text: &str| WidgetContent::Text { text: WidgetText::parse(text).unwrap() };
    let odd = "'single' \"double\" \\ ; -- %_ {} $1 \u{2028} </script>\r\n\te\u{301} é 👩\u{200d}👧 \u{202e}right to left";
    let mut contents = vec![
        samples::page_content(),
        PageContent::default(),
        described(""),
        described("   "),
        described(odd),
        described(&"𝄞".repeat(Description::MAX_CHARS)),
        PageContent { avatar_url: Some(samples::web_url(&longest_url(1))), ..PageContent::default() },
    ];
    contents.extend(Theme::ALL.map(|theme| PageContent { theme, ..PageContent::default() }));
    contents.extend(Background::ALL.map(|background| PageContent { background, ..PageContent::default() }));
    contents
        .extend(ButtonStyle::ALL.map(|button_style| PageContent { button_style, ..PageContent::default() }));
    contents.extend(Font::ALL.map(|font| PageContent { font, ..PageContent::default() }));
    contents.extend(["en", "de-x-12345678-12345678-12345678-abc"].map(|tag| {
        let language = Some(LanguageTag::parse(tag).unwrap());
        PageContent { language, ..PageContent::default() }
    }));
    contents.extend(["#000000", "#ffffff"].map(|color| {
        let accent_color = Some(AccentColor::parse(color).unwrap());
        PageContent { accent_color, ..PageContent::default() }
    }));
    let without_options = [
        WidgetContent::Link {
            title: samples::name("Menu"),
            url: samples::web_url("https://example.com"),
            thumbnail_url: None,
        },
        WidgetContent::Image {
            image_url: samples::web_url("https://example.com/a.png"),
            alt: AltText::parse("").unwrap(),
            url: None,
        },
        WidgetContent::Email { address: samples::email("a@example.com"), title: None },
        text(" "),
        text(odd),
    ];
    let video = WidgetContent::Video {
        url: VideoUrl::parse("https://vimeo.com/1").unwrap(),
        title: None,
        thumbnail_url: None,
    };
    let contacts = ContactMethod::ALL.map(|method| WidgetContent::Contact {
        method,
        number: samples::phone_number("+123456789012345"),
        title: None,
    });
    let alone = samples::one_of_each_type().into_iter().chain(without_options).chain([video]).chain(contacts);
    contents.extend(alone.map(|widget| of_widgets(samples::widgets(vec![widget]))));
    // The order and the ids of widgets must read back too.
    let turned = samples::one_of_each_type().into_iter().rev().collect();
    contents.push(of_widgets(samples::widgets(turned)));
    let with_id = |byte| Widget {
        id: WidgetId::from_bytes([byte; 16]),
        body: WidgetBody::Known(WidgetContent::Divider),
    };
    contents.push(of_widgets(Widgets::new(vec![with_id(0xff), with_id(0)]).unwrap()));
    contents.push(PageContent::default());
    contents
}

/// A URL of the maximum length; each number gives a different one.
pub(super) fn longest_url(number: usize) -> String {
    format!("https://bücher.example/{number:03}/{}", "ä".repeat(2048 - 27))
}
