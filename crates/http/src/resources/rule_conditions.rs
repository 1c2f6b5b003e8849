//! The conditions of rules as the API shows them, and their types: a union in which `type` says which it is (D133).

use serde::Serialize;
use signpost_domain::routing::{
    AgentName, AnyOf, Condition, Device, Hours, Network, QueryIs, QueryTest, ReferrerHost, Test, Weekday,
    Weekdays,
};
use signpost_domain::{LanguageTag, Timestamp};
use utoipa::openapi::schema::{ArrayItems, ObjectBuilder, OneOfBuilder};

use super::rule_condition_requests::{date, hours, listed, not, query};
use crate::schema::{
    Components, LANGUAGE_TAG, Property, TIME_OF_DAY, always, boolean as boolean_schema, closed_object,
    country_pattern, integer, list, matching, named, none_of, one_of_known, only, open_object, shown, string,
    timestamp, trimmed_pattern,
};
use crate::wire::Text;

/// A type of condition.
pub(super) struct ConditionType {
    /// The value of `type`.
    pub(super) name: &'static str,
    description: &'static str,
    /// The component of a condition as it is shown, and the fields that the type has.
    shown: (&'static str, fn() -> Vec<Property>),
    /// The component of a condition as it is sent, and the fields that the type has.
    sent: (&'static str, fn() -> Vec<Property>),
}

/// Every type.
pub(super) static TYPES: [ConditionType; 10] = [
    ConditionType {
        name: "country",
        description: "The visitor is in one of these countries.",
        shown: ("CountryCondition", || vec![listed_shown(country_shown())]),
        sent: ("CountryConditionInput", || {
            listed(Condition::MAX_COUNTRIES, matching(country_shown(), country_pattern()))
        }),
    },
    ConditionType {
        name: "device",
        description: "The visitor has one of these kinds of devices.",
        shown: ("DeviceCondition", || {
            vec![listed_shown(one_of_known(device_schema(), Device::ALL.map(Device::as_str)))]
        }),
        sent: ("DeviceConditionInput", || listed(Condition::MAX_ITEMS, named(DEVICE))),
    },
    ConditionType {
        name: "os",
        description: "The visitor has one of these operating systems.",
        shown: ("OsCondition", || vec![listed_shown(kept(os_schema()))]),
        sent: ("OsConditionInput", || listed(Condition::MAX_ITEMS, sent(os_schema()))),
    },
    ConditionType {
        name: "browser",
        description: "The visitor has one of these browsers.",
        shown: ("BrowserCondition", || vec![listed_shown(kept(browser_schema()))]),
        sent: ("BrowserConditionInput", || listed(Condition::MAX_ITEMS, sent(browser_schema()))),
    },
    ConditionType {
        name: "language",
        description: "The language that the visitor likes best is one of these.",
        shown: ("LanguageCondition", || vec![listed_shown(language_shown())]),
        sent: ("LanguageConditionInput", || {
            let item = matching(language_shown(), LANGUAGE_TAG).max_length(Some(LanguageTag::MAX_CHARS));
            listed(Condition::MAX_ITEMS, item)
        }),
    },
    ConditionType {
        name: "date",
        description: "The visit is between two instants.",
        shown: ("DateCondition", DateBody::properties),
        sent: ("DateConditionInput", date),
    },
    ConditionType {
        name: "hours",
        description: "The visit is at these hours of these days, by the clocks of a time zone. An hour that clocks skip never matches.",
        shown: ("HoursCondition", HoursBody::properties),
        sent: ("HoursConditionInput", hours),
    },
    ConditionType {
        name: "query",
        description: "The visitor opened the link with this parameter, or without it.",
        shown: ("QueryCondition", QueryBody::properties),
        sent: ("QueryConditionInput", query),
    },
    ConditionType {
        name: "referrer",
        description: "The visitor comes from a page on one of these hosts.",
        shown: ("ReferrerCondition", || vec![listed_shown(referrer_schema())]),
        sent: ("ReferrerConditionInput", || listed(Condition::MAX_ITEMS, referrer_schema())),
    },
    ConditionType {
        name: "network",
        description: "The visitor's address is in one of these networks.",
        shown: ("NetworkCondition", || vec![listed_shown(network_schema())]),
        sent: ("NetworkConditionInput", || listed(Condition::MAX_ITEMS, network_schema())),
    },
];

/// The field with the values of which one must hold.
const LISTED: &str = AnyOf::<()>::FIELD;

/// A condition as the API shows it.
#[derive(Serialize)]
pub(super) struct ConditionBody {
    #[serde(flatten)]
    test: TestBody,
    not: bool,
}

/// The fields by type.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum TestBody {
    Country(ListedBody),
    Device(ListedBody),
    Os(ListedBody),
    Browser(ListedBody),
    Language(ListedBody),
    Date(DateBody),
    Hours(HoursBody),
    Query(QueryBody),
    Referrer(ListedBody),
    Network(ListedBody),
}

/// The values of which one must hold. The types describe them differently.
#[derive(Serialize)]
struct ListedBody {
    #[serde(rename = "in")]
    values: Vec<String>,
}

shown! {
    struct DateBody {
        from: Option<Text<Timestamp>> = timestamp("From this instant on; UTC. Null: from ever."),
        until: Option<Text<Timestamp>> = timestamp("Before this instant; UTC. Null: for ever."),
    }
}

shown! {
    struct HoursBody {
        timezone: String = zone_schema("The time zone, in the spelling of the IANA database."),
        days: Vec<u8> = list("The days on which the hours begin, from Monday, 1, to Sunday, 7.", day_schema())
            .min_items(Some(1))
            .max_items(Some(Weekdays::MAX)),
        from: String = matching(time_schema("When the hours begin."), TIME_OF_DAY),
        until: String = matching(time_schema(ABOUT_END), TIME_OF_DAY),
    }
}

shown! {
    struct QueryBody {
        name: String = string("The name of the parameter.").min_length(Some(1)).examples(["plan"]),
        is: &'static str = one_of_known(is_schema(), QueryIs::NAMES),
        value: Option<String> = string("The value that the parameter has. Null unless `is` is `equals`.").examples(["pro"]),
    }
}

impl From<&Condition> for ConditionBody {
    fn from(condition: &Condition) -> Self {
        let Condition { test, is_negated } = condition;
        let test = match test {
            Test::Country(any) => TestBody::Country(ListedBody::new(any, |it| it.as_str())),
            Test::Device(any) => TestBody::Device(ListedBody::new(any, |it| it.as_str())),
            Test::Os(any) => TestBody::Os(ListedBody::new(any, AgentName::as_str)),
            Test::Browser(any) => TestBody::Browser(ListedBody::new(any, AgentName::as_str)),
            Test::Language(any) => TestBody::Language(ListedBody::new(any, LanguageTag::as_str)),
            Test::Date(range) => {
                TestBody::Date(DateBody { from: range.from().map(Text), until: range.until().map(Text) })
            }
            Test::Hours(hours) => TestBody::Hours(HoursBody::from(hours)),
            Test::Query(query) => TestBody::Query(QueryBody::from(query)),
            Test::Referrer(any) => TestBody::Referrer(ListedBody::new(any, ReferrerHost::as_str)),
            Test::Network(any) => TestBody::Network(ListedBody::new(any, Network::to_string)),
        };
        Self { test, not: *is_negated }
    }
}

impl ListedBody {
    fn new<'a, T, S: Into<String>>(any: &'a AnyOf<T>, shown: impl Fn(&'a T) -> S) -> Self {
        Self { values: any.as_slice().iter().map(|value| shown(value).into()).collect() }
    }
}

impl From<&Hours> for HoursBody {
    fn from(hours: &Hours) -> Self {
        let Hours { timezone, days, from, until } = hours;
        Self {
            timezone: timezone.as_str().to_owned(),
            days: days.iter().map(Weekday::number).collect(),
            from: from.to_string(),
            until: until.to_string(),
        }
    }
}

impl From<&QueryTest> for QueryBody {
    fn from(query: &QueryTest) -> Self {
        let value = match &query.is {
            QueryIs::Present | QueryIs::Absent => None,
            QueryIs::Equals(value) => Some(value.as_str().to_owned()),
        };
        Self { name: query.name.as_str().to_owned(), is: query.is.name(), value }
    }
}

fn listed_shown(item: impl Into<ArrayItems>) -> Property {
    always(LISTED, list("The values, of which one must hold.", item).min_items(Some(1)))
}

fn country_shown() -> ObjectBuilder {
    string("A country code of ISO 3166-1 (alpha-2). Requests may have it in lower case.").examples(["DE"])
}

fn device_schema() -> ObjectBuilder {
    string("A kind of device, as analytics names it.")
}

fn os_schema() -> ObjectBuilder {
    string("An operating system, as analytics names it. Case does not matter.").examples(["iOS", "Android"])
}

fn browser_schema() -> ObjectBuilder {
    string("A browser, as analytics names it. Case does not matter.").examples(["Firefox"])
}

/// The name of a program in a request. White space around it is dropped.
fn sent(name: ObjectBuilder) -> ObjectBuilder {
    matching(name, trimmed_pattern(AgentName::MAX_CHARS))
}

/// The name of a program in an answer.
fn kept(name: ObjectBuilder) -> ObjectBuilder {
    name.min_length(Some(1)).max_length(Some(AgentName::MAX_CHARS))
}

fn language_shown() -> ObjectBuilder {
    string("A language tag of BCP 47: `de` also means `de-AT`. Case does not matter.").examples(["de"])
}

fn referrer_schema() -> ObjectBuilder {
    string(
        "A host, with the hosts under it. Case and one final dot do not matter, and an international name may be in ASCII or in \
         Unicode. Empty: visitors who come from no page.",
    )
    .examples(["example.com", ""])
}

fn network_schema() -> ObjectBuilder {
    string("A network in CIDR notation, or one address.")
        .min_length(Some(1))
        .examples(["192.0.2.0/24", "2001:db8::/32"])
}

pub(super) fn zone_schema(description: &str) -> ObjectBuilder {
    string(description).examples(["Europe/Berlin"])
}

pub(super) fn day_schema() -> ObjectBuilder {
    integer().minimum(Some(1)).maximum(Some(7)).description(Some("A day of the week: Monday is 1, Sunday 7."))
}

pub(super) const ABOUT_END: &str = "When the hours end. At or before `from`, it is a time of the next day.";

pub(super) fn time_schema(description: &str) -> ObjectBuilder {
    string(&format!("{description} `HH:MM`, from `00:00` to `23:59`.")).examples(["09:00"])
}

fn is_schema() -> ObjectBuilder {
    string("What must be so: the parameter is there, it is not, or it has the value.")
}

/// The components of choices in requests.
const DEVICE: &str = "DeviceKind";
pub(super) const QUERY_TEST: &str = "QueryTest";

/// The component of conditions that this version does not know.
const UNKNOWN: &str = "UnknownCondition";

/// The components of the OpenAPI document about conditions.
pub(super) fn components() -> Components {
    // Unions without a discriminator, as those of widgets are (D35).
    let shown = OneOfBuilder::new()
        .description(Some("A condition of a rule. An open list of types, which may also get more fields."));
    let shown = TYPES.iter().fold(shown, |union, each| union.item(named(each.shown.0))).item(named(UNKNOWN));
    let sent = OneOfBuilder::new().description(Some("A condition of a rule."));
    let sent = TYPES.iter().fold(sent, |union, each| union.item(named(each.sent.0)));
    let unknown = [
        always(
            "type",
            string("The type of the condition.")
                .pattern(Some(none_of(&TYPES.each_ref().map(|each| each.name)))),
        ),
        not_shown(),
    ];
    let unions = [
        ("Condition", shown.into()),
        (UNKNOWN, open_object("A condition of a type that only newer versions have.", unknown).into()),
        ("ConditionInput", sent.into()),
        (DEVICE, device_schema().enum_values(Some(Device::ALL.map(Device::as_str))).into()),
        (QUERY_TEST, is_schema().enum_values(Some(QueryIs::NAMES)).into()),
    ];
    let each = TYPES.iter().flat_map(|ConditionType { name, description, shown, sent }| {
        let (shown_name, shown_fields) = shown;
        let (sent_name, sent_fields) = sent;
        let shown = [tag(name)].into_iter().chain(shown_fields()).chain([not_shown()]);
        let sent = [tag(name)].into_iter().chain(sent_fields()).chain([not()]);
        [
            (*shown_name, open_object(description, shown).into()),
            (*sent_name, closed_object(description, sent).into()),
        ]
    });
    unions.into_iter().chain(each).collect()
}

/// The description of `not`.
pub(super) const NOT: &str = "Whether the condition must not hold. What is not known of a visitor, such as the country, fails the condition either way.";

fn tag(name: &'static str) -> Property {
    // Programs in Go check patterns but no constants.
    always("type", only(string("The type of the condition."), name).pattern(Some(format!("^{name}$"))))
}

fn not_shown() -> Property {
    always("not", boolean_schema(NOT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d133_the_document_has_exactly_the_types_of_the_domain() {
        assert_eq!(TYPES.each_ref().map(|each| each.name), Test::TYPES);
    }
}
