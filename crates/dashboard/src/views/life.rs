//! The part of the forms of links that says when and how often a link works, and where it leads afterwards (D128).

use super::form::{Field, Select};

/// When a link works, and where it leads afterwards.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LifeForm {
    /// `zone`: the time zone of both times, hidden. It stays that of the page if the person chooses another zone meanwhile.
    pub zone: String,
    /// `starts_at`
    pub starts_at: TimeField,
    /// `expires_at`
    pub expires_at: TimeField,
    /// `fallback_url`
    pub fallback_url: Field,
}

impl LifeForm {
    /// Whether one of the fields is set or refused, so that they are shown.
    pub(super) fn is_special(&self) -> bool {
        let Self { zone: _, starts_at, expires_at, fallback_url } = self;
        [&starts_at.field, &expires_at.field, fallback_url]
            .into_iter()
            .any(|field| !field.value.is_empty() || field.error.is_some())
    }
}

/// An input for a date with a time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimeField {
    /// The time as the clock of the form's zone shows it, such as `2026-11-26T09:00`, or whatever was typed.
    pub field: Field,
    /// Whether something else than a time was typed. An input for times would show nothing of it.
    pub is_text: bool,
    /// `starts_at_which` or `expires_at_which`: which of two instants is meant, if the clock shows the time twice.
    pub which: Option<Select>,
}

impl TimeField {
    /// The attributes of the input. Browsers let people choose seconds only if the step is shorter than a minute.
    pub(super) const fn attributes(&self) -> &'static str {
        const MINUTES: usize = "2026-11-26T09:00".len();
        const SECONDS: usize = "2026-11-26T09:00:00".len();
        let length = self.field.value.len();
        if self.is_text {
            "type=text autocomplete=off autocapitalize=off spellcheck=false"
        } else if length <= MINUTES {
            "type=datetime-local autocomplete=off"
        } else if length <= SECONDS {
            "type=datetime-local autocomplete=off step=1"
        } else {
            "type=datetime-local autocomplete=off step=.001"
        }
    }
}

/// How many visits a redirect sends on at most.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LimitForm {
    /// `max_clicks`; `None` if the plan has no limits, and the link has none that can be removed.
    pub max_clicks: Option<Field>,
    /// What the field does, or why there is none.
    pub hint: &'static str,
}

impl LimitForm {
    /// Whether there is a limit, or one was refused, so that it is shown.
    pub(super) fn is_special(&self) -> bool {
        self.max_clicks.as_ref().is_some_and(|field| !field.value.is_empty() || field.error.is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_has_the_precision_of_its_time_and_shows_any_text() {
        let attributes =
            |value: &str, is_text| TimeField { field: Field::of(value), is_text, which: None }.attributes();
        assert!(!attributes("", false).contains("step"));
        assert!(!attributes("2026-11-26T09:00", false).contains("step"));
        assert!(attributes("2026-11-26T09:00:07", false).ends_with("step=1"));
        assert!(attributes("2026-11-26T09:00:07.042", false).ends_with("step=.001"));
        assert!(attributes("tomorrow", true).starts_with("type=text"));
    }

    #[test]
    fn the_fields_are_shown_once_one_of_them_says_something() {
        assert!(!LifeForm { zone: "UTC".to_owned(), ..LifeForm::default() }.is_special());
        let set = TimeField { field: Field::of("2026-11-26T09:00"), ..TimeField::default() };
        assert!(LifeForm { expires_at: set, ..LifeForm::default() }.is_special());
        let refused = Field { error: Some("Must not be empty.".to_owned()), ..Field::default() };
        assert!(LifeForm { fallback_url: refused.clone(), ..LifeForm::default() }.is_special());
        let limit = |max_clicks| LimitForm { max_clicks, hint: "" }.is_special();
        assert!(!limit(None) && !limit(Some(Field::default())));
        assert!(limit(Some(Field::of("9"))) && limit(Some(refused)));
    }
}
