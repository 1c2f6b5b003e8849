//! How many visits a redirect sends on at most, and how many it has left (D128, D130).

use crate::change::Change;
use crate::revision::Revision;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode, Violations};

/// The largest number of visits that a redirect sends on: 1 to 1,000,000,000.
///
/// ```
/// # use signpost_domain::MaxClicks;
/// assert_eq!(MaxClicks::new(10).map(MaxClicks::get), Ok(10));
/// assert!(MaxClicks::new(0).is_err());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MaxClicks(u64);

impl MaxClicks {
    /// The field in requests and answers.
    pub const FIELD: &'static str = "max_clicks";

    /// The smallest limit.
    pub const MIN: u64 = 1;

    /// The largest limit.
    pub const MAX: u64 = 1_000_000_000;

    /// The limit with this number.
    ///
    /// # Errors
    /// `out_of_range` outside of [`Self::MIN`] to [`Self::MAX`].
    pub fn new(number: u64) -> Result<Self, FieldError> {
        if (Self::MIN..=Self::MAX).contains(&number) {
            Ok(Self(number))
        } else {
            Err(FieldError::new(ViolationCode::OutOfRange, "must be from 1 to 1000000000"))
        }
    }

    /// The limit with the number of a request.
    ///
    /// # Errors
    /// As [`Self::new`]. A negative number is as far out of range as 0.
    pub fn parse(number: i64) -> Result<Self, FieldError> {
        Self::new(u64::try_from(number).unwrap_or_default())
    }

    /// The limit in a row of a store.
    ///
    /// # Errors
    /// As [`Self::new`].
    pub fn from_stored(number: u64) -> Result<Self, &'static str> {
        Self::new(number).map_err(|_| "is not from 1 to 1000000000")
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// The limit of a redirect, and how much of it is used.
///
/// Nodes take clicks in advance, and give back what they do not use (D130). So [`Self::taken`] is at least the number of visits that
/// were sent on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClickLimit {
    max: MaxClicks,
    taken: u64,
    since: Revision,
}

impl ClickLimit {
    /// The field of [`Self::left`] in answers and files.
    pub const LEFT_FIELD: &'static str = "clicks_left";

    /// The most clicks that a node takes at once.
    const LARGEST_BLOCK: u64 = 256;

    /// How many revisions of a link have names of their own for a count that begins in one millisecond. With it, the last instant
    /// of the year 9999 has a name that a signed number of 64 bits can hold.
    const NAMES_OF_A_MILLISECOND: u64 = 1 << 15;

    /// The name of a count that begins now, with this revision of its link.
    ///
    /// The name has the instant, because an import restores a deleted link with its id and begins its revisions again. Nodes may still
    /// hold clicks of the dead link, which must be neither used for the new one nor given back into it (D130). It has the revision,
    /// because a limit may be removed and set again within a millisecond.
    #[must_use]
    pub fn name_of_count(now: Timestamp, revision: Revision) -> Revision {
        let millis = u64::try_from(now.unix_millis()).unwrap_or_default();
        let first = millis.saturating_mul(Self::NAMES_OF_A_MILLISECOND);
        let number = first.saturating_add(revision.get() % Self::NAMES_OF_A_MILLISECOND);
        Revision::from_stored(number).unwrap_or(Revision::FIRST)
    }

    /// A limit of which this many clicks are taken. `since` [names](Self::name_of_count) the count.
    #[must_use]
    pub const fn new(max: MaxClicks, taken: u64, since: Revision) -> Self {
        Self { max, taken, since }
    }

    /// Reads the number of a file in [`Self::LEFT_FIELD`].
    ///
    /// # Errors
    /// `out_of_range` for a negative number.
    pub fn parse_left(number: i64) -> Result<u64, FieldError> {
        u64::try_from(number).map_err(|_| FieldError::new(ViolationCode::OutOfRange, "must not be negative"))
    }

    /// The limit.
    #[must_use]
    pub const fn max(self) -> MaxClicks {
        self.max
    }

    /// How many clicks are taken. More than [`Self::max`] if the limit was lowered since.
    #[must_use]
    pub const fn taken(self) -> u64 {
        self.taken
    }

    /// The [name](Self::name_of_count) of this count. A limit that was removed and set again counts anew, and does not get back the
    /// clicks that nodes took of the earlier one.
    #[must_use]
    pub const fn since(self) -> Revision {
        self.since
    }

    /// How many clicks nobody has taken.
    #[must_use]
    pub const fn left(self) -> u64 {
        self.max.0.saturating_sub(self.taken)
    }

    /// Whether no click is left.
    #[must_use]
    pub const fn is_exhausted(self) -> bool {
        self.left() == 0
    }

    /// How many clicks a node takes now: a sixty-fourth of what is left, at least 1 and at most 256; 0 if none is left. So the last
    /// clicks are taken one by one, and no node keeps them from another (D130).
    #[must_use]
    pub fn next_block(self) -> u64 {
        let left = self.left();
        (left / 64).clamp(1, Self::LARGEST_BLOCK).min(left)
    }

    /// The limit after a node has taken this many clicks.
    #[must_use]
    pub const fn with_more_taken(self, clicks: u64) -> Self {
        Self { taken: self.taken.saturating_add(clicks), ..self }
    }

    /// The limit after a node has given back this many clicks. `None` if that many are not taken.
    #[must_use]
    pub fn with_given_back(self, clicks: u64) -> Option<Self> {
        Some(Self { taken: self.taken.checked_sub(clicks)?, ..self })
    }

    /// The limit after a request. A new number keeps what is taken, so a higher one opens an exhausted link again, and one below
    /// what is taken exhausts it. `next` is the name of a count that begins now.
    pub(crate) fn requested(
        request: ClickLimitRequest,
        before: Option<Self>,
        next: Revision,
        found: &mut Violations,
    ) -> Option<Self> {
        let ClickLimitRequest { max_clicks, clicks_left } = request;
        let max = match max_clicks {
            Change::Set(max) => max,
            Change::Keep if before.is_some() => return before,
            Change::Keep | Change::Clear => {
                if let Some(left) = clicks_left {
                    let error = FieldError::new(ViolationCode::InvalidValue, "needs `max_clicks`");
                    found.push(error.at(Self::LEFT_FIELD).of_value(left.to_string()));
                }
                return None;
            }
        };
        if let Some(before) = before {
            return Some(Self { max, ..before });
        }
        let left = clicks_left.unwrap_or(max.0);
        let Some(taken) = max.0.checked_sub(left) else {
            let error = FieldError::new(ViolationCode::OutOfRange, "must not be above `max_clicks`");
            found.push(error.at(Self::LEFT_FIELD).of_value(left.to_string()));
            return before;
        };
        Some(Self::new(max, taken, next))
    }

    /// Whether `after` limits a link in a way in which `before` does not, so that it needs the feature (D137).
    pub(crate) fn is_new_value(before: Option<Self>, after: Option<Self>) -> bool {
        after.is_some_and(|after| before.is_none_or(|before| before.max != after.max))
    }
}

/// The changes of a request to the [`ClickLimit`] of a redirect. The default changes nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ClickLimitRequest {
    /// `max_clicks`; null removes the limit, and what was taken of it is forgotten.
    pub max_clicks: Change<MaxClicks>,
    /// How many clicks of a new limit are left; without it, all. Only files of links have it: they move a link with its count.
    pub clicks_left: Option<u64>,
}

#[cfg(test)]
#[path = "click_limit_tests.rs"]
mod tests;
