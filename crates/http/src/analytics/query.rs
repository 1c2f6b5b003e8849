//! The parameters of reports and exports (D45, D66).

use signpost_app::analytics::{Asked, AskedClicks, LinkChoice};
use signpost_domain::analytics::{
    Buckets, ClickId, Dimension, DimensionFilter, Interval, MAX_VALUES, Period, ReportSubject, TimeZone,
};
use signpost_domain::{FieldError, HostReference, IdReference, Timestamp, ViolationCode, Violations};
use signpost_link_files::LineFormat;

use crate::extract::{OnlyQuery, QueryString, parse_integer};

/// How many values of a dimension a report lists by default.
const DEFAULT_VALUES: usize = 25;

/// The question of a report, and its parts as the response repeats them.
pub(super) struct QuestionQuery {
    pub(super) asked: Asked,
    pub(super) links: LinkChoice,
    pub(super) interval: Interval,
}

/// An export.
pub(super) struct ExportQuery {
    pub(super) asked: AskedClicks,
    pub(super) links: LinkChoice,
    pub(super) format: LineFormat,
}

/// The parameters that reports and exports share. Invalid ones are `None`, and their violations are recorded.
struct Common {
    period: Option<Period>,
    zone: Option<TimeZone>,
    filters: Vec<DimensionFilter>,
    links: LinkChoice,
}

/// Reads the parameters of a report, and reports all violations at once (D8).
pub(super) fn question(
    input: OnlyQuery,
    subject: ReportSubject,
    now: Timestamp,
) -> Result<QuestionQuery, Violations> {
    let OnlyQuery { mut query, mut violations } = input;
    let Common { period, zone, filters, links } = common(&mut query, subject, now);
    let interval = or_default(&mut query, "interval", Interval::parse);
    let dimensions = query
        .read("dimensions", |text| Dimension::parse_list(text, |each| subject.offers(each)))
        .unwrap_or_default();
    let limit = query.read("limit", parse_limit).unwrap_or(DEFAULT_VALUES);
    let cut = match (period, &zone, interval) {
        (Some(period), Some(zone), Some(interval)) => match Buckets::cut(period, zone, interval) {
            Ok(buckets) => Some((period, interval, buckets)),
            Err(error) => {
                query.refuse("interval", error);
                None
            }
        },
        _ => None,
    };
    violations.append(query.finish());
    let Some(((period, interval, buckets), zone)) = cut.zip(zone) else { return Err(violations) };
    let asked = Asked { period, zone, buckets, dimensions, limit, filters };
    violations.into_result(QuestionQuery { asked, links, interval })
}

/// Reads the parameters of an export, and reports all violations at once (D8).
pub(super) fn export(
    input: OnlyQuery,
    subject: ReportSubject,
    now: Timestamp,
) -> Result<ExportQuery, Violations> {
    let OnlyQuery { mut query, mut violations } = input;
    let Common { period, zone, filters, links } = common(&mut query, subject, now);
    let format = or_default(&mut query, "format", LineFormat::parse).unwrap_or_default();
    let after = query.read("after", |text| {
        text.parse::<ClickId>()
            .map_err(|error| FieldError::new(ViolationCode::InvalidFormat, error.to_string()))
    });
    violations.append(query.finish());
    let Some((period, zone)) = period.zip(zone) else { return Err(violations) };
    let asked = AskedClicks { period, zone, filters, after };
    violations.into_result(ExportQuery { asked, links, format })
}

fn common(query: &mut QueryString, subject: ReportSubject, now: Timestamp) -> Common {
    let start = instant(query, "start_date", Timestamp::from_unix_millis);
    // Any end in the future is cut to now (D49).
    let end = instant(query, "end_date", |millis| {
        Timestamp::from_unix_millis(millis.min(Timestamp::LAST.unix_millis()))
    });
    let period = start.zip(end).and_then(|(start, end)| {
        let period = Period::until_now(start, end, now);
        period.map_err(|error| query.refuse("start_date", error)).ok()
    });
    let zone =
        if query.has("timezone") { query.read("timezone", TimeZone::parse) } else { Some(TimeZone::utc()) };
    let filters = Dimension::ALL
        .into_iter()
        .filter(|dimension| subject.offers(*dimension))
        .filter_map(|each| query.read(each.as_str(), |text| DimensionFilter::parse(each, text)))
        .collect();
    let links = match subject {
        ReportSubject::Link(_) => LinkChoice::default(),
        ReportSubject::Account => LinkChoice {
            group: query.take("group_id").map(|text| (text != "none").then(|| IdReference::parse(&text))),
            domain: query.take("domain").map(|text| HostReference::parse(&text)),
        },
    };
    Common { period, zone, filters, links }
}

/// A required instant, in milliseconds since 1970.
fn instant(
    query: &mut QueryString,
    name: &str,
    read: impl FnOnce(i64) -> Option<Timestamp>,
) -> Option<Timestamp> {
    let text = query.require(name)?;
    let millis = parse_integer(&text).map_err(|_| {
        // What most people write first.
        let date = Timestamp::parse(&text).or_else(|_| Timestamp::parse(&format!("{text}T00:00:00Z")));
        let hint = date.map(|date| format!("; {text} is {}", date.unix_millis())).unwrap_or_default();
        let message = format!("must be an integer, milliseconds since 1970{hint}");
        FieldError::new(ViolationCode::InvalidType, message)
    });
    let instant = millis.and_then(|millis| {
        read(millis).ok_or_else(|| {
            let message = "must be milliseconds since 1970, at most those of the year 9999";
            FieldError::new(ViolationCode::OutOfRange, message)
        })
    });
    instant.map_err(|error| query.refuse(name, error)).ok()
}

/// The value of a parameter or its default; `None` if it is invalid.
fn or_default<T: Default>(
    query: &mut QueryString,
    name: &str,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
) -> Option<T> {
    if query.has(name) { query.read(name, parse) } else { Some(T::default()) }
}

fn parse_limit(text: &str) -> Result<usize, FieldError> {
    let limit = usize::try_from(parse_integer(text)?).ok().filter(|limit| (1..=MAX_VALUES).contains(limit));
    limit.ok_or_else(|| FieldError::new(ViolationCode::OutOfRange, format!("must be from 1 to {MAX_VALUES}")))
}

#[cfg(test)]
mod tests {
    use signpost_domain::{LinkKind, Violation};

    use super::*;

    const NOW: i64 = 1_769_850_307_042;

    fn read(query: &str, subject: ReportSubject) -> Result<QuestionQuery, Violations> {
        let input = OnlyQuery { query: QueryString::parse(query), violations: Violations::new() };
        question(input, subject, Timestamp::from_unix_millis(NOW).unwrap())
    }

    fn found(query: &str, subject: ReportSubject) -> Vec<(String, &'static str)> {
        let violations = read(query, subject).err().unwrap_or_default();
        let mut found: Vec<_> =
            violations.iter().map(|each| (each.field().to_owned(), each.code().as_str())).collect();
        found.sort();
        found
    }

    fn named(expected: &[(&str, &'static str)]) -> Vec<(String, &'static str)> {
        expected.iter().map(|(field, code)| ((*field).to_owned(), *code)).collect()
    }

    #[test]
    fn d45_every_parameter_is_read() {
        let query = "start_date=1769700000000&end_date=99999999999999999&timezone=asia/kathmandu&interval=hour\
             &dimensions=link,country&limit=7&country=-DE,AT&utm_source=&group_id=none&domain=Go.Example.COM";
        let QuestionQuery { asked, links, interval } = read(query, ReportSubject::Account).unwrap();
        let period = asked.period;
        assert_eq!((period.first().unix_millis(), period.last().unix_millis()), (1_769_700_000_000, NOW));
        assert_eq!((asked.zone.name(), interval, asked.limit), ("Asia/Kathmandu", Interval::Hour, 7));
        assert_eq!(asked.dimensions, [Dimension::Link, Dimension::Country]);
        assert_eq!(asked.buckets.starts().len(), 42);
        let filters: Vec<_> = asked.filters.iter().map(|each| (each.dimension, each.excludes)).collect();
        assert_eq!(filters, [(Dimension::Country, true), (Dimension::UtmSource, false)]);
        assert_eq!((links.group, links.domain), (Some(None), Some(HostReference::parse("go.example.com"))));
    }

    #[test]
    fn d45_absent_parameters_have_defaults() {
        let QuestionQuery { asked, links, interval } =
            read("start_date=0&end_date=86399999", ReportSubject::Link(LinkKind::Redirect)).unwrap();
        assert_eq!((asked.zone.name(), interval, asked.limit), ("UTC", Interval::Day, 25));
        assert_eq!((asked.dimensions, asked.filters, links), (vec![], vec![], LinkChoice::default()));
    }

    #[test]
    fn d8_every_violation_of_a_report_is_listed() {
        let all = "timezone=Mars&interval=year&dimensions=city&limit=0&country=a%5Cb&sort=asc&start_date=x";
        let expected = [
            ("country", "invalid_format"),
            ("dimensions", "invalid_value"),
            ("end_date", "required"),
            ("interval", "invalid_value"),
            ("limit", "out_of_range"),
            ("sort", "unknown_field"),
            ("start_date", "invalid_type"),
            ("timezone", "invalid_value"),
        ];
        assert_eq!(found(all, ReportSubject::Account), named(&expected));
        let of_period = format!("start_date={}&end_date=-1&limit=x", NOW + 1);
        assert_eq!(
            found(&of_period, ReportSubject::Account),
            named(&[("end_date", "out_of_range"), ("limit", "invalid_type")])
        );
        let late = format!("start_date={}&end_date={}&interval=x", NOW + 1, NOW + 2);
        assert_eq!(
            found(&late, ReportSubject::Account),
            named(&[("interval", "invalid_value"), ("start_date", "out_of_range")])
        );
        let many = format!("start_date=0&end_date={NOW}&limit=101");
        assert_eq!(
            found(&many, ReportSubject::Account),
            named(&[("interval", "out_of_range"), ("limit", "out_of_range")])
        );
    }

    #[test]
    fn d45_dates_get_a_hint_with_their_number() {
        for (written, expected) in [
            ("2026-01-29", "must be an integer, milliseconds since 1970; 2026-01-29 is 1769644800000"),
            (
                "2026-01-29T01:00:00%2B01:00",
                "must be an integer, milliseconds since 1970; 2026-01-29T01:00:00+01:00 is 1769644800000",
            ),
            ("yesterday", "must be an integer, milliseconds since 1970"),
        ] {
            let query = format!("start_date={written}&end_date=1");
            let violations = read(&query, ReportSubject::Account).err().unwrap();
            let messages: Vec<_> = violations.iter().map(Violation::message).collect();
            assert_eq!(messages, [expected]);
        }
    }

    #[test]
    fn d47_only_landing_pages_offer_widget_and_only_accounts_offer_link() {
        for (subject, widget, link) in [
            (ReportSubject::Link(LinkKind::Redirect), false, false),
            (ReportSubject::Link(LinkKind::Landing), true, false),
            (ReportSubject::Account, false, true),
        ] {
            for (name, offered) in [("widget", widget), ("link", link), ("country", true)] {
                let range = "start_date=0&end_date=1";
                let dimension = found(&format!("{range}&dimensions={name}"), subject);
                let filter = found(&format!("{range}&{name}=x"), subject);
                if offered {
                    assert_eq!((dimension, filter), (vec![], vec![]), "{name} of {subject:?}");
                } else {
                    assert_eq!(dimension, named(&[("dimensions", "invalid_value")]), "{name} of {subject:?}");
                    assert_eq!(filter, named(&[(name, "unknown_field")]), "{name} of {subject:?}");
                }
            }
        }
        let only_account = found(
            "start_date=0&end_date=1&group_id=none&domain=a.com",
            ReportSubject::Link(LinkKind::Landing),
        );
        assert_eq!(only_account, named(&[("domain", "unknown_field"), ("group_id", "unknown_field")]));
    }

    #[test]
    fn d66_an_export_takes_a_format_and_a_position_and_no_buckets() {
        let read = |query: &str| {
            let input = OnlyQuery { query: QueryString::parse(query), violations: Violations::new() };
            export(input, ReportSubject::Account, Timestamp::from_unix_millis(NOW).unwrap())
        };
        let id = format!("clk_{:012x}r{:032x}0", 7, 9);
        let ExportQuery { asked, format, .. } =
            read(&format!("start_date=0&end_date=9&format=csv&after={id}&browser=x")).unwrap();
        assert_eq!((asked.after.unwrap().to_string(), format), (id, LineFormat::Csv));
        assert_eq!(asked.filters.len(), 1);
        assert_eq!(read("start_date=0&end_date=9").unwrap().format, LineFormat::Ndjson);
        let violations =
            read("start_date=0&end_date=9&format=xml&after=clk_1&interval=day&dimensions=os&limit=1")
                .err()
                .unwrap();
        let fields: Vec<_> = violations.iter().map(Violation::field).collect();
        assert_eq!(fields, ["format", "after", "dimensions", "interval", "limit"]);
    }
}
