//! The browser, and its tabs with all events that they report.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

use chromiumoxide::cdp::IntoEventKind;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::emulation::{
    MediaFeature, SetDeviceMetricsOverrideParams, SetFocusEmulationEnabledParams,
    SetScriptExecutionDisabledParams,
};
use chromiumoxide::cdp::browser_protocol::log::EventEntryAdded;
use chromiumoxide::cdp::browser_protocol::network::{
    EventRequestWillBeSent, Headers, SetExtraHttpHeadersParams,
};
use chromiumoxide::cdp::browser_protocol::page::{
    CaptureScreenshotFormat, EventFrameNavigated, EventJavascriptDialogOpening, HandleJavaScriptDialogParams,
};
use chromiumoxide::cdp::browser_protocol::target::{CreateBrowserContextParams, CreateTargetParams};
use chromiumoxide::cdp::js_protocol::runtime::{EvaluateParams, EventConsoleApiCalled, EventExceptionThrown};
use chromiumoxide::page::ScreenshotParams;
use chromiumoxide::{Browser, Page};
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::json;
use signpost_test_servers::Absence;
use signpost_test_servers::chromium::Chromium;
use tokio::runtime::Runtime;

use crate::harness::Program;
use crate::visitor::Visitor;

/// How long to wait for an event.
const PATIENCE: Duration = Duration::from_secs(30);

/// The tests that are skipped without a browser, as the notice names them.
const WHO: &str = "the pages in a browser";

/// The one browser of this process, and the runtime that drives it.
struct Shared {
    browser: Browser,
    runtime: Runtime,
    _process: Chromium,
}

/// The browser; `None`, with a notice, if Chromium is not installed.
fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Result<Shared, Absence>> = OnceLock::new();
    SHARED.get_or_init(start).as_ref().map_err(|absence| absence.tell(WHO)).ok()
}

fn start() -> Result<Shared, Absence> {
    let process = Chromium::try_start()?;
    let runtime = Runtime::new().unwrap();
    let browser = runtime.block_on(async {
        let (browser, mut handler) = Browser::connect(process.url()).await.unwrap();
        // The task ends with this process.
        tokio::spawn(async move { while handler.next().await.is_some() {} });
        browser
    });
    Ok(Shared { browser, runtime, _process: process })
}

/// The events of a tab.
#[derive(Debug, Clone, Default)]
pub struct Events {
    /// The requested URLs, including pages.
    pub requests: Vec<String>,
    /// The URLs of the pages that it showed.
    pub pages: Vec<String>,
    /// Lines of the console, and complaints such as violations of a policy.
    pub console: Vec<String>,
    /// Messages of the dialogs that pages opened.
    pub dialogs: Vec<String>,
}

#[derive(Debug, Default)]
struct Recorder {
    events: Mutex<Events>,
    more: Condvar,
}

impl Recorder {
    fn record(&self, what: impl FnOnce(&mut Events)) {
        what(&mut self.events.lock().unwrap());
        self.more.notify_all();
    }
}

/// A tab with its own cookies and cache. Dropping it closes the tab.
pub struct Tab {
    shared: &'static Shared,
    context: BrowserContextId,
    page: Page,
    recorder: Arc<Recorder>,
}

impl Tab {
    /// An empty tab of a visitor; `None`, with a notice, if Chromium is not installed.
    pub fn of(visitor: &Visitor) -> Option<Self> {
        let shared = shared()?;
        let recorder = Arc::<Recorder>::default();
        let (context, page) = shared.runtime.block_on(async {
            let context =
                shared.browser.create_browser_context(CreateBrowserContextParams::default()).await.unwrap();
            let mut target = CreateTargetParams::new("about:blank");
            target.browser_context_id = Some(context.clone());
            let page = shared.browser.new_page(target).await.unwrap();
            listen(&page, &recorder).await;
            emulate(&page, visitor).await;
            (context, page)
        });
        Some(Self { shared, context, page, recorder })
    }

    /// Opens a URL, and waits until the page is loaded completely.
    #[track_caller]
    pub fn open(&self, url: &str) -> &Self {
        let opened = self.shared.runtime.block_on(self.page.goto(url));
        opened.unwrap_or_else(|error| panic!("{url}: {error}"));
        self
    }

    /// Opens a URL without waiting, for a page that moves on by itself.
    pub fn begin_to_open(&self, url: &str) {
        let (page, url) = (self.page.clone(), url.to_owned());
        self.shared.runtime.spawn(async move { page.goto(url).await.map(drop) });
    }

    /// Shows a page without its scripts and its refresh.
    pub fn show(&self, html: &str) {
        let html = html.replace("<script", "<template").replace("</script", "</template");
        let html = html.replace("http-equiv=\"refresh\"", "");
        self.shared.runtime.block_on(self.page.set_content(html)).unwrap();
    }

    /// Opens a path of the program's system domain.
    #[track_caller]
    pub fn visit(&self, program: &Program, path: &str) -> &Self {
        self.open(&url_of(program, path))
    }

    /// Evaluates an expression in the page, and awaits a promise.
    #[track_caller]
    pub fn evaluate<T: DeserializeOwned>(&self, expression: &str) -> T {
        let mut parameters = EvaluateParams::new(expression);
        parameters.await_promise = Some(true);
        parameters.return_by_value = Some(true);
        let result = self.shared.runtime.block_on(self.page.evaluate_expression(parameters));
        result.unwrap_or_else(|error| panic!("{expression}: {error}")).into_value().unwrap()
    }

    /// Runs statements in the page.
    #[track_caller]
    pub fn run(&self, statements: &str) {
        let has_run: bool = self.evaluate(&format!("{statements}; true"));
        assert!(has_run);
    }

    /// The events so far.
    pub fn events(&self) -> Events {
        self.recorder.events.lock().unwrap().clone()
    }

    /// Waits until the events satisfy the condition.
    #[track_caller]
    pub fn wait_until(&self, has_happened: impl Fn(&Events) -> bool) -> Events {
        let events = self.recorder.events.lock().unwrap();
        let waited = self.recorder.more.wait_timeout_while(events, PATIENCE, |events| !has_happened(events));
        let (events, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "the expected event did not happen: {events:?}");
        events.clone()
    }

    /// Presses and releases a key.
    pub fn press(&self, key: &str) {
        self.shared.runtime.block_on(async {
            let body = self.page.find_element("body").await.unwrap();
            body.press_key(key).await.unwrap();
        });
    }

    /// Clicks in the middle of an element. It also works without scripts, where chromiumoxide's own click waits
    /// for ever.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.shared.runtime.block_on(async {
            let element = self.page.find_element(selector).await.unwrap();
            let point = element.clickable_point().await.unwrap();
            self.page.click(point).await.unwrap();
        });
    }

    /// A PNG picture of the whole page.
    pub fn picture(&self) -> Vec<u8> {
        let format = CaptureScreenshotFormat::Png;
        let parameters = ScreenshotParams::builder().format(format).full_page(true).build();
        self.shared.runtime.block_on(self.page.screenshot(parameters)).unwrap()
    }

    /// Saves the page as `target/screenshots/NAME.png` if `SIGNPOST_SCREENSHOTS` is 1.
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
        let close = self.shared.browser.dispose_browser_context(self.context.clone());
        // The browser may be gone, but then the test itself reports it.
        let _ = self.shared.runtime.block_on(close);
    }
}

/// The URL of a path on the program's system domain, for a browser on this machine.
pub fn url_of(program: &Program, path: &str) -> String {
    let (_, port) = program.links.rsplit_once(':').unwrap();
    format!("http://localhost:{port}{path}")
}

async fn listen(page: &Page, recorder: &Arc<Recorder>) {
    on(page, recorder, |event: &EventRequestWillBeSent, events| {
        events.requests.push(event.request.url.clone());
    })
    .await;
    on(page, recorder, |event: &EventFrameNavigated, events| events.pages.push(event.frame.url.clone()))
        .await;
    on(page, recorder, |event: &EventEntryAdded, events| events.console.push(event.entry.text.clone())).await;
    on(page, recorder, |event: &EventConsoleApiCalled, events| {
        events.console.push(format!("{:?}", event.args));
    })
    .await;
    on(page, recorder, |event: &EventExceptionThrown, events| {
        events.console.push(format!("{:?}", event.exception_details));
    })
    .await;
    let mut dialogs = page.event_listener::<EventJavascriptDialogOpening>().await.unwrap();
    let (page, recorder) = (page.clone(), Arc::clone(recorder));
    tokio::spawn(async move {
        while let Some(dialog) = dialogs.next().await {
            recorder.record(|events| events.dialogs.push(dialog.message.clone()));
            // The page waits until the dialog is closed.
            let _ = page.execute(HandleJavaScriptDialogParams::new(false)).await;
        }
    });
}

async fn on<E: IntoEventKind + Send + Sync + Unpin>(
    page: &Page,
    recorder: &Arc<Recorder>,
    note: impl Fn(&E, &mut Events) + Send + 'static,
) {
    let mut stream = page.event_listener::<E>().await.unwrap();
    let recorder = Arc::clone(recorder);
    tokio::spawn(async move {
        while let Some(event) = stream.next().await {
            recorder.record(|events| note(&event, events));
        }
    });
}

/// Emulates this visitor's screen, preferences and headers.
async fn emulate(page: &Page, visitor: &Visitor) {
    let Visitor { width, scheme, wants_less_motion, has_scripts, headers } = visitor;
    let is_phone = *width < 600;
    let (width, height) = (i64::from(*width), 800);
    let mut screen = SetDeviceMetricsOverrideParams::new(width, height, 1.0, is_phone);
    (screen.screen_width, screen.screen_height) = (Some(width), Some(height));
    page.execute(screen).await.unwrap();
    let motion = if *wants_less_motion { "reduce" } else { "no-preference" };
    let features = [("prefers-color-scheme", scheme.name()), ("prefers-reduced-motion", motion)];
    let features = features.map(|(name, value)| MediaFeature::new(name, value)).to_vec();
    page.emulate_media_features(features).await.unwrap();
    // As if the tab were the only one, and in front.
    page.execute(SetFocusEmulationEnabledParams::new(true)).await.unwrap();
    if !headers.is_empty() {
        let headers: BTreeMap<_, _> = headers.iter().copied().collect();
        page.execute(SetExtraHttpHeadersParams::new(Headers::new(json!(headers)))).await.unwrap();
    }
    if !has_scripts {
        page.execute(SetScriptExecutionDisabledParams::new(true)).await.unwrap();
    }
}
