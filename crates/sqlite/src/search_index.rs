//! The text index of links, which tells a search where to look (ADR 32, ADR 92).
//!
//! For every three consecutive characters, it lists the numbers of the links that contain them. The
//! characters are those of the folded texts, so case makes no difference, as the domain defines case. The
//! index is ordered by number (`search_order`). Its results may not match. It has one document for all three
//! texts of a link, which it cannot tell apart. It also lacks the positions of the characters. So the
//! domain's rule checks each result.
//!
//! Each document starts with three characters that encode its account and kind. They make a search skip the
//! links of all other accounts.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Binary, SmallInt, Text};
use signpost_domain::search_text::fold;
use signpost_domain::{AccountId, LinkKind};
use signpost_sql_rows::sql_types::Identifier;

use crate::columns::UpperBound;
use crate::failure::Failure;
use crate::search_order;
use signpost_sql_rows::columns::{IdBytes, StoredId};
use signpost_sql_rows::link::kind_column;

/// The triggers that keep the index up to date. They are temporary and belong to the writing connection, because they call a
/// function of this program: SQLite would reject that in a file as unsafe.
///
/// A link that changes withdraws its former text, which must be the one that was added: a migration that changes [`text_of`] builds the
/// index again.
const TRIGGERS: &str = "
    CREATE TEMP TRIGGER links_put_in_search AFTER INSERT ON main.links BEGIN
        INSERT INTO link_search (rowid, text)
        VALUES (new.number, link_text(new.account_id, new.kind, new.name, new.slug, new.target_url));
    END;
    CREATE TEMP TRIGGER links_changed_in_search AFTER UPDATE ON main.links
    WHEN new.name IS NOT old.name OR new.slug IS NOT old.slug OR new.target_url IS NOT old.target_url BEGIN
        INSERT INTO link_search (link_search, rowid, text)
        VALUES ('delete', old.number, link_text(old.account_id, old.kind, old.name, old.slug, old.target_url));
        INSERT INTO link_search (rowid, text)
        VALUES (new.number, link_text(new.account_id, new.kind, new.name, new.slug, new.target_url));
    END;
    CREATE TEMP TRIGGER links_taken_from_search AFTER DELETE ON main.links BEGIN
        INSERT INTO link_search (link_search, rowid, text)
        VALUES ('delete', old.number, link_text(old.account_id, old.kind, old.name, old.slug, old.target_url));
    END;";

/// Makes the index follow every change of links on the connection.
pub(crate) fn keep(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(TRIGGERS)?;
    connection.batch_execute(search_order::TRIGGER)
}

/// The number of characters in an entry of the index.
const GRAM: usize = 3;

/// The maximum number of entries that one search looks up. Each further entry costs time and excludes few links.
const MOST_GRAMS: usize = 16;

/// The distance between the entries to look up. Every second one suffices: together they still cover every pair of adjacent
/// characters, at half the cost.
const STEP: usize = 2;

/// Separates texts, so that the end of one and the start of the next rarely match a search.
const BORDER: char = '\u{1}';

/// The document of a link in the index.
pub(crate) fn text_of(account: &[u8], kind: i16, name: &str, slug: &str, target_url: Option<&str>) -> String {
    let mut text = owner(account, kind);
    for part in [Some(name), Some(slug), target_url].into_iter().flatten() {
        text.push(BORDER);
        text.push_str(&fold(part));
    }
    text
}

/// Three characters of a private use area of Unicode for the account's links of a kind. Two accounts may share them, and a
/// text may contain them: then the index returns a few links in vain.
fn owner(account: &[u8], kind: i16) -> String {
    // The last bytes of an id are random.
    let random = account.iter().rev().take(6).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let bits = random << 1 | u64::from(kind != 0);
    [bits, bits >> 15, bits >> 30]
        .into_iter()
        .filter_map(|bits| char::from_u32(0xf_0000 | u32::try_from(bits & 0x7fff).unwrap_or(0)))
        .collect()
}

/// The look-up in the index for a search.
#[derive(Debug, Clone)]
pub(crate) struct IndexSearch {
    account: IdBytes,
    kind: i16,
    expression: String,
}

impl IndexSearch {
    /// `None` if the text is too short for the index.
    pub(crate) fn of(account: AccountId, kind: LinkKind, folded: &str) -> Option<Self> {
        let grams = grams(folded);
        if grams.is_empty() {
            return None;
        }
        let account = IdBytes::from(account);
        let kind = kind_column(kind);
        let owner = owner(&account.get(), kind);
        let all = std::iter::once(owner.as_str()).chain(grams.iter().map(String::as_str));
        let quoted: Vec<String> = all.map(|gram| format!("\"{}\"", gram.replace('"', "\"\""))).collect();
        Some(Self { account, kind, expression: quoted.join(" AND ") })
    }

    /// The links that the index returns with ids below `bound` and numbers below `number`, in descending order of numbers.
    /// FTS5 reads the index in this order and stops after `at_most`.
    pub(crate) fn candidates(
        &self,
        connection: &mut SqliteConnection,
        bound: UpperBound,
        number: i64,
        at_most: i64,
    ) -> Result<Vec<Candidate>, Failure> {
        let rows = diesel::sql_query(
            // This order: first the index, then the links that it returns.
            "SELECT links.number AS number, links.id AS id \
             FROM link_search CROSS JOIN links ON links.number = link_search.rowid \
             WHERE link_search MATCH ? AND link_search.rowid < ? AND links.account_id = ? AND links.kind = ? \
             AND links.id < ? AND in_time() ORDER BY link_search.rowid DESC LIMIT ?",
        )
        .bind::<Text, _>(&self.expression)
        .bind::<BigInt, _>(number)
        .bind::<Binary, _>(self.account)
        .bind::<SmallInt, _>(self.kind)
        .bind::<Binary, _>(bound)
        .bind::<BigInt, _>(at_most)
        .load(connection)?;
        Ok(rows)
    }
}

/// A link that may match.
#[derive(Debug, QueryableByName)]
pub(crate) struct Candidate {
    #[diesel(sql_type = BigInt)]
    pub(crate) number: i64,
    #[diesel(sql_type = Identifier)]
    pub(crate) id: StoredId,
}

/// Entries of the index that every text containing `folded` has: evenly spaced ones, and the last.
fn grams(folded: &str) -> Vec<String> {
    let characters: Vec<char> = folded.chars().collect();
    let all = characters.windows(GRAM);
    let Some(last) = all.len().checked_sub(1) else { return Vec::new() };
    let step = last.div_ceil(MOST_GRAMS - 1).max(STEP);
    let chosen = all.enumerate().filter(|(place, _)| place % step == 0 || *place == last);
    chosen.map(|(_, gram)| gram.iter().collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d32_text_has_all_entries_of_its_parts() {
        let long = "0123456789".repeat(30);
        for (folded, count) in
            [("ab", 0), ("abc", 1), ("abcd", 2), ("äöü\"", 2), ("abcdefgh", 4), (long.as_str(), 16)]
        {
            let grams = grams(folded);
            assert_eq!(grams.len(), count, "{folded}");
            assert!(grams.iter().all(|gram| folded.contains(gram) && gram.chars().count() == GRAM));
            assert!(grams.last().is_none_or(|last| folded.ends_with(last)), "{folded}: {grams:?}");
        }
    }

    #[test]
    fn accounts_and_kinds_have_distinct_prefixes() {
        let owners = [[1; 16], [2; 16]].map(|account| [0, 1].map(|kind| owner(&account, kind)));
        let all: std::collections::BTreeSet<&String> = owners.iter().flatten().collect();
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|owner| owner.chars().count() == GRAM));
    }
}
