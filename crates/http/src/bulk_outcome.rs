//! The outcomes of the items of a batch in a response (contract "Bulk results", D29, D31).

use signpost_domain::{PixelIds, Refusal, Rejection};

use crate::wire::{BulkOutcome, Detail, FailedItem, ItemError, SucceededItem, sentence};
use signpost_strict_json::{Json, JsonObject};

/// Separates the items that succeeded from those that failed. `show` makes the `data` of a success; `value_at_fault` finds
/// the `value` of a failure at an index. The request has the items in `field`.
pub(crate) fn split<T, D>(
    outcomes: &[Result<T, Rejection>],
    field: &str,
    show: impl Fn(&T) -> D,
    value_at_fault: impl Fn(usize, &Rejection) -> Option<String>,
) -> BulkOutcome<D> {
    let (mut succeeded, mut failed) = (vec![], vec![]);
    for (index, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Ok(value) => succeeded.push(SucceededItem { index, data: show(value) }),
            Err(rejection) => {
                let value = value_at_fault(index, rejection);
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

/// An item's values as sent, for the fields that only the store can check. Types of the domain do not keep a malformed id
/// or the letter case of a hostname.
#[derive(Debug, Default)]
pub(crate) struct RawValues {
    slug: Option<String>,
    domain: Option<String>,
    group_id: Option<String>,
    /// In order; `None` for a value that is not a string.
    pixel_ids: Vec<Option<String>>,
}

impl RawValues {
    /// The values of an item.
    pub(crate) fn of(item: &JsonObject) -> Self {
        let text = |field: &str| item.get(field).and_then(text_of);
        let pixel_ids = match item.get("pixel_ids") {
            Some(Json::List(ids)) => ids.iter().take(PixelIds::MAX).map(text_of).collect(),
            Some(Json::Null | Json::Bool(_) | Json::Number | Json::Text(_) | Json::Object(_)) | None => {
                vec![]
            }
        };
        Self { slug: text("slug"), domain: text("domain"), group_id: text("group_id"), pixel_ids }
    }

    /// The value that made the creation fail: the first invalid one, or the refused one. `None` if there is no single one, or
    /// it is not a string.
    pub(crate) fn at_fault(&self, rejection: &Rejection) -> Option<String> {
        let refusal = match rejection {
            Rejection::Invalid(violations) => {
                return violations.iter().find_map(|violation| {
                    violation.value().or_else(|| self.pixel_id(violation.field())).map(str::to_owned)
                });
            }
            Rejection::Refused(refusal) => refusal,
        };
        match refusal {
            Refusal::GroupNotFound => self.group_id.clone(),
            Refusal::DomainNotFound | Refusal::DomainNotActive => self.domain.clone(),
            Refusal::SlugRequiredForSystemDomain
            | Refusal::SlugReserved
            | Refusal::AddressTaken { .. }
            | Refusal::DuplicateSlugInBatch => self.slug.clone(),
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

    /// The text at `pixel_ids[i]`.
    fn pixel_id(&self, field: &str) -> Option<&str> {
        let index = field.strip_prefix("pixel_ids[")?.strip_suffix(']')?;
        self.pixel_ids.get(index.parse::<usize>().ok()?)?.as_deref()
    }
}

fn text_of(value: &Json) -> Option<String> {
    match value {
        Json::Text(text) => Some(text.clone()),
        Json::Null | Json::Bool(_) | Json::Number | Json::List(_) | Json::Object(_) => None,
    }
}
