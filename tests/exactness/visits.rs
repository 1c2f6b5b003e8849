//! Random visits with known facts.

use signpost_domain::Timestamp;
use signpost_domain::analytics::RecordedKind;

use crate::chance::Chance;

/// A user agent with its facts.
pub(crate) struct Agent {
    pub(crate) name: &'static str,
    device: &'static str,
    os: &'static str,
    browser: &'static str,
    is_bot: bool,
}

/// User agents of browsers, and two of bots.
pub(crate) const AGENTS: [Agent; 7] = [
    Agent {
        name: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
        device: "desktop",
        os: "Windows",
        browser: "Chrome",
        is_bot: false,
    },
    Agent {
        name: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
        device: "desktop",
        os: "Linux",
        browser: "Firefox",
        is_bot: false,
    },
    Agent {
        name: "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
        device: "mobile",
        os: "iOS",
        browser: "Mobile Safari",
        is_bot: false,
    },
    Agent {
        name: "Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Mobile/15E148 Safari/604.1",
        device: "tablet",
        os: "iOS",
        browser: "Mobile Safari",
        is_bot: false,
    },
    Agent {
        name: "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
        device: "mobile",
        os: "Android",
        browser: "Chrome Mobile",
        is_bot: false,
    },
    Agent {
        name: "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
        device: "other",
        os: "",
        browser: "Googlebot",
        is_bot: true,
    },
    Agent { name: "curl/8.5.0", device: "other", os: "", browser: "curl", is_bot: true },
];

/// Referrers: the `Referer` header, its channel and its host.
const REFERRERS: [(&str, &str, &str); 5] = [
    ("", "direct", ""),
    ("https://www.google.com/", "organic_search", "google.com"),
    ("https://t.co/AbC123", "organic_social", "t.co"),
    ("https://news.example.org:8443/some/article?id=7", "referral", "news.example.org"),
    ("https://chatgpt.com/", "ai_assistant", "chatgpt.com"),
];

/// Queries of the visited URL, with the channel that each decides and its three UTM values.
const QUERIES: [(&str, Option<&str>, [&str; 3]); 4] = [
    ("", None, ["", "", ""]),
    (
        "?utm_source=Newsletter&utm_medium=email&utm_campaign=Spring%20Sale%2C+2",
        Some("email"),
        ["newsletter", "email", "Spring Sale, 2"],
    ),
    ("?src=qr", Some("qr"), ["", "", ""]),
    ("?utm_campaign=%C3%BCber&unrelated=1", None, ["", "", "über"]),
];

const LANGUAGES: [(&str, &str); 4] =
    [("", ""), ("de-AT,de;q=0.9,en;q=0.8", "de"), ("fr", "fr"), ("en;q=0.5, pt-BR;q=0.9", "pt")];

/// Values of `CF-IPCountry`. Without the header the country is unknown, because the visitors' addresses are in
/// no country.
const COUNTRIES: [&str; 4] = ["", "AT", "DE", "US"];

/// The target of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// The link with this number.
    Link(usize),
    /// A widget of the landing page.
    Widget(usize),
    /// An address without a link.
    Nothing,
    /// A link that records no clicks.
    Unrecorded,
}

/// The gates of a link, as the model knows them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gate {
    pub(crate) antibot: bool,
    pub(crate) blocks: Option<&'static str>,
}

/// A visit, and how it must be recorded.
#[derive(Debug, Clone)]
pub(crate) struct Visit {
    pub(crate) at: Timestamp,
    pub(crate) place: Place,
    pub(crate) method: &'static str,
    pub(crate) address: String,
    pub(crate) agent: &'static str,
    pub(crate) query: &'static str,
    pub(crate) headers: Vec<(&'static str, String)>,
    /// `None` if the visit must not be recorded.
    pub(crate) kind: Option<RecordedKind>,
    /// The values of the dimensions up to `utm_campaign`.
    pub(crate) values: [&'static str; 10],
}

/// A random visit at this time.
pub(crate) fn visit(chance: &mut Chance, at: Timestamp, gates: &[Gate], widgets: usize) -> Visit {
    let agent = if chance.one_in(8) { chance.pick(&AGENTS[5..]) } else { chance.pick(&AGENTS[..5]) };
    let (referrer, from_referrer, host) = *chance.pick(&REFERRERS);
    let (query, from_query, [source, medium, campaign]) = *chance.pick(&QUERIES);
    // A campaign alone shows that the visit was not direct (ADR 43).
    let from_referrer =
        if from_referrer == "direct" && !campaign.is_empty() { "referral" } else { from_referrer };
    let channel = from_query.unwrap_or(from_referrer);
    let (accepted, language) = *chance.pick(&LANGUAGES);
    let country = *chance.pick(&COUNTRIES);
    let is_prefetch = chance.one_in(20);
    let method = if chance.one_in(15) { "HEAD" } else { "GET" };
    let place = match chance.below(20) {
        0 => Place::Nothing,
        1 => Place::Unrecorded,
        2 | 3 => Place::Widget(chance.below(widgets)),
        _ => Place::Link(chance.below(gates.len())),
    };
    let is_bot = agent.is_bot || is_prefetch;
    let kind = match place {
        _ if method == "HEAD" => None,
        Place::Nothing | Place::Unrecorded => None,
        Place::Widget(_) => (!is_bot).then_some(RecordedKind::Widget),
        Place::Link(number) => {
            let Gate { antibot, blocks } = gates[number];
            let is_blocked = (antibot && agent.is_bot) || blocks.is_some_and(|blocked| blocked == country);
            Some(if is_blocked {
                RecordedKind::Blocked
            } else if is_bot {
                RecordedKind::Bot
            } else {
                RecordedKind::Click
            })
        }
    };
    // Few addresses, so that visitors return; half of them are IPv6.
    let number = chance.below(25);
    let address =
        if number.is_multiple_of(2) { format!("192.0.2.{number}") } else { format!("2001:db8::{number:x}") };
    let mut headers = vec![("x-forwarded-for", address.clone()), ("user-agent", agent.name.to_owned())];
    for (name, value) in [("referer", referrer), ("accept-language", accepted), ("cf-ipcountry", country)] {
        if !value.is_empty() {
            headers.push((name, value.to_owned()));
        }
    }
    if is_prefetch {
        headers.push(("sec-purpose", "prefetch;prerender".to_owned()));
    }
    Visit {
        at,
        place,
        method,
        address,
        agent: agent.name,
        query,
        headers,
        kind,
        values: [
            channel,
            country,
            agent.device,
            agent.os,
            agent.browser,
            language,
            host,
            source,
            medium,
            campaign,
        ],
    }
}
