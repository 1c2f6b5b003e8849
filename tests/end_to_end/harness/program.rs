//! Starts and stops the built program.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::sync::{Arc, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::account::Account;
use super::log::Log;
use super::program_builder::{ON_FREE_PORTS, ProgramBuilder};
use super::store::{Database, Store};
use super::visitor::Visitor;

const PROGRAM: &str = env!("CARGO_BIN_EXE_signpost");

/// A command of the program, in an environment without settings.
pub fn signpost(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = without_settings(PROGRAM, folder);
    command.args(arguments);
    command
}

/// Any command, in an environment without settings.
fn without_settings(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SIGNPOST_") {
            command.env_remove(name);
        }
    }
    command.env_remove("RUST_LOG").current_dir(folder).stdin(Stdio::null());
    command
}

/// The folder and database of a program. They are removed with the last program that uses them.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) folder: Arc<TempDir>,
    /// `None` with the embedded store, or if the test names a database.
    pub(super) database: Option<Arc<Database>>,
    /// Commands that a shell runs before it becomes the program; may be empty.
    pub(super) shell: String,
    /// A listening socket, as a service manager passes it.
    pub(super) passed: Option<Arc<TcpListener>>,
}

/// A running program. Dropping it kills the program and removes its folder.
pub struct Program {
    child: Child,
    stdout: BufReader<ChildStdout>,
    log: Arc<Log>,
    log_reader: Option<JoinHandle<()>>,
    place: Place,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    /// The key that a first start on the embedded store announced (D62).
    pub announced_key: Option<String>,
    first_key: OnceLock<String>,
    /// The address of the API, `127.0.0.1:PORT`.
    pub api: String,
    /// The address of the link listener.
    pub links: String,
    /// The address of the dashboard, `127.0.0.1:PORT`, if it is on.
    pub dashboard: Option<String>,
    /// The address at which the first user is created, if there is none.
    pub start_url: Option<String>,
    /// The address of HTTPS, if the program speaks TLS.
    pub tls: Option<String>,
    /// The address of the metrics, if they are on.
    pub metrics: Option<String>,
}

impl Program {
    /// A program with generous plans.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A builder with the throttles on, as they are by default.
    pub fn builder() -> ProgramBuilder {
        ProgramBuilder::default()
    }

    /// A program in this folder with only these flags and variables, on free ports.
    pub fn start_in_with(folder: TempDir, flags: &[String], variables: &[(String, String)]) -> Self {
        let arguments = ON_FREE_PORTS.map(str::to_owned).into_iter().chain(flags.iter().cloned()).collect();
        let database = Store::of_this_run().database();
        let store = database.iter().flat_map(Database::variables);
        let variables = variables.iter().cloned().chain(store).collect();
        let place = Place {
            folder: Arc::new(folder),
            database: database.map(Arc::new),
            shell: String::new(),
            passed: None,
        };
        Self::launch(place, arguments, variables)
    }

    pub(super) fn launch(place: Place, arguments: Vec<String>, variables: Vec<(String, String)>) -> Self {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut command = if place.shell.is_empty() {
            signpost(place.folder.path(), &words)
        } else {
            let mut shell = without_settings("sh", place.folder.path());
            shell.args(["-c", &format!(r#"{} exec "$0" "$@""#, place.shell), PROGRAM]).args(&words);
            shell
        };
        if let Some(socket) = &place.passed {
            // The shell moves it from standard input to the first descriptor of a service manager.
            command.env("LISTEN_FDS", "1").stdin(OwnedFd::from(socket.try_clone().unwrap()));
        }
        let mut child = command
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built program starts");
        let log = Arc::new(Log::default());
        let stderr = child.stderr.take().unwrap();
        let sink = Arc::clone(&log);
        let log_reader = std::thread::spawn(move || {
            for line in BufReader::new(stderr).split(b'\n').map_while(Result::ok) {
                sink.add(&String::from_utf8_lossy(&line));
            }
        });
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let mut program = Self {
            child,
            stdout,
            log,
            log_reader: Some(log_reader),
            place,
            arguments,
            variables,
            announced_key: None,
            first_key: OnceLock::new(),
            api: String::new(),
            links: String::new(),
            dashboard: None,
            start_url: None,
            tls: None,
            metrics: None,
        };
        program.await_listening();
        program
    }

    /// Another program on the same store, with additional arguments.
    pub fn beside(&self, words: &[&str]) -> Self {
        let mut arguments = self.arguments.clone();
        arguments.extend(words.iter().map(|word| (*word).to_owned()));
        Self::launch(self.place.clone(), arguments, self.variables.clone())
    }

    /// Reads the program's announcements until it says where it listens.
    fn await_listening(&mut self) {
        loop {
            let mut line = String::new();
            if self.stdout.read_line(&mut line).unwrap() == 0 {
                let status = self.child.wait().unwrap();
                panic!("the program stopped with {status} before it listened:\n{}", self.log());
            }
            let event: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            match event["event"].as_str() {
                Some("no_account") => {}
                Some("no_user") => self.start_url = event["start_url"].as_str().map(str::to_owned),
                Some("first_start") => {
                    self.start_url = event["start_url"].as_str().map(str::to_owned);
                    self.announced_key = event["key"]["key"].as_str().map(str::to_owned);
                    self.first_key = self.announced_key.clone().map(OnceLock::from).unwrap_or_default();
                }
                Some("listening") => {
                    event["api"].as_str().unwrap().clone_into(&mut self.api);
                    event["links"].as_str().unwrap().clone_into(&mut self.links);
                    self.dashboard = event["dashboard"].as_str().map(str::to_owned);
                    self.tls = event["tls"].as_str().map(str::to_owned);
                    self.metrics = event["metrics"].as_str().map(str::to_owned);
                    return;
                }
                other => panic!("unexpected announcement {other:?}: {line}"),
            }
        }
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The working folder of the program.
    pub fn folder(&self) -> PathBuf {
        self.place.folder.path().to_owned()
    }

    /// The log so far.
    pub fn log(&self) -> String {
        self.log.text.lock().unwrap().clone()
    }

    /// Waits until the log contains this text. A line may come a moment after the answer that it describes.
    #[track_caller]
    pub fn await_log(&self, text: &str) {
        let log = self.log.text.lock().unwrap();
        let patience = Duration::from_secs(20);
        let (log, waited) =
            self.log.grown.wait_timeout_while(log, patience, |log| !log.contains(text)).unwrap();
        assert!(!waited.timed_out(), "{text} is not in:\n{log}");
    }

    /// Stops the program and returns its log.
    pub fn stop_and_read_log(&mut self) -> String {
        self.signal("TERM");
        self.wait();
        self.log()
    }

    /// The database that was created for the program; `None` with the embedded store.
    pub fn database(&self) -> Option<&Database> {
        self.place.database.as_deref()
    }

    /// All stored data: every file with its name, and the content of the database.
    pub fn kept(&self) -> Vec<(String, Vec<u8>)> {
        let content =
            self.database().map(|database| ("the database".to_owned(), database.content().into_bytes()));
        files(&self.folder()).into_iter().chain(content).collect()
    }

    /// A key of the first account: announced by the first start, or issued by the commands that the first start
    /// names (D62).
    pub fn first_key(&self) -> &str {
        self.first_key.get_or_init(|| {
            let account = self.command(&["account", "create", "--json", "--email", "owner@localhost"]);
            self.issue_key(account["id"].as_str().unwrap())
        })
    }

    /// The first account.
    pub fn first_account(&self) -> Account {
        self.with_key(self.first_key())
    }

    /// A new account on `plan` with a key, created by commands beside the running program.
    pub fn account(&self, plan: &str) -> Account {
        let email = format!("{}@example.com", fresh_word());
        let account = self.command(&["account", "create", "--json", "--email", &email, "--plan", plan]);
        let id = account["id"].as_str().unwrap().to_owned();
        let key = self.issue_key(&id);
        Account::new(&self.api, key, Some(id))
    }

    /// Another key of an account.
    pub fn issue_key(&self, account: &str) -> String {
        let key = self.command(&["key", "issue", "--json", "--account", account]);
        key["key"].as_str().unwrap().to_owned()
    }

    /// A client of the API with this key.
    pub fn with_key(&self, key: &str) -> Account {
        Account::new(&self.api, key.to_owned(), None)
    }

    /// A client of this program for an account that was created through another program on the same store.
    pub fn client_of(&self, account: &Account) -> Account {
        Account::new(&self.api, account.key.clone(), Some(account.id().to_owned()))
    }

    /// A visitor who opens links.
    pub fn visitor(&self) -> Visitor {
        Visitor::new(&self.links)
    }

    /// The value of a metric without labels.
    pub fn metric(&self, name: &str) -> String {
        let metrics = Visitor::new(self.metrics.as_ref().unwrap()).request("GET", "/metrics", &[]).body;
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {metrics}")).to_owned()
    }

    /// Runs a command of the program on the same store and plans; it must succeed and print JSON.
    pub fn command(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed}"))
    }

    /// Runs a command of the program on the same store and plans.
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command_line(arguments).output().unwrap()
    }

    /// A command of the program on the same store and plans, for the test to start.
    pub fn command_line(&self, arguments: &[&str]) -> Command {
        let mut command = signpost(self.place.folder.path(), arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.place.folder.path().join("plans.toml").exists() {
            command.env("SIGNPOST_PLANS", "plans.toml");
        }
        command
    }

    /// Sends a signal, such as `TERM`.
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
    }

    /// Limits the size of the program's files, or lifts the limit.
    pub fn limit_files(&self, bytes: Option<u64>) {
        let limit = bytes.map_or_else(|| "unlimited".to_owned(), |bytes| bytes.to_string());
        let words = ["--pid".to_owned(), self.child.id().to_string(), format!("--fsize={limit}:")];
        assert!(Command::new("prlimit").args(words).status().unwrap().success());
    }

    /// Waits until the program stops, and returns its exit code.
    #[track_caller]
    pub fn wait(&mut self) -> Option<i32> {
        self.wait_for_status().code()
    }

    /// Waits until the program stops. It must do so within some minutes.
    #[track_caller]
    pub fn wait_for_status(&mut self) -> ExitStatus {
        let since = Instant::now();
        let status = loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
            assert!(since.elapsed() < Duration::from_mins(5), "the program does not stop");
            std::thread::sleep(Duration::from_millis(2));
        };
        if let Some(reader) = self.log_reader.take() {
            reader.join().unwrap();
        }
        status
    }

    /// Kills the program as a crash would.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait();
    }

    /// Starts the program again after it stopped or was killed: same folder, same settings, other ports.
    pub fn start_again(&mut self) {
        let mut again = Self::launch(self.place.clone(), self.arguments.clone(), self.variables.clone());
        again.first_key = self.first_key.clone();
        *self = again;
    }

    /// The rest of standard output; the program must have stopped.
    pub fn rest_of_stdout(&mut self) -> String {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Program {
    #[expect(clippy::print_stderr, reason = "failed tests are read there")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            // The log often says why a test failed, such as the reason for a 503.
            let log = self.log.text.lock().unwrap_or_else(PoisonError::into_inner);
            let lines: Vec<&str> = log.lines().collect();
            let last = lines.len().saturating_sub(40);
            eprintln!("The program's last lines:\n{}", lines.get(last..).unwrap_or_default().join("\n"));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Every file below a folder, with its path and bytes.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let read = |path: PathBuf| {
        if path.is_dir() {
            files(&path)
        } else {
            vec![(path.display().to_string(), std::fs::read(&path).unwrap())]
        }
    };
    entries.flat_map(read).collect()
}

/// A word that is unique in this process.
fn fresh_word() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("owner{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
