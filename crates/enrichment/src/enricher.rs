//! All facts of a click together.

use std::net::IpAddr;
use std::sync::Arc;

use signpost_domain::CountryCode;

use crate::cache::{Cache, HeapSize};
use crate::categories::{self, Category};
use crate::channel::channel;
use crate::country::country;
use crate::device::device;
use crate::language::Language;
use crate::purpose::is_ahead_of_visit;
use crate::query::{ClickId, Marks};
use crate::referrer::Referrer;
use crate::sources::Sources;
use crate::text;

/// How much of a value is looked at. The edge keeps no more, and the work stays bounded whoever calls.
const MAX_EXAMINED_BYTES: usize = 512;

/// Room for agents: some 8,000 of typical length, far more than a day's clicks have beyond those that come once.
const AGENTS_BYTES: u32 = 4 * 1024 * 1024;

/// Room for facts by all that was sent: some 8,000.
const TOGETHER_BYTES: u32 = 4 * 1024 * 1024;

/// Room for referrers, and for queries and languages.
const OTHERS_BYTES: u32 = 1024 * 1024;

/// What a visitor sent with a visit. All bytes may be anything at all; of each value, 512 bytes are looked at.
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
    /// The header `Sec-Purpose`, or else `Purpose`.
    pub purpose: &'a [u8],
    /// The visitor's own address, behind trusted proxies. It decides the country and is kept nowhere.
    pub address: IpAddr,
}

/// What a click is counted under: values of the dimensions (D47). An unknown one is empty.
///
/// Texts are valid, have no control characters, and at most 100 characters (a referrer 253). Clones share them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Whether it counts among the bots: a known program, a link previewer, or a page fetched ahead of a visit (D48).
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

/// Works out the facts of clicks.
///
/// The built-in rules are compiled when the first click comes, which takes a good part of a second.
pub struct Enricher {
    sources: Sources,
    agents: Cache<Agent>,
    referrers: Cache<Referred>,
    /// What most clicks have.
    no_query: Query,
    queries: Cache<Query>,
    languages: Cache<Arc<str>>,
    /// By all that was sent. Most visitors send what another has sent before.
    together: Cache<Together>,
    /// Its key, with room for the next one.
    key: Vec<u8>,
    numbered: u64,
}

/// The facts of visitors who sent the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactsOfAlike {
    /// Facts with the same number are the same, but for the country.
    pub number: u64,
    /// The facts. Their country is unknown.
    pub facts: Arc<Facts>,
    /// The country of this visitor: a code of ISO 3166-1 in upper case, or empty.
    pub country: &'static str,
}

#[derive(Clone)]
struct Together {
    number: u64,
    facts: Arc<Facts>,
}

impl HeapSize for Together {
    /// The texts are shared with those of the parts.
    fn bytes(&self) -> usize {
        size_of::<Facts>()
    }
}

/// What an agent says.
#[derive(Clone)]
struct Agent {
    is_bot: bool,
    device: &'static str,
    os: Arc<str>,
    browser: Arc<str>,
}

impl HeapSize for Agent {
    fn bytes(&self) -> usize {
        self.os.len() + self.browser.len()
    }
}

/// What a referrer says.
#[derive(Clone)]
struct Referred {
    is_there: bool,
    host: Arc<str>,
    category: Option<Category>,
}

impl HeapSize for Referred {
    fn bytes(&self) -> usize {
        self.host.len()
    }
}

/// What a query says, with its texts ready to be shared.
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
        // Each text is there twice: once among the marks.
        size_of::<Marks>() + 2 * (self.source.len() + self.medium.len() + self.campaign.len())
    }
}

impl HeapSize for Arc<str> {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Enricher {
    /// An enricher that works by these sources.
    #[must_use]
    pub fn new(sources: Sources) -> Self {
        Self {
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
            together: Cache::of_bytes(TOGETHER_BYTES),
            key: Vec::new(),
            numbered: 0,
        }
    }

    /// The facts of one click. `known_country` is what the operator's own database or a trusted header says (D55); without it
    /// the country is that of the registry's list.
    pub fn facts(&mut self, sent: &Sent<'_>, known_country: Option<CountryCode>) -> Facts {
        let FactsOfAlike { facts, country, .. } = self.facts_of_alike(sent, known_country);
        Facts { country, ..Arc::unwrap_or_clone(facts) }
    }

    /// The same, for callers that can do with facts what they have done with the same ones before.
    pub fn facts_of_alike(&mut self, sent: &Sent<'_>, known_country: Option<CountryCode>) -> FactsOfAlike {
        let Sent { user_agent, referrer, accept_language, query, purpose, address } = *sent;
        let mut key = std::mem::take(&mut self.key);
        key.clear();
        for text in [user_agent, referrer, accept_language, query, purpose].map(examined) {
            // So that no two visitors' texts run together to the same.
            key.extend(u16::try_from(text.len()).unwrap_or(u16::MAX).to_le_bytes());
            key.extend_from_slice(text);
        }
        let known = self.together.get(&key).cloned();
        let Together { number, facts } = known.unwrap_or_else(|| {
            self.numbered += 1;
            let together = Together { number: self.numbered, facts: Arc::new(self.work_out(sent)) };
            self.together.insert(&key, together.clone());
            together
        });
        self.key = key;
        FactsOfAlike { number, facts, country: country(address, known_country) }
    }

    /// Everything but the country.
    fn work_out(&mut self, sent: &Sent<'_>) -> Facts {
        let Sent { user_agent, referrer, accept_language, query, purpose, .. } = *sent;
        let agent = self.agent(examined(user_agent));
        let referred = self.referred(examined(referrer));
        let query = self.query(examined(query));
        let language = self.language(examined(accept_language));
        Facts {
            is_bot: agent.is_bot || is_ahead_of_visit(examined(purpose)),
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

    fn agent(&mut self, sent: &[u8]) -> Agent {
        if let Some(agent) = self.agents.get(sent) {
            return agent.clone();
        }
        let readable = String::from_utf8_lossy(sent);
        let families = self.sources.agents().map(|rules| rules.families(&readable)).unwrap_or_default();
        let is_bot = signpost_user_agents::classify(sent).is_some()
            || self.sources.crawlers().is_some_and(|crawlers| crawlers.know(&readable));
        let agent = Agent {
            is_bot,
            device: device(&readable, &families.os),
            os: shared(&families.os),
            browser: shared(&families.browser),
        };
        self.agents.insert(sent, agent.clone());
        agent
    }

    fn referred(&mut self, sent: &[u8]) -> Referred {
        if sent.is_empty() {
            return Referred { is_there: false, host: text::empty(), category: None };
        }
        // Of a referrer, the path and query do not matter, so the host is the key.
        let (is_there, host) = match Referrer::read(sent) {
            Referrer::None => (false, None),
            Referrer::Nameless => (true, None),
            Referrer::Host(host) => (true, Some(host)),
            Referrer::App(package) => {
                (true, self.sources.channels().host_of_app(&package).map(str::to_owned))
            }
        };
        let Some(host) = host else {
            return Referred { is_there, host: text::empty(), category: None };
        };
        if let Some(referred) = self.referrers.get(host.as_bytes()) {
            return referred.clone();
        }
        let category = categories::of_host(&host, self.sources.channels(), self.sources.assistants());
        let referred = Referred { is_there, host: shared(&host), category };
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

    fn channel(&self, query: &Query, referred: &Referred) -> &'static str {
        let marks = &query.marks;
        let by_click_id = || match marks.click_id {
            Some(ClickId::Paid { source } | ClickId::Organic { source }) => self.category(source),
            Some(ClickId::Display | ClickId::Email) | None => None,
        };
        let by_referrer = || {
            let told = referred.category.filter(|category| *category != Category::Referral);
            told.or_else(by_click_id).or(referred.category)
        };
        let source = match query.category {
            // A source that says nothing, with no medium either, leaves it to the referrer. With a medium the two are meant
            // together, and who referred the visitor says nothing about who was paid.
            None if marks.source.is_empty() || marks.medium.is_empty() => by_referrer(),
            category => category,
        };
        channel(marks, source, referred.is_there)
    }

    fn category(&self, source: &str) -> Option<Category> {
        categories::of_source(source, self.sources.channels(), self.sources.assistants())
    }
}

fn examined(sent: &[u8]) -> &[u8] {
    sent.get(..MAX_EXAMINED_BYTES).unwrap_or(sent)
}

fn shared(value: &str) -> Arc<str> {
    if value.is_empty() { text::empty() } else { Arc::from(value) }
}
