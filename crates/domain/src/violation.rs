//! What is wrong with a request, field by field (contract "Errors", D8).

use std::borrow::Cow;
use std::fmt;

/// The machine code of one violation; the closed list of D8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ViolationCode {
    /// A field that must be there is absent.
    Required,
    /// A field or query parameter that nothing knows.
    UnknownField,
    /// The body is no JSON document, or a key stands twice in one object.
    InvalidJson,
    /// The value has another JSON type than the field.
    InvalidType,
    /// The value is null and the field cannot be.
    NotNullable,
    /// The text has fewer characters than it must.
    TooShort,
    /// The text has more characters than it may.
    TooLong,
    /// The list has fewer items than it must.
    TooFewItems,
    /// The list has more items than it may.
    TooManyItems,
    /// The number lies outside its range.
    OutOfRange,
    /// The text does not have the form that the field asks for.
    InvalidFormat,
    /// The form is right, but this value is not allowed here.
    InvalidValue,
}

impl ViolationCode {
    /// Every code, in the order of the contract.
    pub const ALL: [Self; 12] = [
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
    ];

    /// The code as it stands in a response.
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
        }
    }
}

impl fmt::Display for ViolationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a value is not what a type of this crate accepts. It does not know which field the value came
/// from; [`FieldError::at`] adds that.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FieldError {
    code: ViolationCode,
    message: Cow<'static, str>,
}

impl FieldError {
    /// An error with a message for people, which begins in lower case and reads on after the field's name:
    /// "must be at most 100 characters".
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

    /// The violation that this error is when the value stood in `field`.
    #[must_use]
    pub fn at(self, field: impl Into<String>) -> Violation {
        Violation { field: field.into(), code: self.code, message: self.message, value: None }
    }
}

/// One violation of a request: an entry of `error.details`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    field: String,
    code: ViolationCode,
    message: Cow<'static, str>,
    value: Option<String>,
}

impl Violation {
    /// The path of the offending field, such as `geo_blocklists.countries[1]`.
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

    /// The violation with the value that is at fault, as it was sent.
    #[must_use]
    pub fn of_value(self, value: impl Into<String>) -> Self {
        Self { value: Some(value.into()), ..self }
    }

    /// The value that is at fault, if it is known and a string.
    #[must_use]
    pub fn value(&self) -> Option<&str> {
        self.value.as_deref()
    }
}

/// Every violation of one request, in the order in which they were found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Violations(Vec<Violation>);

impl Violations {
    /// No violation yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds one.
    pub fn push(&mut self, violation: Violation) {
        self.0.push(violation);
    }

    /// Adds all of `more`.
    pub fn append(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Adds those of `more` that are about other fields: of a field that cannot be read it need not be told that it
    /// names nothing.
    pub fn append_about_others(&mut self, more: Self) {
        let is_told = |violation: &Violation| self.0.iter().any(|told| told.field == violation.field);
        let others: Vec<_> = more.0.into_iter().filter(|violation| !is_told(violation)).collect();
        self.0.extend(others);
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The violations, in the order in which they were found.
    pub fn iter(&self) -> std::slice::Iter<'_, Violation> {
        self.0.iter()
    }

    /// `Ok` with `value` if nothing is wrong, otherwise all that is.
    pub fn into_result<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl From<Violation> for Violations {
    fn from(violation: Violation) -> Self {
        Self(vec![violation])
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
        Ok(())
    }
}
