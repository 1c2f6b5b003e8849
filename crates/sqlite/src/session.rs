//! A thread's connection, which is replaced after a failure.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::prelude::*;

use crate::connection::{self, Task};
use crate::deadline::Deadline;
use crate::failure::Failure;
use crate::file_watch::OpenFile;
use crate::open_error::OpenError;

/// What a commit must survive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// A crash of the process or of the machine: the commit waits for the disk.
    Machine,
    /// A crash of the process. A power failure may lose the last moments before it.
    Process,
}

/// A thread's connection. After a panic of a job, or a failed rollback, the connection is closed, which rolls back the open
/// transaction. The thread lives on, and the next job gets a new connection.
pub(crate) struct Session {
    file: OpenFile,
    task: Task,
    time_limit: Duration,
    deadline: Arc<Deadline>,
    connection: Option<SqliteConnection>,
    durability: Durability,
}

/// A job of a reading thread.
pub(crate) type Job = Box<dyn FnOnce(&mut Session) + Send>;

impl Session {
    pub(crate) fn open(file: OpenFile, task: Task, time_limit: Duration) -> Result<Self, OpenError> {
        let deadline = Arc::new(Deadline::none());
        let connection = connection::open(file.file(), task, time_limit, &deadline)?;
        let durability = Durability::Machine;
        Ok(Self { file, task, time_limit, deadline, connection: Some(connection), durability })
    }

    /// Runs one job. `ends` is when its caller stops waiting.
    pub(crate) fn run<T>(
        &mut self,
        ends: Instant,
        job: impl FnOnce(&mut SqliteConnection) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.deadline.set(ends);
        let mut connection = self.connected()?;
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let outcome = job(&mut connection);
            (connection, outcome)
        }));
        match outcome {
            Ok((connection, outcome)) => {
                self.connection = Some(connection);
                outcome
            }
            // The connection was closed while the panic unwound.
            Err(_) => Err(Failure::Panicked),
        }
    }

    /// Takes the connection, or opens a new one if the last was lost.
    fn connected(&mut self) -> Result<SqliteConnection, Failure> {
        if let Some(connection) = self.connection.take() {
            return Ok(connection);
        }
        self.file.may_be_written()?;
        let file = self.file.file();
        tracing::warn!(path = %file.path().display(), "opening the database again after a failure");
        self.durability = Durability::Machine;
        connection::open(file, self.task, self.time_limit, &self.deadline).map_err(Failure::NotConnected)
    }

    /// Begins a transaction that can write. Waits for other processes' transactions until `ends`, or until `is_wanted`
    /// returns false.
    pub(crate) fn begin(
        &mut self,
        durability: Durability,
        ends: Instant,
        is_wanted: impl Fn() -> bool,
    ) -> Result<(), Failure> {
        self.file.may_be_written()?;
        self.require(durability, ends)?;
        loop {
            let begun = self.run(ends, |connection| {
                // Immediate: if a transaction reads first and writes later, another process may have written
                // in between. SQLite then rejects the write at once, with any busy timeout.
                Ok(AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")?)
            });
            match begun {
                Err(failure) if failure.is_busy() && is_wanted() && Instant::now() < ends => {}
                begun => return begun,
            }
        }
    }

    fn require(&mut self, durability: Durability, ends: Instant) -> Result<(), Failure> {
        if self.durability != durability || self.connection.is_none() {
            let level = match durability {
                Durability::Machine => "PRAGMA synchronous = FULL",
                Durability::Process => "PRAGMA synchronous = NORMAL",
            };
            self.run(ends, |connection| Ok(connection.batch_execute(level)?))?;
            self.durability = durability;
        }
        Ok(())
    }

    /// Commits the transaction.
    pub(crate) fn commit(&mut self, ends: Instant) -> Result<(), Failure> {
        let commit =
            |connection: &mut SqliteConnection| Ok(AnsiTransactionManager::commit_transaction(connection)?);
        let committed = self.file.may_be_written().and_then(|()| self.run(ends, commit));
        if committed.is_err() {
            self.roll_back();
        }
        committed
    }

    /// Rolls the transaction back, if one is open.
    pub(crate) fn roll_back(&mut self) {
        let Some(mut connection) = self.connection.take() else { return };
        let undone = catch_unwind(AssertUnwindSafe(|| {
            let in_transaction = AnsiTransactionManager::transaction_manager_status_mut(&mut connection)
                .transaction_depth()
                .map(|depth| depth.is_some());
            match in_transaction {
                Ok(false) => Some(connection),
                Ok(true) => {
                    AnsiTransactionManager::rollback_transaction(&mut connection).ok().map(|()| connection)
                }
                Err(_) => None,
            }
        }));
        // If the rollback fails, closing the connection does it.
        self.connection = undone.ok().flatten();
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if self.file.is_replaced() {
            std::mem::forget(self.connection.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::database_file::DatabaseFile;

    /// A time limit that no call reaches, even on a busy machine.
    const LIMIT: Duration = Duration::from_mins(1);

    fn session() -> (tempfile::TempDir, Session) {
        let folder = tempfile::tempdir().unwrap();
        let file = DatabaseFile::at(folder.path().join("test.db")).unwrap();
        crate::migrate(&file, LIMIT).unwrap();
        let session = Session::open(OpenFile::new(file), Task::Write, LIMIT).unwrap();
        (folder, session)
    }

    fn soon() -> Instant {
        Instant::now() + LIMIT
    }

    fn execute(session: &mut Session, sql: &'static str) -> Result<usize, Failure> {
        session.run(soon(), |connection| Ok(diesel::sql_query(sql).execute(connection)?))
    }

    #[test]
    fn panic_rolls_back_and_leaves_the_session_usable() {
        let (_folder, mut session) = session();
        session.begin(Durability::Machine, soon(), || true).unwrap();
        execute(&mut session, "INSERT INTO request_counts VALUES (zeroblob(16), 0, 0, 1)").unwrap();
        let outcome = session.run(soon(), |_| -> Result<(), Failure> { panic!("a defect in a job") });
        assert!(matches!(outcome, Err(Failure::Panicked)));
        session.begin(Durability::Machine, soon(), || true).unwrap();
        assert_eq!(execute(&mut session, "DELETE FROM request_counts").unwrap(), 0);
        session.commit(soon()).unwrap();
    }

    #[test]
    fn rolling_back_without_a_transaction_does_nothing() {
        let (_folder, mut session) = session();
        session.roll_back();
        assert!(session.connection.is_some());
        session.begin(Durability::Process, soon(), || true).unwrap();
        session.roll_back();
        session.begin(Durability::Process, soon(), || true).unwrap();
    }

    #[test]
    fn each_transaction_has_its_own_durability() {
        #[derive(QueryableByName, PartialEq, Debug)]
        struct Level {
            #[diesel(sql_type = diesel::sql_types::Integer)]
            synchronous: i32,
        }
        let (_folder, mut session) = session();
        for (durability, level) in [
            (Durability::Process, 1),
            (Durability::Machine, 2),
            (Durability::Process, 1),
            (Durability::Machine, 2),
        ] {
            session.begin(durability, soon(), || true).unwrap();
            let now: Level = session
                .run(soon(), |connection| Ok(diesel::sql_query("PRAGMA synchronous").get_result(connection)?))
                .unwrap();
            assert_eq!(now, Level { synchronous: level });
            session.commit(soon()).unwrap();
        }
    }
}
