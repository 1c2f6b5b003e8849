//! The operator's list of hosts that may never be targets (D24).

use std::collections::HashSet;
use std::fmt;

use crate::target_url::embedded_ipv4::{self, Embedded};
use crate::target_url::host::agreed_ascii_form;

/// The operator's list of hosts that no link may point at (D24). The default is empty.
///
/// A listed host covers itself and all hosts under it. An IPv4 address also covers the IPv6 addresses that
/// lead to it, and vice versa; see [`Self::contains`]. A check takes a few hash look-ups, independent of the
/// length of the list.
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
    /// The number of labels of the listed host with the most labels. Longer suffixes need no look-up.
    deepest: usize,
}

/// A line of a blocklist that is not a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {text:?} is not a host")]
pub struct HostBlocklistError {
    line: usize,
    text: String,
}

impl HostBlocklistError {
    /// The number of the line, from 1.
    #[must_use]
    pub const fn line(&self) -> usize {
        self.line
    }

    /// The text of the line, cut after 80 characters.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl HostBlocklist {
    /// The maximum number of reported lines. A file with more errors is probably not a blocklist.
    pub const MAX_ERRORS: usize = 100;

    /// Reads a list with one host per line. A leading `*.` makes no difference, `#` begins a comment, and
    /// blank lines are skipped. A host is a name, also an internationalised one, an IPv4 address, or an IPv6
    /// address in brackets.
    ///
    /// # Errors
    /// The first [`Self::MAX_ERRORS`] lines that are not hosts. A list with a wrong line is refused as a
    /// whole: skipping the line would silently allow the host that it was meant to block.
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
        let host = match embedded_ipv4::of(&host) {
            Some(Embedded::SameNode(address)) => address.to_string(),
            // A 6to4 address belongs to a whole network, and listing it does not list the network's router.
            Some(Embedded::RouterOf(_)) | None => host,
        };
        self.deepest = self.deepest.max(host.split('.').count());
        self.hosts.insert(host.into_boxed_str());
    }

    /// Whether `host` is listed, or is under a listed host. [`TargetUrl::host`](crate::TargetUrl::host)
    /// already has the normalised form; other texts are normalised first.
    ///
    /// An IPv6 address that contains an IPv4 address counts as that address: mapped (`::ffff:a.b.c.d`),
    /// compatible (`::a.b.c.d`), and translated by NAT64 (`64:ff9b::a.b.c.d`). A listed IPv4 address also
    /// covers its 6to4 network (`2002:aabb:ccdd::/48`), but not vice versa.
    ///
    /// ```
    /// # use signpost_domain::HostBlocklist;
    /// let list = HostBlocklist::parse("127.0.0.1").unwrap();
    /// assert!(list.contains("[::ffff:127.0.0.1]"));
    /// assert!(!list.contains("[::1]"));
    /// ```
    #[must_use]
    pub fn contains(&self, host: &str) -> bool {
        if self.hosts.is_empty() {
            return false;
        }
        // An IPv6 address has several spellings, also in lower case.
        let is_normal = !host.starts_with('[')
            && !host.ends_with('.')
            && host.bytes().all(|b| b.is_ascii() && !b.is_ascii_uppercase());
        if is_normal {
            self.covers(host)
        } else {
            agreed_ascii_form(host).is_some_and(|host| self.covers(&host))
        }
    }

    /// Whether `host` in its ASCII form, or the IPv4 address within it, is covered.
    fn covers(&self, host: &str) -> bool {
        match embedded_ipv4::of(host) {
            Some(Embedded::SameNode(address)) => self.covers_name(&address.to_string()),
            Some(Embedded::RouterOf(address)) => {
                self.covers_name(host) || self.covers_name(&address.to_string())
            }
            None => self.covers_name(host),
        }
    }

    /// Looks up `host` and all its parent domains, from the top-level domain down.
    fn covers_name(&self, host: &str) -> bool {
        let above = host.rmatch_indices('.').filter_map(|(dot, _)| host.get(dot + 1..));
        above.chain(std::iter::once(host)).take(self.deepest).any(|suffix| self.hosts.contains(suffix))
    }

    /// The number of listed hosts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }
}

/// `Debug` shows the length of the list, not its hosts: there may be a million.
impl fmt::Debug for HostBlocklist {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { hosts, deepest } = self;
        f.debug_struct("HostBlocklist").field("len", &hosts.len()).field("deepest", deepest).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

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
    fn d24_comments_blank_lines_and_leading_stars_are_ignored() {
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
    fn d24_addresses_match_in_any_spelling_and_have_no_subdomains() {
        let list = list("192.0.2.1\n[2001:db8:0:0::1]");
        assert!(list.contains("192.0.2.1"));
        assert!(list.contains("[2001:db8::1]"));
        assert!(!list.contains("192.0.2.2"));
        assert!(!list.contains("2.1"));
    }

    #[test]
    fn d24_a_listed_ipv6_form_covers_its_ipv4_address() {
        let same = ["127.0.0.1", "[::ffff:127.0.0.1]", "[::127.0.0.1]", "[64:ff9b::127.0.0.1]"];
        for listed in same {
            let list = list(listed);
            for asked in same {
                let target = TargetUrl::parse(&format!("http://{asked}:8080/")).unwrap();
                assert!(list.contains(target.host()), "{asked} with {listed} listed");
                assert!(list.contains(asked), "{asked} with {listed} listed");
            }
            for other in ["127.0.0.2", "[::ffff:127.0.0.2]", "[::127.0.0.2]", "[::1]", "[::]"] {
                assert!(!list.contains(other), "{other} with {listed} listed");
            }
        }
    }

    #[test]
    fn d24_a_listed_ipv4_address_covers_the_6to4_network_behind_it() {
        assert!(list("192.0.2.1").contains("[2002:c000:201::5]"));
        assert!(!list("192.0.2.1").contains("[2002:c000:202::5]"));
        let one_host = list("[2002:c000:201::5]");
        assert!(one_host.contains("[2002:c000:0201:0::5]"));
        assert!(!one_host.contains("[2002:c000:201::6]"));
        assert!(!one_host.contains("192.0.2.1"));
    }

    #[test]
    fn d24_the_ipv6_loopback_has_no_ipv4_address() {
        let list = list("[::1]\n[::]");
        assert!(list.contains("[::1]") && list.contains("[0:0::0]"));
        assert!(!list.contains("0.0.0.1") && !list.contains("0.0.0.0"));
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
    fn d24_a_list_with_an_invalid_line_is_refused() {
        let errors =
            HostBlocklist::parse("a.example\nhttps://b.example/\n# x\n127.1 # c\n*.*.d").unwrap_err();
        let reported: Vec<_> = errors.iter().map(|error| (error.line(), error.text())).collect();
        assert_eq!(reported, [(2, "https://b.example/"), (4, "127.1"), (5, "*.*.d")]);
        assert_eq!(errors[0].to_string(), "line 2: \"https://b.example/\" is not a host");
        let many = HostBlocklist::parse(&"no host\n".repeat(1_000)).unwrap_err();
        assert_eq!(many.len(), HostBlocklist::MAX_ERRORS);
        let long = HostBlocklist::parse(&"!".repeat(1_000)).unwrap_err();
        assert_eq!(long[0].text().len(), 80);
    }

    #[test]
    fn the_default_is_empty_and_debug_output_is_short() {
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

        /// The host that a browser connects to for a spelling of a target, including numbers in other bases
        /// where they are accepted.
        #[test]
        fn d24_every_spelling_of_a_listed_ipv4_address_is_blocked(
            address: Ipv4Addr, form in 0_usize..9, scheme in "https?", port in "(:[1-9][0-9]{0,3})?",
        ) {
            let [a, b, c, d] = address.octets();
            let bits = address.to_bits();
            let spelling = match form {
                0 => address.to_string(),
                1 => format!("[{}]", address.to_ipv6_mapped()),
                2 => format!("[::ffff:{:x}:{:X}]", bits >> 16, bits & 0xffff),
                3 => format!("[0:0:0:0:0:0:{address}]"),
                4 => format!("[64:ff9b::{address}]"),
                5 => bits.to_string(),
                6 => format!("{bits:#x}"),
                7 => format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
                _ => format!("{a}.{b}.{}", u32::from(c) << 8 | u32::from(d)),
            };
            let is_ipv6_alone = form == 3 && bits <= 1;
            if let Ok(target) = TargetUrl::parse(&format!("{scheme}://{spelling}{port}/")) {
                prop_assert_eq!(list(&address.to_string()).contains(target.host()), !is_ipv6_alone, "{}", spelling);
            } else {
                prop_assert!(form >= 5, "{} is a host like any other", spelling);
            }
        }

        #[test]
        fn d24_no_text_makes_the_parser_panic(text in "(?s).{0,200}") {
            if let Err(errors) = HostBlocklist::parse(&text) {
                prop_assert!(!errors.is_empty());
            }
        }
    }
}
