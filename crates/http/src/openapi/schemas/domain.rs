//! Custom domains (contract "Domain", D37–D39).

use serde_json::json;
use utoipa::openapi::schema::ObjectBuilder;

use super::Components;
use super::fields::{created_at, id, timestamp_or_null};
use super::object::{always, boolean, closed_object, kind, list, named, string, string_or_null};
use super::patterns;

/// The components about domains.
pub(super) fn components() -> Components {
    let shown = closed_object(
        "A hostname that the account has connected, for its links to live on.",
        [
            always("id", id("dom", "The domain's id.")),
            always("object", kind("domain")),
            always("hostname", string("The hostname, in lower case.").examples(["links.example.org"])),
            always("status", status()),
            always(
                "expires_at",
                timestamp_or_null(
                    "Until when the domain must be verified; null when its status is not `pending`. From this very \
                     millisecond on it is `failed`.",
                ),
            ),
            always("created_at", created_at()),
            always(
                "next_check_at",
                timestamp_or_null(
                    "When the records are looked up next without being asked; null when no look-up is scheduled. While one is \
                     under way, the time at which it began. `POST /v1/domains/{id}/verify` looks them up at once.",
                ),
            ),
            always(
                "checked_at",
                timestamp_or_null(
                    "When DNS last answered about the hostname; null before the first answer. A look-up without an answer does \
                     not count.",
                ),
            ),
            always("failure_reason", failure_reason()),
            always(
                "dns_instructions",
                list("The records to add at the DNS provider.", named("DnsInstruction")),
            ),
        ],
    );
    let allowed = closed_object(
        "A certificate may be obtained.",
        [always("allowed", boolean("Always true: a \"no\" is an error.").enum_values(Some([true])))],
    );
    vec![
        ("Domain", shown.into()),
        ("DnsInstruction", dns_instruction().into()),
        ("NewDomain", sent().into()),
        ("TlsAllowed", allowed.into()),
    ]
}

/// No `enum`, which programs would take for the whole of it: more may come (contract "Conventions").
fn status() -> ObjectBuilder {
    string(
        "How far the domain has come. `pending`: its records have not been seen yet. `ssl_pending`: they have, and its \
         certificate is being obtained. `active`: links on it work. `failed`: the records were not seen in time, or the \
         hostname has pointed elsewhere for 72 hours, or another account has proven it to be theirs. An open list: more \
         may come.",
    )
    .pattern(Some("^[a-z_]+$"))
    .examples(["pending", "ssl_pending", "active", "failed"])
}

fn failure_reason() -> ObjectBuilder {
    string_or_null(
        "Why the domain has failed; null when its status is not `failed`, or when the reason is not known. `deadline_passed`: \
         the records were not there in time. `proved_by_another_account`: another account has proven the hostname to be \
         theirs. `points_elsewhere`: the hostname has pointed elsewhere for 72 hours. `no_certificate`: no certificate could \
         be obtained for 72 hours. An open list: more may come.",
    )
    .pattern(Some("^[a-z_]+$"))
    .examples([json!("deadline_passed"), json!("points_elsewhere"), json!(null)])
}

fn dns_instruction() -> ObjectBuilder {
    closed_object(
        "A record to add at the DNS provider.",
        [
            always(
                "type",
                string(
                    "The record's type: `A`, `AAAA`, `CNAME`, `TXT`, or `ALIAS` for what providers also call ANAME or \
                     flattened CNAME. An open list: more may come.",
                )
                .examples(["CNAME", "TXT"]),
            ),
            always(
                "name",
                string("The record's full name, without a final dot.").examples(["links.example.org"]),
            ),
            always(
                "value",
                string("The record's value, without quotation marks and without a final dot.")
                    .examples(["edge.example.com"]),
            ),
            always(
                "purpose",
                string("What the record is for, in a sentence for people; it may be reworded.").min_length(Some(1)),
            ),
            always(
                "status",
                string(
                    "What the last look-up of this record says. `unknown`: DNS has not answered yet. `found`: the record is \
                     there, or others that do the same. `missing`: nothing is there. `wrong`: something else is there. An \
                     open list: more may come.",
                )
                .pattern(Some("^[a-z_]+$"))
                .examples(["unknown", "found", "missing", "wrong"]),
            ),
            always(
                "observed",
                list(
                    "Some of the values that the last look-up saw where this record should be. They are whatever the zone \
                     has, with control characters replaced: escape them before showing them.",
                    string("A value, or the beginning of a long one.").max_length(Some(255)),
                )
                .max_items(Some(5)),
            ),
        ],
    )
}

fn sent() -> ObjectBuilder {
    let hostname = string(
        "The hostname: at least two labels of letters, digits and inner hyphens, at most 253 characters in all. Case, spaces \
         around it and one final dot do not matter. Not accepted are IP addresses, internationalised names, also in the form \
         `xn--`, names that the public DNS does not serve, such as those under `.local`, and public suffixes, such as \
         `co.uk`. The pattern matches whatever is accepted, and some that is not.",
    )
    .pattern(Some(patterns::hostname()))
    .examples(["links.example.org"]);
    closed_object("A hostname to be connected.", [always("hostname", hostname)])
}
