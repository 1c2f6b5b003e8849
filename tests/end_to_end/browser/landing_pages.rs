//! Landing pages (D34, D35, D59).

use serde_json::{Value, json};

use crate::harness::{Program, body_with};
use crate::sample_pages::{self, PICTURES};
use crate::soundness::assert_sound;
use crate::tab::{Tab, url_of};
use crate::visitor::{Scheme, Visitor};

/// A program with a landing page at `/page`.
fn program_with(page: Value) -> Program {
    let program = Program::start();
    let page = body_with(page, json!({"slug": "page"}));
    program.first_account().post("/v1/landings", &page).expect_status(201);
    program
}

#[test]
fn d34_d35_landing_pages_are_sound_on_every_screen() {
    for (name, page) in sample_pages::all() {
        let title = page["title"].clone();
        let program = program_with(page);
        assert_sound(&format!("landing-{name}"), &[PICTURES], |tab| {
            tab.visit(&program, "/page");
            assert_eq!(tab.evaluate::<Value>("document.querySelector('h1').textContent"), title);
        });
    }
}

/// Titles and hosts of any direction start at the edge that the direction of the page sets.
#[test]
fn d35_the_lines_of_a_button_start_at_the_same_edge() {
    let widgets: Vec<Value> = ["قهوة", "Tea", "Breakfast until noon, every day of the week"]
        .map(|title| json!({"type": "link", "title": title, "url": "https://example.com/"}))
        .into();
    for (title, edge) in [("مقهى الورد", "right"), ("Menu", "left")] {
        let program = program_with(json!({"title": title, "widgets": widgets}));
        let Some(tab) = Tab::of(&Visitor::default()) else { return };
        let edges: Vec<f64> = tab.visit(&program, "/page").evaluate(&format!(
            "[...document.querySelectorAll('li b, li small')].map(line => {{
                const range = document.createRange();
                range.selectNodeContents(line);
                return range.getBoundingClientRect().{edge};
            }})"
        ));
        assert_eq!(edges.len(), 6, "{title}");
        assert!(edges.iter().all(|one| (one - edges[0]).abs() < 1.0), "{title}: {edges:?}");
    }
}

/// The brightness of the page's background, from 0 to 1.
fn brightness(tab: &Tab) -> f64 {
    tab.evaluate(
        "(() => {
            const colour = getComputedStyle(document.body).backgroundColor;
            const parts = colour.match(/[\\d.]+/g).map(Number);
            return (parts[0] + parts[1] + parts[2]) / (colour.startsWith('color(') ? 3 : 765);
        })()",
    )
}

#[test]
fn d34_the_owners_theme_wins_over_the_visitors_scheme() {
    for (theme, of_light_visitor, of_dark_visitor) in
        [("light", "light", "light"), ("dark", "dark", "dark"), ("auto", "light", "dark")]
    {
        let program = program_with(json!({"title": "Menu", "theme": theme}));
        let Some(tab) = Tab::of(&Visitor::default()) else { return };
        tab.visit(&program, "/page");
        for (scheme, expected) in [(Scheme::Light, of_light_visitor), (Scheme::Dark, of_dark_visitor)] {
            tab.becomes(&Visitor { scheme, ..Visitor::default() });
            let brightness = brightness(&tab);
            let seen = if brightness > 0.5 { "light" } else { "dark" };
            assert_eq!(seen, expected, "{theme} for a visitor of {scheme:?}: {brightness}");
        }
    }
}

#[test]
fn d59_a_widget_leads_to_its_target_without_scripts() {
    let program = program_with(sample_pages::one());
    let visitor = Visitor::default().without_scripts();
    let Some(tab) = Tab::of(&visitor) else { return };
    tab.visit(&program, "/page").click("main a");
    let events = tab.wait_until(|events| events.requests.iter().any(|url| url == "https://example.com/8"));
    let by_way = url_of(&program, "/page/w/wgt_");
    assert!(events.requests.iter().any(|url| url.starts_with(&by_way)), "{events:?}");
}

/// The video site learns nothing about a visitor before a click on the video.
#[test]
fn d35_a_video_is_requested_only_on_a_click() {
    let page = json!({"title": "Films", "widgets": [{"type": "video", "url": "https://vimeo.com/76979871"}]});
    let program = program_with(page);
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    tab.visit(&program, "/page");
    let is_of_vimeo = |url: &String| url.contains("vimeo");
    let events = tab.events();
    assert!(!events.requests.iter().any(is_of_vimeo), "{events:?}");
    tab.click("main a");
    tab.wait_until(|events| events.requests.iter().any(is_of_vimeo));
}

#[test]
fn the_keyboard_reaches_every_link_in_order_with_visible_focus() {
    let program = program_with(sample_pages::every_type());
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    tab.visit(&program, "/page");
    let links: Vec<String> = tab.evaluate("[...document.querySelectorAll('a[href]')].map(link => link.href)");
    assert!(links.len() >= 5, "{links:?}");
    for link in &links {
        tab.press("Tab");
        let (at, is_shown): (String, bool) = tab.evaluate(
            "(() => {
                const style = getComputedStyle(document.activeElement);
                return [document.activeElement.href || document.activeElement.tagName,
                    style.outlineStyle != 'none' && parseFloat(style.outlineWidth) >= 2];
            })()",
        );
        assert_eq!((at.as_str(), is_shown), (link.as_str(), true));
    }
    tab.visit(&program, "/page").press("Tab");
    tab.press("Enter");
    tab.wait_until(|events| events.requests.iter().any(|url| url == "https://example.com/rye"));
}

/// The number of elements and pseudo-elements with an animation or a transition.
fn moving(tab: &Tab) -> usize {
    tab.evaluate(
        "[...document.querySelectorAll('*')].flatMap(element => [null, '::before', '::after'].map(part =>
            getComputedStyle(element, part))).filter(style => style.animationName != 'none' ||
            style.transitionDuration.split(',').some(time => parseFloat(time) > 0)).length",
    )
}

#[test]
fn nothing_moves_if_the_visitor_prefers_reduced_motion() {
    let program = program_with(sample_pages::every_type());
    let Some(tab) = Tab::of(&Visitor::default()) else { return };
    assert!(moving(tab.visit(&program, "/page")) > 0, "the page has no motion at all");
    tab.becomes(&Visitor { wants_less_motion: true, ..Visitor::default() });
    assert_eq!(moving(&tab), 0);
}
