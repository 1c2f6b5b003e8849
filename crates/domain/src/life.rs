//! When a link works, where it leads afterwards, and what it does now (D128).

use crate::change::Change;
use crate::click_limit::ClickLimit;
use crate::destination::violations_of_every_link;
use crate::link::{Content, Link};
use crate::link_context::LinkContext;
use crate::link_request::Judgement;
use crate::placement::Placement;
use crate::target_url::TargetUrl;
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode, Violations};

/// When a link works, and where it leads afterwards. The default works always.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Life {
    /// From when until when the link works.
    pub schedule: Schedule,
    /// Where visitors are sent once the link has ended.
    pub fallback_url: Option<TargetUrl>,
}

/// The changes of a request to the [`Life`] of a link. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LifeRequest {
    /// `starts_at`
    pub starts_at: Change<Timestamp>,
    /// `expires_at`
    pub expires_at: Change<Timestamp>,
    /// `fallback_url`
    pub fallback_url: Change<TargetUrl>,
}

impl LifeRequest {
    /// The violations that every link would have, in the object of the request at `prefix`.
    pub(crate) fn violations_without_link(&self, prefix: &str, context: &LinkContext<'_>) -> Violations {
        let Self { starts_at, expires_at, fallback_url } = self;
        let mut violations = Violations::new();
        if let (Change::Set(start), Change::Set(end)) = (*starts_at, *expires_at)
            && let Err(error) = Schedule::new(Some(start), Some(end))
        {
            let violation = error.at(format!("{prefix}{}", Schedule::EXPIRES_AT));
            violations.push(violation.of_value(end.to_string()));
        }
        if let Change::Set(url) = fallback_url {
            let path = format!("{prefix}{}", Life::FALLBACK_URL);
            violations.append(violations_of_every_link(&path, url, context.system, context.blocklist));
        }
        violations
    }
}

impl Life {
    /// The field of [`Self::fallback_url`].
    pub const FALLBACK_URL: &'static str = "fallback_url";

    /// The life of a link after a request. Adds violations to the judgement.
    pub(crate) fn requested<C: Content>(request: &LifeRequest, judgement: &mut Judgement<'_, C>) -> Self {
        let before = judgement.before.map(|link| &link.life);
        let fallback_before = before.and_then(|life| life.fallback_url.as_ref());
        let (requested, kept) = match &request.fallback_url {
            Change::Keep => (None, fallback_before),
            Change::Set(url) => (Some(url), None),
            Change::Clear => (None, None),
        };
        judgement.judge_destination(Self::FALLBACK_URL, requested, kept);
        Self { schedule: Schedule::requested(request, judgement), fallback_url: requested.or(kept).cloned() }
    }
}

/// From when until when a link works: at its start and later, but no longer at its end.
///
/// ```
/// use signpost_domain::{Schedule, Timestamp};
///
/// let [start, end] = [1_000, 2_000].map(Timestamp::from_unix_millis);
/// let schedule = Schedule::new(start, end).unwrap();
/// assert!(schedule.is_before_start(Timestamp::EPOCH) && schedule.has_ended(end.unwrap()));
/// assert!(Schedule::new(start, start).is_err());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Schedule {
    starts_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
}

impl Schedule {
    /// The field of [`Self::starts_at`].
    pub const STARTS_AT: &'static str = "starts_at";

    /// The field of [`Self::expires_at`].
    pub const EXPIRES_AT: &'static str = "expires_at";

    /// The schedule with this start and this end; `None` is no bound. Both may be in the past.
    ///
    /// # Errors
    /// `invalid_value` for an end at or before the start. The error belongs to [`Self::EXPIRES_AT`].
    pub fn new(starts_at: Option<Timestamp>, expires_at: Option<Timestamp>) -> Result<Self, FieldError> {
        let is_empty = starts_at.zip(expires_at).is_some_and(|(start, end)| end <= start);
        if is_empty {
            return Err(FieldError::new(ViolationCode::InvalidValue, "must be later than `starts_at`"));
        }
        Ok(Self { starts_at, expires_at })
    }

    /// The schedule in a row of a store. An end that is not after the start is safe (ADR 35): the link never works.
    #[must_use]
    pub const fn from_stored(starts_at: Option<Timestamp>, expires_at: Option<Timestamp>) -> Self {
        Self { starts_at, expires_at }
    }

    /// The first instant at which the link works; `None` if it has always worked.
    #[must_use]
    pub const fn starts_at(self) -> Option<Timestamp> {
        self.starts_at
    }

    /// The first instant at which the link works no more; `None` if it works for ever.
    #[must_use]
    pub const fn expires_at(self) -> Option<Timestamp> {
        self.expires_at
    }

    /// Whether the link works only later.
    #[must_use]
    pub fn is_before_start(self, now: Timestamp) -> bool {
        self.starts_at.is_some_and(|start| now < start)
    }

    /// Whether the link works no more.
    #[must_use]
    pub fn has_ended(self, now: Timestamp) -> bool {
        self.expires_at.is_some_and(|end| now >= end)
    }

    /// The schedule after a request, judged by its result. A request that names neither instant, or one that could not be
    /// read, is not judged.
    fn requested<C: Content>(request: &LifeRequest, judgement: &mut Judgement<'_, C>) -> Self {
        let LifeRequest { starts_at, expires_at, fallback_url: _ } = request;
        let before = judgement.before.map(|link| link.life.schedule).unwrap_or_default();
        let is_unreadable =
            [Self::STARTS_AT, Self::EXPIRES_AT].iter().any(|field| judgement.unreadable.are_about(field));
        if is_unreadable || (starts_at.is_keep() && expires_at.is_keep()) {
            return before;
        }
        let requested =
            Self::new(starts_at.applied_to(before.starts_at), expires_at.applied_to(before.expires_at));
        requested.unwrap_or_else(|error| {
            let violation = error.at(Self::EXPIRES_AT);
            judgement.found.push(match expires_at {
                Change::Set(end) => violation.of_value(end.to_string()),
                Change::Keep | Change::Clear => violation,
            });
            before
        })
    }
}

/// What a link does at an instant. Callers must expect further states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LinkState {
    /// Its domain was removed, so it has no address.
    Lost,
    /// It was switched off.
    Inactive,
    /// Its custom domain serves no links.
    DomainInactive,
    /// It works later.
    Scheduled,
    /// It works no more.
    Expired,
    /// It has sent on as many visits as it may, or nodes have taken the last ones (D130).
    Exhausted,
    /// It works.
    Active,
}

impl LinkState {
    /// All states. The first that applies is the state of a link.
    pub const ALL: [Self; 7] = [
        Self::Lost,
        Self::Inactive,
        Self::DomainInactive,
        Self::Scheduled,
        Self::Expired,
        Self::Exhausted,
        Self::Active,
    ];

    /// The name in API answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Lost => "lost",
            Self::Inactive => "inactive",
            Self::DomainInactive => "domain_inactive",
            Self::Scheduled => "scheduled",
            Self::Expired => "expired",
            Self::Exhausted => "exhausted",
            Self::Active => "active",
        }
    }

    /// The state of this name.
    ///
    /// # Errors
    /// `invalid_value` for an unknown name.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        Self::ALL.into_iter().find(|state| state.as_str() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::as_str).join(", ");
            FieldError::new(ViolationCode::InvalidValue, format!("must be one of {names}"))
        })
    }

    /// The bit of the state in sets of states. No two states share one.
    #[must_use]
    pub const fn bit(self) -> u8 {
        match self {
            Self::Lost => 1,
            Self::Inactive => 1 << 1,
            Self::DomainInactive => 1 << 2,
            Self::Scheduled => 1 << 3,
            Self::Expired => 1 << 4,
            Self::Exhausted => 1 << 5,
            Self::Active => 1 << 6,
        }
    }
}

impl<C: Content> Link<C> {
    /// What the link does at `now`. Whether its domain serves links is as of the moment at which the link was read.
    #[must_use]
    pub fn state(&self, now: Timestamp) -> LinkState {
        let Life { schedule, fallback_url: _ } = &self.life;
        if matches!(self.placement, Placement::Lost { .. }) {
            LinkState::Lost
        } else if !self.is_active {
            LinkState::Inactive
        } else if !self.is_domain_active {
            LinkState::DomainInactive
        } else if schedule.is_before_start(now) {
            LinkState::Scheduled
        } else if schedule.has_ended(now) {
            LinkState::Expired
        } else if self.content.click_limit().is_some_and(ClickLimit::is_exhausted) {
            LinkState::Exhausted
        } else {
            LinkState::Active
        }
    }
}

#[cfg(test)]
#[path = "life_tests.rs"]
pub(crate) mod tests;
