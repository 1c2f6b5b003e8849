//! Misses (D54, R30).

use serde_json::json;

use crate::harness::{Program, concurrently, redirect_body, within_one_minute};

#[test]
fn d54_after_300_misses_in_a_minute_an_address_gets_429() {
    let counted = within_one_minute(|| {
        let program = Program::start();
        program.first_account().create_redirect(&redirect_body(json!({"slug": "lives"})));
        let visitor = program.visitor();
        let missed =
            (0..400).take_while(|number| visitor.open(&format!("/miss-{number}")).status == 404).count();
        let throttled = visitor.open("/lives");
        (missed, throttled.status, throttled.header("retry-after").map(|after| after.parse::<u32>().unwrap()))
    });
    assert_eq!((counted.0, counted.1), (300, 429));
    assert!((1..=60).contains(&counted.2.unwrap()));
}

#[test]
fn d54_concurrent_misses_are_limited_exactly_and_visits_do_not_count() {
    let (missed, throttled, visited) = within_one_minute(|| {
        let program = Program::builder().setting("miss-throttle-per-minute", "20").start();
        program.first_account().create_redirect(&redirect_body(json!({"slug": "lives"})));
        let visitor = program.visitor();
        let visited = (0..50).filter(|_| visitor.open("/lives").status == 302).count();
        let statuses = concurrently(8, |_| (0..5).map(|_| visitor.open("/miss").status).collect::<Vec<_>>());
        let statuses: Vec<u16> = statuses.into_iter().flatten().collect();
        let count = |status: u16| statuses.iter().filter(|found| **found == status).count();
        (count(404), count(429), visited)
    });
    assert_eq!((missed, throttled, visited), (20, 20, 50));
}
