//! A cold screen takes at most 50 KB: HTML 28, style 14, script 6, icons 2.

use askama::Template;
use signpost_dashboard::assets;
use signpost_domain::Theme;

use crate::link_samples::long_list;
use crate::samples::{Maker, pages};

const KB: usize = 1_024;

#[test]
fn list_of_25_links_is_at_most_28_kb() {
    let html = long_list(&Maker::default()).render().unwrap();
    println!("25 links: {} bytes", html.len());
    assert!(html.len() <= 28 * KB, "{} bytes", html.len());
}

#[test]
fn every_page_is_at_most_28_kb() {
    // A page of a hundred widgets has as many forms.
    for page in pages(None, Theme::Auto).into_iter().filter(|page| page.name != "editor-100") {
        assert!(page.html.len() <= 28 * KB, "{} has {} bytes", page.name, page.html.len());
    }
}

#[test]
fn assets_are_small() {
    for (asset, limit) in [(assets::style(), 14 * KB), (assets::script(), 6 * KB), (assets::icons(), 2 * KB)]
    {
        println!("{}: {} bytes", asset.path, asset.body.len());
        assert!(asset.body.len() <= limit, "{} has {} bytes", asset.path, asset.body.len());
    }
}

/// The editor loads assets of its own beside the others. Each widget of a page adds to it, so this is a page of typical size.
#[test]
fn a_cold_editor_takes_50_kb() {
    let assets =
        [assets::style(), assets::script(), assets::icons(), assets::editor_style(), assets::editor_script()];
    let page = pages(None, Theme::Auto).into_iter().find(|page| page.name == "editor").unwrap();
    let sizes: Vec<usize> = assets.iter().map(|asset| asset.body.len()).chain([page.html.len()]).collect();
    println!("{sizes:?}");
    assert!(sizes.iter().sum::<usize>() <= 50 * KB, "{sizes:?}");
}

#[test]
fn asset_names_contain_a_hash_and_are_found() {
    for asset in [assets::style(), assets::script(), assets::icons()] {
        assert_eq!(asset.path.split('.').nth(1).map(str::len), Some(12), "{}", asset.path);
        assert_eq!(assets::find(&asset.path).map(|found| found.body), Some(asset.body));
    }
    assert!(assets::find("/assets/dashboard.css").is_none());
}

/// Trusted types and the content security policy forbid what these words do.
#[test]
fn assets_load_nothing_and_write_no_markup() {
    for asset in [assets::style(), assets::script(), assets::icons()] {
        let text = str::from_utf8(asset.body).unwrap();
        for word in [
            "url(",
            "@import",
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "eval(",
            "document.write",
            "<style",
        ] {
            assert!(!text.contains(word), "{} has {word}", asset.path);
        }
    }
}
