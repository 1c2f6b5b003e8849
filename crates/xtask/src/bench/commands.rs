//! The program's other commands, on PostgreSQL.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::postgres::Postgres;

/// Runs one of the program's other commands, and gives what it says.
pub(super) fn run(executable: &Path, postgres: &Postgres, words: &[&str]) -> Result<Value> {
    let mut command = Command::new(executable);
    command.args(words).args(["--json", "--database-url", &postgres.url()]);
    let output = command.current_dir(postgres.folder()).env_clear().output()?;
    ensure!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
    let last = String::from_utf8(output.stdout)?;
    let last = last.lines().last().unwrap_or("null");
    serde_json::from_str(last).with_context(|| format!("{words:?}: {last}"))
}

/// Makes an account with a key, and gives its id and the key.
pub(super) fn account(executable: &Path, postgres: &Postgres, name: &str) -> Result<(String, String)> {
    let email = format!("{name}@example.com");
    let account = run(executable, postgres, &["account", "create", "--email", &email])?;
    let text = |value: &Value, pointer: &str| {
        let text = value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        text.with_context(|| format!("no {pointer} in {value}"))
    };
    let id = text(&account, "/id")?;
    let key = run(executable, postgres, &["key", "issue", "--account", &id])?;
    Ok((id, text(&key, "/key")?))
}
