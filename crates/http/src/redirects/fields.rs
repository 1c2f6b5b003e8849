//! Fields of a redirect, as more than one endpoint reads them.

use signpost_app::redirects::CreateRedirect;
use signpost_domain::id::PixelKind;
use signpost_domain::{
    CountryCode, GeoBlocklist, HostReference, IdReference, IncompleteRedirect, Name, Note, PixelIds,
    RedirectDraft, Slug, TargetUrl, Violations,
};

use crate::extract::{Given, ObjectReader, boolean, items, object, reference, text, texts};

/// `geo_blocklists`: an object with `countries`, or null (contract "Redirect", D26).
pub(crate) fn geo_blocklists(body: &mut ObjectReader) -> Given<GeoBlocklist> {
    let countries = |object: &mut ObjectReader| {
        object.required("countries", texts(0..=CountryCode::COUNT, CountryCode::parse)).map(GeoBlocklist::new)
    };
    body.nullable("geo_blocklists", object(countries))
}

/// `pixel_ids`: at most ten strings, or null (D36). Where one is no string, the others are given all the same, in their
/// places: they can then be looked up, and the answer lists what is wrong with them as well (D8).
pub(crate) fn pixel_ids(body: &mut ObjectReader) -> Given<Vec<IdReference<PixelKind>>> {
    let id =
        |item, path: &str, violations: &mut Violations| reference(IdReference::parse)(item, path, violations);
    match body.nullable("pixel_ids", items(PixelIds::MAX, id)) {
        Given::Absent => Given::Absent,
        Given::Null => Given::Null,
        Given::Invalid => Given::Invalid,
        Given::Value(ids) => {
            Given::Value(ids.into_iter().map(|id| id.unwrap_or(IdReference::Malformed)).collect())
        }
    }
}

/// All fields of a creation, single or in bulk (D28, D29). `violations` are those found before.
pub(crate) fn draft(mut body: ObjectReader, mut violations: Violations) -> CreateRedirect {
    let name = body.required("name", text(Name::parse));
    let target_url = body.required("target_url", text(TargetUrl::parse));
    let slug = body.nullable("slug", text(Slug::parse));
    let domain = body.nullable("domain", reference(HostReference::parse));
    let note = body.nullable("note", text(Note::parse));
    let group = body.nullable("group_id", reference(IdReference::parse));
    let is_active = body.optional("is_active", boolean());
    let antibot_enabled = body.optional("antibot_enabled", boolean());
    let geo_blocklist = geo_blocklists(&mut body);
    let pixels = pixel_ids(&mut body).into_option().unwrap_or_default();
    let analytics_enabled = body.optional("analytics_enabled", boolean());
    violations.append(body.finish());

    let slug = slug.into_choice();
    match (name, target_url, slug) {
        (Some(name), Some(target_url), Some(slug)) if violations.is_empty() => {
            let defaults = RedirectDraft::new(name, target_url);
            Ok(RedirectDraft {
                slug,
                domain: domain.into_option(),
                note: note.into_option(),
                group: group.into_option(),
                is_active: is_active.unwrap_or(defaults.is_active),
                antibot_enabled: antibot_enabled.unwrap_or(defaults.antibot_enabled),
                geo_blocklist: geo_blocklist.into_option().unwrap_or_default(),
                pixels,
                analytics_enabled: analytics_enabled.unwrap_or(defaults.analytics_enabled),
                ..defaults
            })
        }
        (_, target_url, slug) => {
            // Without a domain that can be read nobody knows which address the slug would make.
            let slug = slug.filter(|_| domain != Given::Invalid);
            let domain = domain.into_option();
            Err(Box::new(IncompleteRedirect { target_url, slug, domain, pixels, violations }))
        }
    }
}
