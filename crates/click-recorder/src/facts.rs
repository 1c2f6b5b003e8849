//! The facts that are derived from a visit.

use std::net::{IpAddr, Ipv4Addr};

use signpost_app::ports::Click;
use signpost_domain::CountryCode;
use signpost_domain::analytics::Values;
use signpost_enrichment::{Enricher, FactsOfAlike, Sent};

/// Derives facts from visits, on one thread and off the visitor's path.
pub trait FindFacts: Send {
    /// Passes the facts of a visit to `use_facts`. `country` is the visitor's, if already known.
    fn find(&mut self, click: &Click<'_>, country: Option<CountryCode>, use_facts: &mut dyn FnMut(Facts<'_>));

    /// Does what would take long at the first visit. The recorder calls it once, on its own thread, before the first
    /// [`find`](Self::find).
    fn warm_up(&mut self) {}
}

/// The facts of a visit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Facts<'a> {
    /// Whether the visitor was a known bot, a link previewer or a prefetch (D48).
    pub is_bot: bool,
    /// The values of all dimensions except the widget and the rule.
    pub values: Values<'a>,
    /// A number that visits share only if they have the same facts, except for the country.
    pub alike: Option<u64>,
}

impl FindFacts for Enricher {
    fn find(
        &mut self,
        click: &Click<'_>,
        country: Option<CountryCode>,
        use_facts: &mut dyn FnMut(Facts<'_>),
    ) {
        let Click { user_agent, referrer, accept_language, query, purpose, address, .. } = *click;
        let sent = Sent { user_agent, referrer, accept_language, query, purpose, address };
        let FactsOfAlike { number, facts, country } = self.facts_of_alike(&sent, country);
        use_facts(Facts {
            alike: Some(number),
            is_bot: facts.is_bot,
            // In the order of `Dimension::RECORDED`.
            values: Values([
                facts.channel,
                country,
                facts.device,
                &facts.os,
                &facts.browser,
                &facts.language,
                &facts.referrer,
                &facts.utm_source,
                &facts.utm_medium,
                &facts.utm_campaign,
                "",
            ]),
        });
    }

    /// The first facts compile the rules, each at its first use.
    fn warm_up(&mut self) {
        let address = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
        let sent = Sent {
            user_agent: b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            referrer: b"https://example.com/",
            accept_language: b"en",
            query: b"utm_source=example",
            purpose: b"",
            address,
        };
        self.facts(&sent, None);
    }
}

#[cfg(test)]
mod tests {
    use signpost_app::ports::Click;
    use signpost_domain::analytics::Dimension;
    use signpost_enrichment::Sources;

    use super::*;
    use crate::testing::click;

    #[test]
    fn d47_each_fact_is_stored_in_its_dimension() {
        let click = Click {
            user_agent: b"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
            referrer: b"https://www.example.org/page",
            accept_language: b"de-AT",
            query: b"utm_source=letter&utm_medium=paper&utm_campaign=autumn",
            ..click()
        };
        let country = CountryCode::parse("AT").ok();
        let mut seen = Vec::new();
        Enricher::new(Sources::default()).find(&click, country, &mut |facts| {
            assert!(!facts.is_bot);
            for dimension in Dimension::RECORDED {
                seen.push((dimension.as_str(), facts.values.get(dimension).unwrap().to_owned()));
            }
        });
        let value = |name| &seen.iter().find(|(dimension, _)| *dimension == name).unwrap().1;
        for (name, expected) in [
            ("country", "AT"),
            ("device", "desktop"),
            ("os", "Linux"),
            ("browser", "Firefox"),
            ("language", "de"),
            ("referrer", "example.org"),
            ("utm_source", "letter"),
            ("utm_medium", "paper"),
            ("utm_campaign", "autumn"),
            ("widget", ""),
        ] {
            assert_eq!(value(name), expected, "{name}");
        }
        assert!(!value("channel").is_empty());
    }
}
