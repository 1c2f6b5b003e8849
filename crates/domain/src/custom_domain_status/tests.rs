use proptest::prelude::*;

use super::*;

const HOUR: i64 = 3_600_000;
const PERIOD: i64 = 72 * HOUR;
const LAST: i64 = 253_402_300_799_999;
const NAMES: [&str; 4] = ["pending", "ssl_pending", "active", "failed"];

fn instant(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

const fn pending(expires_at: Timestamp) -> CustomDomainStatus {
    CustomDomainStatus::Pending { expires_at }
}

const fn ssl_pending(expires_at: Timestamp) -> CustomDomainStatus {
    CustomDomainStatus::SslPending { expires_at }
}

const fn active(misdirected_since: Option<Timestamp>) -> CustomDomainStatus {
    CustomDomainStatus::Active { misdirected_since }
}

/// The transition table of D39, written a second time with names: the result of each event in each state
/// while no deadline has passed. `None` means no change.
fn moves_to(from: &str, event: DomainEvent) -> Option<&'static str> {
    match (from, event) {
        ("pending", DomainEvent::Proven) => Some("ssl_pending"),
        ("pending", DomainEvent::Displaced) => Some("failed"),
        ("ssl_pending", DomainEvent::CertificateReady) => Some("active"),
        ("failed", DomainEvent::Reclaimed) => Some("pending"),
        _ => None,
    }
}

#[test]
fn d39_only_the_transitions_of_the_table_exist() {
    let now = instant(HOUR);
    let later = instant(2 * HOUR);
    for status in
        [pending(later), ssl_pending(later), active(None), active(Some(now)), CustomDomainStatus::Failed]
    {
        for event in DomainEvent::ALL {
            let after = status.after(event, now);
            match moves_to(status.as_str(), event) {
                Some(name) => assert_eq!(after.as_str(), name, "{status:?} {event:?}"),
                None if matches!(status, CustomDomainStatus::Active { .. }) => {
                    assert_eq!(after.as_str(), "active", "{status:?} {event:?}");
                }
                None => assert_eq!(after, status, "{event:?}"),
            }
        }
    }
}

#[test]
fn d39_each_transition_sets_its_own_deadline() {
    let now = instant(HOUR);
    let end = instant(HOUR + PERIOD);
    assert_eq!(CustomDomainStatus::claimed(now), pending(end));
    assert_eq!(pending(instant(2 * HOUR)).after(DomainEvent::Proven, now), ssl_pending(end));
    assert_eq!(ssl_pending(instant(2 * HOUR)).after(DomainEvent::CertificateReady, now), active(None));
    assert_eq!(CustomDomainStatus::Failed.after(DomainEvent::Reclaimed, now), pending(end));
    // A domain that failed by a deadline can be claimed again, too.
    assert_eq!(pending(now).after(DomainEvent::Reclaimed, now), pending(end));
    assert_eq!(ssl_pending(now).after(DomainEvent::Reclaimed, now), pending(end));
}

/// Contract D39, R22: a millisecond before 72 hours, at 72 hours, and a millisecond after.
#[test]
fn d39_deadlines_are_exact_to_the_millisecond() {
    let start = instant(HOUR);
    let claimed = CustomDomainStatus::claimed(start);
    let proven = claimed.after(DomainEvent::Proven, start);
    for (status, event, next) in
        [(claimed, DomainEvent::Proven, "ssl_pending"), (proven, DomainEvent::CertificateReady, "active")]
    {
        let before = instant(HOUR + PERIOD - 1);
        assert_eq!(status.at(before), status);
        assert_eq!(status.after(event, before).as_str(), next);
        for late in [instant(HOUR + PERIOD), instant(HOUR + PERIOD + 1), Timestamp::LAST] {
            assert_eq!(status.at(late), CustomDomainStatus::Failed);
            assert_eq!(status.after(event, late), CustomDomainStatus::Failed);
        }
    }
}

/// Contract D39, R22: the first answer after 72 hours or more fails it, an earlier one does not.
#[test]
fn d39_an_active_domain_fails_after_72_hours_of_pointing_elsewhere() {
    let seen = active(None).after(DomainEvent::PointsElsewhere, instant(HOUR));
    assert_eq!(seen, active(Some(instant(HOUR))));
    for (late, name) in [(PERIOD - 1, "active"), (PERIOD, "failed"), (PERIOD + 1, "failed")] {
        assert_eq!(seen.after(DomainEvent::PointsElsewhere, instant(HOUR + late)).as_str(), name, "{late}");
    }
    // An answer in between does not move the start.
    let again = seen.after(DomainEvent::PointsElsewhere, instant(5 * HOUR));
    assert_eq!(again, seen);
    // A clock that was set back does not move it either.
    assert_eq!(seen.after(DomainEvent::PointsElsewhere, Timestamp::EPOCH), seen);
    // One right answer ends the period.
    let back = again.after(DomainEvent::PointsHere, instant(HOUR + PERIOD));
    assert_eq!(back, active(None));
    assert_eq!(back.after(DomainEvent::PointsElsewhere, instant(HOUR + PERIOD)).as_str(), "active");
}

/// R21: a look-up without an answer is not an event, so time alone does not fail an active domain (contract
/// D42).
#[test]
fn d42_silence_never_fails_an_active_domain() {
    for status in [active(None), active(Some(Timestamp::EPOCH))] {
        assert_eq!(status.at(Timestamp::LAST), status);
    }
}

#[test]
fn d41_only_an_unproven_claim_is_displaced() {
    let now = instant(HOUR);
    let later = instant(2 * HOUR);
    assert_eq!(pending(later).after(DomainEvent::Displaced, now), CustomDomainStatus::Failed);
    for status in [ssl_pending(later), active(None), active(Some(Timestamp::EPOCH))] {
        assert_eq!(status.after(DomainEvent::Displaced, now), status);
    }
}

/// R7: what each state allows (contract D39, D41, D44), and what it shows.
#[test]
fn d44_each_state_grants_only_its_rights() {
    let end = instant(HOUR);
    for (status, name, expires_at, deadline, [serves, certificate, holds]) in [
        (pending(end), NAMES[0], Some(end), Some(end), [false, false, true]),
        (ssl_pending(end), NAMES[1], None, Some(end), [false, true, true]),
        (active(None), NAMES[2], None, None, [true, true, true]),
        (active(Some(end)), NAMES[2], None, None, [true, true, true]),
        (CustomDomainStatus::Failed, NAMES[3], None, None, [false, false, false]),
    ] {
        assert_eq!(status.as_str(), name);
        assert_eq!((status.expires_at(), status.deadline()), (expires_at, deadline), "{name}");
        let granted = [status.serves_links(), status.may_have_certificate(), status.holds_hostname()];
        assert_eq!(granted, [serves, certificate, holds], "{name}");
    }
}

/// R22: near the end of the calendar a deadline stops at the last instant; elsewhere the period stays 72
/// hours.
#[test]
fn d39_the_ends_of_the_calendar_hold() {
    assert_eq!(CustomDomainStatus::claimed(Timestamp::LAST), pending(Timestamp::LAST));
    assert_eq!(CustomDomainStatus::claimed(Timestamp::EPOCH), pending(instant(PERIOD)));
    let late = active(Some(instant(LAST - PERIOD + 1)));
    assert_eq!(late.after(DomainEvent::PointsElsewhere, Timestamp::LAST), late);
    let in_time = active(Some(instant(LAST - PERIOD)));
    assert_eq!(in_time.after(DomainEvent::PointsElsewhere, Timestamp::LAST), CustomDomainStatus::Failed);
}

fn events() -> impl Strategy<Value = DomainEvent> {
    prop::sample::select(DomainEvent::ALL.to_vec())
}

/// A start and steps of a clock. Most steps go forward, some by a whole period to the millisecond, and some
/// go back. Starts are also near both ends of the calendar.
fn histories() -> impl Strategy<Value = (i64, Vec<(DomainEvent, i64)>)> {
    let start = prop_oneof![Just(0), 0..=LAST, LAST - PERIOD..=LAST];
    let step = prop_oneof![
        4 => 0..=HOUR,
        3 => PERIOD / 2..=PERIOD,
        2 => prop::sample::select(vec![PERIOD - 1, PERIOD, PERIOD + 1]),
        2 => -24 * HOUR..=0,
        1 => -LAST..=LAST,
    ];
    (start, prop::collection::vec((events(), step), 1..40))
}

proptest! {
    /// In any sequence of events, each step follows the table and each failure has its reason (contract D39).
    #[test]
    fn d39_every_sequence_follows_the_table((start, steps) in histories()) {
        let mut millis = start;
        let mut status = CustomDomainStatus::claimed(instant(start));
        for (event, step) in steps {
            millis = (millis + step).clamp(0, LAST);
            let now = instant(millis);
            let read = status.at(now);
            let expired = status.deadline().is_some_and(|deadline| deadline <= now);
            prop_assert_eq!(read, if expired { CustomDomainStatus::Failed } else { status });
            let after = status.after(event, now);

            let expected = match (read, event) {
                (CustomDomainStatus::Active { misdirected_since: Some(since) }, DomainEvent::PointsElsewhere)
                    if millis - since.unix_millis() >= PERIOD => "failed",
                _ => moves_to(read.as_str(), event).unwrap_or(read.as_str()),
            };
            prop_assert_eq!(after.as_str(), expected);
            if after.as_str() != read.as_str() {
                let deadline = after.deadline().map(Timestamp::unix_millis);
                let has_one = matches!(expected, "pending" | "ssl_pending");
                prop_assert_eq!(deadline, has_one.then(|| (millis + PERIOD).min(LAST)));
            } else if !matches!(read, CustomDomainStatus::Active { .. }) {
                prop_assert_eq!(after, read);
            }
            status = after;
        }
    }

    /// A repeated event changes nothing, with one exception: a claim at the last instant of the calendar
    /// expires at once.
    #[test]
    fn d39_events_are_idempotent((start, steps) in histories()) {
        let mut millis = start;
        let mut status = CustomDomainStatus::claimed(instant(start));
        for (event, step) in steps {
            millis = (millis + step).clamp(0, LAST - 1);
            let now = instant(millis);
            status = status.after(event, now);
            prop_assert_eq!(status.after(event, now), status);
            prop_assert_eq!(status.at(now), status);
        }
    }

    /// R7: without `Proven` and `CertificateReady`, no sequence of events serves links or gets a certificate.
    #[test]
    fn d39_nothing_is_served_without_proof((start, steps) in histories()) {
        let mut millis = start;
        let mut unproven = CustomDomainStatus::claimed(instant(start));
        let mut uncertified = unproven;
        for (event, step) in steps {
            millis = (millis + step).clamp(0, LAST);
            if event != DomainEvent::Proven {
                unproven = unproven.after(event, instant(millis));
                prop_assert!(!unproven.may_have_certificate() && !unproven.serves_links());
            }
            if event != DomainEvent::CertificateReady {
                uncertified = uncertified.after(event, instant(millis));
                prop_assert!(!uncertified.serves_links());
            }
        }
    }

    /// Reading the status changes nothing, and a domain that reads as failed stays failed at all later
    /// instants.
    #[test]
    fn d39_reading_is_monotonic(start in 0..=LAST, first in 0..=LAST, second in 0..=LAST) {
        let status = CustomDomainStatus::claimed(instant(start));
        let (early, late) = (instant(first.min(second)), instant(first.max(second)));
        prop_assert_eq!(status.at(early).at(late), status.at(late));
        if status.at(early) == CustomDomainStatus::Failed {
            prop_assert_eq!(status.at(late), CustomDomainStatus::Failed);
        }
    }
}
