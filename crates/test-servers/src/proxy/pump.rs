//! What goes one way over one connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{ReadHalf, WriteHalf};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

use super::{Behaviour, Direction, Moment};

/// The connection is to be reset, or one of its sides has done so.
pub(super) struct Broken;

impl From<std::io::Error> for Broken {
    fn from(_: std::io::Error) -> Self {
        Self
    }
}

/// Hands on what goes one way.
pub(super) struct Pump<'a> {
    direction: Direction,
    reader: ReadHalf<'a>,
    writer: WriteHalf<'a>,
    /// Whether the text of [`Moment::AfterAnswer`] is with the server; both directions share it.
    is_answer_awaited: &'a AtomicBool,
    buffer: Box<[u8]>,
    /// What has been read and not yet written.
    held: Vec<u8>,
    /// When the first byte of `held` came.
    came: Instant,
    /// When something was written last.
    wrote: Option<Instant>,
    /// How much has been written since the behaviour changed.
    written: u64,
    /// The last that was written since the behaviour changed, as much as a text may have begun in it.
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

    /// Goes on until this way is closed in an orderly manner.
    pub(super) async fn run(mut self, mut orders: watch::Receiver<Behaviour>) -> Result<(), Broken> {
        let mut behaviour = orders.borrow_and_update().clone();
        loop {
            tokio::select! {
                // An order comes before bytes that were sent after it.
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

    /// Reads a piece, or writes of what it holds; whether this way is closed. It may be dropped at any time, with
    /// nothing lost and nothing written twice.
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
