//! Reads a record field by field, so that one message names every violation (D8).

use std::collections::BTreeMap;

use signpost_domain::routing::{RuleDraft, read_rules_text};
use signpost_domain::{
    Change, CountryCode, FieldError, GeoBlocklist, TagName, Tags, Timestamp, Violation, ViolationCode,
    Violations,
};

use super::fields::Field;
use super::record::{FieldValue, Record};

/// Takes the fields of a record one by one and collects their violations. Fields that remain at the end are unknown.
pub(super) struct RowFieldReader {
    fields: BTreeMap<Field, FieldValue>,
    unknown: Vec<String>,
    violations: Violations,
}

impl RowFieldReader {
    pub(super) fn new(record: Record) -> Self {
        let (fields, unknown) = record.into_parts();
        Self { fields, unknown, violations: Violations::new() }
    }

    /// A required text.
    pub(super) fn required<T>(
        &mut self,
        field: Field,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Option<T> {
        match self.nullable(field, parse) {
            Some(Change::Set(value)) => Some(value),
            Some(Change::Keep | Change::Clear) => self.refuse(field, ViolationCode::Required, "is required"),
            None => None,
        }
    }

    /// An optional text; null means absent.
    pub(super) fn optional<T>(
        &mut self,
        field: Field,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Option<T> {
        self.nullable(field, parse).and_then(|change| change.applied_to(None))
    }

    /// A text that may be absent or null. `None` if it is invalid.
    pub(super) fn nullable<T>(
        &mut self,
        field: Field,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Option<Change<T>> {
        let text = match self.fields.remove(&field) {
            None => return Some(Change::Keep),
            Some(FieldValue::Null) => return Some(Change::Clear),
            Some(FieldValue::Text(text)) => text,
            Some(
                FieldValue::Flag(_)
                | FieldValue::Number(_)
                | FieldValue::Countries(_)
                | FieldValue::Names(_)
                | FieldValue::Json(_)
                | FieldValue::Unfit,
            ) => {
                return self.refuse(field, ViolationCode::InvalidType, "must be a text");
            }
        };
        match parse(&text) {
            Ok(value) => Some(Change::Set(value)),
            Err(error) => {
                self.violations.push(error.at(field.name()));
                None
            }
        }
    }

    /// An optional flag.
    pub(super) fn flag(&mut self, field: Field) -> Option<bool> {
        match self.fields.remove(&field) {
            None | Some(FieldValue::Null) => None,
            Some(FieldValue::Flag(value)) => Some(value),
            Some(
                FieldValue::Number(_)
                | FieldValue::Text(_)
                | FieldValue::Countries(_)
                | FieldValue::Names(_)
                | FieldValue::Json(_)
                | FieldValue::Unfit,
            ) => self.refuse(field, ViolationCode::InvalidType, "must be true or false"),
        }
    }

    /// An optional whole number; null means absent.
    pub(super) fn number<T>(
        &mut self,
        field: Field,
        parse: impl FnOnce(i64) -> Result<T, FieldError>,
    ) -> Option<T> {
        self.nullable_number(field, parse).and_then(|change| change.applied_to(None))
    }

    /// A whole number that may be absent or null. `None` if it is invalid.
    pub(super) fn nullable_number<T>(
        &mut self,
        field: Field,
        parse: impl FnOnce(i64) -> Result<T, FieldError>,
    ) -> Option<Change<T>> {
        let number = match self.fields.remove(&field) {
            None => return Some(Change::Keep),
            Some(FieldValue::Null) => return Some(Change::Clear),
            Some(FieldValue::Number(number)) => number,
            Some(
                FieldValue::Flag(_)
                | FieldValue::Text(_)
                | FieldValue::Countries(_)
                | FieldValue::Names(_)
                | FieldValue::Json(_)
                | FieldValue::Unfit,
            ) => return self.refuse(field, ViolationCode::InvalidType, "must be a whole number"),
        };
        match parse(number) {
            Ok(value) => Some(Change::Set(value)),
            Err(error) => {
                self.note(error.at(field.name()));
                None
            }
        }
    }

    /// Optional country codes; null is an empty list.
    pub(super) fn countries(&mut self, field: Field) -> Option<GeoBlocklist> {
        let codes = match self.fields.remove(&field) {
            None => return None,
            Some(FieldValue::Null) => return Some(GeoBlocklist::default()),
            Some(FieldValue::Countries(codes)) => codes,
            Some(
                FieldValue::Flag(_)
                | FieldValue::Number(_)
                | FieldValue::Text(_)
                | FieldValue::Names(_)
                | FieldValue::Json(_)
                | FieldValue::Unfit,
            ) => {
                return self.refuse(field, ViolationCode::InvalidType, "must be a list of countries");
            }
        };
        if codes.len() > CountryCode::COUNT {
            let message = "must have at most 250 countries";
            return self.refuse(field, ViolationCode::TooManyItems, message);
        }
        let mut countries = Vec::with_capacity(codes.len());
        for (index, code) in codes.iter().enumerate() {
            match CountryCode::parse(code) {
                Ok(country) => countries.push(country),
                Err(error) => self.note(error.at(format!("{}.countries[{index}]", field.name()))),
            }
        }
        (countries.len() == codes.len()).then(|| GeoBlocklist::new(countries))
    }

    /// Optional names of tags; null is an empty list.
    pub(super) fn tags(&mut self, field: Field) -> Option<Tags> {
        let texts = match self.fields.remove(&field) {
            None => return None,
            Some(FieldValue::Null) => return Some(Tags::default()),
            Some(FieldValue::Names(texts)) => texts,
            Some(
                FieldValue::Flag(_)
                | FieldValue::Number(_)
                | FieldValue::Text(_)
                | FieldValue::Countries(_)
                | FieldValue::Json(_)
                | FieldValue::Unfit,
            ) => {
                return self.refuse(field, ViolationCode::InvalidType, "must be a list of names");
            }
        };
        let mut names = Vec::with_capacity(texts.len());
        for (index, text) in texts.iter().enumerate() {
            match TagName::parse(text) {
                Ok(name) => names.push(name),
                Err(error) => self.note(error.at(format!("{}[{index}]", field.name()))),
            }
        }
        if names.len() < texts.len() {
            return None;
        }
        Tags::new(names).map_err(|error| self.note(error.at(field.name()))).ok()
    }

    /// Optional rules; null is an empty list. Violations name the part of the rules.
    pub(super) fn rules(&mut self, field: Field) -> Change<Vec<Option<RuleDraft>>> {
        match self.fields.remove(&field) {
            None => Change::Keep,
            Some(FieldValue::Null) => Change::Clear,
            Some(FieldValue::Json(json)) => {
                let rules = read_rules_text(&json, field.name(), &mut self.violations);
                rules.map_or(Change::Keep, Change::Set)
            }
            Some(
                FieldValue::Flag(_)
                | FieldValue::Number(_)
                | FieldValue::Text(_)
                | FieldValue::Countries(_)
                | FieldValue::Names(_)
                | FieldValue::Unfit,
            ) => {
                self.refuse::<()>(field, ViolationCode::InvalidType, "must be a JSON array");
                Change::Keep
            }
        }
    }

    /// The times of creation and last change. Neither is in the future, and the change is not before the creation.
    pub(super) fn instants(&mut self, now: Timestamp) -> Instants {
        let not_in_the_future = |text: &str| match Timestamp::parse(text)? {
            instant if instant > now => {
                Err(FieldError::new(ViolationCode::OutOfRange, "must not lie in the future"))
            }
            instant => Ok(instant),
        };
        let created_at = self.optional(Field::CreatedAt, not_in_the_future);
        let updated_at = self.optional(Field::UpdatedAt, not_in_the_future);
        if let (Some(created), Some(updated)) = (created_at, updated_at)
            && updated < created
        {
            self.refuse::<()>(
                Field::UpdatedAt,
                ViolationCode::OutOfRange,
                "must not lie before `created_at`",
            );
        }
        Instants { created_at, updated_at }
    }

    /// Adds a violation of a field.
    pub(super) fn refuse<T>(
        &mut self,
        field: Field,
        code: ViolationCode,
        message: &'static str,
    ) -> Option<T> {
        self.note(FieldError::new(code, message).at(field.name()));
        None
    }

    fn note(&mut self, violation: Violation) {
        self.violations.push(violation);
    }

    /// The violations of the fields that were taken.
    pub(super) fn violations(self) -> Violations {
        self.violations
    }

    /// All violations, including one for each field that was not taken. Null fields are ignored, so that one table can hold
    /// records of all kinds.
    pub(super) fn finish(mut self) -> Violations {
        let left = self.fields.into_iter().filter(|(_, value)| *value != FieldValue::Null);
        let names = left.map(|(field, _)| field.name().to_owned()).chain(self.unknown);
        for name in names {
            let error = FieldError::new(ViolationCode::UnknownField, "is not a field of this kind of object");
            self.violations.push(error.at(name));
        }
        self.violations
    }
}

/// The times of creation and last change, if the record has them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instants {
    pub(super) created_at: Option<Timestamp>,
    pub(super) updated_at: Option<Timestamp>,
}

impl Instants {
    /// The two instants for a new object. A record without either gets `now`. A record with one of them gets the same
    /// instant for the other.
    pub(super) fn or_now(self, now: Timestamp) -> (Timestamp, Timestamp) {
        let Self { created_at, updated_at } = self;
        let updated_or = created_at.unwrap_or(now);
        let updated_at = updated_at.unwrap_or(updated_or);
        (created_at.unwrap_or(updated_at), updated_at)
    }
}
