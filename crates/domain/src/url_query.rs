//! Adds parameters to the query of a URL (D132). Nothing else of the URL changes, so neither its scheme nor its host does.

use std::borrow::Cow;

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_decode, utf8_percent_encode};

/// The longest `Location` with parameters that a redirect adds, in bytes. A target without any may be longer.
pub const MAX_LOCATION_BYTES: usize = 4_096;

/// The characters of the value of a parameter that are encoded: all but those that RFC 3986 calls unreserved.
const NOT_IN_VALUE: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The characters that RFC 3986 does not allow in a query, apart from a percent sign that begins no encoding.
const NOT_IN_QUERY: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'<')
    .add(b'>')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A URL in its parts.
struct Split<'a> {
    /// The scheme, the host and the path.
    start: &'a str,
    /// The query without its `?`.
    query: Option<&'a str>,
    /// The fragment with its `#`.
    fragment: &'a str,
}

impl<'a> Split<'a> {
    fn of(url: &'a str) -> Self {
        let (rest, fragment) = url.find('#').map_or((url, ""), |position| url.split_at(position));
        match rest.split_once('?') {
            Some((start, query)) => Self { start, query: Some(query), fragment },
            None => Self { start: rest, query: None, fragment },
        }
    }

    /// The parameters of the query. An empty query has none.
    fn parameters(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.query.filter(|query| !query.is_empty()).into_iter().flat_map(|query| query.split('&'))
    }
}

/// The query of a URL, without its `?`; empty if it has none.
#[must_use]
pub fn query_of(url: &str) -> &str {
    Split::of(url).query.unwrap_or_default()
}

/// What follows the path of a URL: its query with the `?`, and its fragment with the `#`.
///
/// ```
/// use signpost_domain::behind_path;
///
/// assert_eq!(behind_path("https://example.com/a?b=1#c"), "?b=1#c");
/// assert_eq!(behind_path("https://example.com/a"), "");
/// ```
#[must_use]
pub fn behind_path(url: &str) -> &str {
    url.find(['?', '#']).map_or("", |position| &url[position..])
}

/// The URL with these parameters at the end of its query. Its own parameters of the same names are left out.
pub(crate) fn with_parameters<'a>(
    url: &str,
    parameters: impl Iterator<Item = (&'static str, &'a str)> + Clone,
) -> String {
    let split = Split::of(url);
    let mut result = split.start.to_owned();
    let mut separator = '?';
    for own in split.parameters() {
        let name = name_of(own);
        if !parameters.clone().any(|(added, _)| added.as_bytes() == &*name) {
            result.push(separator);
            result.push_str(own);
            separator = '&';
        }
    }
    for (name, value) in parameters {
        result.push(separator);
        result.push_str(name);
        result.push('=');
        result.extend(utf8_percent_encode(value, NOT_IN_VALUE));
        separator = '&';
    }
    result.push_str(split.fragment);
    result
}

/// Adds the parameters of a visitor's query, without its `?`, to the `Location` of a redirect. Two kinds are left out: those whose
/// name the location has, so that visitors cannot change what its owner set, and `src=qr`, by which our QR codes are counted (D59).
/// Bytes that a query cannot have are percent-encoded. If the query or the result is longer than [`MAX_LOCATION_BYTES`], the location
/// stays as it is.
///
/// ```
/// use signpost_domain::url_query::forward_query;
///
/// let mut location = "https://example.com/a?lang=de#top".to_owned();
/// forward_query(&mut location, "lang=en&ref=x&src=qr");
/// assert_eq!(location, "https://example.com/a?lang=de&ref=x#top");
/// ```
pub fn forward_query(location: &mut String, query: &str) {
    // The first bound also limits the work.
    if query.len() > MAX_LOCATION_BYTES {
        return;
    }
    let (position, added) = addition(location, query);
    if location.len() + added.len() <= MAX_LOCATION_BYTES {
        location.insert_str(position, &added);
    }
}

/// What is inserted into a location, and at which byte.
fn addition(location: &str, query: &str) -> (usize, String) {
    let split = Split::of(location);
    let mut own_names: Vec<Cow<'_, [u8]>> = split.parameters().map(name_of).collect();
    own_names.sort_unstable();
    let mut separator = match split.query {
        None => "?",
        Some("") => "",
        Some(_) => "&",
    };
    let mut added = String::with_capacity(query.len() + separator.len());
    for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
        let name = name_of(parameter);
        if own_names.binary_search(&name).is_ok() || is_mark_of_qr_codes(&name, parameter) {
            continue;
        }
        added.push_str(separator);
        push_encoded(parameter, &mut added);
        separator = "&";
    }
    (location.len() - split.fragment.len(), added)
}

fn is_mark_of_qr_codes(name: &[u8], parameter: &str) -> bool {
    name == b"src" && parameter.split_once('=').is_some_and(|(_, value)| *decoded(value) == *b"qr")
}

/// Adds a parameter in characters that a query can have.
fn push_encoded(parameter: &str, result: &mut String) {
    for (number, part) in parameter.split('%').enumerate() {
        if number > 0 {
            let digits = part.bytes().take(2).filter(u8::is_ascii_hexdigit).count();
            result.push_str(if digits == 2 { "%" } else { "%25" });
        }
        result.extend(utf8_percent_encode(part, NOT_IN_QUERY));
    }
}

/// The name of a parameter, as programs read it.
fn name_of(parameter: &str) -> Cow<'_, [u8]> {
    decoded(parameter.split_once('=').map_or(parameter, |(name, _)| name))
}

/// The bytes of a name or a value. A plus sign is a space in forms.
fn decoded(text: &str) -> Cow<'_, [u8]> {
    if !text.contains(['%', '+']) {
        return Cow::Borrowed(text.as_bytes());
    }
    let spaced = text.replace('+', " ");
    Cow::Owned(percent_decode(spaced.as_bytes()).collect())
}

#[cfg(test)]
#[path = "url_query_tests.rs"]
mod tests;
