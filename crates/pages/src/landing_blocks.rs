//! The blocks of a landing page, in the order of its widgets. Adjacent widgets of the same kind share a list:
//! links, e-mail addresses and telephone numbers one, social accounts another.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use signpost_domain::{
    ContactMethod, HostBlocklist, Name, PhoneNumber, Slug, Widget, WidgetBody, WidgetContent, WidgetId,
};

use crate::image_sources::ImageSources;
use crate::monogram::monogram;
use crate::network_names;
use crate::phone_numbers::spaced;
use crate::social_networks::{self, Network};
use crate::text_links::{self, AddressBudget, Part};

/// Percent-encodes what could end the address of `mailto:` or begin a header field (RFC 6068).
const IN_MAILTO: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'@').remove(b'.').remove(b'-').remove(b'_').remove(b'~').remove(b'+');

/// A part of the page.
#[derive(Debug)]
pub(crate) enum Block<'a> {
    /// A list of buttons.
    Links(Vec<Button<'a>>),
    /// A row of social accounts.
    Social(Vec<Account<'a>>),
    Heading(&'a str),
    Text(Vec<Part<'a>>),
    Image {
        src: Option<String>,
        alt: &'a str,
        /// The target, and the label of its link if the picture has no alternative text.
        link: Option<(String, &'a str)>,
    },
    Video {
        href: String,
        site: &'static str,
        /// `None` if the owner gave neither title nor still.
        caption: Option<Caption<'a>>,
    },
    Divider,
}

impl Block<'_> {
    /// Whether it is a video with a caption.
    pub(crate) const fn has_caption(&self) -> bool {
        matches!(self, Self::Video { caption: Some(_), .. })
    }
}

/// What the owner says about a video.
#[derive(Debug)]
pub(crate) struct Caption<'a> {
    pub(crate) title: Option<&'a str>,
    /// The address of its still.
    pub(crate) still: Option<String>,
}

/// A button that links to a target.
#[derive(Debug)]
pub(crate) struct Button<'a> {
    pub(crate) href: String,
    pub(crate) title: Cow<'a, str>,
    /// The line below the title: the target's host, the e-mail address, or the telephone number.
    pub(crate) below: Option<Cow<'a, str>>,
    pub(crate) picture: Picture,
    /// The id of its element.
    pub(crate) mark: Option<&'a str>,
}

/// The picture before the title of a button.
#[derive(Debug)]
pub(crate) enum Picture {
    None,
    /// The content of an SVG of 24 by 24, drawn in lines.
    Drawn(&'static str),
    /// A picture at this address. `None` if the policy cannot allow it: its space stays.
    At(Option<String>),
    /// Initials of the title, where other buttons of the list have a picture: so all titles begin at one edge.
    Initials(String),
}

/// An account on a social network.
#[derive(Debug)]
pub(crate) struct Account<'a> {
    pub(crate) href: String,
    pub(crate) name: Cow<'a, str>,
    /// The index of its icon, if it has one.
    pub(crate) icon: Option<usize>,
    /// The id of its element.
    pub(crate) mark: Option<&'a str>,
}

/// The blocks of a page, and the icons that they use.
#[derive(Debug)]
pub(crate) struct Blocks<'a> {
    pub(crate) list: Vec<Block<'a>>,
    /// The ids of the elements of blocks of one widget, by the places of the blocks. Missing ones are `None`.
    pub(crate) marks: Vec<Option<&'a str>>,
    /// The icons of the social networks on the page, each once, with their indexes.
    pub(crate) icons: Vec<(usize, Network)>,
}

impl<'a> Blocks<'a> {
    /// Builds the blocks of `widgets`. Clicks lead through the link at `slug`, or at the root of a hostname.
    /// It skips widget types that this version does not know.
    /// Addresses in texts become links unless their host is `blocked`. `marks` are the ids of the widgets' elements.
    pub(crate) fn of(
        widgets: &'a [Widget],
        slug: Option<&Slug>,
        images: &mut ImageSources,
        blocked: &HostBlocklist,
        marks: &[&'a str],
    ) -> Self {
        let through = |id: WidgetId| match slug {
            Some(slug) => format!("/{}/w/{id}", slug.as_str()),
            None => format!("/w/{id}"),
        };
        let mut page = Self { list: Vec::new(), marks: Vec::new(), icons: Vec::new() };
        let mut addresses = AddressBudget::OF_A_PAGE;
        for (place, Widget { id, body }) in widgets.iter().enumerate() {
            let WidgetBody::Known(content) = body else { continue };
            match content {
                WidgetContent::Link { title, url, thumbnail_url } => page.push_button(Button {
                    href: through(*id),
                    title: title.as_str().into(),
                    below: Some(url.host().into()),
                    picture: thumbnail_url
                        .as_ref()
                        .map_or(Picture::None, |url| Picture::At(images.allow(url))),
                    mark: None,
                }),
                WidgetContent::Email { address, title } => {
                    let encoded = utf8_percent_encode(address.as_str(), IN_MAILTO);
                    page.push_button(Button {
                        href: format!("mailto:{encoded}"),
                        title: title.as_ref().map_or(address.as_str(), |title| title.as_str()).into(),
                        below: title.as_ref().map(|_| address.as_str().into()),
                        picture: Picture::Drawn(social_networks::LETTER),
                        mark: None,
                    });
                }
                WidgetContent::Contact { method, number, title } => {
                    if !method.host().is_some_and(|host| blocked.contains(host)) {
                        page.push_button(contact(*method, number, title.as_ref()));
                    }
                }
                WidgetContent::Social { network, url } => {
                    page.push_account(through(*id), network.as_str(), url.host());
                }
                WidgetContent::Heading { text } => page.list.push(Block::Heading(text.as_str())),
                WidgetContent::Text { text } => {
                    page.list.push(Block::Text(text_links::parts(text.as_str(), &mut addresses, blocked)));
                }
                WidgetContent::Image { image_url, alt, url } => page.list.push(Block::Image {
                    src: images.allow(image_url),
                    alt: alt.as_str(),
                    link: url.as_ref().map(|url| (through(*id), url.host())),
                }),
                WidgetContent::Video { url, title, thumbnail_url } => {
                    let is_vimeo = url.as_web_url().host().ends_with("vimeo.com");
                    page.list.push(Block::Video {
                        href: through(*id),
                        site: if is_vimeo { "Vimeo" } else { "YouTube" },
                        caption: (title.is_some() || thumbnail_url.is_some()).then(|| Caption {
                            title: title.as_ref().map(Name::as_str),
                            still: thumbnail_url.as_ref().and_then(|url| images.allow(url)),
                        }),
                    });
                }
                WidgetContent::Divider => page.list.push(Block::Divider),
            }
            if let Some(mark) = marks.get(place) {
                page.mark(mark);
            }
        }
        page.align();
        page
    }

    /// Marks the element of the newest widget, unless the widget is not shown and the element has a mark already.
    fn mark(&mut self, mark: &'a str) {
        let count = self.list.len();
        match self.list.last_mut() {
            Some(Block::Links(buttons)) => {
                buttons.last_mut().map(|button| button.mark.get_or_insert(mark));
            }
            Some(Block::Social(accounts)) => {
                accounts.last_mut().map(|account| account.mark.get_or_insert(mark));
            }
            Some(_) if self.marks.len() < count => {
                self.marks.resize(count - 1, None);
                self.marks.push(Some(mark));
            }
            Some(_) | None => {}
        }
    }

    /// Gives each button a picture in lists that have any.
    fn align(&mut self) {
        for block in &mut self.list {
            let Block::Links(buttons) = block else { continue };
            if buttons.iter().all(|button| matches!(button.picture, Picture::None)) {
                continue;
            }
            for button in buttons.iter_mut().filter(|button| matches!(button.picture, Picture::None)) {
                button.picture = Picture::Initials(monogram(&button.title));
            }
        }
    }

    fn push_button(&mut self, button: Button<'a>) {
        if let Some(Block::Links(buttons)) = self.list.last_mut() {
            buttons.push(button);
        } else {
            self.list.push(Block::Links(vec![button]));
        }
    }

    fn push_account(&mut self, href: String, name: &'a str, host: &'a str) {
        let found = social_networks::network_of(name, host);
        let account = Account {
            href,
            name: found
                .map_or_else(|| network_names::name_of(name, host), |(_, network)| network.name.into()),
            icon: found.map(|(number, _)| number),
            mark: None,
        };
        if let Some(found) = found
            && !self.icons.contains(&found)
        {
            self.icons.push(found);
        }
        if let Some(Block::Social(accounts)) = self.list.last_mut() {
            accounts.push(account);
        } else {
            self.list.push(Block::Social(vec![account]));
        }
    }
}

/// A button that calls a number, or writes to it. No click on it can be counted, because it leads to no page of ours.
fn contact<'a>(method: ContactMethod, number: &PhoneNumber, title: Option<&'a Name>) -> Button<'a> {
    let (href, service, icon) = match method {
        ContactMethod::Phone => (format!("tel:{}", number.as_str()), None, HANDSET),
        ContactMethod::Sms => (format!("sms:{}", number.as_str()), Some("SMS"), BUBBLE),
        ContactMethod::Whatsapp => {
            (format!("https://wa.me/{}", number.digits()), Some("WhatsApp"), social_networks::WHATSAPP)
        }
    };
    let digits = spaced(number);
    let (title, below): (Cow<'a, str>, _) = match (title, service) {
        (None, service) => (digits.into(), service.map(Cow::Borrowed)),
        (Some(title), None) => (title.as_str().into(), Some(digits.into())),
        (Some(title), Some(service)) => (title.as_str().into(), Some(format!("{service} · {digits}").into())),
    };
    Button { href, title, below, picture: Picture::Drawn(icon), mark: None }
}

const HANDSET: &str = r#"<path d="M6 3.500h3l1.500 4.500-2 1.500a11 11 0 0 0 6 6l1.500-2 4.500 1.500v3a2 2 0 0 1-2 2A15.500 15.500 0 0 1 4 5.500a2 2 0 0 1 2-2z"/>"#;
const BUBBLE: &str = r#"<path d="M5 4.500h14a2 2 0 0 1 2 2v9a2 2 0 0 1-2 2h-7L7.500 21v-3.500H5a2 2 0 0 1-2-2v-9a2 2 0 0 1 2-2zM8 11h.01M12 11h.01M16 11h.01"/>"#;
