//! Statements that diesel cannot write.

/// A statement as a type with the values that it is run with. Diesel keeps it prepared by that type; a text that is
/// handed to it at run time would be parsed anew each time, for which there would be a round trip more.
///
/// A value without a type is a number that stands in the text, for a `LIMIT`: as a value, PostgreSQL, whose plans here look at
/// no values, would take a tenth of all rows to be asked for. Each such number makes a statement of its own, so there must be
/// few.
macro_rules! statement {
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident $(<$life:lifetime>)? -> $row:ty { $($field:ident: $type:ty,)* } =
        $begin:literal $({ $bind:ident $(: $sql_type:ty)? } $text:literal)*
    ) => {
        $(#[$meta])*
        #[derive(Debug)]
        $visibility struct $name $(<$life>)? {
            $(pub(crate) $field: $type,)*
        }

        impl $(<$life>)? diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name $(<$life>)? {
            fn walk_ast<'b>(
                &'b self,
                mut out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                out.push_sql($begin);
                $(
                    $crate::statement::pushed!(self, out, $bind $(, $sql_type)?);
                    out.push_sql($text);
                )*
                Ok(())
            }
        }

        const _: () = {
            /// Stands for the statement whatever it borrows.
            #[derive(Debug)]
            pub(crate) struct Text;

            impl $(<$life>)? diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = Text;

                const HAS_STATIC_QUERY_ID: bool = true $(&& $crate::statement::is_bound!($($sql_type)?))*;
            }
        };

        impl $(<$life>)? diesel::query_builder::Query for $name $(<$life>)? {
            type SqlType = $row;
        }
    };
}

/// Puts a value into a statement: bound if it has a type, else in the text.
macro_rules! pushed {
    ($this:ident, $out:ident, $bind:ident, $sql_type:ty) => {
        $out.push_bind_param::<$sql_type, _>(&$this.$bind)?
    };
    ($this:ident, $out:ident, $bind:ident) => {
        $out.push_sql(&$this.$bind.to_string())
    };
}

/// Whether a value is bound. A statement of which one is not is known by its text.
macro_rules! is_bound {
    ($sql_type:ty) => {
        true
    };
    () => {
        false
    };
}

pub(crate) use {is_bound, pushed, statement};
