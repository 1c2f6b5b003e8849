//! The tables that both databases have, as their migrations leave them. A column that only one of them has says so.

#![allow(missing_docs, clippy::wildcard_imports, reason = "they are how diesel writes tables")]

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    accounts (id) {
        id -> Identifier,
        email -> Text,
        email_key -> Text,
        name -> Nullable<Text>,
        plan -> Text,
        suspended_at -> Nullable<Moment>,
        created_at -> Moment,
        links_count -> BigInt,
        groups_count -> BigInt,
        domains_count -> BigInt,
        pixels_count -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    api_keys (id) {
        id -> Identifier,
        account_id -> Identifier,
        name -> Nullable<Text>,
        hash -> Binary,
        last_four -> Text,
        created_at -> Moment,
        revoked_at -> Nullable<Moment>,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    custom_domains (id) {
        id -> Identifier,
        account_id -> Identifier,
        hostname -> Text,
        status -> Text,
        deadline -> Nullable<Moment>,
        misdirected_since -> Nullable<Moment>,
        created_at -> Moment,
        next_check_at -> Nullable<Moment>,
        checks_made -> BigInt,
        claims -> Integer,
        failure_reason -> Nullable<Text>,
        checked_at -> Nullable<Moment>,
        observed -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    groups (account_id, id) {
        account_id -> Identifier,
        id -> Identifier,
        name -> Text,
        landings_count -> BigInt,
        redirects_count -> BigInt,
        created_at -> Moment,
        updated_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    links (id) {
        /// Only on SQLite: the number by which the index of texts knows the link.
        number -> BigInt,
        id -> Identifier,
        account_id -> Identifier,
        kind -> SmallInt,
        name -> Text,
        host -> Nullable<Text>,
        slug -> Text,
        is_active -> Bool,
        note -> Nullable<Text>,
        group_id -> Nullable<Identifier>,
        analytics_enabled -> Bool,
        created_at -> Moment,
        updated_at -> Moment,
        target_url -> Nullable<Text>,
        antibot_enabled -> Bool,
        geo_blocklist -> Text,
        /// Only on PostgreSQL: what searches look at.
        search_key -> Text,
        pixel_ids -> IdentifierList,
        page -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    pixels (id) {
        id -> Identifier,
        account_id -> Identifier,
        #[sql_name = "type"]
        pixel_type -> Text,
        code -> Text,
        name -> Nullable<Text>,
        created_at -> Moment,
    }
}

diesel::table! {
    use diesel::sql_types::*;

    use crate::sql_types::*;

    remembered_answers (account_id, key) {
        /// Only on SQLite: its own number of the row.
        rowid -> BigInt,
        account_id -> Identifier,
        key -> Text,
        fingerprint -> Binary,
        status -> Integer,
        location -> Nullable<Text>,
        body -> Text,
        created_at -> Moment,
        bytes -> Integer,
    }
}

diesel::joinable!(api_keys -> accounts (account_id));
diesel::joinable!(links -> accounts (account_id));
diesel::allow_tables_to_appear_in_same_query!(accounts, api_keys, custom_domains, groups, links, pixels);
