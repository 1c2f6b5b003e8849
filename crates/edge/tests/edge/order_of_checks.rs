//! The order in which a visit is judged (D129): every combination of what may stop it, compared with a list of the checks.

use signpost_app::ports::{ClickKind, Store};
use signpost_domain::{
    CountryCode, GeoBlocklist, HostBlocklist, Life, LinkId, Pixel, PixelType, Redirect, Schedule,
};
use signpost_port_contracts::samples;

use crate::harness::{Answer, Edge, HOST, redirect_to};

const TARGET: &str = "https://example.com/the/target";
const LISTED: &str = "https://evil.example/the/target";
const FALLBACK: &str = "https://example.com/the/fallback";
const BROWSER: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const BOT: &str = "curl/8.5.0";
const PASSWORD: &str = "plover";

/// Why a link may not exist for visitors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Existence {
    Unknown,
    Inactive,
    Listed,
    There,
}

/// Where an instant is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instant {
    Never,
    Past,
    Future,
}

impl Instant {
    const ALL: [Self; 3] = [Self::Never, Self::Past, Self::Future];

    const fn millis(self) -> Option<i64> {
        match self {
            Self::Never => None,
            // The fakes' clock is at zero.
            Self::Past => Some(0),
            Self::Future => Some(1),
        }
    }
}

#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "each of them is a check of its own")]
struct Checks {
    existence: Existence,
    start: Instant,
    end: Instant,
    has_fallback: bool,
    has_antibot: bool,
    /// Whether the visitors' country is blocked.
    has_block: bool,
    has_pixels: bool,
    has_password: bool,
}

impl Checks {
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for existence in [Existence::Unknown, Existence::Inactive, Existence::Listed, Existence::There] {
            for (start, end) in
                Instant::ALL.into_iter().flat_map(|start| Instant::ALL.map(|end| (start, end)))
            {
                for flags in 0..32_u8 {
                    let [has_fallback, has_antibot, has_block, has_pixels, has_password] =
                        [1, 2, 4, 8, 16].map(|flag| flags & flag != 0);
                    all.push(Self {
                        existence,
                        start,
                        end,
                        has_fallback,
                        has_antibot,
                        has_block,
                        has_pixels,
                        has_password,
                    });
                }
            }
        }
        all
    }

    /// A link with exactly this gate.
    fn only(has_antibot: bool) -> Self {
        let [start, end] = [Instant::Never; 2];
        let existence = Existence::There;
        let [has_fallback, has_pixels, has_password] = [false; 3];
        let has_block = !has_antibot;
        Self { existence, start, end, has_fallback, has_antibot, has_block, has_pixels, has_password }
    }

    fn link(self, slug: &str, pixel: &Pixel) -> Option<Redirect> {
        let target = match self.existence {
            Existence::Unknown => return None,
            Existence::Listed => LISTED,
            Existence::Inactive | Existence::There => TARGET,
        };
        let [starts_at, expires_at] = [self.start, self.end].map(|instant| instant.millis().map(samples::at));
        let life = Life {
            // No request can have all of them, but a row may.
            schedule: Schedule::from_stored(starts_at, expires_at),
            fallback_url: self.has_fallback.then(|| samples::target(FALLBACK)),
        };
        let link = redirect_to(slug, target).with(|content| {
            content.antibot_enabled = self.has_antibot;
            if self.has_block {
                content.geo_blocklist = GeoBlocklist::new(vec![germany()]);
            }
            if self.has_pixels {
                content.pixel_ids = samples::pixel_ids(vec![pixel.id]);
            }
        });
        Some(Redirect { is_active: self.existence != Existence::Inactive, life, ..link })
    }

    /// The first check that objects, and whether the visit counts.
    fn expected(self, visit: Visit) -> (Outcome, Option<ClickKind>) {
        let Visit { method, agent, password } = visit;
        let (is_get, is_form, is_bot) = (method == "GET", method == "POST", agent == BOT);
        let is_click = is_get || is_form;
        if method == "PUT" {
            (Outcome::WrongMethod, None)
        } else if self.existence != Existence::There || self.start == Instant::Future {
            (Outcome::Missing, None)
        } else if is_form && !self.has_password {
            (Outcome::WrongMethod, None)
        } else if self.end == Instant::Past {
            (if self.has_fallback { Outcome::Fallback } else { Outcome::Expired }, None)
        } else if self.has_antibot && is_bot {
            (Outcome::ForPeopleOnly, is_get.then_some(ClickKind::Blocked))
        } else if self.has_block {
            (Outcome::WrongCountry, is_get.then_some(ClickKind::Blocked))
        } else if self.has_password && password != PASSWORD {
            (if is_form { Outcome::WrongPassword } else { Outcome::AskedForPassword }, None)
        } else if self.has_pixels && is_click && !is_bot {
            (Outcome::Pixels, Some(ClickKind::Sent))
        } else {
            (Outcome::Sent, is_click.then_some(ClickKind::Sent))
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Visit {
    method: &'static str,
    agent: &'static str,
    /// What is in the form; empty without one.
    password: &'static str,
}

/// Every visit of a link.
fn visits() -> Vec<Visit> {
    let visits = [
        ("GET", BROWSER, ""),
        ("GET", BOT, ""),
        ("HEAD", BROWSER, ""),
        ("HEAD", BOT, ""),
        ("POST", BROWSER, PASSWORD),
        ("POST", BOT, PASSWORD),
        ("POST", BROWSER, "wrong"),
        ("PUT", BROWSER, PASSWORD),
    ];
    visits.map(|(method, agent, password)| Visit { method, agent, password }).to_vec()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    WrongMethod,
    Missing,
    Fallback,
    Expired,
    ForPeopleOnly,
    WrongCountry,
    AskedForPassword,
    WrongPassword,
    Pixels,
    Sent,
}

impl Outcome {
    /// The outcome that visitors see. The pages of both gates have the same status but not the same length, which answers to
    /// HEAD have too.
    fn of(answer: &Answer, [for_people_only, wrong_country]: &[String; 2]) -> Self {
        let length = answer.header("content-length").unwrap_or_default();
        match (answer.status, answer.header("location")) {
            (302 | 303, Some(TARGET)) => Self::Sent,
            (302, Some(FALLBACK)) => Self::Fallback,
            (200, None) if answer.header("x-robots-tag").is_some() => Self::AskedForPassword,
            (403, None) if answer.header("x-robots-tag").is_some() => Self::WrongPassword,
            (200, None) => Self::Pixels,
            (405, None) => Self::WrongMethod,
            (404, None) => Self::Missing,
            (410, None) => Self::Expired,
            (403, None) if length == for_people_only => Self::ForPeopleOnly,
            (403, None) if length == wrong_country => Self::WrongCountry,
            _ => panic!("{answer:?}"),
        }
    }
}

fn germany() -> CountryCode {
    CountryCode::parse("DE").unwrap()
}

fn visit(edge: &Edge, path: &str, Visit { method, agent, password }: Visit) -> Answer {
    let agent = format!("User-Agent: {agent}\r\n");
    if method == "POST" {
        return edge.post_with(path, &agent, &format!("password={password}"));
    }
    edge.request_with(method, path, &format!("Host: {HOST}\r\n{agent}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn d129_the_first_check_that_objects_decides() {
    let edge = Edge::start().await;
    edge.stay_in_sync();
    edge.memory.countries.put("127.0.0.1".parse().unwrap(), germany());
    edge.memory.bots.put(BOT.as_bytes());
    edge.memory.target_blocklist.replace(HostBlocklist::parse("evil.example").unwrap());
    let pixel = Pixel { code: samples::pixel_code(PixelType::Meta), ..samples::pixel("pixel") };
    let mut work = edge.memory.store.begin().await.unwrap();
    work.insert_pixel(edge.account, &pixel, 1).await.unwrap();
    edge.commit(work).await;
    for (slug, checks) in [("people", Checks::only(true)), ("country", Checks::only(false))] {
        edge.add(&checks.link(slug, &pixel).unwrap()).await;
    }
    let refusals = ["/people", "/country"].map(|path| {
        let refused = visit(&edge, path, Visit { method: "HEAD", agent: BOT, password: "" });
        assert_eq!(refused.status, 403);
        refused.header("content-length").unwrap().to_owned()
    });
    assert_ne!(refusals[0], refusals[1]);
    let mut expected_clicks: Vec<(LinkId, ClickKind)> = Vec::new();
    let unknown = visit(&edge, "/none", visits()[0]);
    for (number, checks) in Checks::all().into_iter().enumerate() {
        let slug = format!("c{number}");
        let link = checks.link(&slug, &pixel);
        if let Some(link) = &link {
            if checks.has_password {
                edge.add_protected(link, PASSWORD).await;
            } else {
                edge.add(link).await;
            }
        }
        for one in visits() {
            let answer = visit(&edge, &format!("/{slug}"), one);
            let (expected, click) = checks.expected(one);
            assert_eq!(Outcome::of(&answer, &refusals), expected, "{one:?} of {checks:?}");
            assert!(answer.status != 303 || one.method == "POST", "{one:?} of {checks:?}");
            if one.method != "HEAD" && expected == Outcome::Missing {
                assert_eq!(answer, unknown, "{checks:?}");
            }
            expected_clicks.extend(link.as_ref().map(|link| LinkId::from(link.id)).zip(click));
        }
    }
    assert!(!expected_clicks.is_empty());
    // Each worker has its own queue, so clicks have no order.
    let in_order = |mut clicks: Vec<(LinkId, ClickKind)>| {
        clicks.sort_by_key(|(link, kind)| (*link, format!("{kind:?}")));
        clicks
    };
    let clicks = edge.clicks().await.into_iter().map(|click| (click.link, click.kind)).collect();
    assert_eq!(in_order(clicks), in_order(expected_clicks));
}
