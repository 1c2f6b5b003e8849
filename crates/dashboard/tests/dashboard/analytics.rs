//! Statistics: the numbers of pages are those of the API, and every state has a clear text (D45 to D51).

use std::collections::BTreeMap;
use std::time::Duration;

use signpost_app::admission::{SignedIn, enter};
use signpost_app::analytics::{Asked, LinkChoice, of_account};
use signpost_app::{Caller, Operator, accounts};
use signpost_domain::analytics::{
    Buckets, Dimension, DimensionFilter, Interval, Period, RecordedClick, RecordedKind, Report,
    ReportSubject, TimeZone, Values, VisitorHash,
};
use signpost_domain::{LinkId, PlanName, Role, SecretToken, Timestamp};

use crate::harness::{Answer, Browser, Dashboard};

pub const HOUR: u64 = 3_600;

/// A dashboard whose account has visits of the last 40 days, and the id of the link that got them.
pub async fn visited() -> (Dashboard, Browser, String) {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let id = link(&editor, "autumn", true).await;
    dashboard.memory.clock.advance(Duration::from_secs(40 * 24 * HOUR));
    let now = dashboard.app.clock.now();
    for number in 0..400_u64 {
        let kind = match number % 9 {
            7 => RecordedKind::Bot,
            8 => RecordedKind::Blocked,
            _ => RecordedKind::Click,
        };
        let at = now.minus(Duration::from_secs(number * number % 960 * HOUR + number));
        let country = ["DE", "AT", "", "CH"][usize::try_from(number % 4).unwrap()];
        let campaign = ["=1+1", "autumn, part 2", "-50%"][usize::try_from(number % 3).unwrap()];
        record(&dashboard, &id, at, kind, u8::try_from(number % 31).unwrap(), country, campaign);
    }
    // Sessions end meanwhile.
    let viewer = dashboard.member("viewer@example.com", Role::Viewer).await;
    (dashboard, viewer, id)
}

async fn link(editor: &Browser, slug: &str, counts: bool) -> String {
    let mut form = vec![
        ("kind", "redirect"),
        ("target_url", "https://example.com/"),
        ("slug", slug),
        ("name", slug),
        ("is_active", "on"),
    ];
    if counts {
        form.push(("analytics_enabled", "on"));
    }
    editor.post(&editor.dashboard.path("links"), &form).await.followed_id()
}

pub fn record(
    dashboard: &Dashboard,
    link: &str,
    at: Timestamp,
    kind: RecordedKind,
    visitor: u8,
    country: &str,
    campaign: &str,
) {
    let mut values = [""; Dimension::RECORDED.len()];
    values[Dimension::Channel.recorded_place().unwrap()] = "organic_search";
    values[Dimension::Country.recorded_place().unwrap()] = country;
    values[Dimension::UtmCampaign.recorded_place().unwrap()] = campaign;
    dashboard.memory.click_store.record([RecordedClick {
        at,
        account: dashboard.account,
        link: link.parse::<LinkId>().unwrap(),
        kind,
        visitor: VisitorHash([visitor; 6]),
        values: Values(values),
    }]);
}

async fn caller(browser: &Browser) -> Caller {
    let Dashboard { app, account, .. } = &browser.dashboard;
    let token = SecretToken::parse(&browser.token()).unwrap();
    let entered: (SignedIn, Caller) =
        enter(app, Some(&token), *account, "203.0.113.9".parse().unwrap()).await.unwrap();
    entered.1
}

/// What the API's use case answers to the command that the page shows.
async fn same_by_use_case(browser: &Browser, page: &Answer) -> (Vec<Timestamp>, Report) {
    let (_, command) = page.body.split_once("curl &#39;https://api.example.com/v1/analytics?").unwrap();
    let query = command.split("&#39;").next().unwrap().replace("&#38;", "&");
    let parameters: BTreeMap<String, String> =
        url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let at = |name: &str| Timestamp::from_unix_millis(parameters[name].parse().unwrap()).unwrap();
    let period = Period::new(at("start_date"), at("end_date")).unwrap();
    let zone = TimeZone::parse(&parameters["timezone"]).unwrap();
    let interval = Interval::parse(&parameters["interval"]).unwrap();
    let buckets = Buckets::cut(period, &zone, interval).unwrap();
    let starts = buckets.starts().to_vec();
    let offered = |dimension| ReportSubject::Account.offers(dimension);
    let filters = Dimension::ALL.into_iter().filter_map(|each| Some((each, parameters.get(each.as_str())?)));
    let asked = Asked {
        period,
        zone,
        buckets,
        dimensions: Dimension::parse_list(&parameters["dimensions"], offered).unwrap(),
        limit: parameters["limit"].parse().unwrap(),
        filters: filters.map(|(each, text)| DimensionFilter::parse(each, text).unwrap()).collect(),
    };
    let app = &browser.dashboard.app;
    let (caller, deadline) = (caller(browser).await, app.analytics.deadline());
    let report = of_account(app, &caller, LinkChoice::default(), asked, deadline).await.unwrap();
    (starts, report)
}

fn with_thousands(count: u64) -> String {
    let text = count.to_string();
    assert!(text.len() < 4, "the samples are small");
    text
}

/// The texts between two marks.
fn between<'a>(body: &'a str, start: &str, end: &str) -> Vec<&'a str> {
    body.split(start).skip(1).map(|rest| rest.split(end).next().unwrap()).collect()
}

#[actix_web::test]
async fn d46_every_number_of_a_page_is_that_of_the_api() {
    let (dashboard, viewer, _) = visited().await;
    for query in [
        "",
        "?part=devices",
        "?part=targets",
        "?range=today&part=devices",
        "?range=7d&interval=hour",
        "?range=90d",
        "?range=12m&interval=week&show=bots&part=devices",
        "?country=DE&country=AT&values=25",
        "?country=-DE&utm_campaign=%5C-50%25&show=visitors",
        "?country=",
    ] {
        let page = viewer.get(&dashboard.path(&format!("analytics{query}"))).await;
        assert_eq!(page.status, 200, "{query}: {}", page.body);
        let (starts, report) = same_by_use_case(&viewer, &page).await;
        let totals = between(&page.body, "<b class=\"big\">", "<");
        let expected =
            [report.totals.clicks, report.totals.visitors, report.totals.bots, report.totals.blocked];
        assert_eq!(totals, expected.map(with_thousands), "{query}");
        let rows: Vec<Vec<&str>> = between(&page.body, "<tr><th scope=\"row\">", "\n")
            .into_iter()
            .map(|row| row.split("<td>").skip(1).take(4).collect())
            .collect();
        let series: Vec<Vec<String>> = report
            .series
            .iter()
            .map(|counts| {
                [counts.clicks, counts.visitors, counts.bots, counts.blocked].map(with_thousands).to_vec()
            })
            .collect();
        assert_eq!(rows, series, "{query}");
        assert_eq!(page.body.matches("<title>").count() - 1, starts.len(), "{query}: each bucket has a mark");
        let bars = between(&page.body, "<span class=\"num\">", "\u{a0}<a");
        let values: Vec<String> = report
            .dimensions
            .iter()
            .flatten()
            .map(|counts| format!("<b>{}</b>\u{a0}·\u{a0}{}", counts.clicks, counts.visitors))
            .collect();
        assert_eq!(bars, values, "{query}");
        assert!(report.totals.clicks > 0 && !values.is_empty(), "{query}");
        let csv = viewer.get(&dashboard.path(&format!("analytics.csv{query}"))).await;
        let mut expected = vec![format!(
            "total,,{},{},{},{},",
            report.totals.clicks, report.totals.visitors, report.totals.bots, report.totals.blocked
        )];
        expected.extend(starts.iter().zip(&report.series).map(|(start, counts)| {
            format!(
                "series,{start},{},{},{},{},",
                counts.clicks, counts.visitors, counts.bots, counts.blocked
            )
        }));
        let lines: Vec<&str> = csv.body.split("\r\n").collect();
        assert_eq!(lines[0], "part,value,clicks,visitors,bots,blocked,name");
        let about = lines[1..].iter().take_while(|line| !line.starts_with("total,")).count();
        assert_eq!(lines[1 + about..][..expected.len()], expected, "{query}");
        // Names here have no commas, unless they are quoted.
        let called = between(&page.body, "<bdi>", "</bdi></a><span class=\"num\">");
        let called = called.into_iter().filter(|name| !name.contains('<'));
        let of_values = lines[1 + about..].iter().filter(|line| line.contains(",,,"));
        let names = of_values.map(|line| line.rsplit_once(",,,").unwrap().1.trim_matches(['"', '\'']));
        assert_eq!(names.collect::<Vec<_>>(), called.collect::<Vec<_>>(), "{query}");
    }
}

/// The link has all visits of the account, so its page has the same numbers.
#[actix_web::test]
async fn d46_the_page_of_a_link_asks_about_the_link() {
    let (dashboard, viewer, id) = visited().await;
    let numbers = |page: &Answer| {
        let marks = [("<b class=\"big\">", "<"), ("<tr><th scope=\"row\">", "\n")];
        marks.map(|(start, end)| {
            between(&page.body, start, end).into_iter().map(str::to_owned).collect::<Vec<_>>()
        })
    };
    let account = viewer.get(&dashboard.path("analytics?range=7d")).await;
    let link = viewer.get(&dashboard.path(&format!("links/{id}/analytics?range=7d"))).await;
    assert_eq!(numbers(&link), numbers(&account));
    assert!(link.body.contains(&format!("/v1/redirects/{id}/analytics?start_date=")), "{}", link.body);
    assert!(link.body.contains("Statistics of autumn"), "{}", link.body);
    let editor = dashboard.member("maker@example.com", Role::Editor).await;
    let form = [("kind", "landing"), ("title", "Page"), ("theme", "auto"), ("analytics_enabled", "on")];
    let landing = editor.post(&dashboard.path("links"), &form).await.followed_id();
    record(&dashboard, &landing, dashboard.app.clock.now(), RecordedKind::Click, 1, "DE", "");
    let page = viewer.get(&dashboard.path(&format!("links/{landing}/analytics?part=targets"))).await;
    assert_eq!(between(&page.body, "<b class=\"big\">", "<"), ["1", "1", "0", "0"]);
    assert!(page.body.contains("<h2>Widgets</h2>") && page.body.contains("No clicks."), "{}", page.body);
    assert!(page.body.contains(&format!("/v1/landings/{landing}/analytics?")), "{}", page.body);
}

#[actix_web::test]
async fn d46_the_chart_draws_each_measure_and_the_period_before() {
    let (dashboard, viewer, _) = visited().await;
    let clicks = viewer.get(&dashboard.path("analytics?range=7d")).await;
    assert_eq!(clicks.body.matches("tabindex=\"0\" role=\"img\"").count(), 7);
    assert!(clicks.body.contains("stroke-dasharray") && clicks.body.contains("class=\"partial\""));
    let titles = between(&clicks.body, "role=\"img\"><title>", "</title>");
    assert!(titles.iter().all(|title| title.contains(" clicks (before: ")), "{titles:?}");
    let bots = viewer.get(&dashboard.path("analytics?range=7d&show=bots")).await;
    assert!(bots.body.contains(" bots (before: ") && !bots.body.contains(" clicks (before: "));
    let csv = viewer.get(&dashboard.path("analytics.csv?range=7d")).await;
    let before = csv.body.lines().find(|line| line.starts_with("previous_total")).unwrap();
    let before = before.split(',').nth(2).unwrap();
    assert!(clicks.body.contains(&format!("{before} before")), "{before}");
    assert_eq!(csv.body.lines().filter(|line| line.starts_with("previous_series")).count(), 7);
}

#[actix_web::test]
async fn d47_every_value_leads_to_its_filter_and_to_its_exclusion() {
    let (dashboard, viewer, id) = visited().await;
    let path = dashboard.path("analytics");
    let page = viewer.get(&path).await;
    let devices = viewer.get(&format!("{path}?part=devices")).await;
    for (page, start, filter) in [
        (&devices, "?part=devices&#38;", "country=DE"),
        (&devices, "?part=devices&#38;", "country=-DE"),
        (&devices, "?part=devices&#38;", "country="),
        (&devices, "?part=devices&#38;", "country=-"),
        (&page, "?", "utm_campaign=%5C-50%25"),
        (&page, "?", "channel=-organic_search"),
    ] {
        assert!(page.body.contains(&format!("href=\"{start}{filter}\"")), "{filter}: {}", page.body);
    }
    let targets = viewer.get(&format!("{path}?part=targets")).await;
    assert!(targets.body.contains("<bdi>autumn</bdi>") && targets.body.contains(&format!("link={id}")));
    let only = viewer.get(&format!("{path}?part=devices&country=DE")).await;
    assert!(only.body.contains("Countries: Germany"), "{}", only.body);
    let selected = "<a href=\"?part=devices\" aria-current=\"true\"><bdi>Germany</bdi></a>";
    assert!(only.body.contains(selected), "{}", only.body);
    let without = viewer.get(&format!("{path}?part=devices&country=-DE")).await;
    assert!(without.body.contains("Countries: not Germany") && !without.body.contains("<bdi>Germany</bdi>"));
    let none = viewer.get(&format!("{path}?country=XX")).await;
    assert!(none.body.contains("No visit in this period matches the filters."), "{}", none.body);
    let mistaken = viewer.get(&format!("{path}?country=a%5Cb")).await;
    assert_eq!(mistaken.status, 422);
    assert!(mistaken.body.contains("Countries: Has a"), "{}", mistaken.body);
    assert!(!mistaken.body.contains("class=\"big\""), "figures without the filter would mislead");
}

#[actix_web::test]
async fn d45_groups_and_domains_limit_the_links() {
    let (dashboard, viewer, _) = visited().await;
    let total = async |query: &str| {
        let page = viewer.get(&dashboard.path(&format!("analytics{query}"))).await;
        assert_eq!(page.status, 200, "{query}");
        between(&page.body, "<b class=\"big\">", "<")[0].to_owned()
    };
    let all = total("").await;
    assert_eq!(total("?group=none").await, all);
    assert_eq!(total("?domain=other.example").await, "0");
    assert_eq!(total("?group=grp_1").await, "0");
    let page = viewer.get(&dashboard.path("analytics?group=none")).await;
    assert!(page.body.contains("group_id=none"), "the command asks the same");
}

#[actix_web::test]
async fn d50_a_link_that_is_not_counted_says_so() {
    let dashboard = Dashboard::start().await;
    let editor = dashboard.member("editor@example.com", Role::Editor).await;
    let silent = link(&editor, "silent", false).await;
    let page = editor.get(&dashboard.path(&format!("links/{silent}/analytics"))).await;
    assert_eq!(page.status, 200);
    assert!(page.body.contains("created with counting turned off"), "{}", page.body);
    let csv = editor.get(&dashboard.path(&format!("links/{silent}/analytics.csv"))).await;
    assert_eq!(csv.status, 409);
    let edit = editor.get(&dashboard.path(&format!("links/{silent}"))).await;
    assert!(!edit.body.contains(&format!("/links/{silent}/analytics")), "{}", edit.body);
    let counted = link(&editor, "counted", true).await;
    let edit = editor.get(&dashboard.path(&format!("links/{counted}"))).await;
    assert!(edit.body.contains(&format!("/links/{counted}/analytics\"")), "{}", edit.body);
    let list = editor.get(&dashboard.path("links")).await;
    assert!(list.body.contains(&format!("\"links/{counted}/analytics\"")), "{}", list.body);
}

#[actix_web::test]
async fn d49_a_plan_cuts_named_periods_and_refuses_long_dates() {
    let (dashboard, viewer, _) = visited().await;
    accounts::set_plan(
        &dashboard.app,
        &Operator::COMMAND,
        dashboard.account,
        &PlanName::parse("free").unwrap(),
    )
    .await
    .unwrap();
    let days = caller(&viewer).await.plan().limits.analytics_days;
    assert!(days < 365, "{days}");
    let cut = viewer.get(&dashboard.path("analytics?range=12m")).await;
    assert_eq!(cut.status, 200);
    assert!(cut.body.contains("Your plan does not reach back further"), "{}", cut.body);
    assert!(cut.body.contains("no longer keeps all of it"), "{}", cut.body);
    let now = dashboard.app.clock.now().to_string();
    let to = now.split('T').next().unwrap();
    let long = format!("?range=dates&from=2000-01-01&to={to}");
    let refused = viewer.get(&dashboard.path(&format!("analytics{long}"))).await;
    assert_eq!(refused.status, 422);
    assert!(
        refused.body.contains(&format!("Your plan shows at most {days} days at a time")),
        "{}",
        refused.body
    );
    let old = viewer.get(&dashboard.path("analytics?range=dates&from=2000-01-01&to=2000-01-02")).await;
    assert_eq!(old.status, 200);
    assert!(old.body.contains("does not keep clicks from before"), "{}", old.body);
    assert!(old.body.contains("This was created on"), "{}", old.body);
}

#[actix_web::test]
async fn d49_mistaken_dates_are_explained_and_kept() {
    let (dashboard, viewer, _) = visited().await;
    for (dates, reason) in [
        ("from=2026-02-30&to=2026-03-01", "From: Must be a date"),
        ("from=&to=2026-03-01", "Choose the first and the last day."),
        ("from=1999-03-02&to=1999-03-01", "must not be after the last"),
        ("from=9000-01-01&to=9000-01-02", "has not begun yet"),
        ("from=9000-01-02&to=9000-01-01", "must not be after the last"),
        (
            "from=2025-01-01&to=2025-12-31&interval=hour",
            "Interval: For a period this long, choose days, weeks or months.",
        ),
        (
            "from=2000-01-01&to=2025-01-01&interval=day",
            "Interval: For a period this long, choose weeks or months.",
        ),
    ] {
        let query = format!("?range=dates&{dates}");
        let page = viewer.get(&dashboard.path(&format!("analytics{query}"))).await;
        assert_eq!(page.status, 422, "{dates}");
        assert!(page.body.contains(reason), "{dates}: {}", page.body);
        let typed = dates.split('&').next().unwrap().replace("from=", "");
        assert!(page.body.contains(&format!("name=\"from\" value=\"{typed}\"")), "{dates}");
        let csv = viewer.get(&dashboard.path(&format!("analytics.csv{query}"))).await;
        assert_eq!(csv.location(), dashboard.path(&format!("analytics{query}")), "the page explains it");
    }
}

#[actix_web::test]
async fn d51_without_the_click_store_the_page_says_so() {
    let (dashboard, viewer, id) = visited().await;
    dashboard.memory.click_store.set_unavailable(true);
    for screen in ["analytics".to_owned(), format!("links/{id}/analytics")] {
        let page = viewer.get(&dashboard.path(&screen)).await;
        assert_eq!((page.status, page.header("retry-after")), (503, "5"));
        assert!(page.body.contains("The statistics cannot be read right now."), "{}", page.body);
        assert_eq!(viewer.get(&dashboard.path(&format!("{screen}.csv"))).await.status, 503);
    }
    dashboard.memory.click_store.set_unavailable(false);
    assert_eq!(viewer.get(&dashboard.path("analytics")).await.status, 200);
}

#[actix_web::test]
async fn an_account_without_visits_says_where_they_will_appear() {
    let dashboard = Dashboard::start().await;
    let owner = dashboard.member("owner@example.com", Role::Owner).await;
    let page = owner.get(&dashboard.path("analytics")).await;
    assert!(page.body.contains("No visits in this period."), "{}", page.body);
    assert!(page.body.contains("href=\"/") && page.body.contains("/analytics\" aria-current=\"page\""));
    let elsewhere = dashboard.account("else@example.com", "agency").await;
    let stranger = dashboard.invited("s@example.com", Some((elsewhere, Role::Owner)), false).await;
    let (_, _, foreign) = visited().await;
    assert_eq!(stranger.get(&format!("/{elsewhere}/links/{foreign}/analytics")).await.status, 404);
}
