//! When the dependencies of a cached answer last changed.
//!
//! Every change gets a moment: the next number. A slot holds the moment of the last change of any address,
//! custom hostname or account that hashes to it. An answer is as of the moment read **before** its load
//! began, and holds as long as none of its slots has a later one.
//!
//! So one number in an answer covers all its dependencies, including accounts and addresses that only the
//! load finds. A load that a change overtakes can never restore an old answer. Two things that share a slot
//! expire together, which costs only a load.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use signpost_app::ports::{Affected, VisibleChange};
use signpost_domain::{AccountId, Address, Hostname, Site};

use crate::account_numbers::AccountNumbers;

/// Number of slots. With eight bytes each they fit the second-level cache of a core.
const SLOTS: usize = 1 << 16;

/// A moment in the order of changes. Later moments are greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(u64);

impl Moment {
    pub(crate) const fn from_number(number: u64) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u64 {
        self.0
    }
}

/// Where the moment of the last change is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u16);

impl Slot {
    const fn of_hash(hash: u64) -> Self {
        let [first, second, ..] = hash.to_be_bytes();
        Self(u16::from_be_bytes([first, second]))
    }

    pub(crate) const fn from_bytes(bytes: [u8; 2]) -> Self {
        Self(u16::from_le_bytes(bytes))
    }

    pub(crate) const fn to_bytes(self) -> [u8; 2] {
        self.0.to_le_bytes()
    }
}

/// The hash of a site. All names of the system domain share one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SiteHash(u64);

impl SiteHash {
    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    pub(crate) const fn slot(self) -> Slot {
        Slot::of_hash(self.0)
    }
}

/// The hash of an address. It is keyed, so visitors cannot construct collisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressHash(u64);

impl AddressHash {
    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    pub(crate) const fn slot(self) -> Slot {
        Slot::of_hash(self.0)
    }
}

/// The moments of the last changes.
pub(crate) struct Generations {
    now: AtomicU64,
    /// When the operator's list of targets last changed, and its version then.
    listed: AtomicU64,
    list_version: AtomicU64,
    slots: Box<[AtomicU64]>,
    /// Held while a change is noted. Visits never take it.
    noting: Mutex<()>,
    hasher: RandomState,
    /// The numbers of the accounts that answers depend on.
    pub(crate) accounts: AccountNumbers,
}

impl Generations {
    /// Starts without changes, with the operator's list in this version.
    pub(crate) fn new(list_version: u64) -> Self {
        Self {
            now: AtomicU64::new(0),
            listed: AtomicU64::new(0),
            list_version: AtomicU64::new(list_version),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            noting: Mutex::default(),
            hasher: RandomState::new(),
            accounts: AccountNumbers::new(),
        }
    }

    /// The moment to record for a load that begins now.
    pub(crate) fn now(&self) -> Moment {
        Moment(self.now.load(Ordering::Acquire))
    }

    /// Whether everything in `slot` is unchanged since `moment`.
    pub(crate) fn is_unchanged(&self, slot: Slot, moment: Moment) -> bool {
        self.slots.get(usize::from(slot.0)).is_some_and(|changed| changed.load(Ordering::Acquire) <= moment.0)
    }

    /// The moment since which the operator's list has this version. Answers as of an earlier moment must be
    /// compared with the list again.
    pub(crate) fn listed(&self, list_version: u64) -> Moment {
        if self.list_version.load(Ordering::Acquire) != list_version {
            self.note(|moment| {
                self.listed.store(moment, Ordering::Release);
                self.list_version.store(list_version, Ordering::Release);
            });
        }
        Moment(self.listed.load(Ordering::Acquire))
    }

    pub(crate) fn note_change(&self, change: &VisibleChange) {
        let VisibleChange { account, affected } = change;
        match affected {
            Affected::Addresses(addresses) => {
                let slots: Vec<Slot> =
                    addresses.iter().map(|address| self.address_hash_of(address).slot()).collect();
                self.note_slots(&slots);
            }
            Affected::Domain(hostname) => self.note_slots(&[self.custom_site(hostname).slot()]),
            Affected::Account => self.note_slots(&[self.account_slot(*account)]),
        }
    }

    /// Notes that anything may have changed.
    pub(crate) fn note_gap(&self) {
        self.note(|moment| {
            for slot in &self.slots {
                slot.store(moment, Ordering::Release);
            }
        });
    }

    fn note_slots(&self, slots: &[Slot]) {
        self.note(|moment| {
            for slot in slots {
                if let Some(slot) = self.slots.get(usize::from(slot.0)) {
                    slot.store(moment, Ordering::Release);
                }
            }
        });
    }

    /// Issues the next moment. Changes are noted one after the other, so a thread that sees a moment also
    /// sees all earlier changes.
    fn note(&self, note: impl FnOnce(u64)) {
        let _noting = self.noting.lock().unwrap_or_else(PoisonError::into_inner);
        // A load that begins after this reads the noted change, which was committed before.
        let moment = self.now.fetch_add(1, Ordering::AcqRel) + 1;
        note(moment);
    }

    /// The hash of the system domain.
    pub(crate) fn system_site(&self) -> SiteHash {
        SiteHash(self.hasher.hash_one(()))
    }

    /// The hash of a custom domain.
    pub(crate) fn custom_site(&self, hostname: &Hostname) -> SiteHash {
        SiteHash(self.hasher.hash_one(hostname.as_str()))
    }

    /// The hash of the address with this slug; `None` is the root.
    pub(crate) fn address_hash(&self, site: SiteHash, slug: Option<&str>) -> AddressHash {
        let mut hasher = self.hasher.build_hasher();
        hasher.write_u64(site.0);
        // No slug is empty.
        hasher.write(slug.unwrap_or_default().as_bytes());
        AddressHash(hasher.finish())
    }

    /// The hash of an address.
    pub(crate) fn address_hash_of(&self, address: &Address) -> AddressHash {
        let site = match &address.site {
            Site::System => self.system_site(),
            Site::Custom(hostname) => self.custom_site(hostname),
        };
        self.address_hash(site, address.slug.as_ref().map(signpost_domain::Slug::as_str))
    }

    /// The slots that note changes at an address: its own, and that of its custom domain.
    pub(crate) fn slots_of(&self, address: &Address) -> impl Iterator<Item = Slot> {
        let site = match &address.site {
            Site::System => None,
            Site::Custom(hostname) => Some(self.custom_site(hostname).slot()),
        };
        std::iter::once(self.address_hash_of(address).slot()).chain(site)
    }

    /// The slot of an account. Visitors do not choose account ids, so folding suffices.
    #[expect(clippy::unused_self, reason = "the table of slots decides where slots are")]
    pub(crate) fn account_slot(&self, account: AccountId) -> Slot {
        let bits = u128::from_be_bytes(account.to_bytes());
        let [high, low] =
            [bits >> 64, bits & u128::from(u64::MAX)].map(|half| u64::try_from(half).unwrap_or_default());
        Slot::of_hash((high ^ low.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use signpost_port_contracts::samples;

    use super::*;

    fn change(slug: &str) -> VisibleChange {
        let addresses = [samples::on_system(slug).address().unwrap()].into();
        VisibleChange { account: samples::id(), affected: Affected::Addresses(addresses) }
    }

    fn slot(generations: &Generations, slug: &str) -> Slot {
        generations.address_hash(generations.system_site(), Some(slug)).slot()
    }

    #[test]
    fn r12_change_ends_earlier_loads_and_no_later_ones() {
        let generations = Generations::new(0);
        let before = generations.now();
        assert!(generations.is_unchanged(slot(&generations, "a"), before));
        generations.note_change(&change("a"));
        assert!(!generations.is_unchanged(slot(&generations, "a"), before));
        assert!(generations.is_unchanged(slot(&generations, "a"), generations.now()));
    }

    #[test]
    fn r12_changed_domains_and_accounts_and_gaps_end_dependent_answers() {
        let generations = Generations::new(0);
        let account = samples::id();
        let hostname = samples::hostname("links.example.net");
        let slots = [generations.custom_site(&hostname).slot(), generations.account_slot(account)];
        for (affected, ended) in
            [(Affected::Domain(hostname), [false, true]), (Affected::Account, [true, false])]
        {
            let before = generations.now();
            generations.note_change(&VisibleChange { account, affected });
            assert_eq!(slots.map(|slot| generations.is_unchanged(slot, before)), ended);
        }
        let before = generations.now();
        generations.note_gap();
        assert!((0..=u16::MAX).all(|slot| !generations.is_unchanged(Slot(slot), before)));
    }

    #[test]
    fn r33_each_list_version_begins_its_own_moment() {
        let generations = Generations::new(7);
        let before = generations.now();
        assert_eq!(generations.listed(7), before);
        let listed = generations.listed(8);
        assert!(listed > before);
        assert_eq!(generations.listed(8), listed);
        assert!(generations.listed(7) > listed, "an older list also starts a new moment");
    }

    #[test]
    fn system_domain_is_one_site_and_each_custom_domain_another() {
        let generations = Generations::new(0);
        let custom = generations.custom_site(&samples::hostname("links.example.net"));
        assert_ne!(generations.system_site(), custom);
        let hash = |site, slug| generations.address_hash(site, slug).number();
        assert_ne!(hash(generations.system_site(), Some("a")), hash(custom, Some("a")));
        assert_ne!(hash(custom, None), hash(custom, Some("a")));
        let address = samples::on_custom("links.example.net", None).address().unwrap();
        assert_eq!(generations.address_hash_of(&address).number(), hash(custom, None));
    }

    /// The next step of a thread in the model below.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// The store gets a new value, which the node has not read yet.
        Commit,
        /// The node notes the change that was committed last.
        Note,
        /// A load begins: it takes the moment, then reads.
        Begin,
        /// The oldest load ends and caches its answer.
        End,
        /// A visit reads the cache.
        Visit,
    }

    proptest! {
        /// Once a change is noted, no visit gets an older answer, in any order of steps.
        #[test]
        fn r12_no_order_of_loads_and_changes_restores_an_old_answer(
            steps in proptest::collection::vec(
                prop_oneof![
                    Just(Step::Commit), Just(Step::Note), Just(Step::Begin), Just(Step::End), Just(Step::Visit),
                ],
                0..60,
            ),
        ) {
            let generations = Generations::new(0);
            let slot = slot(&generations, "a");
            let (mut stored, mut noted) = (0, 0);
            let mut loads = std::collections::VecDeque::new();
            let mut memory: Option<(Moment, u32)> = None;
            for step in steps {
                match step {
                    Step::Commit => stored += 1,
                    Step::Note => {
                        generations.note_change(&change("a"));
                        noted = stored;
                    }
                    Step::Begin => {
                        let moment = generations.now();
                        loads.push_back((moment, stored));
                    }
                    Step::End => memory = loads.pop_front().or(memory),
                    Step::Visit => {
                        if let Some((moment, value)) = memory
                            && generations.is_unchanged(slot, moment)
                        {
                            prop_assert!(value >= noted, "{} after {}", value, noted);
                        }
                    }
                }
            }
        }
    }
}
