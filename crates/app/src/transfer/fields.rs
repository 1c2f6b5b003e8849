//! The fields of records: their names, their forms, and how those of a redirect's content are written, read and compared.

use signpost_domain::{
    Change, ClickLimit, ClickLimitRequest, FieldError, Life, LifeRequest, MaxClicks, RedirectContent,
    RedirectContentRequest, RedirectStatus, Rules, RulesRequest, SplitKey, TargetUrl, Timestamp, Utm,
    UtmPart, UtmValue, ViolationCode, Way, WayRequest,
};

use super::field_reader::RowFieldReader;
use super::preview_fields::{PreviewChanges, write_preview};
use super::record::{FieldValue, Record};

/// What the values of a field are. It decides how a table writes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldForm {
    /// A text, never null.
    Text,
    /// A text that is never empty, or null.
    NullableText,
    /// Any text, which may be empty, or null.
    FreeText,
    /// A slug; null is the root of a custom domain (D21).
    Slug,
    /// True or false.
    Flag,
    /// A whole number, never null.
    Number,
    /// A whole number, or null.
    NullableNumber,
    /// A list of countries, or null.
    Countries,
    /// A list of names without commas, or null.
    Names,
    /// A JSON array, or null.
    Json,
}

macro_rules! fields {
    ($($(#[$doc:meta])* $field:ident: $form:ident = $name:literal,)*) => {
        /// A field of a record. It has the API's name if the API has the field.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Field {
            $($(#[$doc])* $field,)*
        }

        impl Field {
            /// Every field, in the order of the columns.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$field),*];

            /// The field's name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$field => $name,)*
                }
            }

            /// What its values are.
            #[must_use]
            pub const fn form(self) -> FieldForm {
                match self {
                    $(Self::$field => FieldForm::$form,)*
                }
            }
        }
    };
}

fields! {
    /// `group`, `redirect` or `landing`; an absent one means `redirect`.
    Object: Text = "object",
    /// The id.
    Id: NullableText = "id",
    /// A hostname. Null is the system domain of the importing installation, as in the API's creations (D28), so that an
    /// account can move to another installation.
    Domain: NullableText = "domain",
    /// The slug.
    Slug: Slug = "slug",
    /// Whether the link has no address because its domain was removed (D22).
    IsLost: Flag = "is_lost",
    /// The name of a group or a redirect.
    Name: Text = "name",
    /// The title of a landing page.
    Title: Text = "title",
    /// The target of a redirect.
    TargetUrl: Text = "target_url",
    /// The note.
    Note: FreeText = "note",
    /// The id of the link in the owner's own system.
    ExternalId: FreeText = "external_id",
    /// The id of the group.
    GroupId: NullableText = "group_id",
    /// The name of the group, which is created if it does not exist. Exports name groups by their ids.
    Group: NullableText = "group",
    /// The names of the tags, which are created if they do not exist.
    Tags: Names = "tags",
    /// Whether the link is switched on.
    IsActive: Flag = "is_active",
    /// From when on the link works.
    StartsAt: NullableText = "starts_at",
    /// From when on the link works no more.
    ExpiresAt: NullableText = "expires_at",
    /// Where visitors are sent once the link has ended.
    FallbackUrl: NullableText = "fallback_url",
    /// Whether visitors are asked for a password. No export has the password itself.
    HasPassword: Flag = "has_password",
    /// The password that visitors are asked for.
    Password: FreeText = "password",
    /// The status with which visitors are sent on.
    RedirectStatus: Number = "redirect_status",
    /// Whether the parameters of visitors are added to the target.
    ForwardQuery: Flag = "forward_query",
    /// The part `source` of the API's `utm`. Each part is a field of its own, as in the columns of campaigns in spreadsheets.
    UtmSource: NullableText = "utm_source",
    /// Its part `medium`.
    UtmMedium: NullableText = "utm_medium",
    /// Its part `campaign`.
    UtmCampaign: NullableText = "utm_campaign",
    /// Its part `term`.
    UtmTerm: NullableText = "utm_term",
    /// Its part `content`.
    UtmContent: NullableText = "utm_content",
    /// How many visits a redirect sends on at most.
    MaxClicks: NullableNumber = "max_clicks",
    /// How many of them it had left.
    ClicksLeft: NullableNumber = "clicks_left",
    /// Where which visitors are sent, as in the API.
    Rules: Json = "rules",
    /// What makes the splits of the rules share visitors as they did, as 32 hexadecimal digits.
    SplitKey: NullableText = "split_key",
    /// The part `title` of the API's `preview`. Each part is a field of its own, as those of `utm` are.
    PreviewTitle: NullableText = "preview_title",
    /// Its part `description`.
    PreviewDescription: FreeText = "preview_description",
    /// Its part `image_url`.
    PreviewImageUrl: NullableText = "preview_image_url",
    /// Whether known bots are turned away.
    AntibotEnabled: Flag = "antibot_enabled",
    /// The countries whose visitors are turned away.
    GeoBlocklists: Countries = "geo_blocklists",
    /// Whether visits are counted.
    AnalyticsEnabled: Flag = "analytics_enabled",
    /// The time of creation.
    CreatedAt: Text = "created_at",
    /// The time of the last change.
    UpdatedAt: Text = "updated_at",
}

impl Field {
    /// The fields of exports, in order.
    pub fn exported() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|field| !matches!(field, Self::Group | Self::Password))
    }

    /// The field of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|field| field.name() == name)
    }
}

/// Writes the life of a link into its record.
pub(super) fn write_life(life: &Life, record: &mut Record) {
    let Life { schedule, fallback_url } = life;
    record.set(Field::StartsAt, FieldValue::or_null(schedule.starts_at()));
    record.set(Field::ExpiresAt, FieldValue::or_null(schedule.expires_at()));
    record.set(Field::FallbackUrl, FieldValue::or_null(fallback_url.as_ref()));
}

/// Reads the life of a link from the fields of a record.
pub(super) fn read_life(fields: &mut RowFieldReader) -> LifeRequest {
    LifeRequest {
        starts_at: fields.nullable(Field::StartsAt, Timestamp::parse).unwrap_or_default(),
        expires_at: fields.nullable(Field::ExpiresAt, Timestamp::parse).unwrap_or_default(),
        fallback_url: fields.nullable(Field::FallbackUrl, TargetUrl::parse).unwrap_or_default(),
    }
}

/// Tells `compare` for each field of the life of a link whether the stored link has the record's value. A field that the record
/// leaves out is the same.
pub(super) fn compare_life(request: &LifeRequest, stored: &Life, mut compare: impl FnMut(Field, bool)) {
    let LifeRequest { starts_at, expires_at, fallback_url } = request;
    let (start, end) = (stored.schedule.starts_at(), stored.schedule.expires_at());
    compare(Field::StartsAt, starts_at.applied_to(start) == start);
    compare(Field::ExpiresAt, expires_at.applied_to(end) == end);
    let stored_url = stored.fallback_url.as_ref();
    compare(Field::FallbackUrl, fallback_url.as_ref().applied_to(stored_url) == stored_url);
}

/// What a record has in several fields, and the API in one, which a creation takes as a whole.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PartChanges {
    utm: UtmChanges,
    preview: PreviewChanges,
}

/// The change of each part of `utm` that a record names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct UtmChanges(Vec<(UtmPart, Change<UtmValue>)>);

impl UtmChanges {
    fn read(fields: &mut RowFieldReader) -> Self {
        let read = |part| (part, fields.nullable(utm_field(part), UtmValue::parse).unwrap_or_default());
        Self(UtmPart::ALL.into_iter().map(read).collect())
    }

    /// The parts of a new redirect.
    fn to_utm(&self) -> Utm {
        Utm::new(|part| {
            let Self(changes) = self;
            changes
                .iter()
                .find(|(own, _)| *own == part)
                .and_then(|(_, change)| change.clone().applied_to(None))
        })
    }
}

const fn utm_field(part: UtmPart) -> Field {
    match part {
        UtmPart::Source => Field::UtmSource,
        UtmPart::Medium => Field::UtmMedium,
        UtmPart::Campaign => Field::UtmCampaign,
        UtmPart::Term => Field::UtmTerm,
        UtmPart::Content => Field::UtmContent,
    }
}

fn write_way(way: &Way, record: &mut Record) {
    let Way { redirect_status, forward_query, utm } = way;
    record.set(Field::RedirectStatus, FieldValue::Number(redirect_status.code().into()));
    record.set(Field::ForwardQuery, FieldValue::Flag(*forward_query));
    for part in UtmPart::ALL {
        record.set(utm_field(part), FieldValue::or_null(utm.get(part)));
    }
}

fn write_limit(limit: Option<ClickLimit>, record: &mut Record) {
    // No limit is as large as the largest number of a record.
    let number = |number: u64| FieldValue::Number(i64::try_from(number).unwrap_or(i64::MAX));
    record.set(Field::MaxClicks, limit.map_or(FieldValue::Null, |limit| number(limit.max().get())));
    record.set(Field::ClicksLeft, limit.map_or(FieldValue::Null, |limit| number(limit.left())));
}

/// Writes the content of a redirect into its record. Exports omit pixels.
pub(super) fn write_redirect(content: &RedirectContent, record: &mut Record) {
    let RedirectContent {
        target_url,
        antibot_enabled,
        geo_blocklist,
        pixel_ids: _,
        way,
        click_limit,
        rules,
        preview,
    } = content;
    write_way(way, record);
    let countries = geo_blocklist.countries().iter().map(ToString::to_string).collect();
    record.set(Field::TargetUrl, FieldValue::text(target_url.as_str()));
    record.set(Field::AntibotEnabled, FieldValue::Flag(*antibot_enabled));
    record.set(Field::GeoBlocklists, FieldValue::Countries(countries));
    write_limit(*click_limit, record);
    write_rules(rules, record);
    write_preview(preview.as_ref(), record);
}

fn write_rules(rules: &Rules, record: &mut Record) {
    let key = rules.split_key();
    let list = key.map(|_| FieldValue::Json(rules.to_value().to_string()));
    record.set(Field::Rules, list.unwrap_or(FieldValue::Null));
    record.set(Field::SplitKey, FieldValue::or_null(key.map(SplitKey::to_hex)));
}

/// Reads the rules of a redirect. A redirect that keeps its id keeps those of its rules.
fn read_rules(fields: &mut RowFieldReader, keeps_ids: bool) -> RulesRequest {
    let list = fields.rules(Field::Rules);
    let split_key = fields.optional(Field::SplitKey, |text| {
        let message = "must be 32 hexadecimal digits in lower case";
        SplitKey::from_hex(text).ok_or_else(|| FieldError::new(ViolationCode::InvalidFormat, message))
    });
    RulesRequest { list, split_key, keeps_ids }
}

/// Reads the content of a redirect from the fields of a record, and apart from it what the record has in parts. `keeps_id` says
/// whether the record names the redirect by its id.
pub(super) fn read_redirect(
    fields: &mut RowFieldReader,
    keeps_id: bool,
) -> (RedirectContentRequest, PartChanges) {
    let parts = PartChanges { utm: UtmChanges::read(fields), preview: PreviewChanges::read(fields) };
    let max_clicks = fields.nullable_number(Field::MaxClicks, MaxClicks::parse);
    let clicks_left = fields.number(Field::ClicksLeft, ClickLimit::parse_left);
    // An invalid limit is not an absent one, so it is not said that what is left needs a limit.
    let clicks_left = clicks_left.filter(|_| max_clicks.is_some());
    let content = RedirectContentRequest {
        target_url: fields.required(Field::TargetUrl, TargetUrl::parse),
        antibot_enabled: fields.flag(Field::AntibotEnabled),
        geo_blocklist: fields.countries(Field::GeoBlocklists).map_or(Change::Keep, Change::Set),
        pixels: Change::Keep,
        way: WayRequest {
            redirect_status: fields.number(Field::RedirectStatus, RedirectStatus::parse),
            forward_query: fields.flag(Field::ForwardQuery),
            utm: Change::Set(parts.utm.to_utm()),
        },
        click_limit: ClickLimitRequest { max_clicks: max_clicks.unwrap_or_default(), clicks_left },
        rules: read_rules(fields, keeps_id),
        preview: parts.preview.to_preview().map_or(Change::Keep, Change::Set),
    };
    (content, parts)
}

/// Tells `compare` for each field of a redirect's content whether the stored redirect has the record's value. A field that
/// the record leaves out is the same.
pub(super) fn compare_redirect(
    request: &RedirectContentRequest,
    parts: &PartChanges,
    stored: &RedirectContent,
    mut compare: impl FnMut(Field, bool),
) {
    let RedirectContentRequest {
        target_url,
        antibot_enabled,
        geo_blocklist,
        pixels: _,
        way,
        click_limit,
        rules,
        preview: _,
    } = request;
    compare(Field::TargetUrl, target_url.as_ref() == Some(&stored.target_url));
    compare(Field::AntibotEnabled, antibot_enabled.is_none_or(|flag| flag == stored.antibot_enabled));
    let stored_blocklist = Some(&stored.geo_blocklist);
    compare(Field::GeoBlocklists, geo_blocklist.as_ref().applied_to(stored_blocklist) == stored_blocklist);
    let WayRequest { redirect_status, forward_query, utm: _ } = way;
    compare(Field::RedirectStatus, redirect_status.is_none_or(|status| status == stored.way.redirect_status));
    compare(Field::ForwardQuery, forward_query.is_none_or(|flag| flag == stored.way.forward_query));
    let PartChanges { utm: UtmChanges(utm), preview } = parts;
    for (part, change) in utm {
        let kept = stored.way.utm.get(*part);
        compare(utm_field(*part), change.as_ref().applied_to(kept) == kept);
    }
    // Visits use clicks up, so what is left is not compared, as dates are not.
    let stored_max = stored.click_limit.map(ClickLimit::max);
    compare(Field::MaxClicks, click_limit.max_clicks.applied_to(stored_max) == stored_max);
    let are_same_rules = match &rules.list {
        Change::Keep => true,
        Change::Clear => stored.rules.is_empty(),
        // Another link with the same rules has other ids for them, and another key.
        Change::Set(list) => stored.rules.are_those_of(list),
    };
    compare(Field::Rules, are_same_rules);
    preview.compare(stored.preview.as_ref(), &mut compare);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_found_by_its_name() {
        for field in Field::ALL {
            assert_eq!(Field::named(field.name()), Some(field));
        }
        assert_eq!(Field::named("Slug"), None);
    }

    /// Several groups may have the same name, and no export has a password (D131).
    #[test]
    fn exports_name_groups_by_id_only_and_have_no_passwords() {
        let left_out: Vec<_> =
            Field::ALL.into_iter().filter(|field| !Field::exported().any(|one| one == *field)).collect();
        assert_eq!(left_out, [Field::Group, Field::Password]);
    }
}
