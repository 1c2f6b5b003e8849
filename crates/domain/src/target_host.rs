//! The filter of links by the hosts of their targets (D126).

use std::fmt;
use std::ops::RangeInclusive;

use crate::target_url::TargetUrl;
use crate::target_url::host::agreed_ascii_form;
use crate::text::exceeds;
use crate::violation::{FieldError, ViolationCode};

/// A host, which stands for itself and all hosts under it (D126). It is written as in targets (D24): a name in ASCII or Unicode, an
/// IPv4 address, or an IPv6 address in brackets. Letter case makes no difference, nor does a final dot of a name.
///
/// ```
/// use signpost_domain::{TargetHost, TargetUrl};
///
/// let host = TargetHost::parse("Bücher.example").unwrap();
/// assert_eq!(host.as_str(), "xn--bcher-kva.example");
/// let covers = |target| host.covers(&TargetUrl::parse(target).unwrap());
/// assert!(covers("https://XN--BCHER-KVA.example:8443/") && covers("http://shop.bücher.example"));
/// assert!(!covers("https://example/bücher.example") && !covers("https://kochbücher.example"));
/// assert!(TargetHost::parse("https://example.com").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TargetHost(String);

/// The last labels of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostEnd<'a> {
    /// How many there are, at least one.
    pub labels: usize,
    /// The labels, separated by dots.
    pub text: &'a str,
}

impl<'a> HostEnd<'a> {
    /// The last labels of a host, at least one; `None` if it has fewer.
    ///
    /// ```
    /// use signpost_domain::HostEnd;
    ///
    /// let end = |labels| HostEnd::of("www.example.com", labels).map(|end| end.text);
    /// assert_eq!([end(1), end(2), end(3), end(4)], [Some("com"), Some("example.com"), Some("www.example.com"), None]);
    /// ```
    #[must_use]
    pub fn of(host: &'a str, labels: usize) -> Option<Self> {
        let before = host.split('.').count().checked_sub(labels)?;
        let dot_before = before.checked_sub(1).and_then(|dots| host.match_indices('.').nth(dots));
        let text = host.get(dot_before.map_or(0, |(dot, _)| dot + 1)..)?;
        Some(Self { labels, text })
    }
}

impl TargetHost {
    /// The name of the filter.
    pub const FIELD: &'static str = "target_host";

    /// The maximum length in Unicode scalar values: that of a DNS name with its final dot.
    pub const MAX_CHARS: usize = 254;

    /// How many labels the end of a target's host has by which stores find links. Each number has an index (ADR 83).
    pub const INDEXED_LABELS: RangeInclusive<usize> = 2..=5;

    /// Reads a host. Nothing is trimmed.
    ///
    /// # Errors
    /// `invalid_value` if it cannot be the host of a target.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let host = if exceeds(text, Self::MAX_CHARS) { None } else { agreed_ascii_form(text) };
        host.map(Self).ok_or_else(|| {
            let message =
                "must be a host, such as example.com or [2001:db8::1], without a scheme, a port or a path";
            FieldError::new(ViolationCode::InvalidValue, message)
        })
    }

    /// The host in ASCII form and lower case, as [`TargetUrl::host`] has it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the target's host is this one, or under it.
    #[must_use]
    pub fn covers(&self, target: &TargetUrl) -> bool {
        let before = target.host().strip_suffix(self.as_str());
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    }

    /// Whether the links with targets that the host covers are a range of an index.
    #[must_use]
    pub fn is_indexed(&self) -> bool {
        Self::INDEXED_LABELS.contains(&self.labels())
    }

    /// The end of the host that an index has: the host itself, or the most of its last labels. `None` for a single label.
    #[must_use]
    pub fn indexed_end(&self) -> Option<HostEnd<'_>> {
        let labels = self.labels().min(*Self::INDEXED_LABELS.end());
        HostEnd::of(&self.0, labels).filter(|_| Self::INDEXED_LABELS.contains(&labels))
    }

    /// At least one. An IPv6 address has no dots.
    fn labels(&self) -> usize {
        self.0.split('.').count()
    }
}

impl fmt::Display for TargetHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn host(text: &str) -> TargetHost {
        TargetHost::parse(text).unwrap()
    }

    fn covers(text: &str, target: &str) -> bool {
        host(text).covers(&TargetUrl::parse(target).unwrap())
    }

    #[test]
    fn d126_a_host_is_read_in_every_spelling_that_targets_may_have() {
        for (text, ascii) in [
            ("Example.COM", "example.com"),
            ("example.com.", "example.com"),
            ("localhost", "localhost"),
            ("my_site.example", "my_site.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:DB8:0::1]", "[2001:db8::1]"),
        ] {
            assert_eq!(host(text).as_str(), ascii, "{text}");
        }
    }

    #[test]
    fn d126_whatever_no_target_has_as_its_host_is_refused() {
        let long = format!("{}example", "a.".repeat(124));
        for text in [
            "",
            ".",
            " example.com",
            "*.example.com",
            ".example.com",
            "example.com:443",
            "https://example.com",
            "//example.com",
            "example.com/",
            "user@example.com",
            "a..b",
            "a,b",
            "2001:db8::1",
            "127.1",
            "2.1",
            "xn--a",
            "example.com\0",
            &long,
            &"ü".repeat(255),
        ] {
            let error = TargetHost::parse(text).unwrap_err();
            assert_eq!(error.code(), ViolationCode::InvalidValue, "{text:?}");
        }
        assert!(TargetHost::parse(&long[2..]).is_ok(), "it has 253 characters");
    }

    #[test]
    fn d126_a_host_covers_itself_and_the_hosts_under_it() {
        for (text, target, is_covered) in [
            ("example.com", "https://example.com", true),
            ("example.com", "HTTP://EXAMPLE.COM.:8080?a=b", true),
            ("example.com", "https://www.Example.com/", true),
            ("example.com", "https://a.b.example.com/", true),
            ("example.com", "https://notexample.com/", false),
            ("example.com", "https://example.com.example.net/", false),
            ("example.com", "https://com/example.com", false),
            ("www.example.com", "https://example.com/", false),
            ("com", "https://www.example.com/", true),
            ("localhost", "http://localhost:8080/", true),
            ("localhost", "http://api.localhost/", true),
            ("bücher.example", "https://shop.xn--bcher-kva.example/", true),
            ("xn--bcher-kva.example", "https://shop.BÜCHER.example/", true),
            ("192.0.2.1", "http://192.0.2.1:80/", true),
            ("192.0.2.1", "http://192.0.2.10/", false),
            ("[2001:db8::1]", "http://[2001:DB8:0::1]:80/", true),
            ("[2001:db8::1]", "http://[2001:db8::11]/", false),
        ] {
            assert_eq!(covers(text, target), is_covered, "{text} {target}");
        }
    }

    #[test]
    fn d126_the_last_two_to_five_labels_are_in_an_index() {
        for (text, end, is_whole) in [
            ("localhost", None, false),
            ("[::1]", None, false),
            ("b.a", Some((2, "b.a")), true),
            ("c.b.a", Some((3, "c.b.a")), true),
            ("192.0.2.1", Some((4, "192.0.2.1")), true),
            ("e.d.c.b.a", Some((5, "e.d.c.b.a")), true),
            ("f.e.d.c.b.a", Some((5, "e.d.c.b.a")), false),
            ("g.f.e.d.c.b.a", Some((5, "e.d.c.b.a")), false),
        ] {
            let host = host(text);
            let found = host.indexed_end().map(|HostEnd { labels, text }| (labels, text));
            assert_eq!((found, host.is_indexed()), (end, is_whole), "{text}");
        }
    }

    proptest! {
        /// The labels of both are compared from the last one on.
        #[test]
        fn d126_a_host_covers_targets_that_end_with_its_labels(
            of_target in prop::collection::vec("[ab]{1,2}", 1..8),
            given in prop::collection::vec("[ab]{1,2}", 1..8),
            cut in any::<prop::sample::Index>(),
        ) {
            let target = TargetUrl::parse(&format!("https://{}/b.a", of_target.join("."))).unwrap();
            let suffix = &of_target[cut.index(of_target.len())..];
            for labels in [given.as_slice(), suffix] {
                let host = host(&labels.join("."));
                let is_covered = of_target.iter().rev().take(labels.len()).eq(labels.iter().rev());
                prop_assert_eq!(host.covers(&target), is_covered);
                if let Some(HostEnd { labels: number, text }) = host.indexed_end() {
                    prop_assert_eq!(text.split('.').count(), number);
                    prop_assert!(host.as_str().ends_with(text));
                    prop_assert!(!is_covered || target.host().ends_with(text));
                    prop_assert_eq!(host.is_indexed(), text == host.as_str());
                }
            }
        }

        #[test]
        fn d126_the_host_of_a_target_covers_it(name in "[a-zA-Z0-9üÜßжЖ例_-]{1,8}(\\.[a-zA-Zü_-]{1,5}){0,7}\\.?") {
            if let Ok(target) = TargetUrl::parse(&format!("https://{name}/")) {
                let host = host(&name);
                prop_assert_eq!(host.as_str(), target.host());
                prop_assert!(host.covers(&target));
                prop_assert_eq!(TargetHost::parse(target.host()).unwrap(), host);
            }
        }
    }
}
