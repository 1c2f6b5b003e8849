//! Columns of rows that are not in their table. A statement within the statement works them out, so that a read stays one
//! statement.

macro_rules! column_by_statement {
    ($(#[$doc:meta])* $name:ident -> $sql_type:ty { $($backend:ty => [$($text:expr),*],)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, diesel::query_builder::QueryId)]
        pub struct $name;

        impl diesel::expression::Expression for $name {
            type SqlType = $sql_type;
        }

        impl diesel::expression::ValidGrouping<()> for $name {
            type IsAggregate = diesel::expression::is_aggregate::No;
        }

        impl<Source> diesel::expression::AppearsOnTable<Source> for $name {}

        impl<Source> diesel::expression::SelectableExpression<Source> for $name {}

        $(
            impl diesel::query_builder::QueryFragment<$backend> for $name {
                fn walk_ast<'b>(
                    &'b self,
                    mut out: diesel::query_builder::AstPass<'_, 'b, $backend>,
                ) -> diesel::QueryResult<()> {
                    $(out.push_sql($text);)*
                    Ok(())
                }
            }
        )*
    };
}

pub(crate) use column_by_statement;
