//! Random rules and visits, from few values, so that conditions hold often.

use std::net::IpAddr;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use signpost_domain::routing::{
    AgentName, AnyOf, Condition, DateRange, Device, Facts, Hours, Network, QueryIs, QueryTest, QueryText,
    ReferrerHost, Rule, RuleName, RuleTarget, Rules, Split, SplitKey, Test, TimeOfDay, Variant, Weekday,
    Weekdays, Weight, ZoneName,
};
use signpost_domain::{CountryCode, Id, LanguageTag, TargetUrl, Timestamp};

const DAY: i64 = 86_400_000;

/// When rules are compiled: 2026-03-28, a day before most clocks of Europe are set.
pub(super) const COMPILED_AT: i64 = 1_774_656_000_000;

/// An instant soon after that, or so late that no offset was worked out, or before.
fn instant() -> impl Strategy<Value = Timestamp> {
    let offset = prop_oneof![
        4 => 0..3 * DAY,
        2 => 0..800 * DAY,
        1 => 0..20_000 * DAY,
        1 => -10_000 * DAY..0,
    ];
    offset.prop_map(|offset| Timestamp::from_unix_millis(COMPILED_AT + offset).unwrap())
}

fn some_of<T: Clone + std::fmt::Debug + 'static>(values: Vec<T>) -> impl Strategy<Value = Vec<T>> {
    let most = values.len().min(5);
    subsequence(values, 1..=most).prop_shuffle()
}

fn any_of<T: Clone + Eq + std::hash::Hash + std::fmt::Debug + 'static>(
    values: Vec<T>,
) -> impl Strategy<Value = AnyOf<T>> {
    some_of(values).prop_map(|items| AnyOf::new(items, 250).unwrap())
}

fn parsed<T>(texts: &[&str], parse: impl Fn(&str) -> Option<T>) -> Vec<T> {
    texts.iter().map(|text| parse(text).unwrap()).collect()
}

fn country() -> impl Strategy<Value = CountryCode> {
    select(parsed(&["AT", "CH", "DE", "FR", "GB", "US", "ZW"], |code| CountryCode::parse(code).ok()))
}

fn names() -> impl Strategy<Value = AnyOf<AgentName>> {
    let texts = ["iOS", "Mac OS X", "windows", "Firefox", "Mobile Safari", "\u{c4}ther"];
    any_of(parsed(&texts, |text| AgentName::parse(text).ok()))
}

fn hours() -> impl Strategy<Value = Hours> {
    let zones = [
        "UTC",
        "Europe/Berlin",
        "America/St_Johns",
        "Asia/Kathmandu",
        "Australia/Lord_Howe",
        "Africa/Casablanca",
    ];
    let mut zones = parsed(&zones, |zone| ZoneName::parse(zone).ok());
    zones.push(ZoneName::from_stored("Mars/Olympus".to_owned()).unwrap());
    let minute = || {
        prop_oneof![Just((0, 0)), Just((2, 0)), Just((3, 0)), (0..24_u32, 0..60_u32)]
            .prop_map(|(hour, minute)| TimeOfDay::parse(&format!("{hour:02}:{minute:02}")).unwrap())
    };
    let days = subsequence((1..=7).collect::<Vec<i64>>(), 1..=7).prop_map(|days| {
        Weekdays::new(&days.into_iter().map(|day| Weekday::parse(day).unwrap()).collect::<Vec<_>>()).unwrap()
    });
    (select(zones), days, minute(), minute()).prop_map(|(timezone, days, from, until)| Hours {
        timezone,
        days,
        from,
        until,
    })
}

fn query_test() -> impl Strategy<Value = QueryTest> {
    let name = select(vec!["a", "b c", "\u{e9}", "%", "a+b", "100%zz"]);
    let value = select(vec!["", "1", "x y", "\u{e9}&=", "100%", "+"])
        .prop_map(|value| QueryIs::Equals(QueryText::parse_value(value).unwrap()));
    let is = prop_oneof![Just(QueryIs::Present), Just(QueryIs::Absent), value];
    (name, is).prop_map(|(name, is)| QueryTest { name: QueryText::parse_name(name).unwrap(), is })
}

fn test() -> impl Strategy<Value = Test> {
    let countries: Vec<CountryCode> = CountryCode::all().collect();
    let many = subsequence(countries, 1..=CountryCode::COUNT).prop_shuffle();
    let date = (option::of(instant()), option::of(instant()))
        .prop_filter_map("no range", |(from, until)| DateRange::new(from, until).ok());
    let tags = parsed(&["de", "de-AT", "en", "zh-Hant"], |tag| LanguageTag::parse(tag).ok());
    let hosts = ["", "example.com", "news.example.com", "b\u{fc}cher.example", "192.0.2.7", "com"];
    let hosts = parsed(&hosts, |host| ReferrerHost::parse(host).ok());
    let networks = [
        "192.0.2.0/24",
        "0.0.0.0/0",
        "192.0.2.7",
        "192.0.2.128/25",
        "2001:db8::/32",
        "::/0",
        "2001:db8::1",
        "2001:db8:8000::/33",
        "::ffff:192.0.2.0/120",
        "::ffff:192.0.2.7",
    ];
    let networks = parsed(&networks, |network| Network::parse(network).ok());
    prop_oneof![
        many.prop_map(|codes| Test::Country(AnyOf::new(codes, CountryCode::COUNT).unwrap())),
        vec(country(), 1..4).prop_map(|codes| Test::Country(AnyOf::new(codes, 250).unwrap())),
        any_of(Device::ALL.to_vec()).prop_map(Test::Device),
        names().prop_map(Test::Os),
        names().prop_map(Test::Browser),
        any_of(tags).prop_map(Test::Language),
        date.prop_map(Test::Date),
        hours().prop_map(Test::Hours),
        query_test().prop_map(Test::Query),
        any_of(hosts).prop_map(Test::Referrer),
        any_of(networks).prop_map(Test::Network),
    ]
}

fn target() -> impl Strategy<Value = TargetUrl> {
    (0..1_000_u32, select(vec!["http", "https", "HTTPS"])).prop_map(|(number, scheme)| {
        TargetUrl::parse(&format!("{scheme}://{number}.b\u{fc}cher.example/{number}?q=\u{fc}#x")).unwrap()
    })
}

fn leads_to() -> impl Strategy<Value = RuleTarget> {
    let weights = prop_oneof![vec(1..=1_000_i64, 2..=10), vec(1..3_i64, 2..4)];
    let split = weights.prop_flat_map(|weights| {
        let targets = vec(target(), weights.len());
        (Just(weights), targets).prop_map(|(weights, targets)| {
            let variants = weights.into_iter().zip(targets).enumerate();
            let variants = variants.map(|(number, (weight, target_url))| Variant {
                name: RuleName::parse(&format!("v{number}")).unwrap(),
                target_url,
                weight: Weight::parse(weight).unwrap(),
            });
            RuleTarget::Split(Split::new(variants.collect()))
        })
    });
    prop_oneof![3 => target().prop_map(RuleTarget::Target), 2 => split]
}

pub(super) fn rules() -> impl Strategy<Value = Rules> {
    let condition = (test(), any::<bool>()).prop_map(|(test, is_negated)| Condition { test, is_negated });
    let rule = (any::<[u8; 16]>(), option::of("[a-z0-9_-]{1,32}"), vec(condition, 0..=5), leads_to())
        .prop_map(|(id, name, conditions, leads_to)| Rule {
            id: Id::from_bytes(id),
            name: name.map(|name| RuleName::parse(&name).unwrap()),
            conditions,
            leads_to,
        });
    (any::<[u8; 16]>(), vec(rule, 0..=20)).prop_map(|(key, mut list)| {
        // A rule for all visitors would hide those behind it, and the last one may be such a rule.
        let last = list.pop();
        list.retain(|rule| !rule.conditions.is_empty());
        list.extend(last);
        Rules::new(SplitKey::from_bytes(key), list)
    })
}

/// A visit, whose facts may be unknown.
#[derive(Debug, Clone)]
pub(super) struct Visit {
    country: Option<CountryCode>,
    device: Option<Device>,
    os: Option<String>,
    browser: Option<String>,
    language: Option<String>,
    now: Option<Timestamp>,
    query: Option<Vec<u8>>,
    referrer: Option<String>,
    address: Option<IpAddr>,
    agent: Vec<u8>,
}

impl Visit {
    pub(super) fn facts(&self) -> Facts<'_> {
        Facts {
            country: self.country,
            device: self.device,
            os: self.os.as_deref(),
            browser: self.browser.as_deref(),
            language: self.language.as_deref(),
            now: self.now,
            query: self.query.as_deref(),
            referrer: self.referrer.as_deref(),
            address: self.address,
            agent: &self.agent,
        }
    }
}

fn text(texts: &[&str]) -> impl Strategy<Value = String> + use<> {
    let known = select(texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>());
    prop_oneof![9 => known, 1 => ".{0,20}"]
}

fn query() -> impl Strategy<Value = Vec<u8>> {
    let parts = vec![
        "a",
        "a=1",
        "a=",
        "=1",
        "=",
        "",
        "b+c=x+y",
        "b%20c=x%20y",
        "b%2bc",
        "%C3%A9=%c3%a9%26%3d",
        "%=100%25",
        "%=100%",
        "%2",
        "%zz=1",
        "100%25zz",
        "100%zz=%2B",
        "a%2Bb",
        "a%2bb=+",
        "%61=%31",
        "A=1",
        "a=1=2",
        "\u{e9}",
    ];
    let parts = vec(select(parts), 0..5).prop_map(|parts| parts.join("&").into_bytes());
    prop_oneof![9 => parts, 1 => vec(any::<u8>(), 0..40)]
}

fn address() -> impl Strategy<Value = IpAddr> {
    let known = [
        "192.0.2.7",
        "192.0.2.200",
        "192.0.3.7",
        "::ffff:192.0.2.7",
        "2001:db8::1",
        "2001:db8:8000::1",
        "2001:db9::1",
        "::1",
    ];
    let known = select(known.map(|address| address.parse().unwrap()).to_vec());
    prop_oneof![4 => known, 1 => any::<u32>().prop_map(|bits| IpAddr::V4(bits.into())), 1 => any::<u128>().prop_map(|bits| IpAddr::V6(bits.into()))]
}

pub(super) fn visit() -> impl Strategy<Value = Visit> {
    let agent_names =
        ["iOS", "IOS", "Mac OS X", "Windows", "firefox", "Mobile Safari", "\u{c4}ther", "\u{e4}ther", ""];
    let languages =
        ["de", "DE-at", "den", "de-", "de-AT-1996", "d", "", "en-GB", "zh", "zh-hant-TW", "d\u{e9}"];
    let referrers = [
        "",
        "example.com",
        "www.Example.COM",
        "anexample.com",
        "com",
        "news.example.com",
        ".example.com",
        "xn--bcher-kva.example",
        "192.0.2.7",
        "x\u{e9}.example.com",
        "\u{e9}com",
    ];
    let of_agent = (
        option::of(select(Device::ALL.to_vec())),
        option::of(text(&agent_names)),
        option::of(text(&agent_names)),
    );
    let of_headers = (
        option::of(text(&languages)),
        option::of(query()),
        option::of(text(&referrers)),
        vec(any::<u8>(), 0..30),
    );
    (option::of(country()), of_agent, option::of(instant()), of_headers, option::of(address())).prop_map(
        |(country, (device, os, browser), now, (language, query, referrer, agent), address)| Visit {
            country,
            device,
            os,
            browser,
            language,
            now,
            query,
            referrer,
            address,
            agent,
        },
    )
}
