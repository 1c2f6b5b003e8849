//! The parameters of the query of a visit, for the conditions that ask about them.
//!
//! A hundred conditions may ask, and a stranger may send two thousand parameters. So a visit decodes and sorts them once, when the first
//! condition asks, and each condition searches them. The caller bounds the length of the query.

use std::cell::OnceCell;

use percent_encoding::percent_decode;

/// The parameters of a query, decoded when the first condition asks.
pub(super) struct LazyParameters<'a> {
    /// `None` if nobody knows the query.
    query: Option<&'a [u8]>,
    decoded: OnceCell<Parameters>,
}

impl<'a> LazyParameters<'a> {
    pub(super) const fn new(query: Option<&'a [u8]>) -> Self {
        Self { query, decoded: OnceCell::new() }
    }

    pub(super) fn get(&self) -> Option<&Parameters> {
        let query = self.query?;
        Some(self.decoded.get_or_init(|| Parameters::of(query)))
    }
}

/// Decoded parameters.
pub(super) struct Parameters {
    /// All names and values, one after another.
    text: Vec<u8>,
    /// Where they are in the text, sorted by the names.
    places: Vec<Place>,
}

/// A parameter: its name, and behind it its value.
#[derive(Clone, Copy)]
struct Place {
    start: usize,
    value: usize,
    end: usize,
}

impl Place {
    fn name(self, text: &[u8]) -> &[u8] {
        text.get(self.start..self.value).unwrap_or_default()
    }

    fn value(self, text: &[u8]) -> &[u8] {
        text.get(self.value..self.end).unwrap_or_default()
    }
}

impl Parameters {
    fn of(query: &[u8]) -> Self {
        let mut text = Vec::with_capacity(query.len());
        let mut places = vec![];
        for parameter in query.split(|byte| *byte == b'&').filter(|parameter| !parameter.is_empty()) {
            let start = text.len();
            let mut parts = parameter.splitn(2, |byte| *byte == b'=');
            decode(parts.next().unwrap_or_default(), &mut text);
            let value = text.len();
            decode(parts.next().unwrap_or_default(), &mut text);
            places.push(Place { start, value, end: text.len() });
        }
        places.sort_unstable_by(|one, other| one.name(&text).cmp(other.name(&text)));
        Self { text, places }
    }

    /// The values of the parameters with a name, in no order.
    pub(super) fn values_of(&self, name: &[u8]) -> impl Iterator<Item = &[u8]> {
        let start = self.places.partition_point(|place| place.name(&self.text) < name);
        let from_start = self.places.get(start..).unwrap_or_default().iter();
        from_start
            .take_while(move |place| place.name(&self.text) == name)
            .map(|place| place.value(&self.text))
    }
}

/// Decodes a name or a value as a form does: `+` and percent-encoded bytes. A `%` without two digits stays.
fn decode(sent: &[u8], text: &mut Vec<u8>) {
    for (index, part) in sent.split(|byte| *byte == b'+').enumerate() {
        if index > 0 {
            text.push(b' ');
        }
        text.extend(percent_decode(part));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(query: &str, name: &str) -> Vec<String> {
        let parameters = Parameters::of(query.as_bytes());
        let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
        let mut values: Vec<String> = parameters.values_of(name.as_bytes()).map(text).collect();
        values.sort();
        values
    }

    #[test]
    fn d133_parameters_are_decoded_and_found_by_name() {
        let query = "b=2&a=1&&%61=x+y&a%=%4&=none&c&a=1=2&ab=3";
        assert_eq!(values(query, "a"), ["1", "1=2", "x y"]);
        assert_eq!(values(query, "a%"), ["%4"]);
        assert_eq!(values(query, ""), ["none"]);
        assert_eq!(values(query, "c"), [""]);
        assert_eq!(values(query, "d"), [""; 0]);
        assert_eq!(values("", "a"), [""; 0]);
    }

    #[test]
    fn d133_a_visit_decodes_its_query_once() {
        let lazy = LazyParameters::new(Some(b"a=1"));
        let [first, second] = [lazy.get().unwrap(), lazy.get().unwrap()];
        assert!(std::ptr::eq(first, second));
        assert!(LazyParameters::new(None).get().is_none());
    }
}
