//! Landing pages (D34, D35).
//!
//! A page needs no script and loads nothing but the pictures that it names. Its size, pictures aside, is about 5 KB and
//! 150 to 250 bytes a widget: 7 KB with 8 widgets and less than 30 KB with 100, as people fill them. That bound is for our markup:
//! titles, texts and addresses of pictures are their owner's and come on top of it. A hundred text widgets of 2,000
//! characters each take what their text takes: 0.2 MB in Latin letters, 0.8 MB in emoji, and 1 MB in quotation marks, each
//! of which is escaped.
//!
//! A video is a picture of our own with a link to the video's page: nothing of the video site is loaded, and it learns of
//! nobody, before a visitor follows the link. All links of widgets lead through our own address, which counts them (D59);
//! so the host to which one leads stands below its title.

use askama::Template;
use signpost_domain::{Name, PageContent, Slug};

use crate::image_sources::ImageSources;
use crate::landing_blocks::{Block, Blocks, Picture};
use crate::monogram::{icon_url, is_right_to_left, monogram};
use crate::page::{HtmlPage, PageError, hash_source, policy_of};
use crate::palette::Colours;

const STYLE: &str = concat!(include_str!("../templates/base.css"), include_str!("../templates/landing.css"));

/// A landing page that is to be rendered.
#[derive(Debug, Clone, Copy)]
pub struct Landing<'a> {
    /// `title`
    pub title: &'a Name,
    /// What is on it.
    pub content: &'a PageContent,
    /// Its public URL, as the API shows it. It is the address to share, whatever name of the host a visitor used.
    pub url: &'a str,
    /// The slug under which it is shown; `None` at the root of a hostname.
    pub slug: Option<&'a Slug>,
}

impl Landing<'_> {
    /// How long title and description may be together, in characters, for the head of the page to stay in view beside its
    /// widgets. A longer one would not fit a small window.
    const LONGEST_STAYING_HEAD: usize = 280;

    /// The page. Its links are relative to the host, so they work under every name of the host.
    pub fn render(&self) -> Result<HtmlPage, PageError> {
        let Self { title, content, url, slug } = *self;
        let title = title.as_str();
        let description = content.description.as_ref().map_or("", |text| text.as_str().trim());
        let colours = Colours::new(content.theme, content.accent_color.as_ref());
        let style = format!("{}{STYLE}", colours.css());
        let mut images = ImageSources::default();
        let avatar = content.avatar_url.as_ref().and_then(|url| images.allow(url));
        let monogram = monogram(title);
        let icon = avatar.clone().unwrap_or_else(|| {
            images.allow_drawn_icon();
            icon_url(&monogram, colours.light.fill, colours.light.on_fill)
        });
        let Blocks { blocks, icons } = Blocks::of(content.widgets.as_slice(), slug, &mut images);
        let head_length = title.chars().count() + description.chars().count();
        let template = LandingTemplate {
            title,
            url,
            description,
            one_line: &description.split_whitespace().collect::<Vec<_>>().join(" "),
            right_to_left: is_right_to_left(title),
            search_engines: content.search_engines,
            stays: head_length <= Self::LONGEST_STAYING_HEAD,
            avatar: avatar.as_deref(),
            icon: &icon,
            monogram: &monogram,
            images_policy: images.in_page(),
            colours: &colours,
            style: &style,
            blocks: &blocks,
            icons: &icons,
        };
        let directives = [("style-src", hash_source(&style)), ("img-src", images.in_header())];
        Ok(HtmlPage { html: template.render()?, content_security_policy: policy_of(&directives) })
    }
}

/// The language of a page's words is not known, hence `lang="und"`. Each text finds its own direction.
#[derive(Template)]
#[template(path = "landing.html")]
struct LandingTemplate<'a> {
    title: &'a str,
    url: &'a str,
    description: &'a str,
    /// The description without line breaks.
    one_line: &'a str,
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
    icons: &'a [(usize, crate::social_networks::Network)],
}
