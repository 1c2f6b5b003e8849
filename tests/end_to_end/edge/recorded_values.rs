//! What was recorded of a visit is found by the text that was in the link and in the headers (D45, D47).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::harness::{BROWSER, Program};

const HOUR: Duration = Duration::from_hours(1);

#[test]
fn d45_filters_take_the_text_that_was_in_the_link() {
    let program = Program::start();
    let account = program.account("agency");
    let redirect = account.new_redirect();
    let path = format!(
        "/{}?x={}&UTM_Source=Google&amp;utm_medium=CPC",
        redirect["slug"].as_str().unwrap(),
        "y".repeat(600)
    );
    let headers = [
        ("Host", "localhost:8081"),
        ("User-Agent", BROWSER),
        ("Referer", "https://www.Example.com/a"),
        ("Accept-Language", "de-DE,de;q=0.9"),
    ];
    assert_eq!(program.visitor().request("GET", &path, &headers).status, 302);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let range = format!(
        "start_date={}&end_date={}",
        now.checked_sub(HOUR).unwrap().as_millis(),
        (now + HOUR).as_millis()
    );
    let clicks = |filter: &str| {
        let answer = account.get(&format!("/v1/analytics?{range}&{filter}")).expect_status(200);
        answer.body["totals"]["clicks"].as_u64().unwrap()
    };
    let began = Instant::now();
    while clicks("utm_source=google") == 0 {
        assert!(began.elapsed() < Duration::from_mins(1), "the click is not stored");
        std::thread::sleep(Duration::from_millis(50));
    }
    for filter in [
        "utm_source=Google",
        "utm_medium=CPC",
        "referrer=www.example.com",
        "referrer=https://www.Example.com/a",
        "language=de-DE",
        "utm_source=Google&utm_medium=cpc&referrer=example.com&language=de",
    ] {
        assert_eq!(clicks(filter), 1, "{filter}");
    }
    assert_eq!(clicks("utm_source=-Google"), 0);
}
