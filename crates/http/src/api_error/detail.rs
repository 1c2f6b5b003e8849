//! Entries of `details` (contract "Errors", D8, D20), in the errors of requests and of batch items.

use std::borrow::Cow;

use serde::Deserialize;
use signpost_domain::{Refusal, Violation, ViolationCode, Violations};
use utoipa::openapi::schema::ObjectBuilder;

use crate::schema::{examples, matching, named, shown, string};

/// The field of violations that concern the body as a whole (D8).
pub(crate) const BODY: &str = "body";

shown! {
    /// One violation. Replays read it back from stored answers (D12).
    #[derive(Deserialize)]
    pub(crate) struct Detail {
        field: String = string(
            "The path of the offending field or parameter; `body` for the body as a whole, and in the last entry of an \
             incomplete list.",
        )
        .examples(["geo_blocklists.countries[1]"]),
        code: Cow<'static, str> = named("ViolationCode"),
        message: String = sentence_schema(),
        /// The caller's own link that has the address or the external id (D20, D121).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        existing_id (maybe): Option<String> =
            matching(
                string("With `already_taken`: the link that has the address or the external id, if it is the account's own."),
                "^(lnd|rdr)_[0-9a-f]{32}$",
            )
            .examples([examples::REDIRECT_ID]),
    }
}

/// The schema of the codes of violations.
pub(crate) fn violation_code_schema() -> ObjectBuilder {
    string(
        "The kind of violation. A closed list. `already_taken` comes with `slug_already_taken`, and on `external_id`; `reserved` \
         with `slug_already_taken`. Only the last \
         entry can be `truncated`; its message counts the remaining violations.",
    )
    .enum_values(Some(ViolationCode::ALL.map(ViolationCode::as_str)))
}

/// A sentence in an error.
pub(crate) fn sentence_schema() -> ObjectBuilder {
    string("A sentence for people; do not match on it, because it may be reworded.").min_length(Some(1))
}

impl Detail {
    /// The listed violations, and an entry on the field `whole` that counts the rest. `None` without violations.
    pub(crate) fn of_violations(violations: &Violations, whole: &str) -> Option<Vec<Self>> {
        let last = violations.truncation(whole);
        let details: Vec<Self> = violations.iter().chain(&last).map(Self::from).collect();
        (!details.is_empty()).then_some(details)
    }

    /// The violation that a refusal reports, if it concerns a field.
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
