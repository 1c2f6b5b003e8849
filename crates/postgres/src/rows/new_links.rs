//! Rows of `links` on their way in: a column each, so that any number of them is the same statement.

use diesel::sql_types::{Array, BigInt, Bool, Nullable, SmallInt, Text, Timestamptz, Uuid};
use signpost_domain::{AccountId, Link};

use super::link::{LinkColumns, kind_column};
use crate::columns::{IdBytes, Instant};
use crate::statement::statement;

statement! {
    /// Inserts those of the links whose addresses are free, if the account is there, and gives their ids. Only the
    /// address may be taken: a second link with an id is a defect and fails.
    ///
    /// Of two with one address the first goes in. Otherwise they go in by the order of their addresses, so that two
    /// batches that claim the same ones do not wait for each other.
    #[derive(Default)]
    pub(crate) NewLinks<'a> -> Uuid {
        account: IdBytes,
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
        numbers: Vec<i64>,
    } =
    "INSERT INTO links (id, account_id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, \
     created_at, updated_at, target_url, antibot_enabled, geo_blocklist, search_key) \
     SELECT n.id, a.id, n.kind, n.name, n.host, n.slug, n.is_active, n.note, n.group_id, n.analytics_enabled, \
     n.created_at, n.updated_at, n.target_url, n.antibot_enabled, n.geo_blocklist, n.search_key \
     FROM accounts AS a, unnest("
    { ids: Array<Uuid> } ", "
    { kinds: Array<SmallInt> } ", "
    { names: Array<Text> } ", "
    { hosts: Array<Nullable<Text>> } ", "
    { slugs: Array<Text> } ", "
    { are_active: Array<Bool> } ", "
    { notes: Array<Nullable<Text>> } ", "
    { groups: Array<Nullable<Uuid>> } ", "
    { analytics: Array<Bool> } ", "
    { created: Array<Timestamptz> } ", "
    { updated: Array<Timestamptz> } ", "
    { targets: Array<Nullable<Text>> } ", "
    { antibots: Array<Bool> } ", "
    { geo_blocklists: Array<Text> } ", "
    { search_keys: Array<Text> } ", "
    { numbers: Array<BigInt> }
    ") AS n (id, kind, name, host, slug, is_active, note, group_id, analytics_enabled, created_at, updated_at, \
     target_url, antibot_enabled, geo_blocklist, search_key, number) \
     WHERE a.id = "
    { account: Uuid }
    " ORDER BY n.host COLLATE \"C\", n.slug COLLATE \"C\", n.number \
     FOR KEY SHARE OF a \
     ON CONFLICT (host, slug) DO NOTHING RETURNING id"
}

impl<'a> NewLinks<'a> {
    pub(crate) fn of(account: AccountId, links: &[&'a Link]) -> Self {
        let account = account.into();
        let mut new = Self { account, ..Self::default() };
        for (link, number) in links.iter().zip(0..) {
            let created_at = match link {
                Link::Landing(landing) => landing.created_at,
                Link::Redirect(redirect) => redirect.created_at,
            };
            new.ids.push(link.id().into());
            new.kinds.push(kind_column(link.kind()));
            new.created.push(created_at.into());
            new.numbers.push(number);
            new.push((*link).into());
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
            search_key,
        } = columns;
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
        self.search_keys.push(search_key);
    }
}
