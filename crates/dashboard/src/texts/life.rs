//! What the dashboard says about when a link works, where it leads afterwards (D128), how it sends its visitors on (D132), which of
//! them go elsewhere (D133), which card it has in messengers (D135), and what a visit would get (D136).

mod explain;

use signpost_domain::routing::Condition;
use signpost_domain::{LinkState, RedirectStatus, Timestamp, UtmPart};

pub use self::explain::ExplainTexts;
use super::{One, Two};

/// The texts about the life and the way of links in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct LifeTexts {
    pub active_hint: &'static str,
    pub choose: &'static str,
    pub clicks_left: &'static str,
    pub expired: One,
    pub expires_at: &'static str,
    pub expires_at_hint: One,
    pub explain: &'static ExplainTexts,
    pub fallback_url: &'static str,
    pub fallback_url_hint: &'static str,
    pub final_url: &'static str,
    pub first: One,
    pub forward_query: &'static str,
    pub forward_query_hint: &'static str,
    pub is_live: &'static str,
    pub is_saved: &'static str,
    pub max_clicks: &'static str,
    pub max_clicks_hint: &'static str,
    pub max_clicks_kept: &'static str,
    pub max_clicks_missing: &'static str,
    pub no_address: &'static str,
    pub no_number: &'static str,
    pub preview: &'static PreviewTexts,
    pub redirect_status: &'static str,
    pub redirect_status_hint: &'static str,
    pub redirect_status_name: fn(RedirectStatus) -> &'static str,
    pub rules: &'static RuleTexts,
    pub scheduled: One,
    pub second: One,
    pub shown_twice: One,
    /// With the zone, and what the clock shows before and after the change.
    pub skipped: fn(&str, &str, &str) -> String,
    pub starts_at: &'static str,
    pub starts_at_hint: One,
    pub state_name: fn(LinkState) -> &'static str,
    /// For links that are switched on, or off, whatever else they are.
    pub switched: fn(bool) -> &'static str,
    pub the_start: &'static str,
    pub title: &'static str,
    pub utm: &'static str,
    pub utm_hint: &'static str,
    pub utm_part: fn(UtmPart) -> &'static str,
    pub utm_part_hint: fn(UtmPart) -> &'static str,
    pub way: &'static str,
    pub which: One,
    pub which_chosen: Two,
}

/// The texts about the cards that link previewers show, in one language (D135).
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct PreviewTexts {
    pub card_description: &'static str,
    pub card_description_hint: &'static str,
    pub card_image_url: &'static str,
    pub card_image_url_hint: &'static str,
    pub card_title: &'static str,
    pub card_title_hint: &'static str,
    pub hint: &'static str,
    /// The plan has no cards, and the redirect has one.
    pub hint_kept: &'static str,
    /// The plan has no cards, and neither has the redirect.
    pub hint_missing: &'static str,
    pub sketch_hint: &'static str,
    pub title: &'static str,
    pub title_needed: &'static str,
}

/// The texts about rules in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct RuleTexts {
    /// A condition, with the text of an instant in the time zone of the person.
    pub condition: fn(&Condition, &dyn Fn(Timestamp) -> String) -> String,
    pub every_visitor: &'static str,
    pub hint: &'static str,
    pub share: One,
    pub title: &'static str,
}
