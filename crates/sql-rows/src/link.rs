//! Rows of `links`: landing pages and redirects.

use diesel::prelude::*;
use signpost_domain::id::{LandingKind, RedirectKind};
use signpost_domain::{
    AccountId, AnyContent, ExternalId, Id, Landing, Link, LinkId, LinkKind, Name, Note, RedirectContent,
};

use crate::Corrupt;
use crate::cell::{RowName, own_id};
use crate::click_limit::{LimitOfLink, click_limit_from};
use crate::columns::{IdBytes, Instant, StoredId, StoredIds, whole_number};
use crate::custom_domain::IsDomainInactive;
use crate::external_id::external_id_from;
use crate::link_address::{placement_columns, placement_from};
use crate::link_life::{LifeRow, ReadLife, behaviour_column};
use crate::listed::Listed;
use crate::redirect_columns::{countries, geo_blocklist_from, pixel_ids_from, pixels, target_from};
use crate::schema::links;
use crate::tag::{TagsOfLink, tags_from};
use crate::target_host::host_ends;

pub use crate::link_address::{SYSTEM_DOMAIN, address_columns, address_from, address_texts, site_column};

/// The table, as the migrations of both databases leave it. If only one database has a column, its comment
/// names the database.
#[allow(missing_docs, clippy::wildcard_imports, reason = "diesel writes tables like this")]
pub(crate) mod table {
    diesel::table! {
        use diesel::sql_types::*;

        use crate::sql_types::*;

        links (id) {
            /// Only on SQLite: the link's number in the index of texts.
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
            revision -> BigInt,
            external_id -> Nullable<Text>,
            starts_at -> Nullable<Moment>,
            expires_at -> Nullable<Moment>,
            /// JSON text (ADR 81).
            behaviour -> Nullable<Text>,
            /// The host of a redirect's target in ASCII form. On PostgreSQL only if the target states it in another way (ADR 83).
            target_host -> Nullable<Text>,
            /// Only on SQLite: the lengths of the ends of `target_host`.
            target_host_ends -> Nullable<Text>,
            /// Whether `behaviour` has rules: an index is by it (ADR 87).
            has_rules -> Bool,
        }
    }
}

/// The table's name.
pub const TABLE: &str = "links";

/// The column `kind` of landing pages.
const LANDING: i16 = 0;

/// The column `kind` of redirects.
const REDIRECT: i16 = 1;

/// The column `kind` for a kind.
#[must_use]
pub const fn kind_column(kind: LinkKind) -> i16 {
    match kind {
        LinkKind::Landing => LANDING,
        LinkKind::Redirect => REDIRECT,
    }
}

/// The kind for a value of the column `kind`; `None` for any other value.
#[must_use]
pub const fn kind_from(column: i16) -> Option<LinkKind> {
    match column {
        LANDING => Some(LinkKind::Landing),
        REDIRECT => Some(LinkKind::Redirect),
        _ => None,
    }
}

/// A row's own identifier, and the row's name made from it.
pub fn link_id(kind: i16, id: &StoredId) -> Result<(LinkId, RowName), Corrupt> {
    match kind_from(kind) {
        Some(LinkKind::Landing) => own_id::<LandingKind>(TABLE, id).map(|(id, row)| (id.into(), row)),
        Some(LinkKind::Redirect) => own_id::<RedirectKind>(TABLE, id).map(|(id, row)| (id.into(), row)),
        None => Err(unknown_kind(id)),
    }
}

fn unknown_kind(id: &StoredId) -> Corrupt {
    RowName::of_bytes(TABLE, id.as_slice()).corrupt("kind", "is neither 0 nor 1")
}

/// A link as it is read.
#[derive(Debug, Queryable, Selectable)]
#[diesel(table_name = links, check_for_backend(diesel::pg::Pg, diesel::sqlite::Sqlite))]
pub struct LinkRow {
    id: StoredId,
    kind: i16,
    name: String,
    host: Option<String>,
    slug: String,
    is_active: bool,
    note: Option<String>,
    group_id: Option<StoredId>,
    analytics_enabled: bool,
    created_at: Instant,
    updated_at: Instant,
    target_url: Option<String>,
    antibot_enabled: bool,
    geo_blocklist: String,
    pixel_ids: StoredIds,
    revision: i64,
    external_id: Option<String>,
    #[diesel(embed)]
    life: LifeRow,
    #[diesel(select_expression = IsDomainInactive, select_expression_type = IsDomainInactive)]
    is_domain_inactive: Option<bool>,
    #[diesel(select_expression = TagsOfLink, select_expression_type = TagsOfLink)]
    tags: Option<String>,
    #[diesel(select_expression = LimitOfLink, select_expression_type = LimitOfLink)]
    click_limit: Option<String>,
}

impl LinkRow {
    /// The row's own identifier, and its name.
    pub fn id(&self) -> Result<(LinkId, RowName), Corrupt> {
        link_id(self.kind, &self.id)
    }

    /// The link.
    pub fn into_link(self) -> Result<Link, Corrupt> {
        let Self {
            id,
            kind,
            name,
            host,
            slug,
            is_active,
            note,
            group_id,
            analytics_enabled,
            created_at,
            updated_at,
            target_url,
            antibot_enabled,
            geo_blocklist,
            pixel_ids,
            revision,
            external_id,
            life,
            is_domain_inactive,
            tags,
            click_limit,
        } = self;
        let (id, row) = link_id(kind, &id)?;
        let ReadLife { life, way, rules, preview, has_password } =
            life.read(&row, id.kind(), click_limit.is_some())?;
        let content = match id.kind() {
            LinkKind::Landing => {
                row.unused("target_url", target_url.is_none())?;
                row.unused("antibot_enabled", !antibot_enabled)?;
                row.unused("geo_blocklist", geo_blocklist.is_empty())?;
                row.unused("pixel_ids", pixel_ids.is_empty())?;
                AnyContent::Landing
            }
            LinkKind::Redirect => AnyContent::Redirect(RedirectContent {
                target_url: target_from(&row, target_url)?,
                antibot_enabled,
                geo_blocklist: geo_blocklist_from(&row, &geo_blocklist)?,
                pixel_ids: pixel_ids_from(&row, &pixel_ids)?,
                way,
                click_limit: click_limit_from(&row, click_limit)?,
                rules,
                preview,
            }),
        };
        Ok(Link {
            id: Id::from_bytes(id.to_bytes()),
            name: row.cell("name", Name::from_stored(name))?,
            placement: placement_from(&row, host, slug)?,
            is_active,
            is_domain_active: !is_domain_inactive.unwrap_or_default(),
            life,
            has_password,
            note: note.map(|note| row.cell("note", Note::from_stored(note))).transpose()?,
            external_id: external_id_from(&row, external_id)?,
            analytics_enabled,
            group_id: group_id.map(|id| row.id("group_id", &id)).transpose()?,
            tags: tags_from(&row, tags)?,
            created_at: row.timestamp("created_at", created_at)?,
            updated_at: row.timestamp("updated_at", updated_at)?,
            revision: row.revision("revision", revision)?,
            content,
        })
    }

    /// The row as a landing page.
    pub fn into_landing(self) -> Result<Landing, Corrupt> {
        let id = self.id.clone();
        let landing = self.into_link()?.into_landing();
        landing.ok_or_else(|| {
            RowName::of_bytes(TABLE, id.as_slice()).corrupt("kind", "is not that of a landing page")
        })
    }
}

impl Listed for LinkRow {
    type Item = Link;

    fn id(&self) -> &StoredId {
        &self.id
    }

    fn read(self) -> Result<Link, Corrupt> {
        self.into_link()
    }
}

/// Calls a macro with the columns of a link that an update writes: the name of each, its value and its SQL type.
#[macro_export]
macro_rules! written_link_columns {
    ($callback:ident) => {
        $callback! {
            name: &'a str => diesel::sql_types::Text,
            host: Option<&'a str> => diesel::sql_types::Nullable<diesel::sql_types::Text>,
            slug: &'a str => diesel::sql_types::Text,
            is_active: bool => diesel::sql_types::Bool,
            note: Option<&'a str> => diesel::sql_types::Nullable<diesel::sql_types::Text>,
            group_id: Option<$crate::columns::IdBytes> => diesel::sql_types::Nullable<$crate::sql_types::Identifier>,
            analytics_enabled: bool => diesel::sql_types::Bool,
            updated_at: $crate::columns::Instant => $crate::sql_types::Moment,
            target_url: Option<&'a str> => diesel::sql_types::Nullable<diesel::sql_types::Text>,
            antibot_enabled: bool => diesel::sql_types::Bool,
            geo_blocklist: String => diesel::sql_types::Text,
            pixel_ids: $crate::columns::StoredIds => $crate::sql_types::IdentifierList,
            revision: i64 => diesel::sql_types::BigInt,
            external_id: Option<&'a str> => diesel::sql_types::Nullable<diesel::sql_types::Text>,
            starts_at: Option<$crate::columns::Instant> => diesel::sql_types::Nullable<$crate::sql_types::Moment>,
            expires_at: Option<$crate::columns::Instant> => diesel::sql_types::Nullable<$crate::sql_types::Moment>,
            behaviour: Option<String> => diesel::sql_types::Nullable<diesel::sql_types::Text>,
            target_host: Option<&'a str> => diesel::sql_types::Nullable<diesel::sql_types::Text>,
            has_rules: bool => diesel::sql_types::Bool,
        }
    };
}

macro_rules! declare_link_columns {
    ($($column:ident: $value:ty => $sql_type:ty,)*) => {
        /// The columns of a link except id, kind, creation and page. `analytics_enabled` never changes (D28), but writing it
        /// again costs nothing.
        #[derive(Debug, Insertable, AsChangeset)]
        #[diesel(table_name = links, treat_none_as_default_value = false, treat_none_as_null = true)]
        #[expect(missing_docs, reason = "they are the columns of these names")]
        pub struct LinkColumns<'a> {
            $(pub $column: $value,)*
        }
    };
}

written_link_columns!(declare_link_columns);

impl<'a> From<&'a Link> for LinkColumns<'a> {
    fn from(link: &'a Link) -> Self {
        let Link {
            id: _,
            name,
            placement,
            is_active,
            // Of its domain.
            is_domain_active: _,
            life,
            // In the column `behaviour`.
            has_password: _,
            note,
            external_id,
            analytics_enabled,
            group_id,
            // In a table of their own.
            tags: _,
            created_at: _,
            updated_at,
            revision,
            content,
        } = link;
        let (host, slug) = placement_columns(placement);
        let redirect = match content {
            AnyContent::Landing => None,
            AnyContent::Redirect(redirect) => Some(redirect),
        };
        Self {
            name: name.as_str(),
            host,
            slug,
            is_active: *is_active,
            note: note.as_ref().map(Note::as_str),
            group_id: group_id.map(IdBytes::from),
            analytics_enabled: *analytics_enabled,
            updated_at: (*updated_at).into(),
            target_url: redirect.map(|redirect| redirect.target_url.as_str()),
            antibot_enabled: redirect.is_some_and(|redirect| redirect.antibot_enabled),
            geo_blocklist: redirect.map(|redirect| countries(&redirect.geo_blocklist)).unwrap_or_default(),
            pixel_ids: redirect.map(|redirect| pixels(&redirect.pixel_ids)).unwrap_or_default(),
            revision: whole_number(revision.get()),
            external_id: external_id.as_ref().map(ExternalId::as_str),
            starts_at: life.schedule.starts_at().map(Instant::from),
            expires_at: life.schedule.expires_at().map(Instant::from),
            behaviour: behaviour_column(link),
            target_host: redirect.map(|redirect| redirect.target_url.host()),
            has_rules: link.has_rules(),
        }
    }
}

/// A link as it is inserted on SQLite.
#[derive(Debug, Insertable)]
#[diesel(table_name = links, treat_none_as_default_value = false)]
pub struct NewLink<'a> {
    id: IdBytes,
    account_id: IdBytes,
    kind: i16,
    created_at: Instant,
    target_host_ends: Option<String>,
    #[diesel(embed)]
    columns: LinkColumns<'a>,
}

impl<'a> NewLink<'a> {
    /// The row of an account's link.
    #[must_use]
    pub fn new(account: AccountId, link: &'a Link) -> Self {
        Self {
            id: link.id().into(),
            account_id: account.into(),
            kind: kind_column(link.kind()),
            created_at: link.created_at.into(),
            target_host_ends: link.target_url().map(|target| host_ends(target.host())),
            columns: link.into(),
        }
    }
}
