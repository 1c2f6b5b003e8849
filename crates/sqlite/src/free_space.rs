//! Returning the space of deleted rows to the disk.
//!
//! SQLite keeps the pages of deleted rows for new ones, and a file never shrinks on its own. New files record which page
//! refers to which (`auto_vacuum = INCREMENTAL`), so free pages can be cut off in small steps without copying the file. The
//! writing thread does this when no order waits.

use std::time::Instant;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

use crate::failure::Failure;
use crate::session::Session;

/// How many pages one step returns: 800 KiB, which takes some milliseconds.
const STEP: i64 = 200;

/// How many free pages always stay, for the next writes: 4 MiB.
const KEPT: i64 = 1_000;

/// One page in this many may be free.
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

impl Pages {
    fn of(connection: &mut SqliteConnection) -> QueryResult<Self> {
        let Free { freelist_count } = diesel::sql_query("PRAGMA freelist_count").get_result(connection)?;
        let All { page_count } = diesel::sql_query("PRAGMA page_count").get_result(connection)?;
        Ok(Self { free: freelist_count, all: page_count })
    }

    /// How many free pages are too many.
    fn excess(&self) -> i64 {
        self.free.saturating_sub(KEPT.max(self.all / ONE_IN)).max(0)
    }
}

/// Returns some free pages, if there are too many. Returns whether more may follow. A failure here, perhaps because another
/// program writes, is made up for after a later write.
pub(crate) fn give_back(session: &mut Session, ends: Instant) -> bool {
    let given = session.run(ends, |connection| {
        let before = Pages::of(connection)?;
        let excess = before.excess();
        if excess == 0 {
            return Ok(false);
        }
        connection.batch_execute(&format!("PRAGMA incremental_vacuum({})", excess.min(STEP)))?;
        let after = Pages::of(connection)?;
        // A file of an earlier version has no incremental vacuum.
        Ok::<_, Failure>(after.free < before.free && after.excess() > 0)
    });
    given.unwrap_or_else(|failure| {
        tracing::debug!(%failure, "cannot return free space of the database");
        false
    })
}
