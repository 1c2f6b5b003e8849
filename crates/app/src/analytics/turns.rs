//! Deciding what of an account, or of a node, runs next (R46).
//!
//! If an account has one turn at a time, many questions of it delay only that account. How many questions of all accounts run
//! is up to the store, which knows the short ones.

use std::collections::{HashMap, HashSet, VecDeque};
use std::future::Future;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// Gives turns, a number of them to each key at a time. Clones share one queue.
#[derive(Debug)]
pub(super) struct Turns<K>(Arc<Mutex<Queue<K>>>);

/// Its holder may go on until this is dropped.
#[derive(Debug)]
pub(super) struct Turn<K: Copy + Eq + Hash> {
    turns: Turns<K>,
    key: K,
}

/// Waits for a turn. Dropping it leaves the queue.
#[derive(Debug)]
pub(super) struct Waiting<K: Copy + Eq + Hash> {
    turns: Turns<K>,
    key: K,
    ticket: Option<u64>,
}

#[derive(Debug)]
struct Queue<K> {
    /// How many turns a key may have at a time.
    at_once: usize,
    /// The turns of each key that has any.
    running: HashMap<K, usize>,
    /// The waiting tickets of each key, in the order of arrival.
    waiting: HashMap<K, VecDeque<(u64, Waker)>>,
    /// Tickets that got a turn and were not polled since.
    granted: HashSet<u64>,
    last_ticket: u64,
}

impl<K> Clone for Turns<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K: Copy + Eq + Hash> Turns<K> {
    /// Makes a queue that gives each key up to `at_once` turns at a time.
    pub(super) fn new(at_once: usize) -> Self {
        Self(Arc::new(Mutex::new(Queue {
            at_once,
            running: HashMap::new(),
            waiting: HashMap::new(),
            granted: HashSet::new(),
            last_ticket: 0,
        })))
    }

    /// Waits for a turn of the key, without a time limit.
    pub(super) fn turn(&self, key: K) -> Waiting<K> {
        Waiting { turns: self.clone(), key, ticket: None }
    }

    fn queue(&self) -> MutexGuard<'_, Queue<K>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Copy + Eq + Hash> Queue<K> {
    fn enter(&mut self, key: K, waker: &Waker) -> u64 {
        self.last_ticket = self.last_ticket.wrapping_add(1);
        self.waiting.entry(key).or_default().push_back((self.last_ticket, waker.clone()));
        self.grant(key);
        self.last_ticket
    }

    fn leave(&mut self, key: K, ticket: u64) {
        if self.granted.remove(&ticket) {
            self.end_turn(key);
            return;
        }
        let Some(waiting) = self.waiting.get_mut(&key) else { return };
        waiting.retain(|(waits, _)| *waits != ticket);
        if waiting.is_empty() {
            self.waiting.remove(&key);
        }
    }

    fn end_turn(&mut self, key: K) {
        if let Some(running) = self.running.get_mut(&key) {
            *running -= 1;
            if *running == 0 {
                self.running.remove(&key);
            }
        }
        self.grant(key);
    }

    /// Gives a turn of the key to its first waiter, unless all are taken.
    fn grant(&mut self, key: K) {
        let running = self.running.get(&key).copied().unwrap_or(0);
        if running >= self.at_once {
            return;
        }
        let Some(waiting) = self.waiting.get_mut(&key) else { return };
        let first = waiting.pop_front();
        if waiting.is_empty() {
            self.waiting.remove(&key);
        }
        if let Some((ticket, waker)) = first {
            self.running.insert(key, running + 1);
            self.granted.insert(ticket);
            waker.wake();
        }
    }
}

impl<K: Copy + Eq + Hash + Unpin> Future for Waiting<K> {
    type Output = Turn<K>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Turn<K>> {
        let (turns, key) = (self.turns.clone(), self.key);
        let mut queue = turns.queue();
        let ticket = *self.ticket.get_or_insert_with(|| queue.enter(key, context.waker()));
        if queue.granted.remove(&ticket) {
            self.ticket = None;
            drop(queue);
            return Poll::Ready(Turn { turns, key });
        }
        let waiting = queue.waiting.get_mut(&key);
        if let Some((_, waker)) = waiting.and_then(|all| all.iter_mut().find(|(waits, _)| *waits == ticket)) {
            waker.clone_from(context.waker());
        }
        Poll::Pending
    }
}

impl<K: Copy + Eq + Hash> Drop for Waiting<K> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.turns.queue().leave(self.key, ticket);
        }
    }
}

impl<K: Copy + Eq + Hash> Drop for Turn<K> {
    fn drop(&mut self) {
        self.turns.queue().end_turn(self.key);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use signpost_domain::AccountId;

    use super::*;

    fn account(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    fn got<K: Copy + Eq + Hash + Unpin>(waiting: &mut Waiting<K>) -> Option<Turn<K>> {
        waiting.now_or_never()
    }

    #[test]
    fn r46_an_account_has_one_turn_and_delays_no_other() {
        let turns = Turns::new(1);
        let mut asks = [1, 1, 2, 3].map(|number| turns.turn(account(number)));
        let held = asks.each_mut().map(got);
        assert_eq!(held.each_ref().map(Option::is_some), [true, false, true, true]);
        let [first, _, second, third] = held;
        drop((second, third));
        assert!(got(&mut asks[1]).is_none(), "its account still has a turn");
        drop(first);
        assert!(got(&mut asks[1]).is_some());
        assert!(turns.queue().running.is_empty());
    }

    #[test]
    fn r46_an_accounts_questions_keep_their_order() {
        let turns = Turns::new(1);
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
        let turns = Turns::new(1);
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
        assert!(queue.running.is_empty() && queue.waiting.is_empty() && queue.granted.is_empty());
    }
    #[test]
    fn as_many_turns_as_allowed_run_at_once() {
        let turns = Turns::new(2);
        let mut asks = [(); 4].map(|()| turns.turn(()));
        let [first, second, third, _] = asks.each_mut().map(got);
        assert!(first.is_some() && second.is_some() && third.is_none());
        drop(second);
        let [_, _, third, fourth] = &mut asks;
        let third = got(third);
        assert!(third.is_some() && got(fourth).is_none());
        drop((first, third));
        assert!(got(fourth).is_some());
        assert!(turns.queue().running.is_empty());
    }
}
