//! Starting and stopping the built program.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use super::account::Account;
use super::visitor::Visitor;

/// Plans with room for tests that are not about limits, and a few small ones for those that are.
const PLANS: &str = r#"
[plans.agency]
api_access = true
requests_per_minute = 1000000
requests_per_day = 1000000
links = 1000000
groups = 10000
domains = 500
pixels = 500
analytics_days = 1096
features = ["custom_domains", "pixels", "geo_blocking", "antibot"]
"#;

/// A command of the program, in an environment without settings.
pub fn signpost(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_signpost"));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("SIGNPOST_") {
            command.env_remove(name);
        }
    }
    command.env_remove("RUST_LOG").current_dir(folder).args(arguments).stdin(Stdio::null());
    command
}

/// How a program is to be started.
#[derive(Default)]
pub struct ProgramBuilder {
    arguments: Vec<String>,
    plans: String,
    builtin_plans: bool,
    variables: Vec<(String, String)>,
}

impl ProgramBuilder {
    /// With a setting, without its leading dashes.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// With a setting that the program's other commands get too.
    pub fn setting_of_all(mut self, name: &str, value: &str) -> Self {
        let variable = format!("SIGNPOST_{}", name.replace('-', "_").to_uppercase());
        self.variables.push((variable, value.to_owned()));
        self
    }

    /// With a further plan, or another `agency`, as a table of the plans file.
    pub fn plan(mut self, toml: &str) -> Self {
        self.plans.push_str(toml);
        self
    }

    /// With the plans as the program has them built in.
    pub fn builtin_plans(mut self) -> Self {
        self.builtin_plans = true;
        self
    }

    /// Starts it in a new empty folder and waits until it listens.
    pub fn start(self) -> Program {
        let folder = tempfile::tempdir().unwrap();
        self.start_in(Arc::new(folder))
    }

    fn start_in(self, folder: Arc<TempDir>) -> Program {
        let mut arguments: Vec<String> = on_free_ports().collect();
        if !self.builtin_plans {
            let agency = if self.plans.contains("[plans.agency]") { "" } else { PLANS };
            std::fs::write(folder.path().join("plans.toml"), format!("{agency}\n{}", self.plans)).unwrap();
            arguments.extend(["--plans".to_owned(), "plans.toml".to_owned()]);
        }
        arguments.extend(self.arguments);
        Program::launch(folder, arguments, self.variables)
    }
}

/// A running program. It is killed when it is dropped, and its folder removed.
pub struct Program {
    child: Child,
    stdout: BufReader<ChildStdout>,
    log: Arc<Log>,
    log_reader: Option<JoinHandle<()>>,
    folder: Arc<TempDir>,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    /// The key of the first start, if this was one.
    pub first_key: Option<String>,
    /// Where the API listens, `127.0.0.1:PORT`.
    pub api: String,
    /// Where the links listen.
    pub links: String,
    /// Where the metrics are served, if they are.
    pub metrics: Option<String>,
}

impl Program {
    /// A program with roomy plans and no throttles to stumble over.
    pub fn start() -> Self {
        Self::builder().start()
    }

    /// A builder with the throttles on, as they are by default.
    pub fn builder() -> ProgramBuilder {
        ProgramBuilder::default()
    }

    /// A program in this folder with nothing but these flags and variables, on free ports.
    pub fn start_in_with(folder: TempDir, flags: &[String], variables: &[(String, String)]) -> Self {
        let arguments = on_free_ports().chain(flags.iter().cloned()).collect();
        Self::launch(Arc::new(folder), arguments, variables.to_vec())
    }

    fn launch(folder: Arc<TempDir>, arguments: Vec<String>, variables: Vec<(String, String)>) -> Self {
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let mut child = signpost(folder.path(), &words)
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
            folder,
            arguments,
            variables,
            first_key: None,
            api: String::new(),
            links: String::new(),
            metrics: None,
        };
        program.await_listening();
        program
    }

    /// Another program on the same store, with these further words on its command line.
    pub fn beside(&self, words: &[&str]) -> Self {
        let mut arguments = self.arguments.clone();
        arguments.extend(words.iter().map(|word| (*word).to_owned()));
        Self::launch(Arc::clone(&self.folder), arguments, self.variables.clone())
    }

    /// Reads the program's own announcements until it says where it listens.
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
                Some("first_start") => self.first_key = event["key"]["key"].as_str().map(str::to_owned),
                Some("listening") => {
                    event["api"].as_str().unwrap().clone_into(&mut self.api);
                    event["links"].as_str().unwrap().clone_into(&mut self.links);
                    self.metrics = event["metrics"].as_str().map(str::to_owned);
                    return;
                }
                other => panic!("unexpected announcement {other:?}: {line}"),
            }
        }
    }

    /// The folder that it runs in.
    pub fn folder(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.log.text.lock().unwrap().clone()
    }

    /// Waits until it has logged this: a line may come a moment after the answer that it is about.
    #[track_caller]
    pub fn await_log(&self, text: &str) {
        let log = self.log.text.lock().unwrap();
        let patience = Duration::from_secs(20);
        let (log, waited) =
            self.log.grown.wait_timeout_while(log, patience, |log| !log.contains(text)).unwrap();
        assert!(!waited.timed_out(), "{text} is not in:\n{log}");
    }

    /// Asks it to stop and returns all that it logged.
    pub fn stop_and_read_log(&mut self) -> String {
        self.signal("TERM");
        self.wait();
        self.log()
    }

    /// The account of the first start.
    pub fn first_account(&self) -> Account {
        Account::new(&self.api, self.first_key.clone().expect("this was a first start"), None)
    }

    /// A new account on `plan`, with a key, made by the program's commands beside the running program.
    pub fn account(&self, plan: &str) -> Account {
        let email = format!("{}@example.com", fresh_word());
        let account = self.command(&["account", "create", "--json", "--email", &email, "--plan", plan]);
        let id = account["id"].as_str().unwrap().to_owned();
        let key = self.issue_key(&id);
        Account::new(&self.api, key, Some(id))
    }

    /// A further key of an account.
    pub fn issue_key(&self, account: &str) -> String {
        let key = self.command(&["key", "issue", "--json", "--account", account]);
        key["key"].as_str().unwrap().to_owned()
    }

    /// A client of the API with this key.
    pub fn with_key(&self, key: &str) -> Account {
        Account::new(&self.api, key.to_owned(), None)
    }

    /// Somebody who opens links.
    pub fn visitor(&self) -> Visitor {
        Visitor::new(&self.links)
    }

    /// Runs a command of the program on the same store, and its plans; it must succeed and print JSON.
    pub fn command(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        let printed = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(&printed).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {printed}"))
    }

    /// Runs a command of the program on the same store, and its plans.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let mut command = signpost(self.folder.path(), arguments);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        if self.folder.path().join("plans.toml").exists() {
            command.env("SIGNPOST_PLANS", "plans.toml");
        }
        command.output().unwrap()
    }

    /// Sends a signal, such as `TERM`.
    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &pid]).status().unwrap().success());
    }

    /// Waits for the program to stop by itself and returns its exit code.
    pub fn wait(&mut self) -> Option<i32> {
        let code = self.child.wait().unwrap().code();
        if let Some(reader) = self.log_reader.take() {
            reader.join().unwrap();
        }
        code
    }

    /// Kills it as a crash would, with no chance to do anything.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.wait();
    }

    /// Starts it again after it stopped or was killed: same folder, same settings, other ports.
    pub fn start_again(&mut self) {
        let again = Self::launch(Arc::clone(&self.folder), self.arguments.clone(), self.variables.clone());
        *self = again;
    }

    /// The rest of what it printed on standard output; the program must have stopped.
    pub fn rest_of_stdout(&mut self) -> String {
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap();
        rest
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a program logged so far.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    grown: Condvar,
}

impl Log {
    fn add(&self, line: &str) {
        let mut text = self.text.lock().unwrap();
        text.push_str(line);
        text.push('\n');
        self.grown.notify_all();
    }
}

/// The words that start the program on free ports and have it announce them.
fn on_free_ports() -> impl Iterator<Item = String> {
    ["serve", "--json", "--api-listen", "127.0.0.1:0", "--link-listen", "127.0.0.1:0"]
        .map(str::to_owned)
        .into_iter()
}

/// A word that no other call in this process gives.
fn fresh_word() -> String {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("owner{}", NEXT.fetch_add(1, Ordering::Relaxed))
}
