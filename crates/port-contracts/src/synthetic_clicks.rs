//! Clicks as they might come, for benchmarks and tests: the same in every run with the same numbers.

use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, RedirectId, Timestamp};

use crate::pseudorandom::Pseudorandom;

const DAY: i64 = 86_400_000;

/// How many different values each dimension has, in the order of [`Dimension::RECORDED`]. Widgets belong to landing pages.
const VALUES: [usize; Dimension::RECORDED.len()] = [12, 60, 4, 8, 12, 20, 500, 20, 6, 40, 1];

/// Clicks of one account in order of time.
#[derive(Debug, Clone, Copy)]
pub struct SyntheticClicks {
    /// Whose.
    pub account: AccountId,
    /// On how many redirects. Their popularity falls as in Zipf's law.
    pub links: u64,
    /// How many clicks.
    pub clicks: u64,
    /// When the first may come.
    pub first: Timestamp,
    /// Over how many days they are spread.
    pub days: u32,
}

impl SyntheticClicks {
    /// The redirect of this number, from 0. The most popular one is the first.
    #[must_use]
    pub fn link(&self, number: u64) -> LinkId {
        // Spread over the ids, so that popular links are no neighbours.
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [account, ..] = self.account.to_bytes();
        let mut bytes = [account; 16];
        bytes[8..].copy_from_slice(&spread.to_be_bytes());
        RedirectId::from_bytes(bytes).into()
    }

    /// Hands each click to `each`.
    pub fn for_each(&self, mut each: impl FnMut(&RecordedClick<'_>)) {
        let values: Vec<Vec<String>> = Dimension::RECORDED
            .iter()
            .zip(VALUES)
            .map(|(dimension, count)| (0..count).map(|number| value(*dimension, number)).collect())
            .collect();
        let mut random = Pseudorandom::new(self.clicks ^ self.links);
        let span = i64::from(self.days) * DAY;
        // A visitor comes about one and a half times a day.
        let visitors_a_day = (self.clicks / u64::from(self.days) * 2 / 3).max(1);
        for number in 0..self.clicks {
            let share = u128::from(number) * u128::try_from(span).unwrap() / u128::from(self.clicks);
            let after = i64::try_from(share).unwrap();
            let at = Timestamp::from_unix_millis(self.first.unix_millis() + after).unwrap();
            let visitor = random.below(visitors_a_day);
            // What a visitor brings along is the visitor's own, the rest is the visit's.
            let mut own = Pseudorandom::new(visitor + 1);
            let mut shown = [""; Dimension::RECORDED.len()];
            for (place, (shown, values)) in shown.iter_mut().zip(&values).enumerate() {
                let random = if (1..6).contains(&place) { &mut own } else { &mut random };
                *shown = &values[skewed(random, values.len())];
            }
            let kind = match random.below(100) {
                0..=6 => RecordedKind::Bot,
                7 => RecordedKind::Blocked,
                _ => RecordedKind::Click,
            };
            let of_day = visitor + u64::try_from(after / DAY).unwrap() * visitors_a_day;
            let hash = of_day.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
            each(&RecordedClick {
                at,
                account: self.account,
                link: self.link(zipf(&mut random, self.links)),
                kind,
                visitor: VisitorHash(hash[2..].try_into().unwrap()),
                values: Values(shown),
            });
        }
    }
}

/// Small numbers more often than great ones.
fn skewed(random: &mut Pseudorandom, bound: usize) -> usize {
    let bound = u64::try_from(bound).unwrap();
    let pick = random.below(bound) * random.below(bound) / bound;
    usize::try_from(pick).unwrap()
}

/// A number below `bound`, where each is about as frequent as its inverse.
fn zipf(random: &mut Pseudorandom, bound: u64) -> u64 {
    let bits = 64 - bound.leading_zeros();
    let most = 1_u64 << random.below(u64::from(bits) + 1).min(63);
    random.below(most.min(bound))
}

fn value(dimension: Dimension, number: usize) -> String {
    match dimension {
        Dimension::Widget => String::new(),
        Dimension::Country => {
            let letter = |number: usize| char::from(b'A' + u8::try_from(number % 26).unwrap());
            format!("{}{}", letter(number / 8), letter(number))
        }
        Dimension::Referrer => format!("www{number}.example.com"),
        _ => format!("{} {number}", dimension.as_str()),
    }
}
