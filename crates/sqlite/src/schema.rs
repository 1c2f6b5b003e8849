//! The tables, as the migrations in `migrations/sqlite` leave them.

diesel::table! {
    accounts (id) {
        id -> Binary,
        email -> Text,
        email_key -> Text,
        name -> Nullable<Text>,
        plan -> Text,
        suspended_at -> Nullable<BigInt>,
        created_at -> BigInt,
        links_count -> BigInt,
        groups_count -> BigInt,
        domains_count -> BigInt,
        pixels_count -> BigInt,
    }
}

diesel::table! {
    api_keys (id) {
        id -> Binary,
        account_id -> Binary,
        name -> Nullable<Text>,
        hash -> Binary,
        last_four -> Text,
        created_at -> BigInt,
        revoked_at -> Nullable<BigInt>,
    }
}

diesel::table! {
    custom_domains (id) {
        id -> Binary,
        account_id -> Binary,
        hostname -> Text,
        status -> Text,
        deadline -> Nullable<BigInt>,
        misdirected_since -> Nullable<BigInt>,
        created_at -> BigInt,
        next_check_at -> Nullable<BigInt>,
        checks_made -> BigInt,
        claims -> BigInt,
        failure_reason -> Nullable<Text>,
        checked_at -> Nullable<BigInt>,
        observed -> Nullable<Text>,
    }
}

diesel::table! {
    groups (account_id, id) {
        account_id -> Binary,
        id -> Binary,
        name -> Text,
        landings_count -> BigInt,
        redirects_count -> BigInt,
        created_at -> BigInt,
        updated_at -> BigInt,
    }
}

diesel::table! {
    links (id) {
        number -> BigInt,
        id -> Binary,
        account_id -> Binary,
        kind -> Integer,
        name -> Text,
        host -> Nullable<Text>,
        slug -> Text,
        is_active -> Bool,
        note -> Nullable<Text>,
        group_id -> Nullable<Binary>,
        analytics_enabled -> Bool,
        created_at -> BigInt,
        updated_at -> BigInt,
        target_url -> Nullable<Text>,
        antibot_enabled -> Bool,
        geo_blocklist -> Text,
        pixel_ids -> Binary,
        page -> Nullable<Text>,
    }
}

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
    pixels (id) {
        id -> Binary,
        account_id -> Binary,
        pixel_type -> Text,
        code -> Text,
        name -> Nullable<Text>,
        created_at -> BigInt,
    }
}

diesel::table! {
    remembered_answers (account_id, key) {
        // SQLite's own number of the row.
        rowid -> BigInt,
        account_id -> Binary,
        key -> Text,
        fingerprint -> Binary,
        status -> Integer,
        location -> Nullable<Text>,
        body -> Text,
        created_at -> BigInt,
        // Computed from the others.
        bytes -> BigInt,
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
    changes (number) {
        number -> BigInt,
        at -> BigInt,
        account_id -> Binary,
        addresses -> Nullable<Text>,
        hostname -> Nullable<Text>,
    }
}

diesel::table! {
    // SQLite's own: the highest number that each table with AUTOINCREMENT has ever had.
    sqlite_sequence (name) {
        name -> Text,
        seq -> BigInt,
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
    write_trials (only_row) {
        only_row -> Integer,
        name -> Binary,
        trials -> BigInt,
    }
}

diesel::table! {
    link_lateness (account_id, kind) {
        account_id -> Binary,
        kind -> Integer,
        millis -> BigInt,
    }
}

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(links -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(accounts, api_keys, custom_domains, groups, links, pixels);
