//! The change that a PATCH makes to one nullable field.

/// The change that a PATCH makes to a field that can be null: keep it, set it, or clear it.
///
/// A field that cannot be null has no third state; there, `Option<T>` says "keep" or "set".
///
/// ```
/// # use signpost_domain::Change;
/// assert_eq!(Change::Keep.applied_to(Some(1)), Some(1));
/// assert_eq!(Change::Set(2).applied_to(Some(1)), Some(2));
/// assert_eq!(Change::<i32>::Clear.applied_to(Some(1)), None);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Change<T> {
    /// The field is absent from the request.
    #[default]
    Keep,
    /// The field carries a value.
    Set(T),
    /// The field is null.
    Clear,
}

impl<T> Change<T> {
    /// The field's new value, given the current one.
    pub fn applied_to(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Set(value) => Some(value),
            Self::Clear => None,
        }
    }

    /// Whether the field is absent from the request.
    pub const fn is_keep(&self) -> bool {
        matches!(self, Self::Keep)
    }

    /// The same change with a converted value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Change<U> {
        match self {
            Self::Keep => Change::Keep,
            Self::Set(value) => Change::Set(f(value)),
            Self::Clear => Change::Clear,
        }
    }

    /// The change with its value borrowed.
    pub const fn as_ref(&self) -> Change<&T> {
        match self {
            Self::Keep => Change::Keep,
            Self::Set(value) => Change::Set(value),
            Self::Clear => Change::Clear,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_change() -> impl Strategy<Value = Change<u8>> {
        prop_oneof![Just(Change::Keep), any::<u8>().prop_map(Change::Set), Just(Change::Clear)]
    }

    proptest! {
        #[test]
        fn applying_twice_is_applying_once(change in any_change(), current in any::<Option<u8>>()) {
            let once = change.applied_to(current);
            prop_assert_eq!(change.applied_to(once), once);
        }

        #[test]
        fn keep_is_the_identity(current in any::<Option<u8>>()) {
            prop_assert_eq!(Change::Keep.applied_to(current), current);
        }
    }
}
