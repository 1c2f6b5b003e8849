//! The category of a referring host or of a value of `utm_source`.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::sources::{SourceError, SourceKind, columns, rows};
use crate::vendored;

/// Signpost's own table, which corrects and extends the fetched one.
const CHANNELS: &str = include_str!("../data/channels.tsv");

/// The known AI assistants.
const ASSISTANTS: &str = include_str!("../data/ai-assistants.txt");

/// The prefix of Android app names.
const APP: &str = "android-app://";

/// A kind of source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Category {
    Search,
    Social,
    Video,
    Shopping,
    Email,
    Messenger,
    Sms,
    Push,
    Display,
    Affiliate,
    Audio,
    Assistant,
    /// A site of no other kind, although its parent domain has one.
    Referral,
}

impl Category {
    /// The categories that a list of channels can name.
    const NAMED: [(&str, Self); 12] = [
        ("search", Self::Search),
        ("social", Self::Social),
        ("video", Self::Video),
        ("shopping", Self::Shopping),
        ("email", Self::Email),
        ("messenger", Self::Messenger),
        ("sms", Self::Sms),
        ("push", Self::Push),
        ("display", Self::Display),
        ("affiliate", Self::Affiliate),
        ("audio", Self::Audio),
        ("referral", Self::Referral),
    ];

    fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, category)| *category)
    }
}

/// Names and their categories.
#[derive(Default)]
pub(crate) struct Categories {
    names: HashMap<Box<str>, Category>,
    apps: HashMap<Box<str>, Box<str>>,
}

impl Categories {
    pub(crate) fn built_in_channels() -> &'static Self {
        // Tests parse both texts.
        static BUILT_IN: LazyLock<Categories> = LazyLock::new(|| {
            let mut all = Categories::of_channels(vendored::CATEGORIES).unwrap_or_default();
            let own = Categories::of_channels(CHANNELS).unwrap_or_default();
            all.names.extend(own.names);
            all.apps.extend(own.apps);
            all
        });
        &BUILT_IN
    }

    pub(crate) fn built_in_assistants() -> &'static Self {
        static BUILT_IN: LazyLock<Categories> =
            LazyLock::new(|| Categories::of_assistants(ASSISTANTS).unwrap_or_default());
        &BUILT_IN
    }

    /// Parses a list of channels in the format of [`Sources::with_channels`](crate::Sources::with_channels).
    pub(crate) fn of_channels(text: &str) -> Result<Self, SourceError> {
        let mut categories = Self::default();
        for (line, row) in rows(text) {
            let error = |problem| SourceError { kind: SourceKind::Channels, line, problem };
            let [name, category] = columns(row)
                .ok_or_else(|| error("needs a name and a category, separated by a tab".into()))?;
            if let Some(package) = name.strip_prefix(APP) {
                check_name(package).and_then(|()| check_name(category)).map_err(error)?;
                categories.apps.insert(package.into(), category.into());
                continue;
            }
            check_name(name).map_err(error)?;
            let category = Category::named(category).ok_or_else(|| {
                let names: Vec<_> = Category::NAMED.iter().map(|(name, _)| *name).collect();
                error(format!("`{category}` is not a category; use one of {}", names.join(", ")))
            })?;
            if categories.names.insert(name.into(), category).is_some() {
                return Err(error(format!("`{name}` occurs twice")));
            }
        }
        Ok(categories)
    }

    /// Parses a list of assistants, one name a line.
    pub(crate) fn of_assistants(text: &str) -> Result<Self, SourceError> {
        let mut categories = Self::default();
        for (line, name) in rows(text) {
            check_name(name).map_err(|problem| SourceError {
                kind: SourceKind::Assistants,
                line,
                problem,
            })?;
            categories.names.insert(name.into(), Category::Assistant);
        }
        Ok(categories)
    }

    /// The host as which an Android app counts.
    pub(crate) fn host_of_app(&self, package: &str) -> Option<&str> {
        self.apps.get(package).map(AsRef::as_ref)
    }

    fn get(&self, name: &str) -> Option<Category> {
        self.names.get(name).copied()
    }
}

/// The category of a host: its own, or that of the nearest parent domain that has one.
pub(crate) fn of_host(host: &str, channels: &Categories, assistants: &Categories) -> Option<Category> {
    let mut below = "";
    let mut name = host;
    while name.contains('.') {
        if let Some(category) = assistants.get(name).or_else(|| channels.get(name)) {
            let is_search = category == Category::Search;
            return Some(if is_search && !is_search_subdomain(below) {
                Category::Referral
            } else {
                category
            });
        }
        let (_, above) = name.split_once('.')?;
        name = above;
        below = host.strip_suffix(name).and_then(|below| below.strip_suffix('.')).unwrap_or_default();
    }
    None
}

/// Whether search engines use this subdomain for search, as in mobile or national editions. Other services of
/// the same company are not search.
fn is_search_subdomain(below: &str) -> bool {
    matches!(below, "" | "m" | "www" | "search" | "mobile")
        || (below.len() == 2 && below.bytes().all(|letter| letter.is_ascii_lowercase()))
}

/// The category of a value of `utm_source`, which is a host or a common name.
pub(crate) fn of_source(source: &str, channels: &Categories, assistants: &Categories) -> Option<Category> {
    if source.contains('.') {
        return of_host(source.strip_prefix("www.").unwrap_or(source), channels, assistants);
    }
    let name = source.replace(' ', "_");
    assistants.get(&name).or_else(|| channels.get(&name))
}

fn check_name(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("the name is empty".into());
    }
    if name.chars().any(|character| character.is_whitespace() || character.is_uppercase()) {
        return Err(format!("`{name}` must be in lower case and without spaces"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str) -> Option<Category> {
        of_host(name, Categories::built_in_channels(), Categories::built_in_assistants())
    }

    fn source(name: &str) -> Option<Category> {
        of_source(name, Categories::built_in_channels(), Categories::built_in_assistants())
    }

    fn problem(text: &str) -> String {
        Categories::of_channels(text).err().unwrap().to_string()
    }

    #[test]
    fn built_in_lists_are_valid() {
        assert_eq!(Categories::of_channels(vendored::CATEGORIES).err(), None);
        assert_eq!(Categories::of_channels(CHANNELS).err(), None);
        assert_eq!(Categories::of_assistants(ASSISTANTS).err(), None);
    }

    #[test]
    fn every_app_counts_as_a_host_with_a_category() {
        let channels = Categories::built_in_channels();
        for (package, named) in &channels.apps {
            assert!(host(named).is_some(), "{package}: {named}");
        }
    }

    #[test]
    fn d47_host_has_the_category_of_the_nearest_domain() {
        for (name, category) in [
            ("google.com", Category::Search),
            ("google.co.nz", Category::Search),
            ("de.search.yahoo.com", Category::Search),
            ("m.baidu.com", Category::Search),
            ("cn.bing.com", Category::Search),
            ("fonts.google.com", Category::Referral),
            ("docs.google.com", Category::Referral),
            ("mail.google.com", Category::Email),
            ("gemini.google.com", Category::Assistant),
            ("chatgpt.com", Category::Assistant),
            ("l.facebook.com", Category::Social),
            ("old.reddit.com", Category::Social),
            ("m.youtube.com", Category::Video),
            ("l.messenger.com", Category::Messenger),
            ("smile.amazon.de", Category::Shopping),
        ] {
            assert_eq!(host(name), Some(category), "{name}");
        }
        for name in ["example.com", "notgoogle.com", "com", "google", "google.com.example"] {
            assert_eq!(host(name), None, "{name}");
        }
    }

    #[test]
    fn d47_source_is_a_host_or_a_common_name() {
        assert_eq!(source("google"), Some(Category::Search));
        assert_eq!(source("www.google.de"), Some(Category::Search));
        assert_eq!(source("google shopping"), Some(Category::Shopping));
        assert_eq!(source("chatgpt.com"), Some(Category::Assistant));
        assert_eq!(source("acme partners"), None);
    }

    #[test]
    fn invalid_line_is_reported_with_its_problem() {
        assert_eq!(
            problem("a.example search"),
            "channels: line 1: needs a name and a category, separated by a tab"
        );
        assert!(
            problem("# c\na.example\tsaerch")
                .starts_with("channels: line 2: `saerch` is not a category; use")
        );
        assert!(problem("A.example\tsearch").contains("lower case"));
        assert!(problem("a.example\tsearch\na.example\tsocial").contains("line 2: `a.example` occurs twice"));
        assert!(problem("android-app://\ta.example").contains("empty"));
    }
}
