//! The handlers of pages and forms. A form is answered with a redirect to a page, or with its own page and what is wrong with it.

pub(crate) mod analytics;
pub(crate) mod assets;
pub(crate) mod audit;
mod audit_filter;
pub(crate) mod domains;
pub(crate) mod entry;
pub(crate) mod export;
pub(crate) mod groups;
pub(crate) mod home;
pub(crate) mod keys;
pub(crate) mod links;
pub(crate) mod me;
pub(crate) mod members;
pub(crate) mod operator;
pub(crate) mod pixels;
pub(crate) mod provider;
pub(crate) mod second_factor;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod sign_in_elsewhere;
pub(crate) mod tags;
pub(crate) mod usage;

use actix_web::HttpResponse;
use signpost_app::AppError;
use signpost_app::idempotency;
use signpost_app::ports::RememberedAnswer;
use signpost_domain::analytics::TimeZone;
use signpost_domain::{FieldError, Page, PagePosition, Violation, ViolationCode, Violations};

use crate::answer::see_other;
use crate::failure::Failure;
use crate::frame::TEXTS;
use crate::paths::with_query;
use crate::query::Query;
use crate::views::{Choice, Field, Pager, Select};

/// The message about a field, as a sentence of its own.
pub(crate) fn message_at(violations: &Violations, field: &str) -> Option<String> {
    let is_about = |name: &str| {
        name == field || name.strip_prefix(field).is_some_and(|rest| rest.starts_with(['.', '[']))
    };
    let found = violations.iter().find(|violation| is_about(violation.field()))?;
    Some(sentence(found.message()))
}

/// A message as a sentence. It continues after the field's name: "must have at least 1 character".
pub(crate) fn sentence(message: &str) -> String {
    let mut characters = message.chars();
    let Some(first) = characters.next() else { return String::new() };
    let end = if message.ends_with('.') { "" } else { "." };
    format!("{}{}{end}", first.to_uppercase(), characters.as_str())
}

/// Whether a form was refused because it was sent before with other content under the same key (D12), as after the back button of
/// the browser.
pub(crate) fn is_sent_before(violations: &Violations) -> bool {
    violations.iter().any(|violation| violation.field() == idempotency::FIELD)
}

/// The message above a refused form that has inputs for these fields: that it was sent before with other content, or the message
/// about something else.
pub(crate) fn general_message(violations: &Violations, fields: &[&str]) -> Option<String> {
    if is_sent_before(violations) {
        return Some(TEXTS.kept.sent_before.to_owned());
    }
    violations.iter().find_map(|violation| {
        let name = violation.field();
        let root = name.split(['.', '[']).next().unwrap_or_default();
        (!fields.contains(&root)).then(|| format!("{name} {}.", violation.message()))
    })
}

/// What was typed, with the message about it.
pub(crate) fn field(value: &str, violations: &Violations, name: &str) -> Field {
    let violation = violations.iter().find(|violation| violation.field() == name);
    let existing = violation.and_then(Violation::existing).map(|link| link.to_string());
    let mut error = message_at(violations, name);
    if let (Some(link), Some(message)) = (&existing, &mut error) {
        // The page has a link in place of the id.
        *message = message.replace(&format!(" `{link}`"), "");
    }
    Field { value: value.to_owned(), error, existing }
}

/// What a form says about the e-mail address of another user.
pub(crate) fn email_taken() -> Violations {
    let taken = FieldError::new(ViolationCode::AlreadyTaken, "is that of another user");
    Violations::from(taken.at("email"))
}

/// The zones to choose from.
pub(crate) fn time_zones(chosen: &str, violations: &Violations) -> Select {
    let options = TimeZone::names().into_iter().filter(|name| {
        // Old names of zones, and zones without a place, would only make the list longer.
        let has_place = name.split('/').count() > 1 && !name.starts_with("Etc/") && !name.starts_with("US/");
        has_place
            && !name.starts_with("Brazil/")
            && !name.starts_with("Canada/")
            && !name.starts_with("Chile/")
            && !name.starts_with("Mexico/")
            && !name.starts_with("SystemV/")
            || name == "UTC"
            || name == chosen
    });
    let options = options.map(|name| Choice::new(name.clone(), name.clone(), name == chosen)).collect();
    Select { options, error: message_at(violations, "time_zone") }
}

/// Links to the neighbours of a page of a list. `query` is the query of the page without its position.
pub(crate) fn pager<T>(page: &Page<T>, path: &str, query: &[(&str, &str)], is_first: bool) -> Pager {
    let address = |after: Option<&str>| {
        let set = query.iter().copied().filter(|(_, value)| !value.is_empty());
        with_query(path, set.chain(after.map(|after| (AFTER, after))))
    };
    let position = page.next.map(position_text);
    Pager { newest: (!is_first).then(|| address(None)), older: position.map(|after| address(Some(&after))) }
}

/// The query of the part of a list that is shown, for forms that come back to it; with `said` if a notice follows.
pub(crate) fn query_of_part(query: &Query, said: Option<&str>) -> String {
    let after = Some(query.text(AFTER)).filter(|after| !after.is_empty());
    with_query("", after.map(|after| (AFTER, after)).into_iter().chain(said.map(|said| ("said", said))))
}

/// The query parameter of a position in a list.
const AFTER: &str = "after";

/// The position that a query names. A malformed one begins at the newest.
pub(crate) fn position_of(query: &Query) -> Option<PagePosition> {
    let text = query.text(AFTER);
    let bits = (text.len() == 32).then(|| u128::from_str_radix(text, 16).ok()).flatten()?;
    Some(PagePosition::behind(bits.to_be_bytes()))
}

fn position_text(position: PagePosition) -> String {
    format!("{:032x}", u128::from_be_bytes(position.to_bytes()))
}

/// The remembered answer to a form: the page that follows.
pub(crate) fn remembered(path: String) -> RememberedAnswer {
    RememberedAnswer { status: 303, location: Some(path), body: String::new() }
}

/// The remembered answer to a form that makes a secret: a key, or the link of a ticket. It names what was made, and does not have the
/// secret, which no later page shows.
pub(crate) fn remembered_without_secret(made: String) -> RememberedAnswer {
    RememberedAnswer { status: 200, location: None, body: made }
}

/// The page that follows a form, or that of the same form sent before.
pub(crate) fn followed(outcome: Result<String, AppError>) -> Result<HttpResponse, Failure> {
    match outcome {
        Ok(path) => Ok(see_other(&path)),
        Err(error) => Err(error.into()),
    }
}

/// The waiting time after failed attempts, as a sentence.
pub(crate) fn wait_sentence(seconds: u32) -> String {
    time_in_words(seconds, TEXTS.wait_seconds, TEXTS.wait_minutes)
}

/// The same for an operator, who does not have to wait.
pub(crate) fn has_to_wait_sentence(seconds: u32) -> String {
    time_in_words(seconds, TEXTS.operator.has_to_wait_seconds, TEXTS.operator.has_to_wait_minutes)
}

fn time_in_words(seconds: u32, in_seconds: fn(usize) -> String, in_minutes: fn(usize) -> String) -> String {
    if seconds < 100 {
        return in_seconds(usize::try_from(seconds).unwrap_or_default());
    }
    in_minutes(usize::try_from(seconds.div_ceil(60)).unwrap_or_default())
}
