//! Parses bytes into a JSON document, more strictly than JSON requires (D10).

use std::collections::btree_map::Entry;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::{Json, JsonObject};

/// Maximum nesting of arrays and objects (D10). The outermost one counts.
const MAX_DEPTH: u8 = 32;

/// How many characters of a repeated name the error quotes.
const NAME_CHARS: usize = 100;

/// Why the bytes are not an accepted JSON document.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct NotJson {
    text: String,
    column: usize,
}

impl NotJson {
    /// The problem, without its location.
    #[must_use]
    pub fn what(&self) -> &str {
        self.text.rsplit_once(" at line ").map_or(self.text.as_str(), |(what, _)| what)
    }

    /// The column of the problem in its line, counted in bytes from 1.
    #[must_use]
    pub const fn column(&self) -> usize {
        self.column
    }
}

impl From<serde_json::Error> for NotJson {
    fn from(error: serde_json::Error) -> Self {
        Self { text: error.to_string(), column: error.column() }
    }
}

/// Parses a whole document. Beyond invalid JSON, it refuses:
///
/// - text around the document, and a byte order mark;
/// - invalid UTF-8, and unpaired surrogates;
/// - numbers beyond the range of a double;
/// - a repeated name in one object;
/// - nesting deeper than 32.
///
/// The time is bounded by the size of the input (times the logarithm of the number of names in one object).
pub fn parse(bytes: &[u8]) -> Result<Json, NotJson> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Document { depth_left: MAX_DEPTH }
        .deserialize(&mut deserializer)
        .and_then(|document| deserializer.end().map(|()| document))
        .map_err(NotJson::from)
}

/// The text of a member of an object, exactly as it stands in the document. `None` if the object has no such member. The
/// document must be one that [`parse`] accepts.
///
/// ```
/// let document = br#"{"a": [1.50, {"z":0, "b":1}], "\u0063":null }"#;
/// let text = |name| signpost_strict_json::member_text(document, name);
/// assert_eq!(text("a"), Some(r#"[1.50, {"z":0, "b":1}]"#));
/// assert_eq!((text("c"), text("d")), (Some("null"), None));
/// ```
#[must_use]
pub fn member_text<'a>(document: &'a [u8], name: &str) -> Option<&'a str> {
    let mut deserializer = serde_json::Deserializer::from_slice(document);
    deserializer.deserialize_map(MemberText { name }).ok()?.map(RawValue::get)
}

/// Finds the text of one member.
struct MemberText<'n> {
    name: &'n str,
}

impl<'de> Visitor<'de> for MemberText<'_> {
    type Value = Option<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(name) = members.next_key::<String>()? {
            if name == self.name {
                found = Some(members.next_value()?);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Reads one value, which may contain this many levels of arrays and objects.
#[derive(Clone, Copy)]
struct Document {
    depth_left: u8,
}

impl Document {
    fn deeper<E: serde::de::Error>(self) -> Result<Self, E> {
        let depth_left = self.depth_left.checked_sub(1);
        let depth_left =
            depth_left.ok_or_else(|| E::custom(format_args!("nesting deeper than {MAX_DEPTH} levels")))?;
        Ok(Self { depth_left })
    }
}

impl<'de> DeserializeSeed<'de> for Document {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document {
    type Value = Json;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(i64::try_from(value).ok()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(Some(value)))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Json, E> {
        Ok(Json::Number(None))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let inner = self.deeper()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Json, A::Error> {
        let inner = self.deeper()?;
        let mut object = JsonObject::new();
        while let Some(name) = members.next_key::<String>()? {
            match object.entry(name) {
                Entry::Vacant(place) => {
                    place.insert(members.next_value_seed(inner)?);
                }
                Entry::Occupied(twice) => {
                    let name: String = twice.key().chars().take(NAME_CHARS).collect();
                    return Err(A::Error::custom(format_args!(
                        "the name `{name}` stands twice in one object"
                    )));
                }
            }
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use proptest::prelude::*;

    use super::*;

    fn nested(depth: usize) -> String {
        format!("{}{}", "[".repeat(depth), "]".repeat(depth))
    }

    #[test]
    fn d10_nesting_of_32_is_accepted_and_of_33_refused() {
        assert!(parse(nested(32).as_bytes()).is_ok());
        assert!(parse(nested(33).as_bytes()).is_err());
        let objects = format!("{}1{}", r#"{"a":"#.repeat(32), "}".repeat(32));
        assert!(parse(objects.as_bytes()).is_ok());
        let one_more = format!(r#"{{"a":{objects}}}"#);
        assert!(parse(one_more.as_bytes()).is_err());
    }

    #[test]
    fn d10_a_million_brackets_do_not_exhaust_the_stack() {
        assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn d10_repeated_name_in_any_object_is_refused() {
        for twice in [
            r#"{"a":1,"a":1}"#,
            r#"{"x":{"a":1,"b":2,"a":3}}"#,
            r#"[{"a":1,"\u0061":2}]"#,
            r#"{"a":null,"a":null}"#,
        ] {
            let error = parse(twice.as_bytes()).unwrap_err().to_string();
            assert!(error.contains("twice"), "{twice}: {error}");
        }
        assert!(parse(br#"{"a":{"a":1},"b":{"a":1},"A":1}"#).is_ok());
    }

    #[test]
    fn d10_invalid_json_is_refused() {
        for bad in [
            b"".as_slice(),
            b"   ",
            b"{",
            b"{}{}",
            b"{} x",
            b"{}\0",
            b"\xef\xbb\xbf{}",
            b"{\"a\":NaN}",
            b"{\"a\":Infinity}",
            b"{\"a\":1e400}",
            b"{\"a\":-1e400}",
            b"{\"a\":01}",
            b"{\"a\":+1}",
            b"{\"a\":.5}",
            b"{\"a\":1.}",
            b"{\"a\":\"\\ud800\"}",
            b"{\"a\":\"\\udc00\"}",
            b"{\"a\":\"\\ud800\\ud800\"}",
            b"{\"\\ud800\":1}",
            b"{\"a\":\"\xff\"}",
            b"{\"a\":\"\xed\xa0\x80\"}",
            b"{\"a\":\"line\nbreak\"}",
            b"{\"a\":\"\0\"}",
            b"{'a':1}",
            b"{a:1}",
            b"{\"a\":1,}",
            b"[1,]",
            b"// comment\n{}",
            b"{\"a\":undefined}",
            b"name=x",
            b"\xff\xfe{\x00}\x00",
        ] {
            assert!(parse(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
    }

    #[test]
    fn values_keep_their_kind() {
        let document =
            parse(br#" {"a":null,"b":true,"c":-0.5e3,"d":"\u00e9\ud83d\ude00\u0000","e":[1,{}]} "#);
        let expected = [
            ("a", Json::Null),
            ("b", Json::Bool(true)),
            ("c", Json::Number(None)),
            ("d", Json::Text("é😀\0".to_owned())),
            ("e", Json::List(vec![Json::Number(Some(1)), Json::Object(JsonObject::new())])),
        ];
        let expected = expected.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        assert_eq!(document.unwrap(), Json::Object(expected));
    }

    #[test]
    fn integers_of_64_bits_keep_their_value() {
        for (text, value) in [
            ("0", Some(0)),
            ("-1", Some(-1)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("18446744073709551616", None),
            ("1.0", None),
            ("1e2", None),
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap(), Json::Number(value), "{text}");
        }
    }

    #[test]
    fn d10_object_with_very_many_names_takes_bounded_time() {
        // Far more names than fit a body, in reverse order; quadratic work would take far longer than the bound.
        let names: Vec<String> = (0..1_000_000).rev().map(|number| format!("\"{number}\":0")).collect();
        let body = format!("{{{}}}", names.join(","));
        let start = Instant::now();
        assert!(parse(body.as_bytes()).is_ok());
        assert!(start.elapsed() < Duration::from_mins(5), "{:?}", start.elapsed());
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            // Documents accepted here are also JSON to a lenient reader.
            if parse(&bytes).is_ok() {
                prop_assert!(serde_json::from_slice::<serde_json::Value>(&bytes).is_ok());
            }
        }

        #[test]
        fn any_string_is_read_back(text in any::<String>()) {
            let body = serde_json::to_vec(&text).unwrap();
            prop_assert_eq!(parse(&body).unwrap(), Json::Text(text));
        }
    }
}
