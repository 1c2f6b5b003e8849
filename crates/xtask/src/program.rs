//! Builds the program, starts it in an empty folder, and stops it in every case.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::workspace::cargo;

/// The log file in the program's folder.
pub const LOG: &str = "signpost.log";

/// Budgets and limits that no run reaches: runs look for defects, not for 429s.
pub const PLANS: &str = r#"
[plans.agency]
extends = "unlimited"
requests_per_minute = 1000000000
requests_per_day = 1000000000
analytics_days = 1096
"#;

/// A watchdog script. It stops the program if this process ends first, however it ends: then its input closes without a
/// line. It ignores the signals that a terminal sends to all processes.
const WATCH: &str = r#"trap '' INT TERM HUP; read -r stand_down || kill -TERM "$0""#;

/// The build profile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// As in the tests: with overflow checks and debug assertions.
    Debug,
    /// As released.
    Release,
}

/// Builds the program and returns its path.
pub fn build(root: &Path, profile: Profile) -> Result<PathBuf> {
    build_package(root, "signpost", profile)
}

/// Builds the program of the package with the same name, and returns its path.
pub fn build_package(root: &Path, name: &str, profile: Profile) -> Result<PathBuf> {
    let mut command = cargo();
    command.args(["build", "--bin", name, "--message-format", "json-render-diagnostics"]);
    match profile {
        // Use the same features as the tests, so that nothing is built twice. Cargo counts those of dev-dependencies only
        // if a test is selected; this one builds in a second.
        Profile::Debug => command.args(["--workspace", "--test", "repository"]),
        Profile::Release => command.args(["--release", "--package", name]),
    };
    let output = command.current_dir(root).stderr(Stdio::inherit()).output().context("cannot start cargo")?;
    ensure!(output.status.success(), "{name} does not build");
    let messages = String::from_utf8_lossy(&output.stdout);
    executable(&messages, name).with_context(|| format!("cargo does not report the path of {name}"))
}

/// The path of the executable with this name in cargo's messages.
fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    messages.lines().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_program = message.pointer("/target/name")? == name;
        let path = message.get("executable")?.as_str()?;
        is_program.then(|| PathBuf::from(path))
    })
}

/// A running program. Dropping it stops it.
pub struct Program {
    child: Child,
    watch: Child,
    /// The input of the watchdog; a line dismisses it.
    watched: Option<ChildStdin>,
    /// The base URL of its API.
    pub api: String,
    /// The address and port for links.
    pub links: String,
    /// The address and port of the metrics, if they are on.
    pub metrics: Option<String>,
    /// The address and port of HTTPS, if it is on.
    pub tls: Option<String>,
    /// The address and port of the dashboard.
    pub dashboard: String,
    /// The address at which the first user is created, if there is none.
    pub start_url: Option<String>,
    /// An API key.
    pub key: String,
}

impl Program {
    /// Starts the program in the empty `folder` on free ports of the loopback interface, and waits until it listens.
    pub fn start(executable: &Path, folder: &Path) -> Result<Self> {
        Self::start_with(executable, folder, &[])
    }

    /// Starts the program with more arguments. With a database server it does not announce a key.
    pub fn start_with(executable: &Path, folder: &Path, arguments: &[&str]) -> Result<Self> {
        Self::start_by(Command::new(executable), folder, arguments)
    }

    /// Starts the program through a command that ends with its path and execs it, such as `taskset`. In a folder with a store
    /// from an earlier start it does not announce a key.
    pub fn start_by(mut command: Command, folder: &Path, arguments: &[&str]) -> Result<Self> {
        fs::write(folder.join("plans.toml"), PLANS)?;
        let log = File::create(folder.join(LOG))?;
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("SIGNPOST_") || name == "RUST_LOG" {
                command.env_remove(name);
            }
        }
        let mut child = command
            .args([
                "serve",
                "--json",
                "--api-listen",
                "127.0.0.1:0",
                "--link-listen",
                "127.0.0.1:0",
                "--dashboard-listen",
                "127.0.0.1:0",
            ])
            .args(["--plans", "plans.toml", "--throttle-per-minute", "0", "--log-format", "json"])
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .context("cannot start the program")?;
        let announcements = child.stdout.take();
        let watch = Command::new("sh")
            .args(["-c", WATCH, &child.id().to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut watch = match watch {
            Ok(watch) => watch,
            Err(error) => {
                child.kill()?;
                return Err(error).context("cannot start `sh`");
            }
        };
        let watched = watch.stdin.take();
        let mut program = Self {
            child,
            watch,
            watched,
            api: String::new(),
            links: String::new(),
            metrics: None,
            tls: None,
            dashboard: String::new(),
            start_url: None,
            key: String::new(),
        };
        let announcements = announcements.context("the program has no output")?;
        for line in BufReader::new(announcements).lines() {
            if program.hear(&line?)? {
                return Ok(program);
            }
        }
        bail!("the program stopped before it listened: see {}", folder.join(LOG).display())
    }

    /// Reads an announcement of the program; `true` once it listens.
    fn hear(&mut self, line: &str) -> Result<bool> {
        let event: Value = serde_json::from_str(line).context("an announcement is not JSON")?;
        let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str);
        match text("/event") {
            Some("first_start") => {
                text("/key/key").context("the first start without a key")?.clone_into(&mut self.key);
                self.start_url = text("/start_url").map(str::to_owned);
                Ok(false)
            }
            Some("listening") => {
                self.api = format!("http://{}", text("/api").context("no address of the API")?);
                text("/links").context("no address of the links")?.clone_into(&mut self.links);
                text("/dashboard").context("no address of the dashboard")?.clone_into(&mut self.dashboard);
                self.metrics = text("/metrics").map(str::to_owned);
                self.tls = text("/tls").map(str::to_owned);
                Ok(true)
            }
            Some("no_account" | "no_user") => Ok(false),
            Some(_) | None => bail!("unknown announcement: {line}"),
        }
    }

    /// Its process id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the program to stop and waits for its end.
    ///
    /// # Errors
    /// If it ended before, or ends with a failure.
    pub fn stop(mut self) -> Result<()> {
        let ended = self.child.try_wait()?;
        self.end()?;
        if let Some(status) = ended {
            bail!("the program exited on its own with {status}");
        }
        let status = self.child.wait()?;
        ensure!(status.success(), "the program stopped with {status}");
        Ok(())
    }

    /// Dismisses the watchdog, and then asks the program to stop. In the opposite order, the watchdog could signal another
    /// process with the same id.
    fn end(&mut self) -> Result<()> {
        if let Some(mut watched) = self.watched.take() {
            // The watchdog may have ended already.
            let _ = writeln!(watched, "stand down");
        }
        self.watch.wait()?;
        if self.child.try_wait()?.is_none() {
            Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        }
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // A drop cannot report failures; the kill cannot fail while the program runs.
        if self.end().is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::{PLANS, executable};

    #[test]
    fn the_path_of_the_program_comes_from_cargo() {
        let messages = [
            r#"{"reason":"compiler-artifact","target":{"name":"signpost_domain"},"executable":null}"#,
            r#"{"reason":"compiler-artifact","target":{"name":"other"},"executable":"/other"}"#,
            r#"{"reason":"compiler-artifact","target":{"name":"signpost"},"executable":"/target/signpost"}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ];
        assert_eq!(executable(&messages.join("\n"), "signpost"), Some("/target/signpost".into()));
        assert_eq!(executable(messages[0], "signpost"), None);
    }

    #[test]
    fn the_plans_are_toml() {
        let plans: toml::Table = toml::from_str(PLANS).unwrap();
        assert_eq!(plans["plans"]["agency"]["extends"].as_str(), Some("unlimited"));
    }
}
