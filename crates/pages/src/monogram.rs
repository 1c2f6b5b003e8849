//! What a page without a picture derives from its title: initials, an icon made of them, and the text
//! direction.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use unicode_segmentation::UnicodeSegmentation;

use crate::colour::Rgb;

/// Characters to escape in a `data:` URL, or in the attribute that holds it.
const IN_DATA_URL: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'\'')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}');

/// One or two characters that represent `title`. If its first sign is a letter of a script with capitals, these are the
/// initials of the first two words that begin with such a letter. Otherwise it is the first sign, which may be an emoji of
/// several scalar values.
///
/// Words of punctuation alone, such as `&`, have no initial. Characters that only control direction are skipped, so a title
/// cannot change the direction of its surroundings.
pub(crate) fn monogram(title: &str) -> String {
    let mut words = title.split_whitespace();
    let Some(first) = words.by_ref().find_map(sign) else {
        return title.split_whitespace().find_map(visible_character).unwrap_or_default().to_owned();
    };
    let Some(capital) = capital(first) else { return first.to_owned() };
    let second = words.find_map(capital_of).unwrap_or_default();
    format!("{capital}{second}")
}

/// The first letter, digit or pictograph of a word.
fn sign(word: &str) -> Option<&str> {
    let is_bracket = |part: char| matches!(part, '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ff0f}');
    let is_sign = |part: char| part.is_alphanumeric() || (part >= '\u{2190}' && !is_bracket(part));
    word.graphemes(true)
        .find(|character| character.chars().any(is_sign) && !character.chars().all(is_invisible))
}

fn visible_character(word: &str) -> Option<&str> {
    word.graphemes(true).find(|character| !character.chars().all(is_invisible))
}

fn capital_of(word: &str) -> Option<String> {
    sign(word).and_then(capital)
}

/// The capital of a letter, with its accents. `None` if its script has no capitals, or if it is no letter.
fn capital(character: &str) -> Option<String> {
    let letter = character.chars().next()?;
    // Titles in Georgian have no capitals, and few fonts have them.
    if matches!(letter, '\u{10d0}'..='\u{10ff}') {
        return Some(character.to_owned());
    }
    let upper = character.to_uppercase();
    // Some letters, such as ligatures, have several capitals.
    let upper = upper.graphemes(true).next()?;
    upper.chars().next().is_some_and(char::is_uppercase).then(|| upper.to_owned())
}

/// Whether it is a direction mark, a joiner or another character without a glyph.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

/// Whether a page with this title is laid out from right to left. The first letter decides, as for
/// `dir="auto"`.
pub(crate) fn is_right_to_left(title: &str) -> bool {
    title.chars().find(|character| character.is_alphabetic()).is_some_and(|letter| {
        matches!(
            letter,
            '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{feff}' | '\u{10800}'..='\u{10fff}'
                | '\u{1e800}'..='\u{1efff}'
        )
    })
}

/// An icon with these characters, as a `data:` URL of an SVG image.
pub(crate) fn icon_url(monogram: &str, fill: Rgb, text: Rgb) -> String {
    let mut escaped = String::new();
    for character in monogram.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            other => escaped.push(other),
        }
    }
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 64'><rect width='64' height='64' rx='18' fill='{fill}'/>\
         <text x='32' y='42' fill='{text}' font-family='system-ui,sans-serif' font-size='28' font-weight='700' \
         text-anchor='middle'>{escaped}</text></svg>"
    );
    format!("data:image/svg+xml,{}", utf8_percent_encode(&svg, IN_DATA_URL))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn monogram_matches_common_initials() {
        for (title, expected) in [
            ("Ada Lovelace", "AL"),
            ("ada", "A"),
            ("café del mar", "CD"),
            ("\"Quoted\" name", "QN"),
            ("Ada 2", "A"),
            ("Plain & Black", "PB"),
            ("Plain and Black", "PA"),
            ("& Sons", "S"),
            ("— Ada — Lovelace —", "AL"),
            ("Ada 2 Lovelace", "AL"),
            ("Ada 東京 Lovelace", "AL"),
            ("O'Neill", "O"),
            ("'t Hooft", "TH"),
            ("D’Angelo & O’Neill", "DO"),
            ("Мир и Труд", "МИ"),
            ("Άννα Ελένη", "ΆΕ"),
            ("ﬁne print", "FP"),
            ("თბილისი ბარი", "თბ"),
            ("मेरा घर", "मे"),
            ("Ada 🎈", "A"),
            ("& 東京", "東"),
            ("&&", "&"),
            ("Ёлка", "Ё"),
            ("42 things", "4"),
            ("東京カフェ", "東"),
            ("【公式】カフェ", "公"),
            ("「東京」店", "東"),
            ("مقهى الأمل", "م"),
            ("👩🏽‍🚀 Space", "👩🏽‍🚀"),
            ("🇩🇪 Berlin", "🇩🇪"),
            ("e\u{301}clair", "E\u{301}"),
            ("\u{202e}evil", "E"),
            ("<>", "<"),
            ("\u{202e}", ""),
        ] {
            assert_eq!(monogram(title), expected, "{title}");
        }
    }

    #[test]
    fn first_letter_decides_the_direction() {
        for right_to_left in ["مقهى", "קפה", "1. מכירה", "\u{200e}שלום Ada"] {
            assert!(is_right_to_left(right_to_left), "{right_to_left}");
        }
        for left_to_right in ["Ada مقهى", "東京", "42", "🎈", ""] {
            assert!(!is_right_to_left(left_to_right), "{left_to_right}");
        }
    }

    #[test]
    fn r23_icon_escapes_its_characters() {
        let url = icon_url("<&", Rgb::BLACK, Rgb::WHITE);
        assert!(url.contains("%26lt;%26amp;") && !url.contains(['<', '>', '"', '\'', '#', ' ']), "{url}");
    }
}
