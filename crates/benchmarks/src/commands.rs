//! Running the program's other commands.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::postgres::Postgres;

/// The program's commands on one store.
pub(super) struct Commands {
    executable: PathBuf,
    folder: PathBuf,
    /// The database URL, unless it is the embedded store of the folder.
    database: Option<String>,
}

impl Commands {
    pub(super) fn on_postgres(executable: &Path, postgres: &Postgres) -> Self {
        let (executable, folder) = (executable.to_owned(), postgres.folder().to_owned());
        Self { executable, folder, database: Some(postgres.url()) }
    }

    /// On the embedded store of a folder.
    pub(super) fn embedded(executable: &Path, folder: &Path) -> Self {
        Self { executable: executable.to_owned(), folder: folder.to_owned(), database: None }
    }

    /// Runs a command, and returns its output.
    pub(super) fn run(&self, words: &[&str]) -> Result<Value> {
        let mut command = Command::new(&self.executable);
        command.args(words).arg("--json");
        if let Some(url) = &self.database {
            command.args(["--database-url", url]);
        }
        let output = command.current_dir(&self.folder).env_clear().output()?;
        ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        let last = String::from_utf8(output.stdout)?;
        let last = last.lines().last().unwrap_or("null");
        serde_json::from_str(last).with_context(|| format!("{words:?}: {last}"))
    }

    /// Creates an account with a key, and returns its id and the key.
    pub(super) fn account(&self, name: &str) -> Result<(String, String)> {
        let email = format!("{name}@example.com");
        let account = self.run(&["account", "create", "--email", &email])?;
        let text = |value: &Value, pointer: &str| {
            let text = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            text.with_context(|| format!("no {pointer} in {value}"))
        };
        let id = text(&account, "/id")?;
        let key = self.run(&["key", "issue", "--account", &id])?;
        Ok((id, text(&key, "/key")?))
    }
}
