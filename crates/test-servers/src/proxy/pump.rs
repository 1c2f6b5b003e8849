//! One direction of a proxied connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::{Behaviour, Direction, Moment};

/// The connection must be reset, or one side has reset it.
pub(super) struct Broken;

impl From<std::io::Error> for Broken {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

/// Forwards the bytes of one direction.
pub(super) struct Pump<'a> {
    direction: Direction,
    reader: ReadHalf<'a>,
    writer: WriteHalf<'a>,
    /// Whether the server has received the text of [`Moment::AfterAnswer`]; both directions share it.
    is_answer_awaited: &'a AtomicBool,
    buffer: Box<[u8]>,
    /// The bytes that were read and not yet written.
    held: Vec<u8>,
    /// When the first byte of `held` arrived.
    came: Instant,
    /// The time of the last write.
    wrote: Option<Instant>,
    /// The number of bytes written since the behaviour changed.
    written: u64,
    /// The last bytes written since the behaviour changed, enough to find a text that began in them.
    tail: Vec<u8>,
}

impl<'a> Pump<'a> {
    pub(super) fn new(
        direction: Direction,
        reader: ReadHalf<'a>,
        writer: WriteHalf<'a>,
        is_answer_awaited: &'a AtomicBool,
    ) -> Self {
        let buffer = vec![0; 64 * 1024].into_boxed_slice();
        let (held, tail, came) = (Vec::new(), Vec::new(), Instant::now());
        Self {
            direction,
            reader,
            writer,
            is_answer_awaited,
            buffer,
            held,
            came,
            wrote: None,
            written: 0,
            tail,
        }
    }

    /// Runs until this direction is closed cleanly.
    pub(super) async fn run(mut self, mut orders: watch::Receiver<Behaviour>) -> Result<(), Broken> {
        let mut behaviour = orders.borrow_and_update().clone();
        loop {
            tokio::select! {
                // A new behaviour applies before any bytes sent after it.
                biased;
                changed = orders.changed() => {
                    changed.map_err(|_| Broken)?;
                    behaviour = orders.borrow_and_update().clone();
                    self.written = 0;
                    self.tail.clear();
                    self.is_answer_awaited.store(false, Ordering::SeqCst);
                }
                has_ended = self.step(&behaviour) => if has_ended? { return Ok(()) },
            }
        }
    }

    /// Reads a piece, or writes held bytes; returns whether this direction is closed. It is cancel-safe: dropping it loses no
    /// bytes and writes none twice.
    async fn step(&mut self, behaviour: &Behaviour) -> Result<bool, Broken> {
        match behaviour {
            Behaviour::Refuse => return Err(Broken),
            Behaviour::BlackHole => std::future::pending::<()>().await,
            Behaviour::Pass
            | Behaviour::Delay { .. }
            | Behaviour::Slice { .. }
            | Behaviour::Cut { .. }
            | Behaviour::CutAt { .. } => {}
        }
        if self.held.is_empty() {
            return self.read().await;
        }
        let mut end = self.held.len();
        match *behaviour {
            Behaviour::Delay { to_server, to_client } => {
                sleep_until(self.came + self.of(to_server, to_client)).await;
            }
            Behaviour::Slice { bytes, pause } => {
                end = end.min(bytes.get());
                if let Some(wrote) = self.wrote {
                    sleep_until(wrote + pause).await;
                }
            }
            Behaviour::Cut { direction, after } if direction == self.direction => {
                end = end.min(usize::try_from(after - self.written).unwrap_or(usize::MAX));
            }
            Behaviour::Pass | Behaviour::Refuse | Behaviour::BlackHole | Behaviour::Cut { .. } => {}
            Behaviour::CutAt { text, moment } => self.look_for(text.as_bytes(), moment)?,
        }
        if end == 0 {
            return Err(Broken);
        }
        let written = self.writer.write(&self.held[..end]).await?;
        self.written += u64::try_from(written).unwrap();
        self.wrote = Some(Instant::now());
        if let Behaviour::CutAt { text, .. } = behaviour {
            self.tail.extend_from_slice(&self.held[..written]);
            self.tail.drain(..self.tail.len().saturating_sub(text.len() - 1));
        }
        self.held.drain(..written);
        Ok(false)
    }

    async fn read(&mut self) -> Result<bool, Broken> {
        let read = self.reader.read(&mut self.buffer).await?;
        if read == 0 {
            self.writer.shutdown().await?;
            return Ok(true);
        }
        self.held.extend_from_slice(&self.buffer[..read]);
        self.came = Instant::now();
        Ok(false)
    }

    fn look_for(&self, text: &[u8], moment: Moment) -> Result<(), Broken> {
        match self.direction {
            Direction::ToClient if self.is_answer_awaited.load(Ordering::SeqCst) => return Err(Broken),
            Direction::ToClient => {}
            Direction::ToServer => {
                let seen = [self.tail.as_slice(), &self.held].concat();
                if seen.windows(text.len()).any(|window| window == text) {
                    match moment {
                        Moment::BeforeArrival => return Err(Broken),
                        Moment::AfterAnswer => self.is_answer_awaited.store(true, Ordering::SeqCst),
                    }
                }
            }
        }
        Ok(())
    }

    const fn of(&self, to_server: Duration, to_client: Duration) -> Duration {
        match self.direction {
            Direction::ToServer => to_server,
            Direction::ToClient => to_client,
        }
    }
}
