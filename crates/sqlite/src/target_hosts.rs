//! The hosts of targets, as the indexes of the migrations have them (D126, ADR 83).

use diesel::expression::{AppearsOnTable, Expression, ValidGrouping, is_aggregate};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Bool, Integer, Text};
use diesel::sqlite::Sqlite;
use signpost_domain::{HostEnd, TargetHost, TargetUrl};

use crate::schema::links;
use signpost_sql_rows::target_host::host_ends;

#[diesel::declare_sql_function]
extern "SQL" {
    /// The column `target_host` of a link, for the migration of the links that are there already.
    fn host_of_target(target_url: Text) -> Nullable<Text>;

    /// The column `target_host_ends`, for the same.
    fn host_ends_of_target(target_url: Text) -> Nullable<Text>;
}

/// Registers the functions with a connection.
pub(crate) fn register(connection: &mut SqliteConnection) -> QueryResult<()> {
    host_of_target_utils::register_impl(connection, host_of)?;
    host_ends_of_target_utils::register_impl(connection, |target_url: String| {
        host_of(target_url).map(|host| host_ends(&host))
    })
}

/// The host of a stored target. A corrupt one has none.
fn host_of(target_url: String) -> Option<String> {
    TargetUrl::from_stored(target_url).ok().map(|target| target.host().to_owned())
}

/// Whether the host of the target of the row of `links` ends with these labels, as an index has them.
#[derive(Debug, Clone)]
pub(crate) struct TargetEnd {
    labels: usize,
    text: String,
}

impl From<HostEnd<'_>> for TargetEnd {
    fn from(HostEnd { labels, text }: HostEnd<'_>) -> Self {
        Self { labels, text: text.to_owned() }
    }
}

impl QueryFragment<Sqlite> for TargetEnd {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql(&format!("links.target_host_{} = ", self.labels));
        out.push_bind_param::<Text, _>(&self.text)
    }
}

/// Whether the row of `links` has a target on a host, or on one under it. It uses no index.
#[derive(Debug, Clone)]
pub(crate) struct TargetUnder {
    /// The host with a dot before it, which the host of the target then ends with, if it gets a dot too.
    dotted: String,
    /// Its last characters are those from this one on.
    start: i32,
}

impl From<&TargetHost> for TargetUnder {
    fn from(host: &TargetHost) -> Self {
        let dotted = format!(".{host}");
        // It is ASCII, and short.
        let characters = i32::try_from(dotted.len()).unwrap_or(i32::MAX);
        Self { dotted, start: -characters }
    }
}

impl QueryFragment<Sqlite> for TargetUnder {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        out.push_sql("substr('.' || links.target_host, ");
        out.push_bind_param::<Integer, _>(&self.start)?;
        out.push_sql(") = ");
        out.push_bind_param::<Text, _>(&self.dotted)
    }
}

macro_rules! conditions_on_links {
    ($($name:ident)*) => {$(
        impl Expression for $name {
            type SqlType = Bool;
        }

        impl ValidGrouping<()> for $name {
            type IsAggregate = is_aggregate::No;
        }

        impl AppearsOnTable<links::table> for $name {}

        impl QueryId for $name {
            type QueryId = ();

            const HAS_STATIC_QUERY_ID: bool = false;
        }
    )*};
}

conditions_on_links! { TargetEnd TargetUnder }

#[cfg(test)]
mod tests {
    use diesel::sql_types::Nullable;

    use super::*;

    #[derive(QueryableByName)]
    struct Row {
        #[diesel(sql_type = Nullable<Text>)]
        host: Option<String>,
        #[diesel(sql_type = Nullable<Text>)]
        ends: Option<String>,
    }

    #[test]
    fn d126_the_functions_give_the_host_that_the_domain_has() {
        let mut connection = SqliteConnection::establish(":memory:").unwrap();
        register(&mut connection).unwrap();
        for (target, columns) in [
            ("https://www.Example.COM.:8443/", Some(("www.example.com", "011015"))),
            ("https://BÜCHER.example", Some(("xn--bcher-kva.example", "021"))),
            ("http://[2001:DB8:0::1]/", Some(("[2001:db8::1]", ""))),
            ("no target", None),
        ] {
            let row: Row =
                diesel::sql_query("SELECT host_of_target(?) AS host, host_ends_of_target(?) AS ends")
                    .bind::<Text, _>(target)
                    .bind::<Text, _>(target)
                    .get_result(&mut connection)
                    .unwrap();
            let found = (row.host.as_deref(), row.ends.as_deref());
            assert_eq!(found, columns.unzip(), "{target}");
        }
    }
}
