//! The copy of the embedded database before an upgrade (D207).

use std::time::Duration;

use signpost_sqlite::{DatabaseFile, UpgradeCopyError, copy_before_upgrade};

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Copies what this version of the program will migrate, and logs the way back.
///
/// # Errors
/// The database cannot be copied, or a newer version has written it. The message says what to do.
pub(crate) fn make(database: &DatabaseFile, patience: Duration) -> Result<(), UpgradeCopyError> {
    for copy in copy_before_upgrade(database, VERSION, patience)? {
        tracing::info!(
            path = %copy.path.display(),
            bytes = copy.bytes,
            "the database was copied before the upgrade, which `signpost restore --before {VERSION}` undoes"
        );
    }
    Ok(())
}
