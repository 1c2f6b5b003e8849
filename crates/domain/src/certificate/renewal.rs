//! When a certificate is renewed (D191).

use std::time::Duration;

use crate::timestamp::Timestamp;

/// How often the authority is asked when to renew a certificate. RFC 9773 wants to be asked at least twice a day: the window
/// moves when certificates must be replaced after a mistake of the authority.
pub const RENEWAL_WINDOW_ASKED_EVERY: Duration = Duration::from_hours(12);

/// Certificates with a shorter life are renewed at half of it. A third of six days would leave too little time to repair
/// anything.
const SHORT_LIFE: Duration = Duration::from_hours(10 * 24);

/// When this part of its life is left, a certificate should have been renewed long ago (D195).
const LATE_PART: u32 = 5;

/// When to ask the authority again for the window of a certificate: after 12 hours, but never before the instant that the
/// authority named.
#[must_use]
pub fn ask_window_again_at(now: Timestamp, not_before: Option<Timestamp>) -> Timestamp {
    let planned = now.plus(RENEWAL_WINDOW_ASKED_EVERY);
    not_before.map_or(planned, |earliest| planned.max(earliest))
}

/// The time in which the authority wants a certificate renewed (ARI, RFC 9773).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenewalWindow {
    start: Timestamp,
    end: Timestamp,
}

impl RenewalWindow {
    /// A window; `None` if it does not end after its start. RFC 9773 demands that such an answer counts as none.
    #[must_use]
    pub fn new(start: Timestamp, end: Timestamp) -> Option<Self> {
        (start < end).then_some(Self { start, end })
    }

    /// The first instant.
    #[must_use]
    pub const fn start(self) -> Timestamp {
        self.start
    }

    /// The last instant.
    #[must_use]
    pub const fn end(self) -> Timestamp {
        self.end
    }

    /// The instant at this share of the window, from the start (0) to the end (65,535).
    fn at(self, fraction: u16) -> Timestamp {
        let length = self.end.unix_millis().saturating_sub(self.start.unix_millis());
        let offset = i128::from(length) * i128::from(fraction) / i128::from(u16::MAX);
        self.start.plus(Duration::from_millis(u64::try_from(offset).unwrap_or(0)))
    }
}

/// From when to when a certificate is valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validity {
    /// The first instant.
    pub not_before: Timestamp,
    /// The last instant.
    pub not_after: Timestamp,
}

impl Validity {
    /// The latest instant for the first attempt to renew: when a third of the life is left, or half of a life below ten days.
    #[must_use]
    pub fn backstop(self) -> Timestamp {
        let life = self.life();
        self.not_after.minus(if life < SHORT_LIFE { life / 2 } else { life / 3 })
    }

    /// Whether less than a fifth of the life is left, so that somebody should look (D195).
    #[must_use]
    pub fn is_late(self, now: Timestamp) -> bool {
        now > self.not_after.minus(self.life() / LATE_PART)
    }

    fn life(self) -> Duration {
        let life = self.not_after.unix_millis().saturating_sub(self.not_before.unix_millis()).max(0);
        Duration::from_millis(life.unsigned_abs())
    }

    /// When to renew. With a window: at the random share `fraction` of it, so that the certificates of all clients do not
    /// come back at once. Without: at the [`backstop`](Self::backstop). An instant in the past becomes `now`.
    #[must_use]
    pub fn renew_at(self, window: Option<RenewalWindow>, fraction: u16, now: Timestamp) -> Timestamp {
        let backstop = self.backstop();
        // The backstop holds against the authority too: a window after the end of the certificate, by mistake or because the
        // authority's clock is wrong, would leave visitors without one. Renewing too early costs an order.
        let chosen = window.map_or(backstop, |window| window.at(fraction).min(backstop));
        chosen.max(now)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    fn instant(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn days(count: u32) -> Timestamp {
        Timestamp::EPOCH.plus(DAY * count)
    }

    fn life(of_days: u32) -> Validity {
        Validity { not_before: days(100), not_after: days(100 + of_days) }
    }

    #[test]
    fn d191_the_backstop_is_a_third_of_the_life_or_half_of_a_short_one() {
        for (of_days, after) in [(90, 60), (45, 30), (12, 8), (6, 3), (8, 4)] {
            assert_eq!(life(of_days).backstop(), days(100 + after), "{of_days}");
        }
        let reversed = Validity { not_before: days(9), not_after: days(3) };
        assert_eq!(reversed.backstop(), days(3));
    }

    #[test]
    fn d195_a_certificate_is_late_in_the_last_fifth_of_its_life() {
        let fifth_left = days(100 + 72);
        assert!(!life(90).is_late(fifth_left));
        assert!(life(90).is_late(fifth_left.plus(Duration::from_millis(1))));
    }

    #[test]
    fn d191_renewal_is_at_a_random_instant_of_the_window() {
        let window = RenewalWindow::new(days(130), days(132));
        for (fraction, expected) in [(0, days(130)), (u16::MAX, days(132))] {
            assert_eq!(life(90).renew_at(window, fraction, days(101)), expected);
        }
        let middle = life(90).renew_at(window, u16::MAX / 2, days(101));
        assert!(middle > days(130).plus(DAY * 9 / 10) && middle < days(131));
    }

    #[test]
    fn d191_a_window_in_the_past_means_now() {
        let window = RenewalWindow::new(days(101), days(102));
        assert_eq!(life(90).renew_at(window, 0, days(103)), days(103));
    }

    #[test]
    fn d191_a_late_window_does_not_move_the_backstop() {
        let window = RenewalWindow::new(days(200), days(201));
        assert_eq!(life(90).renew_at(window, 0, days(101)), days(160));
        assert_eq!(life(90).renew_at(None, 77, days(101)), days(160));
        assert_eq!(life(90).renew_at(window, 0, days(300)), days(300));
    }

    #[test]
    fn d191_a_window_without_length_is_none() {
        assert_eq!(RenewalWindow::new(days(2), days(2)), None);
        assert_eq!(RenewalWindow::new(days(2), days(1)), None);
    }

    #[test]
    fn d191_the_window_is_asked_twice_a_day_and_never_before_the_authority_allows() {
        let now = days(1);
        let planned = now.plus(Duration::from_hours(12));
        assert_eq!(ask_window_again_at(now, None), planned);
        assert_eq!(ask_window_again_at(now, Some(now.plus(Duration::from_hours(6)))), planned);
        assert_eq!(ask_window_again_at(now, Some(days(3))), days(3));
    }

    proptest! {
        #[test]
        fn d191_renewal_is_never_in_the_past_nor_after_the_backstop(
            begin in 0..=Timestamp::LAST.unix_millis(),
            end in 0..=Timestamp::LAST.unix_millis(),
            window in prop::option::of((0..=Timestamp::LAST.unix_millis(), 0..=Timestamp::LAST.unix_millis())),
            fraction in any::<u16>(),
            now in 0..=Timestamp::LAST.unix_millis(),
        ) {
            let validity = Validity { not_before: instant(begin), not_after: instant(end) };
            let window = window.and_then(|(start, end)| RenewalWindow::new(instant(start), instant(end)));
            let at = validity.renew_at(window, fraction, instant(now));
            prop_assert!(at >= instant(now) && at <= validity.backstop().max(instant(now)));
            prop_assert!(validity.backstop() <= validity.not_after);
        }
    }
}
