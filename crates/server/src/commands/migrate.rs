//! `signpost migrate`.

use anyhow::Result;
use serde_json::json;

use super::output::Output;
use crate::settings::{CommonSettings, Database};

/// Brings the database up to date and says what that took.
pub(super) async fn run(settings: &CommonSettings, output: &mut Output<'_>) -> Result<()> {
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
