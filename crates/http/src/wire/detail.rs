//! Entries of `details` (contract "Errors", D8, D20), alike in the error of a request and in that of an item of a batch.

use std::borrow::Cow;

use serde::Deserialize;
use signpost_domain::{Refusal, Violation, ViolationCode, Violations};
use utoipa::openapi::schema::ObjectBuilder;

use crate::schema::{examples, shown, string};

shown! {
    /// One violation. It is also read, from answers that are remembered (D12).
    #[derive(Deserialize)]
    pub(crate) struct Detail {
        field: String = string(
            "The path of the offending field or parameter; `body` for the body as a whole, and in the last \
             entry of a list that is not complete.",
        )
        .examples(["geo_blocklists.countries[1]"]),
        code: Cow<'static, str> = string(
            "What is wrong with it. A closed list. `already_taken` and `reserved` come with `slug_already_taken`. `truncated` is only the last entry's: its message says how \
             many more violations there are.",
        )
        .enum_values(Some(ViolationCode::ALL.map(ViolationCode::as_str))),
        message: String = sentence_schema(),
        /// The caller's own link that stands in the way (D20).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        existing_id (maybe): Option<String> =
            string("With `already_taken`: the link that has the address, if it is the account's own.")
                .pattern(Some("^(lnd|rdr)_[0-9a-f]{32}$"))
                .examples([examples::REDIRECT_ID]),
    }
}

/// A sentence in an error.
pub(crate) fn sentence_schema() -> ObjectBuilder {
    string("A sentence for people; it may be reworded, so do not match on it.").min_length(Some(1))
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
