//! A range of ids, from which a list is read.

use signpost_domain::PagePosition;

use crate::columns::{IdBytes, StoredId};

/// The ids from the lowest to the highest, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdRange {
    highest: u128,
    lowest: u128,
}

impl IdRange {
    /// The ids behind a position, or all ids. `None` if nothing can be behind it.
    #[must_use]
    pub fn behind(after: Option<PagePosition>) -> Option<Self> {
        let highest = match after {
            None => u128::MAX,
            Some(position) => u128::from_be_bytes(position.to_bytes()).checked_sub(1)?,
        };
        Some(Self { highest, lowest: 0 })
    }

    /// The part of it that ends with this id.
    #[must_use]
    pub fn up_to(self, id: &StoredId) -> Self {
        Self { highest: self.highest.min(bits(id)), ..self }
    }

    /// The part of it that begins with this id.
    #[must_use]
    pub fn down_to(self, id: &StoredId) -> Self {
        Self { lowest: self.lowest.max(bits(id)), ..self }
    }

    /// The highest id.
    #[must_use]
    pub fn highest(self) -> IdBytes {
        IdBytes::from(PagePosition::behind(self.highest.to_be_bytes()))
    }

    /// The lowest id.
    #[must_use]
    pub fn lowest(self) -> IdBytes {
        IdBytes::from(PagePosition::behind(self.lowest.to_be_bytes()))
    }
}

fn bits(id: &StoredId) -> u128 {
    u128::from_be_bytes(id.position())
}
