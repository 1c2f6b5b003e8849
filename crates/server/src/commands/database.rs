//! `signpost migrate` and `signpost backup`.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use signpost_sqlite::{Backup, BackupError, back_up, back_up_clicks};

use super::UsageError;
use super::output::Output;
use crate::settings::{CommonSettings, Database};

/// Applies the pending migrations and prints their names.
pub(super) async fn run_migrate(settings: &CommonSettings, output: &mut Output<'_>) -> Result<()> {
    let database = &settings.database;
    let applied = match database {
        Database::File(file) => {
            let mut applied = signpost_sqlite::migrate(file, settings.store_timeout)?;
            applied.extend(signpost_sqlite::migrate(&file.of_clicks(), settings.store_timeout)?);
            applied
        }
        Database::Server(url) => signpost_postgres::migrate(url.expose()).await?,
    };
    let text = match applied.as_slice() {
        [] => format!("The database {database} is up to date."),
        names => format!("Brought the database {database} up to date:\n  {}", names.join("\n  ")),
    };
    Ok(output.result(&json!({ "applied": applied }), text)?)
}

/// The arguments of `signpost backup`.
#[derive(Debug, Args)]
pub(crate) struct BackupArguments {
    /// File to write; it must not exist yet. It appears under this name only once it is complete and checked.
    file: PathBuf,
}

/// Copies the embedded database. `store-timeout` bounds the wait for its lock, not the copy.
pub(super) async fn run_backup(
    settings: &CommonSettings,
    arguments: BackupArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let BackupArguments { file: target } = arguments;
    let file = match &settings.database {
        Database::File(file) => file.clone(),
        Database::Server(url) => {
            return Err(UsageError(format!(
                "`signpost backup` copies only the embedded database; back up {url} with PostgreSQL's own \
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
    let (Backup { path, bytes }, clicks) =
        copying.await.context("the copying thread stopped before the backup was complete")??;
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
