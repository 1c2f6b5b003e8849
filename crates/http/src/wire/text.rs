//! Values that are shown as their text.

use std::fmt::Display;

use serde::{Serialize, Serializer};

use crate::schema::FieldType;

/// A value that JSON carries as the string that it prints as: an id, an instant.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Text<T>(pub(crate) T);

impl<T: Display> Serialize for Text<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<T: Display> FieldType for Text<T> {}
