//! Tags of links (D122).

use std::collections::BTreeMap;
use std::fmt;

use crate::id::TagId;
use crate::refusal::Refusal;
use crate::search_text::{composed, fold};
use crate::stored::{self, MalformedStored};
use crate::text::exceeds;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode};

/// A tag of an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tag {
    /// Its id.
    pub id: TagId,
    /// Its name.
    pub name: TagName,
    /// How many links have it.
    pub links_count: u64,
    /// When a link first had it, or an import.
    pub created_at: Timestamp,
}

impl Tag {
    /// The refusal for an account that has no tag with an id (D6).
    pub const NOT_FOUND: Refusal = Refusal::NotFound("tag");
}

/// The name of a tag: 1 to 50 characters without control characters and commas. Surrounding white space is dropped and letters are
/// composed (NFC) before the length is checked.
///
/// Two names of one [key](Self::key) are names of the same tag. The comparison operators also compare the spelling.
///
/// ```
/// use signpost_domain::TagName;
///
/// let name = TagName::parse(" Frühling 🌷 ").unwrap();
/// assert_eq!(name.as_str(), "Frühling 🌷");
/// assert_eq!(name.key(), TagName::parse("FRÜHLING 🌷").unwrap().key());
/// assert!(TagName::parse("a,b").is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagName {
    key: String,
    name: String,
}

impl TagName {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = 50;

    /// The character that no name has, because it separates names in filters and stores.
    pub const SEPARATOR: char = ',';

    /// Reads a name.
    ///
    /// # Errors
    /// `too_short` if it is empty or only white space, `too_long` above [`Self::MAX_CHARS`], `invalid_format` if it contains a
    /// control character or a comma.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let text = composed(text.trim());
        if text.is_empty() {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
        }
        if exceeds(&text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 50 characters"));
        }
        if text.contains(|c: char| c.is_control() || c == Self::SEPARATOR) {
            let message = "must not contain control characters or commas";
            return Err(FieldError::new(ViolationCode::InvalidFormat, message));
        }
        Ok(Self::of(text.into_owned()))
    }

    /// Reads a stored name.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self::of)
    }

    fn of(name: String) -> Self {
        Self { key: fold(&name), name }
    }

    /// The name as spelt.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }

    /// The name with its case folded, as a search compares texts ([`fold`]). Names of one tag have the same.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The tags of a link: at most 20 names, unique without regard to case. They are sorted by their keys, so that an answer does not
/// depend on the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Tags(Vec<TagName>);

impl Tags {
    /// The name of the field.
    pub const FIELD: &'static str = "tags";

    /// The maximum number of tags of a link.
    pub const MAX: usize = 20;

    /// These tags. A repeated name keeps its first spelling.
    ///
    /// # Errors
    /// `too_many_items` above [`Self::MAX`].
    pub fn new(names: impl IntoIterator<Item = TagName>) -> Result<Self, FieldError> {
        let tags = Self::sorted(names);
        if tags.len() > Self::MAX { Err(Self::too_many()) } else { Ok(tags) }
    }

    fn too_many() -> FieldError {
        FieldError::new(ViolationCode::TooManyItems, "must have at most 20 items")
    }

    /// Reads stored names that commas join, perhaps more than the current rule allows.
    pub fn from_stored(joined: String) -> Result<Self, MalformedStored> {
        let joined = stored::any_text(joined)?;
        let names = joined.split(TagName::SEPARATOR).map(|name| TagName::from_stored(name.to_owned()));
        stored::items(names.collect::<Result<Vec<_>, _>>()?).map(Self::sorted)
    }

    fn sorted(names: impl IntoIterator<Item = TagName>) -> Self {
        let mut by_key = BTreeMap::new();
        for name in names {
            by_key.entry(name.key.clone()).or_insert(name);
        }
        Self(by_key.into_values().collect())
    }

    /// The names, sorted by their keys.
    pub fn iter(&self) -> std::slice::Iter<'_, TagName> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the tag of this name is among them.
    #[must_use]
    pub fn contains(&self, name: &TagName) -> bool {
        self.0.binary_search_by(|one| one.key.cmp(&name.key)).is_ok()
    }

    /// Whether both are the same tags, in any spelling.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.0.iter().map(TagName::key).eq(other.0.iter().map(TagName::key))
    }

    /// Those of these tags that are among `known`, as they are spelt there.
    #[must_use]
    pub fn spelt_as<'a>(&self, known: impl IntoIterator<Item = &'a TagName>) -> Self {
        Self::sorted(known.into_iter().filter(|name| self.contains(name)).cloned())
    }

    /// These tags after a change of them. A tag that is added again keeps its spelling.
    ///
    /// # Errors
    /// `too_many_items` above [`Self::MAX`], unless there were as many before.
    pub fn changed(&self, change: &TagChange) -> Result<Self, FieldError> {
        let kept = self.0.iter().filter(|name| !change.removed.contains(name));
        let changed = Self::sorted(kept.chain(&change.added).cloned());
        if changed.len() > Self::MAX.max(self.len()) { Err(Self::too_many()) } else { Ok(changed) }
    }

    /// These tags with another one in place of `name`, or without `name`. They stay the same if `name` is not among them.
    #[must_use]
    pub fn replaced(&self, name: &TagName, by: Option<&TagName>) -> Self {
        if !self.contains(name) {
            return self.clone();
        }
        let others = self.0.iter().filter(|one| one.key != name.key);
        Self::sorted(others.chain(by).cloned())
    }
}

impl<'a> IntoIterator for &'a Tags {
    type Item = &'a TagName;
    type IntoIter = std::slice::Iter<'a, TagName>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Tags to add to links, and tags to take off them (D124). No tag is in both. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TagChange {
    added: Tags,
    removed: Tags,
}

impl TagChange {
    /// A change that adds tags and takes others off.
    ///
    /// # Errors
    /// `invalid_value` if a tag is both added and taken off.
    pub fn new(added: Tags, removed: Tags) -> Result<Self, FieldError> {
        if let Some(both) = added.iter().find(|name| removed.contains(name)) {
            let message = format!("must not name the tag `{both}`, which the request also adds");
            return Err(FieldError::new(ViolationCode::InvalidValue, message));
        }
        Ok(Self { added, removed })
    }
}

#[cfg(test)]
#[path = "tag_tests.rs"]
mod tests;
