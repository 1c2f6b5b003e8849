//! The one browser of this process.

use std::sync::OnceLock;

use chromiumoxide::Browser;
use futures_util::StreamExt as _;
use signpost_test_servers::Absence;
use signpost_test_servers::chromium::Chromium;
use tokio::runtime::Runtime;

/// Whose tests do not run where there is no browser.
const WHO: &str = "the pages in a browser";

/// A browser, and what drives it.
pub struct Shared {
    pub browser: Browser,
    pub runtime: Runtime,
    _process: Chromium,
}

/// The browser, or nothing where it is said that there is none.
pub fn shared() -> Option<&'static Shared> {
    static SHARED: OnceLock<Result<Shared, Absence>> = OnceLock::new();
    SHARED.get_or_init(start).as_ref().map_err(|absence| absence.tell(WHO)).ok()
}

fn start() -> Result<Shared, Absence> {
    let process = Chromium::try_start()?;
    let runtime = Runtime::new().unwrap();
    let browser = runtime.block_on(async {
        let (browser, mut handler) = Browser::connect(process.url()).await.unwrap();
        // It ends with this process.
        tokio::spawn(async move { while handler.next().await.is_some() {} });
        browser
    });
    Ok(Shared { browser, runtime, _process: process })
}
