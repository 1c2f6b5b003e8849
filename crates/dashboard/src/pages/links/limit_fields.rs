//! The field of how many visits a redirect sends on at most, as forms have it (D128, D130).

use signpost_domain::{
    Change, ClickLimit, ClickLimitRequest, Feature, FieldError, MaxClicks, ViolationCode, Violations,
};

use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::local_time::number;
use crate::pages::field;
use crate::texts::LifeTexts;
use crate::views::{Field, LimitForm};
use crate::visit::Member;

const WORDS: &LifeTexts = TEXTS.life;

/// Reads the field. Without it, as on a plan without limits, the limit stays as it is.
pub(super) fn read(form: &FormBody, violations: &mut Violations) -> ClickLimitRequest {
    let max_clicks = match form.given(MaxClicks::FIELD).map(str::trim) {
        None => Change::Keep,
        Some("") => Change::Clear,
        Some(typed) => match parse(typed) {
            Ok(max) => Change::Set(max),
            Err(error) => {
                violations.push(error.at(MaxClicks::FIELD).of_value(typed));
                Change::Keep
            }
        },
    };
    ClickLimitRequest { max_clicks, clicks_left: None }
}

fn parse(typed: &str) -> Result<MaxClicks, FieldError> {
    let digits = typed.strip_prefix('-').unwrap_or(typed);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(FieldError::new(ViolationCode::InvalidFormat, WORDS.no_number));
    }
    // A number of too many digits is out of range too.
    MaxClicks::parse(typed.parse().unwrap_or(i64::MAX))
}

/// The field with what is stored.
pub(super) fn stored(member: &Member, limit: Option<ClickLimit>) -> LimitForm {
    let max_clicks = limit.map_or_else(String::new, |limit| limit.max().get().to_string());
    offered(member, Field::of(max_clicks), limit.is_some())
}

/// The field with what was typed, or with what is stored if the form does not have it.
pub(super) fn typed(
    member: &Member,
    form: &FormBody,
    before: Option<ClickLimit>,
    violations: &Violations,
) -> LimitForm {
    match form.given(MaxClicks::FIELD) {
        Some(typed) => offered(member, field(typed, violations, MaxClicks::FIELD), true),
        None => stored(member, before),
    }
}

/// The field, if the plan has limits or there is one to remove (D137).
fn offered(member: &Member, field: Field, is_there: bool) -> LimitForm {
    let is_in_plan = member.caller.plan().features.contains(Feature::LinkAccess);
    let hint = match (is_in_plan, is_there) {
        (true, _) => WORDS.max_clicks_hint,
        (false, true) => WORDS.max_clicks_kept,
        (false, false) => WORDS.max_clicks_missing,
    };
    LimitForm { max_clicks: (is_in_plan || is_there).then_some(field), hint }
}

/// What is left of a limit, such as `3 of 10`.
pub(super) fn left(limit: ClickLimit) -> String {
    (TEXTS.of_allowed)(&number(limit.left()), &number(limit.max().get()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d128_a_limit_is_a_whole_number_of_digits() {
        for (typed, number) in [("1", 1), ("0007", 7), ("1000000000", 1_000_000_000)] {
            assert_eq!(parse(typed).map(MaxClicks::get), Ok(number), "{typed}");
        }
        for typed in ["0", "-1", "1000000001", &"9".repeat(40), "-99999999999999999999"] {
            assert_eq!(parse(typed).unwrap_err().code(), ViolationCode::OutOfRange, "{typed}");
        }
        for typed in ["ten", "1,000", "1.5", "1e3", "+1", "-", "1 000", "\u{661}"] {
            assert_eq!(parse(typed).unwrap_err().code(), ViolationCode::InvalidFormat, "{typed}");
        }
    }
}
