//! The tables, as the migrations in `migrations/postgres` leave them.

diesel::table! {
    accounts (id) {
        id -> Uuid,
        email -> Text,
        email_key -> Text,
        name -> Nullable<Text>,
        plan -> Text,
        suspended_at -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        links_count -> BigInt,
        groups_count -> BigInt,
        domains_count -> BigInt,
        pixels_count -> BigInt,
    }
}

diesel::table! {
    api_keys (id) {
        id -> Uuid,
        account_id -> Uuid,
        name -> Nullable<Text>,
        hash -> Binary,
        last_four -> Text,
        created_at -> Timestamptz,
        revoked_at -> Nullable<Timestamptz>,
    }
}

diesel::table! {
    groups (account_id, id) {
        account_id -> Uuid,
        id -> Uuid,
        name -> Text,
        landings_count -> BigInt,
        redirects_count -> BigInt,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
    }
}

diesel::table! {
    links (id) {
        id -> Uuid,
        account_id -> Uuid,
        kind -> SmallInt,
        name -> Text,
        host -> Nullable<Text>,
        slug -> Text,
        is_active -> Bool,
        note -> Nullable<Text>,
        group_id -> Nullable<Uuid>,
        analytics_enabled -> Bool,
        created_at -> Timestamptz,
        updated_at -> Timestamptz,
        target_url -> Nullable<Text>,
        antibot_enabled -> Bool,
        geo_blocklist -> Text,
        search_key -> Text,
        pixel_ids -> Array<Uuid>,
        page -> Nullable<Text>,
    }
}

diesel::table! {
    pixels (id) {
        id -> Uuid,
        account_id -> Uuid,
        #[sql_name = "type"]
        pixel_type -> Text,
        code -> Text,
        name -> Nullable<Text>,
        created_at -> Timestamptz,
    }
}

diesel::table! {
    custom_domains (id) {
        id -> Uuid,
        account_id -> Uuid,
        hostname -> Text,
        status -> Text,
        deadline -> Nullable<Timestamptz>,
        misdirected_since -> Nullable<Timestamptz>,
        created_at -> Timestamptz,
        next_check_at -> Nullable<Timestamptz>,
        checks_made -> BigInt,
        claims -> Integer,
        failure_reason -> Nullable<Text>,
        checked_at -> Nullable<Timestamptz>,
        observed -> Nullable<Text>,
    }
}

diesel::table! {
    remembered_answers (account_id, key) {
        account_id -> Uuid,
        key -> Text,
        fingerprint -> Binary,
        status -> Integer,
        location -> Nullable<Text>,
        body -> Text,
        created_at -> Timestamptz,
        bytes -> Integer,
    }
}

diesel::table! {
    remembered_totals (account_id) {
        account_id -> Uuid,
        bytes -> BigInt,
    }
}

diesel::table! {
    request_counts (account_id, span, started_at) {
        account_id -> Uuid,
        span -> SmallInt,
        started_at -> Timestamptz,
        admitted -> BigInt,
    }
}

diesel::table! {
    first_account (is_the_row) {
        is_the_row -> Bool,
    }
}

diesel::table! {
    changes (id) {
        id -> Uuid,
        at -> Timestamptz,
        account_id -> Uuid,
        hosts -> Nullable<Array<Text>>,
        slugs -> Nullable<Array<Text>>,
        hostname -> Nullable<Text>,
    }
}

diesel::table! {
    forgotten_changes (is_the_row) {
        is_the_row -> Bool,
        until -> Timestamptz,
    }
}

diesel::table! {
    leases (name) {
        name -> Text,
        holder -> Uuid,
        expires_at -> Timestamptz,
    }
}

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(links -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(accounts, api_keys, custom_domains, links);
