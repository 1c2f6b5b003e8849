//! Deciding which of an account's questions runs next (R46).
//!
//! Only one of each account runs at once, so an account that asks many questions delays only itself. How many run of all
//! accounts is up to the store, which knows the short ones.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use signpost_domain::AccountId;

/// Gives turns to accounts. Clones share one queue.
#[derive(Debug, Clone, Default)]
pub(super) struct Turns(Arc<Mutex<Queue>>);

/// The account's question may run until this is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    turns: Turns,
    account: AccountId,
}

/// Waits for a turn. Dropping it leaves the queue.
#[derive(Debug)]
pub(super) struct Waiting {
    turns: Turns,
    account: AccountId,
    ticket: Option<u64>,
}

#[derive(Debug, Default)]
struct Queue {
    /// Accounts that have a turn.
    busy: HashSet<AccountId>,
    /// The waiting tickets of each account, in the order of arrival.
    waiting: HashMap<AccountId, VecDeque<(u64, Waker)>>,
    /// Tickets that got a turn and were not polled since.
    granted: HashSet<u64>,
    last_ticket: u64,
}

impl Turns {
    /// Waits for a turn of the account, without a time limit.
    pub(super) fn turn(&self, account: AccountId) -> Waiting {
        Waiting { turns: self.clone(), account, ticket: None }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn enter(&mut self, account: AccountId, waker: &Waker) -> u64 {
        self.last_ticket = self.last_ticket.wrapping_add(1);
        self.waiting.entry(account).or_default().push_back((self.last_ticket, waker.clone()));
        self.grant(account);
        self.last_ticket
    }

    fn leave(&mut self, account: AccountId, ticket: u64) {
        if self.granted.remove(&ticket) {
            self.end_turn(account);
            return;
        }
        let Some(waiting) = self.waiting.get_mut(&account) else { return };
        waiting.retain(|(waits, _)| *waits != ticket);
        if waiting.is_empty() {
            self.waiting.remove(&account);
        }
    }

    fn end_turn(&mut self, account: AccountId) {
        self.busy.remove(&account);
        self.grant(account);
    }

    /// Gives the account's turn to its first waiter, unless another has it.
    fn grant(&mut self, account: AccountId) {
        if self.busy.contains(&account) {
            return;
        }
        let Some(waiting) = self.waiting.get_mut(&account) else { return };
        let first = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&account);
        }
        if let Some((ticket, waker)) = first {
            self.busy.insert(account);
            self.granted.insert(ticket);
            waker.wake();
        }
    }
}

impl Future for Waiting {
    type Output = Turn;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn> {
        let (turns, account) = (self.turns.clone(), self.account);
        let mut queue = turns.queue();
        let ticket = *self.ticket.get_or_insert_with(|| queue.enter(account, context.waker()));
        if queue.granted.remove(&ticket) {
            self.ticket = None;
            drop(queue);
            return Poll::Ready(Turn { turns, account });
        }
        let waiting = queue.waiting.get_mut(&account);
        if let Some((_, waker)) = waiting.and_then(|all| all.iter_mut().find(|(waits, _)| *waits == ticket)) {
            waker.clone_from(context.waker());
        }
        Poll::Pending
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.turns.queue().leave(self.account, ticket);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.turns.queue().end_turn(self.account);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    fn account(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    fn got(waiting: &mut Waiting) -> Option<Turn> {
        waiting.now_or_never()
    }

    #[test]
    fn r46_an_account_has_one_turn_and_delays_no_other() {
        let turns = Turns::default();
        let mut asks = [1, 1, 2, 3].map(|number| turns.turn(account(number)));
        let held = asks.each_mut().map(got);
        assert_eq!(held.each_ref().map(Option::is_some), [true, false, true, true]);
        let [first, _, second, third] = held;
        drop((second, third));
        assert!(got(&mut asks[1]).is_none(), "its account still has a turn");
        drop(first);
        assert!(got(&mut asks[1]).is_some());
        assert!(turns.queue().busy.is_empty());
    }

    #[test]
    fn r46_an_accounts_questions_keep_their_order() {
        let turns = Turns::default();
        let mut many: Vec<_> = (0..5).map(|_| turns.turn(account(1))).collect();
        let mut running = got(&mut many[0]);
        for ask in &mut many[1..] {
            assert!(got(ask).is_none());
        }
        for next in 1..5 {
            drop(running);
            assert!(many[next + 1..].iter_mut().all(|later| got(later).is_none()));
            running = got(&mut many[next]);
            assert!(running.is_some());
        }
    }

    #[test]
    fn r46_a_dropped_waiter_leaves_its_turn_to_the_next() {
        let turns = Turns::default();
        let mut asks: Vec<_> = (0..4).map(|_| turns.turn(account(1))).collect();
        let running = got(&mut asks[0]).unwrap();
        for ask in &mut asks[1..] {
            assert!(got(ask).is_none());
        }
        // One is dropped while it waits, another after it got its turn and before it was polled.
        drop(asks.remove(1));
        drop(running);
        drop(asks.remove(1));
        assert!(got(&mut asks[1]).is_some());
        drop(asks);
        let queue = turns.queue();
        assert!(queue.busy.is_empty() && queue.waiting.is_empty() && queue.granted.is_empty());
    }
}
