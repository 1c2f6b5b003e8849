//! Rows of `link_credits`: the limits of redirects, and how many clicks are taken of each (D130).

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Nullable, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::{ClickLimit, Content as _, Link, MaxClicks};

use crate::Corrupt;
use crate::cell::RowName;
use crate::column_by_statement::column_by_statement;
use crate::columns::{IdBytes, whole_number};
use crate::schema::link_credits;

/// The table, as the migrations of both databases leave it.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        link_credits (link_id) {
            link_id -> Identifier,
            max_clicks -> BigInt,
            taken -> BigInt,
            since -> BigInt,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "link_credits";

/// The columns of a limit in one text, since a column by a statement has one value.
const LIMIT_OF_LINK: &str = "(SELECT c.max_clicks || ' ' || c.taken || ' ' || c.since FROM link_credits AS c WHERE c.link_id = \
    links.id) END)";

column_by_statement! {
    /// The limit of the row of `links`. It is read with the link, so that a read stays one statement. Landing pages have none.
    LimitOfLink -> Nullable<Text> {
        Pg => ["(CASE WHEN links.kind = 1 THEN ", LIMIT_OF_LINK],
        Sqlite => ["(CASE WHEN links.kind = 1 THEN ", LIMIT_OF_LINK],
    }
}

column_by_statement! {
    /// The same for visitors. Of an inactive link nothing is read that is not read of an address without a link (R30).
    LimitOfOpenLink -> Nullable<Text> {
        Pg => ["(CASE WHEN links.kind = 1 AND links.is_active THEN ", LIMIT_OF_LINK],
        Sqlite => ["(CASE WHEN links.kind = 1 AND links.is_active THEN ", LIMIT_OF_LINK],
    }
}

/// Whether all clicks of a limit are taken.
const IS_USED_UP: &str = "(CASE WHEN links.kind = 1 THEN (SELECT c.taken >= c.max_clicks FROM link_credits AS c WHERE c.link_id = links.id) END)";

column_by_statement! {
    /// Whether no click is left of the limit of the row of `links` (D128), as [`ClickLimit::is_exhausted`] says. Null without a limit.
    IsExhausted -> Nullable<Bool> {
        Pg => [IS_USED_UP],
        Sqlite => [IS_USED_UP],
    }
}

/// The limit of a link, from the column that [`LimitOfLink`] or [`LimitOfOpenLink`] reads.
pub fn click_limit_from(row: &RowName, column: Option<String>) -> Result<Option<ClickLimit>, Corrupt> {
    let Some(text) = column else { return Ok(None) };
    let mut numbers = text.split(' ').map(str::parse::<i64>);
    let mut next = |name| row.cell(name, numbers.next().and_then(Result::ok).ok_or("is missing"));
    let (max_clicks, taken, since) = (next("max_clicks")?, next("taken")?, next("since")?);
    LimitRow { max_clicks, taken, since }.into_limit(row).map(Some)
}

/// A limit as it is read alone.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = link_credits, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct LimitRow {
    max_clicks: i64,
    taken: i64,
    since: i64,
}

impl LimitRow {
    /// The row as a value of the domain.
    pub fn into_limit(self, row: &RowName) -> Result<ClickLimit, Corrupt> {
        let Self { max_clicks, taken, since } = self;
        let max = row.cell("max_clicks", MaxClicks::from_stored(row.count("max_clicks", max_clicks)?))?;
        Ok(ClickLimit::new(max, row.count("taken", taken)?, row.revision("since", since)?))
    }
}

/// A limit as it is written.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "they are the columns of these names")]
pub struct LimitColumns {
    pub link_id: IdBytes,
    pub max_clicks: i64,
    pub taken: i64,
    pub since: i64,
}

impl LimitColumns {
    /// The row of a link; `None` without a limit.
    #[must_use]
    pub fn of(link: &Link) -> Option<Self> {
        let limit = limit_of(link)?;
        Some(Self {
            link_id: link.id().into(),
            max_clicks: whole_number(limit.max().get()),
            taken: whole_number(limit.taken()),
            since: whole_number(limit.since().get()),
        })
    }
}

/// The limits to write after changes of links, and the links that have no limit any more. A limit that goes on unchanged is not
/// written.
#[must_use]
pub fn changed_limits<'a>(
    changes: impl IntoIterator<Item = (&'a Link, &'a Link)>,
) -> (Vec<LimitColumns>, Vec<IdBytes>) {
    let (mut written, mut removed) = (Vec::new(), Vec::new());
    for (before, after) in changes {
        let key = |link| limit_of(link).map(|limit| (limit.max(), limit.since()));
        if key(before) == key(after) {
            continue;
        }
        match LimitColumns::of(after) {
            Some(limit) => written.push(limit),
            None => removed.push(after.id().into()),
        }
    }
    (written, removed)
}

fn limit_of(link: &Link) -> Option<ClickLimit> {
    link.content.click_limit()
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Redirect, Revision};
    use signpost_port_contracts::samples;

    use super::*;

    fn limit(max: u64, taken: u64, since: Revision) -> ClickLimit {
        ClickLimit::new(MaxClicks::new(max).unwrap(), taken, since)
    }

    #[test]
    fn d130_a_limit_is_read_from_one_column() {
        let row = RowName::new("links", "a link");
        let read = |text: &str| click_limit_from(&row, Some(text.to_owned()));
        assert_eq!(click_limit_from(&row, None).unwrap(), None);
        let second = Revision::FIRST.next();
        assert_eq!(read("1000000000 7 2").unwrap(), Some(limit(1_000_000_000, 7, second)));
        for (corrupt, column) in [
            ("", "max_clicks"),
            ("0 0 1", "max_clicks"),
            ("9 -1 1", "taken"),
            ("9 1 0", "since"),
            ("9 1", "since"),
        ] {
            assert_eq!(read(corrupt).unwrap_err().column, column, "{corrupt:?}");
        }
    }

    #[test]
    fn d130_what_is_taken_of_a_limit_that_goes_on_is_not_written() {
        let limited = |click_limit| {
            let redirect: Redirect = samples::redirect("limited");
            Link::from(redirect.with(|content| content.click_limit = click_limit))
        };
        let first = Revision::FIRST;
        let written = |before, after| {
            let (before, after) = (limited(before), limited(after));
            let (written, removed) = changed_limits([(&before, &after)]);
            (written.len(), removed.len())
        };
        for (before, after, expected) in [
            (None, None, (0, 0)),
            (None, Some(limit(9, 0, first)), (1, 0)),
            (Some(limit(9, 0, first)), Some(limit(9, 5, first)), (0, 0)),
            (Some(limit(9, 0, first)), Some(limit(8, 0, first)), (1, 0)),
            (Some(limit(9, 0, first)), Some(limit(9, 0, first.next())), (1, 0)),
            (Some(limit(9, 0, first)), None, (0, 1)),
        ] {
            assert_eq!(written(before, after), expected, "{before:?} {after:?}");
        }
    }
}
