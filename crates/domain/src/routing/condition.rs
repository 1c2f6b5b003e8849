//! What a rule asks about a visit (D133).

use std::borrow::Cow;
use std::hash::Hash;

use percent_encoding::percent_decode;

use super::hours::Hours;
use super::names::{AgentName, Device, QueryText};
use super::places::{Network, ReferrerHost};
use crate::country_code::CountryCode;
use crate::language_tag::LanguageTag;
use crate::stored::{self, MalformedStored};
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// A condition of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// What it asks.
    pub test: Test,
    /// Whether it holds if the answer is no. It does not hold either if nobody knows the answer.
    pub is_negated: bool,
}

impl Condition {
    /// The maximum number of countries.
    pub const MAX_COUNTRIES: usize = CountryCode::COUNT;

    /// The maximum number of items of every other list.
    pub const MAX_ITEMS: usize = 20;
}

/// What a condition asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Test {
    /// `country`: whether the visitor comes from one of these.
    Country(AnyOf<CountryCode>),
    /// `device`: whether the visitor has one of these.
    Device(AnyOf<Device>),
    /// `os`: whether the visitor's device runs one of these.
    Os(AnyOf<AgentName>),
    /// `browser`: whether the visitor uses one of these.
    Browser(AnyOf<AgentName>),
    /// `language`: whether the language that the visitor likes best is one of these, or a part of one.
    Language(AnyOf<LanguageTag>),
    /// `date`: whether the visit is between two instants.
    Date(DateRange),
    /// `hours`: whether a local clock shows one of these hours.
    Hours(Hours),
    /// `query`: what the address of the visit has as a parameter.
    Query(QueryTest),
    /// `referrer`: whether the visitor comes from a page at one of these hosts.
    Referrer(AnyOf<ReferrerHost>),
    /// `network`: whether the visitor's address is in one of these.
    Network(AnyOf<Network>),
}

impl Test {
    /// The names of all types.
    pub const TYPES: [&'static str; 10] =
        ["country", "device", "os", "browser", "language", "date", "hours", "query", "referrer", "network"];

    /// The name of its type.
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Country(_) => "country",
            Self::Device(_) => "device",
            Self::Os(_) => "os",
            Self::Browser(_) => "browser",
            Self::Language(_) => "language",
            Self::Date(_) => "date",
            Self::Hours(_) => "hours",
            Self::Query(_) => "query",
            Self::Referrer(_) => "referrer",
            Self::Network(_) => "network",
        }
    }

    /// How many bytes its texts have.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Country(items) => items.as_slice().len() * 2,
            Self::Device(items) => items.iter().map(|device| device.as_str().len()).sum(),
            Self::Os(items) | Self::Browser(items) => items.iter().map(|name| name.as_str().len()).sum(),
            Self::Language(items) => items.iter().map(|tag| tag.as_str().len()).sum(),
            Self::Date(_) => 0,
            Self::Hours(hours) => hours.timezone.as_str().len(),
            Self::Query(QueryTest { name, is }) => {
                let value = match is {
                    QueryIs::Equals(value) => value.as_str().len(),
                    QueryIs::Present | QueryIs::Absent => 0,
                };
                name.as_str().len() + value
            }
            Self::Referrer(items) => items.iter().map(|host| host.as_str().len()).sum(),
            Self::Network(items) => items.as_slice().len() * 18,
        }
    }
}

/// The values of which a fact must be one: at least one, each once, in the given order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnyOf<T>(Vec<T>);

impl<T> AnyOf<T> {
    /// The field in a condition.
    pub const FIELD: &'static str = "in";

    /// Stored values, perhaps more than the current rule allows.
    pub fn from_stored(items: Vec<T>) -> Result<Self, MalformedStored> {
        if items.is_empty() { Err(MalformedStored("is empty")) } else { stored::items(items).map(Self) }
    }

    /// The values.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// The values.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }
}

impl<T: Clone + Eq + Hash> AnyOf<T> {
    /// These values. A repeated one keeps its first position.
    ///
    /// # Errors
    /// `too_few_items` without a value, `too_many_items` above `most`.
    pub fn new(mut items: Vec<T>, most: usize) -> Result<Self, FieldError> {
        if items.is_empty() {
            return Err(FieldError::new(ViolationCode::TooFewItems, "must have at least 1 item"));
        }
        if items.len() > most {
            let message = format!("must have at most {most} items");
            return Err(FieldError::new(ViolationCode::TooManyItems, message));
        }
        let mut seen = std::collections::HashSet::new();
        items.retain(|item| seen.insert(item.clone()));
        Ok(Self(items))
    }
}

impl<'a, T> IntoIterator for &'a AnyOf<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// The time from one instant until another, with at least one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    from: Option<Timestamp>,
    until: Option<Timestamp>,
}

impl DateRange {
    /// The field of [`Self::from`].
    pub const FROM: &'static str = "from";

    /// The field of [`Self::until`].
    pub const UNTIL: &'static str = "until";

    /// The time between these.
    ///
    /// # Errors
    /// With the name of its field: `required` without either, `invalid_value` for an end at or before the start.
    pub fn new(
        from: Option<Timestamp>,
        until: Option<Timestamp>,
    ) -> Result<Self, (&'static str, FieldError)> {
        match (from, until) {
            (None, None) => {
                let error =
                    FieldError::new(ViolationCode::Required, "is required, unless there is an `until`");
                Err((Self::FROM, error))
            }
            (Some(from), Some(until)) if until <= from => {
                Err((Self::UNTIL, FieldError::new(ViolationCode::InvalidValue, "must be later than `from`")))
            }
            _ => Ok(Self { from, until }),
        }
    }

    /// The first instant; `None` without a start.
    #[must_use]
    pub const fn from(self) -> Option<Timestamp> {
        self.from
    }

    /// The first instant after it; `None` without an end.
    #[must_use]
    pub const fn until(self) -> Option<Timestamp> {
        self.until
    }

    /// Whether an instant is in it.
    #[must_use]
    pub fn contains(self, instant: Timestamp) -> bool {
        self.from.is_none_or(|from| from <= instant) && self.until.is_none_or(|until| instant < until)
    }
}

/// What the address of a visit must have as a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryTest {
    /// The name of the parameter. Letter case counts.
    pub name: QueryText,
    /// What is asked about it.
    pub is: QueryIs,
}

/// What is asked about a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QueryIs {
    /// `present`: it is there, with any value or without one.
    Present,
    /// `absent`: it is not there.
    Absent,
    /// `equals`: it has this value. Of a parameter that is there several times, one must have it.
    Equals(QueryText),
}

impl QueryIs {
    /// The names of all.
    pub const NAMES: [&'static str; 3] = ["present", "absent", "equals"];

    /// The name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Present => "present",
            Self::Absent => "absent",
            Self::Equals(_) => "equals",
        }
    }
}

impl QueryTest {
    /// Whether a query is as asked: without its `?`, as the visitor's browser sent it.
    ///
    /// ```
    /// use signpost_domain::routing::{QueryIs, QueryTest, QueryText};
    ///
    /// let is = QueryIs::Equals(QueryText::parse_value("a b").unwrap());
    /// let test = QueryTest { name: QueryText::parse_name("q").unwrap(), is };
    /// assert!(test.holds(b"p=1&q=a+b") && test.holds(b"q=&%71=a%20b"));
    /// assert!(!test.holds(b"q=a%2Bb") && !test.holds(b""));
    /// ```
    #[must_use]
    pub fn holds(&self, query: &[u8]) -> bool {
        let mut values = query.split(|byte| *byte == b'&').filter_map(|parameter| {
            let mut parts = parameter.splitn(2, |byte| *byte == b'=');
            let name = parts.next().unwrap_or_default();
            let is_it = !parameter.is_empty() && is_decoded(name, self.name.as_str());
            is_it.then(|| parts.next().unwrap_or_default())
        });
        match &self.is {
            QueryIs::Present => values.next().is_some(),
            QueryIs::Absent => values.next().is_none(),
            QueryIs::Equals(wanted) => values.any(|value| is_decoded(value, wanted.as_str())),
        }
    }
}

/// Whether a name or a value of a query is this text, decoded as that of a form: a plus is a space, and a percent sign that begins no
/// encoding is itself.
fn is_decoded(sent: &[u8], text: &str) -> bool {
    let spaced: Cow<'_, [u8]> = if sent.contains(&b'+') {
        sent.iter().map(|byte| if *byte == b'+' { b' ' } else { *byte }).collect::<Vec<u8>>().into()
    } else {
        sent.into()
    };
    percent_decode(&spaced).eq(text.bytes())
}
