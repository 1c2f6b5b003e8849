//! What the query of a visited address says about the visit's source.

use percent_encoding::percent_decode;
use signpost_domain::analytics::{recorded_text, recorded_text_in_lower_case};

/// A parameter that an advertiser's or sender's system adds to links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClickId {
    /// Only paid clicks have it.
    Paid { source: &'static str },
    /// A banner of Google's marketing platform.
    Display,
    /// Everything shared there has it, paid or not.
    Organic { source: &'static str },
    /// A newsletter.
    Email,
}

/// Parameters and their meaning. Google Analytics knows the first five; the others come from the vendors'
/// documentation.
const CLICK_IDS: [(&str, ClickId); 20] = [
    ("gclid", ClickId::Paid { source: "google" }),
    ("gbraid", ClickId::Paid { source: "google" }),
    ("wbraid", ClickId::Paid { source: "google" }),
    ("gad_source", ClickId::Paid { source: "google" }),
    ("dclid", ClickId::Display),
    ("msclkid", ClickId::Paid { source: "bing" }),
    ("yclid", ClickId::Paid { source: "yandex" }),
    ("ttclid", ClickId::Paid { source: "tiktok" }),
    ("twclid", ClickId::Paid { source: "twitter" }),
    ("li_fat_id", ClickId::Paid { source: "linkedin" }),
    ("rdt_cid", ClickId::Paid { source: "reddit" }),
    ("ScCid", ClickId::Paid { source: "snapchat" }),
    ("qclid", ClickId::Paid { source: "quora" }),
    ("srsltid", ClickId::Organic { source: "google_shopping" }),
    ("fbclid", ClickId::Organic { source: "facebook" }),
    ("igsh", ClickId::Organic { source: "instagram" }),
    ("igshid", ClickId::Organic { source: "instagram" }),
    ("epik", ClickId::Organic { source: "pinterest" }),
    ("mc_eid", ClickId::Email),
    ("_hsenc", ClickId::Email),
];

/// The marks in a query.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Marks {
    pub(crate) source: String,
    pub(crate) medium: String,
    pub(crate) campaign: String,
    /// `src=qr`, which Signpost's own QR codes carry (D59).
    pub(crate) is_qr: bool,
    /// The first click id.
    pub(crate) click_id: Option<ClickId>,
}

impl Marks {
    /// Parses a query without its `?`. The first non-empty value of a repeated parameter counts. Names may be in capitals.
    pub(crate) fn read(query: &[u8]) -> Self {
        let mut marks = Self::default();
        for pair in query.split(|byte| *byte == b'&') {
            let Some(equals) = pair.iter().position(|byte| *byte == b'=') else { continue };
            let (name, value) = pair.split_at(equals);
            let value = value.get(1..).unwrap_or_default();
            // A link that was copied out of HTML with its escapes.
            let name = name.strip_prefix(b"amp;").unwrap_or(name);
            match name {
                _ if is_named(name, "utm_source") => {
                    fill(&mut marks.source, || recorded_text_in_lower_case(&decoded(value)));
                }
                _ if is_named(name, "utm_medium") => {
                    fill(&mut marks.medium, || recorded_text_in_lower_case(&decoded(value)));
                }
                _ if is_named(name, "utm_campaign") => {
                    fill(&mut marks.campaign, || recorded_text(&decoded(value)));
                }
                b"src" => marks.is_qr |= value == b"qr",
                _ if !value.is_empty() => marks.click_id = marks.click_id.or_else(|| click_id(name)),
                _ => {}
            }
        }
        marks
    }
}

fn fill(field: &mut String, value: impl FnOnce() -> String) {
    if field.is_empty() {
        *field = value();
    }
}

fn click_id(name: &[u8]) -> Option<ClickId> {
    CLICK_IDS.iter().find(|(known, _)| is_named(name, known)).map(|(_, id)| *id)
}

const fn is_named(name: &[u8], known: &str) -> bool {
    name.eq_ignore_ascii_case(known.as_bytes())
}

/// Decodes a value. Invalid UTF-8 becomes the replacement character, so the rest stays readable.
fn decoded(value: &[u8]) -> String {
    let spaced: Vec<u8> = value.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect();
    percent_decode(&spaced).decode_utf8_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d47_utm_values_are_decoded_trimmed_and_lowered() {
        let marks = Marks::read(
            b"a=1&utm_source=%20News+Letter%0A&utm_medium=E%2DMail&utm_campaign=Herbst%20%C3%BCber",
        );
        assert_eq!((&*marks.source, &*marks.medium), ("news letter", "e-mail"));
        assert_eq!(marks.campaign, "Herbst über");
    }

    #[test]
    fn d47_utm_values_are_at_most_100_characters_of_valid_text() {
        let marks = Marks::read(format!("utm_campaign=caf%E9%00{}%", "x".repeat(200)).as_bytes());
        assert_eq!(marks.campaign, format!("caf\u{fffd}{}", "x".repeat(96)));
    }

    #[test]
    fn d47_first_value_of_a_parameter_counts() {
        let marks =
            Marks::read(b"utm_source=&utm_source&utm_source=a&utm_source=b&UTM_SOURCE=c&utm_medium=%");
        assert_eq!((&*marks.source, &*marks.medium), ("a", "%"));
    }

    #[test]
    fn d47_capitals_and_escapes_of_html_are_understood() {
        let marks = Marks::read(b"UTM_Source=Google&amp;utm_medium=CPC&amp;Utm_Campaign=Fall&amp;GCLID=1");
        assert_eq!((&*marks.source, &*marks.medium, &*marks.campaign), ("google", "cpc", "Fall"));
        assert_eq!(marks.click_id, Some(ClickId::Paid { source: "google" }));
        assert!(Marks::read(b"x=1&amp;src=qr").is_qr);
    }

    #[test]
    fn d59_mark_of_a_code_must_match_exactly() {
        assert!(Marks::read(b"x=1&src=qr").is_qr);
        assert!(!Marks::read(b"src=qrcode").is_qr);
        assert!(!Marks::read(b"xsrc=qr").is_qr);
    }

    #[test]
    fn d47_first_click_id_with_a_value_counts() {
        assert_eq!(Marks::read(b"gclid=&fbclid=x").click_id, Some(ClickId::Organic { source: "facebook" }));
        assert_eq!(Marks::read(b"msclkid=1&gclid=2").click_id, Some(ClickId::Paid { source: "bing" }));
        assert_eq!(Marks::read(b"clid=1").click_id, None);
    }
}
