//! Updating any number of links in few statements (D30, D123, D124).

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Nullable, SmallInt, Text};
use diesel::sqlite::Sqlite;
use signpost_app::ports::UpdateLinkError;
use signpost_domain::{AccountId, Link};
use signpost_sql_rows::sql_types::Identifier;
use signpost_sql_rows::written_link_columns;

use crate::click_credits;
use crate::failure::Failure;
use crate::group_counts::{self, GroupMoves};
use crate::sql_errors::is_taken;
use crate::tags;
use crate::unit_of_work::Stop;
use signpost_sql_rows::columns::IdBytes;
use signpost_sql_rows::link::{LinkColumns, kind_column};
use signpost_sql_rows::target_host::host_ends;

/// How many links a statement updates at most. SQLite reads the whole index of the account's lists rather than search it for
/// several hundred links.
const MOST_IN_A_STATEMENT: usize = 100;

/// Replaces links, each given before and after, and updates the counters of their groups. Each statement makes one decision, in the
/// order in which the port reports them.
pub(crate) fn update(
    connection: &mut SqliteConnection,
    account: AccountId,
    changes: &[(Link, Link)],
) -> Result<(), Stop<UpdateLinkError>> {
    if changes.is_empty() {
        return Ok(());
    }
    // The groups that links leave exist because of the foreign key.
    if !group_counts::apply_if_there(
        GroupMoves::between(account, changes.iter().map(|(before, after)| (before, after))),
        connection,
    )? {
        return Err(Stop::Decided(UpdateLinkError::GroupMissing));
    }
    for part in changes.chunks(MOST_IN_A_STATEMENT) {
        write(connection, account, part)?;
    }
    click_credits::rewrite(connection, changes)?;
    Ok(tags::rewrite(connection, account, changes)?)
}

fn write(
    connection: &mut SqliteConnection,
    account: AccountId,
    changes: &[(Link, Link)],
) -> Result<(), Stop<UpdateLinkError>> {
    match UpdateLinks::of(account, changes).execute(connection) {
        Ok(updated) if updated == changes.len() => Ok(()),
        Ok(_) => Err(Failure::Other("a link of a batch was not locked".to_owned()).into()),
        // SQLite rolls back only the statement, so the unit of work stays usable.
        Err(error) if is_taken(&error, "links.host") => Err(Stop::Decided(UpdateLinkError::AddressTaken)),
        // The index of external ids, whose first column is the account.
        Err(error) if is_taken(&error, "links.account_id") => {
            Err(Stop::Decided(UpdateLinkError::ExternalIdTaken))
        }
        Err(error) => Err(error.into()),
    }
}

/// Updates links. Diesel's own updates take their values from one row only.
struct UpdateLinks<'a> {
    account: IdBytes,
    links: Vec<ChangedRow<'a>>,
}

/// A row with its account and kind, so that SQLite finds it by the index of the account's lists.
struct ChangedRow<'a> {
    kind: i16,
    id: IdBytes,
    target_host_ends: Option<String>,
    columns: LinkColumns<'a>,
}

impl<'a> UpdateLinks<'a> {
    fn of(account: AccountId, changes: &'a [(Link, Link)]) -> Self {
        let row = |link: &'a Link| ChangedRow {
            kind: kind_column(link.kind()),
            id: link.id().into(),
            target_host_ends: link.target_url().map(|target| host_ends(target.host())),
            columns: LinkColumns::from(link),
        };
        Self { account: account.into(), links: changes.iter().map(|(_, after)| row(after)).collect() }
    }
}

macro_rules! declare_statement {
    ($($column:ident: $value:ty => $sql_type:ty,)*) => {
        impl QueryFragment<Sqlite> for UpdateLinks<'_> {
            fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
                // A statement for one link is worth keeping; those for many differ in length.
                if self.links.len() > 1 {
                    out.unsafe_to_cache_prepared();
                }
                out.push_sql(concat!(
                    "WITH changed (account_id, kind, id, target_host_ends",
                    $(", ", stringify!($column),)*
                    ") AS (VALUES ",
                ));
                for (number, row) in self.links.iter().enumerate() {
                    let ChangedRow { kind, id, target_host_ends, columns } = row;
                    out.push_sql(if number == 0 { "(" } else { ", (" });
                    out.push_bind_param::<Identifier, _>(&self.account)?;
                    out.push_sql(", ");
                    out.push_bind_param::<SmallInt, _>(kind)?;
                    out.push_sql(", ");
                    out.push_bind_param::<Identifier, _>(id)?;
                    out.push_sql(", ");
                    out.push_bind_param::<Nullable<Text>, _>(target_host_ends)?;
                    $(
                        out.push_sql(", ");
                        out.push_bind_param::<$sql_type, _>(&columns.$column)?;
                    )*
                    out.push_sql(")");
                }
                out.push_sql(") UPDATE links SET target_host_ends = changed.target_host_ends, ");
                let assignments = [$(concat!(stringify!($column), " = changed.", stringify!($column))),*];
                out.push_sql(&assignments.join(", "));
                out.push_sql(
                    " FROM changed WHERE links.account_id = changed.account_id AND links.kind = changed.kind AND \
                     links.id = changed.id",
                );
                Ok(())
            }
        }
    };
}

written_link_columns!(declare_statement);

impl QueryId for UpdateLinks<'_> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for UpdateLinks<'_> {}
