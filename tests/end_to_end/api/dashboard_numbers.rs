//! The numbers of statistics: those of a chart, its table and its file are those of the API (D45 to D51).
//!
//! The page and the file come from the first node, and the answers of the API from the last.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{ToSpan as _, Zoned};
use serde_json::{Value, json};
use signpost_domain::Timestamp;
use signpost_domain::analytics::{Dimension, RecordedKind};

use crate::harness::{Account, DomainScene, EarlierVisits, Person, Program, store_visits};

const HOST: &str = "go.shop.test";

/// The zone of the person, whose days begin at other instants than those of UTC.
const ZONE: &str = "Europe/Berlin";

/// How long the period is, and the one before it.
const DAYS: i64 = 9;

/// The measures: their name in the API and on the page, and the word for one.
const MEASURES: [[&str; 2]; 4] =
    [["clicks", "click"], ["visitors", "visitor"], ["bots", "bot"], ["blocked", "blocked"]];

/// The parts of every page, with their dimensions.
const PARTS: [[&str; 2]; 2] = [
    ["sources", "channel,referrer,utm_source,utm_medium,utm_campaign"],
    ["devices", "country,device,os,browser,language"],
];

/// What statistics can be about: a page, the path of the API, the dimension that others lack, and what limits the links, on the page and
/// there.
struct Subject {
    page: String,
    api: String,
    targets: &'static str,
    on_page: String,
    in_api: String,
}

#[test]
fn d46_chart_table_file_and_api_agree_about_account_links_group_and_domain() {
    let scene = DomainScene::start();
    let (mut person, account) = Person::owner(scene.first());
    let key = scene.first().issue_key(&account);
    let [first, last] = [scene.first(), scene.last()].map(|node| node.with_key(&key));
    scene.activate(&first, HOST);
    let group = first.create_group("Autumn")["id"].as_str().unwrap().to_owned();
    let link = |fields: Value| {
        let mut body = json!({"name": "A link", "target_url": "https://example.com/"});
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        first.create_redirect(&body)["id"].as_str().unwrap().to_owned()
    };
    let links = [json!({"group_id": group}), json!({"domain": HOST}), json!({})].map(link);
    let widgets = json!([{"type": "link", "title": "=Our, shop", "url": "https://shop.example.com/"}]);
    let page = json!({"title": "A page", "slug": "page", "widgets": widgets});
    let page = first.post("/v1/landings", &page).expect_status(201).body;
    let [page, widget] = [&page["id"], &page["widgets"][0]["id"]].map(|id| id.as_str().unwrap());
    store(scene.first(), &account, &links, [page, widget]);

    let of_account = |on_page: String, in_api: String| Subject {
        page: format!("/{account}/analytics"),
        api: "/v1/analytics".to_owned(),
        targets: "link",
        on_page,
        in_api,
    };
    let subjects = [
        of_account(String::new(), String::new()),
        Subject {
            page: format!("/{account}/links/{}/analytics", links[0]),
            api: format!("/v1/redirects/{}/analytics", links[0]),
            targets: "rule",
            ..of_account(String::new(), String::new())
        },
        of_account(format!("&group={group}"), format!("&group_id={group}")),
        of_account(format!("&domain={HOST}"), format!("&domain={HOST}")),
        Subject {
            page: format!("/{account}/links/{page}/analytics"),
            api: format!("/v1/landings/{page}/analytics"),
            targets: "widget",
            ..of_account(String::new(), String::new())
        },
    ];
    let [all, of_link, of_group, of_domain, of_page] =
        subjects.map(|subject| compare(&mut person, &last, &subject));
    // The group has the one link, and the account has a third one.
    assert_eq!(of_link, of_group);
    let others = of_link + of_domain + of_page;
    assert!(of_link != of_domain && all > 1_000 && all > others, "{all} {of_link} {of_domain} {of_page}");
}

/// Visits of forty days, until yesterday: of redirects, and of a page whose visitors follow its widget.
fn store(program: &Program, account: &str, links: &[String], [page, widget]: [&str; 2]) {
    let zone = TimeZone::get(ZONE).unwrap();
    let last = Zoned::now().with_time_zone(zone).start_of_day().unwrap().timestamp().as_millisecond();
    let countries = ["DE", "AT", "", "CH", "FR", "IT", "ES"];
    // A spreadsheet would run two of them as formulas.
    let campaigns = ["=1+1", "autumn, part \"2\"", "-50%", ""];
    let rules = ["german", "try.new", ""];
    let values: Vec<[(Dimension, &str); 5]> = (0..28)
        .map(|number| {
            [
                (Dimension::Country, countries[number % 7]),
                (Dimension::UtmCampaign, campaigns[number % 4]),
                (Dimension::Device, ["desktop", "mobile"][number % 2]),
                (Dimension::Channel, ["direct", "email", "organic_search"][number % 3]),
                (Dimension::Rule, rules[number % 3]),
            ]
        })
        .collect();
    let [of_page, of_widget] = [[(Dimension::Country, "DE")], [(Dimension::Widget, widget)]];
    let mut visits: Vec<_> = (0..900_usize)
        .map(|number| {
            let millis = i64::try_from(number * number % 960 * 3_600_000 + number * 1_000 + 1).unwrap();
            EarlierVisits {
                account,
                link: &links[number % 3],
                at: Timestamp::from_unix_millis(last - millis).unwrap(),
                kind: match number % 11 {
                    7 => RecordedKind::Bot,
                    8 => RecordedKind::Blocked,
                    _ => RecordedKind::Click,
                },
                visitor: u8::try_from(number % 37).unwrap(),
                times: number % 13 + 1,
                values: &values[number % 28],
            }
        })
        .collect();
    visits.extend((0..240_usize).map(|number| {
        let millis = i64::try_from(number * 4 * 3_600_000 + number * 1_000 + 1).unwrap();
        let (kind, values) = match number % 5 {
            2 => (RecordedKind::Widget, &of_widget),
            3 => (RecordedKind::Bot, &of_page),
            4 => (RecordedKind::Blocked, &of_page),
            _ => (RecordedKind::Click, &of_page),
        };
        EarlierVisits {
            account,
            link: page,
            at: Timestamp::from_unix_millis(last - millis).unwrap(),
            kind,
            visitor: u8::try_from(number % 7).unwrap(),
            times: number % 3 + 1,
            values,
        }
    }));
    store_visits(program, &visits);
}

/// Compares the page of a subject, for each measure and part, with its file and with the API. Returns the clicks of the period.
fn compare(person: &mut Person, api: &Account, subject: &Subject) -> u64 {
    let zone = TimeZone::get(ZONE).unwrap();
    // Until the day before yesterday, so that the days stay the same while the test runs.
    let to = Zoned::now().with_time_zone(zone).date().checked_sub(2.days()).unwrap();
    let from = to.checked_sub((DAYS - 1).days()).unwrap();
    let earlier = |date: Date| date.checked_sub(DAYS.days()).unwrap();
    let mut clicks = 0;
    for (number, measure) in MEASURES.into_iter().enumerate() {
        let [part, dimensions] = PARTS.get(number).copied().unwrap_or(["targets", subject.targets]);
        let ask = |from, to| ask(api, subject, [from, to], dimensions);
        let (report, previous) = (ask(from, to), ask(earlier(from), earlier(to)));
        let choice = &subject.on_page;
        let query = format!("?range=dates&from={from}&to={to}&show={}&part={part}{choice}", measure[0]);
        let page = person.get(&format!("{}{query}", subject.page)).expect_status(200);
        assert_page(&page.body.replace('\u{a0}', " "), measure, &report, &previous, &query);
        let file = person.get(&format!("{}.csv{query}", subject.page)).expect_status(200).body;
        let mut lines: Vec<&str> = file.trim_end().split("\r\n").collect();
        let (first, last) = (format!("first_day,{from},,,,,"), format!("last_day,{to},,,,,"));
        let about: Vec<&str> = lines.drain(1..4 + choice.matches('&').count()).collect();
        assert_eq!(about[..3], [first, last, format!("time_zone,{ZONE},,,,,")], "{query}");
        assert!(about[3..].iter().all(|line| line.starts_with("filter,")), "{query}: {about:?}");
        assert_eq!(lines, lines_of_file(&report, &previous, dimensions, &names_on(&page.body)), "{query}");
        clicks = count(&report["totals"], "clicks");
        assert!(clicks > 0 && count(&previous["totals"], measure[0]) > 0, "{query}: {previous}");
    }
    clicks
}

/// What the API answers about these days.
fn ask(api: &Account, subject: &Subject, [from, to]: [Date; 2], dimensions: &str) -> Value {
    let midnight = |date: Date| {
        let zone = TimeZone::get(ZONE).unwrap();
        date.to_zoned(zone).unwrap().timestamp().as_millisecond()
    };
    let (start, end) = (midnight(from), midnight(to.tomorrow().unwrap()) - 1);
    let (path, choice) = (&subject.api, &subject.in_api);
    let query = format!("start_date={start}&end_date={end}&timezone={ZONE}&interval=day&limit=5{choice}");
    let report = api.get(&format!("{path}?{query}&dimensions={dimensions}")).expect_status(200).body;
    assert_eq!(report["series"].as_array().unwrap().len(), usize::try_from(DAYS).unwrap());
    report
}

fn count(counts: &Value, measure: &str) -> u64 {
    counts[measure].as_u64().unwrap()
}

/// A number as people read it.
fn shown(number: u64) -> String {
    let (thousands, rest) = (number / 1_000, number % 1_000);
    assert!(thousands < 1_000, "the samples are smaller");
    if thousands == 0 { rest.to_string() } else { format!("{thousands},{rest:03}") }
}

/// The texts between two marks.
fn between(body: &str, start: &str, end: &str) -> Vec<String> {
    body.split(start).skip(1).map(|rest| rest.split(end).next().unwrap().to_owned()).collect()
}

fn series(report: &Value) -> impl Iterator<Item = &Value> {
    report["series"].as_array().unwrap().iter()
}

/// The day of a bucket, as people read it.
fn day(bucket: &Value) -> String {
    let start: jiff::Timestamp = bucket["start"].as_str().unwrap().parse().unwrap();
    start.to_zoned(TimeZone::get(ZONE).unwrap()).strftime("%-d %b %Y").to_string()
}

fn assert_page(body: &str, measure: [&str; 2], report: &Value, previous: &Value, query: &str) {
    let counts = |of: &Value| MEASURES.map(|[name, _]| shown(count(of, name)));
    assert_eq!(between(body, "<b class=\"big\">", "<"), counts(&report["totals"]), "{query}");
    let changes = between(body, "</b><small>", " before</small>");
    let before: Vec<&str> = changes.iter().map(|change| change.split_once(" · ").unwrap().1).collect();
    assert_eq!(before, counts(&previous["totals"]), "{query}");

    let mut marks = vec![];
    let mut rows = vec![];
    for (bucket, earlier) in series(report).zip(series(previous)) {
        let (now, before) = (count(bucket, measure[0]), shown(count(earlier, measure[0])));
        let word = measure[usize::from(now == 1)];
        marks.push(format!("{}: {} {word} (before: {before})", day(bucket), shown(now)));
        let cells = counts(bucket).into_iter().chain([before]);
        rows.push(format!("{}<td>{}", day(bucket), cells.collect::<Vec<_>>().join("<td>")));
    }
    assert_eq!(between(body, "role=\"img\"><title>", "</title>"), marks, "{query}");
    assert_eq!(between(body, "<tr><th scope=\"row\">", "\n"), rows, "{query}");

    let bars = between(body, "<span class=\"num\"><b>", " <a");
    let dimensions = between(body, "<section class=\"box\" id=\"", "\"");
    let values = dimensions.iter().flat_map(|name| report["dimensions"][name].as_array().unwrap());
    let values =
        values.map(|one| format!("{}</b> · {}", shown(count(one, "clicks")), shown(count(one, "visitors"))));
    assert_eq!(bars, values.collect::<Vec<_>>(), "{query}");
    assert!(!bars.is_empty(), "{query}");
}

/// What a page calls the values that it has bars of, in its order.
fn names_on(body: &str) -> Vec<String> {
    let bars = body.split("</bdi></a><span class=\"num\">");
    let mut names: Vec<String> = bars
        .map(|before| before.rsplit("<bdi>").next().unwrap())
        .map(|name| name.replace("&#34;", "\"").replace("&#38;", "&"))
        .collect();
    names.pop();
    names
}

/// The file, from the answers of the API and the names on the page.
fn lines_of_file(report: &Value, previous: &Value, dimensions: &str, names: &[String]) -> Vec<String> {
    let row = |part: &str, value: &str, counts: &Value, name: &str| {
        let counts = MEASURES.map(|[name, _]| counts[name].as_u64().map(|count| count.to_string()));
        let counts = counts.map(Option::unwrap_or_default).join(",");
        format!("{part},{value},{counts},{name}")
    };
    let mut lines = vec!["part,value,clicks,visitors,bots,blocked,name".to_owned()];
    for (prefix, report) in [("", report), ("previous_", previous)] {
        lines.push(row(&format!("{prefix}total"), "", &report["totals"], ""));
        let of_buckets = series(report)
            .map(|bucket| row(&format!("{prefix}series"), bucket["start"].as_str().unwrap(), bucket, ""));
        lines.extend(of_buckets);
    }
    let mut names = names.iter();
    for dimension in dimensions.split(',') {
        let values = report["dimensions"][dimension].as_array().unwrap();
        lines.extend(values.iter().map(|one| {
            let name = names.next().expect("each value has a bar");
            row(dimension, &cell(one["value"].as_str().unwrap()), one, &cell(name))
        }));
    }
    assert_eq!(names.next(), None);
    lines
}

/// A value that a spreadsheet takes as a text.
fn cell(value: &str) -> String {
    let runs = value.starts_with(['=', '+', '-', '@']);
    let value = if runs { format!("'{value}") } else { value.to_owned() };
    if value.contains([',', '"']) { format!("\"{}\"", value.replace('"', "\"\"")) } else { value }
}
