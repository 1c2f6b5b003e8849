//! A table of bounded size that forgets what came longest ago.

use hashbrown::HashTable;

/// Entries by hashes that are their own keys. When a generation is full, the one before is forgotten, except for the entries
/// that were put again since.
pub(crate) struct Generations<V> {
    current: HashTable<(u64, V)>,
    previous: HashTable<(u64, V)>,
    /// The maximum number of entries of a generation.
    most: usize,
    /// The number of the current generation.
    pub(crate) generation: u32,
}

/// Which generation knows an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    Current,
    Previous,
    Never,
}

impl<V: Copy> Generations<V> {
    pub(crate) const fn of(most: usize) -> Self {
        Self { current: HashTable::new(), previous: HashTable::new(), most, generation: 0 }
    }

    pub(crate) fn find(&self, hash: u64) -> Option<(Known, V)> {
        let of =
            |table: &HashTable<(u64, V)>| table.find(hash, |known| known.0 == hash).map(|(_, value)| *value);
        let current = of(&self.current).map(|value| (Known::Current, value));
        current.or_else(|| of(&self.previous).map(|value| (Known::Previous, value)))
    }

    pub(crate) fn known(&self, hash: u64) -> Known {
        self.find(hash).map_or(Known::Never, |(known, _)| known)
    }

    /// Puts an entry into the current generation.
    pub(crate) fn put(&mut self, hash: u64, value: V) {
        match self.current.find_mut(hash, |known| known.0 == hash) {
            Some(known) => known.1 = value,
            None => {
                self.current.insert_unique(hash, (hash, value), |known| known.0);
            }
        }
    }

    /// Begins a generation unless the current one has room for this many entries. Returns whether it did.
    pub(crate) fn make_room(&mut self, entries: usize) -> bool {
        let is_full = self.current.len().saturating_add(entries) > self.most;
        if is_full {
            self.rotate();
            // At once, because a table that grows needs its old memory and its new one.
            self.current.reserve(self.most, |known| known.0);
        }
        is_full
    }

    pub(crate) fn rotate(&mut self) {
        self.previous = std::mem::take(&mut self.current);
        self.generation = self.generation.wrapping_add(1);
    }

    pub(crate) fn forget_previous(&mut self) {
        self.previous = HashTable::new();
    }

    /// Changes all entries of the current generation.
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut V)) {
        self.current.iter_mut().for_each(|(_, value)| change(value));
    }

    #[cfg(test)]
    pub(crate) fn bytes(&self) -> usize {
        self.current.allocation_size() + self.previous.allocation_size()
    }
}
