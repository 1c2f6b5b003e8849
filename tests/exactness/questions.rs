//! Random questions.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::chance::Chance;
use crate::local_time::{INTERVALS, ZONES};
use crate::model::{Asked, DIMENSIONS, Filter, Row};

/// An analytics endpoint: of the account, a redirect or a landing page.
#[derive(Debug, Clone)]
pub(crate) struct Endpoint {
    pub(crate) path: String,
    /// `None` for the whole account.
    pub(crate) link: Option<String>,
    /// The dimensions of the endpoint.
    pub(crate) dimensions: Vec<usize>,
}

impl Endpoint {
    /// A random question, usually about times with visits.
    pub(crate) fn question(&self, chance: &mut Chance, rows: &[Row], now: i64) -> Asked {
        let mut ends = [0, 0].map(|_| {
            let at = chance.pick(rows).at.unix_millis();
            match chance.below(4) {
                // Exactly at a click, or a millisecond before or after it: both ends are inclusive (D49).
                0 => at + chance.between(-1, 1),
                1 => at - at.rem_euclid(86_400_000) - chance.between(0, 1),
                2 => at - at.rem_euclid(900_000),
                _ => at + chance.between(-40_000_000, 40_000_000),
            }
            .min(now)
        });
        ends.sort_unstable();
        let [first, last] = ends;
        let mut dimensions = self.dimensions.clone();
        while dimensions.len() > 3 || (!dimensions.is_empty() && chance.one_in(3)) {
            dimensions.remove(chance.below(dimensions.len()));
        }
        let mut filters: Vec<Filter> = Vec::new();
        while filters.len() < 3 && chance.one_in(2) {
            let dimension = *chance.pick(&self.dimensions);
            if filters.iter().all(|filter| filter.dimension != dimension) {
                let values: BTreeSet<String> =
                    (0..=chance.below(3)).map(|_| chance.pick(rows).values[dimension].clone()).collect();
                filters.push(Filter { dimension, values, excludes: chance.one_in(3) });
            }
        }
        let mut interval = *chance.pick(&INTERVALS);
        if interval == "hour" && last - first > 1_900 * 3_600_000 {
            interval = "day";
        }
        Asked {
            link: self.link.clone(),
            first,
            last,
            zone: chance.pick::<&str>(&ZONES),
            interval,
            dimensions,
            filters,
            limit: *chance.pick(&[1, 2, 25, 100]),
        }
    }

    /// The question as a request to the API (D45).
    pub(crate) fn uri(&self, asked: &Asked) -> String {
        let mut uri = format!(
            "{}?start_date={}&end_date={}&timezone={}&interval={}&limit={}",
            self.path, asked.first, asked.last, asked.zone, asked.interval, asked.limit
        );
        if !asked.dimensions.is_empty() {
            let names: Vec<&str> = asked.dimensions.iter().map(|dimension| DIMENSIONS[*dimension]).collect();
            write!(uri, "&dimensions={}", names.join(",")).unwrap();
        }
        uri.push_str(&filters_of(asked));
        uri
    }
}

/// The filters as parameters.
pub(crate) fn filters_of(asked: &Asked) -> String {
    let mut text = String::new();
    for Filter { dimension, values, excludes } in &asked.filters {
        let escaped: Vec<String> = values.iter().map(|value| encode(&value.replace(',', "\\,"))).collect();
        let sign = if *excludes { "-" } else { "" };
        write!(text, "&{}={sign}{}", DIMENSIONS[*dimension], escaped.join(",")).unwrap();
    }
    text
}

fn encode(value: &str) -> String {
    let mut text = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.".contains(&byte) {
            text.push(char::from(byte));
        } else {
            write!(text, "%{byte:02X}").unwrap();
        }
    }
    text
}
