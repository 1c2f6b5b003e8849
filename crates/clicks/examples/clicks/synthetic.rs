//! Synthetic clicks.

use signpost_domain::analytics::{RecordedClick, RecordedKind, UtcDay, Values, VisitorHash};
use signpost_domain::{AccountId, LinkId, LinkKind};

/// The amount and shape of traffic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) accounts: u64,
    /// Per account.
    pub(crate) links: u64,
    pub(crate) days: u64,
    pub(crate) clicks_a_day: u64,
}

/// Pseudorandom numbers, the same in every run.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Small numbers far more often than large ones, close to Zipf's law.
    pub(crate) fn rank(&mut self, end: u64) -> u64 {
        let end = end as f64;
        ((end + 1.0).powf(self.fraction()) - 1.0).min(end - 1.0) as u64
    }
}

/// An id like a ULID: ascending, with 80 random bits.
fn id(sort: u64, number: u64) -> [u8; 16] {
    let mut random = Numbers(sort << 40 | number);
    let made = 1_780_000_000_000 + number * 7_000 + random.below(7_000);
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&made.to_be_bytes()[2..]);
    bytes[6..14].copy_from_slice(&random.next().to_le_bytes());
    bytes[14..].copy_from_slice(&random.next().to_le_bytes()[..2]);
    bytes
}

pub(crate) fn account(number: u64) -> AccountId {
    AccountId::from_bytes(id(1, number))
}

pub(crate) fn link(account: u64, number: u64) -> LinkId {
    LinkId::from_bytes(LinkKind::Redirect, id(1_000 + account, number))
}

pub(crate) fn day(number: u64) -> UtcDay {
    UtcDay::from_number(20_454).plus(u32::try_from(number).unwrap())
}

/// The number of values of each dimension.
const VALUES: [u64; 11] = [9, 120, 4, 9, 14, 45, 400, 30, 8, 60, 0];

/// Clicks in the order of their instants.
pub(crate) struct Traffic {
    pub(crate) shape: Shape,
    names: Vec<Vec<String>>,
}

impl Traffic {
    pub(crate) fn new(shape: Shape) -> Self {
        let names = |(dimension, count): (usize, &u64)| {
            let name = |value: u64| match dimension {
                1 => format!(
                    "{}{}",
                    (b'A' + (value / 26 % 26) as u8) as char,
                    (b'A' + (value % 26) as u8) as char
                ),
                6 => format!("www.referrer-{value}.example"),
                9 => format!("spring-campaign-{value}"),
                _ => format!("value-{value}"),
            };
            (0..*count).map(name).collect()
        };
        Self { shape, names: VALUES.iter().enumerate().map(names).collect() }
    }

    /// The clicks of a day.
    pub(crate) fn day<'a>(&'a self, number: u64, mut each: impl FnMut(&RecordedClick<'a>)) {
        let mut numbers = Numbers(number + 1);
        let count = self.shape.clicks_a_day;
        let visitors = (count * 2 / 3 / self.shape.accounts).max(1);
        let mut instants: Vec<i64> = (0..count).map(|_| numbers.below(86_400_000).cast_signed()).collect();
        instants.sort_unstable();
        for offset in instants {
            let of = numbers.below(self.shape.accounts);
            let visitor = numbers.below(visitors);
            let mut who = Numbers(visitor << 20 | of << 8 | number << 48);
            let hash = who.next().to_le_bytes();
            let at = day(number).first().unix_millis() + offset;
            each(&RecordedClick {
                at: signpost_domain::Timestamp::from_unix_millis(at).unwrap(),
                account: account(of),
                link: link(of, numbers.rank(self.shape.links)),
                kind: match numbers.below(40) {
                    0 | 1 => RecordedKind::Bot,
                    2 => RecordedKind::Blocked,
                    _ => RecordedKind::Click,
                },
                visitor: VisitorHash([hash[0], hash[1], hash[2], hash[3], hash[4], hash[5]]),
                values: self.values(&mut who, &mut numbers),
            });
        }
    }

    /// Country, device, system, browser and language belong to the visitor, the other values to the click.
    fn values(&self, who: &mut Numbers, click: &mut Numbers) -> Values<'_> {
        let tagged = click.below(10) < 3;
        let referred = click.below(10) < 6;
        let mut values = Values::default();
        for (dimension, value) in values.0.iter_mut().enumerate() {
            let numbers = if (1..=5).contains(&dimension) { &mut *who } else { &mut *click };
            let unknown = match dimension {
                6 => !referred,
                7..=9 => !tagged,
                10 => true,
                _ => false,
            };
            if !unknown {
                *value = &self.names[dimension][numbers.rank(VALUES[dimension]) as usize];
            }
        }
        values
    }
}
