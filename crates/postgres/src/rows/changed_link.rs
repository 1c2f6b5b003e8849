//! A row of `links` that is updated.

use diesel::sql_types::{Bool, Nullable, SmallInt, Text};
use signpost_domain::{AccountId, Link};
use signpost_sql_rows::sql_types::{Identifier, IdentifierList, Moment};

use crate::search::search_key;
use crate::statement::statement;
use signpost_sql_rows::columns::{IdBytes, Instant, StoredIds};
use signpost_sql_rows::link::{LinkColumns, kind_column};

statement! {
    /// Updates a link of the account, and returns its id. Diesel's own updates are prepared on each run, which costs a round
    /// trip.
    pub(crate) UpdateLink<'a> -> Identifier {
        id: IdBytes,
        account: IdBytes,
        kind: i16,
        name: &'a str,
        host: Option<&'a str>,
        slug: &'a str,
        is_active: bool,
        note: Option<&'a str>,
        group: Option<IdBytes>,
        analytics: bool,
        updated: Instant,
        target: Option<&'a str>,
        antibot: bool,
        geo_blocklist: String,
        search_key: String,
        pixel_ids: StoredIds,
    } =
    "UPDATE links SET name = "
    { name: Text } ", host = "
    { host: Nullable<Text> } ", slug = "
    { slug: Text } ", is_active = "
    { is_active: Bool } ", note = "
    { note: Nullable<Text> } ", group_id = "
    { group: Nullable<Identifier> } ", analytics_enabled = "
    { analytics: Bool } ", updated_at = "
    { updated: Moment } ", target_url = "
    { target: Nullable<Text> } ", antibot_enabled = "
    { antibot: Bool } ", geo_blocklist = "
    { geo_blocklist: Text } ", search_key = "
    { search_key: Text } ", pixel_ids = "
    { pixel_ids: IdentifierList } " WHERE id = "
    { id: Identifier } " AND account_id = "
    { account: Identifier } " AND kind = "
    { kind: SmallInt } " RETURNING id"
}

impl<'a> UpdateLink<'a> {
    pub(crate) fn of(account: AccountId, link: &'a Link) -> Self {
        let LinkColumns {
            name,
            host,
            slug,
            is_active,
            note,
            group_id,
            analytics_enabled,
            updated_at,
            target_url,
            antibot_enabled,
            geo_blocklist,
            pixel_ids,
        } = link.into();
        Self {
            id: link.id().into(),
            account: account.into(),
            kind: kind_column(link.kind()),
            name,
            host,
            slug,
            is_active,
            note,
            group: group_id,
            analytics: analytics_enabled,
            updated: updated_at,
            target: target_url,
            antibot: antibot_enabled,
            geo_blocklist,
            search_key: search_key(name, slug, target_url),
            pixel_ids,
        }
    }
}
