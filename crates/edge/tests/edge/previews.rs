//! The cards of redirects, which link previewers get (D129, D130, D135).

use signpost_app::ports::ClickKind;
use signpost_domain::{
    ClickLimit, CountryCode, GeoBlocklist, Life, LinkId, MaxClicks, Redirect, RedirectStatus, Revision,
    Schedule, Way,
};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, redirect_to};

const TARGET: &str = "https://example.com/the/target";
const TITLE: &str = "Autumn <sale> & more";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const PREVIEWERS: [&str; 3] = [
    "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)",
    "WhatsApp/2.23.20.0",
    "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)",
];
const SEARCH_BOT: &str = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
const PASSWORD: &str = "plover";

/// A redirect with a card.
fn with_card(slug: &str) -> Redirect {
    redirect_to(slug, TARGET).with(|content| {
        content.preview =
            Some(samples::preview(TITLE, Some("Everything must go"), Some("https://example.org/a.png")));
    })
}

fn visit(edge: &Edge, method: &str, path: &str, agent: &str) -> Answer {
    edge.request_with(method, path, &format!("Host: {HOST}\r\nUser-Agent: {agent}\r\n"))
}

fn location(answer: &Answer) -> (u16, Option<&str>) {
    (answer.status, answer.header("location"))
}

#[track_caller]
fn is_card(answer: &Answer) {
    assert_eq!(location(answer), (200, None), "{answer:?}");
    assert!(answer.body.contains("Autumn &") && !answer.body.contains(TARGET), "{answer:?}");
}

/// An edge whose visitors are in Germany. Search bots and previewers are bots there, as everywhere.
async fn started() -> Edge {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), germany());
    for bot in PREVIEWERS.iter().chain([&SEARCH_BOT]) {
        edge.memory.bots.put(bot.as_bytes());
    }
    edge
}

fn germany() -> CountryCode {
    CountryCode::parse("DE").unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn d135_previewers_get_the_card_and_browsers_and_search_bots_the_redirect() {
    let edge = started().await;
    edge.add(&with_card("sale")).await;
    for _ in 0..2 {
        for agent in [BROWSER, SEARCH_BOT, "curl/8.5.0", ""] {
            assert_eq!(location(&visit(&edge, "GET", "/sale", agent)), (302, Some(TARGET)), "{agent}");
        }
        for agent in PREVIEWERS {
            let answer = visit(&edge, "GET", "/sale?fbclid=x", agent);
            is_card(&answer);
            assert!(
                answer.body.contains("Everything must go")
                    && answer.body.contains("https://example.org/a.png")
            );
            assert!(answer.body.contains(&format!("https://{HOST}/sale")) && !answer.body.contains("fbclid"));
            assert_eq!(answer.header("cache-control"), Some("private, no-store"));
            assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
            assert_eq!(answer.header("referrer-policy"), Some("no-referrer"));
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            assert_eq!(answer.header("vary"), None);
            let policy = answer.header("content-security-policy").unwrap();
            assert!(policy.contains("default-src 'none'"), "{policy}");
            let head = visit(&edge, "HEAD", "/sale", agent);
            assert_eq!((head.status, head.headers, head.body.as_str()), (200, answer.headers.clone(), ""));
        }
    }
}

/// A redirect without a card is a redirect for everybody.
#[tokio::test(flavor = "multi_thread")]
async fn d135_a_card_comes_and_goes_with_the_next_visit() {
    let edge = started().await;
    let (without, with) = (redirect_to("sale", TARGET), with_card("sale"));
    let with = Redirect { id: without.id, ..with };
    edge.add(&without).await;
    for _ in 0..2 {
        assert_eq!(location(&visit(&edge, "GET", "/sale", PREVIEWERS[0])), (302, Some(TARGET)));
        edge.update(&without, &with).await;
        is_card(&visit(&edge, "GET", "/sale", PREVIEWERS[0]));
        edge.update(&with, &without).await;
    }
}

/// D129: existence, dates and gates come before the card; the password, rules and the limit come after it.
#[tokio::test(flavor = "multi_thread")]
async fn d129_the_card_comes_after_the_country_and_before_the_password() {
    let edge = started().await;
    let ended = Life { schedule: Schedule::from_stored(None, Some(samples::at(0))), fallback_url: None };
    let scheduled = Life { schedule: Schedule::from_stored(Some(samples::at(1)), None), fallback_url: None };
    let before: [(Redirect, u16); 4] = [
        (Redirect { is_active: false, ..with_card("inactive") }, 404),
        (Redirect { life: scheduled, ..with_card("scheduled") }, 404),
        (Redirect { life: ended, ..with_card("ended") }, 410),
        (
            with_card("blocked").with(|content| content.geo_blocklist = GeoBlocklist::new(vec![germany()])),
            403,
        ),
    ];
    for (link, status) in before {
        edge.add(&link).await;
        let path = format!("/{}", link.placement.slug().unwrap());
        assert_eq!(location(&visit(&edge, "GET", &path, PREVIEWERS[0])), (status, None), "{path}");
    }
    // Antibot lets previewers in (ADR 40), unless they name another program too.
    edge.add(&with_card("people").with(|content| content.antibot_enabled = true)).await;
    is_card(&visit(&edge, "GET", "/people", PREVIEWERS[0]));
    let two = format!("{}\r\nUser-Agent: curl/8.5.0", PREVIEWERS[0]);
    assert_eq!(visit(&edge, "GET", "/people", &two).status, 403);

    let rules =
        samples::rules(r#"[{"name":"all","conditions":[],"target_url":"https://example.org/ruled"}]"#);
    edge.add(&with_card("ruled").with(|content| content.rules = rules)).await;
    edge.add_protected(&with_card("secret"), PASSWORD).await;
    for (path, status) in [("/ruled", 302), ("/secret", 200)] {
        is_card(&visit(&edge, "GET", path, PREVIEWERS[0]));
        let answer = visit(&edge, "GET", path, BROWSER);
        assert_eq!(answer.status, status);
        assert!(!answer.body.contains("Autumn"), "{answer:?}");
    }
    // A visitor who sends the form already has the link, so no card.
    let form = format!("password={PASSWORD}");
    let answer = edge.post_with("/secret", &format!("User-Agent: {}\r\n", PREVIEWERS[0]), &form);
    assert_eq!(location(&answer), (303, Some(TARGET)));
}

/// D130: previewers of a limited link get the card, where other bots get 503, and use no click.
#[tokio::test(flavor = "multi_thread")]
async fn d130_the_card_of_a_limited_link_uses_no_click() {
    let edge = started().await;
    let limit = ClickLimit::new(MaxClicks::new(1).unwrap(), 0, Revision::FIRST);
    let link = with_card("once").with(|content| content.click_limit = Some(limit));
    edge.add(&link).await;
    for _ in 0..3 {
        for agent in PREVIEWERS {
            is_card(&visit(&edge, "GET", "/once", agent));
            assert_eq!(location(&visit(&edge, "HEAD", "/once", agent)), (200, None));
        }
        assert_eq!(location(&visit(&edge, "GET", "/once", SEARCH_BOT)), (503, None));
    }
    assert_eq!(location(&visit(&edge, "GET", "/once", BROWSER)), (302, Some(TARGET)));
    for agent in [BROWSER, PREVIEWERS[0]] {
        assert_eq!(location(&visit(&edge, "GET", "/once", agent)), (410, None), "the link is used up");
    }
}

/// D48: the visit of a previewer is recorded with its agent, by which it counts as a bot's.
#[tokio::test(flavor = "multi_thread")]
async fn d48_the_card_is_recorded_as_a_visit_of_its_previewer() {
    let edge = started().await;
    let link = with_card("sale");
    edge.add(&link).await;
    visit(&edge, "GET", "/sale", PREVIEWERS[1]);
    visit(&edge, "HEAD", "/sale", PREVIEWERS[1]);
    let id = LinkId::from(link.id);
    let clicks = edge.clicks().await;
    let [click] = clicks.as_slice() else { panic!("{clicks:?}") };
    assert_eq!((click.link, click.kind, click.rule.as_str()), (id, ClickKind::Sent, ""));
    assert_eq!(click.user_agent, PREVIEWERS[1].as_bytes());
}

/// A card is no gate: a permanent redirect stays one. A chain ends before it, so previewers get the card at its own address.
#[tokio::test(flavor = "multi_thread")]
async fn d135_a_card_goes_with_permanent_redirects_and_ends_chains() {
    let edge = started().await;
    let permanent = with_card("sale").with(|content| {
        content.way = Way { redirect_status: RedirectStatus::MovedPermanently, ..Way::default() };
    });
    edge.add(&permanent).await;
    let address = format!("https://{HOST}/sale");
    edge.add(&redirect_to("first", &address)).await;
    assert_eq!(location(&visit(&edge, "GET", "/sale", BROWSER)), (301, Some(TARGET)));
    is_card(&visit(&edge, "GET", "/sale", PREVIEWERS[0]));
    for agent in [BROWSER, PREVIEWERS[0]] {
        assert_eq!(location(&visit(&edge, "GET", "/first", agent)), (302, Some(address.as_str())));
    }
}
