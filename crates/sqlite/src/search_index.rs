//! The index of the texts of links, which says where a search has to look (ADR 32).
//!
//! For every three characters that stand beside each other it lists the links that have them, by their numbers. The
//! characters are those of the folded texts, so that case makes no difference in the domain's sense. The index has the order
//! of numbers (`search_order`), and what it names may not match: it has one document for all three texts of a link, which it
//! cannot tell apart, and it does not know where in them the characters stand. So the rule runs on what it names.
//!
//! Each document begins with three characters that stand for its account and kind. They make one account's search pass
//! over the links of all others.

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

/// What keeps the index as the links are. The triggers belong to the connection that writes and not to the file, because
/// they call a function of this program: in a file, SQLite would refuse that as a trap.
const TRIGGERS: &str = "
    CREATE TEMP TRIGGER links_put_in_search AFTER INSERT ON main.links BEGIN
        INSERT OR REPLACE INTO link_search (rowid, text)
        VALUES (new.number, link_text(new.account_id, new.kind, new.name, new.slug, new.target_url));
    END;
    CREATE TEMP TRIGGER links_changed_in_search AFTER UPDATE ON main.links
    WHEN new.name IS NOT old.name OR new.slug IS NOT old.slug OR new.target_url IS NOT old.target_url BEGIN
        INSERT OR REPLACE INTO link_search (rowid, text)
        VALUES (new.number, link_text(new.account_id, new.kind, new.name, new.slug, new.target_url));
    END;
    CREATE TEMP TRIGGER links_taken_from_search AFTER DELETE ON main.links BEGIN
        DELETE FROM link_search WHERE rowid = old.number;
    END;";

/// Has every change that the connection makes to links kept in the index, too.
pub(crate) fn keep(connection: &mut SqliteConnection) -> QueryResult<()> {
    connection.batch_execute(TRIGGERS)?;
    connection.batch_execute(search_order::TRIGGER)
}

/// How many characters an entry of the index has.
const GRAM: usize = 3;

/// The most entries to look up for one search. Each further entry costs time and excludes few links.
const MOST_GRAMS: usize = 16;

/// The distance between the entries to look up. Every second one suffices: together they still cover every pair of
/// neighbouring characters, at half the cost.
const STEP: usize = 2;

/// Between texts, so that the end of one and the beginning of the next are nothing that is searched for as a rule.
const BORDER: char = '\u{1}';

/// What the index has of a link.
pub(crate) fn text_of(account: &[u8], kind: i16, name: &str, slug: &str, target_url: Option<&str>) -> String {
    let mut text = owner(account, kind);
    for part in [Some(name), Some(slug), target_url].into_iter().flatten() {
        text.push(BORDER);
        text.push_str(&fold(part));
    }
    text
}

/// Three characters of a private area of Unicode for the account's links of a kind. Two accounts may share them, and a
/// text may have them: then the index names links in vain.
fn owner(account: &[u8], kind: i16) -> String {
    // The last bytes of an id are random.
    let random = account.iter().rev().take(6).fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
    let bits = random << 1 | u64::from(kind != 0);
    [bits, bits >> 15, bits >> 30]
        .into_iter()
        .filter_map(|bits| char::from_u32(0xf_0000 | u32::try_from(bits & 0x7fff).unwrap_or(0)))
        .collect()
}

/// What to look up in the index for a search.
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
            // In this order: first the index, then the links that it names.
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
    fn d32_a_text_has_all_entries_of_what_it_contains() {
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
    fn accounts_and_kinds_have_characters_of_their_own() {
        let owners = [[1; 16], [2; 16]].map(|account| [0, 1].map(|kind| owner(&account, kind)));
        let all: std::collections::BTreeSet<&String> = owners.iter().flatten().collect();
        assert_eq!(all.len(), 4);
        assert!(all.iter().all(|owner| owner.chars().count() == GRAM));
    }
}
