//! The sizes of pages in `docs/pages.md`.

use std::{env, fs};

use signpost_domain::{
    Background, ButtonStyle, ContactMethod, Font, PageContent, PhoneNumber, PixelCode, PixelType, TargetUrl,
    WidgetContent, WidgetText,
};
use signpost_pages::{Language, PixelPage, SmallPage};

use crate::landings::{name, rendered, url, widgets};

const GUIDE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pages.md");
const TABLE_HEAD: &str = "| HTML, without pictures | bytes |\n| --- | --- |\n";

/// A row of the guide's table.
struct Size {
    of: &'static str,
    bytes: usize,
    /// The guide rounds to a multiple of it. Smaller changes of a page need no new table.
    step: usize,
}

fn sizes() -> [Size; 9] {
    let link = |thumbnail: Option<&str>| WidgetContent::Link {
        title: name("Tour dates, autumn 2026"),
        url: url("https://www.example.com/tour/2026"),
        thumbnail_url: thumbnail.map(url),
    };
    let account = WidgetContent::Social {
        network: signpost_domain::SocialNetwork::from_stored("instagram".to_owned()).unwrap(),
        url: url("https://social.example.com/ines"),
    };
    let number = WidgetContent::Contact {
        method: ContactMethod::Phone,
        number: PhoneNumber::parse("+442079460958").unwrap(),
        title: Some(name("Call us")),
    };
    let text = WidgetContent::Text { text: WidgetText::from_stored("a".to_owned()).unwrap() };
    let small_pages = SmallPage::ALL.into_iter().flat_map(|page| {
        Language::ALL.into_iter().map(move |language| page.render(language).unwrap().html.len())
    });
    let size = |of, bytes, step| Size { of, bytes, step };
    [
        size("a landing page without widgets", landing(Vec::new()), 500),
        size(
            "background, buttons and font, if not the default: at most",
            largest_look() - landing(Vec::new()),
            500,
        ),
        size("each link", each(&link(None)), 50),
        size("each link with a picture", each(&link(Some("https://pictures.example.com/2026/tour.jpg"))), 50),
        size("each social account with an icon", each(&account), 50),
        size("each telephone number", each(&number), 50),
        size("each text, beside its characters", each(&text) - 1, 10),
        size("the page that runs one pixel", pixel_page(), 500),
        size("the largest of the other pages", small_pages.max().unwrap(), 500),
    ]
}

fn landing(contents: Vec<WidgetContent>) -> usize {
    let content = PageContent { widgets: widgets(contents), ..PageContent::default() };
    rendered("Ines Okafor", &content).html.len()
}

/// The size of the largest page that shows choices instead of widgets.
fn largest_look() -> usize {
    let looks = Background::ALL.into_iter().flat_map(|background| {
        ButtonStyle::ALL.into_iter().flat_map(move |button_style| {
            Font::ALL.map(|font| PageContent { background, button_style, font, ..PageContent::default() })
        })
    });
    looks.map(|content| rendered("Ines Okafor", &content).html.len()).max().unwrap()
}

/// What one more widget adds to a page that has such widgets.
fn each(widget: &WidgetContent) -> usize {
    let [few, many] = [10, 100].map(|count| landing(vec![widget.clone(); count]));
    (many - few) / 90
}

fn pixel_page() -> usize {
    let pixel = PixelCode::parse(PixelType::Meta, "123456789012345").unwrap();
    let target = TargetUrl::parse("https://shop.example.com/autumn").unwrap();
    let page = PixelPage { pixels: &[pixel], target: &target, language: Language::English, nonce: [7; 16] };
    page.render().unwrap().html.len()
}

fn with_commas(number: usize) -> String {
    let (thousands, rest) = (number / 1_000, number % 1_000);
    if thousands == 0 { rest.to_string() } else { format!("{thousands},{rest:03}") }
}

#[test]
fn the_guide_states_the_sizes_of_pages() {
    let guide = fs::read_to_string(GUIDE).unwrap();
    let (before, rest) = guide.split_once(TABLE_HEAD).expect("the guide has the head of the table");
    let (table, after) = rest.split_once("\n\n").expect("an empty line follows the table");
    if env::var_os("UPDATE_PAGES").is_some() {
        let row = |Size { of, bytes, step }: Size| {
            format!("| {of} | {} |", with_commas((bytes + step / 2) / step * step))
        };
        let rows = sizes().map(row).join("\n");
        fs::write(GUIDE, format!("{before}{TABLE_HEAD}{rows}\n\n{after}")).unwrap();
        return;
    }
    let again = "run this test with UPDATE_PAGES=1 to write the table anew";
    let stated: Vec<&str> = table.lines().collect();
    let sizes = sizes();
    assert_eq!(stated.len(), sizes.len(), "{again}");
    for (stated, Size { of, bytes, step }) in stated.into_iter().zip(sizes) {
        let number = stated.strip_prefix(&format!("| {of} | ")).and_then(|rest| rest.strip_suffix(" |"));
        let number: Option<usize> = number.and_then(|number| number.replace(',', "").parse().ok());
        let is_near = number.is_some_and(|number| number.abs_diff(bytes) <= step);
        assert!(is_near, "{of}: {bytes} bytes, but the guide says {stated:?}; {again}");
    }
}
