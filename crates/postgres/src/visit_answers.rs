//! Delivering the outcomes of look-ups to the callers.
//!
//! Waking a task on another runtime costs a system call. So only the first caller of each runtime is woken from here. It
//! wakes the other callers of its runtime, which costs no system call.

use signpost_app::ports::{PublishedLink, StoreError};
use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

pub(crate) type Outcome = Result<Option<PublishedLink>, StoreError>;

/// A caller that waits for an outcome.
pub(crate) struct WaitingVisit {
    runtime: Option<Id>,
    sender: oneshot::Sender<SharedAnswer>,
}

/// The receiving end of a caller.
pub(crate) struct Answer(oneshot::Receiver<SharedAnswer>);

struct SharedAnswer {
    outcome: Outcome,
    others: Others,
}

/// The other callers on the runtime of a woken caller, with their outcomes. It delivers them by dropping this value, so they
/// are delivered even if that caller is gone.
#[derive(Default)]
struct Others(Vec<(oneshot::Sender<SharedAnswer>, Outcome)>);

/// The calling task as a caller, and its receiving end.
pub(crate) fn caller() -> (WaitingVisit, Answer) {
    let (sender, receiver) = oneshot::channel();
    (WaitingVisit { runtime: current_runtime(), sender }, Answer(receiver))
}

fn current_runtime() -> Option<Id> {
    Handle::try_current().ok().map(|runtime| runtime.id())
}

impl WaitingVisit {
    pub(crate) fn has_gone(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Answer {
    /// The outcome, or an error if no sender is left.
    pub(crate) async fn outcome(self) -> Result<Outcome, RecvError> {
        let SharedAnswer { outcome, others } = self.0.await?;
        drop(others);
        Ok(outcome)
    }
}

impl Drop for Others {
    fn drop(&mut self) {
        for (sender, outcome) in self.0.drain(..) {
            tell(sender, outcome, Self::default());
        }
    }
}

fn tell(sender: oneshot::Sender<SharedAnswer>, outcome: Outcome, others: Others) {
    // The caller may be gone.
    let _ = sender.send(SharedAnswer { outcome, others });
}

/// The outcomes to deliver to callers on other runtimes.
pub(crate) struct Answers {
    own: Option<Id>,
    of_others: Vec<(Id, Others)>,
}

impl Answers {
    pub(crate) fn new() -> Self {
        Self { own: current_runtime(), of_others: Vec::new() }
    }

    /// Delivers an outcome: at once to a caller on this runtime, else together with the others of its runtime.
    pub(crate) fn tell(&mut self, WaitingVisit { runtime, sender }: WaitingVisit, outcome: Outcome) {
        let Some(runtime) = runtime.filter(|runtime| self.own != Some(*runtime)) else {
            tell(sender, outcome, Others::default());
            return;
        };
        match self.of_others.iter_mut().find(|(other, _)| *other == runtime) {
            Some((_, Others(callers))) => callers.push((sender, outcome)),
            None => self.of_others.push((runtime, Others(vec![(sender, outcome)]))),
        }
    }

    /// Wakes one caller of each runtime, which wakes the others.
    pub(crate) fn send(self) {
        for (_, mut others) in self.of_others {
            if let Some((first, outcome)) = others.0.pop() {
                tell(first, outcome, others);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Poll, Wake, Waker};

    use tokio::runtime::{Builder, Runtime};

    use super::*;

    type Waiting = Pin<Box<dyn Future<Output = Result<Outcome, RecvError>>>>;

    #[derive(Default)]
    struct Wakes(AtomicUsize);

    impl Wake for Wakes {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waiting visits on two runtimes, and their receiving ends.
    struct Scene {
        runtimes: Vec<Runtime>,
        callers: Vec<WaitingVisit>,
        waiting: Vec<Waiting>,
        wakes: Arc<Wakes>,
    }

    impl Scene {
        /// This many callers on each of two runtimes, all waiting.
        fn new(callers: usize) -> Self {
            let runtimes = vec![Builder::new_current_thread().build().unwrap(), Runtime::new().unwrap()];
            let both = runtimes.iter().flat_map(|runtime| {
                let _entered = runtime.enter();
                (0..callers).map(|_| caller()).collect::<Vec<_>>()
            });
            let (callers, answers): (Vec<_>, Vec<_>) = both.unzip();
            let waiting = answers.into_iter().map(|answer| -> Waiting { Box::pin(answer.outcome()) });
            let waiting = waiting.collect();
            let mut scene = Self { runtimes, callers, waiting, wakes: Arc::default() };
            assert!(scene.answered().is_empty());
            scene
        }

        /// Delivers "no link" to all of them.
        fn tell(&mut self) {
            let mut answers = Answers::new();
            for caller in self.callers.drain(..) {
                answers.tell(caller, Ok(None));
            }
            answers.send();
        }

        fn woken(&self) -> usize {
            self.wakes.0.load(Ordering::Relaxed)
        }

        /// Polls all callers once more, the last one first. Returns the positions of those that get an outcome; they stop
        /// waiting.
        fn answered(&mut self) -> Vec<usize> {
            let waker = Waker::from(Arc::clone(&self.wakes));
            let mut answered = Vec::new();
            for position in (0..self.waiting.len()).rev() {
                if let Poll::Ready(outcome) =
                    self.waiting[position].as_mut().poll(&mut Context::from_waker(&waker))
                {
                    assert_eq!(outcome.unwrap().unwrap(), None);
                    drop(self.waiting.remove(position));
                    answered.push(position);
                }
            }
            answered
        }
    }

    #[test]
    fn one_caller_of_a_runtime_is_woken_and_wakes_the_others() {
        let mut scene = Scene::new(5);
        scene.tell();
        assert_eq!(scene.woken(), 2);
        assert_eq!(scene.answered(), (0..10).rev().collect::<Vec<_>>());
        assert_eq!(scene.woken(), 10);
    }

    #[test]
    fn callers_on_the_same_runtime_get_outcomes_at_once() {
        let mut scene = Scene::new(5);
        {
            let runtime = scene.runtimes[0].handle().clone();
            let _entered = runtime.enter();
            scene.tell();
        }
        assert_eq!(scene.woken(), 5 + 1);
    }

    #[test]
    fn outcomes_arrive_even_if_other_callers_are_gone() {
        let mut scene = Scene::new(5);
        // The last two callers of the first runtime; one of them would wake the others.
        scene.waiting.drain(3..5);
        scene.tell();
        // The woken caller of the second runtime, before it wakes the others.
        let answered = scene.waiting.pop();
        assert_eq!(scene.woken(), 3 + 1);
        drop(answered);
        assert_eq!(scene.woken(), 3 + 5);
        assert_eq!(scene.answered().len(), 3 + 4);
    }
}
