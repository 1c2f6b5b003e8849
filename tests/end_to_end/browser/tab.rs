//! A tab of the browser, and all that is heard from it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use chromiumoxide::Page;
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
use futures_util::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::chromium::{Shared, shared};
use crate::harness::Program;
use crate::visitor::Visitor;

/// How long something may take that will happen.
const PATIENCE: Duration = Duration::from_secs(30);

/// All that a tab does beside showing a page.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    /// The URLs that it asked for, pages included.
    pub requests: Vec<String>,
    /// The URLs that it came to.
    pub pages: Vec<String>,
    /// What was written to the console, and complaints, such as what a policy forbade.
    pub console: Vec<String>,
    /// Boxes with a message, which pages can have shown.
    pub dialogs: Vec<String>,
}

#[derive(Debug, Default)]
struct Ear {
    heard: Mutex<Heard>,
    more: Condvar,
}

impl Ear {
    fn hear(&self, what: impl FnOnce(&mut Heard)) {
        what(&mut self.heard.lock().unwrap());
        self.more.notify_all();
    }
}

/// A tab with cookies and a cache of its own. It is closed when it is dropped.
pub struct Tab {
    shared: &'static Shared,
    context: BrowserContextId,
    page: Page,
    ear: Arc<Ear>,
}

impl Tab {
    /// An empty tab of a visitor, or nothing where there is no browser.
    pub fn of(visitor: &Visitor) -> Option<Self> {
        let shared = shared()?;
        let ear = Arc::<Ear>::default();
        let (context, page) = shared.runtime.block_on(async {
            let context =
                shared.browser.create_browser_context(CreateBrowserContextParams::default()).await.unwrap();
            let mut target = CreateTargetParams::new("about:blank");
            target.browser_context_id = Some(context.clone());
            let page = shared.browser.new_page(target).await.unwrap();
            listen(&page, &ear).await;
            become_of(&page, visitor).await;
            (context, page)
        });
        Some(Self { shared, context, page, ear })
    }

    /// Opens a URL, and waits until the page is there with all that belongs to it.
    #[track_caller]
    pub fn open(&self, url: &str) -> &Self {
        let opened = self.shared.runtime.block_on(self.page.goto(url));
        opened.unwrap_or_else(|error| panic!("{url}: {error}"));
        self
    }

    /// Opens a URL and waits for nothing, where the page moves on by itself.
    pub fn begin_to_open(&self, url: &str) {
        let (page, url) = (self.page.clone(), url.to_owned());
        self.shared.runtime.spawn(async move { page.goto(url).await.map(drop) });
    }

    /// Shows a page without opening it: nothing of it runs, and it leads nowhere.
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

    /// What an expression is in the page; if it is a promise, what that brings.
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

    /// What happened so far.
    pub fn heard(&self) -> Heard {
        self.ear.heard.lock().unwrap().clone()
    }

    /// Waits until this has happened.
    #[track_caller]
    pub fn wait_until(&self, has_happened: impl Fn(&Heard) -> bool) -> Heard {
        let heard = self.ear.heard.lock().unwrap();
        let waited = self.ear.more.wait_timeout_while(heard, PATIENCE, |heard| !has_happened(heard));
        let (heard, timeout) = waited.unwrap();
        assert!(!timeout.timed_out(), "it did not happen: {heard:?}");
        heard.clone()
    }

    /// Presses and releases a key.
    pub fn press(&self, key: &str) {
        self.shared.runtime.block_on(async {
            let body = self.page.find_element("body").await.unwrap();
            body.press_key(key).await.unwrap();
        });
    }

    /// Clicks in the middle of an element. Without scripts too, for which chromiumoxide's own way waits for ever.
    #[track_caller]
    pub fn click(&self, selector: &str) {
        self.shared.runtime.block_on(async {
            let element = self.page.find_element(selector).await.unwrap();
            let point = element.clickable_point().await.unwrap();
            self.page.click(point).await.unwrap();
        });
    }

    /// The whole page as a picture (PNG).
    pub fn picture(&self) -> Vec<u8> {
        let format = CaptureScreenshotFormat::Png;
        let parameters = ScreenshotParams::builder().format(format).full_page(true).build();
        self.shared.runtime.block_on(self.page.screenshot(parameters)).unwrap()
    }

    /// Keeps the page as `target/screenshots/NAME.png`, if `SIGNPOST_SCREENSHOTS` is 1.
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
        // The browser may be gone, which the test says better.
        let _ = self.shared.runtime.block_on(close);
    }
}

/// A path on the program's system domain, as a browser on this machine opens it.
pub fn url_of(program: &Program, path: &str) -> String {
    let (_, port) = program.links.rsplit_once(':').unwrap();
    format!("http://localhost:{port}{path}")
}

async fn listen(page: &Page, ear: &Arc<Ear>) {
    on(page, ear, |event: &EventRequestWillBeSent, heard| heard.requests.push(event.request.url.clone()))
        .await;
    on(page, ear, |event: &EventFrameNavigated, heard| heard.pages.push(event.frame.url.clone())).await;
    on(page, ear, |event: &EventEntryAdded, heard| heard.console.push(event.entry.text.clone())).await;
    on(page, ear, |event: &EventConsoleApiCalled, heard| heard.console.push(format!("{:?}", event.args)))
        .await;
    on(page, ear, |event: &EventExceptionThrown, heard| {
        heard.console.push(format!("{:?}", event.exception_details));
    })
    .await;
    let mut dialogs = page.event_listener::<EventJavascriptDialogOpening>().await.unwrap();
    let (page, ear) = (page.clone(), Arc::clone(ear));
    tokio::spawn(async move {
        while let Some(dialog) = dialogs.next().await {
            ear.hear(|heard| heard.dialogs.push(dialog.message.clone()));
            // Nothing goes on before.
            let _ = page.execute(HandleJavaScriptDialogParams::new(false)).await;
        }
    });
}

async fn on<E: IntoEventKind + Send + Sync + Unpin>(
    page: &Page,
    ear: &Arc<Ear>,
    note: impl Fn(&E, &mut Heard) + Send + 'static,
) {
    let mut events = page.event_listener::<E>().await.unwrap();
    let ear = Arc::clone(ear);
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            ear.hear(|heard| note(&event, heard));
        }
    });
}

/// From now on the page is looked at by this visitor.
async fn become_of(page: &Page, visitor: &Visitor) {
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
    // As if it were the only tab, and in front.
    page.execute(SetFocusEmulationEnabledParams::new(true)).await.unwrap();
    if !headers.is_empty() {
        let headers: BTreeMap<_, _> = headers.iter().copied().collect();
        page.execute(SetExtraHttpHeadersParams::new(Headers::new(json!(headers)))).await.unwrap();
    }
    if !has_scripts {
        page.execute(SetScriptExecutionDisabledParams::new(true)).await.unwrap();
    }
}
