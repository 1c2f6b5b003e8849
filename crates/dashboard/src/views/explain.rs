//! What a visit would get: the page that tests a link (D136).

use askama::Template;

use super::domains::Label;
use super::form::{Field, Select, Violation, violations, with_code};
use super::life::TimeField;
use super::link_list::NamedId;
use super::shell::Shell;

/// A test of a link, `GET A/links/ID/test`, or of an address, `GET A/test`.
#[derive(Debug, Clone, Template)]
#[template(path = "explain.html")]
pub struct ExplainPage {
    /// The frame.
    pub shell: Shell,
    /// The link that is tested; `None` where people type an address.
    pub link: Option<NamedId>,
    /// The path of the form.
    pub action: String,
    /// The visit, as it was described.
    pub visit: VisitForm,
    /// What the visit gets; `None` for a mistake in the form, and before an address was typed.
    pub answer: Option<ExplanationView>,
}

impl ExplainPage {
    fn violations(&self) -> Vec<Violation<'_>> {
        let (words, visit) = (self.shell.t.life.explain, &self.visit);
        violations([
            ("url", words.url, visit.url.as_ref().map_or(&None, |field| &field.error)),
            ("country", words.country, &visit.country.error),
            ("user_agent", words.user_agent, &visit.user_agent.error),
            ("language", words.language, &visit.language.error),
            ("referrer", words.referrer, &visit.referrer.error),
            ("query", words.query, &visit.query.error),
            ("at", words.at, &visit.at.field.error),
            ("address", words.address, &visit.address.error),
        ])
    }
}

/// The form that describes a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VisitForm {
    /// `url`, where people type an address.
    pub url: Option<Field>,
    /// `country`
    pub country: Select,
    /// `agent`: one of some usual programs.
    pub agent: Select,
    /// `user_agent`: any other program.
    pub user_agent: Field,
    /// `language`
    pub language: Field,
    /// `referrer`
    pub referrer: Field,
    /// `query`
    pub query: Field,
    /// `zone`: the time zone of the time, hidden.
    pub zone: String,
    /// `at`
    pub at: TimeField,
    /// `address`
    pub address: Field,
}

impl VisitForm {
    /// Whether one of the less usual fields says something, so that they are shown.
    fn is_special(&self) -> bool {
        let Self { user_agent, referrer, query, at, address, .. } = self;
        [user_agent, referrer, query, &at.field, address]
            .into_iter()
            .any(|field| !field.value.is_empty() || field.error.is_some())
    }
}

/// What a visit gets, as people read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplanationView {
    /// The outcome, in a few words.
    pub title: String,
    /// The outcome, in a sentence.
    pub text: String,
    /// Why, if a check stopped the visit. Values stand between backticks.
    pub reason: Option<String>,
    /// Whether the visitor gets neither the target nor a page that asks for something.
    pub is_turned_away: bool,
    /// The status of the answer, such as `302`; `None` if it is not told.
    pub status: Option<String>,
    /// Where the visitor is sent.
    pub location: Option<String>,
    /// The rule that decides, with its variant.
    pub rule: Option<String>,
    /// The checks in their order.
    pub steps: Vec<StepRow>,
}

impl ExplanationView {
    fn parts_of_reason(&self) -> Option<Vec<(&str, bool)>> {
        self.reason.as_deref().map(with_code)
    }
}

/// A check of a visit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StepRow {
    /// What is checked.
    pub check: String,
    /// What the check said, in a word.
    pub result: Label,
    /// Why, as a sentence. Values stand between backticks.
    pub reason: String,
}

impl StepRow {
    fn parts_of_reason(&self) -> Vec<(&str, bool)> {
        with_code(&self.reason)
    }
}
