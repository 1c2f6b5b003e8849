//! What creations and updates say of redirects: their fields, and how they are read (D24, D26, D28, D36).

use signpost_app::Submitted;
use signpost_app::redirects::CreateRedirect;
use signpost_domain::id::PixelKind;
use signpost_domain::{
    CountryCode, GeoBlocklist, IdReference, IncompleteRedirect, Name, PixelIds, RedirectDraft, RedirectPatch,
    TargetUrl, Violations,
};
use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat};

use super::link_fields::{SLUG_OF_NEW_LINK, analytics_enabled, domain, group_id, is_active, note, slug};
use crate::extract::{
    Field, Given, ObjectReader, OnlyBody, boolean, field, items, object, properties, reference, text, texts,
};
use crate::schema::{
    boolean as boolean_schema, closed_object, country_pattern, id, list, sent_name, string,
    target_url_pattern,
};

const TARGET_URL: &str = "Where visitors are sent: an absolute `http` or `https` URL with a host, at most 2048 characters, without \
    credentials, white space, control characters and backslashes. It is kept exactly as given. A host that programs read \
    in different ways (`0x7f.1`, `a%62.example`) is refused; so are the link's own address and hosts that the operator has \
    blocked. The pattern matches whatever is accepted, and some that is not: whether a host is one is beyond a pattern.";

/// `slug` in an update.
const MOVED_SLUG: &str = "The part of the address after the hostname; case matters. Null frees the address and moves the \
    redirect to the root of its custom domain. Some are reserved on the system domain.";

fn name() -> impl Field<Name> {
    field("name", text(Name::parse), || sent_name("The redirect's name"))
}

/// `target_url` (D24)
fn target_url() -> impl Field<TargetUrl> {
    field("target_url", text(TargetUrl::parse), || {
        string(TARGET_URL)
            .format(Some(SchemaFormat::Custom("http-url".to_owned())))
            .max_length(Some(TargetUrl::MAX_CHARS))
            .pattern(Some(target_url_pattern()))
            .examples(["https://example.com/autumn?utm_source=mail"])
    })
}

fn antibot_enabled() -> impl Field<bool> {
    field("antibot_enabled", boolean(), antibot_enabled_shown)
}

/// `antibot_enabled` as it is shown.
pub(super) fn antibot_enabled_shown() -> ObjectBuilder {
    boolean_schema(
        "Whether bots, scripted clients and empty user agents are turned away, with a 403 page. Turning it on needs the \
         feature `antibot`.",
    )
}

/// `geo_blocklists`: countries may repeat, and in any case (D26).
fn geo_blocklists(of_null: &'static str) -> impl Field<GeoBlocklist> {
    field("geo_blocklists", object(blocklist), move || {
        let description = format!(
            "The countries whose visitors are turned away. Adding one needs the feature `geo_blocking`. {of_null}"
        );
        closed_object(&description, properties(|object| drop(blocklist(object))))
    })
}

fn blocklist(object: &mut ObjectReader) -> Option<GeoBlocklist> {
    let countries = texts(0..=CountryCode::COUNT, CountryCode::parse);
    let countries = field("countries", countries, || {
        let country = string("A country code of ISO 3166-1 (alpha-2), in upper or lower case.")
            .pattern(Some(country_pattern()))
            .examples(["DE"]);
        list("The countries; one that is named again is dropped.", country)
            .max_items(Some(CountryCode::COUNT))
    });
    object.required(countries).map(GeoBlocklist::new)
}

/// `pixel_ids` (D36). An item that is no string keeps its place, so that the others can be looked up and the answer lists
/// what is wrong with them as well (D8).
fn pixel_ids(of_null: &'static str) -> impl Field<Vec<Option<IdReference<PixelKind>>>> {
    let one =
        |item, path: &str, violations: &mut Violations| reference(IdReference::parse)(item, path, violations);
    field("pixel_ids", items(PixelIds::MAX, one), move || {
        let description = format!(
            "The pixels that fire before a visitor is sent on, in this order; one that is named again is dropped. Adding \
             one needs the feature `pixels`. {of_null}"
        );
        list(&description, id("pxl", "The id of a pixel of the account.")).max_items(Some(PixelIds::MAX))
    })
}

/// The pixels, with a malformed id in place of each item that could not be read.
fn pixels_of(ids: Given<Vec<Option<IdReference<PixelKind>>>>) -> Given<Vec<IdReference<PixelKind>>> {
    ids.map(|ids| ids.into_iter().map(|id| id.unwrap_or(IdReference::Malformed)).collect())
}

/// All fields of a creation, single or in bulk (D28, D29). `violations` are those found before.
pub(super) fn draft(body: &mut ObjectReader, mut violations: Violations) -> CreateRedirect {
    let name = body.required(name());
    let target_url = body.required(target_url());
    let slug = body.nullable(slug(SLUG_OF_NEW_LINK));
    let domain = body.nullable(domain("Left out or null: the system domain."));
    let note = body.nullable(note(""));
    let group = body.nullable(group_id("The group to put the redirect into. Left out or null: none."));
    let is_active = body.optional_or(true, is_active());
    let antibot_enabled = body.optional_or(false, antibot_enabled());
    let geo_blocklist = body.nullable(geo_blocklists("Left out or null: none."));
    let pixels =
        pixels_of(body.nullable(pixel_ids("Left out or null: none."))).into_option().unwrap_or_default();
    let analytics_enabled = body.optional_or(true, analytics_enabled());
    violations.append(body.finish());

    let slug = slug.into_choice();
    match (name, target_url, slug) {
        (Some(name), Some(target_url), Some(slug)) if violations.is_empty() => Ok(RedirectDraft {
            name,
            target_url,
            slug,
            domain: domain.into_option(),
            note: note.into_option(),
            group: group.into_option(),
            is_active,
            antibot_enabled,
            geo_blocklist: geo_blocklist.into_option().unwrap_or_default(),
            pixels,
            analytics_enabled,
        }),
        (_, target_url, slug) => {
            // Without a domain that can be read nobody knows which address the slug would make.
            let slug = slug.filter(|_| domain != Given::Invalid);
            let domain = domain.into_option();
            Err(Box::new(IncompleteRedirect { target_url, slug, domain, pixels, violations }))
        }
    }
}

/// An update.
pub(super) fn patch(body: OnlyBody) -> Submitted<RedirectPatch> {
    let (mut body, mut violations) = match body.reader() {
        Ok(readable) => readable,
        Err(violations) => return Submitted { value: RedirectPatch::default(), violations },
    };
    let value = read_patch(&mut body);
    violations.append(body.finish());
    Submitted { value, violations }
}

/// All fields of an update (contract "PATCH /v1/redirects/{id}").
pub(super) fn read_patch(body: &mut ObjectReader) -> RedirectPatch {
    RedirectPatch {
        name: body.optional(name()),
        target_url: body.optional(target_url()),
        slug: body.nullable(slug(MOVED_SLUG)).into_change(),
        note: body.nullable(note("Null clears it.")).into_change(),
        domain: body.nullable(domain("Null moves the redirect back to the system domain.")).into_change(),
        group: body
            .nullable(group_id("The group to put the redirect into. Null takes it out of its group."))
            .into_change(),
        is_active: body.optional(is_active()),
        antibot_enabled: body.optional(antibot_enabled()),
        geo_blocklist: body.nullable(geo_blocklists("Null lifts all blocks.")).into_change(),
        pixels: pixels_of(
            body.nullable(pixel_ids("They replace all that it has; null or `[]` removes them.")),
        )
        .into_change(),
    }
}
