//! One socket with its codec: reads and writes within limits of memory and time.

mod lingering;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use actix_http::body::{BodySize, BoxBody};
use actix_http::error::ParseError;
use actix_http::h1::{Codec, Message, MessageType};
use actix_http::header::{HeaderValue, STRICT_TRANSPORT_SECURITY};
use actix_http::{Request, Response};
use bytes::{Buf as _, BufMut as _, BytesMut};
use memchr::memchr_iter;
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};
use tokio_util::codec::{Decoder as _, Encoder as _};

use crate::head_memory::HeadShare;
use crate::options::Times;
use crate::reply::{ListenerRefusal, ListenerRefusals, ShortRedirect};
use crate::request_target::{self, TargetTooLong};
use crate::stream::Stream;
use crate::watch::Watched;
use crate::worker::Buffers;

/// Maximum size of a request's head in bytes: the request line and all headers.
pub const MAX_HEAD_BYTES: usize = 32 * 1024;

/// Maximum number of bytes read of one body on the wire, including the framing of chunks.
pub const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// Maximum part of an answer's body that a connection buffers, in bytes. The rest stays with the body until
/// the client has read this part.
pub const ANSWER_BYTES: usize = 16 * 1024;

/// The time that a byte read by the client is worth: 4 KiB extend the deadline by a second.
const TIME_PER_BYTE: Duration = Duration::from_nanos(1_000_000_000 / (4 * 1024));

pub use lingering::MAX_LINGERING_BYTES;

/// Where the head ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadEnd {
    /// The end has not arrived yet.
    Missing,
    /// The end has arrived.
    Found,
    /// A line ends without a carriage return. The codec accepts it as a line end, other programs do not, and
    /// would see another request in the same bytes (R27).
    BareLineFeed,
}

/// A socket with its unused input and its unwritten output.
///
/// The connection's loop and the body of the current request share it.
pub(crate) struct Wire {
    stream: RefCell<Stream>,
    codec: RefCell<Codec>,
    input: RefCell<BytesMut>,
    output: RefCell<BytesMut>,
    buffers: Rc<Buffers>,
    pub(crate) watch: Watched,
    pub(crate) times: Times,
    head_share: HeadShare,
    /// The `Strict-Transport-Security` of every answer.
    hsts: Option<HeaderValue>,
    /// Whether the client has closed its side.
    is_at_end: Cell<bool>,
    is_fresh: Cell<bool>,
    /// How long the client may stop reading an answer, and how much of that time is left.
    stalled: Cell<Duration>,
    patience: Cell<Duration>,
}

impl Wire {
    pub(crate) fn new(
        stream: Stream,
        codec: Codec,
        buffers: Rc<Buffers>,
        watch: Watched,
        times: Times,
        head_share: HeadShare,
        hsts: Option<HeaderValue>,
    ) -> Self {
        Self {
            stream: RefCell::new(stream),
            codec: RefCell::new(codec),
            input: RefCell::default(),
            output: RefCell::default(),
            buffers,
            watch,
            times,
            head_share,
            hsts,
            is_at_end: Cell::new(false),
            is_fresh: Cell::new(true),
            stalled: Cell::new(times.stalled),
            patience: Cell::new(times.stalled),
        }
    }

    /// Decodes the next message from the input; `None` if it is incomplete.
    pub(crate) fn decode(&self) -> Result<Option<Message<Request>>, ParseError> {
        let decoded = self.codec.borrow_mut().decode(&mut self.input.borrow_mut());
        if matches!(decoded, Ok(Some(Message::Item(_)))) {
            self.is_fresh.set(false);
            self.head_share.release();
        }
        decoded
    }

    /// Whether no request was read yet.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.is_fresh.get()
    }

    /// Sets how long the client may stop reading an answer.
    pub(crate) fn set_stall_limit(&self, stalled: Duration) {
        self.stalled.set(stalled);
    }

    /// Whether the request with the last decoded head has a body.
    pub(crate) fn has_body(&self) -> bool {
        !matches!(self.codec.borrow().message_type(), MessageType::None)
    }

    /// Resets the codec, which would encode the next answer for the current request.
    pub(crate) fn reset_codec(&self) {
        let config = self.codec.borrow().config().clone();
        self.codec.replace(Codec::new(config));
    }

    /// The number of input bytes not used yet.
    pub(crate) fn unused_bytes(&self) -> usize {
        self.input.borrow().len()
    }

    /// Looks for the end of a head in the unused input. Bytes before `start` were searched before.
    pub(crate) fn find_head_end(&self, start: usize) -> HeadEnd {
        let input = self.input.borrow();
        // Skips empty lines before a request.
        let begin = input.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(input.len());
        for feed in memchr_iter(b'\n', input.get(start..).unwrap_or_default()).map(|index| start + index) {
            let before = input.get(feed.saturating_sub(3)..feed).unwrap_or_default();
            match before {
                [.., b'\n', b'\r'] if feed > begin => return HeadEnd::Found,
                [.., b'\r'] => {}
                _ => return HeadEnd::BareLineFeed,
            }
        }
        HeadEnd::Missing
    }

    /// Percent-encodes raw bytes of the request target. The input begins with a complete head.
    pub(crate) fn encode_target(&self) -> Result<(), TargetTooLong> {
        request_target::encode(&mut self.input.borrow_mut(), MAX_HEAD_BYTES).map(drop)
    }

    /// The number of input bytes that TLS has not decrypted yet.
    pub(crate) fn undecrypted_bytes(&self) -> usize {
        self.stream.borrow().undecrypted_bytes()
    }

    /// Whether an unfinished head may take this many bytes of memory, beside what TLS holds of it.
    pub(crate) fn may_hold_head(&self, bytes: usize) -> bool {
        self.head_share.hold(bytes + self.stream.borrow().held_bytes())
    }

    /// Builds the answer to a refused request.
    pub(crate) fn refusal(
        &self,
        refusals: &dyn ListenerRefusals,
        refusal: ListenerRefusal,
    ) -> Response<BoxBody> {
        refusals.answer_at(refusal, self.stream.borrow().server_name())
    }

    /// Whether a certificate of this connection covers a host. True for any host without TLS.
    pub(crate) fn covers(&self, host: &str) -> bool {
        self.stream.borrow().covers(host)
    }

    /// Whether the connection speaks TLS.
    pub(crate) fn is_tls(&self) -> bool {
        self.stream.borrow().is_tls()
    }

    /// Whether the client has closed its side. Earlier input may still be unused.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.is_at_end.get()
    }

    /// Reads at most `most` bytes into a buffer with room for at least `room`. Returns their number; 0 if the
    /// client has closed its side.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        most: usize,
        room: usize,
    ) -> Poll<io::Result<usize>> {
        let mut input = self.input.borrow_mut();
        if input.capacity() == 0 {
            *input = self.buffers.take_small();
        }
        if input.capacity() - input.len() < room {
            input.reserve(room);
        }
        let mut stream = self.stream.borrow_mut();
        let read = {
            let mut limited = (&mut *input).limit(most);
            ready!(pin!(stream.read_buf(&mut limited)).poll(cx))
        };
        if matches!(read, Ok(0)) {
            self.is_at_end.set(true);
        }
        Poll::Ready(read)
    }

    /// Reads at most `most` bytes that have arrived, without waiting, and returns their number.
    pub(crate) fn read_available(&self, most: usize) -> usize {
        let (read, is_at_end) = self.stream.borrow_mut().read_available(most, &mut self.input.borrow_mut());
        if is_at_end {
            self.is_at_end.set(true);
        }
        read
    }

    /// Releases the memory of empty buffers.
    pub(crate) fn release(&self) {
        for buffer in [&self.input, &self.output] {
            let mut buffer = buffer.borrow_mut();
            if buffer.is_empty() && buffer.capacity() > 0 {
                self.buffers.give_back(&mut buffer);
            }
        }
    }

    /// Appends the head of an answer to the output.
    pub(crate) fn encode_head(&self, mut response: Response<()>, size: BodySize) -> io::Result<()> {
        if let Some(hsts) = &self.hsts {
            response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, hsts.clone());
        }
        self.patience.set(self.stalled.get());
        self.encode(Message::Item((response, size)))
    }

    /// Appends a part of a body to the output; `None` ends the body.
    pub(crate) fn encode_body(&self, part: Option<bytes::Bytes>) -> io::Result<()> {
        self.encode(Message::Chunk(part))
    }

    fn encode(&self, message: Message<(Response<()>, BodySize)>) -> io::Result<()> {
        let mut output = self.output.borrow_mut();
        if output.capacity() == 0 {
            *output = self.buffers.take();
        }
        self.codec.borrow_mut().encode(message, &mut output)
    }

    /// Appends a redirect to the output.
    pub(crate) fn put_redirect(&self, redirect: &ShortRedirect, closes: bool) {
        self.patience.set(self.stalled.get());
        let mut output = self.output.borrow_mut();
        if output.capacity() == 0 {
            *output = self.buffers.take();
        }
        redirect.write(&mut output, closes);
        if let Some(hsts) = &self.hsts {
            output.extend_from_slice(b"strict-transport-security: ");
            output.extend_from_slice(hsts.as_bytes());
            output.extend_from_slice(b"\r\n");
        }
        self.codec.borrow().config().write_date_header(&mut output, false);
        output.extend_from_slice(b"\r\n");
    }

    /// Appends raw bytes to the output.
    pub(crate) fn put(&self, bytes: &[u8]) {
        self.output.borrow_mut().extend_from_slice(bytes);
    }

    /// The number of unwritten output bytes.
    pub(crate) fn unwritten_bytes(&self) -> usize {
        self.output.borrow().len()
    }

    /// Whether the connection stays open after the answer with the last encoded head.
    pub(crate) fn is_kept_alive(&self) -> bool {
        self.codec.borrow().keep_alive()
    }

    /// Writes all output. Fails with [`io::ErrorKind::TimedOut`] if the client stops reading for too long.
    pub(crate) async fn flush(&self) -> io::Result<()> {
        let mut blocked_since = None;
        let flushed = poll_fn(|cx| self.poll_flush(cx, &mut blocked_since)).await;
        self.watch.clear_deadline();
        flushed
    }

    fn poll_flush(&self, cx: &mut Context<'_>, blocked_since: &mut Option<Instant>) -> Poll<io::Result<()>> {
        loop {
            match self.poll_write(cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(written)) => {
                    let written = u32::try_from(written).unwrap_or(u32::MAX);
                    let blocked = blocked_since.take().map_or(Duration::ZERO, |since| since.elapsed());
                    let patience = self.patience.get().saturating_sub(blocked) + TIME_PER_BYTE * written;
                    self.patience.set(patience.min(self.stalled.get()));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    if blocked_since.is_none() {
                        *blocked_since = Some(Instant::now());
                        self.watch.set_deadline(self.patience.get());
                    }
                    if self.watch.is_expired() {
                        return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                    }
                    self.watch.wake_later(cx);
                    return Poll::Pending;
                }
            }
        }
    }

    /// Writes as much as the socket takes without waiting. An error shows up at the next flush.
    pub(crate) fn write_available(&self, cx: &mut Context<'_>) {
        while self.unwritten_bytes() > 0 && matches!(self.poll_write(cx), Poll::Ready(Ok(_))) {}
    }

    /// Writes some of the output, and returns the number of bytes; 0 if nothing is left, also of what TLS has encrypted.
    fn poll_write(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut output = self.output.borrow_mut();
        if output.is_empty() {
            if output.capacity() > 0 {
                self.buffers.give_back(&mut output);
            }
            ready!(Pin::new(&mut *self.stream.borrow_mut()).poll_flush(cx))?;
            return Poll::Ready(Ok(0));
        }
        let mut stream = self.stream.borrow_mut();
        let written = ready!(Pin::new(&mut *stream).poll_write(cx, &output))?;
        if written == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        output.advance(written);
        Poll::Ready(Ok(written))
    }

    /// Makes the system discard unread output when the connection is dropped.
    pub(crate) fn discard_output(&self) {
        // If the system refuses, it keeps the bytes for a while.
        let stream = self.stream.borrow();
        let _ = SockRef::from(stream.socket()).set_linger(Some(Duration::ZERO));
        stream.cut_off(true);
    }

    /// Makes the system send unread output also after the connection is dropped, as it does at first.
    pub(crate) fn keep_output(&self) {
        let stream = self.stream.borrow();
        let _ = SockRef::from(stream.socket()).set_linger(None);
        stream.cut_off(false);
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.buffers.give_back(self.input.get_mut());
        self.buffers.give_back(self.output.get_mut());
    }
}
