//! Asserts that a page can be used by fingers and by keys.

use crate::tab::Tab;

/// What can be clicked, and has a box of its own. Links within sentences may be as high as their line (WCAG 2.5.8).
const TARGETS: &str = "(() => {
    const inSentence = (it) => it.localName == 'a' && getComputedStyle(it).display == 'inline';
    const targets = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((it) =>
        it.checkVisibility({visibilityProperty: true}) && !it.matches(':disabled') && !inSentence(it) && !it.matches('.vh, .skip'));
    const boxes = targets.map((it) => {
        const label = ['checkbox', 'radio'].includes(it.type) ? it.closest('.seg label') ?? it : it;
        const {x, y, width, height} = label.getBoundingClientRect();
        return {it, x, y, width, height, middle: [x + width / 2, y + height / 2]};
    });
    const gap = ([x, y], box) => Math.hypot(
        Math.max(box.x - x, 0, x - box.x - box.width), Math.max(box.y - y, 0, y - box.y - box.height));
    // What floats above the page moves with it.
    const layer = (it) => it.closest('nav, .bulk, dialog');
    const isSmall = (box) => box.width < 24 || box.height < 24;
    const wrong = [];
    for (const box of boxes.filter(isSmall)) {
        const near = boxes.find((other) => other.it != box.it && layer(other.it) == layer(box.it) &&
            gap(box.middle, other) < 12);
        const shown = ({it, width, height}) => `${width}×${height} ${it.outerHTML.slice(0, 200)}`;
        if (near) wrong.push(shown(box) + ' is near ' + shown(near));
    }
    return wrong;
})()";

/// Asserts that each target has 24×24 pixels, or as much room around its middle (WCAG 2.5.8).
#[track_caller]
pub fn assert_targets_are_large(tab: &Tab, what: &str) {
    assert_eq!(tab.evaluate::<Vec<String>>(TARGETS), Vec::<String>::new(), "{what}");
}

/// Gives the focus to each element in turn. A box that is drawn by its label shows the focus there.
const FOCUS: &str = "(() => {
    const shows = (it) => { const style = getComputedStyle(it);
        return style.outlineStyle != 'none' && parseFloat(style.outlineWidth) >= 2; };
    const all = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((it) =>
        it.checkVisibility({visibilityProperty: true}) && !it.matches(':disabled') && it.tabIndex >= 0);
    const before = [document.activeElement, scrollX, scrollY];
    const wrong = [];
    for (const it of all) {
        it.focus();
        if (document.activeElement != it) { wrong.push('no focus: ' + it.outerHTML.slice(0, 200)); continue; }
        if (!shows(it) && !shows(it.parentElement)) wrong.push('no outline: ' + it.outerHTML.slice(0, 200));
        const {x, y, width, height} = it.getBoundingClientRect();
        const top = document.elementFromPoint(x + width / 2, y + Math.min(height / 2, 12));
        const isSeen = top && (it.contains(top) || top.contains(it) && !top.matches('.bar, .bulk') || top.closest('label')?.contains(it));
        // An open menu covers what is behind it, and closes when the keys leave it.
        if (!isSeen && !top?.closest('.menu[open], .edit[open]')) wrong.push(`covered by ${top?.outerHTML.slice(0, 60)}: ` + it.outerHTML.slice(0, 200));
    }
    before[0]?.focus?.();
    scrollTo(before[1], before[2]);
    return [all.length, wrong];
})()";

/// Asserts that whatever has the focus shows it, and nothing covers it (WCAG 2.4.7, 2.4.11).
#[track_caller]
pub fn assert_focus_is_visible(tab: &Tab, what: &str) {
    // The browser shows the focus that scripts set only to those who use keys.
    tab.press("Tab");
    let (count, wrong): (usize, Vec<String>) = tab.evaluate(FOCUS);
    assert_eq!(wrong, Vec::<String>::new(), "{what}");
    assert!(count > 0, "{what} has nothing to use");
}
