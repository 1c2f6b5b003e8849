//! The body of a request, which is read only when the service asks for it.

use std::cell::Cell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use actix_http::error::PayloadError;
use actix_http::h1::Message;
use bytes::Bytes;
use futures_util::Stream;

use crate::wire::{MAX_BODY_BYTES, Wire};

/// How much of an unrequested body the connection skips before it closes instead.
const MAX_SKIPPED_BYTES: usize = 16 * 1024;

/// How much one read takes. The first read allocates less, since most bodies are small.
const READ_BYTES: usize = 16 * 1024;
const FIRST_READ_BYTES: usize = 2 * 1024;

/// State shared by the connection's loop and the body of its request.
pub(crate) struct BodyState {
    progress: Cell<Progress>,
    /// Whether the client waits for `100 Continue`.
    expects_continue: Cell<bool>,
    /// Bytes read since the body began.
    read_bytes: Cell<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The service has not asked for it.
    Unasked,
    /// The service has asked for it.
    Begun,
    /// It was read completely.
    Finished,
    /// It cannot be read to its end, or the request is over.
    Broken,
}

impl BodyState {
    /// The state of an unread body.
    pub(crate) fn new(expects_continue: bool) -> Rc<Self> {
        Rc::new(Self {
            progress: Cell::new(Progress::Unasked),
            expects_continue: Cell::new(expects_continue),
            read_bytes: Cell::new(0),
        })
    }

    /// Whether the service now waits for a body that the client holds back for `100 Continue`. Returns `true`
    /// at most once.
    pub(crate) fn take_continue(&self) -> bool {
        self.progress.get() == Progress::Begun && self.expects_continue.take()
    }

    /// Ends the body when the answer is ready. Returns `true` if it was read completely or has arrived, so
    /// the connection can take another request.
    pub(crate) fn settle(&self, wire: &Wire) -> bool {
        let (mut seen, mut has_read) = (0, false);
        while matches!(self.progress.get(), Progress::Unasked | Progress::Begun) {
            match wire.decode() {
                Ok(Some(Message::Chunk(None))) => self.progress.set(Progress::Finished),
                Ok(Some(Message::Chunk(Some(chunk)))) if seen < MAX_SKIPPED_BYTES => seen += chunk.len(),
                // Many clients send head and body in separate packets.
                Ok(None) if !has_read => {
                    has_read = true;
                    let _ = wire.read_available(MAX_SKIPPED_BYTES);
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

/// The body as a stream for the service.
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
        self.wire.watch.clear_deadline();
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
                wire.watch.set_deadline(wire.times.body);
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
                    wire.watch.clear_deadline();
                    return Poll::Ready(None);
                }
                Ok(None) if state.read_bytes.get() >= MAX_BODY_BYTES => {
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
                Poll::Pending if wire.watch.is_expired() => {
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
