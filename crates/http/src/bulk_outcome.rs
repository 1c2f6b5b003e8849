//! The outcomes of the items of a batch in a response (contract "Bulk results", D29, D31).

use signpost_domain::{Refusal, Rejection};

use crate::wire::{BulkOutcome, Detail, FailedItem, ItemError, SucceededItem, sentence};
use signpost_strict_json::Json;

/// Separates the items that succeeded from those that failed. `show` makes the `data` of a success; `text_at_fault` finds
/// the `value` of a failure at an index. The request has the items in `field`.
pub(crate) fn split<T, D>(
    outcomes: &[Result<T, Rejection>],
    field: &str,
    show: impl Fn(&T) -> D,
    text_at_fault: impl Fn(usize, &Rejection) -> Option<String>,
) -> BulkOutcome<D> {
    let (mut succeeded, mut failed) = (vec![], vec![]);
    for (index, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(value) => succeeded.push(SucceededItem { index, data: show(value) }),
            Err(rejection) => {
                let value = text_at_fault(index, rejection);
                let item = format!("{field}[{index}]");
                failed.push(FailedItem { index, error: item_error(rejection, &item, value) });
            }
        }
    }
    BulkOutcome { succeeded, failed }
}

/// The code and the details are those of the single operation. The message names what the details list.
fn item_error(rejection: &Rejection, item: &str, value: Option<String>) -> ItemError {
    let (message, details) = match rejection {
        Rejection::Invalid(violations) => {
            let last = violations.truncation(item);
            let message = violations.iter().chain(&last).map(sentence).collect::<Vec<_>>().join(" ");
            (message, Detail::of_violations(violations, item))
        }
        Rejection::Refused(refusal) => (refusal.to_string(), Detail::of_refusal(refusal)),
    };
    ItemError { code: rejection.code().as_str(), message, value, details }
}

/// The text that made the creation of an item fail: the first invalid one, or the refused one. `None` if there is none.
pub(crate) fn text_at_fault(item: &Json, rejection: &Rejection) -> Option<String> {
    let text = match rejection {
        Rejection::Invalid(violations) => {
            violations.iter().find_map(|violation| text_at(item, violation.field()))
        }
        Rejection::Refused(refusal) => text_at(item, refused_field(refusal)?),
    };
    text.map(str::to_owned)
}

/// The field of a redirect that a refusal is about.
const fn refused_field(refusal: &Refusal) -> Option<&'static str> {
    match refusal {
        Refusal::GroupNotFound => Some("group_id"),
        Refusal::DomainNotFound | Refusal::DomainNotActive => Some("domain"),
        Refusal::SlugRequiredForSystemDomain
        | Refusal::SlugReserved
        | Refusal::AddressTaken { .. }
        | Refusal::DuplicateSlugInBatch => Some("slug"),
        Refusal::RedirectNotFound
        | Refusal::LandingNotFound
        | Refusal::PixelNotFound
        | Refusal::HostnameTaken { .. }
        | Refusal::HostnameIsSystemDomain
        | Refusal::DomainProviderUnavailable
        | Refusal::DomainsNotOffered
        | Refusal::PlanLimitReached { .. }
        | Refusal::FeatureNotAvailable(_)
        | Refusal::AnalyticsNotConfigured
        | Refusal::AnalyticsRangeTooLong { .. }
        | Refusal::DuplicateIdInBatch => None,
    }
}

/// The text at the path of a violation, such as `geo_blocklists.countries[1]`.
fn text_at<'a>(item: &'a Json, path: &str) -> Option<&'a str> {
    let Json::Object(members) = item else { return None };
    // An unknown field may have a name like a path.
    match nested(item, path).or_else(|| members.get(path))? {
        Json::Text(text) => Some(text),
        Json::Null | Json::Bool(_) | Json::Number | Json::List(_) | Json::Object(_) => None,
    }
}

fn nested<'a>(item: &'a Json, path: &str) -> Option<&'a Json> {
    let Json::Object(members) = item else { return None };
    let Some((name, rest)) = path.find(['.', '[']).and_then(|end| path.split_at_checked(end)) else {
        return members.get(path);
    };
    let value = members.get(name)?;
    match (rest.strip_prefix('.'), value) {
        (Some(rest), _) => nested(value, rest),
        (None, Json::List(items)) => {
            items.get(rest.strip_prefix('[')?.strip_suffix(']')?.parse::<usize>().ok()?)
        }
        (None, Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) | Json::Object(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{FieldError, ViolationCode, Violations};

    use super::*;

    fn at_fault(item: &str, fields: &[&str]) -> Option<String> {
        let item = signpost_strict_json::parse(item.as_bytes()).unwrap();
        let mut violations = Violations::new();
        for field in fields {
            violations.push(FieldError::new(ViolationCode::InvalidType, "is wrong").at(*field));
        }
        text_at_fault(&item, &Rejection::Invalid(violations))
    }

    #[test]
    fn d29_the_first_invalid_text_is_at_fault() {
        for (item, fields, expected) in [
            (r#"{"a":"x"}"#, ["a", "b"], Some("x")),
            (r#"{"b":"x"}"#, ["a", "b"], Some("x")),
            (r#"{"a":1,"b":"x"}"#, ["a", "b"], Some("x")),
            (r#"{"a":1,"b":{}}"#, ["a", "b"], None),
            (r#"{"a":{"b":["x","y"]}}"#, ["a.b[1]", "a"], Some("y")),
            (r#"{"a":["x"]}"#, ["a[0]", "a"], Some("x")),
            (r#"{"a.b[0]":"x"}"#, ["a.b[0]", "a"], Some("x")),
            (r#"{"a":{"b":["x"]},"a.b[0]":"decoy"}"#, ["a.b[0]", "a"], Some("x")),
            (r#"{"a":["x"]}"#, ["a[1]", "a.b"], None),
            ("5", ["a", "b"], None),
        ] {
            assert_eq!(at_fault(item, &fields).as_deref(), expected, "{item} {fields:?}");
        }
    }
}
