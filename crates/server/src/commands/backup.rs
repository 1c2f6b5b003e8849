//! `signpost backup`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use signpost_sqlite::{Backup, back_up};

use super::UsageError;
use super::output::Output;
use crate::settings::{CommonSettings, Database};

/// What `signpost backup` is told.
#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// The file to write. It must not be there yet; it gets its name when it is whole and was checked.
    file: PathBuf,
}

/// Copies the embedded database, however long it takes: `store-timeout` bounds only the wait for its lock.
pub(super) async fn run(
    settings: &CommonSettings,
    arguments: BackupArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let BackupArguments { file: target } = arguments;
    let file = match &settings.database {
        Database::File(file) => file.clone(),
        Database::Server(url) => {
            return Err(UsageError(format!(
                "`signpost backup` copies the embedded database; {url} is on a server, which has its own \
                 tool: pg_dump --format=custom --file=FILE"
            ))
            .into());
        }
    };
    let (database, patience) = (file.path().display().to_string(), settings.store_timeout);
    let copying = tokio::task::spawn_blocking(move || back_up(&file, &target, patience));
    let Backup { path, bytes } = copying.await.context("the copying thread ended")??;
    let path = path.display().to_string();
    let text = format!("Backed up the database {database} to {path}: {bytes} bytes, checked.");
    Ok(output.result(&json!({ "database": database, "file": path, "bytes": bytes }), text)?)
}
