//! The revision of a resource, and what a caller requires of it before a change (D120).

use std::fmt;

use crate::refusal::Refusal;

/// The number of a version of a resource: 1 when it is new, and 1 more with each change (D120).
///
/// ```
/// # use signpost_domain::Revision;
/// let second = Revision::FIRST.next();
/// assert_eq!((second.get(), second.to_string().as_str()), (2, "\"r2\""));
/// assert_eq!(Revision::parse_tag("\"r2\""), Some(second));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Revision(u64);

impl Revision {
    /// That of a new resource.
    pub const FIRST: Self = Self(1);

    /// That of the resource after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The revision with this number.
    ///
    /// # Errors
    /// If it is 0.
    pub const fn from_stored(number: u64) -> Result<Self, &'static str> {
        if number == 0 { Err("is below 1") } else { Ok(Self(number)) }
    }

    /// The revision of an entity tag as it [prints](fmt::Display). `None` for any other text, a weak tag included.
    #[must_use]
    pub fn parse_tag(text: &str) -> Option<Self> {
        let number = text.strip_prefix("\"r")?.strip_suffix('"')?.parse().ok()?;
        // `r02` and `r+2` are not tags that were sent.
        Some(Self(number)).filter(|revision| revision.to_string() == text)
    }
}

/// The entity tag: `"r2"`, with its quotation marks.
impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"r{}\"", self.0)
    }
}

/// What a caller requires of a resource before it is created or changed: `If-Match`, `If-None-Match` (D120).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Precondition {
    /// Nothing.
    #[default]
    None,
    /// That the resource does not exist: `If-None-Match: *`.
    Absent,
    /// That the resource exists.
    Exists,
    /// That it has one of these revisions. An empty list is never met.
    RevisionIn(Vec<Revision>),
}

impl Precondition {
    /// The longest list of tags that is compared.
    pub const MAX_TAGS: usize = 100;

    /// Whether it holds for a resource, or for the absence of one.
    #[must_use]
    pub fn holds_for(&self, stored: Option<Revision>) -> bool {
        match self {
            Self::None => true,
            Self::Absent => stored.is_none(),
            Self::Exists => stored.is_some(),
            Self::RevisionIn(revisions) => stored.is_some_and(|stored| revisions.contains(&stored)),
        }
    }

    /// Refuses the change of a resource that does not meet it.
    ///
    /// # Errors
    /// [`Refusal::PreconditionFailed`].
    pub fn check(&self, stored: Revision) -> Result<(), Refusal> {
        match self {
            _ if self.holds_for(Some(stored)) => Ok(()),
            Self::Absent => Err(Refusal::PreconditionFailed(Unmet::Exists)),
            Self::None | Self::Exists | Self::RevisionIn(_) => {
                Err(Refusal::PreconditionFailed(Unmet::Revision(stored)))
            }
        }
    }
}

/// Why a precondition does not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unmet {
    /// The resource has this revision, which is not required.
    Revision(Revision),
    /// The resource does not exist.
    Missing,
    /// The resource exists.
    Exists,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn revision(number: u64) -> Revision {
        Revision::from_stored(number).unwrap()
    }

    #[test]
    fn d120_a_tag_reads_back_and_nothing_else_is_one() {
        for number in [1, 2, 10, u64::MAX] {
            assert_eq!(Revision::parse_tag(&revision(number).to_string()), Some(revision(number)));
        }
        for text in ["", "r1", "\"r1", "\"1\"", "W/\"r1\"", "\"r01\"", "\"r+1\"", "\"r-1\"", "\"r1\" ", "*"] {
            assert_eq!(Revision::parse_tag(text), None, "{text}");
        }
        assert!(Revision::from_stored(0).is_err());
    }

    #[test]
    fn d120_a_condition_is_met_by_one_of_its_revisions() {
        let (absent, second) = (None, Some(revision(2)));
        let named = |numbers: &[u64]| {
            Precondition::RevisionIn(numbers.iter().map(|number| revision(*number)).collect())
        };
        for (condition, for_absent, for_second) in [
            (Precondition::None, true, true),
            (Precondition::Absent, true, false),
            (Precondition::Exists, false, true),
            (named(&[]), false, false),
            (named(&[1, 2]), false, true),
            (named(&[1, 3]), false, false),
        ] {
            assert_eq!(condition.holds_for(absent), for_absent, "{condition:?}");
            assert_eq!(condition.holds_for(second), for_second, "{condition:?}");
            assert_eq!(condition.check(revision(2)).is_ok(), for_second, "{condition:?}");
        }
    }
}
