//! `signpost backup`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use signpost_sqlite::{Backup, BackupError, back_up, back_up_clicks};

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
    let copying = tokio::task::spawn_blocking(move || {
        let copy = back_up(&file, &target, patience)?;
        Ok::<_, BackupError>((copy, back_up_clicks(&file, &target, patience)?))
    });
    let (Backup { path, bytes }, clicks) = copying.await.context("the copying thread ended")??;
    let path = path.display().to_string();
    let mut text = format!("Backed up the database {database} to {path}: {bytes} bytes, checked.");
    let mut result = json!({ "database": database, "file": path, "bytes": bytes });
    if let (Some(Backup { path, bytes }), Some(result)) = (clicks, result.as_object_mut()) {
        let path = path.display().to_string();
        text = format!("{text}\nBacked up its clicks to {path}: {bytes} bytes, checked.");
        result.insert("clicks".to_owned(), json!({ "file": path, "bytes": bytes }));
    }
    Ok(output.result(&result, text)?)
}
