//! Several reads of one moment.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Instant;

use diesel::prelude::*;
use signpost_app::ports::StoreError;
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use crate::answer::answer_by;
use crate::failure::Failure;
use crate::readers::Readers;

type Read = Box<dyn FnOnce(&mut SqliteConnection) + Send>;

/// A reading thread on loan, with a transaction that sees the database as it was at its first read. Dropping it gives the
/// thread back.
pub(crate) struct Snapshot {
    reads: Sender<Read>,
    ends: Instant,
}

impl Snapshot {
    /// Borrows a thread until `ends` at the latest. `turn` is held until the thread is given back.
    pub(crate) async fn begin(
        readers: &Readers,
        turn: OwnedSemaphorePermit,
        ends: Instant,
    ) -> Result<Self, StoreError> {
        let (reads, inbox) = mpsc::channel::<Read>();
        let (begun_to, begun) = oneshot::channel();
        readers.put(Box::new(move |session| {
            let _turn = turn;
            if begun_to.is_closed() {
                return;
            }
            let mut begun_to = Some(begun_to);
            let outcome = session.run(ends, |connection| {
                connection.transaction(|connection| {
                    if let Some(begun) = begun_to.take() {
                        let _ = begun.send(Ok(()));
                    }
                    serve(connection, &inbox, ends);
                    Ok::<_, Failure>(())
                })
            });
            if let (Some(begun), Err(failure)) = (begun_to, outcome) {
                let _ = begun.send(Err(failure));
            }
        }))?;
        answer_by(ends, begun).await?.map_err(Failure::into_store_error)?;
        Ok(Self { reads, ends })
    }

    /// Runs `read` on the thread.
    pub(crate) async fn read<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (answer_to, answer) = oneshot::channel();
        let read: Read = Box::new(move |connection| {
            let _ = answer_to.send(read(connection));
        });
        let ended = |_| StoreError::unavailable("a read of the store took too long, or failed");
        self.reads.send(read).map_err(ended)?;
        answer_by(self.ends, answer).await?.map_err(Failure::into_store_error)
    }
}

fn serve(connection: &mut SqliteConnection, inbox: &Receiver<Read>, ends: Instant) {
    loop {
        let left = ends.saturating_duration_since(Instant::now());
        let Ok(read) = inbox.recv_timeout(left) else { return };
        read(connection);
    }
}
