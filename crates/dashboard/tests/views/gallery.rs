//! Writes the sample pages with their assets, for viewing in a browser.

use std::path::PathBuf;
use std::{env, fs};

use signpost_dashboard::assets;
use signpost_domain::Theme;

use crate::link_samples::LONG;
use crate::samples::pages;

/// With `SIGNPOST_SCREENSHOTS` set, writes `gallery/light`, `gallery/dark`, `gallery/long` (with one long word in
/// place of every text) and `gallery/assets` to the target folder.
#[test]
fn gallery_is_written_on_request() {
    if env::var_os("SIGNPOST_SCREENSHOTS").is_none() {
        return;
    }
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("../../target"), PathBuf::from);
    let folder = target.join("gallery");
    fs::create_dir_all(folder.join("assets")).unwrap();
    for asset in [assets::style(), assets::script(), assets::icons()] {
        fs::write(folder.join(&asset.path[1..]), asset.body).unwrap();
    }
    let long = format!("{LONG}{LONG}\u{1f950}");
    for (name, payload, theme) in [
        ("light", None, Theme::Light),
        ("dark", None, Theme::Dark),
        ("long", Some(long.as_str()), Theme::Auto),
    ] {
        let place = folder.join(name);
        fs::create_dir_all(&place).unwrap();
        for page in pages(payload, theme) {
            fs::write(place.join(format!("{}.html", page.name)), page.html).unwrap();
        }
    }
}
