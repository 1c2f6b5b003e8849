//! Who gets the page that fires pixels, and what is recorded of it (D48, D57).

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::harness::{BROWSER, Program, redirect_body};

const TARGET: &str = "https://shop.example.com/offer";

/// Programs that show cards, index or check links.
const BOTS: [&str; 8] = [
    "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Mozilla/5.0 (Linux; Android 6.0.1; Nexus 5X Build/MMB29P) AppleWebKit/537.36 (KHTML, like Gecko) \
     Chrome/140.0.7339.127 Mobile Safari/537.36 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
    "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
    "Twitterbot/1.0",
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "WhatsApp/2.23.20.0",
    "curl/8.14.1",
    "",
];

#[test]
fn d57_whoever_is_recorded_as_a_bot_gets_the_plain_redirect() {
    let program = Program::start();
    let account = program.account("agency");
    let pixel = account.post("/v1/pixels", &json!({"pixel_type": "meta", "pixel_id": "123456789012345"}));
    let pixel = pixel.expect_status(201).body["id"].clone();
    let link = json!({"slug": "offer", "target_url": TARGET, "pixel_ids": [pixel]});
    account.create_redirect(&redirect_body(link));
    let visitor = program.visitor();
    let visit = |method: &str, agent: &str, more: &[(&str, &str)]| {
        let headers = [&[("Host", "localhost:8081"), ("User-Agent", agent)], more].concat();
        visitor.request(method, "/offer", &headers)
    };
    let is_plain = |method: &str, agent: &str, more: &[(&str, &str)]| {
        let answer = visit(method, agent, more);
        assert_eq!((answer.status, answer.location()), (302, Some(TARGET)), "{method} {agent} {more:?}");
        assert_eq!(
            (answer.body.as_str(), answer.header("x-robots-tag")),
            ("", None),
            "{method} {agent} {more:?}"
        );
    };
    for agent in BOTS {
        is_plain("GET", agent, &[]);
    }
    let ahead = [("Sec-Purpose", "prefetch;prerender"), ("X-Purpose", "preview"), ("X-Moz", "prefetch")];
    for purpose in ahead {
        is_plain("GET", BROWSER, &[purpose]);
    }
    is_plain("HEAD", BROWSER, &[]);
    is_plain("GET", BROWSER, &[("Sec-GPC", "1")]);
    let page = visit("GET", BROWSER, &[]);
    assert_eq!((page.status, page.location()), (200, None));
    assert!(page.body.contains("123456789012345"), "{}", page.body);

    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let hour = Duration::from_hours(1);
    let (start, end) = (now.checked_sub(hour).unwrap().as_millis(), (now + hour).as_millis());
    let recorded = || {
        let answer =
            account.get(&format!("/v1/analytics?start_date={start}&end_date={end}")).expect_status(200);
        let count = |name: &str| usize::try_from(answer.body["totals"][name].as_u64().unwrap()).unwrap();
        (count("clicks"), count("bots"))
    };
    // A person, and one who refuses tracking. HEAD is not recorded.
    let expected = (2, BOTS.len() + ahead.len());
    let began = Instant::now();
    while recorded() != expected {
        assert!(began.elapsed() < Duration::from_mins(1), "{:?} are recorded, not {expected:?}", recorded());
        std::thread::sleep(Duration::from_millis(50));
    }
}
