//! How redirects send their visitors on: their status, and the parameters that they add (D132).

use serde_json::json;
use signpost_domain::{RedirectContent, RedirectStatus, Utm, UtmPart, UtmValue, Way, WayRequest};
use utoipa::openapi::schema::ObjectBuilder;

use crate::extract::{Action, Field, ObjectReader, boolean, field, integer, object, properties, text};
use crate::schema::{
    Components, boolean as boolean_schema, closed_object, examples, integer as integer_schema, keyword,
    matching, named_as, open_object, shown, string, trimmed_pattern,
};

/// The component of the statuses of requests.
const STATUS: &str = "RedirectStatus";

shown! {
    /// The parameters of a campaign in an answer.
    pub(super) struct UtmBody {
        source: Option<String> = part_shown(UtmPart::Source),
        medium: Option<String> = part_shown(UtmPart::Medium),
        campaign: Option<String> = part_shown(UtmPart::Campaign),
        term: Option<String> = part_shown(UtmPart::Term),
        content: Option<String> = part_shown(UtmPart::Content),
    }
}

impl UtmBody {
    /// The parameters of a redirect; `None` if it adds none.
    pub(super) fn of(content: &RedirectContent) -> Option<Self> {
        let utm = &content.way.utm;
        let value = |part| utm.get(part).map(|value| value.as_str().to_owned());
        (!utm.is_empty()).then(|| Self {
            source: value(UtmPart::Source),
            medium: value(UtmPart::Medium),
            campaign: value(UtmPart::Campaign),
            term: value(UtmPart::Term),
            content: value(UtmPart::Content),
        })
    }
}

const fn meaning(part: UtmPart) -> &'static str {
    match part {
        UtmPart::Source => "Where visitors come from: `utm_source`.",
        UtmPart::Medium => "The kind of source: `utm_medium`.",
        UtmPart::Campaign => "The campaign: `utm_campaign`.",
        UtmPart::Term => "The keyword of an advertisement: `utm_term`.",
        UtmPart::Content => "Which of several links or advertisements it was: `utm_content`.",
    }
}

const fn example_of(part: UtmPart) -> &'static str {
    match part {
        UtmPart::Source => examples::UTM_SOURCE,
        UtmPart::Medium => "email",
        UtmPart::Campaign => "Autumn sale",
        UtmPart::Term => "shoes",
        UtmPart::Content => "button",
    }
}

fn part_shown(part: UtmPart) -> ObjectBuilder {
    string(&format!("{} Null: it is not added.", meaning(part)))
        .min_length(Some(1))
        .max_length(Some(UtmValue::MAX_CHARS))
        .examples([example_of(part)])
}

/// `redirect_status` in an answer. The list is open (contract "Conventions").
pub(super) fn status_shown() -> ObjectBuilder {
    integer_schema()
        .description(Some(
            "The status with which visitors are sent on. 301 and 308 are answered with `Cache-Control: private, max-age=90`, and the \
             others with `no-store`. An open list.",
        ))
        .examples([RedirectStatus::default().code()])
        .extensions(Some(keyword("x-extensible-enum", json!(RedirectStatus::ALL.map(RedirectStatus::code)))))
}

/// `forward_query`, in an answer and in requests.
pub(super) fn forward_query_shown() -> ObjectBuilder {
    boolean_schema(
        "Whether the parameters that visitors add to the link are added to the target. Those whose name the target has, and \
         `src=qr`, are left out. If the query, or the target with it, has more than 4096 bytes, nothing is added.",
    )
}

/// Reads the fields.
pub(super) fn read(body: &mut ObjectReader<'_>, action: Action) -> WayRequest {
    WayRequest {
        redirect_status: body.optional(redirect_status(action)),
        forward_query: body.optional_or(
            action,
            false,
            field(Way::FORWARD_QUERY, boolean(), forward_query_shown),
        ),
        utm: body.nullable(utm(action)),
    }
}

fn redirect_status(action: Action) -> impl Field<RedirectStatus> {
    field(RedirectStatus::FIELD, integer(RedirectStatus::parse), move || {
        let left_out = match action {
            Action::Create => " Left out: `302`.",
            Action::Put | Action::Update => "",
        };
        let description = format!(
            "The status with which visitors are sent on. Browsers keep a 301 or a 308 for up to 90 seconds and do not ask again, so these \
             are refused beside `starts_at`, `expires_at`, `max_clicks`, `password`, `rules`, `antibot_enabled`, `geo_blocklists` and \
             `pixel_ids`.{left_out}"
        );
        named_as(STATUS, description)
    })
}

fn utm(action: Action) -> impl Field<Utm> {
    field(Utm::FIELD, object(|utm| Some(read_utm(utm))), move || {
        let of_null = match action {
            Action::Create => "Left out or null: none.",
            Action::Put | Action::Update => "They replace all that it has; null removes them.",
        };
        let description = format!(
            "Parameters that are always added to the target, also to those of rules, instead of its own ones of the same names. `target_url` stays as it is; \
             `final_url` shows the result, which has at most 4096 bytes. {of_null}"
        );
        named_as("UtmInput", description)
    })
}

fn read_utm(utm: &mut ObjectReader<'_>) -> Utm {
    Utm::new(|part| utm.nullable(part_field(part)).applied_to(None))
}

fn part_field(part: UtmPart) -> impl Field<UtmValue> {
    field(part.as_str(), text(UtmValue::parse), move || {
        let description = format!(
            "{} 1 to {} characters without control characters; surrounding white space is removed. Left out or null: it is not \
             added.",
            meaning(part),
            UtmValue::MAX_CHARS
        );
        matching(string(&description), trimmed_pattern(UtmValue::MAX_CHARS)).examples([example_of(part)])
    })
}

/// The components of the OpenAPI document.
pub(super) fn components() -> Components {
    let status = integer_schema()
        .description(Some("The status with which a redirect sends its visitors on."))
        .enum_values(Some(RedirectStatus::ALL.map(RedirectStatus::code)))
        .examples([RedirectStatus::default().code()]);
    let shown = open_object("The parameters of a campaign, which a redirect adds.", UtmBody::properties());
    let sent = closed_object(
        "Parameters of a campaign to add. An object without any is the same as null.",
        properties(|utm| drop(read_utm(utm))),
    );
    vec![(STATUS, status.into()), ("Utm", shown.into()), ("UtmInput", sent.into())]
}
