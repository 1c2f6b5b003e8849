//! Regular expressions of the document (ECMA-262, with the flag `u`, as JSON Schema asks).
//!
//! A pattern matches every value that the domain's type accepts. Except for targets, it matches no other.

use std::collections::BTreeMap;

use signpost_domain::{CountryCode, Name, TagName};

/// White space in the Unicode sense, as the inside of a character class.
const SPACES: &str = r"\t-\r \u0085\u00A0\u1680\u2000-\u200A\u2028\u2029\u202F\u205F\u3000";

/// Control characters, as the inside of a character class.
const CONTROLS: &str = r"\u0000-\u001F\u007F-\u009F";

/// D21.
pub(crate) const SLUG: &str = "^[A-Za-z0-9_-]{1,64}$";

/// D3.
pub(crate) const TIMESTAMP: &str = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$";

/// A URL of a link or a page in a response.
pub(crate) const WEB_URL_SHOWN: &str = "^[Hh][Tt][Tt][Pp][Ss]?://";

/// Any text without U+0000.
pub(crate) const WITHOUT_NUL: &str = r"^[^\u0000]*$";

/// Any text without control characters.
pub(crate) const WITHOUT_CONTROLS: &str = r"^[^\u0000-\u001F\u007F-\u009F]*$";

/// Text in any number of lines, without any other control characters than line breaks and tabs.
pub(crate) const LINES: &str = r"^[^\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]*$";

/// A colour in a request (D34).
pub(crate) const COLOR: &str = "^#[0-9A-Fa-f]{6}$";

/// A colour in a response (D34).
pub(crate) const KEPT_COLOR: &str = "^#[0-9a-f]{6}$";

/// A language tag (D34): language, script, region, variants, extensions and private parts. It does not limit the length.
pub(crate) const LANGUAGE_TAG: &str = "^[A-Za-z]{2,3}(?:-[A-Za-z]{3}){0,3}(?:-[A-Za-z]{4})?(?:-(?:[A-Za-z]{2}|[0-9]{3}))?\
    (?:-(?:[0-9A-Za-z]{5,8}|[0-9][0-9A-Za-z]{3}))*(?:-[0-9A-WY-Za-wy-z](?:-[0-9A-Za-z]{2,8})+)*(?:-[Xx](?:-[0-9A-Za-z]{1,8})+)?$";

/// A time of a day, such as `09:30` (D133).
pub(crate) const TIME_OF_DAY: &str = "^(?:[01][0-9]|2[0-3]):[0-5][0-9]$";

/// A telephone number (D35).
pub(crate) const PHONE_NUMBER: &str = r"^\+[1-9][0-9]{6,14}$";

/// The characters of pixel codes of all vendors (D36).
pub(crate) const PIXEL_CODE: &str = "^[A-Za-z0-9_-]{1,64}$";

/// The form of cursors (D11). Only the service can tell which ones it issued.
pub(crate) const CURSOR: &str = "^[A-Za-z0-9_-]+$";

/// An id of one kind (D1): its prefix, 32 hexadecimal digits.
pub(crate) fn id(prefix: &str) -> String {
    format!("^{prefix}_[0-9a-f]{{32}}$")
}

/// A name or a title: 1 to 100 characters without control characters, between optional white space (D9).
pub(crate) fn name() -> String {
    trimmed(Name::MAX_CHARS)
}

/// The name of a tag: 1 to 50 characters without control characters and commas, between optional white space (D122).
pub(crate) fn tag_name() -> String {
    trimmed_without(",", TagName::MAX_CHARS)
}

/// 1 to `most` characters without control characters, between optional white space.
pub(crate) fn trimmed(most: usize) -> String {
    trimmed_without("", most)
}

/// The same without the characters in `never`.
fn trimmed_without(never: &str, most: usize) -> String {
    let between = most.saturating_sub(2);
    let (inner, outer) = (format!("{CONTROLS}{never}"), format!("{CONTROLS}{never}{SPACES}"));
    format!("^[{SPACES}]*[^{outer}](?:[^{inner}]{{0,{between}}}[^{outer}])?[{SPACES}]*$")
}

/// Text without control characters.
pub(crate) fn one_line() -> String {
    format!("^[^{CONTROLS}]*$")
}

/// Matches every e-mail address. It does not limit the length.
pub(crate) fn email() -> String {
    let never = format!("{SPACES}{CONTROLS}@");
    format!("^[{SPACES}]*[^{never}]+@[^{never}]+[{SPACES}]*$")
}

/// Matches every hostname that D37 accepts. It does not limit the lengths, and cannot tell which names may be connected.
pub(crate) fn hostname() -> String {
    format!(r"^[{SPACES}]*[A-Za-z0-9][A-Za-z0-9-]{{0,62}}\.[A-Za-z0-9.-]{{1,252}}[{SPACES}]*$")
}

/// Any text but these words. It needs no look-ahead, which the engines of some languages lack.
pub(crate) fn none_of(words: &[&str]) -> String {
    format!("^{}$", rest_of_none(words))
}

/// Any text that none of the words ends with, after their common beginning.
fn rest_of_none(words: &[&str]) -> String {
    let mut rests: BTreeMap<char, Vec<&str>> = BTreeMap::new();
    for word in words {
        let mut letters = word.chars();
        if let Some(first) = letters.next() {
            rests.entry(first).or_default().push(letters.as_str());
        }
    }
    let is_end = words.iter().any(|word| word.is_empty());
    let firsts: String = rests.keys().collect();
    let longer = if firsts.is_empty() { ".+".to_owned() } else { format!("[^{firsts}].*") };
    let inner = rests.iter().map(|(first, rests)| format!("{first}{}", rest_of_none(rests)));
    let alternatives: Vec<String> = std::iter::once(longer).chain(inner).collect();
    // Without a word that ends here, the text may end here.
    format!("(?:{}){}", alternatives.join("|"), if is_end { "" } else { "?" })
}

/// An assigned country code in upper or lower case (D26).
pub(crate) fn country() -> String {
    let mut seconds: BTreeMap<char, String> = BTreeMap::new();
    for country in CountryCode::all() {
        let mut letters = country.as_str().chars();
        if let (Some(first), Some(second)) = (letters.next(), letters.next()) {
            let seconds = seconds.entry(first).or_default();
            seconds.push(second);
            seconds.push(second.to_ascii_lowercase());
        }
    }
    let pairs = seconds.iter().map(|(first, seconds)| {
        let lower = first.to_ascii_lowercase();
        format!("[{first}{lower}][{seconds}]")
    });
    format!("^(?:{})$", pairs.collect::<Vec<_>>().join("|"))
}

/// Matches every `http` or `https` URL that D24 accepts. It does not check the host.
pub(crate) fn target_url() -> String {
    let never = format!(r"{SPACES}{CONTROLS}\\");
    format!(r"^[Hh][Tt][Tt][Pp][Ss]?://[^{never}/?#@:][^{never}]*$")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::string::string_regex;

    use super::*;

    const WORDS: [&str; 4] = ["link", "lin", "list", "text"];

    proptest! {
        #[test]
        fn none_of_words_is_any_other_text(text in string_regex(none_of(&WORDS).trim_matches(['^', '$'])).unwrap()) {
            prop_assert!(!WORDS.contains(&text.as_str()), "{text}");
        }
    }
}
