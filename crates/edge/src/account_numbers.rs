//! Small numbers for accounts. Links in memory name their owners by these.
//!
//! An account id takes 16 bytes, its number mostly one or two. A node may hold millions of links of few
//! accounts.

use std::collections::HashMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use signpost_domain::AccountId;

/// Number of rows. Each row holds twice as many accounts as the one before.
const ROWS: usize = 32;

/// The number of an account. Numbers are given in order, so small ones are usual. 0 means no account.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct AccountNumber(u32);

/// The accounts that have a number. Visits read it without a lock.
pub(crate) struct AccountNumbers {
    rows: [OnceLock<Box<[OnceLock<AccountId>]>>; ROWS],
    /// Only loads lock it. Accounts are never removed: each costs about a hundred bytes.
    numbers: Mutex<HashMap<AccountId, u32>>,
}

impl AccountNumbers {
    pub(crate) fn new() -> Self {
        Self { rows: [const { OnceLock::new() }; ROWS], numbers: Mutex::default() }
    }

    /// Returns the account's number, and assigns one at the first call for the account. `None` after four
    /// billion accounts.
    pub(crate) fn number_of(&self, account: AccountId) -> Option<AccountNumber> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(number) = numbers.get(&account) {
            return Some(AccountNumber(*number));
        }
        let number = u32::try_from(numbers.len()).ok()?.checked_add(1)?;
        let (row, place) = position_of(number)?;
        let length = 1_usize.checked_shl(u32::try_from(row).ok()?)?;
        let row = self.rows.get(row)?.get_or_init(|| (0..length).map(|_| OnceLock::new()).collect());
        // No other thread has the number before this returns.
        row.get(place)?.set(account).ok()?;
        numbers.insert(account, number);
        Some(AccountNumber(number))
    }

    /// Returns the account with this number.
    pub(crate) fn account(&self, AccountNumber(number): AccountNumber) -> Option<AccountId> {
        let (row, place) = position_of(number)?;
        self.rows.get(row)?.get()?.get(place)?.get().copied()
    }
}

/// Returns the row of a number and the index in that row. `None` for 0.
fn position_of(number: u32) -> Option<(usize, usize)> {
    let row = number.checked_ilog2()?;
    Some((usize::try_from(row).ok()?, usize::try_from(number - (1 << row)).ok()?))
}

impl AccountNumber {
    /// No account.
    pub(crate) const NONE: Self = Self(0);

    pub(crate) const fn from_number(number: u32) -> Self {
        Self(number)
    }

    pub(crate) const fn number(self) -> u32 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use signpost_port_contracts::samples;

    use super::*;

    #[test]
    fn account_keeps_its_number_and_is_found_by_it() {
        let numbers = AccountNumbers::new();
        let accounts: Vec<AccountId> = (0..1_000).map(|_| samples::id()).collect();
        let given: Vec<AccountNumber> =
            accounts.iter().map(|account| numbers.number_of(*account).unwrap()).collect();
        for (account, number) in accounts.iter().zip(given) {
            assert_eq!(numbers.number_of(*account), Some(number));
            assert_eq!(numbers.account(number), Some(*account));
        }
        assert_eq!(numbers.account(AccountNumber::NONE), None);
        assert_eq!(numbers.account(AccountNumber(1_001)), None);
        assert_eq!(numbers.account(AccountNumber(u32::MAX)), None);
    }

    /// Visits look accounts up while loads number others.
    #[test]
    fn concurrent_threads_number_each_account_once() {
        let numbers = AccountNumbers::new();
        let accounts: Vec<AccountId> = (0..500).map(|_| samples::id()).collect();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for account in &accounts {
                        let number = numbers.number_of(*account).unwrap();
                        assert_eq!(numbers.account(number), Some(*account));
                    }
                });
            }
        });
        assert_eq!(numbers.numbers.lock().unwrap().len(), accounts.len());
    }
}
