//! Reads the values of fields: strings, flags, objects and arrays.

use std::ops::RangeInclusive;

use signpost_domain::{FieldError, Violation, ViolationCode, Violations};
use signpost_strict_json::Json;

use super::object_reader::ObjectReader;

/// Reads a value at a path that is not null. If it is invalid, adds the violations and returns `None`.
pub(crate) trait FieldReader<T>: FnOnce(&Json, &str, &mut Violations) -> Option<T> {}

impl<T, F: FnOnce(&Json, &str, &mut Violations) -> Option<T>> FieldReader<T> for F {}

fn invalid_type<T>(
    value: &Json,
    path: &str,
    violations: &mut Violations,
    message: &'static str,
) -> Option<T> {
    violations.push(of_text(FieldError::new(ViolationCode::InvalidType, message).at(path), value));
    None
}

/// The violation with the value, if that is a text.
pub(super) fn of_text(violation: Violation, value: &Json) -> Violation {
    match value.as_text() {
        Some(text) => violation.of_value(text),
        None => violation,
    }
}

/// A string that a type of the domain accepts.
pub(crate) fn text<T>(parse: impl FnOnce(&str) -> Result<T, FieldError>) -> impl FieldReader<T> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Text(text) = value else {
            return invalid_type(value, path, violations, "must be a string");
        };
        parse(text).map_err(|error| violations.push(error.at(path).of_value(text))).ok()
    }
}

/// A string that a type of the domain accepts, and that no answer repeats, not even to its sender.
pub(crate) fn secret<T>(parse: impl FnOnce(&str) -> Result<T, FieldError>) -> impl FieldReader<T> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Text(text) = value else {
            return invalid_type(value, path, violations, "must be a string");
        };
        parse(text).map_err(|error| violations.push(error.at(path))).ok()
    }
}

/// A string that refers to a resource, which may not exist.
pub(crate) fn reference<T>(parse: impl FnOnce(&str) -> T) -> impl FieldReader<T> {
    text(|text| Ok(parse(text)))
}

/// `true` or `false`.
pub(crate) fn boolean() -> impl FieldReader<bool> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Bool(value) = value else {
            return invalid_type(value, path, violations, "must be true or false");
        };
        Some(*value)
    }
}

/// An integer that a type of the domain accepts.
pub(crate) fn integer<T>(parse: impl FnOnce(i64) -> Result<T, FieldError>) -> impl FieldReader<T> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Number(Some(number)) = value else {
            return invalid_type(value, path, violations, "must be an integer of at most 64 bits");
        };
        parse(*number).map_err(|error| violations.push(error.at(path))).ok()
    }
}

/// An object. `read` reads its fields.
pub(crate) fn object<T>(read: impl FnOnce(&mut ObjectReader<'_>) -> Option<T>) -> impl FieldReader<T> {
    |value: &Json, path: &str, violations: &mut Violations| {
        let Json::Object(members) = value else {
            return invalid_type(value, path, violations, "must be an object");
        };
        let mut object = ObjectReader::nested(path, members);
        let value = read(&mut object);
        let found = object.finish();
        let valid = found.is_empty();
        violations.append(found);
        value.filter(|_| valid)
    }
}

/// An object with any members, kept as it was sent: a type of the domain reads its text.
pub(crate) fn verbatim_object<T>(
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
) -> impl FieldReader<T> {
    verbatim(|value| matches!(value, Json::Object(_)), "must be an object", text, parse)
}

/// An array of any values, kept as it was sent: a type of the domain reads its text.
pub(crate) fn verbatim_list<T>(
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
) -> impl FieldReader<T> {
    verbatim(|value| matches!(value, Json::List(_)), "must be an array", text, parse)
}

fn verbatim<T>(
    is_of_type: fn(&Json) -> bool,
    refusal: &'static str,
    text: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
) -> impl FieldReader<T> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        if !is_of_type(value) {
            return invalid_type(value, path, violations, refusal);
        }
        parse(text?).map_err(|error| violations.push(error.at(path))).ok()
    }
}

/// An array of any values, with this number of items. Items beyond the maximum are dropped: the array is invalid anyway.
fn list<'a>(
    bounds: RangeInclusive<usize>,
    value: &'a Json,
    path: &str,
    violations: &mut Violations,
) -> Option<impl Iterator<Item = &'a Json> + use<'a>> {
    let Json::List(items) = value else { return invalid_type(value, path, violations, "must be an array") };
    let (least, most) = bounds.into_inner();
    if items.len() < least {
        let message = format!("must have at least {least} item{}", if least == 1 { "" } else { "s" });
        violations.push(FieldError::new(ViolationCode::TooFewItems, message).at(path));
    }
    if items.len() > most {
        let message = format!("must have at most {most} items");
        violations.push(FieldError::new(ViolationCode::TooManyItems, message).at(path));
    }
    Some(items.iter().take(most))
}

/// An array of any values, with this number of items. [`ObjectReader::into_items`] returns them.
pub(crate) fn values(bounds: RangeInclusive<usize>) -> impl FieldReader<()> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        let mut found = Violations::new();
        drop(list(bounds, value, path, &mut found));
        let valid = found.is_empty();
        violations.append(found);
        valid.then_some(())
    }
}

/// An array of strings that a type of the domain accepts, with this number of items.
pub(crate) fn texts<T>(
    bounds: RangeInclusive<usize>,
    parse: impl Fn(&str) -> Result<T, FieldError>,
) -> impl FieldReader<Vec<T>> {
    each(bounds, move |item: &Json, path: &str, violations: &mut Violations| {
        text(&parse)(item, path, violations)
    })
}

/// An array of values with this number of items, all of which must be valid.
fn each<T>(
    bounds: RangeInclusive<usize>,
    read: impl Fn(&Json, &str, &mut Violations) -> Option<T>,
) -> impl FieldReader<Vec<T>> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        let mut found = Violations::new();
        let values = list(bounds, value, path, &mut found)
            .into_iter()
            .flatten()
            .enumerate()
            .filter_map(|(index, item)| read(item, &format!("{path}[{index}]"), &mut found))
            .collect();
        let valid = found.is_empty();
        violations.append(found);
        valid.then_some(values)
    }
}

/// An array with this number of items, each read at its own path. An invalid item becomes `None`, so that later violations of
/// other items have the right index.
pub(crate) fn items<T>(
    bounds: RangeInclusive<usize>,
    read: impl Fn(&Json, &str, &mut Violations) -> Option<T>,
) -> impl FieldReader<Vec<Option<T>>> {
    move |value: &Json, path: &str, violations: &mut Violations| {
        let items = list(bounds.clone(), value, path, violations)?.enumerate();
        Some(items.map(|(index, item)| read(item, &format!("{path}[{index}]"), violations)).collect())
    }
}
