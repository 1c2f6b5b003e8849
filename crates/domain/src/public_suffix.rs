//! What the public suffix list says about a hostname: where a registry ends and an owner's name begins (D37, D38).
//!
//! The list, with its ICANN and its private section, is part of the program. By its default rule the last label
//! is the suffix of a name that no rule of the list matches.

use crate::hostname::Hostname;

/// Whether the hostname is itself a public suffix, such as `co.uk` or `github.io`: nobody's own name.
pub(crate) fn is_public_suffix(hostname: &Hostname) -> bool {
    psl::suffix_str(hostname.as_str()) == Some(hostname.as_str())
}

/// Whether the hostname is a registrable domain: one label under a public suffix. Such a name holds `SOA` and `NS`
/// records, beside which DNS allows no `CNAME` (RFC 1034 section 3.6.2).
pub(crate) fn is_apex(hostname: &Hostname) -> bool {
    psl::domain_str(hostname.as_str()) == Some(hostname.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The suffix, the apex and a subdomain of several kinds of rules (contract D37, D38).
    #[test]
    fn d38_the_apex_is_one_label_under_a_public_suffix() {
        for (suffix, apex, subdomain) in [
            ("co.uk", "shop.co.uk", "go.shop.co.uk"),
            ("github.io", "shop.github.io", "go.shop.github.io"),
            // A wildcard rule (`*.ck`).
            ("shop.ck", "go.shop.ck", "a.go.shop.ck"),
        ] {
            let judged = |text| {
                let hostname = Hostname::parse(text).unwrap();
                (is_public_suffix(&hostname), is_apex(&hostname))
            };
            assert_eq!(judged(suffix), (true, false), "{suffix}");
            assert_eq!(judged(apex), (false, true), "{apex}");
            assert_eq!(judged(subdomain), (false, false), "{subdomain}");
        }
    }

    /// `www.ck` is excepted from `*.ck`; `.zzzz` is in no list, so that its only suffix is the last label.
    #[test]
    fn d37_exceptions_and_unlisted_names_follow_the_lists_own_rules() {
        for apex in ["www.ck", "shop.zzzz", "shop.com"] {
            let hostname = Hostname::parse(apex).unwrap();
            assert!(is_apex(&hostname) && !is_public_suffix(&hostname), "{apex}");
        }
        assert!(!is_apex(&Hostname::parse("go.shop.zzzz").unwrap()));
    }
}
