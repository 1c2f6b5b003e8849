//! QR codes of links (D59), with a cache of recent ones.

use actix_http::header::HeaderValue;
use quick_cache::Weighter;
use quick_cache::sync::Cache;
use signpost_pages::{QrCode, QrError, QrOptions};

use crate::files::File;

/// The image format of a code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum QrFormat {
    Svg,
    Png,
}

/// Memory limit of the cache in bytes, and a rough number of codes.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
const ESTIMATED_CODES: usize = 1_000;

type Key = (String, QrOptions, QrFormat);

#[derive(Debug, Clone)]
struct Size;

impl Weighter<Key, File> for Size {
    fn weight(&self, (link, ..): &Key, file: &File) -> u64 {
        const OVERHEAD: usize = 200;
        u64::try_from(link.len() + file.content.len() + OVERHEAD).unwrap_or(u64::MAX)
    }
}

/// The QR codes of links.
pub(crate) struct QrCodes(Cache<Key, File, Size>);

impl QrCodes {
    pub(crate) fn new() -> Self {
        Self(Cache::with_weighter(ESTIMATED_CODES, MAX_BYTES, Size))
    }

    /// Draws the code that leads to `link`. It takes a fraction of a millisecond.
    pub(crate) fn draw(&self, link: String, format: QrFormat, options: QrOptions) -> Result<File, QrError> {
        let key = (link, options, format);
        if let Some(file) = self.0.get(&key) {
            return Ok(file);
        }
        let code = QrCode::new(&QrCode::marked(&key.0), options)?;
        let file = match format {
            QrFormat::Svg => File::new(code.svg(), "image/svg+xml"),
            QrFormat::Png => File::new(code.png(), "image/png"),
        };
        self.0.insert(key, file.clone());
        Ok(file)
    }
}

/// The `Content-Disposition` that saves the code at an address under a name of its own. `place` is the slug, or the hostname
/// of a link at its root.
pub(crate) fn download(place: &str, format: QrFormat) -> Option<HeaderValue> {
    let ending = match format {
        QrFormat::Svg => "svg",
        QrFormat::Png => "png",
    };
    // Slugs and hostnames have letters, digits, `-`, `_` and `.` only; an IPv6 address has brackets and colons.
    let name = place.replace(['[', ']'], "").replace(':', "-");
    HeaderValue::from_str(&format!("attachment; filename=\"qr-{name}.{ending}\"")).ok()
}
