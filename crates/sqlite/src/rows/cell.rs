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

    /// A row whose key is no identifier, or one of an unknown kind, is named by the key's bytes.
    pub(crate) fn of_bytes(table: &'static str, key: &[u8]) -> Self {
        let mut row = String::new();
        for byte in key {
            // Writing to a string does not fail.
            let _ = write!(row, "{byte:02x}");
        }
        Self { table, row }
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
        Err(reason) => Err(RowName::of_bytes(table, bytes).corrupt("id", reason)),
    }
}

fn id<K: IdKind>(bytes: &[u8]) -> Result<Id<K>, &'static str> {
    bytes.try_into().map(Id::from_bytes).map_err(|_| "does not have 16 bytes")
}
