//! The style sheet, the script and the icons. Their names contain a hash of their bytes, so browsers may keep them forever.

use std::sync::LazyLock;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

/// How browsers may cache an asset: forever, because its name changes with its bytes.
pub const CACHE_CONTROL: &str = "public, max-age=31536000, immutable";

/// A file that pages load.
#[derive(Debug)]
pub struct Asset {
    /// Its path, such as `/assets/dashboard.1a2b3c4d5e6f.css`.
    pub path: String,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// Its bytes.
    pub body: &'static [u8],
}

impl Asset {
    fn new(name: &str, extension: &str, content_type: &'static str, body: &'static [u8]) -> Self {
        let hash: String = URL_SAFE_NO_PAD.encode(Sha256::digest(body)).chars().take(12).collect();
        Self { path: format!("/assets/{name}.{hash}.{extension}"), content_type, body }
    }
}

static STYLE: LazyLock<Asset> = LazyLock::new(|| {
    // One rule a line is for people; browsers need no line ends between rules.
    let body = include_str!("../assets/dashboard.css").replace('\n', "").into_bytes().leak();
    Asset::new("dashboard", "css", "text/css; charset=utf-8", body)
});

static SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let body = code(include_str!("../assets/enhance.js"));
    Asset::new("enhance", "js", "text/javascript; charset=utf-8", body)
});

static ICONS: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icons", "svg", "image/svg+xml", include_bytes!("../assets/icons.svg")));

/// The lines of a script without indentation and comments, which are for people.
fn code(text: &str) -> &'static [u8] {
    let lines: Vec<&str> = text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).collect();
    lines.join("\n").into_bytes().leak()
}

static EDITOR_STYLE: LazyLock<Asset> = LazyLock::new(|| {
    let body = include_str!("../assets/editor.css").replace('\n', "").into_bytes().leak();
    Asset::new("editor", "css", "text/css; charset=utf-8", body)
});

static EDITOR_SCRIPT: LazyLock<Asset> = LazyLock::new(|| {
    let body = code(include_str!("../assets/editor.js"));
    Asset::new("editor", "js", "text/javascript; charset=utf-8", body)
});

/// What the editor of pages has beside [`style`].
#[must_use]
pub fn editor_style() -> &'static Asset {
    &EDITOR_STYLE
}

/// What the editor of pages has beside [`script`].
#[must_use]
pub fn editor_script() -> &'static Asset {
    &EDITOR_SCRIPT
}

/// The style sheet.
#[must_use]
pub fn style() -> &'static Asset {
    &STYLE
}

/// The script, which only enhances pages.
#[must_use]
pub fn script() -> &'static Asset {
    &SCRIPT
}

/// The icons: a file of symbols that, opened by itself, shows the product's own icon. Pages use it as their favicon too.
#[must_use]
pub fn icons() -> &'static Asset {
    &ICONS
}

/// The asset at this path.
#[must_use]
pub fn find(path: &str) -> Option<&'static Asset> {
    [style(), script(), icons(), editor_style(), editor_script()].into_iter().find(|asset| asset.path == path)
}
