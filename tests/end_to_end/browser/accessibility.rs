//! What axe-core finds on a page, by the rules of WCAG 2.2 at the levels A and AA.

use serde::Deserialize;

use crate::tab::Tab;

/// It is another project's work; see the folder.
const AXE: &str = include_str!("axe-core/axe.min.js");

/// What fades in has less contrast until it is there.
const RUN: &str = "Promise.all(document.getAnimations().map(animation => animation.finished)).then(() => axe.run(document, {
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
    /// How many rules found something to judge.
    passes: usize,
}

/// The page in the tab breaks none of the rules, and none of them scrolls sideways.
#[track_caller]
pub fn assert_accessible(tab: &Tab, what: &str) {
    tab.run(AXE);
    let found: Found = tab.evaluate(RUN);
    assert_eq!(found.violations, Vec::<String>::new(), "{what}");
    assert!(found.passes > 3, "{what}: {} rules found something to judge", found.passes);
}

/// Everything on the page is within the width of the window (WCAG 1.4.10).
#[track_caller]
pub fn assert_fits(tab: &Tab, what: &str) {
    let [content, window]: [f64; 2] =
        tab.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]");
    assert!(content <= window, "{what}: {content} pixels wide, the window {window}");
    // A page that asks for no width of its own is laid out at some 980 pixels, and then made smaller.
    let [inner, screen]: [f64; 2] = tab.evaluate("[innerWidth, screen.width]");
    assert!(inner <= screen, "{what}: laid out for {inner} pixels on a screen of {screen}");
}
