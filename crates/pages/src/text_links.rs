//! The web addresses in an owner's text, which become links.

use signpost_domain::{HostBlocklist, WebUrl};

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
/// valid target, such as an address with a password, stays text, and so does one whose host is `blocked` (D24).
pub(crate) fn parts<'a>(text: &'a str, budget: &mut AddressBudget, blocked: &HostBlocklist) -> Vec<Part<'a>> {
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
        let Some(href) = href(address, blocked) else { continue };
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
    let address = text.split(ends_an_address).next().unwrap_or_default();
    // Counted once: an address may end in thousands of brackets.
    let mut unopened = [('(', ')'), ('[', ']')].map(|(opening, closing)| {
        (closing, address.matches(closing).count().saturating_sub(address.matches(opening).count()))
    });
    let mut is_of_the_sentence = |last: char| {
        if let Some((_, surplus)) = unopened.iter_mut().find(|(closing, _)| *closing == last) {
            let is_unopened = *surplus > 0;
            *surplus = surplus.saturating_sub(1);
            return is_unopened;
        }
        is_punctuation(last)
    };
    let mut end = address.len();
    for (at, last) in address.char_indices().rev() {
        if !is_of_the_sentence(last) {
            break;
        }
        end = at;
    }
    address.get(..end).unwrap_or_default()
}

/// Whether a sentence of some script may have this character directly behind an address.
fn is_punctuation(character: char) -> bool {
    matches!(
        character,
        '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | '«' | '»' | '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}'
    ) || matches!(
        character,
        '\u{37e}'
            | '\u{589}'
            | '\u{60c}'
            | '\u{61b}'
            | '\u{61f}'
            | '\u{6d4}'
            | '\u{964}'
            | '\u{965}'
            | '\u{1362}'
    )
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

fn href(address: &str, blocked: &HostBlocklist) -> Option<String> {
    let url = WebUrl::parse(address).ok()?;
    let is_public = url.host().contains('.') && !blocked.contains(url.host());
    is_public.then(|| url.as_target().location())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Vec<(String, String)> {
        let found = parts(text, &mut AddressBudget(100), &HostBlocklist::default());
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
            ("https://example.com/a؟", "https://example.com/a"),
            ("https://example.com/a –", "https://example.com/a"),
            ("https://example.com/a–", "https://example.com/a"),
            ("https://example.com/a)].)", "https://example.com/a"),
            ("https://example.com/a?b=%20", "https://example.com/a?b=%20"),
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
        for (text, shown) in [
            ("انظر https://example.com/عربي، ثم", "https://example.com/عربي"),
            ("https://example.com/हिन्दी।", "https://example.com/हिन्दी"),
            ("https://example.com/🦀", "https://example.com/🦀"),
        ] {
            assert_eq!(links(text).into_iter().map(|link| link.1).collect::<Vec<_>>(), [shown]);
        }
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
    fn d24_hosts_on_the_operators_list_stay_text() {
        let blocked = HostBlocklist::parse("evil.example").unwrap();
        let text = "https://evil.example/a https://www.evil.example https://good.example";
        let found = parts(text, &mut AddressBudget(100), &blocked);
        let hrefs: Vec<&str> = found
            .iter()
            .filter_map(|part| match part {
                Part::Plain(_) => None,
                Part::Link { href, .. } => Some(href.as_str()),
            })
            .collect();
        assert_eq!(hrefs, ["https://good.example"]);
    }

    /// Trimming a bracket once counted the whole address again, which took seconds for these.
    #[test]
    fn r23_brackets_at_the_end_are_counted_once() {
        let text = format!("http://a.example/{}", ")".repeat(1_000_000));
        assert_eq!(address_in(&text), "http://a.example/");
    }

    #[test]
    fn r23_one_page_reads_a_hundred_addresses() {
        let text = "https://a.example ".repeat(60);
        let (mut budget, none) = (AddressBudget::OF_A_PAGE, HostBlocklist::default());
        let mut count = || {
            parts(&text, &mut budget, &none).iter().filter(|part| matches!(part, Part::Link { .. })).count()
        };
        assert_eq!([count(), count(), count()], [60, 40, 0]);
    }
}
