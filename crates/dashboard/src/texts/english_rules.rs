//! Rules of redirects in English.

use signpost_domain::routing::{AgentName, AnyOf, Condition, DateRange, Hours, QueryIs, QueryTest, Test};
use signpost_domain::{LanguageTag, Timestamp};

use super::RuleTexts;
use super::english_analytics::device;
use super::english_countries::country;

pub(super) static RULES: RuleTexts = RuleTexts {
    condition,
    every_visitor: "Every visitor",
    hint: "Tried in this order for each visit. The first one whose conditions all hold decides where the visitor is sent; if none does, it is the target. Rules are changed with the API, and saving the form leaves them as they are.",
    share: |a| format!("{a} %"),
    title: "Rules",
};

fn condition(condition: &Condition, instant: &dyn Fn(Timestamp) -> String) -> String {
    let Condition { test, is_negated } = condition;
    let listed = |what: &str, values: Vec<String>| {
        let is = if *is_negated { "is not" } else { "is" };
        format!("{what} {is} {}", any_of(&values))
    };
    match test {
        Test::Country(any) => listed("Country", texts(any, |it| country(it.as_str()).unwrap_or(it.as_str()))),
        Test::Device(any) => listed("Device", texts(any, |it| device(it.as_str()).unwrap_or(it.as_str()))),
        Test::Os(any) => listed("Operating system", texts(any, AgentName::as_str)),
        Test::Browser(any) => listed("Browser", texts(any, AgentName::as_str)),
        Test::Language(any) => listed("Language", texts(any, LanguageTag::as_str)),
        Test::Date(range) => date(*range, *is_negated, instant),
        Test::Hours(it) if *is_negated => format!("Except {}", hours(it)),
        Test::Hours(it) => hours(it),
        Test::Query(it) => query(it, *is_negated),
        Test::Referrer(any) => {
            listed("Referrer", texts(any, |it| if it.as_str().is_empty() { "none" } else { it.as_str() }))
        }
        Test::Network(any) => listed("Network", any.iter().map(ToString::to_string).collect()),
    }
}

fn texts<'a, T>(any: &'a AnyOf<T>, text: impl Fn(&'a T) -> &'a str) -> Vec<String> {
    any.iter().map(|value| text(value).to_owned()).collect()
}

/// The values as a sentence lists them: `a, b or c`.
fn any_of(values: &[String]) -> String {
    match values {
        [] => String::new(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} or {last}", others.join(", ")),
    }
}

fn date(range: DateRange, is_negated: bool, instant: &dyn Fn(Timestamp) -> String) -> String {
    match (range.from().map(instant), range.until().map(instant), is_negated) {
        (Some(from), Some(until), false) => format!("From {from} until {until}"),
        (Some(from), Some(until), true) => format!("Before {from}, or from {until} on"),
        (Some(from), None, false) | (None, Some(from), true) => format!("From {from} on"),
        (None, Some(until), false) | (Some(until), None, true) => format!("Until {until}"),
        (None, None, false) => "At any time".to_owned(),
        (None, None, true) => "At no time".to_owned(),
    }
}

fn hours(hours: &Hours) -> String {
    let Hours { timezone, days, from, until } = hours;
    let names: Vec<&str> = days.iter().map(|day| day_name(day.number())).collect();
    let end = if until <= from { "of the next day " } else { "" };
    format!("{} from {from} to {until} {end}in the time zone {}", names.join(", "), timezone.as_str())
}

/// The name of a day, from Monday, 1, to Sunday, 7.
const fn day_name(number: u8) -> &'static str {
    match number {
        1 => "Mon",
        2 => "Tue",
        3 => "Wed",
        4 => "Thu",
        5 => "Fri",
        6 => "Sat",
        _ => "Sun",
    }
}

fn query(query: &QueryTest, is_negated: bool) -> String {
    let name = query.name.as_str();
    match (&query.is, is_negated) {
        (QueryIs::Present, false) | (QueryIs::Absent, true) => format!("The parameter {name} is there"),
        (QueryIs::Absent, false) | (QueryIs::Present, true) => format!("The parameter {name} is not there"),
        (QueryIs::Equals(value), false) => format!("The parameter {name} is “{}”", value.as_str()),
        (QueryIs::Equals(value), true) => format!("The parameter {name} is not “{}”", value.as_str()),
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::CountryCode;
    use signpost_domain::routing::{
        Device, Network, QueryText, ReferrerHost, TimeOfDay, Weekday, Weekdays, ZoneName,
    };

    use super::*;

    fn words(test: Test, is_negated: bool) -> String {
        condition(&Condition { test, is_negated }, &|instant| instant.to_string())
    }

    fn any<T: Clone + Eq + std::hash::Hash>(values: Vec<T>) -> AnyOf<T> {
        AnyOf::new(values, 20).unwrap()
    }

    #[test]
    fn d133_conditions_are_sentences() {
        let countries = any(["DE", "AT", "FR"].map(|code| CountryCode::parse(code).unwrap()).to_vec());
        assert_eq!(words(Test::Country(countries.clone()), false), "Country is Germany, Austria or France");
        assert_eq!(words(Test::Country(countries), true), "Country is not Germany, Austria or France");
        assert_eq!(words(Test::Device(any(vec![Device::Mobile])), false), "Device is Phone");
        let hosts = ["example.com", ""].map(|host| ReferrerHost::parse(host).unwrap());
        assert_eq!(words(Test::Referrer(any(hosts.to_vec())), false), "Referrer is example.com or none");
        let network = Network::parse("192.0.2.0/24").unwrap();
        assert_eq!(words(Test::Network(any(vec![network])), true), "Network is not 192.0.2.0/24");

        let at = |text| Some(Timestamp::parse(text).unwrap());
        let (from, until) = (at("2026-12-01T00:00:00Z"), at("2026-12-24T18:00:00Z"));
        for (from, until, sentence, negated) in [
            (
                from,
                until,
                "From 2026-12-01T00:00:00.000Z until 2026-12-24T18:00:00.000Z",
                "Before 2026-12-01T00:00:00.000Z, or from 2026-12-24T18:00:00.000Z on",
            ),
            (from, None, "From 2026-12-01T00:00:00.000Z on", "Until 2026-12-01T00:00:00.000Z"),
            (None, until, "Until 2026-12-24T18:00:00.000Z", "From 2026-12-24T18:00:00.000Z on"),
        ] {
            let test = Test::Date(DateRange::new(from, until).unwrap());
            assert_eq!(words(test.clone(), false), sentence);
            assert_eq!(words(test, true), negated);
        }

        let time = |text| TimeOfDay::parse(text).unwrap();
        let hours = |from, until| {
            Test::Hours(Hours {
                timezone: ZoneName::parse("Europe/Berlin").unwrap(),
                days: Weekdays::new(&[1, 7].map(|day| Weekday::parse(day).unwrap())).unwrap(),
                from: time(from),
                until: time(until),
            })
        };
        let by_day = "Mon, Sun from 09:00 to 17:00 in the time zone Europe/Berlin";
        assert_eq!(words(hours("09:00", "17:00"), false), by_day);
        assert_eq!(words(hours("09:00", "17:00"), true), format!("Except {by_day}"));
        let by_night = "Mon, Sun from 22:00 to 04:00 of the next day in the time zone Europe/Berlin";
        assert_eq!(words(hours("22:00", "04:00"), false), by_night);

        let query = |is| Test::Query(QueryTest { name: QueryText::parse_name("plan").unwrap(), is });
        assert_eq!(words(query(QueryIs::Present), false), "The parameter plan is there");
        assert_eq!(words(query(QueryIs::Present), true), "The parameter plan is not there");
        assert_eq!(words(query(QueryIs::Absent), false), "The parameter plan is not there");
        assert_eq!(words(query(QueryIs::Absent), true), "The parameter plan is there");
        let pro = QueryIs::Equals(QueryText::parse_value("pro").unwrap());
        assert_eq!(words(query(pro.clone()), false), "The parameter plan is “pro”");
        assert_eq!(words(query(pro), true), "The parameter plan is not “pro”");
    }
}
