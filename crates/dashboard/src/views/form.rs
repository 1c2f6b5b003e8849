//! What forms consist of.

/// What every form that changes something has.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Form {
    /// The hidden `idempotency_key`, which makes a form that is sent twice take effect once.
    pub idempotency_key: String,
    /// The hidden `revision` of what is edited, as it was when the form was shown. `None` for creations.
    pub revision: Option<String>,
    /// Why the form was refused, if no field is to blame.
    pub general_error: Option<String>,
}

/// An input for text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// What was typed. Ignored for passwords.
    pub value: String,
    /// Why the value was refused.
    pub error: Option<String>,
    /// The id of the account's own link that has this address already.
    pub existing: Option<String>,
}

impl Field {
    /// A field with this value.
    #[must_use]
    pub fn of(value: impl Into<String>) -> Self {
        Self { value: value.into(), ..Self::default() }
    }
}

/// A list to choose one from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Select {
    /// The choices, in the order in which they are shown.
    pub options: Vec<Choice>,
    /// Why the choice was refused.
    pub error: Option<String>,
}

/// One of several choices.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// The value that the form sends.
    pub value: String,
    /// The text that people read.
    pub label: String,
    /// Whether it is chosen.
    pub selected: bool,
}

impl Choice {
    /// A choice.
    #[must_use]
    pub fn new(value: impl Into<String>, label: impl Into<String>, selected: bool) -> Self {
        Self { value: value.into(), label: label.into(), selected }
    }
}

/// A refused field in the summary above a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation<'a> {
    /// The name of the input. Its id is `f-` and this name.
    pub field: &'a str,
    /// The label of the input.
    pub label: &'a str,
    /// Why it was refused.
    pub message: &'a str,
}

/// The violations of a form, in the order of its fields.
pub(crate) fn violations<'a>(
    fields: impl IntoIterator<Item = (&'static str, &'static str, &'a Option<String>)>,
) -> Vec<Violation<'a>> {
    let fields = fields.into_iter();
    fields
        .filter_map(|(field, label, error)| {
            error.as_deref().map(|message| Violation { field, label, message })
        })
        .collect()
}

/// The parts of a sentence, each with whether it stood between backticks. A sentence with an unpaired one stays as it is.
pub(crate) fn with_code(sentence: &str) -> Vec<(&str, bool)> {
    let parts: Vec<&str> = sentence.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return vec![(sentence, false)];
    }
    let parts = parts.into_iter().enumerate().map(|(place, part)| (part, place % 2 == 1));
    parts.filter(|(part, _)| !part.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_of_backticks_mark_values() {
        assert_eq!(with_code(""), []);
        assert_eq!(with_code("Enter `@`."), [("Enter ", false), ("@", true), (".", false)]);
        assert_eq!(with_code("Not a `."), [("Not a `.", false)]);
    }
}
