//! Validation of single values of a row.

use std::fmt::{Display, Write as _};

use signpost_domain::{Id, IdKind, Revision, Timestamp};

use crate::Corrupt;
use crate::columns::{Instant, StoredId};

/// The name of a row in errors about corrupt values.
#[derive(Debug)]
pub struct RowName {
    table: &'static str,
    row: String,
}

impl RowName {
    /// A row named by its identifier, or by another text that an operator can find it by.
    pub fn new(table: &'static str, row: impl Display) -> Self {
        Self { table, row: row.to_string() }
    }

    /// A row named by the bytes of its key, because the key is not an identifier of a known kind.
    #[must_use]
    pub fn of_bytes(table: &'static str, key: &[u8]) -> Self {
        let mut row = String::new();
        for byte in key {
            // Writing to a string does not fail.
            let _ = write!(row, "{byte:02x}");
        }
        Self { table, row }
    }

    /// The value, or the error that names its column.
    pub fn cell<T, E: Display>(&self, column: &'static str, value: Result<T, E>) -> Result<T, Corrupt> {
        value.map_err(|reason| self.corrupt(column, reason))
    }

    /// The error that names a column.
    pub fn corrupt(&self, column: &'static str, reason: impl Display) -> Corrupt {
        Corrupt { table: self.table, column, row: self.row.clone(), reason: reason.to_string() }
    }

    /// A required value.
    pub fn present<T>(&self, column: &'static str, value: Option<T>) -> Result<T, Corrupt> {
        self.cell(column, value.ok_or("is missing"))
    }

    /// An error if a column that this kind of links does not use has a value.
    pub fn unused(&self, column: &'static str, is_unused: bool) -> Result<(), Corrupt> {
        if is_unused { Ok(()) } else { Err(self.corrupt(column, "is not for a link of this kind")) }
    }

    /// An instant.
    pub fn timestamp(&self, column: &'static str, instant: Instant) -> Result<Timestamp, Corrupt> {
        self.cell(column, instant.timestamp().ok_or("is outside the years 1970 to 9999"))
    }

    /// A revision.
    pub fn revision(&self, column: &'static str, number: i64) -> Result<Revision, Corrupt> {
        self.cell(column, Revision::from_stored(self.count(column, number)?))
    }

    /// A count.
    pub fn count(&self, column: &'static str, count: i64) -> Result<u64, Corrupt> {
        self.cell(column, u64::try_from(count).map_err(|_| "is below 0"))
    }

    /// An identifier that is not the row's own.
    pub fn id<K: IdKind>(&self, column: &'static str, id: &StoredId) -> Result<Id<K>, Corrupt> {
        match id {
            StoredId::Bytes(bytes) => Ok(Id::from_bytes(*bytes)),
            StoredId::Other(_) => Err(self.corrupt(column, NOT_16_BYTES)),
        }
    }
}

/// The reason for an identifier of another length.
pub(crate) const NOT_16_BYTES: &str = "does not have 16 bytes";

/// A row's own identifier, and the row's name made from it.
pub fn own_id<K: IdKind>(table: &'static str, id: &StoredId) -> Result<(Id<K>, RowName), Corrupt> {
    let id = Id::from_bytes(id.bytes(table)?);
    Ok((id, RowName::new(table, id)))
}
