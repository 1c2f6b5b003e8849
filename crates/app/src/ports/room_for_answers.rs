//! The room for one account's remembered answers (D12), and which answers are deleted to make room.

use std::time::Duration;

use signpost_domain::Timestamp;

/// The minimum age at which an answer may be deleted to make room. A client repeats a failed request within minutes.
pub const ANSWERS_KEPT_AT_LEAST: Duration = Duration::from_hours(1);

/// How many bytes of answers are remembered for one account. An hour of bulk creations of a hundred redirects each, at the
/// full budget of the plan `agency`, takes 290 MB. So an honest client hardly ever runs out of room (ADR 28).
pub const ROOM_FOR_ANSWERS: u64 = 512 * 1024 * 1024;

/// Whether an answer is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remembering {
    /// It is remembered.
    Done,
    /// There is no room before this instant, when enough answers may be deleted.
    NoneUntil(Timestamp),
}

/// A remembered answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SizedAnswer {
    /// When it was remembered.
    pub since: Timestamp,
    /// How many bytes it takes.
    pub bytes: u32,
}

/// How to make room for a new answer. Stores keep a sum for each account, and compute this only if the sum exceeds the room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RoomForAnswers {
    /// There is room after the account's oldest answers are deleted.
    After {
        /// All answers up to and including this instant are deleted; `None` if no answer is.
        forgotten_until: Option<Timestamp>,
        /// How many answers are deleted.
        forgotten: usize,
        /// How many bytes the remaining answers and the new one take.
        total: u64,
    },
    /// There is no room before this instant.
    NoneUntil(Timestamp),
}

impl RoomForAnswers {
    /// Makes room for `bytes` among `most`, beside the answers of the account, which are given oldest first.
    ///
    /// If answers must be deleted, it deletes a sixteenth of the room more than needed. Otherwise each further request would
    /// have to look through all answers again.
    #[must_use]
    pub fn among(answers: &[SizedAnswer], bytes: u32, most: u64, now: Timestamp) -> Self {
        let taken: u64 = answers.iter().map(|answer| u64::from(answer.bytes)).sum();
        let mut total = taken.saturating_add(bytes.into());
        let (mut forgotten_until, mut forgotten) = (None, 0);
        if total <= most {
            return Self::After { forgotten_until, forgotten, total };
        }
        let wanted = most - most / 16;
        for answer in answers {
            let may_go_at = answer.since.plus(ANSWERS_KEPT_AT_LEAST);
            let is_of_the_same_instant = forgotten_until == Some(answer.since);
            if total <= wanted && !is_of_the_same_instant {
                break;
            }
            if may_go_at > now {
                if total <= most {
                    break;
                }
                return Self::NoneUntil(
                    Self::granted_at(answers, total, most, forgotten).unwrap_or(may_go_at),
                );
            }
            total = total.saturating_sub(answer.bytes.into());
            forgotten_until = Some(answer.since);
            forgotten += 1;
        }
        if total > most {
            return Self::NoneUntil(now.plus(ANSWERS_KEPT_AT_LEAST));
        }
        Self::After { forgotten_until, forgotten, total }
    }

    /// When enough of the answers after the first `forgotten` may be deleted too.
    fn granted_at(answers: &[SizedAnswer], total: u64, most: u64, forgotten: usize) -> Option<Timestamp> {
        let mut total = total;
        let last = answers.iter().skip(forgotten).find(|answer| {
            total = total.saturating_sub(answer.bytes.into());
            total <= most
        });
        Some(last?.since.plus(ANSWERS_KEPT_AT_LEAST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_unix_millis(minutes * MINUTE).unwrap()
    }

    fn answers(given: &[(i64, u32)]) -> Vec<SizedAnswer> {
        given.iter().map(|(minutes, bytes)| SizedAnswer { since: at(*minutes), bytes: *bytes }).collect()
    }

    fn after(minutes: Option<i64>, forgotten: usize, total: u64) -> RoomForAnswers {
        RoomForAnswers::After { forgotten_until: minutes.map(at), forgotten, total }
    }

    #[test]
    fn d12_nothing_is_deleted_while_there_is_room() {
        let given = answers(&[(0, 40), (100, 40)]);
        assert_eq!(RoomForAnswers::among(&given, 20, 100, at(1_000)), after(None, 0, 100));
        assert_eq!(RoomForAnswers::among(&[], 100, 100, at(0)), after(None, 0, 100));
    }

    #[test]
    fn d12_the_oldest_answers_and_a_sixteenth_more_are_deleted() {
        let given = answers(&[(0, 50), (1, 50), (2, 50), (3, 10)]);
        assert_eq!(RoomForAnswers::among(&given, 1, 160, at(1_000)), after(Some(0), 1, 111));
        assert_eq!(RoomForAnswers::among(&given, 45, 160, at(1_000)), after(Some(1), 2, 105));
    }

    #[test]
    fn d12_answers_of_one_instant_are_deleted_together() {
        let given = answers(&[(0, 50), (0, 50), (0, 50), (3, 10)]);
        assert_eq!(RoomForAnswers::among(&given, 1, 160, at(1_000)), after(Some(0), 3, 11));
    }

    #[test]
    fn d12_no_answer_younger_than_an_hour_is_deleted() {
        let given = answers(&[(0, 50), (10, 50), (20, 50)]);
        // The answers that may be deleted make enough room for the new one, but not for a sixteenth more.
        assert_eq!(RoomForAnswers::among(&given, 50, 151, at(60)), after(Some(0), 1, 150));
        assert_eq!(RoomForAnswers::among(&given, 52, 151, at(60)), RoomForAnswers::NoneUntil(at(70)));
        assert_eq!(RoomForAnswers::among(&given, 52, 151, at(70)), after(Some(10), 2, 102));
        assert_eq!(RoomForAnswers::among(&given, 52, 151, at(59)), RoomForAnswers::NoneUntil(at(70)));
        assert_eq!(RoomForAnswers::among(&given, 50, 151, at(59)), RoomForAnswers::NoneUntil(at(60)));
    }

    #[test]
    fn d12_an_answer_larger_than_the_room_never_fits() {
        let given = answers(&[(0, 50)]);
        assert_eq!(RoomForAnswers::among(&given, 152, 151, at(10)), RoomForAnswers::NoneUntil(at(60)));
        assert_eq!(RoomForAnswers::among(&given, 152, 151, at(90)), RoomForAnswers::NoneUntil(at(150)));
    }
}
