//! Checks a page with axe-core, by the rules of WCAG 2.2 at the levels A and AA.

use serde::Deserialize;

use crate::tab::Tab;

/// The library of another project; see the folder for its licence.
const AXE: &str = include_str!("axe-core/axe.min.js");

/// Waits for animations, because elements that fade in have less contrast until they end.
const RUN: &str = "Promise.all(document.getAnimations().map(animation => animation.finished)).then(() => axe.run(document, {
    // Frames are sandboxed, so the library reaches none; their pages are checked by themselves.
    iframes: false,
    resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22a', 'wcag22aa'],
})).then(found => ({
    violations: found.violations.map(violation =>
        violation.id + ': ' + violation.nodes.map(node => node.html + ' ' + node.failureSummary).join(' | ')),
    passes: found.passes.length,
}))";

#[derive(Debug, Deserialize)]
struct Found {
    violations: Vec<String>,
    /// The number of rules that apply to the page and pass.
    passes: usize,
}

/// Asserts that the page in the tab breaks none of the rules.
#[track_caller]
pub fn assert_accessible(tab: &Tab, what: &str) {
    // The library is large, and a page keeps it on every screen that it is looked at.
    if tab.evaluate("typeof axe == 'undefined'") {
        tab.run(AXE);
    }
    let found: Found = tab.evaluate(RUN);
    assert_eq!(found.violations, Vec::<String>::new(), "{what}");
    assert!(found.passes > 3, "{what}: only {} rules apply to the page", found.passes);
}

/// Asserts that the page fits the width of the window (WCAG 1.4.10).
#[track_caller]
pub fn assert_fits(tab: &Tab, what: &str) {
    let [content, window]: [f64; 2] =
        tab.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
    assert!(content <= window, "{what}: {content} pixels wide, the window {window}");
    // A page without a viewport width is laid out at about 980 pixels, and then scaled down.
    let [inner, screen]: [f64; 2] = tab.evaluate("[innerWidth, screen.width]");
    assert!(inner <= screen, "{what}: laid out for {inner} pixels on a screen of {screen}");
}
