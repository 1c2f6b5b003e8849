//! The picture of the dashboard in the documents.

use std::path::PathBuf;
use std::time::{Duration, Instant};
use std::{env, fs};

use serde_json::json;

use crate::dashboard::Dashboard;
use crate::tab::Tab;
use crate::visitor::Visitor;

const LARGEST: usize = 150_000;

/// Names, slugs, targets, groups and clicks.
const LINKS: [(&str, &str, &str, &str, usize); 10] = [
    ("Conference talk, slides", "talk", "https://slides.example.net/2026/shipping-small", "", 64),
    ("Press kit", "press", "https://www.morgenbrot.example/press/kit.zip", "Press", 12),
    ("قائمة الطعام", "menu-ar", "https://www.morgenbrot.example/ar/menu", "Menus", 27),
    ("Menu", "menu", "https://www.morgenbrot.example/menu", "Menus", 138),
    ("Winter market stall", "market", "https://maps.example.org/?q=Winter+market,+hall+3", "Winter 2026", 51),
    ("Newsletter, November", "nov", "https://news.example.com/archive/2026/11", "Winter 2026", 93),
    ("Stollen pre-order", "stollen", "https://shop.morgenbrot.example/products/stollen", "Winter 2026", 117),
    ("Apprenticeship", "jobs", "https://jobs.example.org/morgenbrot/apprentice-baker", "", 18),
    ("Summer tasting", "tasting", "https://tickets.example.com/events/summer-tasting", "", 33),
    ("Podcast, episode 12", "ep12", "https://podcast.example.fm/the-crumb/12", "Press", 41),
];

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/dashboard.png")
}

/// Fills the account, and visits its links.
fn fill(dashboard: &Dashboard) {
    let account = dashboard.program.first_account();
    let mut groups = vec![("", json!(null))];
    for name in ["Menus", "Press", "Winter 2026"] {
        let group = account.post("/v1/groups", &json!({"name": name})).expect_status(201).body;
        groups.push((name, group["id"].clone()));
    }
    for (name, slug, target, group, clicks) in LINKS.iter().rev() {
        let (_, group) = groups.iter().find(|(name, _)| name == group).unwrap();
        let body = json!({"name": name, "slug": slug, "target_url": target, "group_id": group});
        let link = account.post("/v1/redirects", &body).expect_status(201).body;
        let visitor = dashboard.program.visitor();
        for _ in 0..*clicks {
            assert!(visitor.open(&format!("/{slug}")).location().is_some(), "{slug}");
        }
        if *slug == "tasting" {
            let path = format!("/v1/redirects/{}", link["id"].as_str().unwrap());
            account.patch(&path, &json!({"is_active": false})).expect_status(200);
        }
    }
}

/// Opens the list until it shows every click.
fn open_list(dashboard: &Dashboard) {
    let expected: Vec<String> = LINKS.iter().map(|link| link.4.to_string()).collect();
    let since = Instant::now();
    loop {
        dashboard.screen("links");
        let shown: Vec<String> = dashboard
            .tab
            .evaluate("[...document.querySelectorAll('.links .num b')].map(number => number.textContent)");
        if shown == expected {
            return;
        }
        assert!(since.elapsed() < Duration::from_secs(90), "{shown:?}");
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// The picture with at most 256 colours.
fn with_palette(picture: &[u8]) -> Vec<u8> {
    let mut reader = png::Decoder::new(std::io::Cursor::new(picture)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let channels = info.color_type.samples();
    let colours: Vec<[u8; 3]> = pixels[..info.buffer_size()]
        .chunks_exact(channels)
        .map(|pixel| [pixel[0], pixel[1], pixel[2]])
        .collect();
    let palette = palette_of(&colours);
    let nearest = |colour: [u8; 3]| {
        let distance = |other: &[u8; 3]| -> u32 {
            colour.iter().zip(other).map(|(a, b)| u32::from(a.abs_diff(*b)).pow(2)).sum()
        };
        palette.iter().enumerate().min_by_key(|(_, other)| distance(other)).unwrap().0
    };
    let mut known = std::collections::HashMap::new();
    let indices: Vec<u8> = colours
        .iter()
        .map(|colour| u8::try_from(*known.entry(*colour).or_insert_with(|| nearest(*colour))).unwrap())
        .collect();
    let mut written = vec![];
    let mut encoder = png::Encoder::new(&mut written, info.width, info.height);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_palette(palette.concat());
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    encoder.write_header().unwrap().write_image_data(&indices).unwrap();
    written
}

/// The most frequent colours, of which no two are close to each other.
fn palette_of(colours: &[[u8; 3]]) -> Vec<[u8; 3]> {
    let mut counts = std::collections::HashMap::new();
    for colour in colours {
        *counts.entry(*colour).or_insert(0_usize) += 1;
    }
    let mut counts: Vec<([u8; 3], usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(colour, count)| (std::cmp::Reverse(*count), *colour));
    let mut palette: Vec<[u8; 3]> = vec![];
    for (colour, _) in counts {
        let is_close = |other: &[u8; 3]| colour.iter().zip(other).all(|(a, b)| a.abs_diff(*b) < 6);
        if palette.len() < 256 && !palette.iter().any(is_close) {
            palette.push(colour);
        }
    }
    palette
}

/// With `UPDATE_SCREENSHOT` set, writes `docs/dashboard.png` anew.
#[test]
fn the_picture_in_the_documents_is_there_and_small() {
    if env::var_os("UPDATE_SCREENSHOT").is_some() {
        let visitor = Visitor { width: 1200, height: 960, ..Visitor::default() };
        let Some(dashboard) = Dashboard::open(&visitor) else { return };
        fill(&dashboard);
        open_list(&dashboard);
        fs::write(file(), with_palette(&window(&dashboard.tab))).unwrap();
    }
    let again = "run this test with UPDATE_SCREENSHOT=1 to write it anew";
    let picture = fs::read(file()).unwrap_or_else(|error| panic!("{}: {error}: {again}", file().display()));
    assert!(picture.len() <= LARGEST, "{} bytes: {again}", picture.len());
    let info = png::Decoder::new(std::io::Cursor::new(&picture)).read_info().unwrap().info().clone();
    assert!(info.width >= 1000 && info.height >= 600, "{}×{}", info.width, info.height);
}

/// The window without a focus and without bars to scroll.
fn window(tab: &Tab) -> Vec<u8> {
    tab.run("document.activeElement.blur(); document.documentElement.style.overflow = 'hidden'");
    tab.picture_of_window()
}
