//! Translates between the order of the search index and the order of the lists (ADR 42).
//!
//! FTS5 returns links by `number`, which is their order of insertion. A list is ordered by id, and an id starts with its
//! creation time. The two orders differ where concurrent requests commit in another order, or after a clock was set back.
//! `link_lateness` records the maximum difference for each account, so a search knows when a page is final.

use diesel::prelude::*;

use crate::failure::Failure;
use crate::schema::{link_lateness, links};
use signpost_sql_rows::columns::IdBytes;

/// The bytes of an id that hold its creation time.
const BYTES_OF_TIME: usize = 6;

/// Concurrent requests cause less lateness than this, in milliseconds. More means that a clock was set back.
const LATE_BY_REQUESTS: i64 = 10_000;

/// Records the lateness of each inserted link if it exceeds what is recorded.
pub(crate) const TRIGGER: &str = "
    CREATE TEMP TRIGGER links_come_late AFTER INSERT ON main.links BEGIN
        INSERT INTO link_lateness (account_id, kind, millis)
        SELECT new.account_id, new.kind, link_time(newest.id) - link_time(new.id)
        FROM (
            SELECT id FROM links WHERE account_id = new.account_id AND kind = new.kind ORDER BY id DESC LIMIT 1
        ) AS newest
        WHERE link_time(newest.id) > link_time(new.id)
        ON CONFLICT (account_id, kind) DO UPDATE SET millis = excluded.millis WHERE excluded.millis > millis;
    END;";

/// The creation time of an id, in milliseconds since 1970.
pub(crate) fn time_of(id: &[u8]) -> i64 {
    let filled = id.iter().copied().chain(std::iter::repeat(0)).take(BYTES_OF_TIME);
    filled.fold(0, |time, byte| time << 8 | i64::from(byte))
}

/// The lowest id with a creation time; `None` if no id can hold that time.
fn first_id_of(time: i64) -> Option<IdBytes> {
    let bytes = time.to_be_bytes();
    let (beyond, bytes) = bytes.split_at(bytes.len() - BYTES_OF_TIME);
    let fits = beyond.iter().all(|byte| *byte == 0);
    fits.then(|| {
        let mut id = [0; 16];
        for (to, from) in id.iter_mut().zip(bytes) {
            *to = *from;
        }
        IdBytes::of(id)
    })
}

/// How the two orders differ among an account's links of a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchOrder {
    account: IdBytes,
    kind: i16,
    lateness: i64,
}

impl SearchOrder {
    pub(crate) fn of(
        connection: &mut SqliteConnection,
        account: IdBytes,
        kind: i16,
    ) -> Result<Self, Failure> {
        let lateness = link_lateness::table
            .find((account, kind))
            .select(link_lateness::millis)
            .first(connection)
            .optional()?;
        Ok(Self { account, kind, lateness: lateness.unwrap_or(0) })
    }

    /// Whether concurrent requests alone explain the lateness.
    pub(crate) const fn is_nearly_that_of_ids(&self) -> bool {
        self.lateness <= LATE_BY_REQUESTS
    }

    /// A number above those of all links whose ids are below `id`.
    ///
    /// It belongs to the oldest link that is younger than `id` by more than the lateness. A link inserted
    /// after it cannot be older than `id`.
    pub(crate) fn number_above(&self, connection: &mut SqliteConnection, id: &[u8]) -> Result<i64, Failure> {
        let settled = time_of(id).saturating_add(self.lateness).saturating_add(1);
        let Some(first) = first_id_of(settled) else { return Ok(i64::MAX) };
        let number = links::table
            .filter(links::account_id.eq(self.account))
            .filter(links::kind.eq(self.kind))
            .filter(links::id.ge(first))
            .order(links::id)
            .select(links::number)
            .first(connection)
            .optional()?;
        Ok(number.unwrap_or(i64::MAX))
    }

    /// Whether every link with a lower number than the link `named` has an id below `id`.
    pub(crate) fn precedes_all_below(&self, id: &[u8], named: &[u8]) -> bool {
        time_of(id) > time_of(named).saturating_add(self.lateness)
    }
}
