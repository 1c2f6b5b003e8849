//! The marks of a chart: each has its exact value for the mouse, the keyboard and assistive technology (D46).

use jiff::ToSpan as _;
use jiff::tz::TimeZone;
use serde_json::json;
use signpost_domain::Timestamp;
use signpost_domain::analytics::RecordedKind;

use crate::dashboard::Dashboard;
use crate::harness::{EarlierVisits, store_visits};
use crate::visitor::Visitor;

/// The clicks of the days, from the first to the last. The axis has no label for most of them.
const CLICKS: [usize; 4] = [1_204, 1, 0, 37];

/// A chart with these clicks, and the text of each mark.
fn open_chart(dashboard: &Dashboard) -> Vec<String> {
    let link = json!({"name": "Menu", "slug": "menu", "target_url": "https://www.example.com/menu"});
    let link = dashboard.add_redirects(&[link]).remove(0);
    let zone: String = dashboard.visit("/me").evaluate("document.querySelector('[name=time_zone]').value");
    let zone = TimeZone::get(&zone).unwrap();
    let first =
        jiff::Zoned::now().with_time_zone(zone).start_of_day().unwrap().checked_sub(7.days()).unwrap();
    let (mut visits, mut marks) = (vec![], vec![]);
    for (number, times) in CLICKS.into_iter().enumerate() {
        let noon = &first + i64::try_from(number).unwrap().days() + 12.hours();
        visits.push(EarlierVisits {
            account: &dashboard.account,
            link: &link,
            at: Timestamp::from_unix_millis(noon.timestamp().as_millisecond()).unwrap(),
            kind: RecordedKind::Click,
            visitor: 1,
            times,
            values: &[],
        });
        let counted = ["1,204 clicks", "1 click", "0 clicks", "37 clicks"][number];
        marks.push(format!("{}: {counted} (before: 0)", noon.strftime("%-d %b %Y")));
    }
    store_visits(&dashboard.program, &visits);
    let (from, to) = (first.date(), (&first + 3.days()).date());
    dashboard.screen(&format!("analytics?range=dates&from={from}&to={to}"));
    marks
}

/// The texts of columns that are shown.
fn shown(dashboard: &Dashboard) -> Vec<String> {
    dashboard.tab.evaluate(
        "[...document.querySelectorAll('.plot rect + text')].filter((it) => getComputedStyle(it).visibility == 'visible') \
         .map((it) => it.textContent)",
    )
}

/// With scripts the Tab key stops at the chart once, and the arrow keys go on. Without them it stops at each mark.
fn marks_are_exact(visitor: &Visitor, next: &str) {
    let Some(dashboard) = Dashboard::open(visitor) else { return };
    let tab = &dashboard.tab;
    let marks = open_chart(&dashboard);
    let titles: Vec<String> =
        tab.evaluate("[...document.querySelectorAll('.plot title')].map((it) => it.textContent)");
    assert_eq!(titles, marks);
    assert_eq!(shown(&dashboard), Vec::<String>::new());
    let mark = |number: usize| format!(".plot rect:nth-of-type({})", number + 1);
    for (number, text) in marks.iter().enumerate() {
        tab.hover(&mark(number));
        assert_eq!(shown(&dashboard), [text.as_str()], "the mouse");
    }
    tab.hover("h1");
    dashboard.tab_to(&mark(0));
    for (number, text) in marks.iter().enumerate() {
        if number > 0 {
            tab.press(next);
        }
        assert_eq!(shown(&dashboard), [text.as_str()], "the keyboard");
        assert_eq!(tab.role_and_name(&mark(number)), ["image", text], "assistive technology");
    }
}

#[test]
fn d46_a_mark_says_its_exact_value_to_mouse_keyboard_and_reader() {
    marks_are_exact(&Visitor::default(), "ArrowRight");
}

#[test]
fn d46_a_mark_says_its_exact_value_without_scripts() {
    marks_are_exact(&Visitor::default().without_scripts(), "Tab");
}
