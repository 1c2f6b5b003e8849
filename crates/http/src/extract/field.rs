//! Fields that callers send, each declared once: its name, how its value is read, and its schema.
//!
//! The declaration is the same for every request that has the field. Whether it may be left out or null is said by the
//! request, which takes it with `required`, `optional` or `nullable` of an
//! [`ObjectReader`](super::object_reader::ObjectReader).

use signpost_domain::Violations;
use signpost_strict_json::Json;

use super::object_reader::FieldReader;
use crate::schema::AnySchema;

/// A field of a request.
pub(crate) trait Field<T> {
    /// Its name in JSON.
    fn name(&self) -> &'static str;

    /// The schema of its values but null.
    fn schema(&self) -> AnySchema;

    /// Reads a value that is not null, found at a path. `None` if it is invalid; why is noted then.
    fn read(self, value: Json, path: &str, violations: &mut Violations) -> Option<T>;
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

    fn read(self, value: Json, path: &str, violations: &mut Violations) -> Option<T> {
        (self.read)(value, path, violations)
    }
}
