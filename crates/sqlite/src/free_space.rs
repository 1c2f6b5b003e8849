//! Giving the space of what was deleted back to the disk.
//!
//! SQLite keeps the pages of deleted rows for new ones, and a file never shrinks by itself. New files know which page refers
//! to which (`auto_vacuum = INCREMENTAL`), so that free pages can be cut off some at a time, without a copy of the file. The
//! writing thread does so when no order waits.

use std::time::Instant;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::failure::Failure;
use crate::session::Session;

const INCREMENTAL: &str = "PRAGMA auto_vacuum = INCREMENTAL";

/// How many pages are given back in one step: 800 KiB, some milliseconds.
const STEP: i64 = 200;

/// How many free pages stay in any case, for what is written next: 4 MiB.
const KEPT: i64 = 1_000;

/// Of how many pages one may be free.
const ONE_IN: i64 = 10;

struct Pages {
    free: i64,
    all: i64,
}

#[derive(QueryableByName)]
struct Free {
    #[diesel(sql_type = BigInt)]
    freelist_count: i64,
}

#[derive(QueryableByName)]
struct All {
    #[diesel(sql_type = BigInt)]
    page_count: i64,
}

#[derive(QueryableByName)]
struct Mode {
    #[diesel(sql_type = BigInt)]
    auto_vacuum: i64,
}

/// Has a file that nothing was written to yet give space back later.
pub(crate) fn prepare_new_file(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(INCREMENTAL)
}

/// Has a copy of the file give space back, if the file itself does not.
pub(crate) fn prepare_copy(connection: &mut SqliteConnection) -> QueryResult<()> {
    let Mode { auto_vacuum } = diesel::sql_query("PRAGMA auto_vacuum").get_result(connection)?;
    // Where the file does, this would write to it.
    if auto_vacuum == 0 { connection.batch_execute(INCREMENTAL) } else { Ok(()) }
}

impl Pages {
    fn of(connection: &mut SqliteConnection) -> QueryResult<Self> {
        let Free { freelist_count } = diesel::sql_query("PRAGMA freelist_count").get_result(connection)?;
        let All { page_count } = diesel::sql_query("PRAGMA page_count").get_result(connection)?;
        Ok(Self { free: freelist_count, all: page_count })
    }

    /// How many of the free ones are too many.
    fn excess(&self) -> i64 {
        self.free.saturating_sub(KEPT.max(self.all / ONE_IN)).max(0)
    }
}

/// Gives some free pages back, if there are too many. Says whether there may be more to give back. What fails here, because
/// another program writes perhaps, is done after a later write.
pub(crate) fn give_back(session: &mut Session, ends: Instant) -> bool {
    let given = session.run(ends, |connection| {
        let before = Pages::of(connection)?;
        let excess = before.excess();
        if excess == 0 {
            return Ok(false);
        }
        connection.batch_execute(&format!("PRAGMA incremental_vacuum({})", excess.min(STEP)))?;
        let after = Pages::of(connection)?;
        // A file of an earlier version gives nothing back.
        Ok::<_, Failure>(after.free < before.free && after.excess() > 0)
    });
    given.unwrap_or_else(|failure| {
        tracing::debug!(%failure, "free space of the database was not given back");
        false
    })
}
