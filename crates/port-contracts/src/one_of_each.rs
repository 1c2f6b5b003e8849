//! Links that together have every kind of value in every field, and the maximum lengths.

use signpost_domain::{
    ClickLimit, CountryCode, Description, ExternalId, GeoBlocklist, Landing, Life, Link, MaxClicks, Note,
    PixelId, PixelIds, PreviewTitle, Redirect, RedirectStatus, Revision, Schedule, TagName, Tags, Timestamp,
    Utm, UtmPart, UtmValue, Way,
};

use crate::samples;

/// The tags of these links. A store keeps only tags that the account has, so these are
/// [provided](signpost_app::ports::TagWrites::provide_tags) first.
pub const TAGS: [&str; 2] = ["Sale", "ü 🌷"];

fn tags() -> Tags {
    Tags::new(TAGS.map(|text| TagName::parse(text).expect("a tag"))).expect("two names")
}

fn external_id(text: &str) -> Option<ExternalId> {
    ExternalId::parse(text).ok()
}

/// A life with these bounds, and a fallback if there is one.
fn life(starts_at: Option<Timestamp>, expires_at: Option<Timestamp>, fallback_url: Option<&str>) -> Life {
    let schedule = Schedule::new(starts_at, expires_at).expect("a start before the end");
    Life { schedule, fallback_url: fallback_url.map(samples::target) }
}

/// Parameters of a campaign in these parts, each with this value.
fn utm(parts: &[UtmPart], value: &str) -> Utm {
    Utm::new(|part| parts.contains(&part).then(|| UtmValue::parse(value).expect("a value")))
}

/// Redirects that send their visitors on in every way.
fn redirects_of_every_way() -> impl Iterator<Item = Redirect> {
    let statuses = RedirectStatus::ALL.map(|redirect_status| Way { redirect_status, ..Way::default() });
    let forwarding = Way { forward_query: true, ..Way::default() };
    let tagged = |parts: &[UtmPart], value: &str| Way { utm: utm(parts, value), ..Way::default() };
    let parts = UtmPart::ALL.map(|part| tagged(&[part], part.as_str()));
    let odd = tagged(&UtmPart::ALL, "'; \"&=?#%,/ü 👩\u{200b}<b>");
    let long = tagged(&[UtmPart::Content], &"𝄞".repeat(UtmValue::MAX_CHARS));
    let all = Way {
        redirect_status: RedirectStatus::PermanentRedirect,
        forward_query: true,
        utm: utm(&UtmPart::ALL, "x"),
    };
    let ways = statuses.into_iter().chain(parts).chain([forwarding, odd, long, all]);
    ways.enumerate()
        .map(|(number, way)| samples::redirect(&format!("way-{number}")).with(|content| content.way = way))
}

/// A redirect with a limit of which this much is taken, in a count of its own: an update to the values of another one then begins
/// that count.
fn limited(text: &str, max: u64, taken: u64, since: u64) -> Redirect {
    let max = MaxClicks::new(max).expect("a limit");
    let since = Revision::from_stored(since).expect("a revision");
    let limit = ClickLimit::new(max, taken, since);
    samples::redirect(text).with(|content| content.click_limit = Some(limit))
}

/// Redirects with every kind of rules.
fn redirects_with_rules() -> impl Iterator<Item = Redirect> {
    let for_all = r#"[{"conditions": [], "target_url": "https://example.com/all"}]"#;
    let every_condition = r#"[
        {"name": "places", "conditions": [
            {"type": "country", "in": ["DE", "AT"]},
            {"type": "language", "not": true, "in": ["zh-Hant-TW", "de"]},
            {"type": "network", "in": ["192.0.2.0/24", "2001:db8::/32"]},
            {"type": "referrer", "in": ["", "bücher.example"]}
        ], "target_url": "https://bücher.example/ü?a='b'&\"c\""},
        {"conditions": [
            {"type": "device", "in": ["mobile", "tv"]},
            {"type": "os", "in": ["iOS", "Ünix \"9\""]},
            {"type": "browser", "not": true, "in": ["Mobile Safari"]}
        ], "target_url": "https://example.com/2"},
        {"conditions": [
            {"type": "date", "from": "1970-01-01T00:00:00Z"},
            {"type": "date", "until": "9999-12-31T23:59:59.999Z"},
            {"type": "hours", "timezone": "America/Argentina/Buenos_Aires", "days": [1, 7], "from": "22:30", "until": "04:00"},
            {"type": "query", "name": "a b", "is": "equals", "value": "\ud834\udd1e"},
            {"type": "query", "name": "c", "is": "absent"}
        ], "target_url": "https://example.com/3"}
    ]"#;
    let split = r#"[{"name": "_-9", "conditions": [], "split": [
        {"name": "a", "target_url": "https://example.com/a", "weight": 1},
        {"name": "b", "target_url": "https://example.com/b", "weight": 1000}
    ]}]"#;
    [("ruled", for_all), ("ruled-by-all", every_condition), ("split", split)]
        .into_iter()
        .map(|(slug, json)| samples::redirect(slug).with(|content| content.rules = samples::rules(json)))
}

/// Redirects with every kind of card.
fn redirects_with_previews() -> impl Iterator<Item = Redirect> {
    let odd = "'; -- \"&=?#%,/ü 👩\u{200b}<b>\\";
    let image = "https://bücher.example/ü?a='b'&\"c\"";
    let longest_image = format!("https://bücher.example/{}", "ä".repeat(2048 - 23));
    let longest_title = "𝄞".repeat(PreviewTitle::MAX_CHARS);
    let longest_text = "𝄞".repeat(Description::MAX_CHARS);
    [
        samples::preview("Sale", None, None),
        samples::preview("Sale", Some(""), None),
        samples::preview("Sale", Some(" two\r\n\tlines "), None),
        samples::preview("Sale", None, Some(image)),
        samples::preview(odd, Some(odd), Some(image)),
        samples::preview(&longest_title, Some(&longest_text), Some(&longest_image)),
    ]
    .into_iter()
    .enumerate()
    .map(|(number, card)| {
        samples::redirect(&format!("card-{number}")).with(|content| content.preview = Some(card))
    })
}

/// Links of both kinds at distinct addresses.
#[must_use]
pub fn links() -> Vec<Link> {
    redirects().into_iter().map(Link::from).chain(landings().into_iter().map(Link::from)).collect()
}

/// The redirects among them.
#[must_use]
pub fn redirects() -> Vec<Redirect> {
    let longest_target = format!("https://bücher.example/{}", "ä".repeat(2048 - 23));
    let all_countries = GeoBlocklist::new(CountryCode::all().collect());
    let [de, at] = ["DE", "AT"].map(|code| CountryCode::parse(code).unwrap());
    let [first, second] = [samples::id(), samples::id()];
    let extremes = [[0; 16], [0xff; 16]].map(PixelId::from_bytes);
    let most = (0..PixelIds::MAX).map(|_| samples::id()).collect();
    let mut redirects = vec![
        samples::redirect("plain"),
        samples::redirect_at(samples::on_custom("links.example.net", Some("slug"))),
        samples::redirect_at(samples::on_custom("links.example.net", None)),
        samples::redirect_at(samples::on_custom(&longest_host('b'), Some(&"Z".repeat(64)))),
        samples::redirect_at(samples::lost(Some("lost"))),
        samples::redirect_at(samples::lost(None)),
        Redirect { is_active: false, ..samples::redirect("inactive") },
        Redirect { life: life(Some(Timestamp::EPOCH), None, None), ..samples::redirect("starting") },
        Redirect { life: life(None, Some(Timestamp::LAST), None), ..samples::redirect("ending") },
        Redirect {
            life: life(Some(samples::at(0)), Some(samples::at(1)), Some(&longest_target)),
            ..samples::redirect("a-millisecond")
        },
        Redirect {
            life: life(None, None, Some("https://example.com/\"?a='b'&<>")),
            ..samples::redirect("odd-fallback")
        },
        Redirect { external_id: external_id("order-4711"), ..samples::redirect("external") },
        Redirect { external_id: external_id(" =ü,\"%/?#"), ..samples::redirect("odd-external") },
        Redirect { external_id: external_id(&"𝄞".repeat(255)), ..samples::redirect("long-external") },
        Redirect { tags: tags(), ..samples::redirect("tagged") },
        Redirect { has_password: true, ..samples::redirect("closed") },
        limited("limited", 1, 0, 1),
        limited("used", 1_000_000_000, 999_999_999, 2),
        limited("used-up", 10, 10, 3),
        samples::redirect("antibot").with(|content| content.antibot_enabled = true),
        Redirect { analytics_enabled: false, ..samples::redirect("uncounted") },
        samples::redirect("de-at").with(|content| content.geo_blocklist = GeoBlocklist::new(vec![de, at])),
        samples::redirect("at-de").with(|content| content.geo_blocklist = GeoBlocklist::new(vec![at, de])),
        samples::redirect("all-countries").with(|content| content.geo_blocklist = all_countries),
        samples::redirect("one-pixel").with(|content| content.pixel_ids = samples::pixel_ids(vec![first])),
        samples::redirect("two-pixels")
            .with(|content| content.pixel_ids = samples::pixel_ids(vec![first, second])),
        samples::redirect("turned")
            .with(|content| content.pixel_ids = samples::pixel_ids(vec![second, first])),
        samples::redirect("extremes")
            .with(|content| content.pixel_ids = samples::pixel_ids(extremes.to_vec())),
        samples::redirect("ten-pixels").with(|content| content.pixel_ids = samples::pixel_ids(most)),
        Redirect { name: samples::name(&"𝄞".repeat(100)), ..samples::redirect("long-name") },
        samples::redirect("long-target")
            .with(|content| content.target_url = samples::target(&longest_target)),
        samples::redirect("odd")
            .with(|content| content.target_url = samples::target("HTTP://EXAMPLE.com:80/%7e?q=ü#ü")),
        Redirect { created_at: Timestamp::EPOCH, updated_at: Timestamp::EPOCH, ..samples::redirect("first") },
        Redirect { created_at: Timestamp::LAST, updated_at: Timestamp::LAST, ..samples::redirect("last") },
        Redirect { updated_at: samples::at(1), ..samples::redirect("a-millisecond-later") },
        samples::redirect(&"x".repeat(64)),
    ];
    redirects.extend(redirects_of_every_way());
    redirects.extend(redirects_with_rules());
    redirects.extend(redirects_with_previews());
    redirects.extend(
        notes().enumerate().map(|(number, note)| Redirect {
            note: Some(note),
            ..samples::redirect(&format!("note-{number}"))
        }),
    );
    redirects
}

/// The landing pages among them.
#[must_use]
pub fn landings() -> Vec<Landing> {
    let mut landings = vec![
        samples::landing("page"),
        Landing {
            life: life(Some(Timestamp::EPOCH), Some(Timestamp::LAST), Some("https://bücher.example/über")),
            ..samples::landing("living-page")
        },
        Landing { tags: tags(), ..samples::landing("tagged-page") },
        Landing { has_password: true, ..samples::landing("closed-page") },
        Landing { external_id: external_id("ORDER-4711"), ..samples::landing("p-external") },
        samples::landing_at(samples::on_custom("pages.example.net", Some("slug"))),
        samples::landing_at(samples::on_custom("pages.example.net", None)),
        samples::landing_at(samples::on_custom(&longest_host('c'), Some(&"Z".repeat(64)))),
        samples::landing_at(samples::lost(Some("lost"))),
        samples::landing_at(samples::lost(None)),
        Landing { is_active: false, ..samples::landing("inactive-page") },
        Landing { analytics_enabled: false, ..samples::landing("uncounted-page") },
        Landing { name: samples::name(&"𝄞".repeat(100)), ..samples::landing("long-title") },
        Landing { name: samples::name("'; -- %_ \"Menu\" <b>&amp;</b>"), ..samples::landing("odd-title") },
        Landing { created_at: Timestamp::EPOCH, updated_at: Timestamp::EPOCH, ..samples::landing("p-first") },
        Landing { created_at: Timestamp::LAST, updated_at: Timestamp::LAST, ..samples::landing("p-last") },
        Landing { updated_at: samples::at(1), ..samples::landing("p-a-millisecond-later") },
        samples::landing(&"y".repeat(64)),
    ];
    landings.extend(notes().enumerate().map(|(number, note)| Landing {
        note: Some(note),
        ..samples::landing(&format!("page-note-{number}"))
    }));
    landings
}

/// A hostname of the maximum length; each letter gives a different one.
fn longest_host(letter: char) -> String {
    format!("{0}.{0}.{0}.{1}", "a".repeat(63), letter.to_string().repeat(61))
}

fn notes() -> impl Iterator<Item = Note> {
    [
        "",
        "   ",
        " first\r\nsecond\n\ttabbed ",
        "'single' \"double\" `back` \\ ; -- /* */ %_ {} $1 ?",
        "\u{1}\u{7f}\u{85}\u{2028}\u{feff}\u{fffd}\u{10ffff}",
        "e\u{301} é ﷺ 👩\u{200d}👩\u{200d}👧\u{200d}👦 \u{202e}right to left\u{202c} \u{200b}",
        "null",
        &"𝄞".repeat(256),
    ]
    .map(samples::note)
    .into_iter()
}
