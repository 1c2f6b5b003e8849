//! A landing page, compiled into the answers for its visitors and for visitors of its widgets.

use signpost_app::ports::PublishedLanding;
use signpost_domain::{HostBlocklist, Slug, TargetUrl, Widget, WidgetBody, WidgetContent, WidgetId};
use signpost_listener::{Effort, Encoding};
use signpost_pages::{HtmlPage, Landing};

use crate::byte_codec::{Items, Reader, Writer};
use crate::compiled_link::CompileError;

/// Longer pages are not compressed. With their compressed forms they would not fit into the cache, and each visit would
/// compress them anew.
const MAX_COMPRESSED: usize = 128 * 1024;

/// The forms in which a page is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Forms {
    /// Also compressed, for visitors.
    All,
    /// Only as it is, for an explanation (D136), which no browser gets.
    Plain,
}

/// Compiles the page at `slug`, or at the root of a hostname, into bytes that [`PageView::new`] reads. `url`
/// is its public URL. Texts have no links to `blocked` hosts.
pub(crate) fn compiled(
    page: &PublishedLanding,
    url: &str,
    slug: Option<&str>,
    blocked: &HostBlocklist,
    forms: Forms,
) -> Result<Vec<u8>, CompileError> {
    let PublishedLanding { title, content } = page;
    let slug = slug.and_then(|slug| Slug::parse(slug).ok());
    let HtmlPage { html, content_security_policy } =
        Landing { title, content, url, slug: slug.as_ref(), blocked }.render()?;
    let mut writer = Writer::default();
    writer.text(content_security_policy.as_bytes())?;
    let has_addresses = content.widgets.as_slice().iter().any(has_addresses);
    writer.number(u32::from(has_addresses));
    writer.list(content.widgets.as_slice().iter().filter_map(widget_entry))?;
    let is_compressed = forms == Forms::All && html.len() <= MAX_COMPRESSED;
    for encoding in Encoding::ALL {
        let form = is_compressed.then(|| encoding.compress(html.as_bytes(), Effort::Kept));
        writer.text(&form.flatten().unwrap_or_default())?;
    }
    writer.bytes(html.as_bytes());
    Ok(writer.finish())
}

/// Whether the text of the widget may have links.
fn has_addresses(Widget { id: _, body }: &Widget) -> bool {
    matches!(body, WidgetBody::Known(WidgetContent::Text { text }) if text.as_str().contains("://"))
}

/// The widget's id and target, if the widget links through its page's address (D59).
fn widget_entry(Widget { id, body }: &Widget) -> Option<Vec<u8>> {
    let WidgetBody::Known(content) = body else { return None };
    let (_, url) = content.leads_to()?;
    Some([&id.to_bytes()[..], url.as_target().location().as_bytes()].concat())
}

/// A compiled page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PageView<'a> {
    /// The Content-Security-Policy of the page.
    pub(crate) policy: &'a [u8],
    /// Whether texts of the page may have links, which depend on the operator's list of hosts.
    pub(crate) has_addresses: bool,
    widgets: Items<'a>,
    brotli: &'a [u8],
    gzip: &'a [u8],
    html: &'a [u8],
}

impl<'a> PageView<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut reader = Reader::new(bytes);
        Self {
            policy: reader.text(),
            has_addresses: reader.number() != 0,
            widgets: reader.list(),
            brotli: reader.text(),
            gzip: reader.text(),
            html: reader.rest(),
        }
    }

    /// The HTML of the page in this form; empty if the page does not have it.
    pub(crate) const fn form(&self, encoding: Option<Encoding>) -> &'a [u8] {
        match encoding {
            Some(Encoding::Brotli) => self.brotli,
            Some(Encoding::Gzip) => self.gzip,
            None => self.html,
        }
    }

    /// Returns the target of a widget.
    pub(crate) fn widget(&self, requested: WidgetId) -> Option<TargetUrl> {
        let mut widgets = self.widgets;
        widgets.find_map(|widget| {
            let (id, location) = widget.split_first_chunk::<16>()?;
            let location = (*id == requested.to_bytes()).then(|| str::from_utf8(location).ok())??;
            TargetUrl::from_stored(location.to_owned()).ok()
        })
    }
}
