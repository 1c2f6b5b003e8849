//! The wrong passwords of links, counted in a calendar minute (D131). Each node counts its own.
//!
//! A try is noted before its password is checked, so that of any number of concurrent tries no more are wrong than allowed. A right
//! password counts for nothing, and neither does one that could not be checked.
//!
//! The counts are in tables of a fixed size, which are made with the first try: 65,536 addresses at links in 1 MiB, and 16,384 links in
//! 256 KiB. A key has eight places of its table, by a hash that no visitor can foresee. A full set of places gives up the count of
//! another minute, or else the lowest. It never gives up one that is used up or that waits for a verdict: without one to give up, the
//! try is refused.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use signpost_app::admission::address_throttle::Network;
use signpost_domain::{LinkId, QuotaWindow, Timestamp};

/// How many wrong passwords an address may send for a link in a minute. An IPv6 address counts with its /64.
const OF_AN_ADDRESS: u16 = 10;

/// How many wrong passwords all addresses together may send for a link in a minute.
const OF_A_LINK: u16 = 600;

/// How many sets of places the table of addresses at links has.
const ADDRESS_SETS: usize = 8_192;

/// How many sets of places the table of links has.
const LINK_SETS: usize = 2_048;

/// The places in which a key may be.
const PLACES: usize = 8;

/// Why no password may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoTry {
    /// The wrong ones of this minute are used up. It ends in so many seconds.
    UsedUp {
        /// The value of `Retry-After`.
        retry_after_seconds: u32,
    },
    /// They would be if all passwords were wrong that are being checked.
    MayBeUsedUp,
}

/// The wrong passwords of this minute.
pub(crate) struct PasswordTries {
    of_addresses: Table,
    of_links: Table,
}

impl PasswordTries {
    pub(crate) fn new() -> Self {
        Self {
            of_addresses: Table::new(OF_AN_ADDRESS, ADDRESS_SETS),
            of_links: Table::new(OF_A_LINK, LINK_SETS),
        }
    }

    /// Whether an address may try a password of a link at `now`, without noting a try.
    pub(crate) fn judge(&self, link: LinkId, address: IpAddr, now: Timestamp) -> Result<(), NoTry> {
        let minute = minute_of(now);
        if self.of_addresses.is_used_up(self.address_key(link, address), minute)
            || self.of_links.is_used_up(self.link_key(link), minute)
        {
            return Err(used_up(now));
        }
        Ok(())
    }

    /// Notes a try. It counts as a wrong password unless it is [forgiven](Try::forgive).
    pub(crate) fn begin(&self, link: LinkId, address: IpAddr, now: Timestamp) -> Result<Try<'_>, NoTry> {
        let minute = minute_of(now);
        let (address_key, link_key) = (self.address_key(link, address), self.link_key(link));
        let no_try = |beginning| match beginning {
            Beginning::Noted => None,
            Beginning::UsedUp => Some(used_up(now)),
            Beginning::MayBeUsedUp => Some(NoTry::MayBeUsedUp),
        };
        if let Some(refusal) = no_try(self.of_addresses.begin(address_key, minute)) {
            return Err(refusal);
        }
        if let Some(refusal) = no_try(self.of_links.begin(link_key, minute)) {
            self.of_addresses.end(address_key, minute, false);
            return Err(refusal);
        }
        Ok(Try { tries: self, link, address_key, link_key, minute, is_wrong: true })
    }

    fn address_key(&self, link: LinkId, address: IpAddr) -> u64 {
        self.of_addresses.hasher.hash_one((link, Network::from(address)))
    }

    fn link_key(&self, link: LinkId) -> u64 {
        self.of_links.hasher.hash_one(link)
    }
}

fn used_up(now: Timestamp) -> NoTry {
    NoTry::UsedUp { retry_after_seconds: QuotaWindow::Minute.resets_in_seconds(now) }
}

/// The number of the minute.
fn minute_of(now: Timestamp) -> u32 {
    u32::try_from(now.unix_millis() / 60_000).unwrap_or_default()
}

/// A password that is being tried. It counts as a wrong one when it is dropped, also if its visitor has gone.
pub(crate) struct Try<'a> {
    tries: &'a PasswordTries,
    link: LinkId,
    address_key: u64,
    link_key: u64,
    minute: u32,
    is_wrong: bool,
}

impl Try<'_> {
    /// Takes the try back: the password was right, or could not be checked.
    pub(crate) fn forgive(mut self) {
        self.is_wrong = false;
    }
}

impl Drop for Try<'_> {
    fn drop(&mut self) {
        let Self { tries, link, address_key, link_key, minute, is_wrong } = *self;
        tries.of_addresses.end(address_key, minute, is_wrong);
        if tries.of_links.end(link_key, minute, is_wrong) {
            // Without the addresses, which are visitors'.
            tracing::warn!(
                %link,
                wrong = OF_A_LINK,
                "visitors have sent as many wrong passwords for a link as all may in a minute; it opens for nobody until the minute ends"
            );
        }
    }
}

/// The outcome of noting a try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beginning {
    Noted,
    UsedUp,
    MayBeUsedUp,
}

/// What is counted for one key.
#[derive(Debug, Clone, Copy)]
struct Entry {
    key: u64,
    minute: u32,
    /// The wrong passwords of the minute.
    wrong: u16,
    /// The passwords that are being checked, of any minute.
    pending: u16,
}

impl Entry {
    const NONE: Self = Self { key: 0, minute: 0, wrong: 0, pending: 0 };
}

/// Counts by key, in a fixed number of places.
struct Table {
    /// How many wrong passwords a key may have in a minute.
    limit: u16,
    hasher: RandomState,
    number_of_sets: usize,
    sets: OnceLock<Mutex<Box<[[Entry; PLACES]]>>>,
}

impl Table {
    fn new(limit: u16, number_of_sets: usize) -> Self {
        Self { limit, hasher: RandomState::new(), number_of_sets, sets: OnceLock::new() }
    }

    fn is_used_up(&self, key: u64, minute: u32) -> bool {
        self.with_set(key, |set| {
            let entry = set.iter().find(|entry| entry.key == key && entry.minute == minute);
            entry.is_some_and(|entry| entry.wrong >= self.limit)
        })
    }

    fn begin(&self, key: u64, minute: u32) -> Beginning {
        self.with_set(key, |set| {
            let Some(entry) = place_in(set, key, minute, self.limit) else { return Beginning::UsedUp };
            if entry.wrong >= self.limit {
                return Beginning::UsedUp;
            }
            if entry.wrong.saturating_add(entry.pending) >= self.limit {
                return Beginning::MayBeUsedUp;
            }
            entry.pending += 1;
            Beginning::Noted
        })
    }

    /// Ends a try that was noted in `minute`. Returns whether it used up the last wrong password of the minute.
    fn end(&self, key: u64, minute: u32, is_wrong: bool) -> bool {
        self.with_set(key, |set| {
            // It is there, because an entry with a pending try keeps its place.
            let Some(entry) = set.iter_mut().find(|entry| entry.key == key) else { return false };
            entry.pending = entry.pending.saturating_sub(1);
            if !is_wrong || entry.minute != minute {
                return false;
            }
            entry.wrong = entry.wrong.saturating_add(1);
            entry.wrong == self.limit
        })
    }

    fn with_set<T>(&self, key: u64, f: impl FnOnce(&mut [Entry]) -> T) -> T {
        let mut sets = self.sets();
        let number = usize::try_from(key >> 32).unwrap_or_default() % self.number_of_sets.max(1);
        match sets.get_mut(number) {
            Some(set) => f(set),
            None => f(&mut []),
        }
    }

    /// No code panics while it holds the lock.
    fn sets(&self) -> MutexGuard<'_, Box<[[Entry; PLACES]]>> {
        let none = || Mutex::new(vec![[Entry::NONE; PLACES]; self.number_of_sets].into_boxed_slice());
        self.sets.get_or_init(none).lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The entry of `key` at `minute`, which takes another one's place if it is new. `None` if no other one may be given up.
fn place_in(set: &mut [Entry], key: u64, minute: u32, limit: u16) -> Option<&mut Entry> {
    let found = set.iter().position(|entry| entry.key == key);
    let place = found.or_else(|| {
        let may_go = |entry: &Entry| entry.pending == 0 && (entry.minute != minute || entry.wrong < limit);
        let candidates = set.iter().enumerate().filter(|(_, entry)| may_go(entry));
        candidates.min_by_key(|(_, entry)| (entry.minute == minute, entry.wrong)).map(|(place, _)| place)
    })?;
    let entry = set.get_mut(place)?;
    if found.is_none() {
        *entry = Entry { key, minute, ..Entry::NONE };
    } else if entry.minute != minute {
        *entry = Entry { minute, wrong: 0, ..*entry };
    }
    Some(entry)
}

#[cfg(test)]
#[path = "password_tries_tests.rs"]
mod tests;
