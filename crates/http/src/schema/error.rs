//! The error envelope (contract "Errors", D6, D8).

use signpost_domain::{ErrorCode, ViolationCode, Violations};

use super::Components;
use super::fields::id;
use super::object::{always, closed_object, list, maybe, named, string};

/// The components about errors.
pub(crate) fn components() -> Components {
    let sentence =
        || string("A sentence for people; it may be reworded, so do not match on it.").min_length(Some(1));
    let detail = closed_object(
        "One violation of the request.",
        [
            always(
                "field",
                string(
                    "The path of the offending field or parameter; `body` for the body as a whole, and in the last \
                     entry of a list that is not complete.",
                )
                    .examples(["geo_blocklists.countries[1]"]),
            ),
            always(
                "code",
                string(
                    "What is wrong with it. A closed list. `already_taken` and `reserved` come with `slug_already_taken`. `truncated` is only the last entry's: its message says how \
                     many more violations there are.",
                )
                    .enum_values(Some(ViolationCode::ALL.map(ViolationCode::as_str))),
            ),
            always("message", sentence()),
            maybe(
                "existing_id",
                string("With `already_taken`: the link that has the address, if it is the account's own.")
                    .pattern(Some("^(lnd|rdr)_[0-9a-f]{32}$"))
                    .examples([super::examples::REDIRECT_ID]),
            ),
        ],
    );
    let details = list(
        "Every violation of the request, or the first hundred and one entry that counts the others; only where \
         validation failed. With `slug_already_taken` one entry on `slug`, also where `slug` is null for the root of a \
         domain, and where only `domain` was sent.",
        named("ErrorDetail"),
    );
    let body = closed_object(
        "What went wrong.",
        [
            always(
                "code",
                string("The machine code. A closed list.")
                    .enum_values(Some(ErrorCode::ALL.iter().map(|code| code.as_str()))),
            ),
            always("message", sentence()),
            always("request_id", id("req", "The request's id, as in `X-Request-Id`; quote it to support.")),
            maybe("details", details.min_items(Some(1)).max_items(Some(Violations::MAX_LISTED + 1))),
        ],
    );
    let envelope = closed_object("The body of every error.", [always("error", body)]);
    vec![("Error", envelope.into()), ("ErrorDetail", detail.into())]
}
