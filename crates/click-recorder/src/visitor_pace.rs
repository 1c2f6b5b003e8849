//! Finds visitors who click faster than people do (D48).

use std::collections::HashMap;

use signpost_domain::Timestamp;
use signpost_domain::analytics::VisitorHash;

/// The number of clicks of a visitor in a minute that still count as clicks.
const MAX_CLICKS_A_MINUTE: u32 = 6_000;

/// The number of visitors whose clicks are counted in a minute. Further ones are not judged.
const MAX_VISITORS: usize = 100_000;

const MINUTE_MILLIS: i64 = 60_000;

/// Counts the clicks of each visitor on this node, by minutes of the clock. It takes at most about 4 MiB.
#[derive(Default)]
pub(crate) struct VisitorPace {
    /// The latest even minute and the latest odd one: around the end of a minute clicks of both arrive.
    minutes: [Minute; 2],
}

#[derive(Default)]
struct Minute {
    number: i64,
    clicks: HashMap<VisitorHash, u32>,
}

impl VisitorPace {
    /// Counts a click. Returns whether the visitor has made too many in that minute.
    pub(crate) fn count(&mut self, visitor: VisitorHash, at: Timestamp) -> bool {
        let Minute { clicks, .. } = self.minute(at);
        if clicks.len() >= MAX_VISITORS && !clicks.contains_key(&visitor) {
            return false;
        }
        let count = clicks.entry(visitor).or_default();
        *count = count.saturating_add(1);
        *count > MAX_CLICKS_A_MINUTE
    }

    /// Whether the visitor has made too many clicks in that minute.
    pub(crate) fn is_exceeded(&mut self, visitor: VisitorHash, at: Timestamp) -> bool {
        self.minute(at).clicks.get(&visitor).is_some_and(|count| *count > MAX_CLICKS_A_MINUTE)
    }

    fn minute(&mut self, at: Timestamp) -> &mut Minute {
        let number = at.unix_millis().div_euclid(MINUTE_MILLIS);
        let [even, odd] = &mut self.minutes;
        let minute = if number % 2 == 0 { even } else { odd };
        if minute.number != number {
            minute.number = number;
            minute.clicks.clear();
        }
        minute
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::testing::click;

    fn visitor(number: u32) -> VisitorHash {
        let [a, b, c, d] = number.to_be_bytes();
        VisitorHash([0, 0, a, b, c, d])
    }

    #[test]
    fn d48_visitor_is_too_fast_from_the_6001st_click_of_a_minute() {
        let mut pace = VisitorPace::default();
        let minute = Timestamp::from_unix_millis(click().at.unix_millis() / 60_000 * 60_000).unwrap();
        let (end, next) = (minute.plus(Duration::from_millis(59_999)), minute.plus(Duration::from_mins(1)));
        for number in 0..6_000 {
            let at = if number % 2 == 0 { minute } else { end };
            assert!(!pace.count(visitor(1), at), "click {number}");
        }
        assert!(!pace.is_exceeded(visitor(1), end));
        // Clicks of the next minute arrive before the last ones of this.
        assert!(!pace.count(visitor(1), next));
        assert!(pace.count(visitor(1), end));
        assert!(pace.is_exceeded(visitor(1), end));
        assert!(!pace.count(visitor(2), end) && !pace.is_exceeded(visitor(2), end));
        assert!(!pace.is_exceeded(visitor(1), next));
    }

    #[test]
    fn d48_visitors_beyond_those_counted_are_not_judged() {
        let mut pace = VisitorPace::default();
        let at = click().at;
        let most = u32::try_from(MAX_VISITORS).unwrap();
        for number in 0..most {
            assert!(!pace.count(visitor(number), at));
        }
        for _ in 0..MAX_CLICKS_A_MINUTE {
            assert!(!pace.count(visitor(most), at));
            pace.count(visitor(0), at);
        }
        assert!(!pace.count(visitor(most), at));
        assert!(pace.is_exceeded(visitor(0), at));
        assert_eq!(pace.minute(at).clicks.len(), MAX_VISITORS);
    }
}
