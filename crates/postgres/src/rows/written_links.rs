//! Rows of `links` as they are written: one that is updated, and new ones as one array for each column, so that any number
//! of them is the same statement.

use std::collections::BTreeMap;

use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text};
use signpost_domain::{AccountId, Link, LinkKind};
use signpost_sql_rows::columns::{IdBytes, Instant, StoredIds, whole_number};
use signpost_sql_rows::link::{LinkColumns, kind_column};
use signpost_sql_rows::sql_types::{Identifier, IdentifierList, Moment};

use crate::search::search_key;
use crate::statement::statement;

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

statement! {
    /// Inserts the links whose groups exist and whose addresses are free, unless the account is full. Counts the inserted
    /// links in the account, and all candidates in their groups. Only a taken address is skipped: a second link with the
    /// same id is a defect and fails.
    ///
    /// If the account exists, the result is its count, whether it seemed to have room, the existing groups, and the inserted
    /// links. The groups and the account are locked then.
    ///
    /// Of two links with one address, the first is inserted. Otherwise links are inserted in the order of their addresses,
    /// so that two batches that claim the same addresses do not deadlock.
    #[derive(Default)]
    pub(crate) NewLinks<'a> -> (BigInt, Bool, Array<Identifier>, Array<Identifier>) {
        account: IdBytes,
        limit: i64,
        entered: Vec<IdBytes>,
        landings: Vec<i64>,
        redirects: Vec<i64>,
        ids: Vec<IdBytes>,
        kinds: Vec<i16>,
        names: Vec<&'a str>,
        hosts: Vec<Option<&'a str>>,
        slugs: Vec<&'a str>,
        are_active: Vec<bool>,
        notes: Vec<Option<&'a str>>,
        groups: Vec<Option<IdBytes>>,
        analytics: Vec<bool>,
        created: Vec<Instant>,
        updated: Vec<Instant>,
        targets: Vec<Option<&'a str>>,
        antibots: Vec<bool>,
        geo_blocklists: Vec<String>,
        search_keys: Vec<String>,
        pixel_ids: Vec<String>,
        numbers: Vec<i64>,
    } =
    "WITH room AS MATERIALIZED (SELECT a.id, a.links_count < "
    { limit: BigInt } " AS is_any FROM accounts AS a WHERE a.id = "
    { account: Identifier } " FOR KEY SHARE), \
     held AS MATERIALIZED (SELECT g.id FROM groups AS g WHERE g.account_id = "
    { account: Identifier } " AND g.id = ANY ("
    { entered: Array<Identifier> } ") ORDER BY g.id FOR NO KEY UPDATE), \
     moved AS (UPDATE groups AS g SET landings_count = g.landings_count + m.landings, \
     redirects_count = g.redirects_count + m.redirects FROM room AS a, held AS h, unnest("
    { entered: Array<Identifier> } ", "
    { landings: Array<BigInt> } ", "
    { redirects: Array<BigInt> } ") AS m (id, landings, redirects) \
     WHERE a.is_any AND g.account_id = a.id AND g.id = h.id AND m.id = h.id), \
     new AS (INSERT INTO links (id, account_id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, \
     created_at, updated_at, target_url, antibot_enabled, geo_blocklist, search_key, pixel_ids) \
     SELECT n.id, a.id, n.kind, n.name, n.host, n.slug, n.is_active, n.note, n.group_id, n.analytics_enabled, \
     n.created_at, n.updated_at, n.target_url, n.antibot_enabled, n.geo_blocklist, n.search_key, \
     n.pixel_ids::uuid[] \
     FROM room AS a, unnest("
    { ids: Array<Identifier> } ", "
    { kinds: Array<SmallInt> } ", "
    { names: Array<Text> } ", "
    { hosts: Array<Nullable<Text>> } ", "
    { slugs: Array<Text> } ", "
    { are_active: Array<Bool> } ", "
    { notes: Array<Nullable<Text>> } ", "
    { groups: Array<Nullable<Identifier>> } ", "
    { analytics: Array<Bool> } ", "
    { created: Array<Moment> } ", "
    { updated: Array<Moment> } ", "
    { targets: Array<Nullable<Text>> } ", "
    { antibots: Array<Bool> } ", "
    { geo_blocklists: Array<Text> } ", "
    { search_keys: Array<Text> } ", "
    { pixel_ids: Array<Text> } ", "
    { numbers: Array<BigInt> }
    ") AS n (id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, created_at, updated_at, \
     target_url, antibot_enabled, geo_blocklist, search_key, pixel_ids, number) \
     WHERE a.is_any AND (n.group_id IS NULL OR n.group_id IN (SELECT h.id FROM held AS h)) \
     ORDER BY n.host COLLATE \"C\", n.slug COLLATE \"C\", n.number \
     ON CONFLICT (host, slug) DO NOTHING RETURNING id), \
     counted AS (UPDATE accounts AS a SET links_count = a.links_count + (SELECT count(*) FROM new) WHERE a.id = "
    { account: Identifier }
    " RETURNING a.links_count) \
     SELECT c.links_count, a.is_any, ARRAY (SELECT h.id FROM held AS h), ARRAY (SELECT i.id FROM new AS i) \
     FROM counted AS c, room AS a"
}

impl<'a> NewLinks<'a> {
    pub(crate) fn of(account: AccountId, links: &'a [Link], limit: u64) -> Self {
        let (account, limit) = (account.into(), whole_number(limit));
        let mut new = Self { account, limit, ..Self::default() };
        let mut entered = BTreeMap::<IdBytes, (i64, i64)>::new();
        for (link, number) in links.iter().zip(0..) {
            new.ids.push(link.id().into());
            new.kinds.push(kind_column(link.kind()));
            new.created.push(link.created_at.into());
            new.numbers.push(number);
            new.push(link.into());
            if let Some(group) = link.group_id {
                let (landings, redirects) = entered.entry(group.into()).or_default();
                match link.kind() {
                    LinkKind::Landing => *landings += 1,
                    LinkKind::Redirect => *redirects += 1,
                }
            }
        }
        for (group, (landings, redirects)) in entered {
            new.entered.push(group);
            new.landings.push(landings);
            new.redirects.push(redirects);
        }
        new
    }

    fn push(&mut self, columns: LinkColumns<'a>) {
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
        } = columns;
        self.search_keys.push(search_key(name, slug, target_url));
        self.names.push(name);
        self.hosts.push(host);
        self.slugs.push(slug);
        self.are_active.push(is_active);
        self.notes.push(note);
        self.groups.push(group_id);
        self.analytics.push(analytics_enabled);
        self.updated.push(updated_at);
        self.targets.push(target_url);
        self.antibots.push(antibot_enabled);
        self.geo_blocklists.push(geo_blocklist);
        self.pixel_ids.push(array_literal(pixel_ids.whole().unwrap_or_default()));
    }
}

/// Ids as a PostgreSQL array literal: arrays of different lengths cannot be sent as one array.
fn array_literal(ids: &[IdBytes]) -> String {
    let ids: Vec<String> = ids.iter().map(|id| format!("{:032x}", u128::from_be_bytes(id.get()))).collect();
    format!("{{{}}}", ids.join(","))
}
