//! Telling callers what was found at the addresses they asked for.
//!
//! Waking a task on another runtime takes a call to the system each time. So of the callers on one runtime only the first is
//! woken from here, and it wakes the others, for which no call is needed.

use signpost_app::ports::{PublishedLink, StoreError};
use tokio::runtime::{Handle, Id};
use tokio::sync::oneshot;
use tokio::sync::oneshot::error::RecvError;

pub(crate) type Outcome = Result<Option<PublishedLink>, StoreError>;

/// One who is to be told an outcome.
pub(crate) struct Caller {
    runtime: Option<Id>,
    sender: oneshot::Sender<Told>,
}

/// Where a caller waits for its outcome.
pub(crate) struct Answer(oneshot::Receiver<Told>);

struct Told {
    outcome: Outcome,
    others: Others,
}

/// Callers on the runtime of one who has been told, and what it is to tell them. It does so by dropping this; so they are told
/// also if it has gone.
#[derive(Default)]
struct Others(Vec<(oneshot::Sender<Told>, Outcome)>);

/// The caller that this is called by, and where it waits.
pub(crate) fn caller() -> (Caller, Answer) {
    let (sender, receiver) = oneshot::channel();
    (Caller { runtime: current_runtime(), sender }, Answer(receiver))
}

fn current_runtime() -> Option<Id> {
    Handle::try_current().ok().map(|runtime| runtime.id())
}

impl Caller {
    pub(crate) fn has_gone(&self) -> bool {
        self.sender.is_closed()
    }
}

impl Answer {
    /// The outcome; an error if nobody is left who could tell it.
    pub(crate) async fn outcome(self) -> Result<Outcome, RecvError> {
        let Told { outcome, others } = self.0.await?;
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

fn tell(sender: oneshot::Sender<Told>, outcome: Outcome, others: Others) {
    // Whoever asked may have gone.
    let _ = sender.send(Told { outcome, others });
}

/// The outcomes that callers on other runtimes are about to be told.
pub(crate) struct Answers {
    own: Option<Id>,
    of_others: Vec<(Id, Others)>,
}

impl Answers {
    pub(crate) fn new() -> Self {
        Self { own: current_runtime(), of_others: Vec::new() }
    }

    /// Tells a caller its outcome: at once if it is on this runtime, else with the others of its own.
    pub(crate) fn tell(&mut self, Caller { runtime, sender }: Caller, outcome: Outcome) {
        let Some(runtime) = runtime.filter(|runtime| self.own != Some(*runtime)) else {
            tell(sender, outcome, Others::default());
            return;
        };
        match self.of_others.iter_mut().find(|(other, _)| *other == runtime) {
            Some((_, Others(callers))) => callers.push((sender, outcome)),
            None => self.of_others.push((runtime, Others(vec![(sender, outcome)]))),
        }
    }

    /// Tells one caller of each runtime, which tells the others.
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

    /// Callers on some runtimes, and what they wait for.
    struct Scene {
        runtimes: Vec<Runtime>,
        callers: Vec<Caller>,
        waiting: Vec<Waiting>,
        wakes: Arc<Wakes>,
    }

    impl Scene {
        /// So many callers on each of two runtimes, all of which wait.
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
            assert!(scene.told().is_empty());
            scene
        }

        /// Tells all of them that there is nothing.
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

        /// The places of those who are told when all are asked once more, the last one first. They wait no longer.
        fn told(&mut self) -> Vec<usize> {
            let waker = Waker::from(Arc::clone(&self.wakes));
            let mut told = Vec::new();
            for place in (0..self.waiting.len()).rev() {
                if let Poll::Ready(outcome) =
                    self.waiting[place].as_mut().poll(&mut Context::from_waker(&waker))
                {
                    assert_eq!(outcome.unwrap().unwrap(), None);
                    drop(self.waiting.remove(place));
                    told.push(place);
                }
            }
            told
        }
    }

    #[test]
    fn of_the_callers_on_a_runtime_one_is_woken_and_wakes_the_others() {
        let mut scene = Scene::new(5);
        scene.tell();
        assert_eq!(scene.woken(), 2);
        assert_eq!(scene.told(), (0..10).rev().collect::<Vec<_>>());
        assert_eq!(scene.woken(), 10);
    }

    #[test]
    fn callers_on_the_runtime_that_tells_them_are_told_at_once() {
        let mut scene = Scene::new(5);
        {
            let runtime = scene.runtimes[0].handle().clone();
            let _entered = runtime.enter();
            scene.tell();
        }
        assert_eq!(scene.woken(), 5 + 1);
    }

    #[test]
    fn callers_are_told_also_if_others_have_gone_before_or_after() {
        let mut scene = Scene::new(5);
        // Of the first runtime the last two, one of whom would tell the others.
        scene.waiting.drain(3..5);
        scene.tell();
        // Of the second runtime whoever was told, before it could tell the others.
        let told = scene.waiting.pop();
        assert_eq!(scene.woken(), 3 + 1);
        drop(told);
        assert_eq!(scene.woken(), 3 + 5);
        assert_eq!(scene.told().len(), 3 + 4);
    }
}
