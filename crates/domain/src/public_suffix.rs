//! The public suffix list: where a registry's name ends and an owner's name begins (D37, D38).
//!
//! The list is part of the program, with its ICANN and private sections. By its default rule, the last label
//! of a name that matches no rule is its suffix.

use crate::hostname::Hostname;

/// Whether the hostname is itself a public suffix, such as `co.uk` or `github.io`. No account can own it.
pub(crate) fn is_public_suffix(hostname: &Hostname) -> bool {
    psl::suffix_str(hostname.as_str()) == Some(hostname.as_str())
}

/// Whether the hostname is a registrable domain: one label under a public suffix. It has `SOA` and `NS`
/// records, and DNS allows no `CNAME` beside them (RFC 1034 section 3.6.2).
pub(crate) fn is_apex(hostname: &Hostname) -> bool {
    zone_of(hostname) == Some(hostname.as_str())
}

/// The registrable domain that the hostname is or is under: in most cases the name of its zone. `None` for a public suffix.
pub(crate) fn zone_of(hostname: &Hostname) -> Option<&str> {
    psl::domain_str(hostname.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Suffix, apex and subdomain for several kinds of rules (contract D37, D38).
    #[test]
    fn d38_the_apex_is_one_label_under_a_public_suffix() {
        for (suffix, apex, subdomain) in [
            ("co.uk", "shop.co.uk", "go.shop.co.uk"),
            ("github.io", "shop.github.io", "go.shop.github.io"),
            // A wildcard rule (`*.ck`).
            ("shop.ck", "go.shop.ck", "a.go.shop.ck"),
        ] {
            let found = |text| {
                let hostname = Hostname::parse(text).unwrap();
                (is_public_suffix(&hostname), is_apex(&hostname))
            };
            assert_eq!(found(suffix), (true, false), "{suffix}");
            assert_eq!(found(apex), (false, true), "{apex}");
            assert_eq!(found(subdomain), (false, false), "{subdomain}");
        }
    }

    /// `www.ck` is an exception of `*.ck`. `.zzzz` is in no list, so its suffix is the last label.
    #[test]
    fn d37_exceptions_and_unlisted_names_follow_the_lists_own_rules() {
        for apex in ["www.ck", "shop.zzzz", "shop.com"] {
            let hostname = Hostname::parse(apex).unwrap();
            assert!(is_apex(&hostname) && !is_public_suffix(&hostname), "{apex}");
        }
        assert!(!is_apex(&Hostname::parse("go.shop.zzzz").unwrap()));
    }
}
