//! Bots right after a start, before any list is compiled. A program of its own, because a process compiles the lists once.

use signpost_enrichment::{Bots, Enricher, Sent, Sources};

/// A program that only the patterns know.
const RARE: &[u8] = b"Nuzzel";

#[test]
fn d57_bots_are_known_by_name_until_the_patterns_are_compiled() {
    let bots = Bots::new(Sources::default());
    let browser = b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
    let verdicts = |bots: &Bots| {
        let named = bots.is_bot(b"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", b"");
        (named, bots.is_bot(browser, b""), bots.is_bot(browser, b"prefetch"), bots.is_bot(RARE, b""))
    };
    assert_eq!(verdicts(&bots), (true, false, true, false));
    bots.warm_up();
    assert_eq!(verdicts(&bots), (true, false, true, true));
    let mut enricher = Enricher::new(Sources::default());
    let sent = Sent {
        user_agent: RARE,
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
        address: [192, 0, 2, 1].into(),
    };
    assert!(enricher.facts(&sent, None).is_bot);
    let own = Bots::new(Sources::default().with_crawlers("OurMonitor").unwrap());
    assert!(own.is_bot(b"OurMonitor/1", b"") && !own.is_bot(RARE, b""), "a replaced list is ready at once");
}
