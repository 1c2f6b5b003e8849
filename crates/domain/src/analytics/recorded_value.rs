//! The form in which values of dimensions are recorded (D47). Filters ask for values in the same form.

use super::dimension::{Dimension, OTHER_VALUES};

/// Maximum length of a recorded text in characters. It bounds what a flood of invented values can store.
pub const MAX_TEXT_CHARS: usize = 100;

/// The form of texts that anybody can send, such as campaigns: without control characters and outer white space, and cut to
/// [`MAX_TEXT_CHARS`].
///
/// ```
/// # use signpost_domain::analytics::recorded_text;
/// assert_eq!(recorded_text(" Spring\u{0} sale\n"), "Spring sale");
/// ```
#[must_use]
pub fn recorded_text(text: &str) -> String {
    let visible: String = text.chars().filter(|character| !character.is_control()).collect();
    let trimmed = visible.trim();
    let end = trimmed.char_indices().nth(MAX_TEXT_CHARS).map_or(trimmed.len(), |(index, _)| index);
    trimmed.get(..end).unwrap_or_default().trim_end().to_owned()
}

/// [`recorded_text`] for texts whose case has no meaning, such as sources: in lower case.
#[must_use]
pub fn recorded_text_in_lower_case(text: &str) -> String {
    // Lower case can be longer than upper case, so truncation comes last.
    recorded_text(&text.to_lowercase())
}

/// The value of a dimension as it is recorded, if somebody writes `value` for it: a source in capitals, a country in small
/// letters (D26), a language with its region, or a whole address as the referrer.
pub(super) fn as_recorded(dimension: Dimension, value: &str) -> String {
    if value == OTHER_VALUES {
        return value.to_owned();
    }
    match dimension {
        Dimension::UtmSource | Dimension::UtmMedium => recorded_text_in_lower_case(value),
        Dimension::UtmCampaign | Dimension::Os | Dimension::Browser => recorded_text(value),
        Dimension::Channel | Dimension::Device => value.trim().to_ascii_lowercase(),
        Dimension::Country => value.trim().to_ascii_uppercase(),
        Dimension::Language => value.trim().split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase(),
        Dimension::Referrer => referrer(value.trim()),
        Dimension::Widget | Dimension::Rule | Dimension::Link => value.to_owned(),
    }
}

/// A host without scheme, user, port, path, `www.` and trailing dot.
fn referrer(value: &str) -> String {
    let after_scheme = value.split_once("://").map_or(value, |(_, rest)| rest);
    let authority = after_scheme.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().to_ascii_lowercase();
    recorded_host(host.strip_suffix('.').unwrap_or(&host)).to_owned()
}

/// The host of a referrer as it is recorded: without `www.`, unless that is the name itself.
///
/// ```
/// # use signpost_domain::analytics::recorded_host;
/// assert_eq!((recorded_host("www.example.com"), recorded_host("www.com")), ("example.com", "www.com"));
/// ```
#[must_use]
pub fn recorded_host(host: &str) -> &str {
    host.strip_prefix("www.").filter(|rest| rest.contains('.')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d47_text_is_trimmed_cut_and_free_of_control_characters() {
        assert_eq!(recorded_text(" a\u{0}\tb\u{85} \r\n"), "ab");
        assert_eq!(recorded_text(&"ü".repeat(101)), "ü".repeat(100));
        assert_eq!(recorded_text(&format!("{} b", "a".repeat(99))), "a".repeat(99));
        assert_eq!(recorded_text_in_lower_case(&"İ".repeat(100)).chars().count(), MAX_TEXT_CHARS);
    }

    #[test]
    fn d45_what_people_write_for_a_value_is_what_was_recorded() {
        for (dimension, written, recorded) in [
            (Dimension::UtmSource, "Google", "google"),
            (Dimension::UtmMedium, " E-Mail ", "e-mail"),
            (Dimension::UtmCampaign, " Fall Sale ", "Fall Sale"),
            (Dimension::Channel, "Organic_Search", "organic_search"),
            (Dimension::Device, "Mobile", "mobile"),
            (Dimension::Country, "de", "DE"),
            (Dimension::Language, "de-DE", "de"),
            (Dimension::Language, "EN_us", "en"),
            (Dimension::Referrer, "www.example.com", "example.com"),
            (Dimension::Referrer, "https://anna@WWW.Example.com:8443/a?b#c", "example.com"),
            (Dimension::Referrer, "www.com", "www.com"),
            (Dimension::Referrer, "android-app://com.Slack/", "com.slack"),
            (Dimension::Browser, "Mobile Safari", "Mobile Safari"),
        ] {
            assert_eq!(as_recorded(dimension, written), recorded, "{written}");
            assert_eq!(as_recorded(dimension, recorded), recorded);
        }
        for dimension in Dimension::ALL {
            assert_eq!(as_recorded(dimension, ""), "");
            assert_eq!(as_recorded(dimension, OTHER_VALUES), OTHER_VALUES);
        }
    }
}
