//! Statements that diesel cannot write.

/// A statement as a type with the values that it is run with. Diesel keeps it prepared by that type; a text that is
/// handed to it at run time would be parsed anew each time, for which there would be a round trip more.
macro_rules! statement {
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident $(<$life:lifetime>)? -> $row:ty { $($field:ident: $type:ty,)* } =
        $begin:literal $({ $bind:ident: $sql_type:ty } $text:literal)*
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
                    out.push_bind_param::<$sql_type, _>(&self.$bind)?;
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

                const HAS_STATIC_QUERY_ID: bool = true;
            }
        };

        impl $(<$life>)? diesel::query_builder::Query for $name $(<$life>)? {
            type SqlType = $row;
        }
    };
}

pub(crate) use statement;
