//! The statements that write rows of `links`. An insertion sends one array for each column, so its text is the same for any
//! number of links. The columns come from `sql-rows`.

use std::collections::BTreeMap;

use diesel::pg::Pg;
use diesel::query_builder::AstPass;
use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text};
use signpost_domain::{AccountId, Link, LinkKind, TargetUrl};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredIds, whole_number};
use signpost_sql_rows::link::{LinkColumns, kind_column};
use signpost_sql_rows::sql_types::{Identifier, Moment};
use signpost_sql_rows::written_link_columns;

use crate::search::search_key;
use crate::statement::statement;

/// The columns of a link. The server finds most hosts in the target itself (`host_of_target` of the migrations, ADR 83).
fn columns_of(link: &Link) -> LinkColumns<'_> {
    let target = link.target_url().filter(|target| !target.states_host());
    LinkColumns { target_host: target.map(TargetUrl::host), ..LinkColumns::from(link) }
}

/// How a column of many rows is sent as one array.
trait ArrayItem {
    /// The value in the array.
    type Item;
    /// Its SQL type.
    type SqlType;
    /// What turns the item into the column's type.
    const CAST: &'static str = "";

    fn into_item(self) -> Self::Item;
}

macro_rules! array_items {
    ($($value:ty => $sql_type:ty,)*) => {$(
        impl ArrayItem for $value {
            type Item = Self;
            type SqlType = $sql_type;

            fn into_item(self) -> Self {
                self
            }
        }
    )*};
}

array_items! {
    &str => Text,
    Option<&str> => Nullable<Text>,
    String => Text,
    bool => Bool,
    i64 => BigInt,
    Option<IdBytes> => Nullable<Identifier>,
    Instant => Moment,
    Option<Instant> => Nullable<Moment>,
    Option<String> => Nullable<Text>,
}

/// Arrays of different lengths cannot be sent as one array, so each is a PostgreSQL array literal.
impl ArrayItem for StoredIds {
    type Item = String;
    type SqlType = Text;

    const CAST: &'static str = "::uuid[]";

    fn into_item(self) -> String {
        let ids = self.whole().unwrap_or_default().iter();
        let ids: Vec<String> = ids.map(|id| format!("{:032x}", u128::from_be_bytes(id.get()))).collect();
        format!("{{{}}}", ids.join(","))
    }
}

macro_rules! declare_statement_parts {
    ($($column:ident: $value:ty => $sql_type:ty,)*) => {
        /// The columns of many rows, as one array each.
        #[derive(Debug, Default)]
        pub(crate) struct ColumnArrays<'a> {
            $($column: Vec<<$value as ArrayItem>::Item>,)*
        }

        impl<'a> ColumnArrays<'a> {
            fn push(&mut self, columns: LinkColumns<'a>) {
                $(self.$column.push(columns.$column.into_item());)*
            }

            /// Writes `, name, host, …`.
            fn names<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> diesel::QueryResult<()> {
                out.push_sql(concat!($(", ", stringify!($column)),*));
                Ok(())
            }

            /// Writes the columns of the rows `n` in their own types: `, n.name, n.host, …`.
            fn values<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> diesel::QueryResult<()> {
                $(
                    out.push_sql(concat!(", n.", stringify!($column)));
                    out.push_sql(<$value as ArrayItem>::CAST);
                )*
                Ok(())
            }

            /// Writes `name = excluded.name, host = excluded.host, …, `.
            fn assignments<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> diesel::QueryResult<()> {
                out.push_sql(concat!($(stringify!($column), " = excluded.", stringify!($column), ", "),*));
                Ok(())
            }

            /// Writes the arrays as bind values: `, $1, $2, …`.
            fn arrays<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> diesel::QueryResult<()> {
                $(
                    out.push_sql(", ");
                    out.push_bind_param::<Array<<$value as ArrayItem>::SqlType>, _>(&self.$column)?;
                )*
                Ok(())
            }
        }

        /// Writes `name = $1, host = $2, …, `.
        fn assignments<'b>(
            columns: &'b LinkColumns<'_>,
            mut out: AstPass<'_, 'b, Pg>,
        ) -> diesel::QueryResult<()> {
            $(
                out.push_sql(concat!(stringify!($column), " = "));
                out.push_bind_param::<$sql_type, _>(&columns.$column)?;
                out.push_sql(", ");
            )*
            Ok(())
        }
    };
}

written_link_columns!(declare_statement_parts);

statement! {
    /// Updates a link of the account, and returns its id. Diesel's own updates are prepared on each run, which costs a round
    /// trip.
    pub(crate) UpdateLink<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        kind: i16,
        columns: LinkColumns<'a>,
        search_key: String,
    } =
    "UPDATE links SET "
    { columns as assignments } "search_key = "
    { search_key: Text } " WHERE id = "
    { id: Identifier } " AND account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt } " RETURNING id"
}

impl<'a> UpdateLink<'a> {
    pub(crate) fn of(account: AccountId, link: &'a Link) -> Self {
        let columns = columns_of(link);
        Self {
            id: link.id().into(),
            account: account.into(),
            kind: kind_column(link.kind()),
            search_key: search_key(columns.name, columns.slug, columns.target_url),
            columns,
        }
    }
}

statement! {
    /// Updates locked links of the account in this order, and returns their ids. Only an insertion writes rows in a defined order,
    /// so this is one that finds all of them. Other links are left out. Conditions but that of the id are hidden from the planner,
    /// so that it picks no other index (ADR 17).
    #[derive(Default)]
    pub(crate) UpdateLinks<'a> -> Identifier {
        account: IdBytes,
        ids: Vec<IdBytes>,
        kinds: Vec<i16>,
        created: Vec<Instant>,
        search_keys: Vec<String>,
        numbers: Vec<i64>,
        columns: ColumnArrays<'a>,
    } =
    "INSERT INTO links AS l (id, account_id, kind, created_at, search_key"
    { columns as ColumnArrays::names } ") SELECT n.id, "
    { account: Identifier } ", n.kind, n.created_at, n.search_key"
    { columns as ColumnArrays::values } " FROM unnest("
    { ids: Array<Identifier> } ", "
    { kinds: Array<SmallInt> } ", "
    { created: Array<Moment> } ", "
    { search_keys: Array<Text> } ", "
    { numbers: Array<BigInt> } ""
    { columns as ColumnArrays::arrays } ") AS n (id, kind, created_at, search_key, number"
    { columns as ColumnArrays::names } ") WHERE EXISTS (SELECT 1 FROM links AS h WHERE h.id = n.id AND h.id = ANY ("
    { ids: Array<Identifier> } ") AND CASE WHEN h.account_id = "
    { account: Identifier } " AND h.kind = n.kind THEN true ELSE false END) ORDER BY n.number ON CONFLICT (id) DO UPDATE SET "
    { columns as ColumnArrays::assignments } "search_key = excluded.search_key RETURNING l.id"
}

impl<'a> UpdateLinks<'a> {
    pub(crate) fn of(account: AccountId, links: impl IntoIterator<Item = &'a Link>) -> Self {
        let mut update = Self { account: account.into(), ..Self::default() };
        for (link, number) in links.into_iter().zip(0..) {
            update.ids.push(link.id().into());
            update.kinds.push(kind_column(link.kind()));
            update.created.push(link.created_at.into());
            update.numbers.push(number);
            let columns = columns_of(link);
            update.search_keys.push(search_key(columns.name, columns.slug, columns.target_url));
            update.columns.push(columns);
        }
        update
    }
}

statement! {
    /// Inserts the links whose groups exist and whose addresses are free, unless the account is full. Counts the inserted
    /// links in the account, and all candidates in their groups. Links with a taken address, external id or id are
    /// skipped; the caller finds out which.
    ///
    /// If the account exists, the result is its count, whether it seemed to have room, the existing groups, and the inserted
    /// links. The groups and the account are locked then.
    ///
    /// Of two links with one address, the first is inserted. Otherwise links are inserted in the order of their addresses,
    /// so that two batches that claim the same addresses do not deadlock.
    #[derive(Default)]
    pub(crate) NewLinks<'a> -> (BigInt, Bool, Array<Identifier>, Array<Identifier>) {
        account: IdBytes,
        limit: i64,
        entered: Vec<IdBytes>,
        landings: Vec<i64>,
        redirects: Vec<i64>,
        ids: Vec<IdBytes>,
        kinds: Vec<i16>,
        created: Vec<Instant>,
        search_keys: Vec<String>,
        numbers: Vec<i64>,
        columns: ColumnArrays<'a>,
    } =
    "WITH room AS MATERIALIZED (SELECT a.id, a.links_count < "
    { limit: BigInt } " AS is_any FROM accounts AS a WHERE a.id = "
    { account: Identifier } " FOR KEY SHARE), \
     held AS MATERIALIZED (SELECT g.id FROM groups AS g WHERE g.account_id = "
    { account: Identifier } " AND g.id = ANY ("
    { entered: Array<Identifier> } ") ORDER BY g.id FOR NO KEY UPDATE), \
     moved AS (UPDATE groups AS g SET landings_count = g.landings_count + m.landings, \
     redirects_count = g.redirects_count + m.redirects FROM room AS a, held AS h, unnest("
    { entered: Array<Identifier> } ", "
    { landings: Array<BigInt> } ", "
    { redirects: Array<BigInt> } ") AS m (id, landings, redirects) \
     WHERE a.is_any AND g.account_id = a.id AND g.id = h.id AND m.id = h.id), \
     new AS (INSERT INTO links (id, account_id, kind, created_at, search_key"
    { columns as ColumnArrays::names } ") SELECT n.id, a.id, n.kind, n.created_at, n.search_key"
    { columns as ColumnArrays::values } " FROM room AS a, unnest("
    { ids: Array<Identifier> } ", "
    { kinds: Array<SmallInt> } ", "
    { created: Array<Moment> } ", "
    { search_keys: Array<Text> } ", "
    { numbers: Array<BigInt> } ""
    { columns as ColumnArrays::arrays } ") AS n (id, kind, created_at, search_key, number"
    { columns as ColumnArrays::names } ") \
     WHERE a.is_any AND (n.group_id IS NULL OR n.group_id IN (SELECT h.id FROM held AS h)) \
     ORDER BY n.host COLLATE \"C\", n.slug COLLATE \"C\", n.number \
     ON CONFLICT DO NOTHING RETURNING id), \
     counted AS (UPDATE accounts AS a SET links_count = a.links_count + (SELECT count(*) FROM new) WHERE a.id = "
    { account: Identifier }
    " RETURNING a.links_count) \
     SELECT c.links_count, a.is_any, ARRAY (SELECT h.id FROM held AS h), ARRAY (SELECT i.id FROM new AS i) \
     FROM counted AS c, room AS a"
}

impl<'a> NewLinks<'a> {
    pub(crate) fn of(account: AccountId, links: &[&'a Link], limit: u64) -> Self {
        let (account, limit) = (account.into(), whole_number(limit));
        let mut new = Self { account, limit, ..Self::default() };
        let mut entered = BTreeMap::<IdBytes, (i64, i64)>::new();
        for (link, number) in links.iter().copied().zip(0..) {
            new.ids.push(link.id().into());
            new.kinds.push(kind_column(link.kind()));
            new.created.push(link.created_at.into());
            new.numbers.push(number);
            let columns = columns_of(link);
            new.search_keys.push(search_key(columns.name, columns.slug, columns.target_url));
            new.columns.push(columns);
            if let Some(group) = link.group_id {
                let (landings, redirects) = entered.entry(group.into()).or_default();
                match link.kind() {
                    LinkKind::Landing => *landings += 1,
                    LinkKind::Redirect => *redirects += 1,
                }
            }
        }
        for (group, (landings, redirects)) in entered {
            new.entered.push(group);
            new.landings.push(landings);
            new.redirects.push(redirects);
        }
        new
    }
}
