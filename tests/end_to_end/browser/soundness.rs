//! Assertions about every page, for every visitor.

use crate::accessibility::{assert_accessible, assert_fits};
use crate::tab::Tab;
use crate::visitor::Visitor;

/// Asserts that the page that `open` opens once is sound on every screen, light and dark. It breaks no rule, fits,
/// requests only itself and URLs that begin like one of `further`, and its policy forbids nothing on it. `name`
/// names its pictures.
#[track_caller]
pub fn assert_sound(name: &str, further: &[&str], open: impl Fn(&Tab)) {
    assert_sound_for(&Visitor::default(), name, further, open);
}

/// Like [`assert_sound`], for a given visitor.
#[track_caller]
pub fn assert_sound_for(visitor: &Visitor, name: &str, further: &[&str], open: impl Fn(&Tab)) {
    let screens = visitor.on_every_screen();
    let Some(tab) = screens.first().and_then(Tab::of) else { return };
    open(&tab);
    for visitor in screens {
        // The page stays, because only its style depends on the screen and the scheme.
        tab.becomes(&visitor);
        let what = format!("{name}-{}-{}", visitor.width, visitor.scheme.name());
        tab.screenshot(&what);
        assert_inert(&tab, further, &what);
        assert_accessible(&tab, &what);
        assert_fits(&tab, &what);
    }
}

/// How the picture begins that Chromium draws in a field for a date. It is no request to anybody.
const CALENDAR: &str = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIHdpZHRoPSIxNiIgaGVpZ2h0PSIxNSIg";

/// Asserts that the tab requested only pages and URLs that begin like one of `further`, ran no injected script,
/// and violated no policy.
#[track_caller]
pub fn assert_inert(tab: &Tab, further: &[&str], what: &str) {
    let events = tab.events();
    let is_known = |url: &String| {
        // Chromium requests an icon by itself.
        events.pages.contains(url)
            || url.ends_with("/favicon.ico")
            || url.starts_with(CALENDAR)
            || further.iter().any(|beginning| url.starts_with(beginning))
    };
    let strange: Vec<&String> = events.requests.iter().filter(|url| !is_known(url)).collect();
    assert!(strange.is_empty(), "{what} requests {strange:?}");
    assert_eq!(events.dialogs, Vec::<String>::new(), "{what}");
    // Chromium also logs failed loads there, because the test reaches only this machine.
    let complaints: Vec<&String> =
        events.console.iter().filter(|line| !line.starts_with("Failed to load resource")).collect();
    assert!(complaints.is_empty(), "{what}: {complaints:?}");
}
