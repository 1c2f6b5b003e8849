//! `signpost migrate`.

use anyhow::Result;
use serde_json::json;
use signpost_sqlite::migrate;

use super::output::Output;
use crate::settings::CommonSettings;

/// Brings the database up to date and says what that took.
pub(super) fn run(settings: &CommonSettings, output: &mut Output<'_>) -> Result<()> {
    let applied = migrate(&settings.database, settings.store_timeout)?;
    let path = settings.database.path().display();
    let text = match applied.as_slice() {
        [] => format!("The database {path} is up to date."),
        names => format!("Brought the database {path} up to date:\n  {}", names.join("\n  ")),
    };
    Ok(output.result(&json!({ "applied": applied }), text)?)
}
