//! What the dashboard says about tags.

use super::Counted;

/// The texts of tags in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct TagTexts {
    pub count_links: Counted,
    pub curl_delete: &'static str,
    pub curl_list: &'static str,
    pub curl_rename: &'static str,
    pub delete: &'static str,
    pub delete_text: &'static str,
    pub filter: &'static str,
    pub hint: &'static str,
    pub lead: &'static str,
    pub manage: &'static str,
    pub none: &'static str,
    pub none_text: &'static str,
    pub rename_hint: &'static str,
    pub said_deleted: &'static str,
    pub said_renamed: &'static str,
    pub title: &'static str,
    pub too_many: &'static str,
}
