//! The query of a request, read strictly (D8).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use signpost_domain::{FieldError, ViolationCode, Violations};

use super::field::shorten;

/// The parameters of a request. As with bodies, the handler takes those that it knows. The rest are violations, including
/// API keys in the query (D8, D14).
#[derive(Debug, Default)]
pub(crate) struct QueryString {
    /// By name.
    parameters: BTreeMap<String, Parameter>,
    violations: Violations,
}

/// The occurrences of one parameter.
#[derive(Debug)]
struct Parameter {
    /// The first value; `None` if its encoding is broken.
    value: Option<String>,
    is_repeated: bool,
    /// Whether the encoding of any of its values is broken.
    is_broken: bool,
}

impl QueryString {
    /// Parses the text after the `?`. Empty parts (`a=1&&b=2`) are skipped.
    pub(crate) fn parse(query: &str) -> Self {
        let mut read = Self::default();
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let Some(name) = decode(name) else {
                read.refuse(&shorten(name), broken_encoding());
                continue;
            };
            let value = decode(value);
            match read.parameters.entry(name) {
                Entry::Vacant(place) => {
                    let is_broken = value.is_none();
                    place.insert(Parameter { value, is_repeated: false, is_broken });
                }
                Entry::Occupied(mut earlier) => {
                    let Parameter { value: _, is_repeated, is_broken } = earlier.get_mut();
                    *is_repeated = true;
                    *is_broken |= value.is_none();
                }
            }
        }
        read
    }

    /// Whether a parameter is present and not yet taken.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.parameters.contains_key(name)
    }

    /// The value of an optional parameter. A repeated or badly encoded one is a violation.
    pub(crate) fn take(&mut self, name: &str) -> Option<String> {
        let Parameter { value, is_repeated, is_broken: _ } = self.parameters.remove(name)?;
        if is_repeated {
            self.refuse(name, FieldError::new(ViolationCode::InvalidValue, "must be given once"));
            return None;
        }
        if value.is_none() {
            self.refuse(name, broken_encoding());
        }
        value
    }

    /// The value of a required parameter. An absent, repeated or badly encoded one is a violation.
    pub(crate) fn require(&mut self, name: &str) -> Option<String> {
        if !self.parameters.contains_key(name) {
            self.refuse(name, FieldError::new(ViolationCode::Required, "is required"));
            return None;
        }
        self.take(name)
    }

    /// Takes an optional parameter and parses it. An invalid value is a violation.
    pub(crate) fn read<T>(
        &mut self,
        name: &str,
        parse: impl FnOnce(&str) -> Result<T, FieldError>,
    ) -> Option<T> {
        let text = self.take(name)?;
        parse(&text).map_err(|error| self.refuse(name, error)).ok()
    }

    /// Adds a violation of a parameter.
    pub(crate) fn refuse(&mut self, name: &str, error: FieldError) {
        self.violations.push(error.at(name));
    }

    /// Whether there are no violations so far.
    pub(crate) const fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }

    /// All violations, including one for each unknown parameter.
    pub(crate) fn finish(self) -> Violations {
        let Self { parameters, mut violations } = self;
        for (name, Parameter { value: _, is_repeated: _, is_broken }) in parameters {
            violations.push_with(|| {
                let message = "is not a parameter of this request";
                FieldError::new(ViolationCode::UnknownField, message).at(shorten(&name))
            });
            if is_broken {
                violations.push_with(|| broken_encoding().at(shorten(&name)));
            }
        }
        violations
    }
}

fn broken_encoding() -> FieldError {
    FieldError::new(ViolationCode::InvalidFormat, "must be percent-encoded UTF-8")
}

/// Decodes `%XX` and `+`. `None` if a `%` is not followed by two hexadecimal digits, or the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let spaced: Cow<'_, str> =
        if text.contains('+') { text.replace('+', " ").into() } else { Cow::Borrowed(text) };
    let mut bytes = spaced.bytes();
    let mut decoded = Vec::with_capacity(spaced.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => hex_value(bytes.next()?)? << 4 | hex_value(bytes.next()?)?,
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found(query: QueryString) -> Vec<(String, &'static str)> {
        query.finish().iter().map(|each| (each.field().to_owned(), each.code().as_str())).collect()
    }

    fn named(field: &str, code: &'static str) -> (String, &'static str) {
        (field.to_owned(), code)
    }

    #[test]
    fn values_are_percent_decoded_and_a_plus_is_a_space() {
        let mut query = QueryString::parse("q=a+b%2Bc%20%C3%A9%00&empty=&bare&%71%71=1&x=a=b&&");
        assert_eq!(query.take("q").as_deref(), Some("a b+c é\0"));
        assert_eq!(query.take("empty").as_deref(), Some(""));
        assert_eq!(query.take("bare").as_deref(), Some(""));
        assert_eq!(query.take("qq").as_deref(), Some("1"));
        assert_eq!(query.take("x").as_deref(), Some("a=b"));
        assert_eq!(query.take("absent"), None);
        assert_eq!(found(query), []);
    }

    #[test]
    fn d8_broken_encodings_and_invalid_utf8_are_violations_of_their_parameter() {
        for broken in ["%", "%4", "%zz", "%4g", "%FF", "%C3", "%ED%A0%80", "%+1", "a%2"] {
            let mut query = QueryString::parse(&format!("q={broken}"));
            assert_eq!(query.take("q"), None);
            assert_eq!(found(query), [named("q", "invalid_format")], "{broken}");
            let query = QueryString::parse(&format!("{broken}=1"));
            assert_eq!(found(query), [named(broken, "invalid_format")], "{broken}");
        }
    }

    #[test]
    fn d8_unknown_parameters_are_violations() {
        let mut query = QueryString::parse("api_key=sp_live_x&limit=5&LIMIT=5&%66oo=1&foo=2&z=%zz");
        assert_eq!(query.take("limit").as_deref(), Some("5"));
        assert_eq!(
            found(query),
            [
                named("LIMIT", "unknown_field"),
                named("api_key", "unknown_field"),
                named("foo", "unknown_field"),
                named("z", "unknown_field"),
                named("z", "invalid_format"),
            ]
        );
    }

    #[test]
    fn d8_an_absent_required_parameter_is_one_violation() {
        for (query, value, violations) in [
            ("domain=a", Some("a"), vec![]),
            ("domain=", Some(""), vec![]),
            ("", None, vec![named("domain", "required")]),
            ("Domain=a", None, vec![named("domain", "required"), named("Domain", "unknown_field")]),
            ("domain=%zz", None, vec![named("domain", "invalid_format")]),
            ("domain=a&domain=a", None, vec![named("domain", "invalid_value")]),
        ] {
            let mut read = QueryString::parse(query);
            assert_eq!(read.require("domain").as_deref(), value, "{query}");
            assert_eq!(found(read), violations, "{query}");
        }
    }

    #[test]
    fn d8_a_parameter_given_twice_is_a_violation() {
        for query in ["limit=5&limit=5", "limit=5&l%69mit=6", "limit&limit=%zz"] {
            let mut query = QueryString::parse(query);
            assert_eq!(query.take("limit"), None);
            assert_eq!(found(query), [named("limit", "invalid_value")]);
        }
    }

    proptest! {
        #[test]
        fn any_value_reads_back_when_it_is_encoded(value in any::<String>()) {
            let encoded = value.bytes().fold(String::new(), |encoded, byte| format!("{encoded}%{byte:02X}"));
            prop_assert_eq!(QueryString::parse(&format!("q={encoded}")).take("q"), Some(value));
        }

        #[test]
        fn any_query_is_read_or_refused(query in "[ -~]{0,80}") {
            let _ = QueryString::parse(&query).finish();
        }
    }
}
