//! The fields of when a link works, and where it leads afterwards, which the forms of both kinds of links share (D128).

use std::time::Duration;

use serde_json::{Map, Value, json};
use signpost_domain::analytics::{LocalDateTime, LocalInstants, TimeZone};
use signpost_domain::{
    Change, Content, FieldError, Hostname, Life, LifeRequest, Link, Preferences, Schedule, Slug, TargetUrl,
    Timestamp, ViolationCode, Violations,
};

use super::typed_address::with_scheme;
use crate::form_body::FormBody;
use crate::frame::TEXTS;
use crate::local_time::{date_and_time, time_of_day};
use crate::pages::field;
use crate::texts::LifeTexts;
use crate::views::{Choice, Field, LifeForm, Select, TimeField};
use crate::visit::Visit;

const WORDS: &LifeTexts = TEXTS.life;

/// The hidden field with the zone in which a form shows times. The person may choose another zone before sending it.
const ZONE: &str = "zone";

/// Which of two instants a time means that the clock shows twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Which {
    First,
    Second,
}

impl Which {
    const fn as_str(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Second => "second",
        }
    }

    /// The choice in a form beside the time in the field `name`.
    fn chosen(form: &FormBody, name: &str) -> Option<Self> {
        Self::parse(form.text(&format!("{name}_which")))
    }

    fn parse(chosen: &str) -> Option<Self> {
        [Self::First, Self::Second].into_iter().find(|which| which.as_str() == chosen)
    }
}

/// The preferences with which a form shows times: those of the person, in the zone of the form.
pub(super) fn shown_in(form: Option<&FormBody>, preferences: &Preferences) -> Preferences {
    zone_of(form.map_or("", |form| form.text(ZONE)), preferences)
}

/// The preferences of the person, in the zone with this name. Without such a zone, in that of the person.
pub(super) fn zone_of(zone: &str, preferences: &Preferences) -> Preferences {
    let time_zone = TimeZone::parse(zone).unwrap_or_else(|_| preferences.time_zone.clone());
    Preferences { time_zone, ..preferences.clone() }
}

/// Reads the fields. Those that a form does not have stay as they are.
pub(super) fn read<C: Content>(
    visit: &Visit,
    form: &FormBody,
    before: Option<&Link<C>>,
    preferences: &Preferences,
    violations: &mut Violations,
) -> LifeRequest {
    let shown_in = shown_in(Some(form), preferences);
    let schedule = before.map(|link| link.life.schedule).unwrap_or_default();
    let mut time = |name: &'static str, before: Option<Timestamp>| {
        let change = time_change(form, name, before, &shown_in);
        change.unwrap_or_else(|error| {
            violations.push(error.at(name).of_value(form.text(name)));
            Change::Keep
        })
    };
    let starts_at = time(Schedule::STARTS_AT, schedule.starts_at());
    let expires_at = time(Schedule::EXPIRES_AT, schedule.expires_at());
    let fallback_url = fallback_change(visit, form, before).unwrap_or_else(|error| {
        violations.push(error.at(Life::FALLBACK_URL).of_value(form.text(Life::FALLBACK_URL)));
        Change::Keep
    });
    LifeRequest { starts_at, expires_at, fallback_url }
}

/// What the field of a time asks for.
fn time_change(
    form: &FormBody,
    name: &str,
    before: Option<Timestamp>,
    shown_in: &Preferences,
) -> Result<Change<Timestamp>, FieldError> {
    let Some(typed) = form.given(name).map(str::trim) else { return Ok(Change::Keep) };
    if typed.is_empty() {
        return Ok(Change::Clear);
    }
    let (time, chosen) = (LocalDateTime::parse(typed)?, Which::chosen(form, name));
    // Not every instant of the year 9999 is shown as it is.
    let is_as_shown = before.is_some_and(|before| {
        let shown = stored_time(Some(before), shown_in);
        // Another choice of two instants is a change of the same text.
        let is_same_choice = shown.which.is_none() || chosen.is_some_and(|which| is_chosen(&shown, which));
        shown.field.value == time.to_string() && is_same_choice
    });
    if is_as_shown {
        return Ok(Change::Keep);
    }
    instant_of(time, chosen, shown_in).map(Change::Set)
}

/// The instant of a time in a form.
fn instant_of(
    time: LocalDateTime,
    chosen: Option<Which>,
    shown_in: &Preferences,
) -> Result<Timestamp, FieldError> {
    let zone = &shown_in.time_zone;
    let invalid = |message: String| Err(FieldError::new(ViolationCode::InvalidValue, message));
    match (time.instants(zone)?, chosen) {
        (LocalInstants::Once(at), _)
        | (LocalInstants::Twice { first: at, second: _ }, Some(Which::First))
        | (LocalInstants::Twice { first: _, second: at }, Some(Which::Second)) => Ok(at),
        (LocalInstants::Twice { .. }, None) => invalid((WORDS.shown_twice)(zone.name())),
        (LocalInstants::Never { skipped_at }, _) => {
            let before = skipped_at.minus(Duration::from_millis(1));
            let [from, to] = [before, skipped_at].map(|at| date_and_time(at, shown_in));
            invalid((WORDS.skipped)(zone.name(), &from, &to))
        }
    }
}

/// Reads a time that a query names: the instant, and the field that shows it. `chosen` is which of two instants it means. An empty
/// time is no instant.
pub(super) fn instant_in_query(
    text: &str,
    chosen: &str,
    shown_in: &Preferences,
) -> (Result<Option<Timestamp>, FieldError>, TimeField) {
    let (text, chosen) = (text.trim(), Which::parse(chosen));
    let instant = || instant_of(LocalDateTime::parse(text)?, chosen, shown_in);
    let instant = if text.is_empty() { Ok(None) } else { instant().map(Some) };
    (instant, typed_time(text, chosen, shown_in))
}

fn is_chosen(time: &TimeField, which: Which) -> bool {
    let mut choices = time.which.iter().flat_map(|select| &select.options);
    choices.any(|choice| choice.selected && choice.value == which.as_str())
}

/// What the field of the fallback asks for. An address that was allowed when it was written may stay (D24). Together with a
/// new address of the link it is sent again, so that a link that would lead to itself is refused at this field.
fn fallback_change<C: Content>(
    visit: &Visit,
    form: &FormBody,
    before: Option<&Link<C>>,
) -> Result<Change<TargetUrl>, FieldError> {
    let Some(typed) = form.given(Life::FALLBACK_URL).map(with_scheme) else { return Ok(Change::Keep) };
    if typed.is_empty() {
        return Ok(Change::Clear);
    }
    let is_as_shown = before.is_some_and(|link| {
        let slug = link.placement.slug().map_or("", Slug::as_str);
        let hostname = link.placement.hostname(&visit.app().system).map_or("", Hostname::as_str);
        let stays = form.text("slug").trim() == slug && form.text("domain") == hostname;
        stays && link.life.fallback_url.as_ref().is_some_and(|url| url.as_str() == typed)
    });
    if is_as_shown { Ok(Change::Keep) } else { TargetUrl::parse(&typed).map(Change::Set) }
}

/// The empty fields.
pub(super) fn empty(preferences: &Preferences) -> LifeForm {
    LifeForm { zone: preferences.time_zone.name().to_owned(), ..LifeForm::default() }
}

/// The fields with what is stored.
pub(super) fn stored(life: &Life, shown_in: &Preferences) -> LifeForm {
    let Life { schedule, fallback_url } = life;
    LifeForm {
        zone: shown_in.time_zone.name().to_owned(),
        starts_at: stored_time(schedule.starts_at(), shown_in),
        expires_at: stored_time(schedule.expires_at(), shown_in),
        fallback_url: Field::of(fallback_url.as_ref().map_or("", TargetUrl::as_str)),
    }
}

fn stored_time(at: Option<Timestamp>, shown_in: &Preferences) -> TimeField {
    let Some(at) = at else { return TimeField::default() };
    let time = LocalDateTime::at(at, &shown_in.time_zone);
    let which = match time.instants(&shown_in.time_zone) {
        Ok(LocalInstants::Twice { first, second }) => {
            let which = if at == second { Which::Second } else { Which::First };
            Some(choice_of(first, second, Some(which), shown_in))
        }
        Ok(LocalInstants::Once(_) | LocalInstants::Never { .. }) | Err(_) => None,
    };
    TimeField { field: Field::of(time.to_string()), is_text: false, which }
}

/// The fields with what was typed. Those that the form does not have are as in `before`.
pub(super) fn typed(
    form: &FormBody,
    before: LifeForm,
    shown_in: &Preferences,
    violations: &Violations,
) -> LifeForm {
    let time = |name: &str, before: TimeField| match form.given(name) {
        Some(text) => typed_time(text.trim(), Which::chosen(form, name), shown_in),
        None => before,
    };
    let starts_at = time(Schedule::STARTS_AT, before.starts_at);
    let expires_at = time(Schedule::EXPIRES_AT, before.expires_at);
    let fallback_url = form
        .given(Life::FALLBACK_URL)
        .map_or(before.fallback_url.value, |text| with_scheme(text).into_owned());
    LifeForm {
        zone: shown_in.time_zone.name().to_owned(),
        starts_at: judged(starts_at, violations, Schedule::STARTS_AT),
        expires_at: judged(expires_at, violations, Schedule::EXPIRES_AT),
        fallback_url: field(&fallback_url, violations, Life::FALLBACK_URL),
    }
}

fn typed_time(text: &str, chosen: Option<Which>, shown_in: &Preferences) -> TimeField {
    let time = LocalDateTime::parse(text);
    let which = match time.as_ref().map(|time| time.instants(&shown_in.time_zone)) {
        Ok(Ok(LocalInstants::Twice { first, second })) => Some(choice_of(first, second, chosen, shown_in)),
        Ok(Ok(LocalInstants::Once(_) | LocalInstants::Never { .. }) | Err(_)) | Err(_) => None,
    };
    TimeField { field: Field::of(text), is_text: !text.is_empty() && time.is_err(), which }
}

/// The field with the message about it. Here fields have other names than in the API.
fn judged(time: TimeField, violations: &Violations, name: &str) -> TimeField {
    let mut judged = field(&time.field.value, violations, name);
    let start = format!("`{}`", Schedule::STARTS_AT);
    judged.error = judged.error.map(|error| error.replace(&start, WORDS.the_start));
    TimeField { field: judged, ..time }
}

/// The choice between the two instants at which the clock shows a time.
fn choice_of(first: Timestamp, second: Timestamp, chosen: Option<Which>, shown_in: &Preferences) -> Select {
    let in_utc = Preferences { time_zone: TimeZone::utc(), ..shown_in.clone() };
    let choice = |which: Which, label: String| Choice::new(which.as_str(), label, chosen == Some(which));
    let none = chosen.is_none().then(|| Choice::new("", WORDS.choose, true));
    let first = choice(Which::First, (WORDS.first)(&time_of_day(first, &in_utc)));
    let second = choice(Which::Second, (WORDS.second)(&time_of_day(second, &in_utc)));
    Select { options: none.into_iter().chain([first, second]).collect(), error: None }
}

/// A time as people compare it, such as `2026-11-26 09:00`.
pub(super) fn compared(time: &TimeField) -> String {
    let text = if time.is_text { time.field.value.clone() } else { time.field.value.replace('T', " ") };
    let mut choices = time.which.iter().flat_map(|select| &select.options);
    match choices.find(|choice| choice.selected && !choice.value.is_empty()) {
        Some(choice) => (WORDS.which_chosen)(&text, &choice.label),
        None => text,
    }
}

/// Adds the fields that have a value to the body of a request to the API.
pub(super) fn add_to_body(body: &mut Map<String, Value>, life: &Life) {
    let Life { schedule, fallback_url } = life;
    let mut add = |name: &str, value: Option<String>| {
        if let Some(value) = value {
            body.insert(name.to_owned(), json!(value));
        }
    };
    add(Schedule::STARTS_AT, schedule.starts_at().map(|at| at.to_string()));
    add(Schedule::EXPIRES_AT, schedule.expires_at().map(|at| at.to_string()));
    add(Life::FALLBACK_URL, fallback_url.as_ref().map(|url| url.as_str().to_owned()));
}
