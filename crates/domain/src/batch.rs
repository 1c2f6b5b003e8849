//! The items of a bulk operation (contract "Size and format bounds").

use std::ops::{Deref, RangeInclusive};

use crate::violation::{FieldError, ViolationCode};

/// 1 to 100 items, which succeed or fail independently (D30).
///
/// ```
/// use signpost_domain::Batch;
///
/// assert_eq!(Batch::new(vec!["a", "b"]).unwrap().len(), 2);
/// assert!(Batch::<&str>::new(vec![]).is_err());
/// assert!(Batch::new(vec!["a"; 101]).is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<T>(Vec<T>);

/// The maximum number of items.
pub const ITEMS: RangeInclusive<usize> = 1..=100;

impl<T> Batch<T> {
    /// A batch of these items.
    ///
    /// # Errors
    /// `too_few_items` or `too_many_items`.
    pub fn new(items: Vec<T>) -> Result<Self, FieldError> {
        if items.len() < *ITEMS.start() {
            return Err(FieldError::new(ViolationCode::TooFewItems, "must have at least 1 item"));
        }
        if items.len() > *ITEMS.end() {
            return Err(FieldError::new(ViolationCode::TooManyItems, "must have at most 100 items"));
        }
        Ok(Self(items))
    }

    /// A batch with the result for each item, in the same order.
    #[must_use]
    pub fn map<U>(self, each: impl FnMut(T) -> U) -> Batch<U> {
        Batch(self.0.into_iter().map(each).collect())
    }

    /// A batch of references to the items.
    #[must_use]
    pub fn as_ref(&self) -> Batch<&T> {
        Batch(self.0.iter().collect())
    }

    /// The items.
    #[must_use]
    pub fn into_items(self) -> Vec<T> {
        self.0
    }
}

impl<T> Deref for Batch<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}
