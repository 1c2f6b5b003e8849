//! What holds of every page, for everybody.

use crate::accessibility::{assert_accessible, assert_fits};
use crate::tab::Tab;
use crate::visitor::Visitor;

/// The page that `open` opens is sound on every screen, light and dark: it breaks no rule, fits, asks for nothing but itself
/// and what begins like one of `further`, and its policy forbids nothing that is on it. `name` is what its pictures are called.
#[track_caller]
pub fn assert_sound(name: &str, further: &[&str], open: impl Fn(&Tab)) {
    assert_sound_for(&Visitor::default(), name, further, open);
}

/// Likewise for somebody of whom more is known.
#[track_caller]
pub fn assert_sound_for(visitor: &Visitor, name: &str, further: &[&str], open: impl Fn(&Tab)) {
    for visitor in visitor.on_every_screen() {
        let Some(tab) = Tab::of(&visitor) else { return };
        open(&tab);
        let what = format!("{name}-{}-{}", visitor.width, visitor.scheme.name());
        tab.screenshot(&what);
        assert_inert(&tab, further, &what);
        assert_accessible(&tab, &what);
        assert_fits(&tab, &what);
    }
}

/// Nothing was asked for but pages, and what begins like one of `further`; nothing of the page has run or was forbidden.
#[track_caller]
pub fn assert_inert(tab: &Tab, further: &[&str], what: &str) {
    let heard = tab.heard();
    let is_known = |url: &String| {
        // Chromium looks for an icon by itself.
        heard.pages.contains(url)
            || url.ends_with("/favicon.ico")
            || further.iter().any(|beginning| url.starts_with(beginning))
    };
    let strange: Vec<&String> = heard.requests.iter().filter(|url| !is_known(url)).collect();
    assert!(strange.is_empty(), "{what} asks for {strange:?}");
    assert_eq!(heard.dialogs, Vec::<String>::new(), "{what}");
    // Chromium says there as well what could not be had: this machine is all that it reaches.
    let complaints: Vec<&String> =
        heard.console.iter().filter(|line| !line.starts_with("Failed to load resource")).collect();
    assert!(complaints.is_empty(), "{what}: {complaints:?}");
}
