//! The tables, as the migrations in `migrations/sqlite` leave them.

#[allow(clippy::wildcard_imports, reason = "each store has all tables of both")]
pub(crate) use signpost_sql_rows::schema::*;

diesel::table! {
    merged_counts (account_id, span, started_at, count_id) {
        account_id -> Binary,
        span -> Integer,
        started_at -> BigInt,
        count_id -> Binary,
        merged -> BigInt,
    }
}

diesel::table! {
    order_events (id) {
        id -> BigInt,
        at -> BigInt,
        kind -> Text,
        hostname -> Text,
        registered_domain -> Text,
    }
}

diesel::table! {
    changes (number) {
        number -> BigInt,
        at -> BigInt,
        account_id -> Binary,
        addresses -> Nullable<Text>,
        hostname -> Nullable<Text>,
    }
}

diesel::table! {
    // SQLite's own table: the highest number ever assigned in each table with AUTOINCREMENT.
    sqlite_sequence (name) {
        name -> Text,
        seq -> BigInt,
    }
}

diesel::table! {
    write_trials (only_row) {
        only_row -> Integer,
        name -> Binary,
        trials -> BigInt,
    }
}

diesel::table! {
    link_lateness (account_id, kind) {
        account_id -> Binary,
        kind -> SmallInt,
        millis -> BigInt,
    }
}

diesel::table! {
    request_counts (account_id, span, started_at) {
        account_id -> Binary,
        span -> Integer,
        started_at -> BigInt,
        admitted -> BigInt,
    }
}

diesel::table! {
    leases (name) {
        name -> Text,
        holder -> Binary,
        expires_at -> BigInt,
    }
}

diesel::table! {
    sign_in_totals (only_row) {
        only_row -> Integer,
        counts -> BigInt,
    }
}
