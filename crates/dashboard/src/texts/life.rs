//! What the dashboard says about when a link works, and where it leads afterwards (D128).

use super::{One, Two};

/// The texts about the life of links in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct LifeTexts {
    pub active_hint: &'static str,
    pub choose: &'static str,
    pub clicks_left: &'static str,
    pub domain_inactive: &'static str,
    pub exhausted: &'static str,
    pub expired: One,
    pub expires_at: &'static str,
    pub expires_at_hint: One,
    pub fallback_url: &'static str,
    pub fallback_url_hint: &'static str,
    pub first: One,
    pub is_live: &'static str,
    pub is_saved: &'static str,
    pub lost: &'static str,
    pub max_clicks: &'static str,
    pub max_clicks_hint: &'static str,
    pub max_clicks_kept: &'static str,
    pub max_clicks_missing: &'static str,
    pub no_address: &'static str,
    pub no_number: &'static str,
    pub scheduled: One,
    pub second: One,
    pub shown_twice: One,
    /// With the zone, and what the clock shows before and after the change.
    pub skipped: fn(&str, &str, &str) -> String,
    pub starts_at: &'static str,
    pub starts_at_hint: One,
    pub the_start: &'static str,
    pub title: &'static str,
    pub which: One,
    pub which_chosen: Two,
}
