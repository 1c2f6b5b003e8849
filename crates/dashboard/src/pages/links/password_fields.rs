//! The fields of the password that a link asks its visitors for, which the forms of both kinds of links share (D131).

use signpost_domain::{Change, Feature, LinkPassword, MaxClicks, Violations};

use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::kept_form::LINK_PASSWORD;
use crate::pages::field;
use crate::texts::LinkPasswordTexts;
use crate::views::{Field, LinkPasswordForm};
use crate::visit::Member;

const WORDS: &LinkPasswordTexts = TEXTS.link_password;

/// The box that removes the password.
const REMOVE: &str = "remove_link_password";

/// Reads the fields. Without them, and with an empty one, the password stays as it is; one that was typed replaces it even if the box
/// is ticked.
pub(super) fn read(form: &FormBody, violations: &mut Violations) -> Change<LinkPassword> {
    if is_typed(form) {
        match LinkPassword::choose(form.text(LINK_PASSWORD)) {
            Ok(password) => Change::Set(password),
            Err(error) => {
                // Without the value, which nothing repeats.
                violations.push(error.at(LinkPassword::FIELD));
                Change::Keep
            }
        }
    } else if form.is_checked(REMOVE) {
        Change::Clear
    } else {
        Change::Keep
    }
}

fn is_typed(form: &FormBody) -> bool {
    !form.text(LINK_PASSWORD).is_empty()
}

/// The field of a form that wants more of a link than the plan allows: the password if one was typed, and otherwise the limit of
/// visits (D137).
pub(super) fn blamed(form: &FormBody) -> &'static str {
    if is_typed(form) { LinkPassword::FIELD } else { MaxClicks::FIELD }
}

/// The fields of a link as it is stored.
pub(super) fn stored(member: &Member, is_set: bool) -> LinkPasswordForm {
    let is_in_plan = member.caller.plan().features.contains(Feature::LinkAccess);
    let hint = match (is_in_plan, is_set) {
        (true, false) => WORDS.hint,
        (true, true) => WORDS.hint_set,
        (false, true) => WORDS.hint_kept,
        (false, false) => WORDS.hint_missing,
    };
    LinkPasswordForm { input: is_in_plan.then(Field::default), is_set, hint, ..LinkPasswordForm::default() }
}

/// The fields of a form that was refused: all but the password, which has to be typed again.
pub(super) fn typed(
    member: &Member,
    form: &FormBody,
    is_set: bool,
    violations: &Violations,
) -> LinkPasswordForm {
    let offered = stored(member, is_set);
    let is_lost = is_typed(form) && offered.input.is_some();
    let mut refused = field("", violations, LinkPassword::FIELD);
    if is_lost && refused.error.is_none() {
        refused.error = Some(WORDS.type_again.to_owned());
    }
    // On a plan without passwords of links, the input says that there are none.
    let has_input = is_typed(form) || offered.input.is_some();
    LinkPasswordForm {
        input: has_input.then_some(refused),
        is_lost,
        is_removed: is_set && form.is_checked(REMOVE),
        ..offered
    }
}

/// What a form that was not saved asks for, as people compare it with what is stored.
pub(super) fn compared(form: &LinkPasswordForm) -> String {
    let text = if form.is_lost {
        WORDS.new
    } else if form.is_set && !form.is_removed {
        WORDS.set
    } else {
        ""
    };
    text.to_owned()
}
