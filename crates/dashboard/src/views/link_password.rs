//! The part of the forms of links that sets the password which visitors have to type (D131).

use super::form::Field;

/// The password of a link. What was typed into it never comes back to a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkPasswordForm {
    /// `link_password`, always without a value; `None` if the plan has no passwords of links.
    pub input: Option<Field>,
    /// Whether the form was refused with a password in it, which has to be typed again. Sent without it, the form would save a link
    /// that lets everybody in.
    pub is_lost: bool,
    /// Whether the link asks for a password now. Then the form has `remove_link_password`.
    pub is_set: bool,
    /// `remove_link_password`
    pub is_removed: bool,
    /// What the field does, or why there is none.
    pub hint: &'static str,
}

impl LinkPasswordForm {
    /// Whether there is a password, or one was refused, so that the fields are shown.
    pub(super) fn is_special(&self) -> bool {
        let is_refused = self.input.as_ref().is_some_and(|field| field.error.is_some());
        self.is_set || self.is_lost || is_refused
    }

    /// The attributes of the input. It shows what is typed: the password is passed on to visitors, so a slip must be seen.
    pub(super) const fn attributes(&self) -> &'static str {
        if self.is_lost {
            "type=text dir=auto autocomplete=off autocapitalize=off spellcheck=false required"
        } else {
            "type=text dir=auto autocomplete=off autocapitalize=off spellcheck=false"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d131_the_fields_are_shown_once_there_is_a_password_or_a_refusal() {
        let empty = LinkPasswordForm { input: Some(Field::default()), ..LinkPasswordForm::default() };
        assert!(!empty.is_special() && !LinkPasswordForm::default().is_special());
        assert!(LinkPasswordForm { is_set: true, ..LinkPasswordForm::default() }.is_special());
        let refused =
            Field { error: Some("Must have at least 4 characters.".to_owned()), ..Field::default() };
        assert!(LinkPasswordForm { input: Some(refused), ..LinkPasswordForm::default() }.is_special());
    }

    #[test]
    fn d131_a_password_that_was_lost_must_be_typed_again() {
        let is_required = |is_lost| {
            LinkPasswordForm { is_lost, ..LinkPasswordForm::default() }.attributes().ends_with(" required")
        };
        assert!(is_required(true) && !is_required(false));
    }
}
