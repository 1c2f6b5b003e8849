//! The form that describes a visit which is to be explained (D136). Its values are in the query, so a test can be kept as a bookmark.

use serde_json::{Map, Value, json};
use signpost_app::explain::{VisitFacts, VisitHeader, VisitQuery, parse_visitor_address};
use signpost_domain::search_text::sorting_key;
use signpost_domain::{CountryCode, FieldError, Preferences, Timestamp, Violations};

use super::life_fields::instant_in_query;
use crate::frame::TEXTS;
use crate::pages::{field, message_at};
use crate::query::Query;
use crate::texts::ExplainTexts;
use crate::views::{Choice, Select, VisitForm};

pub(super) const WORDS: &ExplainTexts = TEXTS.life.explain;

/// A program to choose, and what it sends as `User-Agent`.
#[derive(Debug, Clone, Copy)]
struct Agent {
    /// The value of the choice.
    name: &'static str,
    label: &'static str,
    /// `None` for the program that visits have anyway.
    header: Option<&'static str>,
}

/// The programs to choose from, the usual one first.
const AGENTS: [Agent; 7] = [
    Agent { name: "", label: WORDS.agent_usual, header: None },
    Agent {
        name: "iphone",
        label: WORDS.agent_iphone,
        header: Some(
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 \
             Mobile/15E148 Safari/604.1",
        ),
    },
    Agent {
        name: "android",
        label: WORDS.agent_android,
        header: Some(
            "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
        ),
    },
    Agent {
        name: "mac",
        label: WORDS.agent_mac,
        header: Some(
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
        ),
    },
    Agent { name: "whatsapp", label: WORDS.agent_whatsapp, header: Some("WhatsApp/2.23.20.0") },
    Agent {
        name: "googlebot",
        label: WORDS.agent_googlebot,
        header: Some("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
    },
    Agent { name: "none", label: WORDS.agent_none, header: Some("") },
];

impl Agent {
    /// The chosen one. An unknown choice is the usual one.
    fn of(name: &str) -> Self {
        let [usual, ..] = AGENTS;
        AGENTS.into_iter().find(|agent| agent.name == name).unwrap_or(usual)
    }
}

/// A visit as a query describes it.
pub(super) struct DescribedVisit {
    /// What is known about it, without the fields that are wrong.
    pub(super) facts: VisitFacts,
    /// The same for the API.
    pub(super) body: Map<String, Value>,
    /// The form, with what is wrong.
    pub(super) form: VisitForm,
    /// Whether something is wrong.
    pub(super) has_mistakes: bool,
}

impl DescribedVisit {
    /// Reads a query. `shown_in` has the zone of its time.
    pub(super) fn of(query: &Query, shown_in: &Preferences) -> Self {
        let mut read = Reading { query, body: Map::new(), violations: Violations::new() };
        let agent = Agent::of(query.text("agent"));
        let facts = VisitFacts {
            country: read.given("country", CountryCode::parse),
            user_agent: read.given(USER_AGENT, VisitHeader::parse).or_else(|| read.chosen(agent)),
            language: read.given("language", VisitHeader::parse),
            referrer: read.given("referrer", VisitHeader::parse),
            query: read.given("query", VisitQuery::parse),
            at: None,
            address: read.given("address", parse_visitor_address),
        };
        let (instant, mut at) = instant_in_query(query.text(AT), query.text("at_which"), shown_in);
        let facts = VisitFacts { at: read.instant(instant), ..facts };
        let Reading { query: _, body, violations } = read;
        at.field = field(&at.field.value, &violations, AT);
        let typed = |name: &str| field(query.text(name).trim(), &violations, name);
        let form = VisitForm {
            url: None,
            country: countries(query.text("country"), &violations),
            agent: agents(agent),
            user_agent: typed(USER_AGENT),
            language: typed("language"),
            referrer: typed("referrer"),
            query: typed("query"),
            zone: shown_in.time_zone.name().to_owned(),
            at,
            address: typed("address"),
        };
        Self { facts, body, form, has_mistakes: !violations.is_empty() }
    }
}

const USER_AGENT: &str = "user_agent";

const AT: &str = "at";

/// A query while it is read.
struct Reading<'a> {
    query: &'a Query,
    body: Map<String, Value>,
    violations: Violations,
}

impl Reading<'_> {
    /// What was typed into a field, unless it is empty.
    fn given<T>(&mut self, name: &str, parse: impl FnOnce(&str) -> Result<T, FieldError>) -> Option<T> {
        let text = self.query.text(name).trim();
        if text.is_empty() {
            return None;
        }
        match parse(text) {
            Ok(value) => {
                self.body.insert(name.to_owned(), json!(text));
                Some(value)
            }
            Err(error) => {
                self.violations.push(error.at(name).of_value(text));
                None
            }
        }
    }

    /// The header of a program that was chosen.
    fn chosen(&mut self, agent: Agent) -> Option<VisitHeader> {
        let text = agent.header?;
        self.body.insert(USER_AGENT.to_owned(), json!(text));
        VisitHeader::parse(text).ok()
    }

    fn instant(&mut self, instant: Result<Option<Timestamp>, FieldError>) -> Option<Timestamp> {
        match instant {
            Ok(instant) => {
                let at = instant?;
                self.body.insert(AT.to_owned(), json!(at.to_string()));
                Some(at)
            }
            Err(error) => {
                self.violations.push(error.at(AT));
                None
            }
        }
    }
}

fn agents(chosen: Agent) -> Select {
    let choice = |agent: Agent| Choice::new(agent.name, agent.label, agent.name == chosen.name);
    Select { options: AGENTS.map(choice).to_vec(), error: None }
}

/// All countries by their names, after the choice of none.
fn countries(chosen: &str, violations: &Violations) -> Select {
    let choice = |country: CountryCode| {
        let code = country.as_str();
        let name = (WORDS.country_name)(code).unwrap_or(code);
        Choice::new(code, name, code.eq_ignore_ascii_case(chosen.trim()))
    };
    let mut options: Vec<Choice> = CountryCode::all().map(choice).collect();
    options.sort_by_cached_key(|country| sorting_key(&country.label));
    options.insert(0, Choice::new("", WORDS.country_unknown, false));
    Select { options, error: message_at(violations, "country") }
}
