//! Tables that number distinct values by first appearance.

use std::hash::{BuildHasher, Hash};

use foldhash::fast::RandomState;
use hashbrown::{HashMap, HashTable};

use crate::click_rows::Dictionary;
use crate::numbers::{index, number};

/// Numbers distinct keys.
#[derive(Debug)]
pub(crate) struct KeyTable<K> {
    numbers: HashMap<K, u32, RandomState>,
    keys: Vec<K>,
}

impl<K> Default for KeyTable<K> {
    fn default() -> Self {
        Self { numbers: HashMap::default(), keys: Vec::new() }
    }
}

impl<K: Copy + Eq + Hash> KeyTable<K> {
    /// The number of a key. A new key gets the next number.
    pub(crate) fn number(&mut self, key: K) -> u32 {
        *self.numbers.entry(key).or_insert_with(|| {
            self.keys.push(key);
            number(self.keys.len() - 1)
        })
    }

    /// The number of a key, provided that all entries with one key are contiguous. It needs no look-up.
    pub(crate) fn number_in_order(&mut self, key: K) -> u32 {
        if self.keys.last() != Some(&key) {
            self.keys.push(key);
        }
        number(self.keys.len() - 1)
    }

    /// The keys, by their numbers.
    pub(crate) fn keys(&self) -> &[K] {
        &self.keys
    }

    /// The number of keys.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Removes all keys, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        self.keys.clear();
    }
}

/// Numbers distinct texts, stored one after another in one allocation.
#[derive(Debug, Default)]
pub(crate) struct ValueTable {
    numbers: HashTable<u32>,
    hasher: RandomState,
    text: String,
    ends: Vec<usize>,
}

impl ValueTable {
    /// The number of a value. A new value gets the next number.
    pub(crate) fn number(&mut self, value: &str) -> u32 {
        let hash = self.hasher.hash_one(value);
        let Self { numbers, hasher, text, ends } = self;
        if let Some(found) = numbers.find(hash, |known| text_at(text, ends, *known) == value) {
            return *found;
        }
        let new = number(ends.len());
        text.push_str(value);
        ends.push(text.len());
        numbers.insert_unique(hash, new, |known| hasher.hash_one(text_at(text, ends, *known)));
        new
    }

    /// Makes room for this many values, if it has none yet.
    pub(crate) fn make_room(&mut self, values: usize) {
        if self.ends.is_empty() {
            let Self { numbers, hasher, text, ends } = self;
            numbers.reserve(values, |known| hasher.hash_one(text_at(text, ends, *known)));
            ends.reserve(values);
        }
    }

    /// The value with a number; empty if no value has it.
    pub(crate) fn value(&self, number: u32) -> &str {
        text_at(&self.text, &self.ends, number)
    }

    /// The number of values.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The length of all values together.
    pub(crate) fn text_len(&self) -> usize {
        self.text.len()
    }

    /// Removes all values, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        self.text.clear();
        self.ends.clear();
    }
}

impl Dictionary for ValueTable {
    fn count(&self) -> usize {
        self.len()
    }

    fn value(&self, number: u32) -> &str {
        Self::value(self, number)
    }
}

fn text_at<'a>(text: &'a str, ends: &[usize], number: u32) -> &'a str {
    let at = index(number);
    let begin = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    ends.get(at).and_then(|end| text.get(begin..*end)).unwrap_or_default()
}

/// Renumbers items by their appearance in one segment. Starting a new segment costs nothing, however many
/// items exist.
#[derive(Debug, Default)]
pub(crate) struct Renumbering {
    round: u32,
    given: Vec<(u32, u32)>,
    next: u32,
}

impl Renumbering {
    /// Starts again with number 0, with room for this many items.
    pub(crate) fn begin(&mut self, things: usize) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.given.clear();
            self.round = 1;
        }
        if self.given.len() < things {
            self.given.resize(things, (0, 0));
        }
        self.next = 0;
    }

    /// The new number of an item, and whether it was assigned just now.
    pub(crate) fn number(&mut self, thing: u32) -> (u32, bool) {
        let Some(given) = self.given.get_mut(index(thing)) else { return (0, false) };
        if given.0 == self.round {
            return (given.1, false);
        }
        *given = (self.round, self.next);
        self.next += 1;
        (given.1, true)
    }

    /// How many numbers were assigned.
    pub(crate) const fn count(&self) -> u32 {
        self.next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbered_by_first_appearance() {
        let mut table = ValueTable::default();
        let numbers: Vec<u32> = ["", "de", "", "fr", "de", "é"].map(|value| table.number(value)).to_vec();
        assert_eq!(numbers, [0, 1, 0, 2, 1, 3]);
        assert_eq!((table.value(0), table.value(3), table.value(9), table.len()), ("", "é", "", 4));
    }

    #[test]
    fn renumbering_restarts_each_time() {
        let mut numbers = Renumbering::default();
        numbers.begin(3);
        assert_eq!(
            (numbers.number(2), numbers.number(0), numbers.number(2)),
            ((0, true), (1, true), (0, false))
        );
        numbers.begin(3);
        assert_eq!((numbers.number(0), numbers.count()), ((0, true), 1));
        assert_eq!(numbers.number(7), (0, false));
    }
}
