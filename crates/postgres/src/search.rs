//! The search of the link lists (D32).
//!
//! PostgreSQL's idea of letters that differ only in case depends on its locale, and is in none of them Unicode's full
//! case folding. So each link has a column with its texts folded by the domain, and is found by its bytes.

use diesel::sql_types::Text;
use signpost_domain::SearchText;
use signpost_domain::search_text::fold;

/// Stands between the texts of a key. Names, slugs and targets hold no control character, and folding makes none.
pub(crate) const SEPARATOR: char = '\u{1f}';

#[diesel::declare_sql_function]
extern "SQL" {
    /// Where `part` begins in `text`, from 1, or 0.
    fn strpos(text: Text, part: Text) -> diesel::sql_types::Integer;
}

/// What the column `search_key` says of a link.
pub(crate) fn search_key(name: &str, slug: &str, target: Option<&str>) -> String {
    let mut key = fold(name);
    for text in [Some(slug), target].into_iter().flatten() {
        key.push(SEPARATOR);
        key.push_str(&fold(text));
    }
    key
}

/// The part by which keys of links that are searched for are known; `None` if no link can be.
pub(crate) fn part_of_key(search: &SearchText) -> Option<&str> {
    Some(search.folded()).filter(|folded| !folded.contains(SEPARATOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contract D32: every store finds what the domain finds.
    #[test]
    fn d32_the_key_agrees_with_the_domain() {
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
