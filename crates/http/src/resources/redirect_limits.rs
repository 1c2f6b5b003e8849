//! How many visits redirects send on at most (D128, D130).

use signpost_domain::{ClickLimitRequest, MaxClicks};
use utoipa::openapi::schema::ObjectBuilder;

use crate::extract::{Action, Field, ObjectReader, field, integer};
use crate::schema::{count, integer as integer_schema};

/// The limit of examples.
pub(super) const EXAMPLE: u64 = 1_000;

/// What is left of it.
pub(super) const EXAMPLE_LEFT: u64 = 958;

/// Reads the field. What is left follows from visits.
pub(super) fn read(body: &mut ObjectReader<'_>, action: Action) -> ClickLimitRequest {
    ClickLimitRequest { max_clicks: body.nullable(max_clicks(action)), clicks_left: None }
}

/// `max_clicks` (D128)
fn max_clicks(action: Action) -> impl Field<MaxClicks> {
    field(MaxClicks::FIELD, integer(MaxClicks::parse), move || {
        let of_null = match action {
            Action::Create => "Left out or null: no limit.",
            Action::Put => "Null: no limit.",
            Action::Update => {
                "A higher one opens an exhausted link again, and one below what is used exhausts it. Null removes the limit and \
                 forgets what is used."
            }
        };
        schema(&format!(
            "How many visits are sent on at most, over all nodes. Afterwards the link is `exhausted`, and visitors get what they get \
             after its end. Bots and previews use none. A new limit needs the feature `link_access`. {of_null}"
        ))
    })
}

/// `max_clicks` in an answer.
pub(super) fn max_clicks_shown() -> ObjectBuilder {
    schema("How many visits are sent on at most. Null: there is no limit.")
}

fn schema(description: &str) -> ObjectBuilder {
    integer_schema()
        .minimum(Some(MaxClicks::MIN))
        .maximum(Some(MaxClicks::MAX))
        .description(Some(description))
        .examples([EXAMPLE])
}

/// `clicks_left` in an answer.
pub(super) fn clicks_left_shown() -> ObjectBuilder {
    count(
        "How many visits may still be sent on, apart from those for which nodes have taken clicks in advance. What a node does not use \
         comes back within seconds. Null without `max_clicks`.",
    )
    .examples([EXAMPLE_LEFT])
}
