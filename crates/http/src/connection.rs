//! A client's connection, on which every error has the contract's form (contract "Errors": every error response on
//! every status), also the answer to what is no HTTP.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::rt::net::TcpStream;
use signpost_app::Application;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, ReadBuf};

use crate::unreadable_request::BareResponse;

/// How long a connection on which something unreadable came is still read from after the answer, and how much. A
/// client that is still sending when it closes sees a reset and not the answer.
const LINGERING_TIME: Duration = Duration::from_secs(2);
const MOST_LINGERING_BYTES: u64 = 8 * 1024 * 1024;

/// A connection that replaces the empty answers which the framework gives to unreadable requests.
pub(crate) struct Connection {
    /// `None` only while it is dropped.
    stream: Option<TcpStream>,
    app: Arc<Application>,
    /// What is to be sent in place of the framework's answer and is not sent yet.
    replacement: Vec<u8>,
    /// How many of the bytes to be sent next were looked through already. The framework hands over the same bytes
    /// again until they are gone, and only adds whole responses and chunks behind them.
    looked_through: usize,
    /// Whether an answer was replaced; the framework ends the connection then.
    is_ending: bool,
    /// Whether the client sent something that nothing was answered to yet, and still listens.
    is_owed_an_answer: bool,
    /// Whether our side is closed; what is read after that is only read off.
    is_shut_down: bool,
}

impl Connection {
    /// Puts a connection in order.
    pub(crate) const fn new(stream: TcpStream, app: Arc<Application>) -> Self {
        Self {
            stream: Some(stream),
            app,
            replacement: Vec::new(),
            looked_through: 0,
            is_ending: false,
            is_owed_an_answer: false,
            is_shut_down: false,
        }
    }

    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        self.stream.as_mut().map(Pin::new).ok_or_else(|| io::ErrorKind::NotConnected.into())
    }

    fn poll_replacement(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.replacement.is_empty() {
            let replacement = std::mem::take(&mut self.replacement);
            let written = self.stream()?.poll_write(cx, &replacement);
            let rest = match &written {
                Poll::Ready(Ok(written)) => replacement.get(*written..).unwrap_or_default(),
                Poll::Ready(Err(_)) | Poll::Pending => &replacement,
            };
            self.replacement = rest.to_vec();
            if ready!(written)? == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = ready!(self.stream()?.poll_read(cx, buffer));
        self.is_owed_an_answer = !self.is_shut_down && read.is_ok() && buffer.filled().len() > before;
        Poll::Ready(read)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_replacement(cx))?;
        self.is_owed_an_answer = false;
        let bare = BareResponse::find(bytes, self.looked_through);
        self.looked_through = bare.as_ref().map_or(bytes.len(), |bare| bare.place.start);
        match bare {
            Some(bare) if bare.place.start == 0 => {
                self.replacement = bare.replacement(&self.app);
                self.is_ending = true;
                Poll::Ready(Ok(bare.place.end))
            }
            Some(_) | None => {
                let ours = bytes.get(..self.looked_through).unwrap_or_default();
                let written = ready!(self.stream()?.poll_write(cx, ours))?;
                self.looked_through = self.looked_through.saturating_sub(written);
                Poll::Ready(Ok(written))
            }
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_replacement(cx))?;
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_replacement(cx))?;
        self.is_shut_down = true;
        self.is_owed_an_answer = false;
        self.stream()?.poll_shutdown(cx)
    }
}

/// After an unreadable request the framework lets go of the connection at once, also while the client still sends
/// and before the answer is out. Where a body's framing breaks while its request runs, it does so without a word.
impl Drop for Connection {
    fn drop(&mut self) {
        let is_forgotten = self.is_owed_an_answer && !self.app.lifecycle.is_draining();
        let (true, Some(stream)) = (self.is_ending || is_forgotten, self.stream.take()) else { return };
        let mut replacement = std::mem::take(&mut self.replacement);
        if is_forgotten && replacement.is_empty() {
            replacement = BareResponse::unsaid().replacement(&self.app);
        }
        // Without a runtime the program is at its end, and nobody waits for the answer.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(tokio::time::timeout(LINGERING_TIME, linger(stream, replacement)));
        }
    }
}

async fn linger(mut stream: TcpStream, replacement: Vec<u8>) -> io::Result<()> {
    stream.write_all(&replacement).await?;
    stream.shutdown().await?;
    tokio::io::copy(&mut stream.take(MOST_LINGERING_BYTES), &mut tokio::io::sink()).await?;
    Ok(())
}
