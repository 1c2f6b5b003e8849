//! The countries whose visitors a link blocks (contract "Redirect", D26).

use std::collections::HashSet;

use crate::country_code::CountryCode;

/// The blocked countries of one link, each once, in the given order (D26). The default blocks none.
///
/// ```
/// use signpost_domain::{CountryCode, GeoBlocklist};
///
/// let [de, at] = ["de", "AT"].map(|code| CountryCode::parse(code).unwrap());
/// let blocklist = GeoBlocklist::new(vec![de, at, de]);
/// assert_eq!(blocklist.countries(), [de, at]);
/// assert!(blocklist.blocks(at));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct GeoBlocklist(Vec<CountryCode>);

impl GeoBlocklist {
    /// The list of these countries. A repeated country keeps its first position, so a list from a request
    /// never has more than [`CountryCode::COUNT`] entries.
    #[must_use]
    pub fn new(mut countries: Vec<CountryCode>) -> Self {
        let mut seen = HashSet::new();
        countries.retain(|country| seen.insert(*country));
        Self(countries)
    }

    /// The countries, in the given order.
    #[must_use]
    pub fn countries(&self) -> &[CountryCode] {
        &self.0
    }

    /// Whether no country is blocked.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether visitors from `country` are blocked.
    #[must_use]
    pub fn blocks(&self, country: CountryCode) -> bool {
        self.0.contains(&country)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;

    fn any_country() -> impl Strategy<Value = CountryCode> {
        select(CountryCode::all().collect::<Vec<_>>())
    }

    #[test]
    fn d26_the_default_blocks_no_country() {
        let blocklist = GeoBlocklist::default();
        assert!(blocklist.is_empty());
        assert!(CountryCode::all().all(|country| !blocklist.blocks(country)));
    }

    #[test]
    fn d26_all_countries_fit_even_if_repeated() {
        let twice = CountryCode::all().chain(CountryCode::all()).collect();
        assert_eq!(GeoBlocklist::new(twice).countries().len(), CountryCode::COUNT);
    }

    proptest! {
        #[test]
        fn d26_each_country_is_listed_once_at_its_first_position(given in vec(any_country(), 0..40)) {
            let blocklist = GeoBlocklist::new(given.clone());
            let mut expected = Vec::new();
            for country in &given {
                if !expected.contains(country) {
                    expected.push(*country);
                }
            }
            prop_assert_eq!(blocklist.countries(), expected);
            prop_assert_eq!(GeoBlocklist::new(blocklist.countries().to_vec()), blocklist.clone());
            prop_assert_eq!(blocklist.is_empty(), given.is_empty());
        }

        #[test]
        fn d26_a_country_is_blocked_exactly_if_it_was_given(given in vec(any_country(), 0..10), asked in any_country()) {
            prop_assert_eq!(GeoBlocklist::new(given.clone()).blocks(asked), given.contains(&asked));
        }
    }
}
