//! The fields of how a redirect sends its visitors on, as forms have them (D132).

use serde_json::{Map, Value, json};
use signpost_domain::{
    Change, FieldError, LinkPassword, MaxClicks, RedirectContent, RedirectStatus, Rules, Schedule, Utm,
    UtmPart, UtmValue, Violations, Way, WayRequest,
};

use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::pages::{field, message_at, sentence};
use crate::texts::LifeTexts;
use crate::views::{Choice, Select, UtmField, WayForm};

const WORDS: &LifeTexts = TEXTS.life;

/// Reads the fields. Those that a form does not have stay as they are.
pub(super) fn read(form: &FormBody, before: Option<&Way>, violations: &mut Violations) -> WayRequest {
    let redirect_status = form.given(RedirectStatus::FIELD).and_then(|typed| {
        let status = parse_status(typed);
        status.map_err(|error| violations.push(error.at(RedirectStatus::FIELD).of_value(typed))).ok()
    });
    let forward_query = is_in(form).then(|| form.is_checked(Way::FORWARD_QUERY));
    WayRequest { redirect_status, forward_query, utm: utm_change(form, before, violations) }
}

fn parse_status(typed: &str) -> Result<RedirectStatus, FieldError> {
    RedirectStatus::parse(typed.parse().unwrap_or_default())
}

/// Whether a form has these fields. Browsers do not send an empty box, so the choice beside it decides.
fn is_in(form: &FormBody) -> bool {
    form.given(RedirectStatus::FIELD).is_some()
}

/// What the fields of the parameters ask for together. Parameters that are as they were are not judged again.
fn utm_change(form: &FormBody, before: Option<&Way>, violations: &mut Violations) -> Change<Utm> {
    let before = before.map(|way| way.utm.clone()).unwrap_or_default();
    let typed = Utm::new(|part| match form.given(part.parameter()) {
        None => before.get(part).cloned(),
        Some(typed) if typed.trim().is_empty() => None,
        Some(typed) => {
            let value = UtmValue::parse(typed);
            value.map_err(|error| violations.push(error.at(path_of(part)).of_value(typed))).ok()
        }
    });
    if typed == before {
        Change::Keep
    } else if typed.is_empty() {
        Change::Clear
    } else {
        Change::Set(typed)
    }
}

/// The field of a parameter in the API.
fn path_of(part: UtmPart) -> String {
    format!("{}.{}", Utm::FIELD, part.as_str())
}

/// The fields with what is stored; those of a new redirect without a way.
pub(super) fn stored(way: Option<&Way>) -> WayForm {
    let way = way.cloned().unwrap_or_default();
    let value = |part| way.utm.get(part).map_or("", UtmValue::as_str);
    shown(way.redirect_status, way.forward_query, value, &Violations::new())
}

/// The fields with what was typed. Those that the form does not have are as in `before`.
pub(super) fn typed(form: &FormBody, before: Option<&Way>, violations: &Violations) -> WayForm {
    let before = before.cloned().unwrap_or_default();
    let status = form.given(RedirectStatus::FIELD).and_then(|typed| parse_status(typed).ok());
    let forward_query = if is_in(form) { form.is_checked(Way::FORWARD_QUERY) } else { before.forward_query };
    let value = |part: UtmPart| {
        let stored = before.utm.get(part).map_or("", UtmValue::as_str);
        form.given(part.parameter()).unwrap_or(stored)
    };
    shown(status.unwrap_or(before.redirect_status), forward_query, value, violations)
}

fn shown<'a>(
    status: RedirectStatus,
    forward_query: bool,
    value: impl Fn(UtmPart) -> &'a str,
    violations: &Violations,
) -> WayForm {
    let choice = |it: RedirectStatus| {
        Choice::new(it.code().to_string(), (WORDS.redirect_status_name)(it), it == status)
    };
    let part = |part: UtmPart| UtmField {
        name: part.parameter(),
        label: (WORDS.utm_part)(part),
        hint: (WORDS.utm_part_hint)(part),
        field: field(value(part), violations, &path_of(part)),
    };
    let of_all = violations.iter().find(|violation| violation.field() == Utm::FIELD);
    WayForm {
        redirect_status: Select {
            options: RedirectStatus::ALL.map(choice).into(),
            error: message_at(violations, RedirectStatus::FIELD).map(with_labels),
        },
        is_unusual: status != RedirectStatus::default(),
        forward_query,
        utm: UtmPart::ALL.map(part).into(),
        utm_error: of_all.map(|violation| with_labels(sentence(violation.message()))),
    }
}

/// A message with the labels of fields in place of their names in the API.
pub(super) fn with_labels(message: String) -> String {
    let labels = [
        (Schedule::STARTS_AT, WORDS.starts_at),
        (Schedule::EXPIRES_AT, WORDS.expires_at),
        (MaxClicks::FIELD, WORDS.max_clicks),
        (LinkPassword::FIELD, TEXTS.link_password.title),
        (Rules::FIELD, WORDS.rules.title),
        ("antibot_enabled", TEXTS.antibot),
        ("geo_blocklists", TEXTS.countries),
        ("pixel_ids", TEXTS.pixels),
        (Utm::FIELD, WORDS.utm),
    ];
    labels
        .into_iter()
        .fold(message, |message, (name, label)| message.replace(&format!("`{name}`"), &format!("“{label}”")))
}

/// Where visitors of a redirect are sent, if that is not its target.
pub(super) fn final_url(content: &RedirectContent) -> Option<String> {
    let url = content.final_url();
    (url.as_str() != content.target_url.as_str()).then(|| url.as_str().to_owned())
}

/// Adds the fields that are not as in most redirects to the body of a request to the API.
pub(super) fn add_to_body(body: &mut Map<String, Value>, way: &Way) {
    let Way { redirect_status, forward_query, utm } = way;
    if *redirect_status != RedirectStatus::default() {
        body.insert(RedirectStatus::FIELD.to_owned(), json!(redirect_status.code()));
    }
    if *forward_query {
        body.insert(Way::FORWARD_QUERY.to_owned(), json!(true));
    }
    if !utm.is_empty() {
        let parts: Map<String, Value> =
            utm.iter().map(|(part, value)| (part.as_str().to_owned(), json!(value.as_str()))).collect();
        body.insert(Utm::FIELD.to_owned(), parts.into());
    }
}
