//! Landing pages (D34, D35).
//!
//! A page needs no script and loads only the pictures that it names. `docs/pages.md` states its size. Typical
//! content of 100 widgets makes less than 30 KB. That bound covers Signpost's markup; the owner's titles, texts
//! and picture addresses come on top. A hundred text widgets of 2,000 characters take 0.2 MB in Latin letters,
//! 0.8 MB in emoji, and 1 MB in escaped quotation marks.
//!
//! A video is a drawn placeholder that links to the video's page. The page loads nothing from the video site,
//! which learns nothing about visitors who do not follow the link. All widgets link through Signpost's own
//! address, which counts clicks (D59), so the target's host is shown below the title. Only the addresses within a text, which
//! people read, are links to their targets.

use askama::Template;
use signpost_domain::{HostBlocklist, Name, PageContent, Slug, WidgetBody, WidgetContent};

use crate::appearance;
use crate::image_sources::ImageSources;
use crate::landing_blocks::{Block, Blocks, Caption, Picture};
use crate::monogram::{icon_url, is_right_to_left, monogram};
use crate::page::{HtmlPage, PageError, hash_source, policy_of};
use crate::palette::Colours;
use crate::text_links::Part;

const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/landing.css"));

/// A landing page to render.
#[derive(Debug, Clone, Copy)]
pub struct Landing<'a> {
    /// `title`
    pub title: &'a Name,
    /// Its description, appearance and widgets.
    pub content: &'a PageContent,
    /// Its public URL, as the API shows it. Sharing uses this address, even if the visitor used another name
    /// of the host.
    pub url: &'a str,
    /// The slug of the page; `None` at the root of a hostname.
    pub slug: Option<&'a Slug>,
    /// The operator's list of hosts to which no link leads (D24).
    pub blocked: &'a HostBlocklist,
}

impl Landing<'_> {
    /// The maximum length of title and description together, in characters, at which the head of the page
    /// stays in view beside its widgets. A longer head would not fit a small window.
    const MAX_STICKY_HEAD: usize = 280;

    /// Renders the page. Its links are relative to the host, so they work under every name of the host.
    pub fn render(&self) -> Result<HtmlPage, PageError> {
        self.render_marked(&[])
    }

    /// As [`render`](Self::render). The element of each widget has the mark of the same place as its id, so that an editor can
    /// show the part of the page that is edited.
    pub fn render_marked(&self, marks: &[&str]) -> Result<HtmlPage, PageError> {
        let Self { title, content, url, slug, blocked } = *self;
        let title = title.as_str();
        let description = content.description.as_ref().map_or("", |text| text.as_str().trim());
        let colours = Colours::of(content);
        let mut images = ImageSources::default();
        let avatar = content.avatar_url.as_ref().and_then(|url| images.allow(url));
        let monogram = monogram(title);
        let icon = avatar.clone().unwrap_or_else(|| {
            images.allow_drawn_icon();
            icon_url(&monogram, colours.light.fill, colours.light.on_fill)
        });
        let Blocks { list: blocks, marks, icons } =
            Blocks::of(content.widgets.as_slice(), slug, &mut images, blocked, marks);
        let has_captions = blocks.iter().any(Block::has_caption);
        let style = [&colours.css(), STYLE, &appearance::style_of(content, has_captions)].concat();
        let head_length = title.chars().count() + description.chars().count();
        let template = LandingTemplate {
            title,
            language: content.language.as_ref().map_or("und", |language| language.as_str()),
            url,
            description,
            summary: &summary(self, description),
            right_to_left: is_right_to_left(title),
            search_engines: content.search_engines,
            stays: head_length <= Self::MAX_STICKY_HEAD,
            avatar: avatar.as_deref(),
            icon: &icon,
            monogram: &monogram,
            images_policy: images.in_page(),
            colours: &colours,
            style: &style,
            blocks: &blocks,
            marks: &marks,
            icons: &icons,
        };
        let directives = [("style-src", hash_source(&style)), ("img-src", images.in_header())];
        Ok(HtmlPage { html: template.render()?, content_security_policy: policy_of(&directives) })
    }
}

/// The maximum length of a summary that is not the owner's description, in characters. Sites show less.
const MAX_SUMMARY: usize = 160;

/// The description in one line. If the owner wrote none, it is the page's first text, or else the titles on the page, or
/// else its address: without any, sites invent a text for the card.
fn summary(page: &Landing<'_>, description: &str) -> String {
    let contents = || {
        page.content.widgets.as_slice().iter().filter_map(|widget| match &widget.body {
            WidgetBody::Known(content) => Some(content),
            WidgetBody::Unknown(_) => None,
        })
    };
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    if !description.is_empty() {
        return one_line(description);
    }
    let text = contents().find_map(|content| match content {
        WidgetContent::Text { text } => Some(one_line(text.as_str())).filter(|text| !text.is_empty()),
        _ => None,
    });
    if let Some(text) = text {
        return shortened(&text);
    }
    let titles: Vec<&str> = contents()
        .filter_map(|content| match content {
            WidgetContent::Link { title, .. }
            | WidgetContent::Heading { text: title }
            | WidgetContent::Video { title: Some(title), .. } => Some(title.as_str()),
            _ => None,
        })
        .take(MAX_SUMMARY)
        .collect();
    if titles.is_empty() {
        return page
            .url
            .split_once("://")
            .map_or(page.url, |(_, rest)| rest)
            .trim_end_matches('/')
            .to_owned();
    }
    shortened(&titles.join(" · "))
}

/// The first words of `text`.
fn shortened(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_SUMMARY) else { return text.to_owned() };
    let start = text.get(..end).unwrap_or_default();
    let words = start.rsplit_once(' ').map_or(start, |(words, _)| words);
    format!("{}…", words.trim_end_matches([' ', '·', ',', ';']))
}

/// Each text determines its own direction.
#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    title: &'a str,
    /// The language of the owner's texts; `und` if it is unknown.
    language: &'a str,
    url: &'a str,
    description: &'a str,
    /// What cards and search engines show below the title, in one line.
    summary: &'a str,
    right_to_left: bool,
    search_engines: bool,
    stays: bool,
    avatar: Option<&'a str>,
    icon: &'a str,
    monogram: &'a str,
    images_policy: Option<String>,
    colours: &'a Colours,
    style: &'a str,
    blocks: &'a [Block<'a>],
    marks: &'a [Option<&'a str>],
    icons: &'a [(usize, crate::social_networks::Network)],
}

impl LandingTemplate<'_> {
    /// The blocks, with the ids of their elements.
    fn marked_blocks(&self) -> impl Iterator<Item = (&Block<'_>, Option<&str>)> {
        let marks = self.marks.iter().copied().chain(std::iter::repeat(None));
        self.blocks.iter().zip(marks)
    }
}
