//! How many rows of a list are read.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use signpost_domain::PageLimit;

/// Of how many rows pages are read: as many as those ask for who do not choose for themselves, and as many as anybody may
/// ask for, with a few steps before and between them.
const STEPS: [u8; 4] = [10, 25, 50, 100];

/// How many rows are to be read for a page: as many as it shows and one more, or a few more than that. There are few such
/// numbers, since each makes a statement of its own, which every connection keeps.
pub(crate) fn rows_read(limit: PageLimit) -> u8 {
    let step = STEPS.into_iter().find(|step| *step >= limit.get());
    step.unwrap_or(limit.get()) + 1
}

/// The first so many rows of a query.
///
/// The number stands in the text. If it were a value, PostgreSQL, whose plans here look at no values, would take a tenth of
/// all rows to be asked for, and might find it cheaper to sort them.
#[derive(Debug)]
pub(crate) struct FirstRows<Q> {
    pub(crate) query: Q,
    pub(crate) number: u8,
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for FirstRows<Q> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.query.walk_ast(out.reborrow())?;
        out.push_sql(" LIMIT ");
        out.push_sql(&self.number.to_string());
        Ok(())
    }
}

/// It is known by its text: the number is not part of its type.
impl<Q> QueryId for FirstRows<Q> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for FirstRows<Q> {
    type SqlType = Q::SqlType;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_full_and_knows_whether_there_is_more() {
        let mut numbers = Vec::new();
        for limit in 1..=100 {
            let number = rows_read(PageLimit::new(limit.into()).unwrap());
            assert!(number > limit, "{limit}: {number}");
            numbers.push(number);
        }
        numbers.dedup();
        assert_eq!(numbers, STEPS.map(|step| step + 1));
        assert_eq!(rows_read(PageLimit::default()), PageLimit::default().get() + 1);
    }
}
