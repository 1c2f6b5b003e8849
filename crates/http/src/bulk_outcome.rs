//! What became of the items of a batch, as callers are told (contract "Bulk results", D29, D31).

use signpost_domain::{Refusal, Rejection};

use crate::api_error::sentence;
use crate::json::{Json, JsonObject};
use crate::wire::{BulkOutcome, FailedItem, ItemError, SucceededItem};

/// Tells the items that succeeded from those that failed. `show` makes the former's `data`; `offender` finds the
/// `value` of an item's error, given the item's position.
pub(crate) fn split<T, D>(
    outcomes: Vec<Result<T, Rejection>>,
    show: impl Fn(&T) -> D,
    offender: impl Fn(usize, &Rejection) -> Option<String>,
) -> BulkOutcome<D> {
    let (mut succeeded, mut failed) = (vec![], vec![]);
    for (index, outcome) in outcomes.into_iter().enumerate() {
        match outcome {
            Ok(value) => succeeded.push(SucceededItem { index, data: show(&value) }),
            Err(rejection) => {
                let value = offender(index, &rejection);
                failed.push(FailedItem { index, error: item_error(&rejection, value) });
            }
        }
    }
    BulkOutcome { succeeded, failed }
}

/// The code and the message are those of the single operation.
fn item_error(rejection: &Rejection, value: Option<String>) -> ItemError {
    let message = match rejection {
        Rejection::Invalid(violations) => violations.iter().map(sentence).collect::<Vec<_>>().join(" "),
        Rejection::Refused(refusal) => refusal.to_string(),
    };
    ItemError { code: rejection.code().as_str(), message, value }
}

/// The value of `item` at which the failure of its creation points: the first that is invalid, or the one that could
/// not be granted. `None` if it points at none, or at none that is a string.
pub(crate) fn offender_in_creation(item: &JsonObject, rejection: &Rejection) -> Option<String> {
    match rejection {
        Rejection::Invalid(violations) => text_at(item, violations.iter().next()?.field()),
        Rejection::Refused(refusal) => text_at(item, refused_field(refusal)?),
    }
}

/// The field that a refusal is about.
const fn refused_field(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::GroupNotFound => Some("group_id"),
        Refusal::DomainNotFound | Refusal::DomainNotActive => Some("domain"),
        Refusal::SlugRequiredForSystemDomain | Refusal::AddressTaken | Refusal::DuplicateSlugInBatch => {
            Some("slug")
        }
        Refusal::RedirectNotFound
        | Refusal::LandingNotFound
        | Refusal::PlanLimitReached { .. }
        | Refusal::FeatureNotAvailable(_)
        | Refusal::DuplicateIdInBatch => None,
    }
}

/// The string at a path such as `geo_blocklists.countries[1]`.
fn text_at(object: &JsonObject, path: &str) -> Option<String> {
    // A field that nobody knows may be called whatever its sender likes, so the whole path may be one name.
    if let Some(value) = object.get(path) {
        return text_of(value);
    }
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    let (name, position) = match name.strip_suffix(']').and_then(|name| name.rsplit_once('[')) {
        Some((name, position)) => (name, Some(position.parse::<usize>().ok()?)),
        None => (name, None),
    };
    let value = match (object.get(name)?, position) {
        (Json::List(items), Some(position)) => items.get(position)?,
        (value, None) => value,
        (_, Some(_)) => return None,
    };
    match (value, rest) {
        (Json::Object(members), Some(rest)) => text_at(members, rest),
        (value, None) => text_of(value),
        (_, Some(_)) => None,
    }
}

fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::Text(text) => Some(text.clone()),
        Json::Null | Json::Bool(_) | Json::Number | Json::List(_) | Json::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(path: &str) -> Option<String> {
        let body = r#"{"name":"n","a.b":"dotted","c[0]":"bracketed","n":5,"null":null,
            "geo_blocklists":{"countries":["DE","??",7],"x":"deep"}}"#;
        let Ok(Json::Object(members)) = crate::json::parse(body.as_bytes()) else { panic!("an object") };
        text_at(&members, path)
    }

    /// Contract D29: `value` is the first offending one, found by the path of its violation (D8).
    #[test]
    fn d29_a_value_is_found_by_its_path() {
        for (path, value) in [
            ("name", "n"),
            ("a.b", "dotted"),
            ("c[0]", "bracketed"),
            ("geo_blocklists.countries[1]", "??"),
            ("geo_blocklists.x", "deep"),
        ] {
            assert_eq!(at(path).as_deref(), Some(value), "{path}");
        }
        for path in [
            "",
            "n",
            "null",
            "missing",
            "name[0]",
            "name.x",
            "geo_blocklists",
            "geo_blocklists.countries",
            "geo_blocklists.countries[2]",
            "geo_blocklists.countries[3]",
            "geo_blocklists.countries[x]",
            "geo_blocklists.countries[0].x",
            "[0]",
            "]",
        ] {
            assert_eq!(at(path), None, "{path}");
        }
    }
}
