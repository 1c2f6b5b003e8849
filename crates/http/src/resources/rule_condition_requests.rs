//! The fields of conditions as they are sent, for the OpenAPI document (D133). The domain reads them, because files of links have the
//! same ones.

use signpost_domain::routing::{AnyOf, DateRange, QueryText, Weekdays};
use utoipa::openapi::schema::{ArrayItems, KnownFormat, ObjectBuilder, SchemaFormat};

use super::rule_conditions::{ABOUT_END, NOT, QUERY_TEST, day_schema, time_schema, zone_schema};
use crate::schema::{
    Property, TIME_OF_DAY, always, boolean as boolean_schema, list, matching, maybe, named, one_line_pattern,
    or_null, string,
};

pub(super) fn not() -> Property {
    maybe("not", boolean_schema(&format!("{NOT} Left out: `false`.")))
}

/// `in`: the values of which one must hold.
pub(super) fn listed(most: usize, item: impl Into<ArrayItems>) -> Vec<Property> {
    let values = list("The values, of which one must hold. One that is named again is dropped.", item);
    vec![always(AnyOf::<()>::FIELD, values.min_items(Some(1)).max_items(Some(most)))]
}

/// The fields of a date.
pub(super) fn date() -> Vec<Property> {
    let from = instant("From this instant on. Left out or null: from ever.");
    let until = instant("Before this instant, later than `from`. Left out or null: for ever.");
    vec![maybe(DateRange::FROM, or_null(from.into())), maybe(DateRange::UNTIL, or_null(until.into()))]
}

fn instant(description: &str) -> ObjectBuilder {
    string(&format!("{description} With `Z` or an offset."))
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples(["2026-12-24T18:00:00+01:00"])
}

/// The fields of hours.
pub(super) fn hours() -> Vec<Property> {
    let of_days = "The days on which the hours begin, from Monday, 1, to Sunday, 7. One that is named again is dropped.";
    vec![
        always("timezone", zone_schema("The time zone: a name of the IANA database.")),
        always("days", list(of_days, day_schema()).min_items(Some(1)).max_items(Some(Weekdays::MAX))),
        always("from", matching(time_schema("When the hours begin."), TIME_OF_DAY)),
        always("until", matching(time_schema(ABOUT_END), TIME_OF_DAY)),
    ]
}

/// The fields of a query.
pub(super) fn query() -> Vec<Property> {
    let text = |description: &str| {
        matching(string(description), one_line_pattern()).max_length(Some(QueryText::MAX_CHARS))
    };
    let name =
        text("The name of the parameter, decoded; case matters.").min_length(Some(1)).examples(["plan"]);
    let value = text(
        "The value that the parameter has, decoded; case matters. Required with `equals`, and otherwise null or left out.",
    );
    vec![
        always("name", name),
        always("is", named(QUERY_TEST)),
        maybe("value", or_null(value.examples(["pro"]).into())),
    ]
}
