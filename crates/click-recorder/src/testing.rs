//! Shared by the tests of this crate.

use signpost_app::ports::{Click, ClickKind};
use signpost_domain::analytics::{Dimension, Values};
use signpost_domain::{AccountId, CountryCode, RedirectId};
use signpost_port_contracts::samples;

use crate::facts::{Facts, FindFacts};

/// Takes every agent with `bot` in it for a bot, and knows no other fact than the country.
pub(crate) struct PlainFacts;

impl FindFacts for PlainFacts {
    fn find(
        &mut self,
        click: &Click<'_>,
        country: Option<CountryCode>,
        use_facts: &mut dyn FnMut(Facts<'_>),
    ) {
        let mut values = Values::default();
        values.0[Dimension::Country.recorded_place().unwrap()] = country.map_or("", CountryCode::as_str);
        let is_bot = click.user_agent.windows(3).any(|text| text == b"bot");
        use_facts(Facts { is_bot, values, alike: None });
    }
}

/// The click of a person on a redirect.
pub(crate) fn click() -> Click<'static> {
    Click {
        at: samples::at(1_769_850_307_042),
        link: RedirectId::from_bytes([7; 16]).into(),
        account: AccountId::from_bytes([1; 16]),
        kind: ClickKind::Sent,
        rule: "",
        address: "192.0.2.7".parse().unwrap(),
        country: None,
        user_agent: b"person",
        referrer: b"",
        accept_language: b"",
        query: b"",
        purpose: b"",
    }
}
