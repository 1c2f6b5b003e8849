//! The bytes of a connection: a socket, or TLS over one.

use std::cell::Cell;
use std::io::{self, Read as _};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::BytesMut;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::server::TlsStream;

use crate::ciphertext::Ciphertext;
use crate::tls::CertificateNames;

/// How much of an answer one TLS connection encrypts ahead of what the socket takes, in bytes. The default of 64 KiB would hide
/// from the listener that a client does not read.
const MAX_ENCRYPTED_BYTES: usize = 16 * 1024;

/// How many bytes a client may send before its handshake ends. A `ClientHello` may claim 64 KiB, and the TLS library would keep
/// all of it in memory; real ones need 2 KiB.
const MAX_HANDSHAKE_BYTES: usize = 16 * 1024;

/// The size of the largest record, with its header.
const MAX_RECORD_BYTES: usize = 5 + 16 * 1024 + 2048;

/// What a connection reads from and writes to.
pub(crate) enum Stream {
    /// HTTP without TLS.
    Plain(TcpStream),
    /// HTTP over TLS, after the handshake.
    Tls(Box<TlsSocket>),
}

/// A TLS connection after its handshake. Dropping it tells the client that nothing follows.
pub(crate) struct TlsSocket {
    stream: TlsStream<EncryptedSocket>,
    names: Arc<CertificateNames>,
    /// Whether the client must see that the answer is incomplete.
    is_cut_off: Cell<bool>,
}

/// The socket below TLS. A handshake reads a limited number of bytes from it.
pub(crate) struct EncryptedSocket {
    socket: TcpStream,
    /// How many bytes may still be read; `None` after the handshake.
    left: Option<usize>,
    /// Whether the `ClientHello` has arrived.
    has_hello: bool,
    ciphertext: Ciphertext,
}

impl EncryptedSocket {
    pub(crate) fn new(socket: TcpStream) -> Self {
        Self { socket, left: Some(MAX_HANDSHAKE_BYTES), has_hello: false, ciphertext: Ciphertext::default() }
    }

    pub(crate) const fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Notes that the `ClientHello` has arrived.
    pub(crate) const fn end_hello(&mut self) {
        self.has_hello = true;
    }

    /// Reads what has arrived, without waiting.
    fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = (&*SockRef::from(&self.socket)).read(buffer)?;
        self.ciphertext.note_read(buffer.len(), buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

/// Reads from a socket without waiting.
struct ReadNow<'a>(&'a mut EncryptedSocket);

impl io::Read for ReadNow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_now(buffer)
    }
}

impl TlsSocket {
    /// A connection after its handshake, with a certificate for these names.
    pub(crate) fn new(mut stream: TlsStream<EncryptedSocket>, names: Arc<CertificateNames>) -> Self {
        let (socket, session) = stream.get_mut();
        socket.left = None;
        socket.ciphertext.note_decrypted();
        session.set_buffer_limit(Some(MAX_ENCRYPTED_BYTES));
        Self { stream, names, is_cut_off: Cell::new(false) }
    }

    fn socket(&self) -> &TcpStream {
        &self.stream.get_ref().0.socket
    }

    fn ciphertext(&self) -> &Ciphertext {
        &self.stream.get_ref().0.ciphertext
    }

    /// Decrypts up to `most` bytes that have arrived, without waiting, and returns their number and whether the client has
    /// closed its side.
    fn read_available(&mut self, most: usize, input: &mut BytesMut) -> (usize, bool) {
        let (socket, session) = self.stream.get_mut();
        // Records may be padding alone, and the library accepts hundreds of them. Without a bound, decrypting those that a client
        // has sent would keep the worker from its other connections.
        let mut encrypted_left = most + MAX_RECORD_BYTES;
        let (mut read, mut part) = (0, [0; 4096]);
        while read < most {
            let room = part.len().min(most - read);
            match part.get_mut(..room).map(|part| session.reader().read(part)) {
                Some(Ok(0)) => return (read, true),
                Some(Ok(more)) => {
                    read += more;
                    input.extend_from_slice(part.get(..more).unwrap_or_default());
                    socket.ciphertext.note_decrypted();
                }
                Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock && encrypted_left > 0 => {
                    match session.read_tls(&mut ReadNow(&mut *socket)) {
                        Ok(0) => return (read, true),
                        Ok(more) if session.process_new_packets().is_ok() => {
                            encrypted_left = encrypted_left.saturating_sub(more);
                        }
                        // The error shows up when the connection continues.
                        Ok(_) | Err(_) => break,
                    }
                }
                Some(Err(_)) | None => break,
            }
        }
        (read, false)
    }
}

impl Drop for TlsSocket {
    fn drop(&mut self) {
        if self.is_cut_off.get() {
            return;
        }
        let (socket, session) = self.stream.get_mut();
        session.send_close_notify();
        // A client that does not read gets no farewell; it sees the end of the connection.
        let _ = session.write_tls(&mut &*SockRef::from(&socket.socket));
    }
}

impl Stream {
    /// Whether a certificate of this connection covers a host. Without TLS there is none to cover it, and any host is served.
    pub(crate) fn covers(&self, host: &str) -> bool {
        match self {
            Self::Plain(_) => true,
            Self::Tls(tls) => tls.names.cover(host),
        }
    }

    pub(crate) const fn is_tls(&self) -> bool {
        matches!(self, Self::Tls(_))
    }

    /// The host that the client named in its handshake, if any.
    pub(crate) fn server_name(&self) -> Option<&str> {
        match self {
            Self::Plain(_) => None,
            Self::Tls(tls) => tls.stream.get_ref().1.server_name(),
        }
    }

    /// How many bytes have arrived since the last plain text, up to a bound.
    pub(crate) fn undecrypted_bytes(&self) -> usize {
        match self {
            Self::Plain(_) => 0,
            Self::Tls(tls) => tls.ciphertext().undecrypted_bytes(),
        }
    }

    /// How much memory the undecrypted bytes hold.
    pub(crate) fn held_bytes(&self) -> usize {
        match self {
            Self::Plain(_) => 0,
            Self::Tls(tls) => tls.ciphertext().held_bytes(),
        }
    }

    /// The socket below.
    pub(crate) fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(socket) => socket,
            Self::Tls(tls) => tls.socket(),
        }
    }

    /// Reads up to `most` bytes that have arrived, without waiting, and returns their number and whether the client has closed
    /// its side. It asks the system directly, because the runtime may not know yet that data has arrived.
    pub(crate) fn read_available(&mut self, most: usize, input: &mut BytesMut) -> (usize, bool) {
        let socket = match self {
            Self::Plain(socket) => SockRef::from(&*socket),
            Self::Tls(tls) => return tls.read_available(most, input),
        };
        let mut socket = &*socket;
        let (mut read, mut part) = (0, [0; 4096]);
        while read < most {
            let room = part.len().min(most - read);
            match part.get_mut(..room).map(|part| socket.read(part)) {
                Some(Ok(0)) => return (read, true),
                Some(Ok(more)) => {
                    read += more;
                    input.extend_from_slice(part.get(..more).unwrap_or_default());
                }
                // "Would block" is one of these errors. The others show up when the connection continues.
                Some(Err(_)) | None => break,
            }
        }
        (read, false)
    }

    /// Notes whether the client must see that the answer is incomplete.
    pub(crate) fn cut_off(&self, is_cut_off: bool) {
        match self {
            Self::Plain(_) => {}
            Self::Tls(tls) => tls.is_cut_off.set(is_cut_off),
        }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_read(cx, buffer),
            Self::Tls(tls) => {
                let before = buffer.filled().len();
                let polled = Pin::new(&mut tls.stream).poll_read(cx, buffer);
                if buffer.filled().len() > before {
                    tls.stream.get_mut().0.ciphertext.note_decrypted();
                }
                polled
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_write(cx, bytes),
            Self::Tls(tls) => Pin::new(&mut tls.stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_flush(cx),
            Self::Tls(tls) => Pin::new(&mut tls.stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut *self {
            Self::Plain(socket) => Pin::new(socket).poll_shutdown(cx),
            Self::Tls(tls) => Pin::new(&mut tls.stream).poll_shutdown(cx),
        }
    }
}

impl AsyncRead for EncryptedSocket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.left == Some(0) {
            // A handshake that has ended reads on until it gets plain text or nothing more, so an error would close good
            // connections. One that has not ended waits here for its deadline.
            return if self.has_hello {
                Poll::Pending
            } else {
                Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()))
            };
        }
        let (before, room) = (buffer.filled().len(), buffer.remaining());
        let polled = Pin::new(&mut self.socket).poll_read(cx, buffer);
        let read = buffer.filled().get(before..).unwrap_or_default();
        self.ciphertext.note_read(room, read);
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(read.len());
        }
        polled
    }
}

impl AsyncWrite for EncryptedSocket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.socket).poll_write_vectored(cx, parts)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
#[path = "stream_tests.rs"]
mod tests;
