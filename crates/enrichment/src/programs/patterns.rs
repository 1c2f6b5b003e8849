//! Patterns that programs with different names share.

use super::names::Category;

/// Common endings of program names. The log shows the rule. The first match wins.
#[rustfmt::skip]
const ENDINGS: &[(&str, &str, Category)] = &[
    ("previewbot", "*previewbot", Category::Previewer),
    ("unfurlbot", "*unfurlbot", Category::Previewer),
    ("unfurler", "*unfurler", Category::Previewer),
    ("linkpreview", "*linkpreview", Category::Previewer),
    ("urlpreview", "*urlpreview", Category::Previewer),
    ("bot", "*bot", Category::Bot),
    ("bots", "*bots", Category::Bot),
    ("crawl", "*crawl", Category::Bot),
    ("crawler", "*crawler", Category::Bot),
    ("spider", "*spider", Category::Bot),
    ("scraper", "*scraper", Category::Bot),
    ("archiver", "*archiver", Category::Bot),
    ("fetcher", "*fetcher", Category::Bot),
    ("indexer", "*indexer", Category::Bot),
    ("checker", "*checker", Category::Bot),
    ("validator", "*validator", Category::Bot),
    ("scanner", "*scanner", Category::Bot),
    ("monitoring", "*monitoring", Category::Bot),
    ("feedreader", "*feedreader", Category::Bot),
];

/// Words with such an ending that are not programs: Cubot makes phones.
const NOT_PROGRAMS: &[&str] = &["cubot"];

/// How agents name their operators, as crawlers do: by a page or by a mail address. No browser has these, so they mark a program
/// wherever they stand.
const CONTACTS: &[&str] = &["+http", "+mailto:"];

/// The rule for an agent with a page address that does not claim to be a browser. Old browsers may have an
/// address too.
const PAGE: &str = "http";

/// The start of every browser's agent, up to the platform.
const BROWSER: &str = "mozilla/5.0 (";

/// The prefixes of browsers' agents. Phones before 2010 have others, but without addresses.
const BROWSERS: &[&str] = &["mozilla", "opera"];

/// The rule that matches the ending of `word`, a run of letters and digits.
pub(crate) fn by_ending(word: &[u8]) -> Option<(&'static str, Category)> {
    // Few words end in the letter of an ending, so most are compared no further.
    let last = word.last()?.to_ascii_lowercase();
    let (ending, rule, category) = ENDINGS
        .iter()
        .find(|(ending, ..)| ending.as_bytes().last() == Some(&last) && ends_with(word, ending))?;
    let is_program =
        !(*ending == "bot" && NOT_PROGRAMS.iter().any(|name| word.eq_ignore_ascii_case(name.as_bytes())));
    is_program.then_some((*rule, *category))
}

/// Whether an app or a browser of a phone sends the agent, so that a word with a common ending is a part of a name for people:
/// "QR Scanner" opens the codes that it reads.
///
/// A browser's agent is complete: a platform in brackets, an engine, and `Mobile` or (in the browser within an Android app)
/// `wv`. Programs that imitate phones name themselves in the table, or have an address. Other apps have the agent of the system's
/// HTTP library.
///
/// Crawlers that imitate phones also call themselves `compatible`, so agents with that word do not count as phones. Neither do apps
/// whose name says that they crawl.
pub(crate) fn is_of_phone(agent: &[u8]) -> bool {
    let has = |text: &[u8], wanted: &[&str]| {
        let mut words = text.split(|byte| !byte.is_ascii_alphanumeric());
        words.any(|word| wanted.iter().any(|wanted| word.eq_ignore_ascii_case(wanted.as_bytes())))
    };
    let is_of_app = starts_with(agent, "dalvik/") || (has(agent, &["cfnetwork"]) && has(agent, &["darwin"]));
    if is_of_app {
        let mut words = agent.split(|byte| !byte.is_ascii_alphanumeric());
        return !words
            .any(|word| ["crawl", "crawler", "spider"].iter().any(|ending| ends_with(word, ending)));
    }
    let Some(platform) = agent.get(BROWSER.len()..).filter(|_| starts_with(agent, BROWSER)) else {
        return false;
    };
    let end = platform.iter().position(|byte| *byte == b')').unwrap_or_default();
    let (platform, rest) = platform.split_at(end);
    !platform.is_empty()
        && !has(agent, &["compatible"])
        && has(rest, &["applewebkit", "gecko"])
        && (has(agent, &["mobile"]) || has(platform, &["wv"]))
}

/// The rule that matches a page address at the start of `rest`, a part of `agent`.
pub(crate) fn by_address(rest: &[u8], agent: &[u8]) -> Option<(&'static str, Category)> {
    let begins_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| starts_with(rest, prefix));
    if let Some(contact) = CONTACTS.iter().find(|contact| starts_with(rest, contact)) {
        return Some((contact, Category::Bot));
    }
    let claims_to_browse = || BROWSERS.iter().any(|prefix| starts_with(agent, prefix));
    (begins_with(&["://"]) && !claims_to_browse()).then_some((PAGE, Category::Bot))
}

/// Whether `text` begins with `lower`, which is in lower case.
pub(crate) fn starts_with(text: &[u8], lower: &str) -> bool {
    text.get(..lower.len()).is_some_and(|start| start.eq_ignore_ascii_case(lower.as_bytes()))
}

fn ends_with(text: &[u8], lower: &str) -> bool {
    let start = text.len().checked_sub(lower.len());
    start.and_then(|start| text.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(lower.as_bytes()))
}
