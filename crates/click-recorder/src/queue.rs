//! Buffers of clicks that wait for the recording thread.

use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use signpost_app::ports::ClickBatch;
use signpost_domain::AccountId;

/// How many empty buffers are kept for reuse.
const MAX_SPARES: usize = 8;

/// A buffer that had more bytes is not reused, so that a burst of clicks does not hold memory after its end.
const MAX_SPARE_BYTES: usize = 256 * 1024;

/// About how many bytes are recorded at a time: recording takes several times their memory.
const MAX_TAKEN_BYTES: usize = 4 * 1024 * 1024;

/// Once half of the queue is taken, the clicks of one account may take at most one part of it in so many. The rest is left to
/// others, however many clicks a flood of visits brings.
const ACCOUNT_PART: usize = 4;

/// A queue with a limit in bytes, for all accounts and for each. Bytes count until they are recorded.
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    most_bytes: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<QueuedBatch>,
    waiting_bytes: usize,
    /// The bytes that wait or are being recorded.
    held: AccountBytes,
    /// The bytes that are being recorded.
    taken: Vec<AccountBytes>,
    spares: Vec<ClickBatch>,
    is_closed: bool,
}

struct QueuedBatch {
    batch: ClickBatch,
    bytes: AccountBytes,
}

/// How many bytes may be held.
#[derive(Clone, Copy)]
struct Room {
    /// Up to this many of all accounts, no account has a share.
    before_shares: usize,
    /// The share of an account.
    share: usize,
}

impl Room {
    const fn is_enough_for(self, all: usize, of_account: usize) -> bool {
        all <= self.before_shares || of_account <= self.share
    }
}

/// Bytes of clicks, by account.
#[derive(Default)]
struct AccountBytes {
    all: usize,
    by_account: HashMap<AccountId, usize>,
}

/// The result of [`Queue::put`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Put {
    /// An empty buffer for reuse.
    pub(crate) empty: ClickBatch,
    /// The number of clicks for which there was no room.
    pub(crate) lost: u64,
}

/// The result of [`Queue::take`].
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    Batches(Vec<ClickBatch>),
    /// No batch arrived in time.
    Nothing,
    /// The queue is closed and empty.
    Closed,
}

impl Queue {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), most_bytes }
    }

    /// Adds the clicks of a batch for which there is room.
    pub(crate) fn put(&self, batch: ClickBatch) -> Put {
        let bytes = AccountBytes::of(&batch);
        let mut state = self.state();
        let room = Room { before_shares: self.most_bytes / 2, share: self.most_bytes / ACCOUNT_PART };
        let (mut admitted, mut lost) = (QueuedBatch { batch, bytes }, 0);
        let mut emptied = None;
        if !state.has_room_for(&admitted.bytes, room) {
            let (rest, refused) = state.rest_of(&admitted.batch, room);
            lost = refused;
            emptied = Some(std::mem::replace(&mut admitted, rest).batch);
        }
        if admitted.batch.is_empty() {
            return Put { empty: emptied.map_or(admitted.batch, cleared), lost };
        }
        if state.is_closed || state.held.all.saturating_add(admitted.bytes.all) > self.most_bytes {
            lost += count(&admitted.batch);
            admitted.batch.clear();
            return Put { empty: emptied.map_or(admitted.batch, cleared), lost };
        }
        state.waiting_bytes += admitted.bytes.all;
        state.held.add(&admitted.bytes);
        state.waiting.push_back(admitted);
        let empty = emptied.map_or_else(|| state.spares.pop().unwrap_or_default(), cleared);
        drop(state);
        self.changed.notify_one();
        Put { empty, lost }
    }

    /// Waits for batches, and then `linger` longer for those of other workers. Takes as many as are recorded at a time, and
    /// at least one. They count until [`Queue::give_back`].
    pub(crate) fn take(&self, at_most: Duration, linger: Duration) -> Taken {
        let is_idle = |state: &mut State| state.waiting.is_empty() && !state.is_closed;
        let waited = self.changed.wait_timeout_while(self.state(), at_most, is_idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if !state.waiting.is_empty() {
            let may_grow = |state: &mut State| state.waiting_bytes < MAX_TAKEN_BYTES && !state.is_closed;
            let waited = self.changed.wait_timeout_while(state, linger, may_grow);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        let taken = state.take();
        match (taken.is_empty(), state.is_closed) {
            (false, _) => Taken::Batches(taken),
            (true, true) => Taken::Closed,
            (true, false) => Taken::Nothing,
        }
    }

    /// Takes recorded batches back for reuse: those of the last [`Queue::take`].
    pub(crate) fn give_back(&self, batches: Vec<ClickBatch>) {
        let mut state = self.state();
        for bytes in std::mem::take(&mut state.taken) {
            state.held.remove(&bytes);
        }
        for batch in batches {
            if state.spares.len() < MAX_SPARES && batch.byte_len() <= MAX_SPARE_BYTES {
                state.spares.push(cleared(batch));
            }
        }
    }

    /// Closes the queue: nothing more is added.
    pub(crate) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_all();
    }

    /// No code panics while it holds the lock.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether there is room for all these bytes.
    fn has_room_for(&self, bytes: &AccountBytes, room: Room) -> bool {
        let all = self.held.all.saturating_add(bytes.all);
        let of_account =
            |(account, bytes): (&AccountId, &usize)| self.held.of_account(account).saturating_add(*bytes);
        bytes.by_account.iter().map(of_account).all(|of_account| room.is_enough_for(all, of_account))
    }

    /// A copy of a batch without the clicks for which their accounts have no room, and the number of those.
    fn rest_of(&mut self, batch: &ClickBatch, room: Room) -> (QueuedBatch, u64) {
        let mut rest =
            QueuedBatch { batch: self.spares.pop().unwrap_or_default(), bytes: AccountBytes::default() };
        let mut lost = 0;
        for click in batch.iter() {
            let (account, length) = (click.account, click.byte_len());
            let sum = |held: usize, rest: usize| held.saturating_add(rest).saturating_add(length);
            let all = sum(self.held.all, rest.bytes.all);
            let of_account = sum(self.held.of_account(&account), rest.bytes.of_account(&account));
            if room.is_enough_for(all, of_account) && rest.batch.push(&click, usize::MAX) {
                rest.bytes.add_click(account, length);
            } else {
                lost += 1;
            }
        }
        (rest, lost)
    }

    fn take(&mut self) -> Vec<ClickBatch> {
        let (mut batches, mut bytes) = (Vec::new(), 0_usize);
        while let Some(next) = self.waiting.front() {
            bytes = bytes.saturating_add(next.bytes.all);
            if !batches.is_empty() && bytes > MAX_TAKEN_BYTES {
                break;
            }
            let Some(QueuedBatch { batch, bytes }) = self.waiting.pop_front() else { break };
            self.waiting_bytes = self.waiting_bytes.saturating_sub(bytes.all);
            self.taken.push(bytes);
            batches.push(batch);
        }
        batches
    }
}

impl AccountBytes {
    fn of(batch: &ClickBatch) -> Self {
        let mut bytes = Self::default();
        for click in batch.iter() {
            bytes.add_click(click.account, click.byte_len());
        }
        bytes
    }

    fn of_account(&self, account: &AccountId) -> usize {
        self.by_account.get(account).copied().unwrap_or(0)
    }

    fn add_click(&mut self, account: AccountId, length: usize) {
        self.all += length;
        *self.by_account.entry(account).or_default() += length;
    }

    fn add(&mut self, more: &Self) {
        for (account, bytes) in &more.by_account {
            self.add_click(*account, *bytes);
        }
    }

    fn remove(&mut self, less: &Self) {
        for (account, bytes) in &less.by_account {
            if let Some(held) = self.by_account.get_mut(account) {
                *held = held.saturating_sub(*bytes);
                if *held == 0 {
                    self.by_account.remove(account);
                }
            }
        }
        self.all = self.all.saturating_sub(less.all);
    }
}

fn cleared(mut batch: ClickBatch) -> ClickBatch {
    batch.clear();
    batch
}

fn count(batch: &ClickBatch) -> u64 {
    u64::try_from(batch.iter().count()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use signpost_app::ports::Click;

    use super::*;
    use crate::testing::click;

    const LONG: Duration = Duration::from_mins(1);

    fn account(number: u8) -> AccountId {
        AccountId::from_bytes([number; 16])
    }

    /// A batch with this many clicks of each account.
    fn batch_of(clicks: &[(u8, usize)]) -> ClickBatch {
        let mut batch = ClickBatch::default();
        for (number, clicks) in clicks {
            for _ in 0..*clicks {
                assert!(batch.push(&Click { account: account(*number), ..click() }, usize::MAX));
            }
        }
        batch
    }

    fn batch() -> ClickBatch {
        batch_of(&[(1, 1)])
    }

    fn all_added() -> Put {
        Put { empty: ClickBatch::default(), lost: 0 }
    }

    fn lost(lost: u64) -> Put {
        Put { empty: ClickBatch::default(), lost }
    }

    fn taken(queue: &Queue) -> Vec<ClickBatch> {
        match queue.take(LONG, Duration::ZERO) {
            Taken::Batches(batches) => batches,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn full_queue_drops_clicks_until_those_in_it_are_recorded() {
        let queue = Queue::new(8 * batch().byte_len());
        for number in 0..4 {
            assert_eq!(queue.put(batch_of(&[(number, 2)])), all_added());
        }
        assert_eq!(queue.put(batch_of(&[(9, 1)])), lost(1));
        let batches = taken(&queue);
        assert_eq!(batches.len(), 4);
        assert_eq!(queue.put(batch_of(&[(9, 1)])), lost(1), "clicks count while they are recorded");
        queue.give_back(batches);
        assert_eq!(queue.put(batch_of(&[(9, 1)])), all_added());
    }

    #[test]
    fn d64_closed_queue_is_drained_and_then_ends() {
        let queue = Queue::new(usize::MAX);
        assert_eq!(queue.take(Duration::ZERO, Duration::ZERO), Taken::Nothing);
        assert_eq!(queue.put(batch()), all_added());
        queue.close();
        assert_eq!(queue.put(batch()), lost(1));
        assert_eq!(queue.take(LONG, LONG), Taken::Batches(vec![batch()]));
        assert_eq!(queue.take(LONG, LONG), Taken::Closed);
    }

    #[test]
    fn buffers_are_returned_empty() {
        let queue = Queue::new(usize::MAX);
        queue.give_back(vec![batch(); MAX_SPARES + 1]);
        for _ in 0..=MAX_SPARES {
            assert!(queue.put(batch()).empty.is_empty());
        }
    }

    #[test]
    fn r46_flood_of_one_account_does_not_displace_clicks_of_others() {
        let queue = Queue::new(400 * batch().byte_len());
        // Half of the queue is everybody's.
        assert_eq!(queue.put(batch_of(&[(1, 190)])), all_added());
        assert_eq!(queue.put(batch_of(&[(2, 3), (1, 30), (3, 4)])), lost(23));
        for _ in 0..50 {
            assert_eq!(queue.put(batch_of(&[(1, 1_000)])), lost(1_000));
            assert_eq!(queue.put(batch_of(&[(1, 10), (2, 1)])), lost(10));
        }
        let mut clicks: HashMap<AccountId, usize> = HashMap::new();
        let batches = taken(&queue);
        for click in batches.iter().flat_map(ClickBatch::iter) {
            *clicks.entry(click.account).or_default() += 1;
        }
        assert_eq!(clicks, HashMap::from([(account(1), 197), (account(2), 53), (account(3), 4)]));
        assert_eq!(queue.put(batch()), lost(1), "clicks count while they are recorded");
        queue.give_back(batches);
        assert_eq!(queue.put(batch_of(&[(2, 120)])), all_added());
        assert_eq!(queue.put(batch_of(&[(1, 110)])), lost(10), "80 before the shares begin, 20 of its share");
    }

    #[test]
    fn r46_few_bytes_are_recorded_at_a_time_but_at_least_one_batch() {
        let queue = Queue::new(usize::MAX);
        let large = batch_of(&[(1, MAX_TAKEN_BYTES / batch().byte_len() + 1)]);
        let half = batch_of(&[(1, MAX_TAKEN_BYTES / batch().byte_len() / 2)]);
        for batch in [&large, &half, &half, &half] {
            queue.put(batch.clone());
        }
        for expected in [1, 2, 1] {
            let batches = taken(&queue);
            assert_eq!(batches.len(), expected);
            queue.give_back(batches);
        }
        assert_eq!(queue.take(Duration::ZERO, Duration::ZERO), Taken::Nothing);
    }
}
