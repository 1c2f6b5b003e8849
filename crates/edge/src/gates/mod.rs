//! The gates of links (D55, D56).
//!
//! Antibot runs before the country block: it costs less, and its answer does not depend on the visitor's
//! country (ADR 40).

mod reasons;

use std::net::IpAddr;
use std::sync::Arc;

use actix_http::RequestHead;
use actix_http::header::HeaderName;
use signpost_app::Application;
use signpost_domain::{CountryCode, LinkId};
use signpost_enrichment::{Category, KnownProgram};

pub(crate) use reasons::{Reason, ReasonCounters, UNKNOWN, byte_of, missing_of};

use crate::visitor;

/// The gates of a link.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkGates<'a> {
    /// Whether bots are turned away.
    pub(crate) antibot: bool,
    /// The countries whose visitors are turned away.
    pub(crate) countries: BlockedCountries<'a>,
}

/// The countries whose visitors are turned away.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct BlockedCountries<'a>(&'a [[u8; 2]]);

impl<'a> BlockedCountries<'a> {
    /// Takes the letters of each country.
    pub(crate) const fn new(codes: &'a [[u8; 2]]) -> Self {
        Self(codes)
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether visitors from `country` are turned away.
    pub(crate) fn blocks(&self, country: CountryCode) -> bool {
        self.0.iter().any(|code| code == country.as_str().as_bytes())
    }
}

/// What gates know about a visitor.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GateRequest<'a> {
    /// The head of the request.
    pub(crate) head: &'a RequestHead,
    /// The visitor's address, if it is known.
    pub(crate) address: Option<IpAddr>,
    /// The visitor's country, if the caller gives it.
    pub(crate) country: Option<CountryCode>,
}

/// Why a gate turned a visitor away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnedAway {
    /// The visitor is a program, by this rule.
    Bot {
        /// The name of the rule.
        rule: &'static str,
    },
    /// The visitor is in a blocked country.
    Country {
        /// The country.
        country: CountryCode,
    },
}

impl TurnedAway {
    /// Logs why, so that the operator can answer "why was I blocked?". The line holds no address and nothing
    /// that the visitor sent; rule names are Signpost's own (R31).
    fn log(self, link: LinkId) {
        match self {
            Self::Bot { rule } => tracing::debug!(%link, rule, "antibot turned a visitor away"),
            Self::Country { country } => {
                tracing::debug!(%link, %country, "a country block turned a visitor away");
            }
        }
    }
}

/// Judges visitors by the gates of a link.
pub(crate) struct Gates {
    app: Arc<Application>,
    /// The header in which trusted proxies name the visitor's country.
    country_header: Option<HeaderName>,
}

impl Gates {
    pub(crate) const fn new(app: Arc<Application>, country_header: Option<HeaderName>) -> Self {
        Self { app, country_header }
    }

    /// Returns why a gate turns the visitor away; `None` if all let them in.
    pub(crate) fn check(&self, asked: &LinkGates<'_>, request: &GateRequest<'_>) -> Option<TurnedAway> {
        let LinkGates { antibot, countries } = asked;
        if *antibot && let Some(rule) = antibot_rule(request.head) {
            return Some(TurnedAway::Bot { rule });
        }
        if countries.is_empty() {
            return None;
        }
        let country = self.country(request)?;
        countries.blocks(country).then_some(TurnedAway::Country { country })
    }

    /// The visitor's country, if known: as given, or from the header of a trusted proxy, which saw the visitor's connection, otherwise
    /// from the database.
    pub(crate) fn country(&self, request: &GateRequest<'_>) -> Option<CountryCode> {
        let GateRequest { head, address, country } = request;
        let of_address = || self.app.countries.country((*address)?);
        country.or_else(|| self.country_in_header(head)).or_else(of_address)
    }

    /// The visitor's country, if a trusted proxy names it.
    pub(crate) fn country_in_header(&self, head: &RequestHead) -> Option<CountryCode> {
        let name = self.country_header.as_ref()?;
        let peer = head.peer_addr?.ip();
        if !self.app.client_addresses.trusts(peer) {
            return None;
        }
        code_in(head, name)
    }
}

/// Returns the country in the header. A proxy may append its value to one that the visitor sent, so the last
/// value counts.
fn code_in(head: &RequestHead, name: &HeaderName) -> Option<CountryCode> {
    let value = head.headers().get_all(name).last()?;
    let last = value.as_bytes().rsplit(|byte| *byte == b',').next().unwrap_or_default();
    let code = str::from_utf8(last).ok()?.trim();
    // Longer values are no codes. Checking first avoids a copy.
    if code.len() == 2 { CountryCode::parse(code).ok() } else { None }
}

/// The rule by which antibot turns the visitor away.
fn antibot_rule(head: &RequestHead) -> Option<&'static str> {
    visitor::named_programs(head.headers()).find_map(rule_against)
}

fn rule_against(KnownProgram { rule, category }: KnownProgram) -> Option<&'static str> {
    match category {
        Category::Bot | Category::Script | Category::Automation | Category::Empty => Some(rule),
        // These fetch pages that people look at, and D56 does not name them (ADR 40).
        Category::Previewer | Category::Viewer => None,
    }
}
