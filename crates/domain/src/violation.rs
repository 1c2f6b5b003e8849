//! The violations of a request, field by field (contract "Errors", D8, D20).

use std::borrow::Cow;
use std::fmt;

use crate::link_id::LinkId;

/// The machine code of a violation: the closed list of D8, with the codes of D20 for unavailable slugs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViolationCode {
    /// A required field is absent.
    Required,
    /// An unknown field or query parameter.
    UnknownField,
    /// The body is not a JSON document, or an object has a key twice.
    InvalidJson,
    /// The value has the wrong JSON type.
    InvalidType,
    /// The value is null, but the field cannot be null.
    NotNullable,
    /// The text has too few characters.
    TooShort,
    /// The text has too many characters.
    TooLong,
    /// The list has too few items.
    TooFewItems,
    /// The list has too many items.
    TooManyItems,
    /// The number is outside its range.
    OutOfRange,
    /// The text does not have the format of the field.
    InvalidFormat,
    /// The format is valid, but the value is not allowed here.
    InvalidValue,
    /// Another link has the address with this slug (D20).
    AlreadyTaken,
    /// No link on the system domain can have the slug (D21).
    Reserved,
    /// The answer does not list all violations. This code is only in the last entry, which has the number of
    /// the others.
    Truncated,
}

impl ViolationCode {
    /// All codes, in the order of the contract.
    pub const ALL: [Self; 15] = [
        Self::Required,
        Self::UnknownField,
        Self::InvalidJson,
        Self::InvalidType,
        Self::NotNullable,
        Self::TooShort,
        Self::TooLong,
        Self::TooFewItems,
        Self::TooManyItems,
        Self::OutOfRange,
        Self::InvalidFormat,
        Self::InvalidValue,
        Self::AlreadyTaken,
        Self::Reserved,
        Self::Truncated,
    ];

    /// The code in a response.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Required => "required",
            Self::UnknownField => "unknown_field",
            Self::InvalidJson => "invalid_json",
            Self::InvalidType => "invalid_type",
            Self::NotNullable => "not_nullable",
            Self::TooShort => "too_short",
            Self::TooLong => "too_long",
            Self::TooFewItems => "too_few_items",
            Self::TooManyItems => "too_many_items",
            Self::OutOfRange => "out_of_range",
            Self::InvalidFormat => "invalid_format",
            Self::InvalidValue => "invalid_value",
            Self::AlreadyTaken => "already_taken",
            Self::Reserved => "reserved",
            Self::Truncated => "truncated",
        }
    }
}

impl fmt::Display for ViolationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a type of this crate does not accept a value. It does not know the field of the value;
/// [`FieldError::at`] adds it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FieldError {
    code: ViolationCode,
    message: Cow<'static, str>,
}

impl FieldError {
    /// An error with a message for people. The message begins in lower case and continues after the field's
    /// name: "must be at most 100 characters".
    pub fn new(code: ViolationCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into() }
    }

    /// The machine code.
    #[must_use]
    pub const fn code(&self) -> ViolationCode {
        self.code
    }

    /// The message for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The violation of this error in `field`.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Violation {
        Violation { field: field.into(), code: self.code, message: self.message, value: None, existing: None }
    }
}

/// One violation of a request: an entry of `error.details`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    field: String,
    code: ViolationCode,
    message: Cow<'static, str>,
    value: Option<String>,
    existing: Option<LinkId>,
}

impl Violation {
    /// The path of the field, such as `geo_blocklists.countries[1]`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// The machine code.
    #[must_use]
    pub const fn code(&self) -> ViolationCode {
        self.code
    }

    /// The message for people, without the field's name.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The violation with the invalid text as sent.
    #[must_use]
    pub fn of_value(self, value: impl Into<String>) -> Self {
        Self { value: Some(value.into()), ..self }
    }

    /// The invalid text as sent, if the reader of the request added it.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }

    /// The violation with the caller's own link that has the address (D20).
    #[must_use]
    pub(crate) fn by_existing(self, link: LinkId) -> Self {
        Self { existing: Some(link), ..self }
    }

    /// The caller's own link that has the address.
    #[must_use]
    pub const fn existing(&self) -> Option<LinkId> {
        self.existing
    }
}

/// The violations of one request, in the order of their discovery. The first ones are kept, and the others
/// are only counted (D8): a body of 1 MiB can have a hundred thousand violations.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations {
    listed: Vec<Violation>,
    unlisted: usize,
}

impl Violations {
    /// The maximum number of kept violations of a request.
    pub const MAX_LISTED: usize = 100;

    /// The maximum number of kept violations of one item of a batch.
    pub const MAX_LISTED_OF_ITEM: usize = 20;

    /// No violations.
    #[must_use]
    pub const fn new() -> Self {
        Self { listed: Vec::new(), unlisted: 0 }
    }

    /// Adds a violation.
    pub fn push(&mut self, violation: Violation) {
        self.push_with(|| violation);
    }

    /// Adds the violation of `make`, which is called only if the violation is kept.
    pub fn push_with(&mut self, make: impl FnOnce() -> Violation) {
        if self.listed.len() < Self::MAX_LISTED {
            self.listed.push(make());
        } else {
            self.unlisted = self.unlisted.saturating_add(1);
        }
    }

    /// Adds all of `more`.
    pub fn append(&mut self, more: Self) {
        let Self { listed, unlisted } = more;
        for violation in listed {
            self.push(violation);
        }
        self.unlisted = self.unlisted.saturating_add(unlisted);
    }

    /// Adds those of `more` that are about other fields. So a malformed field is not also reported as unknown.
    pub fn append_about_others(&mut self, mut more: Self) {
        more.listed.retain(|violation| !self.are_about(&violation.field));
        self.append(more);
    }

    /// Whether a kept violation is about this field of the request. An unknown field does not count, even if it is named
    /// like the path of a known one: a body may have the key `pixel_ids[0]`.
    #[must_use]
    pub fn are_about(&self, field: &str) -> bool {
        let is_known = |violation: &Violation| violation.code != ViolationCode::UnknownField;
        self.listed.iter().any(|violation| violation.field == field && is_known(violation))
    }

    /// The violations of one item of a batch, which keeps fewer.
    #[must_use]
    pub fn of_item(mut self) -> Self {
        let cut = self.listed.len().saturating_sub(Self::MAX_LISTED_OF_ITEM);
        self.listed.truncate(Self::MAX_LISTED_OF_ITEM);
        self.listed.shrink_to_fit();
        self.unlisted = self.unlisted.saturating_add(cut);
        self
    }

    /// Whether there are no violations.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.unlisted == 0
    }

    /// The number of violations, including those that are only counted.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.listed.len().saturating_add(self.unlisted)
    }

    /// The kept violations, in the order of their discovery.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.listed.iter()
    }

    /// The last entry of an incomplete list: it has the number of further violations, under the field name
    /// `field`.
    #[must_use]
    pub fn truncation(&self, field: &str) -> Option<Violation> {
        let message = match self.unlisted {
            0 => return None,
            1 => "has 1 more violation, which is not listed".into(),
            more => format!("has {more} more violations, which are not listed"),
        };
        Some(FieldError::new(ViolationCode::Truncated, message).at(field))
    }

    /// `Ok` with `value` without violations, otherwise all violations.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self { listed: vec![violation], unlisted: 0 }
    }
}

impl<'a> IntoIterator for &'a Violations {
    type Item = &'a Violation;
    type IntoIter = std::slice::Iter<'a, Violation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, violation) in self.iter().enumerate() {
            if position > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{} {}", violation.field, violation.message)?;
        }
        if self.unlisted > 0 {
            write!(f, "; and {} more", self.unlisted)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(count: usize) -> Violations {
        let mut violations = Violations::new();
        for number in 0..count {
            let error = FieldError::new(ViolationCode::InvalidFormat, "is malformed");
            violations.push_with(|| error.at(format!("field_{number}")));
        }
        violations
    }

    fn truncation_of(violations: &Violations) -> Option<(String, ViolationCode, String)> {
        violations.truncation("body").map(|last| (last.field, last.code, last.message.into_owned()))
    }

    #[test]
    fn d8_violations_above_a_hundred_are_only_counted() {
        assert_eq!(truncation_of(&found(100)), None);
        let truncated = |text: &str| Some(("body".to_owned(), ViolationCode::Truncated, text.to_owned()));
        assert_eq!(truncation_of(&found(101)), truncated("has 1 more violation, which is not listed"));
        let many = found(130_000);
        assert_eq!((many.iter().count(), many.count()), (100, 130_000));
        assert!(many.listed.capacity() < 200, "{}", many.listed.capacity());
        assert_eq!(truncation_of(&many), truncated("has 129900 more violations, which are not listed"));
        assert_eq!(many.iter().next().map(Violation::field), Some("field_0"));
    }

    #[test]
    fn d8_a_violation_that_is_only_counted_is_not_built() {
        let mut violations = found(100);
        let mut is_made = false;
        violations.push_with(|| {
            is_made = true;
            FieldError::new(ViolationCode::Required, "is required").at("name")
        });
        assert!(!is_made, "it is only counted");
        assert_eq!(violations.count(), 101);
    }

    #[test]
    fn d8_violations_of_two_parts_add_up() {
        let mut violations = found(60);
        violations.append(found(130));
        assert_eq!((violations.iter().count(), violations.count()), (100, 190));
        violations.append_about_others(found(110));
        assert_eq!(violations.count(), 240, "40 are about fields that are not listed, 10 are only counted");
    }

    #[test]
    fn d8_an_unknown_field_named_like_a_path_hides_no_violation() {
        let at_path = |code| FieldError::new(code, "is wrong").at("pixel_ids[0]");
        let mut violations = Violations::from(at_path(ViolationCode::UnknownField));
        assert!(!violations.are_about("pixel_ids[0]"));
        violations.append_about_others(at_path(ViolationCode::InvalidValue).into());
        violations.append_about_others(at_path(ViolationCode::Required).into());
        let codes: Vec<_> = violations.iter().map(Violation::code).collect();
        assert_eq!(codes, [ViolationCode::UnknownField, ViolationCode::InvalidValue]);
    }

    #[test]
    fn d8_an_item_keeps_20_violations() {
        let of_item = found(130).of_item();
        assert_eq!((of_item.iter().count(), of_item.count()), (20, 130));
        assert_eq!(found(20).of_item(), found(20));
    }

    #[test]
    fn d8_violations_that_are_only_counted_make_a_request_invalid() {
        assert!(!found(1).is_empty() && found(0).is_empty());
        assert!(found(1).into_result(()).is_err());
        assert!(found(130).to_string().ends_with("field_99 is malformed; and 30 more"));
    }
}
