//! Random rules and random visitors: a visit and an explanation send them where the domain does (D133, D134, D136).

use std::fmt::Write as _;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use signpost_app::explain::{Explanation, VisitFacts, VisitHeader, VisitOutcome, VisitQuery};
use signpost_domain::routing::{Device, Facts};
use signpost_domain::{CountryCode, RedirectStatus, Timestamp};
use signpost_port_contracts::samples;

use crate::explained_cases::{explain, germany, way, with_countries};
use crate::harness::HOST;
use crate::rules::{COMPUTER, DEFAULT, PHONE, ruled};

/// The variable with other numbers of links and of visitors of each link: `2000x50`.
const VARIABLE: &str = "SIGNPOST_EXPLAINED_VISITS";

/// The numbers of links and of visitors of each link without the variable.
const USUAL: (usize, usize) = (60, 12);

fn links_and_visitors() -> (usize, usize) {
    let Ok(named) = std::env::var(VARIABLE) else { return USUAL };
    let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
    let numbers =
        named.split_once('x').and_then(|(links, visitors)| Some((number(links)?, number(visitors)?)));
    numbers.unwrap_or_else(|| panic!("{VARIABLE} is not two numbers above 0 such as 2000x50: {named}"))
}

fn condition() -> impl Strategy<Value = String> {
    let test = select(vec![
        r#""type":"country","in":["DE","FR"]"#,
        r#""type":"country","in":["AT"]"#,
        r#""type":"device","in":["mobile"]"#,
        r#""type":"os","in":["Linux"]"#,
        r#""type":"browser","in":["Mobile Safari"]"#,
        r#""type":"language","in":["de"]"#,
        r#""type":"language","in":["fr-CA","en"]"#,
        r#""type":"date","from":"1970-03-01T00:00:00Z""#,
        r#""type":"hours","timezone":"Europe/Berlin","days":[1,2,3,4,5],"from":"09:00","until":"17:00""#,
        r#""type":"hours","timezone":"Pacific/Auckland","days":[6,7],"from":"22:00","until":"04:00""#,
        r#""type":"query","name":"a","is":"present""#,
        r#""type":"query","name":"b c","is":"equals","value":"ü""#,
        r#""type":"referrer","in":["example.com"]"#,
        r#""type":"referrer","in":[""]"#,
        r#""type":"network","in":["192.0.2.0/24","2001:db8::/32"]"#,
    ]);
    (test, any::<bool>()).prop_map(|(test, negated)| format!(r#"{{{test},"not":{negated}}}"#))
}

/// Rules as JSON, the last of them perhaps for everybody, with targets that tell them apart.
fn rules() -> impl Strategy<Value = String> {
    let rule = (vec(condition(), 1..4), any::<bool>(), any::<bool>());
    (vec(rule, 1..6), any::<bool>()).prop_map(|(rules, is_for_all)| {
        let last = rules.len();
        let mut json = String::from("[");
        for (number, (conditions, is_split, is_named)) in rules.into_iter().enumerate() {
            let conditions =
                if is_for_all && number + 1 == last { String::new() } else { conditions.join(",") };
            let name = if is_named { format!(r#""name":"r{number}","#) } else { String::new() };
            let target = |variant: &str| format!("https://example.org/{number}{variant}?own={number}#part");
            let leads_to = if is_split {
                let variants = ["x", "y", "z"].map(|variant| {
                    format!(r#"{{"name":"{variant}","target_url":"{}","weight":1}}"#, target(variant))
                });
                format!(r#""split":[{}]"#, variants.join(","))
            } else {
                format!(r#""target_url":"{}""#, target(""))
            };
            let comma = if number == 0 { "" } else { "," };
            let _ = write!(json, r#"{comma}{{{name}"conditions":[{conditions}],{leads_to}}}"#);
        }
        json + "]"
    })
}

#[derive(Debug, Clone)]
struct RandomVisitor {
    agent: &'static str,
    address: &'static str,
    country: &'static str,
    language: &'static str,
    referrer: &'static str,
    query: &'static str,
    at: i64,
}

fn visitor() -> impl Strategy<Value = RandomVisitor> {
    let agent = select(vec![VisitFacts::USUAL_AGENT, PHONE, COMPUTER, "", "Other/1"]);
    let address = select(vec!["192.0.2.1", "192.0.2.200", "198.51.100.1", "2001:db8::1", "2001:db9::1"]);
    let country = select(vec!["", "", "AT", "DE", "FR"]);
    let language = select(vec!["", "de", "fr-CA, en;q=0.9", "en-GB", "*", ";;"]);
    let referrer = select(vec![
        "",
        "https://example.com/",
        "https://www.example.com/?a",
        "https://example.org",
        "nonsense",
    ]);
    let query = select(vec!["", "a", "a=1&own=7", "b+c=%C3%BC", "b%20c=ü", "src=qr", "x=<&y='", "%zz"]);
    // Days of more than a year, with changes of clocks.
    let at = 0..400_i64 * 86_400_000;
    (agent, address, country, language, referrer, query, at).prop_map(
        |(agent, address, country, language, referrer, query, at)| RandomVisitor {
            agent,
            address,
            country,
            language,
            referrer,
            query,
            at,
        },
    )
}

impl RandomVisitor {
    fn facts(&self) -> VisitFacts {
        let header = |text: &str| VisitHeader::parse(text).ok();
        VisitFacts {
            country: CountryCode::parse(self.country).ok(),
            user_agent: header(self.agent),
            language: header(self.language),
            referrer: header(self.referrer),
            query: VisitQuery::parse(self.query).ok(),
            at: None,
            address: self.address.parse().ok(),
        }
    }

    /// What the edge has to find out about the visit with this query, by the tables of this test.
    fn known<'a>(&self, query: &'a str, now: Timestamp) -> Facts<'a> {
        let of_address = (self.address == "192.0.2.1").then(germany);
        let (device, os, browser) = match self.agent {
            PHONE => (Some(Device::Mobile), Some("iOS"), Some("Mobile Safari")),
            COMPUTER => (Some(Device::Desktop), Some("Linux"), None),
            _ => (None, None, None),
        };
        Facts {
            country: CountryCode::parse(self.country).ok().or(of_address),
            device,
            os,
            browser,
            language: match self.language {
                "fr-CA, en;q=0.9" => Some("fr-CA"),
                "" | "*" | ";;" => None,
                language => Some(language),
            },
            now: Some(now),
            query: Some(query.as_bytes()),
            referrer: match self.referrer {
                "" => Some(""),
                "nonsense" => None,
                page => page.strip_prefix("https://").and_then(|rest| rest.split('/').next()),
            },
            address: self.address.parse().ok(),
            agent: self.agent.as_bytes(),
        }
    }

    fn lines(&self) -> String {
        let Self { agent, address, country, language, referrer, .. } = self;
        let mut lines = format!("Host: {HOST}\r\nX-Forwarded-For: {address}\r\n");
        for (name, value) in [
            ("User-Agent", agent),
            ("X-Country", country),
            ("Accept-Language", language),
            ("Referer", referrer),
        ] {
            if !value.is_empty() {
                let _ = write!(lines, "{name}: {value}\r\n");
            }
        }
        lines
    }

    /// The query as browsers send it.
    fn sent_query(&self) -> String {
        self.query.replace('ü', "%C3%BC").replace('<', "%3C").replace('\'', "%27")
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn d136_explanations_and_visits_send_random_visitors_where_the_domain_does() {
    let edge = with_countries().await;
    let mut runner = TestRunner::deterministic();
    let (links, visitors) = links_and_visitors();
    let cases = (rules(), any::<bool>(), vec(visitor(), visitors));
    let mut decided = [0, 0];
    for number in 0..links {
        let (rules, forwards, visitors) = cases.new_tree(&mut runner).unwrap().current();
        let slug = format!("s{number}");
        let link = ruled(&slug, &rules).with(|content| {
            content.way = way(RedirectStatus::TemporaryRedirect, forwards, forwards.then_some("mail"));
        });
        edge.add(&link).await;
        let of_link = link.content.rules.clone();
        let link = link.into_any();
        for visitor in visitors {
            let context = format!("{visitor:?} of {rules}, forwarding: {forwards}");
            let at = samples::at(visitor.at);
            let explanation = explain(&edge, &link, &visitor.facts(), at).await;
            edge.memory.clock.set(at);
            let query = visitor.sent_query();
            let answer = edge.request_with("GET", &format!("/{slug}?{query}"), &visitor.lines());
            let Explanation { outcome, status, location, rule, .. } = &explanation;
            assert_eq!((*outcome, *status), (VisitOutcome::Redirect, answer.status), "{context}");
            assert_eq!(location.as_deref(), answer.header("location"), "{context}");
            let decision = of_link.decide(&visitor.known(&query, at));
            let expected =
                decision.map(|decision| (decision.rule.id, decision.variant.map(|variant| &variant.name)));
            assert_eq!(rule.as_ref().map(|rule| (rule.id, rule.variant.as_ref())), expected, "{context}");
            if !forwards {
                let target = decision.map_or(DEFAULT, |decision| decision.target_url.as_str());
                assert_eq!(answer.header("location"), Some(target), "{context}");
            }
            decided[usize::from(rule.is_some())] += 1;
        }
    }
    // The rules of a few links may decide all of their visits, or none.
    let often = if links < USUAL.0 { 0 } else { decided.iter().sum::<usize>() / 20 };
    assert!(decided.iter().all(|number| *number >= often), "rules decide often and not always: {decided:?}");
}
