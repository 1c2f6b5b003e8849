//! The body of a request, read from the socket when the service asks for it and not before.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::error::PayloadError;
use actix_http::h1::Message;
use bytes::Bytes;
use futures_util::Stream;

use crate::wire::{MOST_BODY_BYTES, Wire};

/// How much of a body that the service did not ask for is looked for before the connection is given up with it.
const MOST_SETTLED_BYTES: usize = 16 * 1024;

/// How much is read at once, and how much room is made the first time: most bodies are small.
const READ_BYTES: usize = 16 * 1024;
const FIRST_READ_BYTES: usize = 2 * 1024;

/// What the loop of a connection and the body of its request know of each other.
pub(crate) struct BodyState {
    progress: Cell<Progress>,
    /// Whether the client waits to be told to go on (`Expect: 100-continue`).
    expects_continue: Cell<bool>,
    /// How many bytes were read since the body began.
    read_bytes: Cell<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Nobody asked for it yet.
    Unasked,
    /// Some of it may have been read.
    Begun,
    /// All of it was read.
    Finished,
    /// It cannot be read to its end, or the request is over.
    Broken,
}

impl BodyState {
    /// The state of a body of which nothing was read.
    pub(crate) fn new(expects_continue: bool) -> Rc<Self> {
        Rc::new(Self {
            progress: Cell::new(Progress::Unasked),
            expects_continue: Cell::new(expects_continue),
            read_bytes: Cell::new(0),
        })
    }

    /// Whether the service now waits for a body that the client holds back until it is told to go on. It is so once.
    pub(crate) fn takes_continue(&self) -> bool {
        self.progress.get() == Progress::Begun && self.expects_continue.take()
    }

    /// Ends the body, when the answer is there. `true` if all of it was read, or is at hand: then the next request can
    /// follow on the connection.
    pub(crate) fn settle(&self, wire: &Wire) -> bool {
        let (mut seen, mut has_read) = (0, false);
        while matches!(self.progress.get(), Progress::Unasked | Progress::Begun) {
            match wire.decode() {
                Ok(Some(Message::Chunk(None))) => self.progress.set(Progress::Finished),
                Ok(Some(Message::Chunk(Some(chunk)))) if seen < MOST_SETTLED_BYTES => seen += chunk.len(),
                // Many clients send head and body apart.
                Ok(None) if !has_read => {
                    has_read = true;
                    let _ = wire.read_what_is_there(MOST_SETTLED_BYTES);
                }
                Ok(_) | Err(_) => self.progress.set(Progress::Broken),
            }
        }
        let is_finished = self.progress.get() == Progress::Finished;
        // A body that outlives its request must not read from the next one.
        self.progress.set(Progress::Broken);
        is_finished
    }
}

/// The body as the service sees it.
pub(crate) struct RequestBody {
    wire: Rc<Wire>,
    state: Rc<BodyState>,
}

impl RequestBody {
    pub(crate) const fn new(wire: Rc<Wire>, state: Rc<BodyState>) -> Self {
        Self { wire, state }
    }

    fn fail(&self, error: PayloadError) -> Poll<Option<Result<Bytes, PayloadError>>> {
        self.state.progress.set(Progress::Broken);
        self.wire.watch.lift();
        Poll::Ready(Some(Err(error)))
    }
}

impl Stream for RequestBody {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let (wire, state) = (&self.wire, &self.state);
        match state.progress.get() {
            Progress::Unasked => {
                state.progress.set(Progress::Begun);
                wire.watch.limit(wire.times.body);
            }
            Progress::Begun => {}
            Progress::Finished => return Poll::Ready(None),
            Progress::Broken => return Poll::Ready(Some(Err(PayloadError::Incomplete(None)))),
        }
        loop {
            match wire.decode() {
                Ok(Some(Message::Chunk(Some(chunk)))) => {
                    return Poll::Ready(Some(Ok(chunk)));
                }
                Ok(Some(Message::Chunk(None))) => {
                    state.progress.set(Progress::Finished);
                    wire.watch.lift();
                    return Poll::Ready(None);
                }
                Ok(None) if state.read_bytes.get() >= MOST_BODY_BYTES => {
                    return self.fail(PayloadError::Overflow);
                }
                Ok(None) if wire.is_at_end() => return self.fail(PayloadError::Incomplete(None)),
                Ok(None) => {}
                Ok(Some(Message::Item(_))) | Err(_) => return self.fail(PayloadError::EncodingCorrupted),
            }
            let read_bytes = state.read_bytes.get();
            match wire.poll_read(cx, READ_BYTES, read_bytes.clamp(FIRST_READ_BYTES, READ_BYTES)) {
                Poll::Ready(Ok(read)) => state.read_bytes.set(read_bytes + read),
                Poll::Ready(Err(error)) => return self.fail(PayloadError::Io(error)),
                Poll::Pending if wire.watch.is_over() => {
                    return self.fail(PayloadError::Io(std::io::ErrorKind::TimedOut.into()));
                }
                Poll::Pending => {
                    wire.watch.wake_later(cx);
                    return Poll::Pending;
                }
            }
        }
    }
}
