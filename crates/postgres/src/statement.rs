//! Statements that diesel cannot write, and pipelining two of them.

use futures_util::future::join;
use tokio::task::unconstrained;

use crate::failure::Failure;

/// Declares a statement as a type with its bind values. Diesel caches the prepared statement by that type. A text passed at
/// run time would be prepared on each run, which costs a round trip.
///
/// A value with a function, `{ value as function }`, is written by it, always with the same text.
///
/// A value without either is a number written into the text, for a `LIMIT`. Generic plans ignore bind values:
/// PostgreSQL would expect a tenth of all rows. Each such number makes a separate prepared statement, so there must be few.
macro_rules! statement {
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident $(<$life:lifetime>)? -> $row:ty { $($field:ident: $type:ty,)* } =
        $begin:literal $({ $bind:ident $(: $sql_type:ty)? $(as $write:path)? } $text:literal)*
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
                    $crate::statement::pushed!(self, out, $bind $(, $sql_type)? $(as $write)?);
                    out.push_sql($text);
                )*
                Ok(())
            }
        }

        const _: () = {
            /// Identifies the statement independent of its lifetime.
            #[derive(Debug)]
            pub(crate) struct Text;

            impl $(<$life>)? diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = Text;

                const HAS_STATIC_QUERY_ID: bool =
                    true $(&& $crate::statement::has_fixed_text!($($sql_type)? $(as $write)?))*;
            }
        };

        impl $(<$life>)? diesel::query_builder::Query for $name $(<$life>)? {
            type SqlType = $row;
        }
    };
}

/// Writes a value into a statement: by its function, as a bind value if it has a type, or into the text.
macro_rules! pushed {
    ($this:ident, $out:ident, $bind:ident as $write:path) => {
        $write(&$this.$bind, $out.reborrow())?
    };
    ($this:ident, $out:ident, $bind:ident, $sql_type:ty) => {
        $out.push_bind_param::<$sql_type, _>(&$this.$bind)?
    };
    ($this:ident, $out:ident, $bind:ident) => {
        $out.push_sql(&$this.$bind.to_string())
    };
}

/// Whether the text is the same for every value. Otherwise the statement is identified by its text.
macro_rules! has_fixed_text {
    (as $write:path) => {
        true
    };
    ($sql_type:ty) => {
        true
    };
    () => {
        false
    };
}

pub(crate) use {has_fixed_text, pushed, statement};

/// Runs two calls on one connection, pipelined: the first statement of `second` goes out after that of `first`, without
/// waiting for its answer. The second must not depend on the result of the first. In a transaction, PostgreSQL rejects the
/// second after a failure of the first, and the first error is returned.
pub(crate) async fn both<A, B>(
    first: impl Future<Output = Result<A, Failure>>,
    second: impl Future<Output = Result<B, Failure>>,
) -> Result<(A, B), Failure> {
    // `join` polls `first` first. `unconstrained` keeps tokio's budget from delaying it on its way to the connection.
    let (first, second) = unconstrained(join(first, second)).await;
    Ok((first?, second?))
}
