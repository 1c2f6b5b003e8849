//! The browser, and its tabs.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use signpost_test_servers::Absence;
use signpost_test_servers::chromium::{Chromium, Pipes};

use crate::devtools::Session;
pub use crate::events::Events;
use crate::events::{Recorder, exception};
use crate::harness::Program;
use crate::input::{click_events, drag_events, key_events, middle, mouse_event, typing_events};
use crate::visitor::Visitor;

/// The tests that are skipped without a browser, as the notice names them.
const WHO: &str = "the pages in a browser";

/// A running browser.
struct Browser {
    session: Session,
    _process: Chromium,
}

/// The one browser of this process; `None`, with a notice, if Chromium is not installed.
fn shared_browser() -> Option<Arc<Browser>> {
    static SHARED: OnceLock<Result<Arc<Browser>, Absence>> = OnceLock::new();
    let shared = SHARED.get_or_init(|| connect(Chromium::try_start()?));
    shared.as_ref().map_err(|absence| absence.tell(WHO)).ok().cloned()
}

fn connect((process, pipes): (Chromium, Pipes)) -> Result<Arc<Browser>, Absence> {
    match Session::connect(pipes.requests, pipes.answers) {
        Ok(session) => Ok(Arc::new(Browser { session, _process: process })),
        Err(reason) => Err(process.does_not_start(&reason)),
    }
}

/// A tab with its own cookies and cache. Dropping it closes the tab.
pub struct Tab {
    browser: Arc<Browser>,
    context: Value,
    pub(crate) page: Session,
    recorder: Arc<Recorder>,
}

impl Tab {
    /// An empty tab of a visitor; `None`, with a notice, if Chromium is not installed.
    pub fn of(visitor: &Visitor) -> Option<Self> {
        Some(Self::in_browser(shared_browser()?, visitor))
    }

    /// A tab in a browser of its own that also trusts this root certificate, as PEM; `None`, with a notice, if a program for that is
    /// not installed.
    pub fn trusting(root: &str, visitor: &Visitor) -> Option<Self> {
        let browser = Chromium::try_start_trusting(root).and_then(connect);
        let browser = browser.map_err(|absence| absence.tell(WHO)).ok()?;
        Some(Self::in_browser(browser, visitor))
    }

    fn in_browser(browser: Arc<Browser>, visitor: &Visitor) -> Self {
        let session = &browser.session;
        let context = session.call("Target.createBrowserContext", json!({}))["browserContextId"].take();
        let target = json!({"url": "about:blank", "browserContextId": context});
        let target = session.call("Target.createTarget", target)["targetId"].take();
        let recorder = Arc::<Recorder>::default();
        let page = session.attach(&target, Arc::clone(&recorder));
        let tab = Self { browser, context, page, recorder };
        for domain in ["Page", "Network", "Log", "Runtime"] {
            tab.page.call(&format!("{domain}.enable"), json!({}));
        }
        tab.page.call("Page.setLifecycleEventsEnabled", json!({"enabled": true}));
        emulate(&tab.page, visitor);
        // The tab may still load its first page, which would then replace what a test puts there.
        tab.open("about:blank");
        tab
    }

    /// Opens a URL, and waits until the page is loaded completely.
    #[track_caller]
    pub fn open(&self, url: &str) -> &Self {
        let navigation = self.page.call("Page.navigate", json!({"url": url}));
        assert_eq!(navigation.get("errorText"), None, "{url}");
        // Without an id the tab only moves within its page.
        if let Some(load) = navigation["loaderId"].as_str() {
            self.recorder.wait_for_load(load, url);
        }
        self
    }

    /// Why the browser refuses to open a URL; `None` if it begins to open it.
    pub fn refusal_of(&self, url: &str) -> Option<String> {
        let navigation = self.page.call("Page.navigate", json!({"url": url}));
        navigation.get("errorText").map(|error| error.as_str().unwrap().to_owned())
    }

    /// The certificate of an origin that was opened, as DER.
    pub fn certificate_of(&self, origin: &str) -> Vec<u8> {
        let answer = self.page.call("Network.getCertificate", json!({"origin": origin}));
        STANDARD.decode(answer["tableNames"][0].as_str().unwrap()).unwrap()
    }

    /// Opens a URL without waiting, for a page that moves on by itself.
    #[track_caller]
    pub fn begin_to_open(&self, url: &str) {
        self.page.begin("Page.navigate", json!({"url": url}));
    }

    /// Shows a page without its scripts and its refresh.
    #[track_caller]
    pub fn show(&self, html: &str) {
        let html = html.replace("<script", "<template").replace("</script", "</template");
        let html = json!(html.replace("http-equiv=\"refresh\"", ""));
        self.run(&format!("document.open(); document.write({html}); document.close()"));
        self.wait_until_loaded();
    }

    /// Opens a path of the program's system domain.
    #[track_caller]
    pub fn visit(&self, program: &Program, path: &str) -> &Self {
        self.open(&url_of(program, path))
    }

    /// Evaluates an expression in the page, and awaits a promise.
    #[track_caller]
    pub fn evaluate<T: DeserializeOwned>(&self, expression: &str) -> T {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = match self.page.try_call("Runtime.evaluate", params) {
            Ok(answer) => answer,
            Err(error) => panic!("{expression}: {error}"),
        };
        if let Some(details) = answer.get("exceptionDetails") {
            panic!("{expression}: {}", exception(details));
        }
        let Some(value) = answer["result"].get("value") else {
            panic!("{expression} has no value: {}", answer["result"]);
        };
        match T::deserialize(value) {
            Ok(value) => value,
            Err(error) => panic!("{expression}: {error}: {value}"),
        }
    }

    /// Runs statements in the page.
    #[track_caller]
    pub fn run(&self, statements: &str) {
        let has_run: bool = self.evaluate(&format!("{statements}; true"));
        assert!(has_run);
    }

    /// The events so far.
    pub fn events(&self) -> Events {
        self.recorder.events()
    }

    /// Waits until the events satisfy the condition.
    #[track_caller]
    pub fn wait_until(&self, has_happened: impl Fn(&Events) -> bool) -> Events {
        self.recorder.wait_until(has_happened)
    }

    /// Waits until the tab shows this page completely, after another page led there.
    #[track_caller]
    pub fn wait_for_page(&self, url: &str) {
        self.wait_until(|events| events.pages.iter().any(|page| page == url));
        self.wait_until_loaded();
    }

    #[track_caller]
    fn wait_until_loaded(&self) {
        let is_loaded: bool = self.evaluate(
            "document.readyState == 'complete' ||
                new Promise(resolve => addEventListener('load', () => resolve(true)))",
        );
        assert!(is_loaded);
    }

    /// Does something that leads to another page, and waits until that page is loaded completely.
    #[track_caller]
    pub fn follow(&self, action: impl FnOnce(&Self)) -> &Self {
        let shown = self.recorder.shown();
        action(self);
        self.recorder.wait_for_page_after(shown);
        self
    }

    /// From now on the tab belongs to a visitor with this screen and these preferences. The page stays.
    pub fn becomes(&self, visitor: &Visitor) {
        emulate(&self.page, visitor);
    }

    /// Whether the tab may answer from its cache.
    pub fn caches(&self, is_on: bool) {
        self.page.call("Network.setCacheDisabled", json!({"cacheDisabled": !is_on}));
    }

    /// Lets the clock of the page run ahead by this time at once, with its timers and what they request. The clock then stands still, so
    /// the tab can open no other page any more.
    #[track_caller]
    pub fn let_pass(&self, time: Duration) {
        let stops = self.events().stops_of_clock;
        let policy = json!({"policy": "pauseIfNetworkFetchesPending", "budget": time.as_millis()});
        self.page.call("Emulation.setVirtualTimePolicy", policy);
        self.wait_until(|events| events.stops_of_clock > stops);
    }

    /// Types a text into the element that has the focus, key by key.
    #[track_caller]
    pub fn type_text(&self, text: &str) {
        for event in text.chars().flat_map(typing_events) {
            self.page.call("Input.dispatchKeyEvent", event);
        }
    }

    /// A PNG picture of what the window shows.
    #[track_caller]
    pub fn picture_of_window(&self) -> Vec<u8> {
        let picture = self.page.call("Page.captureScreenshot", json!({"format": "png"}));
        STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// Presses and releases a key.
    #[track_caller]
    pub fn press(&self, key: &str) {
        for event in key_events(key) {
            self.page.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Clicks in the middle of an element. It needs no scripts in the page, which may have them switched off.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.send_mouse(&click_events(self.middle_of(selector)));
    }

    /// Moves the mouse to the middle of an element.
    #[track_caller]
    pub fn hover(&self, selector: &str) {
        self.send_mouse(&[mouse_event("mouseMoved", self.middle_of(selector), false)]);
    }

    /// Drags the first element with the mouse, and drops it in the lower half of the second.
    #[track_caller]
    pub fn drag(&self, selector: &str, onto: &str) {
        self.send_mouse(&self.dragging(selector, onto));
    }

    /// Drags the first element with the mouse over the second, does something, and lets go as the Escape key does.
    #[track_caller]
    pub fn drag_and_cancel(&self, selector: &str, onto: &str, meanwhile: impl FnOnce()) {
        let mut events = self.dragging(selector, onto);
        let released = events.pop();
        self.send_mouse(&events);
        meanwhile();
        self.page.call("Input.cancelDragging", json!({}));
        self.send_mouse(released.as_slice());
    }

    #[track_caller]
    fn dragging(&self, selector: &str, onto: &str) -> Vec<Value> {
        self.page.call("DOM.scrollIntoViewIfNeeded", self.node(onto));
        let from = self.middle_of(selector);
        let model = self.page.call("DOM.getBoxModel", self.node(onto));
        let Some([x, y]) = middle(&json!([model["model"]["border"]])) else {
            panic!("{onto} is not visible")
        };
        let below = [x, y + model["model"]["height"].as_f64().unwrap() / 4.0];
        drag_events(from, below)
    }

    fn send_mouse(&self, events: &[Value]) {
        for event in events {
            self.page.call("Input.dispatchMouseEvent", event.clone());
        }
    }

    /// The parameters that name an element.
    #[track_caller]
    fn node(&self, selector: &str) -> Value {
        let root = self.page.call("DOM.getDocument", json!({"depth": 0}));
        let query = json!({"nodeId": root["root"]["nodeId"], "selector": selector});
        let node = self.page.call("DOM.querySelector", query);
        // The id 0 means that no element matches.
        assert_ne!(node["nodeId"], 0, "the page has no {selector}");
        node
    }

    #[track_caller]
    fn middle_of(&self, selector: &str) -> [f64; 2] {
        let node = self.node(selector);
        self.page.call("DOM.scrollIntoViewIfNeeded", node.clone());
        let quads = self.page.call("DOM.getContentQuads", node);
        let Some(point) = middle(&quads["quads"]) else { panic!("{selector} is not visible") };
        point
    }

    /// The role and the name of an element, as assistive technology gets them.
    #[track_caller]
    pub fn role_and_name(&self, selector: &str) -> [String; 2] {
        let node = self.node(selector);
        let query = json!({"nodeId": node["nodeId"], "fetchRelatives": false});
        let tree = self.page.call("Accessibility.getPartialAXTree", query);
        ["role", "name"].map(|part| tree["nodes"][0][part]["value"].as_str().unwrap_or_default().to_owned())
    }

    /// Lets the pages of an origin use the clipboard, which all tabs of the browser share.
    pub fn allow_clipboard(&self, origin: &str) {
        let permissions = json!({
            "origin": origin, "browserContextId": self.context,
            "permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"],
        });
        self.browser.session.call("Browser.grantPermissions", permissions);
    }

    /// A PNG picture of the whole page.
    #[track_caller]
    pub fn picture(&self) -> Vec<u8> {
        let layout = self.page.call("Page.getLayoutMetrics", json!({}));
        let mut clip = json!({"x": 0, "y": 0, "scale": 1});
        for side in ["width", "height"] {
            clip[side] = layout["cssContentSize"][side].clone();
        }
        let params = json!({"format": "png", "captureBeyondViewport": true, "clip": clip});
        let picture = self.page.call("Page.captureScreenshot", params);
        STANDARD.decode(picture["data"].as_str().unwrap()).unwrap()
    }

    /// Saves the page as `target/screenshots/NAME.png` if `SIGNPOST_SCREENSHOTS` is 1.
    #[track_caller]
    pub fn screenshot(&self, name: &str) {
        if std::env::var_os("SIGNPOST_SCREENSHOTS").is_none_or(|value| value != "1") {
            return;
        }
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).with_file_name("screenshots");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), self.picture()).unwrap();
    }
}

impl Drop for Tab {
    fn drop(&mut self) {
        // The browser may be gone, but then the test itself reports it.
        let context = json!({"browserContextId": self.context});
        let _ = self.browser.session.try_call("Target.disposeBrowserContext", context);
    }
}

/// The URL of a path on the program's system domain, for a browser on this machine.
pub fn url_of(program: &Program, path: &str) -> String {
    let (_, port) = program.links.rsplit_once(':').unwrap();
    format!("http://localhost:{port}{path}")
}

/// Emulates this visitor's screen, preferences and headers.
fn emulate(page: &Session, visitor: &Visitor) {
    let Visitor { width, height, scheme, wants_less_motion, has_scripts, headers } = visitor;
    let screen = json!({
        "width": width, "height": height, "screenWidth": width, "screenHeight": height,
        "deviceScaleFactor": 1, "mobile": *width < 600,
    });
    page.call("Emulation.setDeviceMetricsOverride", screen);
    let motion = if *wants_less_motion { "reduce" } else { "no-preference" };
    let features = [("prefers-color-scheme", scheme.name()), ("prefers-reduced-motion", motion)];
    let features = features.map(|(name, value)| json!({"name": name, "value": value}));
    page.call("Emulation.setEmulatedMedia", json!({"features": features}));
    // As if the tab were the only one, and in front.
    page.call("Emulation.setFocusEmulationEnabled", json!({"enabled": true}));
    if !headers.is_empty() {
        let headers: Map<_, _> =
            headers.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        page.call("Network.setExtraHTTPHeaders", json!({"headers": headers}));
    }
    if !has_scripts {
        page.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    }
}
