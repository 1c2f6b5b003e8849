//! Entries of `details` (contract "Errors", D8, D20), alike in the error of a request and in that of an item of a batch.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use signpost_domain::{Refusal, Violation, Violations};

/// One violation. It is also read, from answers that are remembered (D12).
#[derive(Serialize, Deserialize)]
pub(crate) struct Detail {
    field: String,
    code: Cow<'static, str>,
    message: String,
    /// The caller's own link that stands in the way (D20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    existing_id: Option<String>,
}

impl Detail {
    /// The violations that are listed; `whole` is the field of an entry that says how many are not. `None` if there are
    /// none at all.
    pub(crate) fn of_violations(violations: &Violations, whole: &str) -> Option<Vec<Self>> {
        let last = violations.truncation(whole);
        let details: Vec<Self> = violations.iter().chain(&last).map(Self::from).collect();
        (!details.is_empty()).then_some(details)
    }

    /// What a refusal says of a field, if it is about one.
    pub(crate) fn of_refusal(refusal: &Refusal) -> Option<Vec<Self>> {
        refusal.violation().map(|violation| vec![Self::from(&violation)])
    }
}

impl From<&Violation> for Detail {
    fn from(violation: &Violation) -> Self {
        Self {
            field: violation.field().to_owned(),
            code: Cow::Borrowed(violation.code().as_str()),
            message: sentence(violation),
            existing_id: violation.existing().map(|id| id.to_string()),
        }
    }
}

/// A violation as a sentence that names its field.
pub(crate) fn sentence(violation: &Violation) -> String {
    format!("`{}` {}.", violation.field(), violation.message())
}
