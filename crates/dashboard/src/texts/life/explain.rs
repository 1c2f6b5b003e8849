//! What the dashboard says about tests of links (D136).

use signpost_app::explain::{Check, StepResult, VisitOutcome};

use crate::texts::{One, Two};

/// The texts about tests of links in one language. The reasons of steps are those of the API.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct ExplainTexts {
    pub address: &'static str,
    pub address_hint: &'static str,
    pub agent: &'static str,
    pub agent_android: &'static str,
    pub agent_googlebot: &'static str,
    pub agent_iphone: &'static str,
    pub agent_mac: &'static str,
    pub agent_none: &'static str,
    pub agent_usual: &'static str,
    pub agent_whatsapp: &'static str,
    pub at: &'static str,
    pub at_hint: One,
    pub check: fn(Check) -> &'static str,
    pub country: &'static str,
    pub country_hint: &'static str,
    pub country_name: fn(&str) -> Option<&'static str>,
    pub country_unknown: &'static str,
    pub curl_address: &'static str,
    pub curl_link: &'static str,
    pub language: &'static str,
    pub language_hint: &'static str,
    pub lead: &'static str,
    pub location: &'static str,
    pub more: &'static str,
    pub other_address: &'static str,
    /// The outcome in a few words, and in a sentence.
    pub outcome: fn(VisitOutcome) -> [&'static str; 2],
    pub query: &'static str,
    pub query_hint: &'static str,
    pub referrer: &'static str,
    pub referrer_hint: &'static str,
    pub result: fn(StepResult) -> &'static str,
    pub rule: &'static str,
    pub status: &'static str,
    pub steps: &'static str,
    pub steps_hint: &'static str,
    pub test: &'static str,
    pub test_address: &'static str,
    pub test_link: &'static str,
    pub title: &'static str,
    /// The outcome for an address without a link of the account, in a few words, and in a sentence.
    pub unknown: [&'static str; 2],
    pub url: &'static str,
    pub url_hint: &'static str,
    pub user_agent: &'static str,
    pub user_agent_hint: &'static str,
    pub variant: Two,
    pub visit: &'static str,
}
