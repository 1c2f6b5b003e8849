//! Realistic synthetic clicks for benchmarks and tests. The same parameters give the same clicks in every run.

use signpost_domain::analytics::{Dimension, RecordedClick, RecordedKind, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, RedirectId, Timestamp};

use crate::pseudorandom::Pseudorandom;

const DAY: i64 = 86_400_000;

/// The number of distinct values of each dimension, in the order of [`Dimension::RECORDED`]. Only landing pages have
/// widgets, so that dimension has one value here.
const VALUES: [usize; Dimension::RECORDED.len()] = [12, 60, 4, 8, 12, 20, 500, 20, 6, 40, 1];

/// Clicks of one account, in chronological order.
#[derive(Debug, Clone, Copy)]
pub struct SyntheticClicks {
    /// The account.
    pub account: AccountId,
    /// The number of redirects. Their popularity follows Zipf's law.
    pub links: u64,
    /// The number of clicks.
    pub clicks: u64,
    /// The earliest instant of a click.
    pub first: Timestamp,
    /// The number of days over which the clicks are spread.
    pub days: u32,
}

impl SyntheticClicks {
    /// The redirect with this number, from 0. Redirect 0 is the most popular.
    #[must_use]
    pub fn link(&self, number: u64) -> LinkId {
        // Spread the ids, so that popular links are not adjacent.
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let [account, ..] = self.account.to_bytes();
        let mut bytes = [account; 16];
        bytes[8..].copy_from_slice(&spread.to_be_bytes());
        RedirectId::from_bytes(bytes).into()
    }

    /// Calls `each` with every click.
    pub fn for_each(&self, mut each: impl FnMut(&RecordedClick<'_>)) {
        let values: Vec<Vec<String>> = Dimension::RECORDED
            .iter()
            .zip(VALUES)
            .map(|(dimension, count)| (0..count).map(|number| value(*dimension, number)).collect())
            .collect();
        let mut random = Pseudorandom::new(self.clicks ^ self.links);
        let span = i64::from(self.days) * DAY;
        // A visitor clicks about one and a half times a day.
        let visitors_a_day = (self.clicks / u64::from(self.days) * 2 / 3).max(1);
        for number in 0..self.clicks {
            let share = u128::from(number) * u128::try_from(span).unwrap() / u128::from(self.clicks);
            let after = i64::try_from(share).unwrap();
            let at = Timestamp::from_unix_millis(self.first.unix_millis() + after).unwrap();
            let visitor = random.below(visitors_a_day);
            // Some dimensions depend on the visitor, the others on the visit.
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

/// A number below `bound`, with small numbers more frequent than large ones.
fn skewed(random: &mut Pseudorandom, bound: usize) -> usize {
    let bound = u64::try_from(bound).unwrap();
    let pick = random.below(bound) * random.below(bound) / bound;
    usize::try_from(pick).unwrap()
}

/// A number below `bound` whose frequency is about inversely proportional to it.
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
