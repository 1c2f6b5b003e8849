//! The editor of landing pages in a browser: with its scripts, and without them (D34, D35).

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::dashboard::Dashboard;
use crate::dashboard_screens::Look;
use crate::tab::Tab;
use crate::visitor::Visitor;

/// How long to wait until the preview shows what was typed.
const PATIENCE: Duration = Duration::from_mins(1);

/// A page with a widget of every type; the path of its editor, and the id of the page.
fn page(dashboard: &Dashboard) -> (String, String) {
    // Of a host that answers at once: the preview is loaded when its pictures are.
    let image = format!("{}/missing.png", dashboard.origin);
    let widgets = json!([
        {"type": "link", "title": "Our shop", "url": "https://shop.example.com/", "thumbnail_url": null},
        {"type": "heading", "text": "Opening hours"},
        {"type": "text", "text": "Every day from seven.\nClosed on the second of January."},
        {"type": "image", "image_url": image, "alt": "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"},
        {"type": "video", "url": "https://www.youtube.com/watch?v=dQw4w9WgXcQ", "title": "How we bake"},
        {"type": "social", "network": "instagram", "url": "https://instagram.com/bread"},
        {"type": "email", "address": "hello@morgenbrot.example"},
        {"type": "contact", "method": "whatsapp", "number": "+442079460958", "title": "Order"},
        {"type": "divider"},
    ]);
    let body = json!({"title": "Morgenbrot", "slug": "bread", "accent_color": "#ffe600", "widgets": widgets});
    let page = dashboard.program.first_account().post("/v1/landings", &body).expect_status(201).body;
    let id = page["id"].as_str().unwrap().to_owned();
    (format!("links/{id}/page"), id)
}

fn stored(dashboard: &Dashboard, id: &str) -> Value {
    dashboard.program.first_account().get(&format!("/v1/landings/{id}")).expect_status(200).body
}

fn types(page: &Value) -> Vec<&str> {
    page["widgets"].as_array().unwrap().iter().map(|widget| widget["type"].as_str().unwrap()).collect()
}

/// Presses a button, and waits until the answer has changed the widgets.
#[track_caller]
fn arrange(tab: &Tab, button: &str) {
    in_place(tab, || tab.click(button));
}

/// Does something, and waits until the list of widgets is another one.
#[track_caller]
pub fn in_place(tab: &Tab, act: impl FnOnce()) {
    tab.run(
        "window.arranged = new Promise((done) => new MutationObserver(done).observe(document.querySelector('.widgets ol'), { childList: true }))",
    );
    act();
    assert!(tab.evaluate::<bool>("window.arranged.then(() => true)"));
}

#[test]
fn d35_the_editor_is_usable_on_every_screen() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let look = Look::of(&dashboard.tab);
    let tab = &dashboard.tab;
    let (editor, id) = page(&dashboard);
    dashboard.screen(&editor);
    look.at("editor");
    tab.run("for (const it of document.querySelectorAll('.widgets details')) it.open = true");
    look.at("editor-open");
    arrange(tab, "[value=remove-w1]");
    arrange(tab, "[value=add-contact]");
    dashboard.send("#editor", &[("w0.url", "shop"), ("w9.number", "12"), ("accent_color", "red")]);
    look.at("editor-error");
    assert_eq!(types(&stored(&dashboard, &id)).len(), 9, "nothing is saved");
    arrange(tab, "[value=remove-w2]");
    arrange(tab, "[value=restore-w2]");
    let mistakes: u32 = tab.evaluate("document.querySelectorAll('.note.bad li, [aria-invalid]').length");
    assert_eq!(mistakes, 6, "what is wrong is still said");
    // A widget that is wrong and closed is opened by the answer.
    tab.run("for (const it of document.querySelectorAll('.widgets details')) it.open = false");
    dashboard.send("#editor", &[]);
    assert_eq!(tab.evaluate::<u32>("document.querySelectorAll('.widgets details[open]').length"), 2);
    let values =
        [("w0.url", "https://shop.example.com/"), ("w9.number", "+49 30 1234567"), ("accent_color", "")];
    dashboard.send("#editor", &values);
    let page = stored(&dashboard, &id);
    assert_eq!(
        types(&page),
        ["link", "text", "image", "video", "social", "email", "contact", "divider", "contact"]
    );
    assert_eq!(page["widgets"][8]["number"], "+49301234567");
}

#[test]
fn d35_the_preview_follows_what_is_typed_and_widgets_move_at_once() {
    let Some(dashboard) = Dashboard::open(&Visitor::default()) else { return };
    let tab = &dashboard.tab;
    let (editor, id) = page(&dashboard);
    let before = stored(&dashboard, &id);
    dashboard.screen(&editor);
    // The preview is of another origin, so the test counts its loads: a fresh frame is empty first, and then has the page. What
    // the page shows is the business of the tests of pages.
    tab.run(
        "window.loads = 0; \
         document.addEventListener('load', ({ target }) => { window.loads += target.matches?.('iframe') ? 1 : 0; }, true)",
    );
    let history: u32 = tab.evaluate("history.length");
    dashboard.type_into("#f-title", "Morgenbrot & Söhne");
    await_load(&dashboard, 2);
    tab.click("[value=up-w8]");
    let keys: Vec<String> =
        tab.evaluate("[...document.querySelectorAll('[name=widget]')].map((it) => it.value)");
    assert_eq!(keys.last().map(String::as_str), Some("w7"), "{keys:?}");
    await_load(&dashboard, 4);
    assert_eq!(dashboard.text("[data-moved]"), "Divider: position 8 of 9");
    // Buttons that ask the program leave everything else as it is.
    tab.click("[data-widget]:nth-child(3) summary");
    arrange(tab, "[value=add-heading]");
    dashboard.tab.type_text("Directions");
    arrange(tab, "[value=remove-w1]");
    assert_eq!(tab.evaluate::<String>("document.activeElement.value"), "restore-w1");
    arrange(tab, "[value=restore-w1]");
    assert_eq!(
        tab.role_and_name("[value=remove-w9]"),
        ["button", "Remove: Heading Directions"],
        "widgets are called by what is typed"
    );
    let kept: [String; 2] =
        tab.evaluate("['#f-title', '[name=\"w9.text\"]'].map((it) => document.querySelector(it).value)");
    assert_eq!(kept, ["Morgenbrot & Söhne", "Directions"]);
    let is_open: bool = tab.evaluate("document.querySelector('[data-widget]:nth-child(3) details').open");
    assert!(is_open, "what was open stays open");
    await_load(&dashboard, 6);
    assert_eq!(stored(&dashboard, &id), before, "a preview saves nothing");
    assert_eq!(tab.evaluate::<u32>("history.length"), history, "Back leads to the page before");
    tab.run("document.querySelector('[name=accent_color]').value = '#101010'");
    tab.run(
        "document.querySelector('[name=accent_color]').dispatchEvent(new Event('input', { bubbles: true }))",
    );
    let began = Instant::now();
    while !dashboard.text("[data-verdict]").starts_with("On dark") {
        assert!(began.elapsed() < PATIENCE, "{}", dashboard.text("[data-verdict]"));
        // Poll: the text changes when an answer comes, and sends no event.
        std::thread::sleep(Duration::from_millis(50));
    }
    dashboard.send("#editor", &[]);
    let page = stored(&dashboard, &id);
    assert_eq!(page["title"], "Morgenbrot & Söhne");
    assert_eq!(types(&page)[7..], ["divider", "contact", "heading"]);
    assert_eq!(page["accent_color"], "#101010");
    // Without a network, buttons leave the editor as it is.
    tab.goes_offline(true);
    dashboard.type_into("#f-title", "Abend");
    for button in ["add-heading", "save"] {
        tab.click(&format!("[value={button}]"));
        await_words(&dashboard, "The server does not answer.");
        tab.run("document.querySelector('[data-unsaved]').textContent = ''");
    }
    tab.goes_offline(false);
    // A save cancels the preview that is due, which could take its place in the browser. Here the save itself goes nowhere.
    let previews = || tab.events().requests.iter().filter(|url| url.contains("?preview=1")).count();
    let before = previews();
    let waited: bool = tab.evaluate(
        "(() => { const form = document.getElementById('editor'); \
         const stop = (event) => { if (!event.submitter.formTarget) event.preventDefault(); }; \
         form.addEventListener('submit', stop); form.dispatchEvent(new Event('input', { bubbles: true })); \
         form.querySelector('[value=save]').click(); \
         return new Promise((done) => setTimeout(() => done(true), 1000)); })()",
    );
    assert!(waited);
    assert_eq!(previews(), before, "no preview follows a save");
    dashboard.screen(&editor);
    // An answer that is no form is a page of its own, with what was typed.
    let sign_out = "fetch('/sign-out', { method: 'POST', body: new URLSearchParams(new FormData(document.querySelector(\"[action='/sign-out']\"))) })";
    assert!(tab.evaluate::<bool>(&format!("{sign_out}.then((answer) => answer.ok)")));
    dashboard.type_into("#f-title", "Zwieback");
    tab.follow(|tab| tab.click("[value=add-heading]"));
    let texts: String = tab.evaluate(
        "[...document.querySelectorAll('[name=title],body')].map((it) => it.value ?? it.textContent).join()",
    );
    assert!(texts.contains("Zwieback"), "{texts}");
}

/// Waits until the editor says this.
fn await_words(dashboard: &Dashboard, words: &str) {
    let began = Instant::now();
    while !dashboard.text("[data-unsaved]").starts_with(words) {
        assert!(began.elapsed() < PATIENCE, "{}", dashboard.text("[data-unsaved]"));
        // Poll: the text changes when a request fails, and sends no event.
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn await_load(dashboard: &Dashboard, times: u32) {
    let began = Instant::now();
    while dashboard.tab.evaluate::<u32>("window.loads") < times {
        assert!(began.elapsed() < PATIENCE, "the preview was not loaded {times} times");
        // Poll: frames of another origin send no event to the test.
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until the frame of the preview begins in the upper half of the window.
fn await_frame(dashboard: &Dashboard, what: &str) {
    let began = Instant::now();
    while !is_frame_shown(dashboard) {
        assert!(began.elapsed() < PATIENCE, "{what} does not lead to the preview");
        // Poll: scrolling sends no event to the test.
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn is_frame_shown(dashboard: &Dashboard) -> bool {
    let top: f64 =
        dashboard.tab.evaluate("document.querySelector('iframe').getBoundingClientRect().top / innerHeight");
    (0.0..0.5).contains(&top)
}

#[test]
fn d35_on_a_narrow_screen_a_link_and_the_button_lead_to_the_preview() {
    for has_scripts in [true, false] {
        let visitor = Visitor { width: 360, has_scripts, ..Visitor::default() };
        let Some(dashboard) = Dashboard::open(&visitor) else { return };
        let tab = &dashboard.tab;
        let (editor, _) = page(&dashboard);
        dashboard.screen(&editor);
        assert!(!is_frame_shown(&dashboard));
        if has_scripts {
            tab.click("[value=preview]");
            await_frame(&dashboard, "the button");
            dashboard.screen(&editor);
        }
        tab.click("[href='#preview']");
        await_frame(&dashboard, "the link");
        dashboard.tab_to("iframe");
    }
}

#[test]
fn d67_the_editor_works_without_scripts() {
    let visitor = Visitor::default().without_scripts();
    let Some(dashboard) = Dashboard::open(&visitor) else { return };
    let tab = &dashboard.tab;
    let (editor, id) = page(&dashboard);
    dashboard.screen(&editor);
    tab.follow(|tab| tab.click("[value=up-w1]"));
    tab.follow(|tab| tab.click("[value=add-divider]"));
    tab.follow(|tab| tab.click("[value=save]"));
    let page = stored(&dashboard, &id);
    assert_eq!(types(&page)[..2], ["heading", "link"]);
    assert_eq!(types(&page).len(), 10);
}
