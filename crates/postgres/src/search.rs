//! The search of the link lists (D32).
//!
//! PostgreSQL's case-insensitive matching depends on its locale, and no locale uses Unicode's full case folding. So each
//! link has a column with its texts, folded by the domain, and matches by bytes.

use diesel::sql_types::Text;
use signpost_domain::SearchText;
use signpost_domain::search_text::fold;

/// Separates the texts of a key. Names, slugs and targets contain no control characters, and folding adds none.
pub(crate) const SEPARATOR: char = '\u{1f}';

#[diesel::declare_sql_function]
extern "SQL" {
    /// The position of `part` in `text`, from 1, or 0 if absent.
    fn strpos(text: Text, part: Text) -> diesel::sql_types::Integer;
}

/// The value of the column `search_key` for a link.
pub(crate) fn search_key(name: &str, slug: &str, target: Option<&str>) -> String {
    let mut key = fold(name);
    for text in [Some(slug), target].into_iter().flatten() {
        key.push(SEPARATOR);
        key.push_str(&fold(text));
    }
    key
}

/// The part that the keys of matching links contain; `None` if no link can match.
pub(crate) fn part_of_key(search: &SearchText) -> Option<&str> {
    Some(search.folded()).filter(|folded| !folded.contains(SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// D32: every store finds the same links as the domain's rule.
    #[test]
    fn d32_search_key_matches_as_the_domain_does() {
        let texts = [
            "a",
            "STRASSE",
            "Straße",
            "ß",
            "ΟΔΟΣ",
            "οδος",
            "ς",
            "ﬃ",
            "office",
            "\u{212a}",
            "K",
            "é",
            "e",
            "%",
            "_",
            "\u{1f}",
            "a\u{1f}",
            "\u{1f}sale",
            "\n",
        ];
        let names = texts.iter().filter(|text| !text.contains(char::is_control));
        for name in names {
            for (slug, target) in [
                ("", Some("https://x.example/")),
                ("Sale", Some("https://X.example/ß")),
                ("K", Some("https://x.example/%5F_")),
                ("", None),
                ("Sale", None),
            ] {
                let key = search_key(name, slug, target);
                for search in texts {
                    let search = SearchText::parse(search).unwrap();
                    let found = part_of_key(&search).is_some_and(|part| key.contains(part));
                    let slug = Some(slug).filter(|slug| !slug.is_empty());
                    assert_eq!(
                        found,
                        search.matches(name, slug, target),
                        "{search:?} in {name} {slug:?} {target:?}"
                    );
                }
            }
        }
    }
}
