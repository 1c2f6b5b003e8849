//! `cargo xtask clients`: checks the OpenAPI document with linters and with the generators of clients that people use.
//!
//! It starts the built program, fetches its documents, generates each client, compiles it, and lets clients in Python and
//! TypeScript create, list, update and delete on the running program. It is not part of the tests: it installs some 400 MB of
//! tools from package registries and takes minutes.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

mod generators;
mod names;
mod tools;

use generators::Check;
use tools::Tools;

use crate::program::{self, Profile, Program};

/// The options of the command.
#[derive(Debug, clap::Args)]
pub struct Options {
    /// Runs only the checks whose names contain one of these words.
    words: Vec<String>,
}

/// Where a run keeps its files, and what it checks.
struct Workshop {
    tools: Tools,
    /// The folder with one folder and one log for each check.
    folder: PathBuf,
    /// The base URL of the running program.
    api: String,
    /// A key for it.
    key: String,
}

/// How long a command may run, as the program `timeout` reads it.
const LONGEST: &str = "15m";

/// A command of a check.
struct Step {
    program: PathBuf,
    arguments: Vec<OsString>,
    folder: PathBuf,
    variables: Vec<(&'static str, OsString)>,
}

/// Runs the checks on the program of the workspace at `root`, and lists what failed.
///
/// # Errors
/// If a tool is missing and cannot be installed, or the program does not build or start.
pub fn run(root: &Path, options: &Options) -> Result<ExitCode> {
    let selected = options.selected();
    ensure!(!selected.is_empty(), "no check has such a name");
    let tools = Tools::install(root)?;
    let executable = program::build(root, Profile::Debug)?;
    let folder = root.join("target/clients");
    if folder.exists() {
        fs::remove_dir_all(&folder).context("cannot remove the clients of an earlier run")?;
    }
    fs::create_dir_all(&folder).context("no folder for the clients")?;
    let place =
        tempfile::Builder::new().prefix("signpost-clients-").tempdir().context("no temporary folder")?;
    let program = Program::start(&executable, place.path())?;
    let shop = Workshop { tools, folder, api: program.api.clone(), key: program.key.clone() };
    let verdict = shop.check_all(&selected);
    program.stop()?;
    let failed = verdict?;
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Options {
    /// The checks whose names contain one of the words; without words all.
    fn selected(&self) -> Vec<&'static Check> {
        let is_selected = |check: &&Check| {
            self.words.is_empty() || self.words.iter().any(|word| check.name.contains(word.as_str()))
        };
        generators::CHECKS.iter().filter(is_selected).collect()
    }
}

impl Workshop {
    /// Runs the checks, and returns how many failed.
    fn check_all(&self, checks: &[&Check]) -> Result<usize> {
        for (name, path) in generators::DOCUMENTS {
            self.fetch(name, path)?;
        }
        let mut output = io::stdout().lock();
        let mut failed = 0;
        for check in checks {
            let begin = Instant::now();
            let outcome = self.check(check);
            let seconds = begin.elapsed().as_secs();
            match outcome {
                Ok(()) => writeln!(output, "ok      {} ({seconds} s)", check.name)?,
                Err(error) => {
                    failed += 1;
                    writeln!(output, "FAILED  {} ({seconds} s): {error:#}", check.name)?;
                }
            }
        }
        writeln!(output, "{} passed, {failed} failed", checks.len() - failed)?;
        Ok(failed)
    }

    /// Fetches a document of the running program into the folder.
    fn fetch(&self, name: &str, path: &str) -> Result<()> {
        let url = format!("{}{path}", self.api);
        let text = ureq::get(&url).call().context("no answer")?.body_mut().read_to_string()?;
        fs::write(self.folder.join(name), text).with_context(|| format!("cannot write {name}"))
    }

    fn check(&self, check: &Check) -> Result<()> {
        let folder = self.folder.join(check.name);
        fs::create_dir_all(&folder)?;
        let log = self.folder.join(format!("{}.log", check.name));
        let output = File::create(&log)?;
        for (name, content) in check.files {
            fs::write(folder.join(name), content).with_context(|| format!("cannot write {name}"))?;
        }
        for step in (check.steps)(self, &folder) {
            step.run(&output).with_context(|| format!("see {}", log.display()))?;
        }
        let made_up = names::made_up(&folder)?;
        if !made_up.is_empty() {
            bail!("names that the generator made up: {}", made_up.into_iter().collect::<Vec<_>>().join(", "));
        }
        Ok(())
    }

    /// The path of a fetched document.
    fn document(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

impl Step {
    fn new<A: Into<OsString>>(
        program: impl Into<PathBuf>,
        folder: &Path,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Self { program: program.into(), arguments, folder: folder.to_owned(), variables: vec![] }
    }

    /// The same command with an environment variable.
    fn with(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.variables.push((name, value.into()));
        self
    }

    fn run(&self, log: &File) -> Result<()> {
        let Self { program, arguments, folder, variables } = self;
        writeln!(&*log, "$ {} {}", program.display(), arguments.join(" ".as_ref()).display())?;
        let status = Command::new("timeout")
            .arg(LONGEST)
            .arg(program)
            .args(arguments)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log.try_clone()?)
            .status()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let name = program.file_name().unwrap_or_default().display();
        ensure!(status.success(), "{name} ended with {status}");
        Ok(())
    }
}
