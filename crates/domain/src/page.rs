//! Pages of lists: newest first, by position instead of page numbers (contract "Pagination rules", D11).

use crate::violation::{FieldError, ViolationCode};

/// The number of items on a page: 1 to 100 for callers, 25 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLimit(u16);

impl PageLimit {
    /// The largest number of items that a caller can ask for.
    pub const MAX: Self = Self(100);

    /// The links that a change by filter reads of a list at once, and the most that one unit of work changes (D124). No answer shows such
    /// a page.
    pub const OF_UNIT_OF_WORK: Self = Self(1_000);

    /// Checks a number of items that a caller asks for.
    pub fn new(items: u64) -> Result<Self, FieldError> {
        match u16::try_from(items) {
            Ok(items) if (1..=Self::MAX.0).contains(&items) => Ok(Self(items)),
            Ok(_) | Err(_) => Err(FieldError::new(ViolationCode::OutOfRange, "must be from 1 to 100")),
        }
    }

    /// The number of items.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl Default for PageLimit {
    fn default() -> Self {
        Self(25)
    }
}

/// A position in a list: after the item with these id bits. Lists are ordered by id, newest first, and ids
/// never change. So new and deleted items do not move the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PagePosition([u8; 16]);

impl PagePosition {
    /// The position after the item with these id bits.
    #[must_use]
    pub const fn behind(id: [u8; 16]) -> Self {
        Self(id)
    }

    /// The id bits of the item before this position.
    #[must_use]
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, newest first.
    pub items: Vec<T>,
    /// The position of the next page; `None` on the last page.
    pub next: Option<PagePosition>,
    /// The number of items that were left out because their rows are unreadable (ADR 35).
    pub left_out: usize,
}

impl<T> Page<T> {
    /// An empty last page.
    #[must_use]
    pub const fn empty() -> Self {
        Self { items: Vec::new(), next: None, left_out: 0 }
    }

    /// Makes a page from up to `limit + 1` items that a store read. The additional item only shows that a
    /// next page exists. `id_of` returns an item's id bits.
    ///
    /// ```
    /// # use signpost_domain::{Page, PageLimit};
    /// let limit = PageLimit::new(2).unwrap();
    /// let page = Page::from_one_more(vec![9_u8, 8, 7], limit, |item| [*item; 16]);
    /// assert_eq!(page.items, [9, 8]);
    /// assert_eq!(page.next.unwrap().to_bytes(), [8; 16]);
    /// ```
    #[must_use]
    pub fn from_one_more(mut items: Vec<T>, limit: PageLimit, id_of: impl Fn(&T) -> [u8; 16]) -> Self {
        let limit = usize::from(limit.get());
        if items.len() <= limit {
            return Self { items, next: None, left_out: 0 };
        }
        items.truncate(limit);
        let next = items.last().map(|last| PagePosition::behind(id_of(last)));
        Self { items, next, left_out: 0 }
    }

    /// Divides the page into shorter ones, at least one. Each has at most `most_items`, which weigh at most `most` together, or a single
    /// item. `id_of` returns an item's id bits.
    ///
    /// ```
    /// # use signpost_domain::Page;
    /// let page = Page { items: vec![1_u8, 2, 3], next: None, left_out: 0 };
    /// let pages = page.divided(10, 3, |item| usize::from(*item), |item| [*item; 16]);
    /// assert_eq!((pages[0].items.as_slice(), pages[1].items.as_slice()), (&[1, 2][..], &[3][..]));
    /// assert_eq!((pages[0].next.unwrap().to_bytes(), pages[1].next), ([2; 16], None));
    /// ```
    #[must_use]
    pub fn divided(
        self,
        most_items: usize,
        most: usize,
        weight_of: impl Fn(&T) -> usize,
        id_of: impl Fn(&T) -> [u8; 16],
    ) -> Vec<Self> {
        let Self { items, next, left_out } = self;
        let (mut pages, mut current, mut weight) = (vec![], vec![], 0_usize);
        for item in items {
            let of_item = weight_of(&item);
            weight = weight.saturating_add(of_item);
            if (weight > most || current.len() >= most_items) && !current.is_empty() {
                weight = of_item;
                let items = std::mem::take(&mut current);
                let next = items.last().map(|last| PagePosition::behind(id_of(last)));
                pages.push(Self { items, next, left_out: 0 });
            }
            current.push(item);
        }
        pages.push(Self { items: current, next, left_out });
        pages
    }

    /// Maps the items, and leaves out those for which `f` returns `None`. The position of the next page stays
    /// the same.
    pub fn filter_map<U>(self, f: impl FnMut(T) -> Option<U>) -> Page<U> {
        let shown = self.items.len();
        let items: Vec<U> = self.items.into_iter().filter_map(f).collect();
        Page { left_out: self.left_out + (shown - items.len()), items, next: self.next }
    }

    /// Maps the items.
    pub fn map<U>(self, f: impl FnMut(T) -> U) -> Page<U> {
        Page { items: self.items.into_iter().map(f).collect(), next: self.next, left_out: self.left_out }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn d11_the_limit_is_1_to_100_and_25_by_default() {
        assert_eq!(PageLimit::default().get(), 25);
        for bad in [0, 101, 256, 1_000, u64::MAX] {
            assert_eq!(PageLimit::new(bad).unwrap_err().code(), ViolationCode::OutOfRange);
        }
    }

    #[test]
    fn d124_a_page_is_divided_by_number_and_weight_and_loses_no_item() {
        let of = |items: Vec<u8>| Page { items, next: Some(PagePosition::behind([7; 16])), left_out: 3 };
        let divided = |items: Vec<u8>| {
            let pages = of(items).divided(4, 10, |item| usize::from(*item), |item| [*item; 16]);
            assert_eq!(pages.iter().map(|page| page.left_out).sum::<usize>(), 3);
            assert_eq!(pages.last().unwrap().next, of(vec![]).next);
            let (_, before) = pages.split_last().unwrap();
            for page in before {
                assert_eq!(page.next.unwrap().to_bytes(), [*page.items.last().unwrap(); 16]);
            }
            pages.into_iter().map(|page| page.items).collect::<Vec<_>>()
        };
        assert_eq!(divided(vec![]), [vec![0_u8; 0]]);
        assert_eq!(divided(vec![0; 8]), [vec![0; 4], vec![0; 4]]);
        assert_eq!(divided(vec![10, 0, 0, 0, 0]), [vec![10, 0, 0, 0], vec![0]]);
        assert_eq!(divided(vec![4, 6, 1]), [vec![4, 6], vec![1]]);
        assert_eq!(divided(vec![200, 1, 9, 11, 0]), [vec![200], vec![1, 9], vec![11], vec![0]]);
    }

    /// Leaving out items changes neither the other items nor the next page.
    #[test]
    fn d11_leaving_out_items_keeps_the_next_position() {
        let limit = PageLimit::new(3).unwrap();
        let page = Page::from_one_more(vec![9_u8, 8, 7, 6], limit, |item| [*item; 16]);
        let page = page.filter_map(|item| (item == 8).then_some(u16::from(item)));
        let next = Some(PagePosition::behind([7; 16]));
        assert_eq!(page, Page { items: vec![8], next, left_out: 2 });
        assert_eq!(page.filter_map(|_| None::<u8>), Page { items: vec![], next, left_out: 3 });
    }

    proptest! {
        #[test]
        fn d11_following_pages_returns_every_item_once(count in 0..250_u64, limit in 1..=100_u64) {
            let all: Vec<u64> = (0..count).rev().collect();
            let limit = PageLimit::new(limit).unwrap();
            let id_of = |item: &u64| u128::from(*item).to_be_bytes();
            let (mut walked, mut position) = (Vec::new(), None::<PagePosition>);
            loop {
                let rest = all.iter().copied().filter(|item| position.is_none_or(|at| id_of(item) < at.to_bytes()));
                let page = Page::from_one_more(rest.take(usize::from(limit.get()) + 1).collect(), limit, id_of);
                walked.extend(page.items);
                position = page.next;
                if position.is_none() { break; }
            }
            prop_assert_eq!(walked, all);
        }
    }
}
