//! What links ask of their visitors (D55, D56).

use std::net::IpAddr;

use actix_http::RequestHead;
use signpost_domain::CountryCode;

use crate::sections::Items;

/// What a link asks of its visitors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkGates<'a> {
    /// Whether bots are turned away.
    pub(crate) antibot: bool,
    /// From where nobody is let in.
    pub(crate) countries: BlockedCountries<'a>,
}

/// The countries from which nobody is let in.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockedCountries<'a>(Items<'a>);

impl<'a> BlockedCountries<'a> {
    /// Those whose codes stand in a list.
    pub(crate) const fn new(codes: Items<'a>) -> Self {
        Self(codes)
    }

    /// Whether there is none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether visitors from `country` are turned away.
    pub(crate) fn blocks(&self, country: CountryCode) -> bool {
        let mut codes = self.0;
        codes.any(|code| code == country.as_str().as_bytes())
    }
}

/// What is known of a visitor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GateRequest<'a> {
    /// What the visitor sent.
    pub(crate) head: &'a RequestHead,
    /// Where the visitor is.
    pub(crate) address: IpAddr,
}

/// What turns the visitor away; `None` if nothing does.
pub(crate) fn judge(_gates: &LinkGates<'_>, _request: &GateRequest<'_>) -> Option<TurnedAway> {
    None
}

/// What turned a visitor away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnedAway {
    /// It is a bot, by this rule.
    Bot {
        /// The name of the rule.
        rule: &'static str,
    },
    /// It is in a country from which nobody is let in.
    Country {
        /// The country.
        country: CountryCode,
    },
}
