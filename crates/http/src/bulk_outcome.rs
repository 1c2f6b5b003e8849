//! The outcomes of the items of a batch in a response (contract "Bulk results", D29, D31, D123).

use signpost_domain::{Refusal, Rejection, Violation};

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
pub(crate) fn item_error(rejection: &Rejection, item: &str, value: Option<String>) -> ItemError {
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

/// The first invalid text of a failed item, or the text that was refused. `None` if the failure is not about a text.
pub(crate) fn text_at_fault(item: &Json, rejection: &Rejection) -> Option<String> {
    let text = match rejection {
        Rejection::Invalid(violations) => violations.iter().find_map(Violation::value),
        Rejection::Refused(refusal) => refused_text(item, refusal),
    };
    text.map(str::to_owned)
}

/// The text of the field that was refused.
fn refused_text<'a>(item: &'a Json, refusal: &Refusal) -> Option<&'a str> {
    let Json::Object(members) = item else { return None };
    refused_fields(refusal).iter().find_map(|field| members.get(*field))?.as_text()
}

/// The field of an item that a refusal is about: the first of these that the item has.
const fn refused_fields(refusal: &Refusal) -> &'static [&'static str] {
    match refusal {
        Refusal::GroupNotFound => &["group_id"],
        Refusal::DomainNotFound | Refusal::DomainNotActive => &["domain"],
        // What names the link of a change.
        Refusal::RedirectNotFound | Refusal::LandingNotFound | Refusal::DuplicateIdInBatch => {
            &["id", "external_id"]
        }
        Refusal::SlugRequiredForSystemDomain
        | Refusal::SlugReserved
        | Refusal::AddressTaken { .. }
        | Refusal::DuplicateSlugInBatch => &["slug"],
        Refusal::NotFound(_)
        | Refusal::HostnameTaken { .. }
        | Refusal::HostnameIsSystemDomain
        | Refusal::DomainProviderUnavailable
        | Refusal::DomainsNotOffered
        | Refusal::PlanLimitReached { .. }
        | Refusal::NotPermitted(_)
        | Refusal::AccountSuspended
        | Refusal::FeatureNotAvailable(_)
        | Refusal::AnalyticsNotConfigured
        | Refusal::AnalyticsRangeTooLong { .. }
        | Refusal::PreconditionFailed(_) => &[],
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{FieldError, ViolationCode, Violations};

    use super::*;

    fn item(text: &str) -> Json {
        signpost_strict_json::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn d29_the_first_invalid_text_is_at_fault() {
        let item = item(r#"{"text":"x"}"#);
        let of = |field: &str| FieldError::new(ViolationCode::InvalidValue, "is wrong").at(field);
        for (violations, expected) in [
            (vec![of("list[0]").of_value("y"), of("text").of_value("x")], Some("y")),
            (vec![of("number"), of("text").of_value("x")], Some("x")),
            (vec![of("text")], None),
        ] {
            let mut all = Violations::new();
            for violation in violations {
                all.push(violation);
            }
            let rejection = Rejection::Invalid(all);
            assert_eq!(text_at_fault(&item, &rejection).as_deref(), expected, "{rejection:?}");
        }
    }

    #[test]
    fn d29_a_refused_text_is_at_fault() {
        let item = item(r#"{"slug":"sale","domain":null}"#);
        for (refusal, expected) in [
            (Refusal::SlugReserved, Some("sale")),
            (Refusal::DomainNotFound, None),
            (Refusal::GroupNotFound, None),
            (Refusal::AnalyticsNotConfigured, None),
        ] {
            assert_eq!(text_at_fault(&item, &Rejection::Refused(refusal)).as_deref(), expected);
        }
    }

    #[test]
    fn d123_the_name_of_a_link_is_at_fault_if_the_link_is_refused() {
        for (text, expected) in [
            (r#"{"id":"rdr_1","external_id":"new"}"#, "rdr_1"),
            (r#"{"id":"rdr_1","external_id":null}"#, "rdr_1"),
            (r#"{"external_id":"order-1"}"#, "order-1"),
        ] {
            for refusal in [Refusal::RedirectNotFound, Refusal::DuplicateIdInBatch] {
                let found = text_at_fault(&item(text), &Rejection::Refused(refusal));
                assert_eq!(found.as_deref(), Some(expected), "{text}");
            }
        }
    }
}
