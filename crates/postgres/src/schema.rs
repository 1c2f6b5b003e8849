//! The tables, as the migrations in `migrations/postgres` leave them.

#![allow(clippy::wildcard_imports, reason = "they are how diesel writes tables")]

pub(crate) use signpost_sql_rows::schema::*;

diesel::table! {
    use diesel::sql_types::*;

    use signpost_sql_rows::sql_types::*;

    remembered_totals (account_id) {
        account_id -> Identifier,
        bytes -> BigInt,
    }
}

diesel::table! {
    first_account (is_the_row) {
        is_the_row -> Bool,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use signpost_sql_rows::sql_types::*;

    changes (id) {
        id -> Identifier,
        at -> Moment,
        account_id -> Identifier,
        hosts -> Nullable<Array<Text>>,
        slugs -> Nullable<Array<Text>>,
        hostname -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use signpost_sql_rows::sql_types::*;

    forgotten_changes (is_the_row) {
        is_the_row -> Bool,
        until -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use signpost_sql_rows::sql_types::*;

    leases (name) {
        name -> Text,
        holder -> Identifier,
        expires_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use signpost_sql_rows::sql_types::*;

    request_counts (account_id, span, started_at) {
        account_id -> Identifier,
        span -> SmallInt,
        started_at -> Moment,
        admitted -> BigInt,
    }
}

diesel::table! {
    first_user (is_the_row) {
        is_the_row -> Bool,
    }
}

diesel::table! {
    sign_in_totals (is_the_row) {
        is_the_row -> Bool,
        counts -> BigInt,
    }
}
