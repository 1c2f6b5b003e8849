//! Sessions of people in the dashboard, and how long they last (D72, D73).

use std::time::Duration;

use crate::id::{SessionId, UserId};
use crate::secret_token::TokenHash;
use crate::stored::{self, MalformedStored};
use crate::timestamp::Timestamp;
use crate::user::ClientNetwork;

/// How long a session of somebody who stays signed in lives after its last request.
pub const SESSION_IDLE: Duration = Duration::from_hours(7 * 24);

/// How long a session of somebody who stays signed in lives at most.
pub const SESSION_KEPT: Duration = Duration::from_hours(30 * 24);

/// How long a session lives without "keep me signed in".
pub const SESSION_SHORT: Duration = Duration::from_hours(12);

/// How long a confirmed password counts (D73).
pub const CONFIRMED_FOR: Duration = Duration::from_mins(15);

/// How old the stored instant of the last request may get before it is written again.
pub const SEEN_EVERY: Duration = Duration::from_mins(1);

/// A signed-in browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id, which is not secret.
    pub id: SessionId,
    /// The hash of the token in the cookie.
    pub hash: TokenHash,
    /// Who is signed in.
    pub user_id: UserId,
    /// When the user signed in.
    pub created_at: Timestamp,
    /// The last request, at most a minute too early.
    pub seen_at: Timestamp,
    /// When the user last gave the password.
    pub confirmed_at: Timestamp,
    /// Whether the user asked to stay signed in.
    pub is_kept: bool,
    /// The browser, as it names itself.
    pub agent: Option<AgentName>,
    /// The network that the user signed in from.
    pub network: Option<ClientNetwork>,
}

impl Session {
    /// The last instant at which the session is valid, if there is no further request.
    #[must_use]
    pub fn ends_at(&self) -> Timestamp {
        if self.is_kept {
            self.created_at.plus(SESSION_KEPT).min(self.seen_at.plus(SESSION_IDLE))
        } else {
            self.created_at.plus(SESSION_SHORT)
        }
    }

    /// Whether the session is valid.
    #[must_use]
    pub fn is_live(&self, now: Timestamp) -> bool {
        now < self.ends_at()
    }

    /// Whether the password was confirmed recently enough for what D73 protects.
    #[must_use]
    pub fn is_confirmed(&self, now: Timestamp) -> bool {
        now < self.confirmed_at.plus(CONFIRMED_FOR)
    }

    /// Whether the instant of the last request should be written again.
    #[must_use]
    pub fn is_seen_again(&self, now: Timestamp) -> bool {
        self.seen_at.plus(SEEN_EVERY) <= now
    }
}

/// The `User-Agent` of a browser: one line of at most 200 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentName(String);

impl AgentName {
    /// The maximum length in Unicode scalar values. The rest is cut off.
    pub const MAX_CHARS: usize = 200;

    /// The beginning of a header's text; `None` if it has nothing to show.
    #[must_use]
    pub fn of(header: &str) -> Option<Self> {
        let shown: String = header.trim().chars().filter(|c| !c.is_control()).take(Self::MAX_CHARS).collect();
        (!shown.is_empty()).then_some(Self(shown))
    }

    /// Reads a stored name: one line.
    pub fn from_stored(text: String) -> Result<Self, MalformedStored> {
        stored::some_line(text).map(Self)
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Id;

    fn at(millis: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_millis(millis))
    }

    fn hours(hours: u64) -> u64 {
        hours * 3_600_000
    }

    fn session(is_kept: bool, seen_at: Timestamp) -> Session {
        Session {
            id: Id::from_bytes([1; 16]),
            hash: TokenHash::from_bytes([2; 32]),
            user_id: Id::from_bytes([3; 16]),
            created_at: at(0),
            seen_at,
            confirmed_at: at(0),
            is_kept,
            agent: None,
            network: None,
        }
    }

    #[test]
    fn d72_a_short_session_ends_twelve_hours_after_sign_in() {
        let session = session(false, at(hours(11)));
        assert!(session.is_live(at(hours(12) - 1)));
        assert!(!session.is_live(at(hours(12))));
    }

    #[test]
    fn d72_a_kept_session_ends_after_seven_idle_days_and_after_thirty_days() {
        let idle = session(true, at(hours(24)));
        assert!(idle.is_live(at(hours(8 * 24) - 1)));
        assert!(!idle.is_live(at(hours(8 * 24))));
        let busy = session(true, at(hours(29 * 24)));
        assert!(busy.is_live(at(hours(30 * 24) - 1)));
        assert!(!busy.is_live(at(hours(30 * 24))));
    }

    #[test]
    fn d73_a_confirmed_password_counts_for_fifteen_minutes() {
        let session = session(true, at(0));
        assert!(session.is_confirmed(at(15 * 60_000 - 1)));
        assert!(!session.is_confirmed(at(15 * 60_000)));
    }

    #[test]
    fn the_last_request_is_written_once_a_minute() {
        let session = session(true, at(60_000));
        assert!(!session.is_seen_again(at(119_999)));
        assert!(session.is_seen_again(at(120_000)));
    }

    #[test]
    fn an_agent_is_one_short_line() {
        assert_eq!(AgentName::of(" \n"), None);
        assert_eq!(AgentName::of("a\nb\0").unwrap().as_str(), "ab");
        assert_eq!(AgentName::of(&"é".repeat(300)).unwrap().as_str().chars().count(), 200);
    }
}
