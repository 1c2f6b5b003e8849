//! How the order in which the index of texts names links is turned into that of the lists (ADR 42).
//!
//! The index names links by their numbers, the last that came first. Ids begin with the time at which they were made, so the
//! two orders are next to the same. They differ where two requests are at work at once, or a clock was set back: then a
//! link comes late. By how much at most is kept for each account.

use diesel::prelude::*;

use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::schema::{link_lateness, links};

/// How many bytes of an id are its time.
const BYTES_OF_TIME: usize = 6;

/// So many milliseconds are those of requests that are at work at once. More are those of a clock that was set back.
const LATE_BY_REQUESTS: i64 = 10_000;

/// What keeps the lateness as the links are.
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

/// When an id was made, in milliseconds since 1970.
pub(crate) fn time_of(id: &[u8]) -> i64 {
    let filled = id.iter().copied().chain(std::iter::repeat(0)).take(BYTES_OF_TIME);
    filled.fold(0, |time, byte| time << 8 | i64::from(byte))
}

/// The least id of a time; `None` if it is beyond what an id can say.
fn first_id_of(time: i64) -> Option<Vec<u8>> {
    let bytes = time.to_be_bytes();
    let (beyond, bytes) = bytes.split_at(bytes.len() - BYTES_OF_TIME);
    let fits = beyond.iter().all(|byte| *byte == 0);
    fits.then(|| bytes.iter().copied().chain(std::iter::repeat(0)).take(16).collect())
}

/// The order of an account's links of a kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SearchOrder {
    account: IdBytes,
    kind: i32,
    lateness: i64,
}

impl SearchOrder {
    pub(crate) fn of(
        connection: &mut SqliteConnection,
        account: IdBytes,
        kind: i32,
    ) -> Result<Self, Failure> {
        let lateness = link_lateness::table
            .find((account, kind))
            .select(link_lateness::millis)
            .first(connection)
            .optional()?;
        Ok(Self { account, kind, lateness: lateness.unwrap_or(0) })
    }

    /// Whether no link came later than requests do.
    pub(crate) const fn is_nearly_that_of_ids(&self) -> bool {
        self.lateness <= LATE_BY_REQUESTS
    }

    /// A number which no link has, nor a higher one, whose id is below `id`.
    ///
    /// It is that of a link which is so much younger that none that came after it can be older than `id`.
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

    /// Whether all links with lower numbers than that of the link `named` have ids below `id`.
    pub(crate) fn is_before_all_behind(&self, id: &[u8], named: &[u8]) -> bool {
        time_of(id) > time_of(named).saturating_add(self.lateness)
    }
}
