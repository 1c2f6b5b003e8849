//! The tables, as the migrations in `migrations/sqlite-clicks` leave them.

diesel::table! {
    click_sources (source) {
        source -> Binary,
        number -> BigInt,
        seen_at -> BigInt,
    }
}

diesel::table! {
    click_batches (batch) {
        batch -> BigInt,
        source -> Binary,
        number -> BigInt,
        clicks -> BigInt,
        first_at -> BigInt,
        last_at -> BigInt,
        accounts -> Nullable<Binary>,
        data -> Binary,
    }
}

diesel::table! {
    unreadable_click_batches (source, number) {
        source -> Binary,
        number -> BigInt,
        clicks -> BigInt,
        found_at -> BigInt,
        reason -> Text,
        data -> Binary,
    }
}

diesel::table! {
    click_segments (segment) {
        segment -> BigInt,
        account_id -> Binary,
        day -> Integer,
        sealed -> Bool,
        first_link -> Binary,
        last_link -> Binary,
        clicks -> BigInt,
        data -> Binary,
    }
}

diesel::table! {
    click_days (account_id, day) {
        account_id -> Binary,
        day -> Integer,
        version -> BigInt,
        digested -> Bool,
        sealed -> Bool,
    }
}

diesel::table! {
    click_digests (account_id, day, scope) {
        account_id -> Binary,
        day -> Integer,
        scope -> Binary,
        data -> Binary,
    }
}

diesel::table! {
    last_clicks (account_id, link_id) {
        account_id -> Binary,
        link_id -> Binary,
        at -> BigInt,
    }
}

diesel::table! {
    forgotten_clicks (account_id) {
        account_id -> Binary,
        before_day -> Integer,
    }
}

diesel::table! {
    planned_click_deletions (account_id) {
        account_id -> Binary,
        before_day -> Integer,
        waited_seconds -> BigInt,
    }
}

diesel::table! {
    visitor_keys (day) {
        day -> Integer,
        key -> Binary,
    }
}
