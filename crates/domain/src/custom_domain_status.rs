//! The states of a custom domain and the moves between them (contract "States and transitions", D39).

use std::time::Duration;

use crate::timestamp::Timestamp;

/// How long a domain may be `pending` before it fails (contract "States and transitions").
pub const VERIFICATION_PERIOD: Duration = Duration::from_hours(72);
/// How long a domain may be `ssl_pending` before it fails (D39).
pub const CERTIFICATE_PERIOD: Duration = Duration::from_hours(72);
/// How long on end an `active` domain may point elsewhere before it fails (D39).
pub const MISDIRECTION_PERIOD: Duration = Duration::from_hours(72);

/// How far a custom domain has come.
///
/// What is stored may have been overtaken by time: [`at`](Self::at) tells what it is at an instant, and every other
/// question is one about what it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomDomainStatus {
    /// Claimed, and not proven yet.
    Pending {
        /// From this instant on it has failed.
        expires_at: Timestamp,
    },
    /// Proven; its certificate is being obtained.
    SslPending {
        /// From this instant on it has failed.
        expires_at: Timestamp,
    },
    /// It serves links.
    Active {
        /// Since when every answer of DNS has said that it points elsewhere; `None` if the last one said that it points
        /// here.
        misdirected_since: Option<Timestamp>,
    },
    /// It serves nothing and holds nothing.
    Failed,
}

/// Something that happened to a custom domain. That DNS could not be asked is none: it is never an answer (D42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainEvent {
    /// DNS has the account's `TXT` record, and the hostname points at the edge.
    Proven,
    /// A certificate for the hostname can be served, or none is needed here.
    CertificateReady,
    /// DNS says that the hostname points at the edge.
    PointsHere,
    /// DNS says that the hostname does not point at the edge: a definite answer.
    PointsElsewhere,
    /// Another account has proven the hostname to be theirs (D41).
    Displaced,
    /// Its account connected the hostname again or asked for it to be verified (D39, D40). That the hostname is still
    /// free is for the store to make sure.
    Reclaimed,
}

impl DomainEvent {
    /// Every event.
    pub const ALL: [Self; 6] = [
        Self::Proven,
        Self::CertificateReady,
        Self::PointsHere,
        Self::PointsElsewhere,
        Self::Displaced,
        Self::Reclaimed,
    ];
}

impl CustomDomainStatus {
    /// The status of a domain that is claimed now. Its deadline is [`VERIFICATION_PERIOD`] away, or the last instant
    /// that a [`Timestamp`] can be if that is nearer.
    #[must_use]
    pub fn claimed(now: Timestamp) -> Self {
        Self::Pending { expires_at: now.plus(VERIFICATION_PERIOD) }
    }

    /// What it reads as at `now`: `pending` and `ssl_pending` are `failed` from the very millisecond of their deadline,
    /// whether or not a background job has been by (D39). Time alone takes nothing from an `active` domain: without an
    /// answer of DNS nobody knows that it still points elsewhere.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        match self {
            Self::Pending { expires_at } | Self::SslPending { expires_at } if now >= expires_at => {
                Self::Failed
            }
            Self::Pending { .. } | Self::SslPending { .. } | Self::Active { .. } | Self::Failed => self,
        }
    }

    /// What it is after `event` at `now` (D39). What time has done by then has been done before; an event that means
    /// nothing to a state leaves it as it is.
    ///
    /// An instant earlier than the last one, from a clock that was set back, starts nothing anew: a domain that points
    /// elsewhere has done so since it was first seen.
    ///
    /// ```
    /// use signpost_domain::{CustomDomainStatus, DomainEvent, Timestamp};
    ///
    /// let now = Timestamp::EPOCH;
    /// let proven = CustomDomainStatus::claimed(now).after(DomainEvent::Proven, now);
    /// assert_eq!(proven.as_str(), "ssl_pending");
    /// assert_eq!(proven.after(DomainEvent::Displaced, now), proven);
    /// assert!(proven.after(DomainEvent::CertificateReady, now).serves_links());
    /// ```
    #[must_use]
    #[expect(
        clippy::match_same_arms,
        reason = "a table, state by state; merged arms would hide what a state does"
    )]
    pub fn after(self, event: DomainEvent, now: Timestamp) -> Self {
        use DomainEvent::{CertificateReady, Displaced, PointsElsewhere, PointsHere, Proven, Reclaimed};

        let status = self.at(now);
        match (status, event) {
            (Self::Pending { .. }, Proven) => Self::SslPending { expires_at: now.plus(CERTIFICATE_PERIOD) },
            (Self::Pending { .. }, Displaced) => Self::Failed,
            (Self::Pending { .. }, CertificateReady | PointsHere | PointsElsewhere | Reclaimed) => status,

            (Self::SslPending { .. }, CertificateReady) => Self::Active { misdirected_since: None },
            // What is proven is never displaced (D41).
            (Self::SslPending { .. }, Proven | PointsHere | PointsElsewhere | Displaced | Reclaimed) => {
                status
            }

            (Self::Active { .. }, PointsHere) => Self::Active { misdirected_since: None },
            (Self::Active { misdirected_since: None }, PointsElsewhere) => {
                Self::Active { misdirected_since: Some(now) }
            }
            (Self::Active { misdirected_since: Some(since) }, PointsElsewhere) => {
                if has_lasted(since, now, MISDIRECTION_PERIOD) { Self::Failed } else { status }
            }
            // The `TXT` record is for a claim, not for staying.
            (Self::Active { .. }, Proven | CertificateReady | Displaced | Reclaimed) => status,

            (Self::Failed, Reclaimed) => Self::claimed(now),
            (Self::Failed, Proven | CertificateReady | PointsHere | PointsElsewhere | Displaced) => status,
        }
    }

    /// The name as it stands in an answer.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending { .. } => "pending",
            Self::SslPending { .. } => "ssl_pending",
            Self::Active { .. } => "active",
            Self::Failed => "failed",
        }
    }

    /// The `expires_at` of an answer: the deadline of the verification, and only while it is `pending` (contract
    /// "Domain").
    #[must_use]
    pub const fn expires_at(self) -> Option<Timestamp> {
        match self {
            Self::Pending { expires_at } => Some(expires_at),
            Self::SslPending { .. } | Self::Active { .. } | Self::Failed => None,
        }
    }

    /// When time alone will make it fail: the deadline of `pending` and of `ssl_pending`.
    #[must_use]
    pub const fn deadline(self) -> Option<Timestamp> {
        match self {
            Self::Pending { expires_at } | Self::SslPending { expires_at } => Some(expires_at),
            Self::Active { .. } | Self::Failed => None,
        }
    }

    /// Whether links on the domain resolve, and whether links may be put on it (D23, D44).
    #[must_use]
    pub const fn serves_links(self) -> bool {
        match self {
            Self::Active { .. } => true,
            Self::Pending { .. } | Self::SslPending { .. } | Self::Failed => false,
        }
    }

    /// Whether a certificate for the hostname may be obtained: only after proof (D39).
    #[must_use]
    pub const fn may_have_certificate(self) -> bool {
        match self {
            Self::SslPending { .. } | Self::Active { .. } => true,
            Self::Pending { .. } | Self::Failed => false,
        }
    }

    /// Whether the hostname is taken for every other account (D41).
    #[must_use]
    pub const fn holds_hostname(self) -> bool {
        match self {
            Self::Pending { .. } | Self::SslPending { .. } | Self::Active { .. } => true,
            Self::Failed => false,
        }
    }
}

/// Whether `period` or more lies between the two instants; not if `now` is the earlier one. Adding to `since` would stop
/// at the last instant of the calendar and let the period end too early there.
fn has_lasted(since: Timestamp, now: Timestamp, period: Duration) -> bool {
    u64::try_from(now.unix_millis() - since.unix_millis())
        .is_ok_and(|millis| Duration::from_millis(millis) >= period)
}

#[cfg(test)]
mod tests;
