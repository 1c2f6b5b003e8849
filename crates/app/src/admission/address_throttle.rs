//! Counting the events of one address in a calendar minute, in bounded memory (D18, D54).

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

use signpost_domain::{QuotaWindow, Timestamp};

const SHARDS: usize = 16;

/// The maximum number of addresses in a shard. An entry takes about 50 bytes with its share of the table, so all shards
/// together stay below 32 MiB during any attack.
const ENTRIES_PER_SHARD: usize = 28_000;

/// What counts as one address: an IPv4 address, or a /64 of IPv6, since one subscriber gets a whole /64.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// The bits of the address.
    V4(u32),
    /// The first 64 bits.
    V6(u64),
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.to_bits()),
            IpAddr::V6(address) => {
                let [high, second, third, fourth, ..] = address.segments();
                let bits = [high, second, third, fourth];
                Self::V6(bits.into_iter().fold(0, |network, segment| network << 16 | u64::from(segment)))
            }
        }
    }
}

/// An address has used up its events of this minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttled {
    /// The seconds until the minute ends.
    pub retry_after_seconds: u32,
    /// Whether the address is throttled for the first time in this minute.
    pub is_first: bool,
    /// Whether it has had ten times its events in this minute, throttled ones included.
    pub is_tenfold: bool,
}

/// The events of an address in the minute that began at `minute`.
#[derive(Debug, Clone, Copy)]
struct Entry {
    minute: Timestamp,
    count: u32,
    /// Whether the address was told in this minute that it is throttled.
    is_logged: bool,
}

impl Entry {
    /// `None` while the address is below the limit.
    fn throttled(&mut self, count: u32, limit: u32, now: Timestamp) -> Option<Throttled> {
        (count >= limit).then(|| Throttled {
            retry_after_seconds: QuotaWindow::Minute.resets_in_seconds(now),
            is_first: !std::mem::replace(&mut self.is_logged, true),
            is_tenfold: count >= limit.saturating_mul(10),
        })
    }
}

#[derive(Default)]
struct Shard {
    entries: HashMap<Network, Entry>,
    /// The minute in which no entry could be evicted. It saves a scan for every new address of that minute.
    full_in: Option<Timestamp>,
}

/// Limits the events per address and calendar minute.
pub struct AddressThrottle {
    limit: u32,
    shards: [Mutex<Shard>; SHARDS],
    hasher: RandomState,
    /// The last minute in which any address reached the limit, in milliseconds. In any other minute no look-up is needed.
    exhausted_in: AtomicI64,
}

impl AddressThrottle {
    /// A throttle that allows `limit` events per address and minute. 0 turns it off.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self {
            limit,
            shards: std::array::from_fn(|_| Mutex::default()),
            hasher: RandomState::new(),
            exhausted_in: AtomicI64::new(i64::MIN),
        }
    }

    /// Whether the address has used up its events of this minute.
    #[must_use]
    pub fn exhausted(&self, address: IpAddr, now: Timestamp) -> Option<Throttled> {
        if self.limit == 0 {
            return None;
        }
        let minute = QuotaWindow::Minute.start(now);
        if self.exhausted_in.load(Ordering::Acquire) < minute.unix_millis() {
            return None;
        }
        self.with_shard(address.into(), |network, shard| {
            let entry = shard.entries.get_mut(&network).filter(|entry| entry.minute == minute)?;
            entry.throttled(entry.count, self.limit, now)
        })
    }

    /// Counts one event, and returns `Some` if the address had reached the limit before it. Of any number of concurrent
    /// events, exactly `limit` get `None`.
    pub fn count(&self, address: IpAddr, now: Timestamp) -> Option<Throttled> {
        if self.limit == 0 {
            return None;
        }
        let minute = QuotaWindow::Minute.start(now);
        self.with_shard(address.into(), |network, shard| {
            if let Some(entry) = shard.entries.get_mut(&network) {
                if entry.minute != minute {
                    *entry = Entry { minute, count: 0, is_logged: false };
                }
                let before = entry.count;
                entry.count = before.saturating_add(1);
                self.note_exhausted(entry.count, minute);
                return entry.throttled(before, self.limit, now);
            }
            if shard.make_room(minute, self.limit) {
                shard.entries.insert(network, Entry { minute, count: 1, is_logged: false });
                self.note_exhausted(1, minute);
            }
            None
        })
    }

    /// Takes back one event of this minute, which turned out not to be one.
    pub fn forgive(&self, address: IpAddr, now: Timestamp) {
        let minute = QuotaWindow::Minute.start(now);
        self.with_shard(address.into(), |network, shard| {
            if let Some(entry) = shard.entries.get_mut(&network).filter(|entry| entry.minute == minute) {
                entry.count = entry.count.saturating_sub(1);
            }
        });
    }

    fn note_exhausted(&self, count: u32, minute: Timestamp) {
        if count >= self.limit {
            self.exhausted_in.fetch_max(minute.unix_millis(), Ordering::Release);
        }
    }

    fn with_shard<T>(&self, network: Network, f: impl FnOnce(Network, &mut Shard) -> T) -> T {
        let position = usize::try_from(self.hasher.hash_one(network) >> 32).unwrap_or_default() % SHARDS;
        let [first, ..] = &self.shards;
        let shard = self.shards.get(position).unwrap_or(first);
        f(network, &mut shard.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Shard {
    /// Makes room for one more entry. It evicts entries of other minutes first, then addresses that are not throttled.
    /// `false` if every entry is a throttled address of this minute. The new address then goes uncounted, because evicting a
    /// throttled address would admit it again.
    fn make_room(&mut self, minute: Timestamp, limit: u32) -> bool {
        if self.entries.len() < ENTRIES_PER_SHARD {
            return true;
        }
        if self.full_in == Some(minute) {
            return false;
        }
        self.entries.retain(|_, entry| entry.minute == minute);
        if self.entries.len() >= ENTRIES_PER_SHARD {
            self.entries.retain(|_, entry| entry.count >= limit);
        }
        let has_room = self.entries.len() < ENTRIES_PER_SHARD;
        self.full_in = (!has_room).then_some(minute);
        has_room
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    const MINUTE: i64 = 60_000;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_unix_millis(millis).unwrap()
    }

    fn v4(bits: u32) -> IpAddr {
        Ipv4Addr::from_bits(bits).into()
    }

    #[test]
    fn d18_events_above_the_limit_are_throttled_until_the_minute_ends() {
        let throttle = AddressThrottle::new(30);
        for _ in 0..30 {
            assert_eq!(throttle.exhausted(v4(1), at(15_000)), None);
            assert_eq!(throttle.count(v4(1), at(15_000)), None);
        }
        let throttled = |is_first| Some(Throttled { retry_after_seconds: 45, is_first, is_tenfold: false });
        assert_eq!(throttle.exhausted(v4(1), at(15_000)), throttled(true));
        assert_eq!(throttle.exhausted(v4(1), at(15_000)), throttled(false));
        assert_eq!(throttle.count(v4(1), at(15_000)), throttled(false));
        assert_eq!(throttle.exhausted(v4(2), at(15_000)), None);
        assert_eq!(throttle.exhausted(v4(1), at(MINUTE)), None);
        assert_eq!(throttle.count(v4(1), at(MINUTE)), None);
        for _ in 0..29 {
            throttle.count(v4(1), at(MINUTE));
        }
        let first_again = throttle.count(v4(1), at(MINUTE)).unwrap();
        assert!(first_again.is_first, "each minute has a first throttled event");
    }

    #[test]
    fn d54_throttled_events_count_up_to_ten_times_the_limit() {
        let throttle = AddressThrottle::new(3);
        for _ in 0..29 {
            throttle.count(v4(1), at(0));
        }
        assert!(!throttle.exhausted(v4(1), at(0)).unwrap().is_tenfold);
        throttle.count(v4(1), at(0));
        assert!(throttle.exhausted(v4(1), at(0)).unwrap().is_tenfold);
        assert_eq!(throttle.exhausted(v4(1), at(MINUTE)), None);
    }

    #[test]
    fn d18_ipv6_addresses_count_by_their_64_and_mapped_addresses_as_ipv4() {
        let throttle = AddressThrottle::new(1);
        let v6 = |low| IpAddr::from(Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) | low));
        assert_eq!(throttle.count(v6(1), at(0)), None);
        assert!(throttle.exhausted(v6(u128::from(u64::MAX)), at(0)).is_some());
        assert!(throttle.exhausted(v6(1 << 64), at(0)).is_none());
        assert_eq!(throttle.count(v4(0x0a00_0001), at(0)), None);
        let mapped = IpAddr::from(Ipv4Addr::from_bits(0x0a00_0001).to_ipv6_mapped());
        assert!(throttle.exhausted(mapped, at(0)).is_some());
    }

    #[test]
    fn d75_a_forgiven_event_makes_room_for_another() {
        let throttle = AddressThrottle::new(2);
        assert_eq!((throttle.count(v4(1), at(0)), throttle.count(v4(1), at(0))), (None, None));
        throttle.forgive(v4(1), at(0));
        throttle.forgive(v4(2), at(0));
        throttle.forgive(v4(1), at(MINUTE));
        assert_eq!(throttle.count(v4(1), at(0)), None);
        assert!(throttle.count(v4(1), at(0)).is_some());
    }

    #[test]
    fn d18_a_limit_of_zero_turns_the_throttle_off() {
        let throttle = AddressThrottle::new(0);
        for _ in 0..100 {
            assert_eq!(throttle.count(v4(1), at(0)), None);
        }
    }

    #[test]
    fn d18_exactly_the_limit_passes_under_concurrency() {
        let throttle = AddressThrottle::new(30);
        let passed: usize = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8)
                .map(|_| scope.spawn(|| (0..20).filter(|_| throttle.count(v4(1), at(0)).is_none()).count()))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(passed, 30);
    }

    #[test]
    fn d18_memory_is_bounded_and_a_throttled_address_stays_throttled() {
        let throttle = AddressThrottle::new(3);
        let attacker = v4(u32::MAX);
        for _ in 0..3 {
            throttle.count(attacker, at(0));
        }
        for address in 0..1_000_000 {
            throttle.count(v4(address), at(0));
        }
        assert!(throttle.exhausted(attacker, at(0)).is_some());
        for shard in &throttle.shards {
            assert!(shard.lock().unwrap().entries.len() <= ENTRIES_PER_SHARD);
        }
    }

    #[test]
    fn d18_a_full_table_counts_new_addresses_again_in_the_next_minute() {
        let throttle = AddressThrottle::new(1);
        for address in 0..1_000_000 {
            throttle.count(v4(address), at(0));
        }
        assert_eq!(throttle.count(v4(u32::MAX), at(MINUTE)), None);
        assert!(throttle.count(v4(u32::MAX), at(MINUTE)).is_some());
    }
}
