//! Judging single values of a row.

use std::fmt::Display;

use signpost_domain::Timestamp;

use crate::columns::Instant;
use crate::failure::Failure;

/// The row that values come from, as it is named when one of them is corrupt.
pub(crate) struct RowName {
    table: &'static str,
    row: String,
}

impl RowName {
    pub(crate) fn new(table: &'static str, row: impl Display) -> Self {
        Self { table, row: row.to_string() }
    }

    /// The value, or the failure that names its column.
    pub(crate) fn cell<T, E: Display>(
        &self,
        column: &'static str,
        value: Result<T, E>,
    ) -> Result<T, Failure> {
        value.map_err(|reason| self.corrupt(column, reason))
    }

    /// The failure that names a column.
    pub(crate) fn corrupt(&self, column: &'static str, reason: impl Display) -> Failure {
        Failure::Corrupt { table: self.table, column, row: self.row.clone(), reason: reason.to_string() }
    }

    /// A value that must be there.
    pub(crate) fn present<T>(&self, column: &'static str, value: Option<T>) -> Result<T, Failure> {
        self.cell(column, value.ok_or("is missing"))
    }

    /// A column that rows of this kind do not use must say nothing.
    pub(crate) fn unused(&self, column: &'static str, is_unused: bool) -> Result<(), Failure> {
        if is_unused { Ok(()) } else { Err(self.corrupt(column, "is not for a link of this kind")) }
    }

    /// An instant.
    pub(crate) fn timestamp(&self, column: &'static str, instant: Instant) -> Result<Timestamp, Failure> {
        self.cell(column, instant.timestamp().ok_or("is outside the years 1970 to 9999"))
    }

    /// A count.
    pub(crate) fn count(&self, column: &'static str, count: i64) -> Result<u64, Failure> {
        self.cell(column, u64::try_from(count).map_err(|_| "is below 0"))
    }
}
