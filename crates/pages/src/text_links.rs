//! The web addresses in an owner's text, which become links.

use signpost_domain::WebUrl;

/// A part of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Part<'a> {
    Plain(&'a str),
    /// A link, shown as the owner wrote it.
    Link {
        href: String,
        text: &'a str,
    },
}

/// How many more addresses of a page are read. Reading one costs microseconds, and a page may be rendered for each visitor.
#[derive(Debug)]
pub(crate) struct AddressBudget(usize);

impl AddressBudget {
    /// The number of addresses in the texts of one page that become links.
    pub(crate) const OF_A_PAGE: Self = Self(100);

    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or_default();
        left.is_some()
    }
}

/// The parts of `text`, in order. An address begins with `http://` or `https://` and has a host with a dot. Text that is no
/// valid target, such as an address with a password, stays text.
pub(crate) fn parts<'a>(text: &'a str, budget: &mut AddressBudget) -> Vec<Part<'a>> {
    let mut parts = Vec::new();
    let (mut plain_from, mut search_from) = (0, 0);
    while let Some(start) = next_scheme(text, search_from) {
        let address = text.get(start..).map(address_in).unwrap_or_default();
        let end = start + address.len();
        // The end of a scheme without a host is at or behind the scheme, so the search goes forward.
        search_from = end.max(start + 1);
        if !budget.take() {
            break;
        }
        let Some(href) = href(address) else { continue };
        if let Some(plain) = text.get(plain_from..start).filter(|plain| !plain.is_empty()) {
            parts.push(Part::Plain(plain));
        }
        parts.push(Part::Link { href, text: address });
        plain_from = end;
    }
    if let Some(rest) = text.get(plain_from..).filter(|rest| !rest.is_empty()) {
        parts.push(Part::Plain(rest));
    }
    parts
}

/// The position of the next `http://` or `https://` that is not the end of a longer word.
fn next_scheme(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.match_indices("://").find_map(|(at, _)| {
        let before = rest.get(..at)?;
        let scheme = ["https", "http"].into_iter().find(|scheme| {
            let start = before.len().checked_sub(scheme.len());
            start.and_then(|start| before.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(scheme))
        })?;
        let start = from + at - scheme.len();
        let is_in_a_word = text.get(..start)?.chars().next_back().is_some_and(char::is_alphanumeric);
        (!is_in_a_word).then_some(start)
    })
}

/// The address that `text` begins with. Punctuation at its end belongs to the sentence, and a closing bracket too, unless
/// it was opened within the address.
fn address_in(text: &str) -> &str {
    let mut address = text.split(ends_an_address).next().unwrap_or_default();
    while let Some(last) = address.chars().next_back() {
        let is_of_the_sentence = match last {
            ')' => is_unopened(address, '(', ')'),
            ']' => is_unopened(address, '[', ']'),
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | '…' | '’' | '”' | '“' | '»'
            | '›' => true,
            _ => false,
        };
        if !is_of_the_sentence {
            break;
        }
        address = address.strip_suffix(last).unwrap_or_default();
    }
    address
}

fn is_unopened(text: &str, opening: char, closing: char) -> bool {
    text.matches(closing).count() > text.matches(opening).count()
}

/// White space, characters that no address has, characters that hide or reorder text, and punctuation that is written
/// without a space before it.
fn ends_an_address(character: char) -> bool {
    let is_hidden = matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    );
    let is_east_asian =
        matches!(character, '\u{3000}'..='\u{303f}' | '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}'..='\u{ff1f}');
    is_hidden
        || is_east_asian
        || character.is_whitespace()
        || character.is_control()
        || matches!(character, '<' | '>' | '"' | '`' | '{' | '}' | '|' | '\\' | '^')
}

fn href(address: &str) -> Option<String> {
    let url = WebUrl::parse(address).ok()?;
    url.host().contains('.').then(|| url.as_target().location())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<(String, String)> {
        let found = parts(text, &mut AddressBudget(100));
        let whole: String = found
            .iter()
            .map(|part| match part {
                Part::Plain(text) | Part::Link { text, .. } => *text,
            })
            .collect();
        assert_eq!(whole, text, "no character is lost");
        found
            .into_iter()
            .filter_map(|part| match part {
                Part::Plain(_) => None,
                Part::Link { href, text } => Some((href, text.to_owned())),
            })
            .collect()
    }

    #[test]
    fn d35_addresses_in_a_text_are_links_without_the_sentence_around_them() {
        for (text, address) in [
            ("https://example.com", "https://example.com"),
            ("See https://example.com/a?b=1&c=2#d, or call.", "https://example.com/a?b=1&c=2#d"),
            ("(https://example.com/a)", "https://example.com/a"),
            ("https://example.com/a_(b)", "https://example.com/a_(b)"),
            ("(as in https://example.com/a_(b)).", "https://example.com/a_(b)"),
            ("“https://example.com/x”", "https://example.com/x"),
            ("HTTPS://Example.com/x!", "HTTPS://Example.com/x"),
            ("siehe:http://example.com/…", "http://example.com/"),
            ("見て「https://example.com/」。", "https://example.com/"),
            ("<https://example.com/a>", "https://example.com/a"),
            ("https://example.com/a\u{202e}gpj", "https://example.com/a"),
            ("https:// https://example.com", "https://example.com"),
        ] {
            assert_eq!(links(text), [(address.to_owned(), address.to_owned())], "{text}");
        }
        assert_eq!(
            links("https://пример.рф/путь"),
            [(
                "https://xn--e1afmkfd.xn--p1ai/%D0%BF%D1%83%D1%82%D1%8C".to_owned(),
                "https://пример.рф/путь".to_owned()
            )]
        );
        let two: Vec<String> =
            links("https://a.example\nhttps://b.example").into_iter().map(|link| link.0).collect();
        assert_eq!(two, ["https://a.example", "https://b.example"]);
    }

    #[test]
    fn r23_what_is_no_web_address_stays_text() {
        for text in [
            "javascript:alert(1)//https",
            "javascript://example.com/%0aalert(1)",
            "xhttps://example.com",
            "https://",
            "https://localhost/a",
            "https://bank.example@evil.example/",
            "https:///example.com",
            "https://exa mple",
            "://",
            "ftp://example.com",
            "www.example.com",
        ] {
            assert_eq!(links(text), [], "{text}");
        }
    }

    #[test]
    fn r23_one_page_reads_a_hundred_addresses() {
        let text = "https://a.example ".repeat(60);
        let mut budget = AddressBudget::OF_A_PAGE;
        let mut count =
            || parts(&text, &mut budget).iter().filter(|part| matches!(part, Part::Link { .. })).count();
        assert_eq!([count(), count(), count()], [60, 40, 0]);
    }
}
