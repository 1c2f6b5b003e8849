//! The error for corrupt rows.

use signpost_app::ports::StoreError;

/// A value of a row is corrupt: neither the program nor a migration writes such a value.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{table}.{column} is corrupt in row {row}: {reason}")]
pub struct Corrupt {
    /// The table that the row is in.
    pub table: &'static str,
    /// The column whose value is wrong.
    pub column: &'static str,
    /// The row, by its identifier or its key.
    pub row: String,
    /// What is wrong with the value.
    pub reason: String,
}

impl From<Corrupt> for StoreError {
    fn from(Corrupt { table, column, row, reason }: Corrupt) -> Self {
        Self::Corrupt { table, column, row, reason }
    }
}
