//! How long somebody waits after failed sign-ins (D75).

use std::net::IpAddr;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::email::Email;
use crate::id::{SessionId, UserId};
use crate::timestamp::Timestamp;

/// How long failures are counted.
pub const FAILURES_KEPT: Duration = Duration::from_hours(24);

/// How many counts a store keeps. Beyond it the oldest are dropped.
pub const FAILURE_COUNTS_KEPT: u32 = 100_000;

const FREE_FAILURES: u32 = 4;
const FIRST_WAIT_SECONDS: u64 = 30;
const LONGEST_WAIT_SECONDS: u64 = 15 * 60;

/// What failures are counted for: an e-mail address and the address of the client (D18: an IPv4 address or a /64 of IPv6), as
/// a hash, so that stored failures reveal no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SignInKey([u8; 32]);

impl SignInKey {
    /// The key of attempts for this e-mail address from this client.
    #[must_use]
    pub fn new(email: &Email, client: IpAddr) -> Self {
        let mut hash = Sha256::new();
        hash.update(email.comparison_key());
        hash.update([0]);
        match client.to_canonical() {
            IpAddr::V4(address) => hash.update(address.octets()),
            IpAddr::V6(address) => hash.update((address.to_bits() >> 64).to_be_bytes()),
        }
        Self(hash.finalize().into())
    }

    /// The key of sign-ins with a code of this user's second factor, from anywhere: only somebody who knows the password makes
    /// them.
    #[must_use]
    pub fn of_codes(user: UserId) -> Self {
        let hash = Sha256::new().chain_update(b"codes of ").chain_update(user.to_bytes());
        Self(hash.finalize().into())
    }

    /// The key of attempts at the codes of confirmations in this session.
    #[must_use]
    pub fn of_confirmations(session: SessionId) -> Self {
        let hash = Sha256::new().chain_update(b"confirmations in ").chain_update(session.to_bytes());
        Self(hash.finalize().into())
    }

    /// The key that was stored as these bytes.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes to store.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }
}

/// The failed attempts for a key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SignInFailures {
    /// How many there were.
    pub count: u32,
    /// The last one, or the beginning of 1970 if there was none.
    pub last_at: Option<Timestamp>,
}

impl SignInFailures {
    /// The failures that still count: those of the last 24 hours.
    #[must_use]
    pub fn current(self, now: Timestamp) -> Self {
        let is_current = self.last_at.is_some_and(|last| now < last.plus(FAILURES_KEPT));
        if is_current { self } else { Self::default() }
    }

    /// The instant from which on another attempt is allowed; `None` if it is allowed now.
    #[must_use]
    pub fn allowed_from(self, now: Timestamp) -> Option<Timestamp> {
        let Self { count, last_at } = self.current(now);
        let allowed = last_at?.plus(wait_after(count));
        (now < allowed).then_some(allowed)
    }

    /// One more failure.
    #[must_use]
    pub fn and_one_more(self, now: Timestamp) -> Self {
        Self { count: self.current(now).count.saturating_add(1), last_at: Some(now) }
    }
}

/// The wait after so many failures: from the fifth on 30 seconds, doubled by each further one, up to 15 minutes.
///
/// ```
/// # use std::time::Duration;
/// # use signpost_domain::wait_after;
/// assert_eq!(wait_after(4), Duration::ZERO);
/// assert_eq!(wait_after(5), Duration::from_secs(30));
/// assert_eq!(wait_after(7), Duration::from_secs(120));
/// assert_eq!(wait_after(1_000), Duration::from_mins(15));
/// ```
#[must_use]
pub fn wait_after(failures: u32) -> Duration {
    let Some(doublings) = failures.checked_sub(FREE_FAILURES + 1) else { return Duration::ZERO };
    let seconds = FIRST_WAIT_SECONDS.checked_shl(doublings.min(32)).unwrap_or(LONGEST_WAIT_SECONDS);
    Duration::from_secs(seconds.min(LONGEST_WAIT_SECONDS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn second(seconds: u64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::from_secs(seconds))
    }

    #[test]
    fn d75_the_fifth_failure_asks_for_a_wait_that_doubles() {
        let mut failures = SignInFailures::default();
        for _ in 0..4 {
            failures = failures.and_one_more(second(0));
            assert_eq!(failures.allowed_from(second(0)), None);
        }
        let mut waits = vec![];
        for _ in 0..7 {
            failures = failures.and_one_more(second(0));
            let until = failures.allowed_from(second(0)).unwrap();
            assert_eq!(failures.allowed_from(until), None);
            waits.push(until.unix_millis() / 1_000);
        }
        assert_eq!(waits, [30, 60, 120, 240, 480, 900, 900]);
    }

    #[test]
    fn d75_failures_are_forgotten_after_a_day() {
        let failures = SignInFailures { count: 9, last_at: Some(second(0)) };
        let day = second(24 * 3_600);
        assert_eq!(failures.current(day), SignInFailures::default());
        assert_eq!(failures.and_one_more(day).count, 1);
        assert_eq!(failures.and_one_more(second(24 * 3_600 - 1)).count, 10);
    }

    #[test]
    fn d75_the_case_of_an_address_makes_no_difference() {
        let key = |email: &str, client: &str| {
            SignInKey::new(&Email::parse(email).unwrap(), client.parse().unwrap())
        };
        assert_eq!(key("ada@b.c", "192.0.2.1"), key("ADA@b.c", "::ffff:192.0.2.1"));
        assert_ne!(key("ada@b.c", "192.0.2.1"), key("ada@b.c", "192.0.2.2"));
        assert_ne!(key("ada@b.c", "192.0.2.1"), key("bob@b.c", "192.0.2.1"));
        assert_eq!(key("ada@b.c", "2001:db8::1"), key("ada@b.c", "2001:db8::2"));
        assert_ne!(key("ada@b.c", "2001:db8::1"), key("ada@b.c", "2001:db8:0:1::1"));
    }
}
