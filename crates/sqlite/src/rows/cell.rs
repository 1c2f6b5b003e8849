//! Judging single values of a row.

use std::fmt::{Display, Write as _};

use signpost_domain::{Id, IdKind, Timestamp};

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
        value.map_err(|reason| Failure::Corrupt {
            table: self.table,
            column,
            row: self.row.clone(),
            reason: reason.to_string(),
        })
    }

    /// A value that must be there.
    pub(crate) fn present<T>(&self, column: &'static str, value: Option<T>) -> Result<T, Failure> {
        self.cell(column, value.ok_or("is missing"))
    }

    /// An instant.
    pub(crate) fn timestamp(&self, column: &'static str, millis: i64) -> Result<Timestamp, Failure> {
        let instant = Timestamp::from_unix_millis(millis);
        self.cell(column, instant.ok_or("is outside the years 1970 to 9999"))
    }

    /// A count.
    pub(crate) fn count(&self, column: &'static str, count: i64) -> Result<u64, Failure> {
        self.cell(column, u64::try_from(count).map_err(|_| "is below 0"))
    }

    /// An identifier that is not the row's own.
    pub(crate) fn id<K: IdKind>(&self, column: &'static str, bytes: &[u8]) -> Result<Id<K>, Failure> {
        self.cell(column, id(bytes))
    }
}

/// A row's own identifier, from which its name is made.
pub(crate) fn own_id<K: IdKind>(table: &'static str, bytes: &[u8]) -> Result<(Id<K>, RowName), Failure> {
    match id(bytes) {
        Ok(id) => Ok((id, RowName::new(table, id))),
        Err(reason) => {
            let mut row = String::new();
            for byte in bytes {
                // Writing to a string does not fail.
                let _ = write!(row, "{byte:02x}");
            }
            RowName { table, row }.cell("id", Err(reason))
        }
    }
}

fn id<K: IdKind>(bytes: &[u8]) -> Result<Id<K>, &'static str> {
    bytes.try_into().map(Id::from_bytes).map_err(|_| "does not have 16 bytes")
}
