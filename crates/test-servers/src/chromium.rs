//! A private headless Chromium, which can reach only this machine.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::absence::{Absence, find_program};
use crate::server_process::ServerProcess;

const READY_WITHIN: Duration = Duration::from_mins(1);

/// The file in which Chromium writes the port and the path of its `DevTools` endpoint.
const PORT_FILE: &str = "DevToolsActivePort";

/// The arguments turn off everything that only a person needs, such as prompts and reports. Only the names of tests
/// resolve. The sandbox is off: it needs rights that containers lack, and the browser opens only our pages.
const ARGUMENTS: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-port=0",
    "--no-sandbox",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-sync",
    "--disable-features=Translate,OptimizationHints,MediaRouter,DialMediaRouteProvider",
    "--host-resolver-rules=MAP localhost 127.0.0.1, MAP *.test 127.0.0.1, MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/// The path of Chromium, if it is installed.
#[must_use]
pub fn program() -> Option<PathBuf> {
    find_program("chromium", &[])
}

/// A running Chromium in its own folder. Dropping it kills it and removes the folder.
#[derive(Debug)]
pub struct Chromium {
    process: ServerProcess,
    folder: PathBuf,
    url: String,
}

impl Chromium {
    /// Starts it. `localhost` and every name below `.test` resolve to this machine; other names do not resolve.
    ///
    /// # Errors
    /// If Chromium is missing or does not start.
    pub fn try_start() -> Result<Self, Absence> {
        let absence = |reason: String| Absence::new("Chromium", "chromium", reason);
        let program = program().ok_or_else(|| absence("is not installed".to_owned()))?;
        let folder = tempfile::Builder::new().prefix("signpost-chromium-").tempdir().unwrap().keep();
        let mut chromium = Self { process: ServerProcess::in_folder(&folder), folder, url: String::new() };
        chromium.come_up(&program).map_err(absence)?;
        Ok(chromium)
    }

    /// The `WebSocket` URL of its `DevTools` endpoint.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    fn come_up(&mut self, program: &Path) -> Result<(), String> {
        let log = File::create(self.folder.join("log")).unwrap();
        let mut command = Command::new(program);
        command.args(ARGUMENTS).arg(format!("--user-data-dir={}", self.folder.join("data").display()));
        // Chromium writes only to its folder.
        command
            .env("HOME", &self.folder)
            .env("XDG_CONFIG_HOME", &self.folder)
            .env("XDG_CACHE_HOME", &self.folder);
        command.stdout(log.try_clone().unwrap()).stderr(log);
        self.process.start(&mut command, &self.folder);
        let began = Instant::now();
        while !self.process.has_ended() && began.elapsed() < READY_WITHIN {
            let said = fs::read_to_string(self.folder.join("data").join(PORT_FILE)).unwrap_or_default();
            if let Some((port, path)) = said.split_once('\n') {
                self.url = format!("ws://127.0.0.1:{port}{}", path.trim());
                return Ok(());
            }
            // Poll: notifications about files would need another dependency.
            sleep(Duration::from_millis(5));
        }
        self.process.kill();
        Err(format!("does not start: {}", fs::read_to_string(self.folder.join("log")).unwrap_or_default()))
    }
}
