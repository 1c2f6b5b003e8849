//! What pages say while a proxy signs people in (D77).

use super::{One, Two};

/// The texts about sign-in elsewhere in one language.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the English text of a field is its description")]
pub struct SignInElsewhereTexts {
    pub email_fixed: &'static str,
    pub email_is_the_proxys: &'static str,
    pub invited_other: Two,
    pub unnamed_advice: &'static str,
    pub unnamed_text: One,
    pub unnamed_title: &'static str,
    pub password_none: &'static str,
    pub signed_out_advice: &'static str,
    pub signed_out_link: &'static str,
    pub signed_out_text: &'static str,
    pub signed_out_title: &'static str,
    pub try_again: &'static str,
    pub unknown_advice: &'static str,
    pub unknown_text: One,
    pub unknown_title: &'static str,
}
