//! Fields of requests, each declared once: its name, how its value is read, and its schema.
//!
//! All requests with the field share the declaration. Each request decides whether the field may be absent or null, with
//! `required`, `optional` or `nullable` of an [`ObjectReader`](super::object_reader::ObjectReader).

use std::borrow::Cow;

use signpost_domain::Violations;
use signpost_strict_json::Json;

use super::value_readers::FieldReader;
use crate::schema::AnySchema;

/// A field of a request.
pub(crate) trait Field<T> {
    /// Its name in JSON.
    fn name(&self) -> &'static str;

    /// The schema of its values, without null.
    fn schema(&self) -> AnySchema;

    /// Reads the value at `path`, which is not null. If it is invalid, adds the violations and returns `None`.
    fn read(self, value: &Json, path: &str, violations: &mut Violations) -> Option<T>;
}

/// Declares a field.
pub(crate) fn field<T, S: Into<AnySchema>>(
    name: &'static str,
    read: impl FieldReader<T>,
    schema: impl Fn() -> S,
) -> impl Field<T> {
    Declared { name, read, schema }
}

struct Declared<R, S> {
    name: &'static str,
    read: R,
    schema: S,
}

impl<T, R: FieldReader<T>, S: Into<AnySchema>, F: Fn() -> S> Field<T> for Declared<R, F> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn schema(&self) -> AnySchema {
        (self.schema)().into()
    }

    fn read(self, value: &Json, path: &str, violations: &mut Violations) -> Option<T> {
        (self.read)(value, path, violations)
    }
}

/// How many characters of a caller's own field name an answer repeats.
const MAX_CHARS: usize = 100;

/// The name, or its first 100 characters and an ellipsis.
pub(super) fn shorten(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MAX_CHARS) {
        None => Cow::Borrowed(name),
        Some((end, _)) => Cow::Owned(format!("{}…", name.get(..end).unwrap_or_default())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cut_after_100_characters() {
        let longest = "é".repeat(100);
        assert_eq!(shorten(&longest), longest);
        assert_eq!(shorten(&"é".repeat(101)), format!("{longest}…"));
    }
}
