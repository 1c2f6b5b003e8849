//! The `LIMIT` of list queries, written into the SQL text.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use signpost_domain::PageLimit;

/// The page sizes that are read: the default, the maximum for callers, and a few steps before and between them, then the size
/// for units of work.
const STEPS: [u16; 5] = [10, 25, 50, 100, 1_000];

/// How many rows to read for a page: one more than it shows, rounded up to the next step. There are only a few such numbers,
/// because each makes a separate prepared statement on every connection.
pub(crate) fn rows_to_read(limit: PageLimit) -> u16 {
    let step = STEPS.into_iter().find(|step| *step >= limit.get());
    step.unwrap_or(limit.get()) + 1
}

/// The first `number` rows of a query.
///
/// The number is part of the SQL text. Generic plans ignore bind values: PostgreSQL would expect a tenth of all rows, and
/// might prefer to sort them.
#[derive(Debug)]
pub(crate) struct InlineLimit<Q> {
    pub(crate) query: Q,
    pub(crate) number: u16,
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for InlineLimit<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.query.walk_ast(out.reborrow())?;
        out.push_sql(" LIMIT ");
        out.push_sql(&self.number.to_string());
        Ok(())
    }
}

/// Identified by its text, because the number is not part of its type.
impl<Q> QueryId for InlineLimit<Q> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for InlineLimit<Q> {
    type SqlType = Q::SqlType;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_reads_at_least_one_row_more_than_it_shows() {
        let mut numbers = Vec::new();
        let of_callers = (1..=100).map(|limit| PageLimit::new(limit).unwrap());
        for limit in of_callers.chain([PageLimit::OF_UNIT_OF_WORK]) {
            let number = rows_to_read(limit);
            assert!(number > limit.get(), "{limit:?}: {number}");
            numbers.push(number);
        }
        numbers.dedup();
        assert_eq!(numbers, STEPS.map(|step| step + 1));
        assert_eq!(rows_to_read(PageLimit::default()), PageLimit::default().get() + 1);
    }
}
