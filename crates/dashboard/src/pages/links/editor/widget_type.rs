//! The types of widgets, the inputs of each, and the way between inputs and widgets (D35).

use signpost_domain::{
    AltText, ContactMethod, Email, FieldError, Name, PhoneNumber, SocialNetwork, VideoUrl, Violations,
    WebUrl, WidgetContent, WidgetText,
};

use super::super::placement_fields::missing;
use super::super::typed_address::with_scheme;

/// A type that people can add.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WidgetType {
    Link,
    Heading,
    Text,
    Image,
    Social,
    Video,
    Email,
    Contact,
    Divider,
}

/// An input of a widget's form. Its name is that of the API's field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    Title,
    Url,
    ThumbnailUrl,
    Heading,
    Paragraph,
    ImageUrl,
    Alt,
    Network,
    Address,
    Method,
    Number,
}

impl Input {
    /// The name of the field in the API.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Title => "title",
            Self::Url => "url",
            Self::ThumbnailUrl => "thumbnail_url",
            Self::Heading | Self::Paragraph => "text",
            Self::ImageUrl => "image_url",
            Self::Alt => "alt",
            Self::Network => "network",
            Self::Address => "address",
            Self::Method => "method",
            Self::Number => "number",
        }
    }
}

impl Input {
    /// What was typed, with a scheme in front of an address that lacks one.
    pub(super) fn typed(self, text: &str) -> String {
        match self {
            Self::Url | Self::ThumbnailUrl | Self::ImageUrl => with_scheme(text).into_owned(),
            Self::Title
            | Self::Heading
            | Self::Paragraph
            | Self::Alt
            | Self::Network
            | Self::Address
            | Self::Method
            | Self::Number => text.to_owned(),
        }
    }
}

impl WidgetType {
    /// Every type, in the order of the buttons that add one.
    pub(super) const ALL: [Self; 9] = [
        Self::Link,
        Self::Heading,
        Self::Text,
        Self::Image,
        Self::Video,
        Self::Social,
        Self::Email,
        Self::Contact,
        Self::Divider,
    ];

    /// The name in the API.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Link => "link",
            Self::Heading => "heading",
            Self::Text => "text",
            Self::Image => "image",
            Self::Social => "social",
            Self::Video => "video",
            Self::Email => "email",
            Self::Contact => "contact",
            Self::Divider => "divider",
        }
    }

    pub(super) fn named(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|each| each.as_str() == text)
    }

    /// The inputs of its form, and whether each must be filled.
    pub(super) const fn inputs(self) -> &'static [(Input, bool)] {
        match self {
            Self::Link => &[(Input::Title, true), (Input::Url, true), (Input::ThumbnailUrl, false)],
            Self::Heading => &[(Input::Heading, true)],
            Self::Text => &[(Input::Paragraph, true)],
            Self::Image => &[(Input::ImageUrl, true), (Input::Alt, false), (Input::Url, false)],
            Self::Social => &[(Input::Network, true), (Input::Url, true)],
            Self::Video => &[(Input::Url, true), (Input::Title, false), (Input::ThumbnailUrl, false)],
            Self::Email => &[(Input::Address, true), (Input::Title, false)],
            Self::Contact => &[(Input::Method, true), (Input::Number, true), (Input::Title, false)],
            Self::Divider => &[],
        }
    }
}

/// The type and the values of a widget's form, with the names of their inputs.
pub(super) fn shown(content: &WidgetContent) -> (WidgetType, Vec<(&'static str, String)>) {
    let optional_url =
        |url: &Option<WebUrl>| url.as_ref().map_or_else(String::new, |url| url.as_str().to_owned());
    let optional_name =
        |name: &Option<Name>| name.as_ref().map_or_else(String::new, |name| name.as_str().to_owned());
    match content {
        WidgetContent::Link { title, url, thumbnail_url } => (
            WidgetType::Link,
            vec![
                ("title", title.as_str().to_owned()),
                ("url", url.as_str().to_owned()),
                ("thumbnail_url", optional_url(thumbnail_url)),
            ],
        ),
        WidgetContent::Heading { text } => (WidgetType::Heading, vec![("text", text.as_str().to_owned())]),
        WidgetContent::Text { text } => (WidgetType::Text, vec![("text", text.as_str().to_owned())]),
        WidgetContent::Image { image_url, alt, url } => (
            WidgetType::Image,
            vec![
                ("image_url", image_url.as_str().to_owned()),
                ("alt", alt.as_str().to_owned()),
                ("url", optional_url(url)),
            ],
        ),
        WidgetContent::Social { network, url } => (
            WidgetType::Social,
            vec![("network", network.as_str().to_owned()), ("url", url.as_str().to_owned())],
        ),
        WidgetContent::Video { url, title, thumbnail_url } => (
            WidgetType::Video,
            vec![
                ("url", url.as_str().to_owned()),
                ("title", optional_name(title)),
                ("thumbnail_url", optional_url(thumbnail_url)),
            ],
        ),
        WidgetContent::Email { address, title } => (
            WidgetType::Email,
            vec![("address", address.as_str().to_owned()), ("title", optional_name(title))],
        ),
        WidgetContent::Contact { method, number, title } => (
            WidgetType::Contact,
            vec![
                ("method", method.as_str().to_owned()),
                ("number", number.as_str().to_owned()),
                ("title", optional_name(title)),
            ],
        ),
        WidgetContent::Divider => (WidgetType::Divider, Vec::new()),
    }
}

/// Reads what was typed into a widget's form. `None`, with the violations, if something is wrong.
pub(super) fn read<'a>(
    of_type: WidgetType,
    text: impl Fn(&str) -> &'a str,
    path: &str,
    violations: &mut Violations,
) -> Option<WidgetContent> {
    let mut reader = Reader { text, path, violations };
    match of_type {
        WidgetType::Link => {
            let title = reader.required("title", Name::parse);
            let url = reader.required("url", WebUrl::parse);
            let thumbnail_url = reader.optional("thumbnail_url", WebUrl::parse);
            Some(WidgetContent::Link { title: title?, url: url?, thumbnail_url: thumbnail_url? })
        }
        WidgetType::Heading => Some(WidgetContent::Heading { text: reader.required("text", Name::parse)? }),
        WidgetType::Text => Some(WidgetContent::Text { text: reader.required("text", WidgetText::parse)? }),
        WidgetType::Image => {
            let image_url = reader.required("image_url", WebUrl::parse);
            // An empty text says that the image is only decoration.
            let alt = reader.parsed("alt", AltText::parse);
            let url = reader.optional("url", WebUrl::parse);
            Some(WidgetContent::Image { image_url: image_url?, alt: alt?, url: url? })
        }
        WidgetType::Social => {
            let network = reader.required("network", SocialNetwork::parse);
            let url = reader.required("url", WebUrl::parse);
            Some(WidgetContent::Social { network: network?, url: url? })
        }
        WidgetType::Video => {
            let url = reader.required("url", VideoUrl::parse);
            let title = reader.optional("title", Name::parse);
            let thumbnail_url = reader.optional("thumbnail_url", WebUrl::parse);
            Some(WidgetContent::Video { url: url?, title: title?, thumbnail_url: thumbnail_url? })
        }
        WidgetType::Email => {
            let address = reader.required("address", Email::parse);
            let title = reader.optional("title", Name::parse);
            Some(WidgetContent::Email { address: address?, title: title? })
        }
        WidgetType::Contact => {
            let method = reader.required("method", ContactMethod::parse);
            let number = reader.number();
            let title = reader.optional("title", Name::parse);
            Some(WidgetContent::Contact { method: method?, number: number?, title: title? })
        }
        WidgetType::Divider => Some(WidgetContent::Divider),
    }
}

/// Reads the inputs of one widget.
struct Reader<'a, F> {
    text: F,
    path: &'a str,
    violations: &'a mut Violations,
}

impl<'b, F: Fn(&str) -> &'b str> Reader<'_, F> {
    fn judged<T>(&mut self, name: &str, parsed: Result<T, FieldError>) -> Option<T> {
        parsed.map_err(|error| self.violations.push(error.at(format!("{}.{name}", self.path)))).ok()
    }

    fn parsed<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, FieldError>) -> Option<T> {
        let parsed = parse((self.text)(name));
        self.judged(name, parsed)
    }

    fn required<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, FieldError>) -> Option<T> {
        let typed = (self.text)(name);
        let parsed = if typed.trim().is_empty() { Err(missing()) } else { parse(typed) };
        self.judged(name, parsed)
    }

    /// The outer `None` is a mistake, the inner one an empty input.
    #[expect(clippy::option_option, reason = "a mistake and an empty input differ")]
    fn optional<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Option<Option<T>> {
        let typed = (self.text)(name);
        if typed.trim().is_empty() {
            return Some(None);
        }
        let parsed = parse(typed);
        self.judged(name, parsed).map(Some)
    }

    /// A telephone number, which people write with spaces and other marks.
    fn number(&mut self) -> Option<PhoneNumber> {
        let typed: String =
            (self.text)("number").chars().filter(|mark| !" \u{a0}()-./".contains(*mark)).collect();
        let parsed = if typed.is_empty() { Err(missing()) } else { PhoneNumber::parse(&typed) };
        self.judged("number", parsed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d35_every_type_of_the_domain_can_be_added() {
        let mut names = WidgetType::ALL.map(WidgetType::as_str);
        let mut known = WidgetContent::TYPES;
        names.sort_unstable();
        known.sort_unstable();
        assert_eq!(names, known);
    }

    #[test]
    fn d35_what_is_shown_is_read_back() {
        let url = || WebUrl::parse("https://example.com/a").unwrap();
        let name = || Name::parse("A name").unwrap();
        let video = VideoUrl::parse("https://www.youtube.com/watch?v=dQw4w9WgXcQ").unwrap();
        for content in [
            WidgetContent::Link { title: name(), url: url(), thumbnail_url: Some(url()) },
            WidgetContent::Link { title: name(), url: url(), thumbnail_url: None },
            WidgetContent::Heading { text: name() },
            WidgetContent::Text { text: WidgetText::parse("Two\nlines").unwrap() },
            WidgetContent::Image { image_url: url(), alt: AltText::parse("").unwrap(), url: Some(url()) },
            WidgetContent::Social { network: SocialNetwork::parse("mastodon").unwrap(), url: url() },
            WidgetContent::Video { url: video.clone(), title: Some(name()), thumbnail_url: None },
            WidgetContent::Video { url: video, title: None, thumbnail_url: Some(url()) },
            WidgetContent::Email { address: Email::parse("a@example.com").unwrap(), title: None },
            WidgetContent::Contact {
                method: ContactMethod::Sms,
                number: PhoneNumber::parse("+442079460958").unwrap(),
                title: Some(name()),
            },
            WidgetContent::Divider,
        ] {
            let (of_type, values) = shown(&content);
            assert_eq!(of_type.as_str(), content.type_name());
            let names: Vec<&str> = of_type.inputs().iter().map(|(input, _)| input.name()).collect();
            assert_eq!(names, values.iter().map(|(name, _)| *name).collect::<Vec<_>>(), "{content:?}");
            let text = |name: &str| {
                values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value.as_str())
            };
            let mut violations = Violations::new();
            assert_eq!(read(of_type, text, "widgets[0]", &mut violations), Some(content));
            assert!(violations.is_empty());
        }
    }

    #[test]
    fn d35_each_mistake_names_its_input() {
        let fields = |of_type: WidgetType, values: &[(&str, &'static str)]| {
            let text =
                |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| *value);
            let mut violations = Violations::new();
            assert_eq!(read(of_type, text, "widgets[3]", &mut violations), None);
            violations.iter().map(|violation| violation.field().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(fields(WidgetType::Link, &[]), ["widgets[3].title", "widgets[3].url"]);
        let mistaken = [("title", " a"), ("url", "ftp://a"), ("thumbnail_url", "x")];
        assert!(
            fields(WidgetType::Link, &mistaken)
                .ends_with(&["widgets[3].url".to_owned(), "widgets[3].thumbnail_url".to_owned()])
        );
        assert_eq!(
            fields(WidgetType::Contact, &[("method", "phone"), ("number", "020 7946")]),
            ["widgets[3].number"]
        );
    }

    #[test]
    fn d35_numbers_may_be_typed_with_spaces_and_marks() {
        let text = |name: &str| match name {
            "method" => "phone",
            "number" => "+44 (20) 7946-0958",
            _ => "",
        };
        let read = read(WidgetType::Contact, text, "widgets[0]", &mut Violations::new());
        let Some(WidgetContent::Contact { number, .. }) = read else { panic!("{read:?}") };
        assert_eq!(number.as_str(), "+442079460958");
    }
}
