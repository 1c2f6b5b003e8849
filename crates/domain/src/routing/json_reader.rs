//! Reads JSON objects field by field, and collects the violations with their paths.

use std::collections::BTreeSet;
use std::hash::Hash;

use serde_json::{Map, Value};

use super::condition::AnyOf;
use super::request::too_many;
use crate::stored::MalformedStored;
use crate::violation::{FieldError, Violation, ViolationCode, Violations};

/// Who wrote what is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// This program, or one of another version.
    Stored,
    /// A caller.
    #[cfg(feature = "routing")]
    Request,
}

impl Mode {
    pub(super) const fn is_request(self) -> bool {
        !matches!(self, Self::Stored)
    }
}

type Parse<T> = fn(&str) -> Result<T, FieldError>;

/// How a text is read of a request, and of a row.
pub(super) struct Form<T> {
    #[cfg(feature = "routing")]
    request: Parse<T>,
    stored: Parse<T>,
}

impl<T> Form<T> {
    #[cfg(feature = "routing")]
    pub(super) const fn new(request: Parse<T>, stored: Parse<T>) -> Self {
        Self { request, stored }
    }

    #[cfg(not(feature = "routing"))]
    pub(super) const fn new(_request: Parse<T>, stored: Parse<T>) -> Self {
        Self { stored }
    }

    #[cfg(not(feature = "routing"))]
    pub(super) const fn stored(stored: Parse<T>) -> Self {
        Self { stored }
    }

    fn read(&self, mode: Mode, text: &str) -> Result<T, FieldError> {
        match mode {
            Mode::Stored => (self.stored)(text),
            #[cfg(feature = "routing")]
            Mode::Request => (self.request)(text),
        }
    }
}

/// A stored value that is not safe to use, as an error like that of a request: it only counts that there is one.
pub(super) fn lax<T>(read: Result<T, MalformedStored>) -> Result<T, FieldError> {
    read.map_err(|MalformedStored(why)| FieldError::new(ViolationCode::InvalidFormat, why))
}

/// How many characters of a caller's own field name a violation repeats.
const MAX_NAME_CHARS: usize = 100;

/// An object, whose fields are taken one by one.
pub(super) struct Object<'a> {
    fields: &'a Map<String, Value>,
    taken: BTreeSet<&'static str>,
    path: String,
    mode: Mode,
    violations: &'a mut Violations,
}

impl<'a> Object<'a> {
    /// Reads the object at `path`. Fields that `read` does not take are violations.
    pub(super) fn read<T>(
        value: &'a Value,
        path: String,
        mode: Mode,
        violations: &'a mut Violations,
        read: impl FnOnce(&mut Object<'_>) -> T,
    ) -> Option<T> {
        let Value::Object(fields) = value else {
            refuse_type(value, path, "must be an object", violations);
            return None;
        };
        let mut object = Object { fields, taken: BTreeSet::new(), path, mode, violations };
        let value = read(&mut object);
        let Object { fields, taken, path, mode: _, violations } = object;
        for (name, value) in fields.iter().filter(|(name, _)| !taken.contains(name.as_str())) {
            violations.push_with(|| {
                let cut = name.char_indices().nth(MAX_NAME_CHARS).and_then(|(end, _)| name.get(..end));
                let name = cut.map_or_else(|| name.clone(), |start| format!("{start}…"));
                let error = FieldError::new(ViolationCode::UnknownField, "is not a field of this request");
                with_text_value(error.at(format!("{path}.{name}")), value)
            });
        }
        Some(value)
    }

    /// The names of the fields that `read` takes of an object.
    pub(super) fn field_names(read: impl FnOnce(&mut Object<'_>)) -> BTreeSet<&'static str> {
        let (fields, mut violations) = (Map::new(), Violations::new());
        let mut object = Object {
            fields: &fields,
            taken: BTreeSet::new(),
            path: String::new(),
            mode: Mode::Stored,
            violations: &mut violations,
        };
        read(&mut object);
        object.taken
    }

    /// Reads the items of an array at `path`. Of a request, more than `most` are a violation, and those beyond are dropped: they must not
    /// cost memory.
    pub(super) fn read_items<T>(
        items: &'a [Value],
        path: &str,
        most: usize,
        mode: Mode,
        violations: &mut Violations,
        read: fn(&mut Object<'_>) -> T,
    ) -> Vec<Option<T>> {
        let counted = if mode.is_request() { most } else { items.len() };
        if items.len() > counted {
            violations.push(too_many(most).at(path));
        }
        let one = |(index, item)| Object::read(item, format!("{path}[{index}]"), mode, violations, read);
        items.iter().take(counted).enumerate().map(one).collect()
    }

    /// Accepts any value of these fields.
    pub(super) fn skip(&mut self, names: impl IntoIterator<Item = &'static str>) {
        self.taken.extend(names);
    }

    /// Whether the object has a field, other than null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.fields.get(name).is_some_and(|value| !value.is_null())
    }

    /// How many violations there are.
    pub(super) fn count(&self) -> usize {
        self.violations.count()
    }

    pub(super) fn refuse(&mut self, name: &str, code: ViolationCode, message: &'static str) {
        self.refuse_with(name, FieldError::new(code, message));
    }

    pub(super) fn refuse_with(&mut self, name: &str, error: FieldError) {
        self.violations.push(error.at(self.path_of(name)));
    }

    /// Adds a violation of the object as a whole.
    pub(super) fn refuse_whole(&mut self, error: FieldError) {
        self.violations.push(error.at(self.path.as_str()));
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn take(&mut self, name: &'static str) -> Option<&'a Value>
    where
        Self: 'a,
    {
        self.taken.insert(name);
        self.fields.get(name).filter(|value| !value.is_null())
    }

    /// Takes a value that may be absent, but not null.
    fn optional(&mut self, name: &'static str) -> Option<&'a Value>
    where
        Self: 'a,
    {
        let value = self.take(name);
        if value.is_none() && self.fields.contains_key(name) {
            self.refuse(name, ViolationCode::NotNullable, "must not be null");
        }
        value
    }

    fn required(&mut self, name: &'static str) -> Option<&'a Value>
    where
        Self: 'a,
    {
        if !self.fields.contains_key(name) {
            self.refuse(name, ViolationCode::Required, "is required");
        }
        self.optional(name)
    }

    /// Takes a text that may be absent or null.
    pub(super) fn text<T>(&mut self, name: &'static str, form: &Form<T>) -> Option<T> {
        let value = self.take(name)?;
        let path = self.path_of(name);
        self.read_text(value, path, form)
    }

    /// Takes a text that may be absent, but not null.
    pub(super) fn optional_text<T>(&mut self, name: &'static str, form: &Form<T>) -> Option<T> {
        let value = self.optional(name)?;
        let path = self.path_of(name);
        self.read_text(value, path, form)
    }

    /// Takes a text.
    pub(super) fn required_text<T>(&mut self, name: &'static str, form: &Form<T>) -> Option<T> {
        let value = self.required(name)?;
        let path = self.path_of(name);
        self.read_text(value, path, form)
    }

    fn read_text<T>(&mut self, value: &Value, path: String, form: &Form<T>) -> Option<T> {
        let Value::String(text) = value else {
            refuse_type(value, path, "must be a string", self.violations);
            return None;
        };
        let read = form.read(self.mode, text);
        read.map_err(|error| self.violations.push(error.at(path).of_value(text.as_str()))).ok()
    }

    /// Takes a whole number.
    pub(super) fn required_number<T>(
        &mut self,
        name: &'static str,
        parse: fn(i64) -> Result<T, FieldError>,
    ) -> Option<T> {
        let value = self.required(name)?;
        let path = self.path_of(name);
        self.read_number(value, path, parse)
    }

    fn read_number<T>(
        &mut self,
        value: &Value,
        path: String,
        parse: fn(i64) -> Result<T, FieldError>,
    ) -> Option<T> {
        let Some(number) = value.as_i64() else {
            refuse_type(value, path, "must be an integer of at most 64 bits", self.violations);
            return None;
        };
        let read = parse(number);
        read.map_err(|error| self.violations.push(error.at(path))).ok()
    }

    /// Takes a flag that may be absent, but not null.
    pub(super) fn flag(&mut self, name: &'static str) -> Option<bool> {
        let value = self.optional(name)?;
        if value.as_bool().is_none() {
            refuse_type(value, self.path_of(name), "must be true or false", self.violations);
        }
        value.as_bool()
    }

    fn array(&mut self, name: &'static str, value: &'a Value) -> Option<&'a [Value]> {
        let items = value.as_array().map(Vec::as_slice);
        if items.is_none() {
            refuse_type(value, self.path_of(name), "must be an array", self.violations);
        }
        items
    }

    /// Takes an array of objects that may be absent or null, as [`Self::read_items`] does.
    pub(super) fn objects<T>(
        &mut self,
        name: &'static str,
        most: usize,
        read: fn(&mut Object<'_>) -> T,
    ) -> Option<Vec<Option<T>>> {
        let value = self.take(name)?;
        let items = self.array(name, value)?;
        let path = self.path_of(name);
        Some(Object::read_items(items, &path, most, self.mode, self.violations, read))
    }

    /// Whether a caller wrote the object.
    pub(super) const fn is_of_request(&self) -> bool {
        self.mode.is_request()
    }

    /// As [`Self::objects`], of an array that must be there.
    pub(super) fn required_objects<T>(
        &mut self,
        name: &'static str,
        most: usize,
        read: fn(&mut Object<'_>) -> T,
    ) -> Option<Vec<Option<T>>> {
        let _ = self.required(name)?;
        self.objects(name, most, read)
    }

    /// Takes an array of whole numbers. `None` if one could not be read, or if a request has more than `most`.
    pub(super) fn numbers<T>(
        &mut self,
        name: &'static str,
        most: usize,
        parse: fn(i64) -> Result<T, FieldError>,
    ) -> Option<Vec<T>> {
        self.values(name, most, |object, item, path| object.read_number(item, path, parse))
    }

    /// Takes the values of which a fact must be one.
    pub(super) fn any_of<T: Clone + Eq + Hash>(&mut self, form: &Form<T>, most: usize) -> Option<AnyOf<T>> {
        let name = AnyOf::<T>::FIELD;
        let values = self.values(name, most, |object, item, path| object.read_text(item, path, form))?;
        let any_of = match self.mode {
            Mode::Stored => lax(AnyOf::from_stored(values)),
            #[cfg(feature = "routing")]
            Mode::Request => AnyOf::new(values, most),
        };
        any_of.map_err(|error| self.refuse_with(name, error)).ok()
    }

    /// Takes an array of values. `None` if one could not be read. If a request has more than `most`, the others are not read.
    fn values<T>(
        &mut self,
        name: &'static str,
        most: usize,
        read: impl Fn(&mut Self, &Value, String) -> Option<T>,
    ) -> Option<Vec<T>> {
        let value = self.required(name)?;
        let mut items = self.array(name, value)?;
        let mut are_valid = true;
        if self.mode.is_request() && items.len() > most {
            self.refuse_with(name, too_many(most));
            are_valid = false;
            items = items.get(..most).unwrap_or_default();
        }
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path_of(name));
            match read(self, item, path) {
                Some(value) => values.push(value),
                None => are_valid = false,
            }
        }
        are_valid.then_some(values)
    }
}

fn refuse_type(value: &Value, path: String, message: &'static str, violations: &mut Violations) {
    violations.push(with_text_value(FieldError::new(ViolationCode::InvalidType, message).at(path), value));
}

/// The violation with the value, if that is a text.
fn with_text_value(violation: Violation, value: &Value) -> Violation {
    match value.as_str() {
        Some(text) => violation.of_value(text),
        None => violation,
    }
}
