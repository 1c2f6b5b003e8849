//! The preview card of a redirect, compiled into the answer for previewers (D135).

use bytes::Bytes;
use signpost_app::visits::PreviewCard;
use signpost_pages::{CardPage, HtmlPage};

use crate::byte_codec::{Reader, Writer};
use crate::compiled_link::CompileError;
use crate::outcome::Outcome;

/// Compiles a card into bytes that [`CardView::new`] reads.
pub(crate) fn compiled(PreviewCard { preview, url }: &PreviewCard) -> Result<Vec<u8>, CompileError> {
    let HtmlPage { html, content_security_policy } = CardPage { preview, url }.render()?;
    let mut writer = Writer::default();
    writer.text(content_security_policy.as_bytes())?;
    writer.bytes(html.as_bytes());
    Ok(writer.finish())
}

/// A compiled card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CardView<'a> {
    policy: &'a [u8],
    html: &'a [u8],
}

impl<'a> CardView<'a> {
    /// Takes what [`compiled`] returned. `None` without a card.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let mut reader = Reader::new(bytes);
        Some(Self { policy: reader.text(), html: reader.rest() })
    }

    /// The answer with the card.
    pub(crate) fn answer(self) -> Outcome {
        Outcome::card(Bytes::copy_from_slice(self.html), self.policy)
    }
}
