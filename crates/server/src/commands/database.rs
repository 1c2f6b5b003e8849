//! `signpost migrate`, `signpost backup` and `signpost restore`.

use std::fs;
use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::{Map, json};
use signpost_app::ports::Clock as _;
use signpost_sqlite::{Backup, DatabaseFile, Restoration, Restored, back_up_with_clicks, restore_before};

use super::UsageError;
use super::output::{Output, counted, enumerated};
use crate::backup_folder::{BackupFolder, LeftAlone, Rotation};
use crate::settings::{CommonSettings, Database};
use crate::system::{SystemClock, to_timestamp};
use crate::upgrade_copies;

/// The arguments of `signpost migrate`.
#[derive(Debug, Args)]
pub(crate) struct MigrateArguments {
    /// Do not copy the embedded database first. Then `signpost restore` cannot undo the upgrade.
    #[arg(long)]
    without_copy: bool,
}

/// Applies the pending migrations and prints their names.
pub(super) async fn run_migrate(
    settings: &CommonSettings,
    arguments: MigrateArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let MigrateArguments { without_copy } = arguments;
    let database = &settings.database;
    let applied = match database {
        Database::File(file) => {
            if !without_copy {
                upgrade_copies::make(file, settings.store_timeout)?;
            }
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
    /// File to write, which must not exist yet, or a folder. In a folder, the file is named after the database and the
    /// date, such as signpost-2026-11-26T03-15-00Z.db. It appears under its name only once it is complete and checked.
    file: PathBuf,
    /// Once the backup is complete, delete all but the newest N that this command made of this database in the folder. No
    /// other file is deleted.
    #[arg(long, value_name = "N")]
    keep: Option<NonZeroUsize>,
}

/// Copies the embedded database. `store-timeout` bounds the wait for its lock, not the copy.
pub(super) async fn run_backup(
    settings: &CommonSettings,
    arguments: BackupArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let BackupArguments { file: target, keep } = arguments;
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
    let folder = target.is_dir().then(|| BackupFolder::new(target.clone(), file.path()));
    if keep.is_some() && folder.is_none() {
        return Err(UsageError(format!(
            "`--keep` needs a folder in which backups have their date as a name, and {} is none; make the folder, or leave \
             `--keep` out",
            target.display()
        ))
        .into());
    }
    let target = folder.as_ref().map_or(target, |folder| folder.file(SystemClock.now()));
    let (database, patience) = (file.path().display().to_string(), settings.store_timeout);
    let copying = tokio::task::spawn_blocking(move || back_up_with_clicks(&file, &target, patience));
    let (Backup { path, bytes }, clicks) =
        copying.await.context("the copying thread stopped before the backup was complete")??;
    let made = path.clone();
    let path = path.display().to_string();
    let mut text = format!("Backed up the database {database} to {path}: {bytes} bytes, checked.");
    let mut result = Map::from_iter([
        ("database".to_owned(), json!(database)),
        ("file".to_owned(), json!(path)),
        ("bytes".to_owned(), json!(bytes)),
    ]);
    if let Some(Backup { path, bytes }) = clicks {
        let path = path.display().to_string();
        text = format!("{text}\nBacked up its clicks to {path}: {bytes} bytes, checked.");
        result.insert("clicks".to_owned(), json!({ "file": path, "bytes": bytes }));
    }
    let mut outcome = Ok(());
    if let (Some(folder), Some(keep)) = (folder, keep) {
        let mut deleted = Vec::new();
        let rotated = rotate(&folder, keep, &made, &mut deleted);
        if !deleted.is_empty() {
            let count = counted(deleted.len().try_into().unwrap_or(u64::MAX), "older backup");
            text = format!("{text}\nDeleted {count}: {}.", enumerated(&deleted));
        }
        result.insert("deleted".to_owned(), json!(deleted));
        let left = rotated.unwrap_or_else(|error| {
            outcome = Err(error.context("the backup is complete, but older ones could not be deleted"));
            vec![]
        });
        for reason in LeftAlone::ALL {
            let files: Vec<_> = left
                .iter()
                .filter(|(of, _)| *of == reason)
                .map(|(_, file)| file.display().to_string())
                .collect();
            if !files.is_empty() {
                text = format!("{text}\nLeft alone, because {}: {}.", reason.sentence(), enumerated(&files));
            }
        }
        let left = left
            .iter()
            .map(|(reason, file)| json!({ "file": file.display().to_string(), "reason": reason.code() }));
        result.insert("left_alone".to_owned(), left.collect());
    }
    output.result(&result, text)?;
    outcome
}

/// The arguments of `signpost restore`.
#[derive(Debug, Args)]
pub(crate) struct RestoreArguments {
    /// Version whose upgrade is undone, with every later one.
    #[arg(long, value_name = "VERSION")]
    before: String,
}

/// Puts the copies from before an upgrade in the place of the embedded database (D207).
pub(super) fn run_restore(
    settings: &CommonSettings,
    arguments: RestoreArguments,
    output: &mut Output<'_>,
) -> Result<()> {
    let RestoreArguments { before } = arguments;
    let file = match &settings.database {
        Database::File(file) => file,
        Database::Server(url) => {
            return Err(UsageError(format!(
                "`signpost restore` restores only the embedded database; on {url} the previous version of the program works \
                 without it, or restore a backup with pg_restore"
            ))
            .into());
        }
    };
    let Restoration { made, files } = restore_before(file, &before, settings.store_timeout)?;
    let copied_at = to_timestamp(made).to_string();
    let mut text = format!("Undid the upgrade to {before} and later ones, with copies of {copied_at}.");
    for Restored { file, kept } in &files {
        let file = file.display();
        text = match kept {
            Some(kept) => {
                format!("{text}\n{file} is restored; what it had until now is in {}.", kept.display())
            }
            None => format!("{text}\n{file} is restored."),
        };
    }
    text = format!(
        "{text}\nStart the version before {before} now, because {before} would upgrade the database again."
    );
    let files: Vec<_> = files
        .iter()
        .map(|Restored { file, kept }| {
            json!({ "file": file.display().to_string(), "kept": kept.as_ref().map(|kept| kept.display().to_string()) })
        })
        .collect();
    Ok(output.result(&json!({ "before": before, "copied_at": copied_at, "files": files }), text)?)
}

/// Deletes all but the newest `keep` backups, and adds those deleted to `deleted`. The clicks of a backup go first: if the
/// program is stopped between the two, the next run finds the backup again. Returns those that were left alone.
fn rotate(
    folder: &BackupFolder,
    keep: NonZeroUsize,
    made: &Path,
    deleted: &mut Vec<String>,
) -> Result<Vec<(LeftAlone, PathBuf)>> {
    let Rotation { to_delete, left_alone } = folder.rotation(keep, made)?;
    for backup in to_delete {
        let clicks = DatabaseFile::at(&backup)?.of_clicks();
        for file in [clicks.path(), &backup] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(error).with_context(|| format!("cannot delete {}", file.display()));
                }
                Ok(()) | Err(_) => {}
            }
        }
        deleted.push(backup.display().to_string());
    }
    Ok(left_alone)
}
