//! Reads on for a while after the last answer of a connection.

use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::Poll;
use std::time::Instant;

use tokio::io::AsyncWrite as _;

use super::Wire;

/// Maximum number of bytes read after the last answer of a connection. Many clients send the whole body
/// before they read, so it is well above the body limit; beyond it, clients see a reset.
pub const MAX_LINGERING_BYTES: usize = 32 * 1024 * 1024;

/// The total reading time, as a multiple of [`Times::lingering`], while data arrives.
const MAX_LINGERING_TIMES: u32 = 2;

/// How many discarded bytes one read takes.
const LINGERING_READ_BYTES: usize = 16 * 1024;

impl Wire {
    /// Closes our side, and discards for a while what the client still sends, so that it reads the answer
    /// instead of a reset.
    pub(crate) async fn linger(&self) {
        self.watch.set_deadline(self.times.lingering);
        let shut_down = poll_fn(|cx| {
            let polled = Pin::new(&mut *self.stream.borrow_mut()).poll_shutdown(cx);
            if polled.is_pending() {
                // With TLS there is a last record to send, and the client may not read.
                if self.watch.is_expired() {
                    return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
                }
                self.watch.wake_later(cx);
            }
            polled
        });
        if shut_down.await.is_err() || self.is_at_end() {
            return;
        }
        // Discarding needs no buffer.
        self.input.borrow_mut().clear();
        self.release();
        self.head_share.release();
        let ends = Instant::now() + MAX_LINGERING_TIMES * self.times.lingering;
        let mut thrown_away = 0;
        self.watch.set_deadline(self.times.lingering);
        poll_fn(|cx| {
            // Also with TLS: nobody needs the plain text.
            let stream = self.stream.borrow();
            let socket = stream.socket();
            while thrown_away < MAX_LINGERING_BYTES {
                match socket.poll_read_ready(cx) {
                    Poll::Ready(Ok(())) => {}
                    Poll::Ready(Err(_)) => break,
                    Poll::Pending if self.watch.is_expired() || Instant::now() >= ends => break,
                    Poll::Pending => {
                        self.watch.wake_later(cx);
                        return Poll::Pending;
                    }
                }
                match socket.try_read(&mut [0; LINGERING_READ_BYTES]) {
                    Ok(0) => break,
                    Ok(read) => {
                        thrown_away += read;
                        self.watch.set_deadline(self.times.lingering);
                    }
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                    Err(_) => break,
                }
            }
            Poll::Ready(())
        })
        .await;
    }
}
