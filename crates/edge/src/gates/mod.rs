//! What links ask of their visitors (D55, D56).
//!
//! Antibot comes before the country: it costs less, and its answer does not depend on where the visitor is (ADR 40).

mod countries;
mod programs;
mod reasons;

use std::net::IpAddr;
use std::sync::Arc;

use actix_http::RequestHead;
use actix_http::header::HeaderName;
use signpost_app::Application;
use signpost_domain::{CountryCode, LinkId};

pub(crate) use reasons::{Reason, ReasonCounters, UNKNOWN, byte_of, missing_of};

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

/// What turned a visitor away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnedAway {
    /// It is a program, by this rule.
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

impl TurnedAway {
    /// Logs why, so that the operator can answer "why was I blocked?". Nothing of what the visitor sent is in it, nor the
    /// address: a rule has a name of ours (R31).
    fn log(self, link: LinkId) {
        match self {
            Self::Bot { rule } => tracing::debug!(%link, rule, "antibot turned a visitor away"),
            Self::Country { country } => {
                tracing::debug!(%link, %country, "a country block turned a visitor away");
            }
        }
    }
}

/// Judges visitors by what a link asks.
pub(crate) struct Gates {
    app: Arc<Application>,
    /// The header in which trusted proxies name the visitor's country.
    country_header: Option<HeaderName>,
}

impl Gates {
    pub(crate) const fn new(app: Arc<Application>, country_header: Option<HeaderName>) -> Self {
        Self { app, country_header }
    }

    /// What turns the visitor away; `None` if nothing does.
    pub(crate) fn judge(&self, asked: &LinkGates<'_>, request: &GateRequest<'_>) -> Option<TurnedAway> {
        let LinkGates { antibot, countries } = asked;
        if *antibot && let Some(rule) = programs::turned_away(request.head) {
            return Some(TurnedAway::Bot { rule });
        }
        if countries.is_empty() {
            return None;
        }
        let country = self.country(request)?;
        countries.blocks(country).then_some(TurnedAway::Country { country })
    }
}
