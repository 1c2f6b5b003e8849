//! Diesel queries whose SQL text is built once and cached.

use std::sync::OnceLock;

use diesel::QueryResult;
use diesel::pg::{Pg, PgQueryBuilder};
use diesel::query_builder::{QueryBuilder, QueryFragment};

/// The SQL text of a query, split at its bind values.
pub(crate) struct QueryText(OnceLock<Vec<String>>);

impl QueryText {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// The pieces of a query with this many values. The first call builds them.
    pub(crate) fn pieces<Q: QueryFragment<Pg>>(
        &self,
        values: usize,
        query: impl FnOnce() -> Q,
    ) -> QueryResult<&[String]> {
        if let Some(pieces) = self.0.get() {
            return Ok(pieces);
        }
        let mut builder = PgQueryBuilder::default();
        query().to_sql(&mut builder, &Pg)?;
        let pieces = between_values(&builder.finish(), values);
        Ok(self.0.get_or_init(|| pieces))
    }
}

fn between_values(text: &str, values: usize) -> Vec<String> {
    let mut rest = text;
    let mut pieces = Vec::with_capacity(values + 1);
    for value in 1..=values {
        let (piece, behind) = rest.split_once(&format!("${value}")).unwrap_or((rest, ""));
        pieces.push(piece.to_owned());
        rest = behind;
    }
    pieces.push(rest.to_owned());
    pieces
}

/// Declares a Diesel query as a type with its bind values in order.
///
/// Diesel builds the SQL text again for every run. For a query of thirty columns, that costs more than all other work of
/// the call. This type builds the text once, from its first values, and keeps it.
///
/// It compiles faster, too. Type checking diesel's `first` on a query of many columns takes seconds, and 100 s for a domain joined
/// with its certificate. Use this type and `load` even for a single wide row.
macro_rules! cached_query {
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident -> $row:ty { $($field:ident: $type:ty => $sql_type:ty,)* } = $query:expr
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $visibility struct $name {
            $(pub(crate) $field: $type,)*
        }

        impl diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                static TEXT: $crate::cached_query::QueryText = $crate::cached_query::QueryText::new();
                let values = [$(stringify!($field)),*].len();
                let mut pieces = TEXT.pieces(values, || {
                    $(let $field = self.$field.clone();)*
                    $query
                })?.iter();
                if let Some(piece) = pieces.next() {
                    out.push_sql(piece);
                }
                $(
                    out.push_bind_param::<$sql_type, _>(&self.$field)?;
                    if let Some(piece) = pieces.next() {
                        out.push_sql(piece);
                    }
                )*
                Ok(())
            }
        }

        impl diesel::query_builder::QueryId for $name {
            type QueryId = Self;

            const HAS_STATIC_QUERY_ID: bool = true;
        }

        impl diesel::query_builder::Query for $name {
            type SqlType = $row;
        }
    };
}

pub(crate) use cached_query;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_split_at_its_values() {
        assert_eq!(between_values("a = $1 AND b = $2", 2), ["a = ", " AND b = ", ""]);
        assert_eq!(between_values("($1)::text", 1), ["(", ")::text"]);
        assert_eq!(between_values("SELECT 1", 0), ["SELECT 1"]);
    }
}
