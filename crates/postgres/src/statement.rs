//! Statements that diesel cannot write, and pipelining two of them.

use futures_util::future::join;
use tokio::task::unconstrained;

use crate::failure::Failure;

/// Declares a statement as a type with its values. Diesel caches the prepared statement by that type. A text passed at run
/// time would be prepared on each run, which costs a round trip.
///
/// In the text, `$1` is the first value, and so on. A value with an SQL type, `value: type => SqlType`, is bound. One without
/// is a number written into the text, for a `LIMIT`: generic plans ignore bind values, and PostgreSQL would expect a tenth of
/// all rows. Each such number makes a separate prepared statement, so there must be few.
///
/// A statement whose columns are written by functions consists of texts and values in turn: `{ value: SqlType }` is bound, and
/// `{ value as function }` is written by the function, always with the same text.
macro_rules! statement {
    ($(#[$meta:meta])* $visibility:vis $name:ident -> $row:ty {} = $text:literal) => {
        $crate::statement::statement! {
            @type [$(#[$meta])*] $visibility $name -> $row {} [true] (_this, out) { out.push_sql($text); }
        }
    };
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident $(<$life:lifetime>)? -> $row:ty {
            $($field:ident: $type:ty $(=> $sql_type:ty)?,)*
        } =
        $text:literal
    ) => {
        $crate::statement::statement! {
            @type [$(#[$meta])*] $visibility $name $(<$life>)? -> $row { $($field: $type,)* }
            [true $(&& $crate::statement::has_fixed_text!($($sql_type)?))*]
            (this, out) {
                for piece in $crate::statement::pieces($text) {
                    let number = match piece {
                        $crate::statement::Piece::Text(text) => {
                            out.push_sql(text);
                            continue;
                        }
                        $crate::statement::Piece::Value(number) => number,
                    };
                    let mut values = 0..;
                    $(
                        if values.next() == Some(number) {
                            $crate::statement::pushed!(this, out, $field $(, $sql_type)?);
                        }
                    )*
                }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $visibility:vis $name:ident $(<$life:lifetime>)? -> $row:ty { $($field:ident: $type:ty,)* } =
        $begin:literal $({ $bind:ident $(: $sql_type:ty)? $(as $write:path)? } $text:literal)*
    ) => {
        $crate::statement::statement! {
            @type [$(#[$meta])*] $visibility $name $(<$life>)? -> $row { $($field: $type,)* }
            [true $(&& $crate::statement::has_fixed_text!($($sql_type)? $(as $write)?))*]
            (this, out) {
                out.push_sql($begin);
                $(
                    $crate::statement::pushed!(this, out, $bind $(, $sql_type)? $(as $write)?);
                    out.push_sql($text);
                )*
            }
        }
    };
    (
        @type [$(#[$meta:meta])*] $visibility:vis $name:ident $(<$life:lifetime>)? -> $row:ty {
            $($field:ident: $type:ty,)*
        }
        [$has_fixed_text:expr]
        ($this:ident, $out:ident) $write:block
    ) => {
        $(#[$meta])*
        $visibility struct $name $(<$life>)? {
            $(pub(crate) $field: $type,)*
        }

        /// Without its values: only tuples of up to twelve columns implement `Debug`.
        impl $(<$life>)? std::fmt::Debug for $name $(<$life>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(stringify!($name))
            }
        }

        impl $(<$life>)? diesel::query_builder::QueryFragment<diesel::pg::Pg> for $name $(<$life>)? {
            fn walk_ast<'b>(
                &'b self,
                mut $out: diesel::query_builder::AstPass<'_, 'b, diesel::pg::Pg>,
            ) -> diesel::QueryResult<()> {
                let $this = self;
                $write
                Ok(())
            }
        }

        const _: () = {
            /// Identifies the statement independent of its lifetime.
            #[derive(Debug)]
            pub(crate) struct Text;

            impl $(<$life>)? diesel::query_builder::QueryId for $name $(<$life>)? {
                type QueryId = Text;

                const HAS_STATIC_QUERY_ID: bool = $has_fixed_text;
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

/// A piece of a statement's text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    Text(&'static str),
    /// The place of a value, from 0.
    Value(usize),
}

/// The pieces of a text with `$1` and so on.
pub(crate) fn pieces(text: &'static str) -> impl Iterator<Item = Piece> {
    let mut parts = text.split('$');
    let begin = parts.next().map(Piece::Text);
    begin.into_iter().chain(parts.flat_map(|part| {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (number, text) = part.split_at(digits);
        let place = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        // A text without this value is not valid SQL, so no test of the statement passes.
        [place.map_or(Piece::Text("$"), Piece::Value), Piece::Text(text)]
    }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_a_text_are_numbered_from_one() {
        use Piece::{Text, Value};
        let expected = [Text("SELECT "), Value(1), Text(", "), Value(0), Text(" + "), Value(11), Text("")];
        assert_eq!(pieces("SELECT $2, $1 + $12").collect::<Vec<_>>(), expected);
        assert_eq!(pieces("SELECT 1").collect::<Vec<_>>(), [Text("SELECT 1")]);
    }
}
