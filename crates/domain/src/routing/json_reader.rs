//! Reads JSON objects field by field, and collects the violations with their paths.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::Hash;

use serde_json::{Map, Value};

use super::condition::AnyOf;
use crate::stored::MalformedStored;
use crate::violation::{FieldError, ViolationCode, Violations};

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

pub(super) fn field_error(code: ViolationCode, message: impl Into<Cow<'static, str>>) -> FieldError {
    FieldError::new(code, message)
}

/// An object, whose fields are taken one by one.
pub(super) struct Object<'a> {
    fields: &'a Map<String, Value>,
    taken: BTreeSet<&'static str>,
    takes_all: bool,
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
            violations.push(field_error(ViolationCode::InvalidType, "must be an object").at(path));
            return None;
        };
        let mut object = Object { fields, taken: BTreeSet::new(), takes_all: false, path, mode, violations };
        let value = read(&mut object);
        let Object { fields, taken, takes_all, path, mode: _, violations } = object;
        let unknown = fields.keys().filter(|name| !takes_all && !taken.contains(name.as_str()));
        for name in unknown {
            let name: String = name.chars().take(100).collect();
            let error = field_error(ViolationCode::UnknownField, "is not a field of this object");
            violations.push(error.at(format!("{path}.{name}")));
        }
        Some(value)
    }

    /// Takes all fields: what they mean depends on one that could not be read.
    pub(super) const fn skip_all(&mut self) {
        self.takes_all = true;
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
        self.refuse_with(name, field_error(code, message));
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

    fn required(&mut self, name: &'static str) -> Option<&'a Value> {
        let value = self.take(name);
        if value.is_none() {
            if self.fields.contains_key(name) {
                self.refuse(name, ViolationCode::NotNullable, "must not be null");
            } else {
                self.refuse(name, ViolationCode::Required, "is required");
            }
        }
        value
    }

    /// Takes a text that may be absent or null.
    pub(super) fn text<T>(&mut self, name: &'static str, form: &Form<T>) -> Option<T> {
        let value = self.take(name)?;
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
            self.violations.push(field_error(ViolationCode::InvalidType, "must be a string").at(path));
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
            self.violations.push(field_error(ViolationCode::InvalidType, "must be an integer").at(path));
            return None;
        };
        let read = parse(number);
        read.map_err(|error| self.violations.push(error.at(path).of_value(number.to_string()))).ok()
    }

    /// Takes a flag that may be absent or null.
    pub(super) fn flag(&mut self, name: &'static str) -> Option<bool> {
        let value = self.take(name)?;
        if value.as_bool().is_none() {
            self.refuse(name, ViolationCode::InvalidType, "must be a boolean");
        }
        value.as_bool()
    }

    fn array(&mut self, name: &'static str, value: &'a Value) -> Option<&'a Vec<Value>> {
        let items = value.as_array();
        if items.is_none() {
            self.refuse(name, ViolationCode::InvalidType, "must be an array");
        }
        items
    }

    /// Takes an array of objects that may be absent or null. Of a request, those beyond `most` are not read, but counted.
    pub(super) fn objects<T>(
        &mut self,
        name: &'static str,
        most: usize,
        read: fn(&mut Object<'_>) -> T,
    ) -> Option<Vec<Option<T>>> {
        let value = self.take(name)?;
        let items = self.array(name, value)?;
        let mut objects = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if self.mode.is_request() && index > most {
                objects.push(None);
                continue;
            }
            let path = format!("{}[{index}]", self.path_of(name));
            objects.push(Object::read(item, path, self.mode, self.violations, read));
        }
        Some(objects)
    }

    /// Takes an array of whole numbers. `None` if one could not be read, or if a request has more than `most`.
    pub(super) fn numbers<T>(
        &mut self,
        name: &'static str,
        most: usize,
        parse: fn(i64) -> Result<T, FieldError>,
    ) -> Option<Vec<T>> {
        let value = self.required(name)?;
        let items = self.array(name, value)?;
        if self.is_too_long(name, items, most) {
            return None;
        }
        let mut numbers = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path_of(name));
            numbers.extend(self.read_number(item, path, parse));
        }
        (numbers.len() == items.len()).then_some(numbers)
    }

    /// Takes the values of which a fact must be one.
    pub(super) fn any_of<T: Clone + Eq + Hash>(&mut self, form: &Form<T>, most: usize) -> Option<AnyOf<T>> {
        let name = AnyOf::<T>::FIELD;
        let value = self.required(name)?;
        let items = self.array(name, value)?;
        if self.is_too_long(name, items, most) {
            return None;
        }
        let mut values = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let path = format!("{}[{index}]", self.path_of(name));
            values.extend(self.read_text(item, path, form));
        }
        if values.len() < items.len() {
            return None;
        }
        let any_of = match self.mode {
            Mode::Stored => lax(AnyOf::from_stored(values)),
            #[cfg(feature = "routing")]
            Mode::Request => AnyOf::new(values, most),
        };
        any_of.map_err(|error| self.refuse_with(name, error)).ok()
    }

    fn is_too_long(&mut self, name: &str, items: &[Value], most: usize) -> bool {
        let is_too_long = self.mode.is_request() && items.len() > most;
        if is_too_long {
            let message = format!("must have at most {most} items");
            self.refuse_with(name, field_error(ViolationCode::TooManyItems, message));
        }
        is_too_long
    }
}
