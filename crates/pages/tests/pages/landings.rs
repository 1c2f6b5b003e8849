//! Landing pages for the tests.

use signpost_domain::{
    AltText, ContactMethod, Description, Email, HostBlocklist, Name, PageContent, PhoneNumber, Slug,
    SocialNetwork, VideoUrl, WebUrl, Widget, WidgetBody, WidgetContent, WidgetId, WidgetText, Widgets,
};
use signpost_pages::{HtmlPage, Landing};

pub(crate) fn name(text: &str) -> Name {
    Name::from_stored(text.to_owned()).unwrap()
}

pub(crate) fn url(text: &str) -> WebUrl {
    WebUrl::from_stored(text.to_owned()).unwrap()
}

pub(crate) fn widgets(contents: Vec<WidgetContent>) -> Widgets {
    let widgets = contents.into_iter().zip(1_u8..).map(|(content, number)| Widget {
        id: WidgetId::from_bytes([number; 16]),
        body: WidgetBody::Known(content),
    });
    Widgets::from_stored(widgets.collect()).unwrap()
}

/// The public URL of the pages of the tests.
pub(crate) const URL: &str = "https://go.example.com/sample";

/// The page with this content, at the slug `sample`.
pub(crate) fn rendered(title: &str, content: &PageContent) -> HtmlPage {
    rendered_at(URL, title, content)
}

/// The same page with another public URL.
pub(crate) fn rendered_at(url: &str, title: &str, content: &PageContent) -> HtmlPage {
    let slug = Slug::parse("sample").unwrap();
    Landing { title: &name(title), content, url, slug: Some(&slug), blocked: &HostBlocklist::default() }
        .render()
        .unwrap()
}

/// A widget of each type and variant. Every text is `text`, every URL is `address`, and the e-mail address is
/// `mail`.
pub(crate) fn every_widget(text: &str, address: &str, mail: &str) -> Vec<WidgetContent> {
    let alt = |text: &str| AltText::from_stored(text.to_owned()).unwrap();
    let email = || Email::from_stored(mail.to_owned()).unwrap();
    let video = || VideoUrl::from_stored("https://vimeo.com/1".to_owned()).unwrap();
    let number = || PhoneNumber::parse("+442079460958").unwrap();
    vec![
        WidgetContent::Link { title: name(text), url: url(address), thumbnail_url: Some(url(address)) },
        WidgetContent::Link { title: name(text), url: url(address), thumbnail_url: None },
        WidgetContent::Heading { text: name(text) },
        WidgetContent::Text { text: WidgetText::from_stored(text.to_owned()).unwrap() },
        WidgetContent::Image { image_url: url(address), alt: alt(text), url: Some(url(address)) },
        WidgetContent::Image { image_url: url(address), alt: alt(text), url: None },
        WidgetContent::Image { image_url: url(address), alt: alt(""), url: Some(url(address)) },
        WidgetContent::Social {
            network: SocialNetwork::from_stored(text.to_owned()).unwrap(),
            url: url(address),
        },
        WidgetContent::Social {
            network: SocialNetwork::from_stored("instagram".to_owned()).unwrap(),
            url: url(address),
        },
        WidgetContent::Video { url: video(), title: None, thumbnail_url: None },
        WidgetContent::Email { address: email(), title: Some(name(text)) },
        WidgetContent::Email { address: email(), title: None },
        WidgetContent::Divider,
        WidgetContent::Video { url: video(), title: Some(name(text)), thumbnail_url: Some(url(address)) },
        WidgetContent::Contact { method: ContactMethod::Phone, number: number(), title: Some(name(text)) },
        WidgetContent::Contact { method: ContactMethod::Sms, number: number(), title: Some(name(text)) },
        WidgetContent::Contact { method: ContactMethod::Whatsapp, number: number(), title: None },
    ]
}

/// A page with `text` as every text and `address` as every URL.
pub(crate) fn full_page(text: &str, address: &str, mail: &str) -> PageContent {
    PageContent {
        description: Some(Description::from_stored(text.to_owned()).unwrap()),
        avatar_url: Some(url(address)),
        widgets: widgets(every_widget(text, address, mail)),
        ..PageContent::default()
    }
}
