//! A private headless Chromium, which can reach only this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command};

use crate::absence::{Absence, find_program};
use crate::log_file::LogFile;
use crate::server_process::ServerProcess;

/// The arguments turn off everything that only a person needs, such as prompts and reports. Only the names of tests
/// resolve. The sandbox is off: it needs rights that containers lack, and the browser opens only our pages.
const ARGUMENTS: [&str; 14] = [
    "--headless=new",
    "--remote-debugging-pipe",
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

/// With `--remote-debugging-pipe` Chromium reads requests from descriptor 3 and writes answers to descriptor 4. To pass a
/// child these descriptors takes `unsafe`, so a shell moves its standard input and output there. `exec` keeps the process
/// id, by which the watchdog kills Chromium.
const MOVE_PIPES: &str = r#"exec "$@" 3<&0 4>&1 </dev/null >&2"#;

/// The Debian package of the Chromium without windows.
pub const PACKAGE: &str = "chromium-headless-shell";

/// The path of Chromium, if it is installed: of the one without windows, which takes a third less processor time, or
/// else of the full browser.
#[must_use]
pub fn program() -> Option<PathBuf> {
    ["chromium-headless-shell", "chromium"].iter().find_map(|name| find_program(name, &[]))
}

/// The path of `certutil`, if it is installed. It writes the list of roots that Chromium trusts beside its own.
#[must_use]
pub fn certutil() -> Option<PathBuf> {
    find_program("certutil", &[])
}

/// The two ends of the `DevTools` connection. Chromium exits when it is closed.
#[derive(Debug)]
pub struct Pipes {
    /// To Chromium: JSON messages, with a zero byte after each.
    pub requests: ChildStdin,
    /// From Chromium, in the same format. The end of the stream means that Chromium has exited.
    pub answers: ChildStdout,
}

/// A running Chromium in its own folder. Dropping it kills it and removes the folder.
#[derive(Debug)]
pub struct Chromium {
    process: ServerProcess,
    folder: PathBuf,
}

impl Chromium {
    /// Starts it. `localhost` and every name below `.test` resolve to this machine; other names do not resolve.
    ///
    /// Chromium is ready when it answers the first request. If it exits instead, see
    /// [`does_not_start`](Self::does_not_start).
    ///
    /// # Errors
    /// If Chromium is not installed.
    pub fn try_start() -> Result<(Self, Pipes), Absence> {
        let program = installed()?;
        Ok(Self::start(&program, new_folder()))
    }

    /// Like [`try_start`](Self::try_start), for a Chromium that also trusts this root certificate, as PEM.
    ///
    /// # Errors
    /// If Chromium or `certutil` is not installed.
    pub fn try_start_trusting(root: &str) -> Result<(Self, Pipes), Absence> {
        let program = installed()?;
        let absence = || Absence::new("certutil", "libnss3-tools", "is not installed".to_owned());
        let certutil = certutil().ok_or_else(absence)?;
        let folder = new_folder();
        trust(&certutil, &folder, root);
        Ok(Self::start(&program, folder))
    }

    fn start(program: &Path, folder: PathBuf) -> (Self, Pipes) {
        let mut process = ServerProcess::in_folder(&folder);
        let (requests, answers) = process.start_with_pipes(&mut command_line(program, &folder), &folder);
        (Self { process, folder }, Pipes { requests, answers })
    }

    /// Kills a Chromium that does not answer the first request, and reports it as missing with its log.
    #[must_use]
    pub fn does_not_start(mut self, reason: &str) -> Absence {
        self.process.kill();
        let log = LogFile::in_folder(&self.folder).since(0);
        absence(format!("does not start: {reason}\n{log}"))
    }
}

fn absence(reason: String) -> Absence {
    Absence::new("Chromium", PACKAGE, reason)
}

fn installed() -> Result<PathBuf, Absence> {
    program().ok_or_else(|| absence("is not installed".to_owned()))
}

fn new_folder() -> PathBuf {
    tempfile::Builder::new().prefix("signpost-chromium-").tempdir().unwrap().keep()
}

/// Makes the Chromium whose home is this folder trust a root certificate.
fn trust(certutil: &Path, folder: &Path, root: &str) {
    let (database, file) = (folder.join(".pki/nssdb"), folder.join("root.pem"));
    fs::create_dir_all(&database).unwrap();
    fs::write(&file, root).unwrap();
    let database = format!("sql:{}", database.display());
    let run = |arguments: &[&str]| {
        let output = Command::new(certutil).args(["-d", &database]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {output:?}");
    };
    run(&["-N", "--empty-password"]);
    // The first of the three uses is that of servers.
    run(&["-A", "-n", "root", "-t", "C,,", "-i", file.to_str().unwrap()]);
}

fn command_line(program: &Path, folder: &Path) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", MOVE_PIPES, "sh"]).arg(program).args(ARGUMENTS);
    command.arg(format!("--user-data-dir={}", folder.join("data").display()));
    // Chromium writes only to its folder.
    command.env("HOME", folder).env("XDG_CONFIG_HOME", folder).env("XDG_CACHE_HOME", folder);
    command.stderr(LogFile::in_folder(folder).append());
    command
}
