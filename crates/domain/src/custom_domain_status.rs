//! The states of a custom domain and their transitions (contract "States and transitions", D39).

use std::time::Duration;

use crate::status_history::StatusKind;
use crate::timestamp::Timestamp;

/// How long a domain may be `pending` before it fails (contract "States and transitions").
pub const VERIFICATION_PERIOD: Duration = Duration::from_hours(72);
/// How long a domain may be `ssl_pending` before it fails (D39).
pub const CERTIFICATE_PERIOD: Duration = Duration::from_hours(72);
/// How long an `active` domain may continuously point elsewhere before it fails (D39).
pub const MISDIRECTION_PERIOD: Duration = Duration::from_hours(72);

/// The status of a custom domain.
///
/// The stored status may be outdated by the passing of a deadline: [`at`](Self::at) gives the status at an
/// instant. All other methods expect such a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CustomDomainStatus {
    /// Claimed, but not proven yet.
    Pending {
        /// It fails at this instant.
        expires_at: Timestamp,
    },
    /// Proven, and waiting for its certificate.
    SslPending {
        /// It fails at this instant.
        expires_at: Timestamp,
    },
    /// It serves links.
    Active {
        /// Since when every answer of DNS has said that it points elsewhere; `None` if the last one said that
        /// it points here.
        misdirected_since: Option<Timestamp>,
    },
    /// It serves no links, and does not hold the hostname.
    Failed,
}

/// An event of a custom domain. A missing answer of DNS is not an event, because it says nothing (D42).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DomainEvent {
    /// DNS has the account's `TXT` record, and the hostname points at the edge.
    Proven,
    /// A certificate for the hostname is ready, or none is needed here.
    CertificateReady,
    /// DNS says that the hostname points at the edge.
    PointsHere,
    /// DNS definitely says that the hostname does not point at the edge.
    PointsElsewhere,
    /// Another account has proven the hostname (D41).
    Displaced,
    /// The account connected the hostname again, or asked to verify it (D39, D40). The store makes sure that
    /// the hostname is still free.
    Reclaimed,
}

impl DomainEvent {
    /// All events.
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
    /// The status of a domain that is claimed now. Its deadline comes after [`VERIFICATION_PERIOD`], but no
    /// later than the last instant of a [`Timestamp`].
    #[must_use]
    pub fn claimed(now: Timestamp) -> Self {
        Self::Pending { expires_at: now.plus(VERIFICATION_PERIOD) }
    }

    /// The status at `now`. `pending` and `ssl_pending` are `failed` from the exact millisecond of their
    /// deadline, even before a background job has stored that (D39). Time alone does not fail an `active`
    /// domain: without an answer of DNS it is unknown where the hostname points.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        match self {
            Self::Pending { expires_at } | Self::SslPending { expires_at } if now >= expires_at => {
                Self::Failed
            }
            Self::Pending { .. } | Self::SslPending { .. } | Self::Active { .. } | Self::Failed => self,
        }
    }

    /// The status after `event` at `now` (D39). Deadlines up to `now` apply first. An event without a
    /// transition in this state changes nothing.
    ///
    /// An instant before the last one, from a clock that was set back, does not restart a period. A domain
    /// points elsewhere from the first look-up that showed it.
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
            // A proven domain is never displaced (D41).
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
            // The `TXT` record is needed to claim the hostname, but not to keep it.
            (Self::Active { .. }, Proven | CertificateReady | Displaced | Reclaimed) => status,

            (Self::Failed, Reclaimed) => Self::claimed(now),
            (Self::Failed, Proven | CertificateReady | PointsHere | PointsElsewhere | Displaced) => status,
        }
    }

    /// The name in API answers.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        StatusKind::of(self).as_str()
    }

    /// The `expires_at` of an API answer: the deadline of the verification, only while it is `pending`
    /// (contract "Domain").
    #[must_use]
    pub const fn expires_at(self) -> Option<Timestamp> {
        match self {
            Self::Pending { expires_at } => Some(expires_at),
            Self::SslPending { .. } | Self::Active { .. } | Self::Failed => None,
        }
    }

    /// When time alone makes it fail: the deadline of `pending` and `ssl_pending`.
    #[must_use]
    pub const fn deadline(self) -> Option<Timestamp> {
        match self {
            Self::Pending { expires_at } | Self::SslPending { expires_at } => Some(expires_at),
            Self::Active { .. } | Self::Failed => None,
        }
    }

    /// Whether links on the domain resolve, and links may be placed on it (D23, D44).
    #[must_use]
    pub const fn serves_links(self) -> bool {
        match self {
            Self::Active { .. } => true,
            Self::Pending { .. } | Self::SslPending { .. } | Self::Failed => false,
        }
    }

    /// Whether a certificate for the hostname may be issued: only after proof (D39).
    #[must_use]
    pub const fn may_have_certificate(self) -> bool {
        match self {
            Self::SslPending { .. } | Self::Active { .. } => true,
            Self::Pending { .. } | Self::Failed => false,
        }
    }

    /// Whether the hostname is taken for all other accounts (D41).
    #[must_use]
    pub const fn holds_hostname(self) -> bool {
        match self {
            Self::Pending { .. } | Self::SslPending { .. } | Self::Active { .. } => true,
            Self::Failed => false,
        }
    }
}

/// Whether the time between the two instants is at least `period`. `false` if `now` is the earlier one. The
/// sum `since + period` cannot be used: it stops at the last instant of the calendar, and the period would
/// end too early there.
fn has_lasted(since: Timestamp, now: Timestamp, period: Duration) -> bool {
    u64::try_from(now.unix_millis() - since.unix_millis())
        .is_ok_and(|millis| Duration::from_millis(millis) >= period)
}

#[cfg(test)]
mod tests;
