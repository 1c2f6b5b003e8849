//! The country of a visitor, for statistics.

use std::net::IpAddr;

use signpost_domain::CountryCode;

/// Returns the country of `known`, otherwise the one whose registry assigned the address. Empty if neither is
/// known.
///
/// The registries' lists say who got a block, which may be used elsewhere. So they never decide who is turned
/// away.
pub(crate) fn country(address: IpAddr, known: Option<CountryCode>) -> &'static str {
    let by_registry = || {
        let code = iptocc::country_code(address.to_canonical())?;
        CountryCode::assigned(*code.as_bytes().first_chunk().filter(|_| code.len() == 2)?)
    };
    known.or_else(by_registry).map_or("", CountryCode::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: &str) -> &'static str {
        country(address.parse().unwrap(), None)
    }

    #[test]
    fn d47_known_country_overrides_the_registries() {
        let known = CountryCode::parse("nz").unwrap();
        assert_eq!(country([193, 0, 6, 139].into(), Some(known)), "NZ");
        assert_eq!(of("193.0.6.139"), "NL");
        assert_eq!(of("::ffff:193.0.6.139"), "NL");
        assert_eq!(of("2001:67c:2e8:22::c100:68b"), "NL");
    }

    #[test]
    fn d47_address_without_a_country_has_none() {
        for address in ["10.0.0.1", "127.0.0.1", "::1", "fe80::1", "255.255.255.255", "0.0.0.0"] {
            assert_eq!(of(address), "", "{address}");
        }
    }
}
