//! Deciding which account's question runs next (R46).
//!
//! A question keeps a core busy, so only a few run at once, and only one of each account. Waiting accounts take turns, so
//! an account that asks many questions delays only itself.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use signpost_domain::AccountId;

/// Gives turns to accounts. Clones share one queue.
#[derive(Debug, Clone)]
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

#[derive(Debug)]
struct Queue {
    free: usize,
    /// Accounts that have a turn.
    busy: HashSet<AccountId>,
    /// Waiting accounts without a turn, in the order of their next turns.
    next: VecDeque<AccountId>,
    /// The waiting tickets of each account, in the order of arrival.
    waiting: HashMap<AccountId, VecDeque<(u64, Waker)>>,
    /// Tickets that got a turn and were not polled since.
    granted: HashSet<u64>,
    last_ticket: u64,
}

impl Turns {
    /// Gives at most `at_once` turns at the same time, at least one.
    pub(super) fn new(at_once: usize) -> Self {
        let queue = Queue {
            free: at_once.max(1),
            busy: HashSet::new(),
            next: VecDeque::new(),
            waiting: HashMap::new(),
            granted: HashSet::new(),
            last_ticket: 0,
        };
        Self(Arc::new(Mutex::new(queue)))
    }

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
        let waiting = self.waiting.entry(account).or_default();
        if waiting.is_empty() && !self.busy.contains(&account) {
            self.next.push_back(account);
        }
        waiting.push_back((self.last_ticket, waker.clone()));
        self.grant();
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
            self.next.retain(|next| *next != account);
        }
    }

    fn end_turn(&mut self, account: AccountId) {
        self.free = self.free.saturating_add(1);
        self.busy.remove(&account);
        if self.waiting.contains_key(&account) {
            self.next.push_back(account);
        }
        self.grant();
    }

    fn grant(&mut self) {
        while self.free > 0
            && let Some(account) = self.next.pop_front()
        {
            let Some(waiting) = self.waiting.get_mut(&account) else { continue };
            let first = waiting.pop_front();
            if waiting.is_empty() {
                self.waiting.remove(&account);
            }
            if let Some((ticket, waker)) = first {
                self.free = self.free.saturating_sub(1);
                self.busy.insert(account);
                self.granted.insert(ticket);
                waker.wake();
            }
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
    fn r46_an_account_has_one_turn_and_the_node_several() {
        let turns = Turns::new(2);
        let mut asks = [1, 1, 2, 3].map(|number| turns.turn(account(number)));
        let held = asks.each_mut().map(got);
        assert_eq!(held.each_ref().map(Option::is_some), [true, false, true, false]);
        let [first, _, second, _] = held;
        drop(second);
        assert!(got(&mut asks[1]).is_none(), "its account still has a turn");
        let third = got(&mut asks[3]).unwrap();
        drop(first);
        assert!(got(&mut asks[1]).is_some());
        drop(third);
        assert!(turns.queue().busy.is_empty());
    }

    #[test]
    fn r46_accounts_take_turns_even_if_one_asks_many_questions() {
        let turns = Turns::new(1);
        let mut many: Vec<_> = (0..5).map(|_| turns.turn(account(1))).collect();
        let running = got(&mut many[0]).unwrap();
        for ask in &mut many[1..] {
            assert!(got(ask).is_none());
        }
        let mut other = turns.turn(account(2));
        assert!(got(&mut other).is_none());
        drop(running);
        assert!(got(&mut many[1]).is_none());
        let running = got(&mut other).unwrap();
        assert!(got(&mut many[1]).is_none());
        drop(running);
        assert!(got(&mut many[2]).is_none(), "an account's questions keep their order");
        assert!(got(&mut many[1]).is_some());
    }

    #[test]
    fn r46_a_dropped_waiter_leaves_its_turn_to_the_next() {
        let turns = Turns::new(1);
        let mut asks: Vec<_> = [1, 2, 3, 1].map(|number| turns.turn(account(number))).into();
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
        assert!(queue.free == 1 && queue.busy.is_empty() && queue.waiting.is_empty());
        assert!(queue.next.is_empty() && queue.granted.is_empty());
    }
}
