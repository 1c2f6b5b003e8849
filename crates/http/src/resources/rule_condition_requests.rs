//! The conditions of rules as they are sent, read item by item, so that every violation has its exact path (D8, D133).

use std::collections::BTreeSet;
use std::hash::Hash;
use std::sync::LazyLock;

use signpost_domain::routing::{
    AnyOf, Condition, DateRange, Hours, QueryIs, QueryTest, QueryText, Test, TimeOfDay, Weekday, Weekdays,
    ZoneName,
};
use signpost_domain::{FieldError, Timestamp, ViolationCode};
use utoipa::openapi::schema::{ArrayItems, KnownFormat, SchemaFormat};

use super::rule_conditions::{
    ABOUT_END, ConditionType, NOT, QUERY_TEST, TYPES, day_schema, time_schema, zone_schema,
};
use crate::extract::{Field, ObjectReader, boolean, field, integers, properties, text, texts};
use crate::schema::{
    TIME_OF_DAY, boolean as boolean_schema, list, matching, named, one_line_pattern, string,
};

/// Takes the fields of one type of conditions.
pub(super) type ReadTest = fn(&mut ObjectReader<'_>) -> Option<Test>;

/// The fields of a query.
const NAME: &str = "name";
const IS: &str = "is";
const VALUE: &str = "value";

/// The fields of all types.
static FIELDS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let of_type = |each: &ConditionType| properties(|condition| drop(each.read(condition)));
    TYPES.iter().flat_map(of_type).map(|property| property.name()).collect()
});

/// Takes the fields of a condition.
pub(super) fn condition(object: &mut ObjectReader<'_>) -> Option<Condition> {
    let is_negated = object.optional(not()).unwrap_or_default();
    let of_type = field("type", text(parse_type), || string("The type of the condition."));
    let Some(of_type) = object.required(of_type) else {
        // Without a type, only the fields of no type are certainly unknown.
        for name in FIELDS.iter() {
            object.skip(name);
        }
        return None;
    };
    Some(Condition { test: of_type.read(object)?, is_negated })
}

fn parse_type(text: &str) -> Result<&'static ConditionType, FieldError> {
    TYPES.iter().find(|each| each.name == text).ok_or_else(|| {
        let names = TYPES.each_ref().map(|each| each.name).join(", ");
        FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
    })
}

pub(super) fn not() -> impl Field<bool> {
    field("not", boolean(), || boolean_schema(&format!("{NOT} Left out: `false`.")))
}

/// Takes `in`: the values of which one must hold.
pub(super) fn listed<T: Clone + Eq + Hash, S: Into<ArrayItems>>(
    condition: &mut ObjectReader<'_>,
    most: usize,
    parse: fn(&str) -> Result<T, FieldError>,
    item: fn() -> S,
) -> Option<AnyOf<T>> {
    let values = field(AnyOf::<T>::FIELD, texts(1..=most, parse), || {
        list("The values, of which one must hold. One that is named again is dropped.", item())
            .min_items(Some(1))
            .max_items(Some(most))
    });
    // The list was read with its bounds.
    AnyOf::new(condition.required(values)?, most).ok()
}

/// Takes the fields of a date.
pub(super) fn date(condition: &mut ObjectReader<'_>) -> Option<Test> {
    let from = condition
        .nullable(instant(DateRange::FROM, "From this instant on. Left out or null: from ever."))
        .applied_to(None);
    let until =
        instant(DateRange::UNTIL, "Before this instant, later than `from`. Left out or null: for ever.");
    let until = condition.nullable(until).applied_to(None);
    let has = [DateRange::FROM, DateRange::UNTIL].map(|name| condition.has(name));
    if has == [false, false] {
        condition.blame_whole(FieldError::new(ViolationCode::Required, "must have `from` or `until`"));
    }
    if has != [from.is_some(), until.is_some()] || has == [false, false] {
        return None;
    }
    let range = DateRange::new(from, until);
    range.map_err(|(name, error)| condition.blame(name, error)).ok().map(Test::Date)
}

/// Takes the fields of hours.
pub(super) fn hours(condition: &mut ObjectReader<'_>) -> Option<Test> {
    let timezone = condition.required(field("timezone", text(ZoneName::parse), || {
        zone_schema("The time zone: a name of the IANA database.")
    }));
    let days = condition.required(field("days", integers(1..=Weekdays::MAX, Weekday::parse), || {
        let description = "The days on which the hours begin, from Monday, 1, to Sunday, 7. One that is named again is dropped.";
        list(description, day_schema()).min_items(Some(1)).max_items(Some(Weekdays::MAX))
    }));
    let from = condition.required(time("from", "When the hours begin."));
    let until = condition.required(time("until", ABOUT_END));
    // The list was read with its bounds.
    let days = Weekdays::new(&days?).ok()?;
    Some(Test::Hours(Hours { timezone: timezone?, days, from: from?, until: until? }))
}

/// Takes the fields of a query.
pub(super) fn query(condition: &mut ObjectReader<'_>) -> Option<Test> {
    let name = condition.required(field(NAME, text(QueryText::parse_name), || {
        matching(string("The name of the parameter, decoded; case matters."), one_line_pattern())
            .min_length(Some(1))
            .max_length(Some(QueryText::MAX_CHARS))
            .examples(["plan"])
    }));
    let is = condition.required(field(IS, text(parse_is), || named(QUERY_TEST)));
    let value = condition.nullable(field(VALUE, text(QueryText::parse_value), || {
        let description = "The value that the parameter has, decoded; case matters. Required with `equals`, and otherwise null or left out.";
        matching(string(description), one_line_pattern())
            .max_length(Some(QueryText::MAX_CHARS))
            .examples(["pro"])
    }));
    let is = match (is?, condition.has(VALUE)) {
        (Is::Equals, true) => QueryIs::Equals(value.applied_to(None)?),
        (Is::Equals, false) => {
            condition.blame(VALUE, FieldError::new(ViolationCode::Required, "is required with `equals`"));
            return None;
        }
        (Is::Other(is), false) => is,
        (Is::Other(_), true) => {
            let error =
                FieldError::new(ViolationCode::InvalidValue, "must be absent, unless `is` is `equals`");
            condition.blame(VALUE, error);
            return None;
        }
    };
    Some(Test::Query(QueryTest { name: name?, is }))
}

/// `is` of a query, before its value is known.
enum Is {
    Equals,
    Other(QueryIs),
}

fn parse_is(text: &str) -> Result<Is, FieldError> {
    match text {
        "present" => Ok(Is::Other(QueryIs::Present)),
        "absent" => Ok(Is::Other(QueryIs::Absent)),
        "equals" => Ok(Is::Equals),
        _ => {
            let message = format!("must be one of {}", QueryIs::NAMES.join(", "));
            Err(FieldError::new(ViolationCode::InvalidValue, message))
        }
    }
}

fn instant(name: &'static str, description: &'static str) -> impl Field<Timestamp> {
    field(name, text(Timestamp::parse), move || {
        string(&format!("{description} With `Z` or an offset."))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples(["2026-12-24T18:00:00+01:00"])
    })
}

fn time(name: &'static str, description: &'static str) -> impl Field<TimeOfDay> {
    field(name, text(TimeOfDay::parse), move || matching(time_schema(description), TIME_OF_DAY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d133_requests_accept_exactly_the_types_of_the_domain() {
        assert_eq!(TYPES.each_ref().map(|each| each.name), Test::TYPES);
    }
}
