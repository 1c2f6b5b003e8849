//! The links and the visitors whose visits are explained (D136), and an edge on which they are.

use signpost_app::explain::{Explanation, VisitFacts, VisitHeader, VisitQuery};
use signpost_app::ports::{ExplainedVisit, Store};
use signpost_domain::{
    ClickLimit, Content, CountryCode, CustomDomainStatus, DomainFiles, DomainUrls, GeoBlocklist,
    HostBlocklist, Life, Link, LinkPreview, MaxClicks, Pixel, PixelType, Redirect, RedirectStatus, Revision,
    Schedule, Timestamp, TrustedProxies, Utm, UtmPart, UtmValue, Way,
};
use signpost_edge::EdgeOptions;
use signpost_memory::InMemory;
use signpost_port_contracts::samples;

use crate::harness::{ACTIVE, Edge, HOST, options, redirect_to};
use crate::rules::{COMPUTER, PHONE, ruled, started};
use crate::site_settings::configure;

pub(crate) const CUSTOM: &str = "links.example.net";
pub(crate) const CLOSED: &str = "closed.example.net";
pub(crate) const TARGET: &str = "https://example.com/the/target?own=1#part";
pub(crate) const FALLBACK: &str = "https://example.com/over";
pub(crate) const PREVIEWER: &str = "WhatsApp/2.23.20.0";
pub(crate) const BOT: &str = "curl/8.5.0";

/// When the dates of the links are, in milliseconds of the fakes' clock.
pub(crate) const BEGIN: i64 = 1_000;
pub(crate) const END: i64 = 2_000;

/// A link of the table, with the hostname and the path at which it is visited.
pub(crate) struct Case {
    pub(crate) link: Link,
    pub(crate) host: &'static str,
    pub(crate) path: String,
}

fn on_system<C: Content>(link: &Link<C>) -> Case {
    let path = format!("/{}", link.placement.slug().unwrap());
    Case { link: link.clone().into_any(), host: HOST, path }
}

fn at(placed: &Redirect, host: &'static str, path: &str) -> Case {
    Case { link: placed.clone().into_any(), host, path: path.to_owned() }
}

pub(crate) fn limit(max: u64, taken: u64) -> ClickLimit {
    ClickLimit::new(MaxClicks::new(max).unwrap(), taken, Revision::FIRST)
}

pub(crate) fn germany() -> CountryCode {
    CountryCode::parse("DE").unwrap()
}

fn life(starts_at: Option<i64>, expires_at: Option<i64>, fallback: Option<&str>) -> Life {
    let schedule = Schedule::from_stored(starts_at.map(samples::at), expires_at.map(samples::at));
    Life { schedule, fallback_url: fallback.map(samples::target) }
}

pub(crate) fn way(redirect_status: RedirectStatus, forward_query: bool, source: Option<&str>) -> Way {
    let value = |part| source.filter(|_| part == UtmPart::Source).map(|text| UtmValue::parse(text).unwrap());
    Way { redirect_status, forward_query, utm: Utm::new(value) }
}

fn preview() -> LinkPreview {
    samples::preview("A card", None, None)
}

/// Rules of every type, and a split.
pub(crate) const RULES: &str = r#"[
    {"name":"german-phones","conditions":[{"type":"country","in":["DE"]},{"type":"device","in":["mobile"]}],"target_url":"https://example.org/1"},
    {"conditions":[{"type":"language","in":["fr"]},{"type":"browser","in":["Mobile Safari"],"not":true}],"target_url":"https://example.org/2"},
    {"name":"from","conditions":[{"type":"referrer","in":["example.com"]}],"target_url":"https://example.org/3"},
    {"name":"asked","conditions":[{"type":"query","name":"q","is":"equals","value":"a b"}],"target_url":"https://example.org/4?own=2"},
    {"name":"office","conditions":[{"type":"network","in":["198.51.100.0/24"]}],"target_url":"https://example.org/5"},
    {"name":"late","conditions":[{"type":"date","from":"2026-01-31T09:05:08.542Z"},{"type":"os","in":["Linux"]}],"target_url":"https://example.org/6"},
    {"name":"morning","conditions":[{"type":"hours","timezone":"Europe/Berlin","days":[6],"from":"10:00","until":"11:00"},{"type":"country","in":["AT"]}],"target_url":"https://example.org/7"},
    {"name":"test","conditions":[],"split":[{"name":"a","target_url":"https://example.org/a","weight":1},{"name":"b","target_url":"https://example.org/b","weight":1}]}]"#;

/// The links of the table, stored on the edge.
pub(crate) async fn cases(edge: &Edge) -> Vec<Case> {
    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("pixel") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 1).await.unwrap();
    edge.commit(work).await;
    let domain = edge.connect_domain(CUSTOM, ACTIVE).await;
    let urls = DomainUrls {
        root_url: Some(samples::target("https://example.org/root")),
        not_found_url: Some(samples::target("https://example.org/nothing")),
        expired_url: Some(samples::target("https://example.org/expired")),
    };
    configure(edge, &domain, urls, &DomainFiles::default()).await;
    edge.connect_domain(CLOSED, CustomDomainStatus::Failed).await;
    let redirect = |slug: &str| redirect_to(slug, TARGET);
    let pixels = samples::pixel_ids(vec![pixel.id]);
    let mut cases = vec![
        on_system(&redirect("plain")),
        on_system(&samples::landing("page")),
        on_system(&Redirect { is_active: false, ..redirect("inactive") }),
        on_system(&Redirect { life: life(Some(BEGIN), Some(END), None), ..redirect("dated") }),
        on_system(&Redirect { life: life(None, Some(END), Some(FALLBACK)), ..redirect("fallback") }),
        on_system(&redirect("limited").with(|content| content.click_limit = Some(limit(1_000, 0)))),
        on_system(&redirect("used-up").with(|content| content.click_limit = Some(limit(5, 5)))),
        on_system(&redirect("people").with(|content| content.antibot_enabled = true)),
        on_system(
            &redirect("blocked").with(|content| content.geo_blocklist = GeoBlocklist::new(vec![germany()])),
        ),
        on_system(&redirect("card").with(|content| content.preview = Some(preview()))),
        on_system(&redirect("limited-card").with(|content| {
            content.preview = Some(preview());
            content.click_limit = Some(limit(1_000, 0));
        })),
        on_system(&ruled("ruled", RULES)),
        on_system(&ruled("forwarding-rules", RULES).with(|content| {
            content.way = way(RedirectStatus::TemporaryRedirect, true, Some("mail"));
        })),
        on_system(
            &redirect("forwarding").with(|content| content.way = way(RedirectStatus::Found, true, None)),
        ),
        on_system(&redirect("campaign").with(|content| {
            content.way = way(RedirectStatus::PermanentRedirect, true, Some("paper & ink"));
        })),
        on_system(&redirect("moved").with(|content| {
            content.way = way(RedirectStatus::MovedPermanently, false, None);
        })),
        on_system(&redirect("pixels").with(|content| content.pixel_ids = pixels.clone())),
        on_system(&ruled("ruled-pixels", RULES).with(|content| content.pixel_ids = pixels.clone())),
        on_system(&redirect_to("chain", "https://go.example.com/people")),
        on_system(&redirect_to("chain-to-page", "https://go.example.com/page")),
        on_system(&redirect_to("chain-to-inactive", "https://go.example.com/inactive")),
        on_system(&redirect_to("chain-to-rules", "https://go.example.com/ruled?a=b")),
        on_system(&redirect_to("loop", "https://go.example.com/loop")),
        on_system(&redirect_to("listed", "https://evil.example/")),
    ];
    let mut on_custom = |host: &'static str, slug: Option<&str>, change: &dyn Fn(&mut Redirect)| {
        let mut link = Redirect { placement: samples::on_custom(host, slug), ..redirect("x") };
        change(&mut link);
        cases.push(at(&link, host, &format!("/{}", slug.unwrap_or_default())));
    };
    on_custom(CUSTOM, Some("plain"), &|_| {});
    on_custom(CUSTOM, Some("inactive"), &|link| link.is_active = false);
    on_custom(CUSTOM, Some("ended"), &|link| link.life = life(None, Some(END), None));
    on_custom(CUSTOM, None, &|link| link.life = life(Some(BEGIN), Some(END), None));
    on_custom(CLOSED, Some("plain"), &|link| link.is_domain_active = false);
    for case in &cases {
        edge.add(&case.link).await;
    }
    for link in [
        redirect("secret").into_any(),
        samples::landing("secret-page").into_any(),
        ruled("secret-rules", RULES).with(|content| content.click_limit = Some(limit(1_000, 0))).into_any(),
        redirect("secret-card").with(|content| content.preview = Some(preview())).into_any(),
    ] {
        cases.push(on_system(&edge.add_protected(&link, "plover").await));
    }
    cases
}

/// The visitors of the table: the header lines of a visit, its query, and the same as the caller of an explanation gives it.
pub(crate) fn visitors() -> Vec<(String, &'static str, VisitFacts)> {
    let header = |text: &str| Some(VisitHeader::parse(text).unwrap());
    let visitor =
        |agent: &str, address: &str, more: &str, query: &'static str, change: &dyn Fn(&mut VisitFacts)| {
            let mut facts = VisitFacts {
                user_agent: header(agent),
                address: Some(address.parse().unwrap()),
                query: (!query.is_empty()).then(|| VisitQuery::parse(query).unwrap()),
                ..VisitFacts::default()
            };
            change(&mut facts);
            let agent = if agent.is_empty() { String::new() } else { format!("User-Agent: {agent}\r\n") };
            (format!("{agent}X-Forwarded-For: {address}\r\n{more}"), query, facts)
        };
    vec![
        visitor(VisitFacts::USUAL_AGENT, "203.0.113.1", "", "", &|facts| facts.user_agent = None),
        visitor(VisitFacts::USUAL_AGENT, "203.0.113.2", "", "?a=1&own=9&src=qr", &|_| {}),
        visitor(PHONE, "192.0.2.1", "", "", &|_| {}),
        visitor(PHONE, "192.0.2.1", "Accept-Language: fr, en;q=0.5\r\n", "?q=a+b", &|facts| {
            facts.language = header("fr, en;q=0.5");
        }),
        visitor(COMPUTER, "2001:db8::7", "Accept-Language: fr-CA\r\n", "", &|facts| {
            facts.language = header("fr-CA");
        }),
        visitor(COMPUTER, "198.51.100.7", "", "", &|_| {}),
        visitor(COMPUTER, "203.0.113.3", "Referer: https://www.example.com/a\r\n", "?q=a%20b", &|facts| {
            facts.referrer = header("https://www.example.com/a");
        }),
        visitor(COMPUTER, "203.0.113.4", "X-Country: AT\r\n", "", &|facts| {
            facts.country = CountryCode::parse("AT").ok();
        }),
        visitor(COMPUTER, "192.0.2.1", "X-Country: FR\r\n", "", &|facts| {
            facts.country = CountryCode::parse("FR").ok();
        }),
        visitor(COMPUTER, "203.0.113.5", "", "", &|_| {}),
        visitor(PREVIEWER, "203.0.113.6", "", "?fbclid=1", &|_| {}),
        visitor(BOT, "203.0.113.7", "", "", &|_| {}),
        visitor("", "203.0.113.8", "", "", &|_| {}),
    ]
}

pub(crate) async fn with_countries() -> Edge {
    let memory = InMemory::default();
    let networks = vec!["127.0.0.0/8".parse().unwrap()];
    let memory = InMemory { trusted_proxies: TrustedProxies::new(networks), ..memory };
    let known = started().await.memory;
    let memory = InMemory { countries: known.countries, agents: known.agents, ..memory };
    for bot in [PREVIEWER, BOT, ""] {
        memory.bots.put(bot.as_bytes());
    }
    memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    let country_header = Some("x-country".parse().unwrap());
    let options = EdgeOptions { country_header, ..options(0) };
    let edge = Edge::start_with(memory, options, |_| {}).await;
    edge.stay_in_sync();
    edge
}

pub(crate) fn explained_visit(edge: &Edge, link: &Link, facts: &VisitFacts, at: Timestamp) -> ExplainedVisit {
    ExplainedVisit {
        account: edge.account,
        link: link.id(),
        address: link.placement.address().unwrap(),
        is_active: link.is_active,
        is_domain_active: link.is_domain_active,
        facts: facts.clone(),
        at,
    }
}

pub(crate) async fn explain(edge: &Edge, link: &Link, facts: &VisitFacts, at: Timestamp) -> Explanation {
    let explainer = edge.app.explainer.explainer().unwrap();
    explainer.explain(explained_visit(edge, link, facts, at)).await.unwrap()
}
