//! The page of the API's documentation.

use crate::harness::Program;
use crate::tab::Tab;
use crate::visitor::Visitor;

/// Whoever opens the page sees what it is for: operations to try.
#[test]
fn the_first_operation_of_the_documentation_is_on_the_first_screen() {
    let program = Program::start();
    // A phone and a laptop, each 800 pixels high.
    for width in [375, 1280] {
        let visitor = Visitor { width, ..Visitor::default() };
        let Some(tab) = Tab::of(&visitor) else { return };
        tab.open(&format!("http://{}/docs", program.api));
        tab.run(
            "window.firstOperation = async () => { \
               for (let tries = 0; tries < 600; tries += 1) { \
                 const found = document.querySelector('.opblock-summary'); \
                 if (found) return found.getBoundingClientRect(); \
                 await new Promise((later) => setTimeout(later, 100)); } \
               throw new Error('no operation is shown'); }",
        );
        let [bottom, height]: [f64; 2] =
            tab.evaluate("firstOperation().then(({ bottom }) => [bottom, window.innerHeight])");
        tab.screenshot(&format!("documentation-{width}"));
        assert!(bottom <= height, "it ends at {bottom} of {height}");
        // The conventions are folded, and still there.
        let folded: bool = tab.evaluate("!document.querySelector('.info details').open");
        let text: String = tab.evaluate("document.querySelector('.info details').textContent");
        assert!(folded && text.contains("Authorization: Bearer"), "{text}");
    }
}
