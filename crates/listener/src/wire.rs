//! One socket with its codec: reading and writing within bounds of memory and time.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, Read as _};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use actix_http::body::BodySize;
use actix_http::error::ParseError;
use actix_http::h1::{Codec, Message, MessageType};
use actix_http::{Request, Response};
use bytes::{Buf as _, BufMut as _, BytesMut};
use memchr::memchr_iter;
use socket2::SockRef;
use tokio::io::{AsyncReadExt as _, AsyncWrite as _};
use tokio::net::TcpStream;
use tokio_util::codec::{Decoder as _, Encoder as _};

use crate::buffers::Buffers;
use crate::options::Times;
use crate::watch::Watched;

/// The largest head of a request, in bytes: the request line and all headers.
pub const MOST_HEAD_BYTES: usize = 32 * 1024;

/// The most that is read of one body, in bytes on the wire, the framing of chunks included.
pub const MOST_BODY_BYTES: usize = 8 * 1024 * 1024;

/// The most of an answer that a connection holds in its own memory, in bytes, beside its head. The rest stays with the
/// body until the client has taken this.
pub const ANSWER_BYTES: usize = 16 * 1024;

/// The most that is read off after the last answer of a connection, in bytes. Clients send a whole body before they read, so
/// that it must be well above what a body may be; beyond, they see a reset.
pub const MOST_LINGERING_BYTES: usize = 32 * 1024 * 1024;

/// How many times [`Times::lingering`] it may take, while more comes.
const MOST_LINGERING_TIMES: u32 = 2;

/// How much of what is thrown away is read at once.
const LINGERING_READ_BYTES: usize = 16 * 1024;

/// What a byte that the client took is worth: 4 KiB buy a second.
const TIME_A_BYTE: Duration = Duration::from_nanos(1_000_000_000 / (4 * 1024));

/// What is known of the end of a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadEnd {
    /// It has not come yet.
    Missing,
    /// It is there.
    Found,
    /// A line ends without a carriage return. The codec takes that for the end of a line, others do not, and so would see another
    /// request in the same bytes (R27).
    BareLineFeed,
}

/// A socket, what was read from it and is not used yet, and what is to be written to it.
///
/// It is shared by the loop of the connection and by the body of the request under way.
pub(crate) struct Wire {
    stream: RefCell<TcpStream>,
    codec: RefCell<Codec>,
    input: RefCell<BytesMut>,
    output: RefCell<BytesMut>,
    buffers: Rc<Buffers>,
    pub(crate) watch: Watched,
    pub(crate) times: Times,
    /// Whether the client has closed its side.
    is_at_end: Cell<bool>,
    is_fresh: Cell<bool>,
    /// How long the client may take nothing of an answer, and how much of that time is left.
    stalled: Cell<Duration>,
    patience: Cell<Duration>,
}

impl Wire {
    pub(crate) fn new(
        stream: TcpStream,
        codec: Codec,
        buffers: Rc<Buffers>,
        watch: Watched,
        times: Times,
    ) -> Self {
        Self {
            stream: RefCell::new(stream),
            codec: RefCell::new(codec),
            input: RefCell::default(),
            output: RefCell::default(),
            buffers,
            watch,
            times,
            is_at_end: Cell::new(false),
            is_fresh: Cell::new(true),
            stalled: Cell::new(times.stalled),
            patience: Cell::new(times.stalled),
        }
    }

    /// Decodes the next message of what was read; `None` if more must be read for it.
    pub(crate) fn decode(&self) -> Result<Option<Message<Request>>, ParseError> {
        let decoded = self.codec.borrow_mut().decode(&mut self.input.borrow_mut());
        if matches!(decoded, Ok(Some(Message::Item(_)))) {
            self.is_fresh.set(false);
        }
        decoded
    }

    /// Whether no request was read yet.
    pub(crate) const fn is_fresh(&self) -> bool {
        self.is_fresh.get()
    }

    /// From now on the client may take nothing of an answer for this long.
    pub(crate) fn limit_patience(&self, stalled: Duration) {
        self.stalled.set(stalled);
    }

    /// Whether the request whose head was decoded last has a body.
    pub(crate) fn has_body(&self) -> bool {
        !matches!(self.codec.borrow().message_type(), MessageType::None)
    }

    /// Forgets the request under way, whose kind would decide how an answer is encoded.
    pub(crate) fn begin_anew(&self) {
        let config = self.codec.borrow().config().clone();
        self.codec.replace(Codec::new(config));
    }

    /// How many bytes were read and are not used yet.
    pub(crate) fn unused_bytes(&self) -> usize {
        self.input.borrow().len()
    }

    /// Looks for the end of a head among the unused bytes, of which those before `start` were looked through before.
    pub(crate) fn look_for_end_of_head(&self, start: usize) -> HeadEnd {
        let input = self.input.borrow();
        // Empty lines before a request are no end of it.
        let begin = input.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(input.len());
        for feed in memchr_iter(b'\n', input.get(start..).unwrap_or_default()).map(|place| start + place) {
            let before = input.get(feed.saturating_sub(3)..feed).unwrap_or_default();
            match before {
                [.., b'\n', b'\r'] if feed > begin => return HeadEnd::Found,
                [.., b'\r'] => {}
                _ => return HeadEnd::BareLineFeed,
            }
        }
        HeadEnd::Missing
    }

    /// Whether the client has closed its side. What it sent before may still be unused.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.is_at_end.get()
    }

    /// Reads more, at most `most` bytes, into room for at least `room`, and answers with how many; 0 when the client has
    /// closed its side.
    pub(crate) fn poll_read(
        &self,
        cx: &mut Context<'_>,
        most: usize,
        room: usize,
    ) -> Poll<io::Result<usize>> {
        let mut input = self.input.borrow_mut();
        if input.capacity() == 0 {
            *input = self.buffers.take();
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

    /// Reads what has arrived, at most `most` bytes, without waiting for any, and answers with how many. It asks the system
    /// itself: the runtime may not know yet that something has come.
    pub(crate) fn read_what_is_there(&self, most: usize) -> usize {
        let stream = self.stream.borrow();
        let socket = SockRef::from(&*stream);
        let mut socket = &*socket;
        let (mut read, mut part) = (0, [0; 4096]);
        while read < most {
            let room = part.len().min(most - read);
            match part.get_mut(..room).map(|part| socket.read(part)) {
                Some(Ok(0)) => {
                    self.is_at_end.set(true);
                    break;
                }
                Some(Ok(more)) => {
                    read += more;
                    self.input.borrow_mut().extend_from_slice(part.get(..more).unwrap_or_default());
                }
                // That nothing is there is one of these errors; the others show when the connection goes on.
                Some(Err(_)) | None => break,
            }
        }
        read
    }

    /// Lets go of memory that nothing is in.
    pub(crate) fn release(&self) {
        for buffer in [&self.input, &self.output] {
            let mut buffer = buffer.borrow_mut();
            if buffer.is_empty() && buffer.capacity() > 0 {
                self.buffers.give_back(&mut buffer);
            }
        }
    }

    /// Puts the head of an answer behind what is to be written.
    pub(crate) fn encode_head(&self, response: Response<()>, size: BodySize) -> io::Result<()> {
        self.patience.set(self.stalled.get());
        self.encode(Message::Item((response, size)))
    }

    /// Puts a part of a body behind what is to be written; `None` is its end.
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

    /// Puts bytes behind what is to be written as they are.
    pub(crate) fn put(&self, bytes: &[u8]) {
        self.output.borrow_mut().extend_from_slice(bytes);
    }

    /// How many bytes are to be written.
    pub(crate) fn unwritten_bytes(&self) -> usize {
        self.output.borrow().len()
    }

    /// Whether the connection goes on after the answer whose head was encoded last.
    pub(crate) fn is_kept_alive(&self) -> bool {
        self.codec.borrow().keep_alive()
    }

    /// Writes all that is to be written. [`io::ErrorKind::TimedOut`] if the client takes nothing for too long.
    pub(crate) async fn flush(&self) -> io::Result<()> {
        let mut blocked_since = None;
        let flushed = poll_fn(|cx| self.poll_flush(cx, &mut blocked_since)).await;
        self.watch.lift();
        flushed
    }

    fn poll_flush(&self, cx: &mut Context<'_>, blocked_since: &mut Option<Instant>) -> Poll<io::Result<()>> {
        loop {
            match self.poll_write(cx) {
                Poll::Ready(Ok(0)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(written)) => {
                    let written = u32::try_from(written).unwrap_or(u32::MAX);
                    let blocked = blocked_since.take().map_or(Duration::ZERO, |since| since.elapsed());
                    let patience = self.patience.get().saturating_sub(blocked) + TIME_A_BYTE * written;
                    self.patience.set(patience.min(self.stalled.get()));
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Pending => {
                    if blocked_since.is_none() {
                        *blocked_since = Some(Instant::now());
                        self.watch.limit(self.patience.get());
                    }
                    if self.watch.is_over() {
                        return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                    }
                    self.watch.wake_later(cx);
                    return Poll::Pending;
                }
            }
        }
    }

    /// Writes as much as the socket takes now, while something else is waited for. An error shows at the next flush.
    pub(crate) fn write_what_fits(&self, cx: &mut Context<'_>) {
        while self.unwritten_bytes() > 0 && matches!(self.poll_write(cx), Poll::Ready(Ok(_))) {}
    }

    /// Writes some of what is to be written, and answers with how many bytes; 0 when nothing is left.
    fn poll_write(&self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        let mut output = self.output.borrow_mut();
        if output.is_empty() {
            if output.capacity() > 0 {
                self.buffers.give_back(&mut output);
            }
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

    /// Closes our side, and reads off for a while what the client still sends, so that it reads the answer and not a
    /// reset.
    pub(crate) async fn linger(&self) {
        let shut_down = poll_fn(|cx| Pin::new(&mut *self.stream.borrow_mut()).poll_shutdown(cx)).await;
        if shut_down.is_err() || self.is_at_end() {
            return;
        }
        // Nothing that is thrown away needs memory of its own.
        self.input.borrow_mut().clear();
        self.release();
        let ends = Instant::now() + MOST_LINGERING_TIMES * self.times.lingering;
        let mut thrown_away = 0;
        self.watch.limit(self.times.lingering);
        poll_fn(|cx| {
            let stream = self.stream.borrow();
            while thrown_away < MOST_LINGERING_BYTES {
                match stream.poll_read_ready(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(_)) => break,
                    Poll::Pending if self.watch.is_over() || Instant::now() >= ends => break,
                    Poll::Pending => {
                        self.watch.wake_later(cx);
                        return Poll::Pending;
                    }
                }
                match stream.try_read(&mut [0; LINGERING_READ_BYTES]) {
                    Ok(0) => break,
                    Ok(read) => {
                        thrown_away += read;
                        self.watch.limit(self.times.lingering);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => break,
                }
            }
            Poll::Ready(())
        })
        .await;
    }

    /// Makes the system forget what the client did not take, when the connection is dropped.
    pub(crate) fn give_up(&self) {
        // If the system refuses, it keeps the bytes for a while.
        let _ = SockRef::from(&*self.stream.borrow()).set_linger(Some(Duration::ZERO));
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.buffers.give_back(self.input.get_mut());
        self.buffers.give_back(self.output.get_mut());
    }
}
