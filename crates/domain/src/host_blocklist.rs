//! The operator's list of hosts that may never be targets (D24).

use std::collections::HashSet;
use std::fmt;

use crate::target_url::host::agreed_ascii_form;

/// The hosts that no link may point at, as the operator lists them (D24). The default lists none.
///
/// A listed host covers itself and every host under it. Looking a host up takes a handful of hash look-ups,
/// however long the list is.
///
/// ```
/// use signpost_domain::HostBlocklist;
///
/// let list = HostBlocklist::parse("# seen in June\nevil.example\n*.bücher.example # and all below\n").unwrap();
/// assert!(list.contains("evil.example"));
/// assert!(list.contains("www.evil.example"));
/// assert!(list.contains("xn--bcher-kva.example"));
/// assert!(!list.contains("notevil.example"));
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct HostBlocklist {
    hosts: HashSet<Box<str>>,
    /// The number of labels of the longest listed host, counted in labels: no suffix with more can be listed.
    deepest: usize,
}

/// A line of a blocklist that is no host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?} is not a host")]
pub struct HostBlocklistError {
    line: usize,
    text: String,
}

impl HostBlocklistError {
    /// The number of the line; the first is 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// What stands there, cut after 80 characters.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl HostBlocklist {
    /// How many wrong lines are reported at most. A file with more is likely no blocklist at all.
    pub const MAX_ERRORS: usize = 100;

    /// Reads a list: one host per line, a leading `*.` makes no difference, `#` begins a comment, blank lines
    /// are skipped. A host is a name (also in its internationalised form), an IPv4 address, or an IPv6 address
    /// in brackets.
    ///
    /// # Errors
    /// The first [`Self::MAX_ERRORS`] lines that are no hosts. A list with a wrong line is not read in part:
    /// the line would silently allow what it was meant to forbid.
    pub fn parse(text: &str) -> Result<Self, Vec<HostBlocklistError>> {
        let mut list = Self::default();
        let mut errors = Vec::new();
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        for (index, line) in text.lines().enumerate() {
            let entry = line.split_once('#').map_or(line, |(entry, _comment)| entry).trim();
            if entry.is_empty() {
                continue;
            }
            match agreed_ascii_form(entry.strip_prefix("*.").unwrap_or(entry)) {
                Some(host) => list.insert(host),
                None if errors.len() < Self::MAX_ERRORS => {
                    errors
                        .push(HostBlocklistError { line: index + 1, text: entry.chars().take(80).collect() });
                }
                None => break,
            }
        }
        if errors.is_empty() { Ok(list) } else { Err(errors) }
    }

    fn insert(&mut self, host: String) {
        self.deepest = self.deepest.max(host.split('.').count());
        self.hosts.insert(host.into_boxed_str());
    }

    /// Whether `host` is listed, or stands under a listed one. [`TargetUrl::host`](crate::TargetUrl::host) has
    /// the form that is looked up at once; others are brought into it first.
    #[must_use]
    pub fn contains(&self, host: &str) -> bool {
        if self.hosts.is_empty() {
            return false;
        }
        let is_normal = !host.ends_with('.') && host.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
        if is_normal {
            self.covers(host)
        } else {
            agreed_ascii_form(host).is_some_and(|host| self.covers(&host))
        }
    }

    /// Looks up `host` and every host above it, from the top-level domain down.
    fn covers(&self, host: &str) -> bool {
        let above = host.rmatch_indices('.').filter_map(|(dot, _)| host.get(dot + 1..));
        above.chain(std::iter::once(host)).take(self.deepest).any(|suffix| self.hosts.contains(suffix))
    }

    /// How many hosts are listed.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether no host is listed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

/// Shows how long the list is rather than its hosts: there may be a million.
impl fmt::Debug for HostBlocklist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hosts, deepest } = self;
        f.debug_struct("HostBlocklist").field("len", &hosts.len()).field("deepest", deepest).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::target_url::TargetUrl;

    fn list(text: &str) -> HostBlocklist {
        HostBlocklist::parse(text).unwrap()
    }

    #[test]
    fn d24_a_listed_host_covers_itself_and_every_host_under_it() {
        let list = list("evil.example\nco.uk\nlocalhost");
        for host in ["evil.example", "a.evil.example", "a.b.c.evil.example", "x.co.uk", "co.uk", "localhost"]
        {
            assert!(list.contains(host), "{host}");
        }
        for host in ["notevil.example", "evil.example.org", "example", "uk", "evil", "evil-example", ""] {
            assert!(!list.contains(host), "{host}");
        }
    }

    #[test]
    fn comments_blank_lines_stars_and_line_ends_make_no_difference() {
        let list =
            list("\u{feff}a.example\r\n\r\n  # b.example\n*.c.example\t# why\n\n D.Example. \na.example");
        assert_eq!(list.len(), 3);
        for host in ["a.example", "c.example", "x.c.example", "d.example"] {
            assert!(list.contains(host), "{host}");
        }
        assert!(!list.contains("b.example"));
        assert!(HostBlocklist::parse("# nothing\n").unwrap().is_empty());
    }

    #[test]
    fn addresses_are_listed_in_any_spelling_and_have_nothing_under_them() {
        let list = list("192.0.2.1\n[2001:db8:0:0::1]");
        assert!(list.contains("192.0.2.1"));
        assert!(list.contains("[2001:db8::1]"));
        assert!(!list.contains("192.0.2.2"));
        assert!(!list.contains("2.1"));
    }

    #[test]
    fn d24_every_spelling_of_a_listed_host_is_found() {
        let list = list("bücher.example");
        for host in ["xn--bcher-kva.example", "XN--Bcher-KVA.example.", "bücher.example", "a.BÜCHER.example"]
        {
            assert!(list.contains(host), "{host}");
        }
        for target in
            ["https://Bücher.Example/", "http://xn--bcher-kva.example.:80", "http://a.bücher.example?x"]
        {
            assert!(list.contains(TargetUrl::parse(target).unwrap().host()), "{target}");
        }
    }

    #[test]
    fn a_line_that_is_no_host_is_reported_and_the_list_refused() {
        let errors =
            HostBlocklist::parse("a.example\nhttps://b.example/\n# x\n127.1 # c\n*.*.d").unwrap_err();
        let told: Vec<_> = errors.iter().map(|error| (error.line(), error.text())).collect();
        assert_eq!(told, [(2, "https://b.example/"), (4, "127.1"), (5, "*.*.d")]);
        assert_eq!(errors[0].to_string(), "line 2: \"https://b.example/\" is not a host");
        let many = HostBlocklist::parse(&"no host\n".repeat(1_000)).unwrap_err();
        assert_eq!(many.len(), HostBlocklist::MAX_ERRORS);
        let long = HostBlocklist::parse(&"!".repeat(1_000)).unwrap_err();
        assert_eq!(long[0].text().len(), 80);
    }

    #[test]
    fn the_default_lists_nothing_and_debug_output_stays_short() {
        assert!(!HostBlocklist::default().contains("a.example"));
        assert_eq!(format!("{:?}", list("a.example")), "HostBlocklist { len: 1, deepest: 2 }");
    }

    fn any_host() -> impl Strategy<Value = String> {
        vec("[ab]", 1..5).prop_map(|labels| labels.join("."))
    }

    proptest! {
        #[test]
        fn d24_a_host_is_covered_exactly_if_it_ends_in_a_listed_one(
            listed in vec(any_host(), 0..4), asked in any_host(),
        ) {
            let expected = listed.iter().any(|host| asked == *host || asked.ends_with(&format!(".{host}")));
            prop_assert_eq!(list(&listed.join("\n")).contains(&asked), expected);
        }

        #[test]
        fn any_text_is_a_list_or_a_list_of_errors(text in "(?s).{0,200}") {
            if let Err(errors) = HostBlocklist::parse(&text) {
                prop_assert!(!errors.is_empty());
            }
        }
    }
}
