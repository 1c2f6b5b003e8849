//! Derives all facts of a click.

use std::net::IpAddr;
use std::sync::Arc;

use signpost_domain::CountryCode;

use crate::agents::{self, AgentNames};
use crate::bots::{Bots, is_ahead_of_visit};
use crate::cache::{Cache, HeapSize};
use crate::categories::{self, Category};
use crate::channel::channel;
use crate::country::country;
use crate::language::Language;
use crate::query::{ClickId, Marks};
use crate::referrer::Referrer;
use crate::sources::Sources;
use crate::text;

/// How much of a header is examined. The edge keeps no more, and the limit bounds the work for any caller.
const MAX_EXAMINED_BYTES: usize = 512;

/// How much of a query is examined. Other parameters often come before the marks.
const MAX_EXAMINED_BYTES_OF_QUERY: usize = 8 * 1024;

/// Room for about 8,000 agents of typical length: far more than the repeated agents of a day.
const AGENTS_BYTES: u32 = 4 * 1024 * 1024;

/// Room for about 8,000 facts by everything that a visitor sent.
const COMBINED_BYTES: u32 = 4 * 1024 * 1024;

/// Room for referrers, and for queries and languages.
const OTHERS_BYTES: u32 = 1024 * 1024;

/// What a visitor sent with a visit. It may be any bytes; the first 512 of each header are examined, and the first 8,192 of the
/// query.
#[derive(Debug, Clone, Copy)]
pub struct Sent<'a> {
    /// The header `User-Agent`.
    pub user_agent: &'a [u8],
    /// The header `Referer`.
    pub referrer: &'a [u8],
    /// The header `Accept-Language`.
    pub accept_language: &'a [u8],
    /// The query of the visited address, without its `?`.
    pub query: &'a [u8],
    /// The header `Sec-Purpose`, or else an older one of the same meaning.
    pub purpose: &'a [u8],
    /// The visitor's own address, behind trusted proxies. It only decides the country, and is never stored.
    pub address: IpAddr,
}

/// The values of a click's dimensions (D47). An unknown value is empty.
///
/// Texts are valid, have no control characters, and at most 100 characters (a referrer 253). Clones share
/// them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Whether it counts as a bot: a known program, a link previewer, or a page fetched before a visit (D48).
    pub is_bot: bool,
    /// One of D47's channels; never empty.
    pub channel: &'static str,
    /// A code of ISO 3166-1 in upper case.
    pub country: &'static str,
    /// `desktop`, `mobile`, `tablet`, `tv` or `other`.
    pub device: &'static str,
    /// The family of the operating system, such as `iOS`.
    pub os: Arc<str>,
    /// The family of the browser, such as `Mobile Safari`.
    pub browser: Arc<str>,
    /// Two or three letters in lower case.
    pub language: Arc<str>,
    /// The host that referred the visitor, without `www.`.
    pub referrer: Arc<str>,
    /// In lower case.
    pub utm_source: Arc<str>,
    /// In lower case.
    pub utm_medium: Arc<str>,
    /// As it was sent.
    pub utm_campaign: Arc<str>,
}

/// Derives the facts of clicks.
///
/// The first click compiles the built-in rules, which takes a good part of a second.
pub struct Enricher {
    sources: Sources,
    bots: Bots,
    agents: Cache<AgentFacts>,
    referrers: Cache<ReferrerFacts>,
    /// The query of most clicks.
    no_query: Query,
    queries: Cache<Query>,
    languages: Cache<Arc<str>>,
    /// By everything that was sent. Most visitors send what another has sent before.
    combined: Cache<CombinedFacts>,
    /// Its key, with room for the next one.
    key: Vec<u8>,
    numbered: u64,
}

/// The facts of visitors who sent the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactsOfAlike {
    /// Facts with the same number are equal, except for the country.
    pub number: u64,
    /// The facts, without a country.
    pub facts: Arc<Facts>,
    /// The country of this visitor: a code of ISO 3166-1 in upper case, or empty.
    pub country: &'static str,
}

#[derive(Clone)]
struct CombinedFacts {
    number: u64,
    facts: Arc<Facts>,
}

impl HeapSize for CombinedFacts {
    /// The texts are shared with those of the parts.
    fn bytes(&self) -> usize {
        size_of::<Facts>()
    }
}

/// The facts of an agent.
#[derive(Clone)]
struct AgentFacts {
    is_bot: bool,
    device: &'static str,
    os: Arc<str>,
    browser: Arc<str>,
}

impl HeapSize for AgentFacts {
    fn bytes(&self) -> usize {
        self.os.len() + self.browser.len()
    }
}

/// The facts of a referrer.
#[derive(Clone)]
struct ReferrerFacts {
    is_there: bool,
    host: Arc<str>,
    category: Option<Category>,
}

impl HeapSize for ReferrerFacts {
    fn bytes(&self) -> usize {
        self.host.len()
    }
}

/// The facts of a query, with texts ready for sharing.
#[derive(Clone)]
struct Query {
    marks: Arc<Marks>,
    source: Arc<str>,
    medium: Arc<str>,
    campaign: Arc<str>,
    category: Option<Category>,
}

impl HeapSize for Query {
    fn bytes(&self) -> usize {
        // Each text exists twice: once among the marks.
        size_of::<Marks>() + 2 * (self.source.len() + self.medium.len() + self.campaign.len())
    }
}

impl HeapSize for Arc<str> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Enricher {
    /// Creates an enricher with these sources.
    #[must_use]
    pub fn new(sources: Sources) -> Self {
        Self {
            bots: Bots::new(sources.clone()),
            sources,
            agents: Cache::of_bytes(AGENTS_BYTES),
            referrers: Cache::of_bytes(OTHERS_BYTES),
            no_query: Query {
                marks: Arc::default(),
                source: text::empty(),
                medium: text::empty(),
                campaign: text::empty(),
                category: None,
            },
            queries: Cache::of_bytes(OTHERS_BYTES),
            languages: Cache::of_bytes(OTHERS_BYTES),
            combined: Cache::of_bytes(COMBINED_BYTES),
            key: Vec::new(),
            numbered: 0,
        }
    }

    /// Derives the facts of one click. `known_country` comes from the operator's database or a trusted header
    /// (D55); without it the registries' list decides.
    pub fn facts(&mut self, sent: &Sent<'_>, known_country: Option<CountryCode>) -> Facts {
        let FactsOfAlike { facts, country, .. } = self.facts_of_alike(sent, known_country);
        Facts { country, ..Arc::unwrap_or_clone(facts) }
    }

    /// Derives the same facts, for callers that reuse their results for equal facts.
    pub fn facts_of_alike(&mut self, sent: &Sent<'_>, known_country: Option<CountryCode>) -> FactsOfAlike {
        let Sent { user_agent, referrer, accept_language, query, purpose, address } = *sent;
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        let [user_agent, referrer, accept_language, purpose] =
            [user_agent, referrer, accept_language, purpose].map(examined);
        for text in [user_agent, referrer, accept_language, examined_of_query(query), purpose] {
            // The length separates values, so different visitors never have the same key.
            key.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            key.extend_from_slice(text);
        }
        let known = self.combined.get(&key).cloned();
        let CombinedFacts { number, facts } = known.unwrap_or_else(|| {
            self.numbered += 1;
            let combined = CombinedFacts { number: self.numbered, facts: Arc::new(self.derive(sent)) };
            self.combined.insert(&key, combined.clone());
            combined
        });
        self.key = key;
        FactsOfAlike { number, facts, country: country(address, known_country) }
    }

    /// Derives everything except the country.
    fn derive(&mut self, sent: &Sent<'_>) -> Facts {
        let Sent { user_agent, referrer, accept_language, query, purpose, .. } = *sent;
        let agent = self.agent(examined(user_agent));
        let referred = self.referred(examined(referrer));
        let query = self.query(examined_of_query(query));
        let language = self.language(examined(accept_language));
        Facts {
            is_bot: agent.is_bot || is_ahead_of_visit(purpose),
            channel: self.channel(&query, &referred),
            country: "",
            device: agent.device,
            os: agent.os,
            browser: agent.browser,
            language,
            referrer: referred.host,
            utm_source: query.source,
            utm_medium: query.medium,
            utm_campaign: query.campaign,
        }
    }

    fn agent(&mut self, sent: &[u8]) -> AgentFacts {
        if let Some(agent) = self.agents.get(sent) {
            return agent.clone();
        }
        let readable = String::from_utf8_lossy(sent);
        // First, because the visitors' side waits for these patterns after a start.
        let is_bot = self.bots.is_program(sent, &readable);
        let AgentNames { device, os, browser } = agents::names(&self.sources, &readable);
        let agent = AgentFacts { is_bot, device, os: shared(&os), browser: shared(&browser) };
        self.agents.insert(sent, agent.clone());
        agent
    }

    fn referred(&mut self, sent: &[u8]) -> ReferrerFacts {
        if sent.is_empty() {
            return ReferrerFacts { is_there: false, host: text::empty(), category: None };
        }
        // Path and query of a referrer do not matter, so the host is the key.
        let (is_there, host) = match Referrer::read(sent) {
            Referrer::None => (false, None),
            Referrer::Nameless => (true, None),
            Referrer::Host(host) => (true, Some(host)),
            Referrer::App(package) => {
                let host = self.sources.channels().host_of_app(&package).map(str::to_owned);
                (true, Some(host.unwrap_or(package)))
            }
        };
        let Some(host) = host else {
            return ReferrerFacts { is_there, host: text::empty(), category: None };
        };
        if let Some(referred) = self.referrers.get(host.as_bytes()) {
            return referred.clone();
        }
        let category = categories::of_host(&host, self.sources.channels(), self.sources.assistants());
        let referred = ReferrerFacts { is_there, host: shared(&host), category };
        self.referrers.insert(host.as_bytes(), referred.clone());
        referred
    }

    fn query(&mut self, sent: &[u8]) -> Query {
        if sent.is_empty() {
            return self.no_query.clone();
        }
        if let Some(query) = self.queries.get(sent) {
            return query.clone();
        }
        let marks = Marks::read(sent);
        let query = Query {
            source: shared(&marks.source),
            medium: shared(&marks.medium),
            campaign: shared(&marks.campaign),
            category: self.category(&marks.source),
            marks: Arc::new(marks),
        };
        self.queries.insert(sent, query.clone());
        query
    }

    fn language(&mut self, sent: &[u8]) -> Arc<str> {
        if let Some(language) = self.languages.get(sent) {
            return Arc::clone(language);
        }
        let language = shared(Language::preferred(sent).as_str());
        self.languages.insert(sent, Arc::clone(&language));
        language
    }

    fn channel(&self, query: &Query, referred: &ReferrerFacts) -> &'static str {
        let marks = &query.marks;
        let by_click_id = || match marks.click_id {
            Some(ClickId::Paid { source } | ClickId::Organic { source }) => self.category(source),
            Some(ClickId::Display | ClickId::Email) | None => None,
        };
        let by_referrer = || {
            let named = referred.category.filter(|category| *category != Category::Referral);
            named.or_else(by_click_id).or(referred.category)
        };
        let source = match query.category {
            // An unknown source without a medium leaves the decision to the referrer. With a medium the two
            // belong together, and the referrer says nothing about who was paid.
            None if marks.source.is_empty() || marks.medium.is_empty() => by_referrer(),
            category => category,
        };
        channel(marks, source, referred.is_there)
    }

    fn category(&self, source: &str) -> Option<Category> {
        categories::of_source(source, self.sources.channels(), self.sources.assistants())
    }
}

pub(crate) fn examined(sent: &[u8]) -> &[u8] {
    sent.get(..MAX_EXAMINED_BYTES).unwrap_or(sent)
}

fn examined_of_query(sent: &[u8]) -> &[u8] {
    sent.get(..MAX_EXAMINED_BYTES_OF_QUERY).unwrap_or(sent)
}

fn shared(value: &str) -> Arc<str> {
    if value.is_empty() { text::empty() } else { Arc::from(value) }
}
