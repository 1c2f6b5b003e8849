//! The fields of redirects, as forms have them.

use serde_json::{Map, Value, json};
use signpost_app::pixels;
use signpost_app::redirects::RedirectWithPixels;
use signpost_domain::{
    Change, CountryCode, GeoBlocklist, MaxClicks, Name, PageLimit, Pixel, Preferences,
    RedirectContentRequest, RedirectRequest, RulesRequest, Submitted, TargetUrl, Violations,
};

use super::placement_fields::{self, Choices, Purpose, missing};
use super::typed_address::with_scheme;
use super::{life_fields, limit_fields, password_fields, preview_fields, way_fields};
use crate::failure::Failure;
use crate::form_body::FormBody;
use crate::pages::pixels::vendor_name;
use crate::pages::{field, message_at};
use crate::views::{Choice, Field, LifeForm, RedirectForm};
use crate::visit::{Member, Visit};

/// The pixels to choose from: the account's newest hundred, and those that the link has.
pub(super) async fn pixels_to_offer(
    visit: &Visit,
    member: &Member,
    held: &[Pixel],
) -> Result<Vec<Pixel>, Failure> {
    let limit = PageLimit::new(100).unwrap_or_default();
    let mut offered = pixels::list(visit.app(), &member.caller, limit, None).await?.items;
    let older: Vec<Pixel> =
        held.iter().filter(|held| !offered.iter().any(|pixel| pixel.id == held.id)).cloned().collect();
    offered.extend(older);
    Ok(offered)
}

/// Reads a form. `before` is the redirect that it changes. A creation without a name takes the host of the target.
pub(super) fn read(
    visit: &Visit,
    form: &FormBody,
    before: Option<&RedirectWithPixels>,
    preferences: &Preferences,
) -> Submitted<RedirectRequest> {
    let purpose = Purpose::after(before);
    let mut violations = Violations::new();
    let typed = form.non_empty("target_url").map(with_scheme);
    let target_url = typed.as_deref().ok_or_else(missing).and_then(TargetUrl::parse);
    let target_url = target_url
        .map_err(|error| {
            let violation = error.at("target_url");
            violations.push(match &typed {
                Some(typed) => violation.of_value(typed.as_ref()),
                None => violation,
            });
        })
        .ok();
    let name = match form.non_empty("name") {
        Some(name) => Name::parse(name).map_err(|error| violations.push(error.at("name"))).ok(),
        None => target_url.as_ref().and_then(|target| Name::parse(&shortened(target.host())).ok()),
    };
    let note_before = before.and_then(|single| single.redirect.note.as_ref());
    let shared = placement_fields::read(visit, form, purpose, note_before, &mut violations);
    let link_before = before.map(|single| &single.redirect);
    let life = life_fields::read(visit, form, link_before, preferences, &mut violations);
    let click_limit = limit_fields::read(form, &mut violations);
    let password = password_fields::read(form, &mut violations);
    let way = way_fields::read(form, link_before.map(|redirect| &redirect.content.way), &mut violations);
    let preview_before = link_before.and_then(|redirect| redirect.content.preview.as_ref());
    let preview = preview_fields::read(form, preview_before, &mut violations);
    let countries = form.text("countries").split([',', ' ', ';', '\n']).filter(|code| !code.is_empty());
    let mut blocked = vec![];
    for code in countries {
        match CountryCode::parse(code) {
            Ok(country) => blocked.push(country),
            Err(error) => violations.push(error.at("countries").of_value(code)),
        }
    }
    let held: &[Pixel] = before.map_or(&[], |single| &single.pixels);
    let pixels = chosen_pixels(form, held, &mut violations);
    let content = RedirectContentRequest {
        target_url,
        antibot_enabled: Some(form.is_checked("antibot_enabled")),
        geo_blocklist: Change::Set(GeoBlocklist::new(blocked)),
        pixels,
        way,
        click_limit,
        // No form has rules, so they stay as they are.
        rules: RulesRequest::default(),
        preview,
    };
    Submitted { value: RedirectRequest { name, life, password, content, ..shared }, violations }
}

/// The change of the pixels. The form knows no order: pixels that the link has keep theirs, and others follow.
fn chosen_pixels(
    form: &FormBody,
    held: &[Pixel],
    violations: &mut Violations,
) -> Change<Vec<Option<signpost_domain::PixelId>>> {
    let held: Vec<String> = held.iter().map(|pixel| pixel.id.to_string()).collect();
    let chosen: Vec<&str> = form.all("pixel_ids").collect();
    let kept = held.iter().map(String::as_str).filter(|id| chosen.contains(id));
    let added = chosen.iter().copied().filter(|id| !held.iter().any(|held| held == id));
    let ids: Vec<&str> = kept.chain(added).collect();
    if !held.is_empty() && ids == held {
        return Change::Keep;
    }
    let parsed = ids.into_iter().map(|id| {
        RedirectContentRequest::parse_pixel(id).map_err(|error| violations.push(error.at("pixel_ids"))).ok()
    });
    Change::Set(parsed.collect())
}

fn shortened(host: &str) -> String {
    host.strip_prefix("www.").unwrap_or(host).chars().take(Name::MAX_CHARS).collect()
}

/// An empty form.
pub(super) fn empty(
    visit: &Visit,
    member: &Member,
    choices: &Choices,
    pixels: &[Pixel],
    target: &str,
    life: LifeForm,
) -> RedirectForm {
    RedirectForm {
        life,
        limit: limit_fields::stored(member, None),
        password: password_fields::stored(member, false),
        way: way_fields::stored(None),
        preview: preview_fields::stored(member, None),
        target_url: Field::of(target),
        domain: choices.domain(visit.app().system.hostname().as_str()),
        group: choices.group(""),
        is_active: true,
        analytics_enabled: Some(true),
        pixels: offered(pixels, &[]),
        ..RedirectForm::default()
    }
}

/// The form with what was typed. `before` is the redirect that it changes.
pub(super) fn typed(
    member: &Member,
    form: &FormBody,
    before: Option<&RedirectWithPixels>,
    choices: &Choices,
    pixels: &[Pixel],
    violations: &Violations,
    life: LifeForm,
) -> RedirectForm {
    let redirect = before.map(|single| &single.redirect);
    let content = redirect.map(|redirect| &redirect.content);
    let has_password = redirect.is_some_and(|redirect| redirect.has_password);
    let chosen: Vec<&str> = form.all("pixel_ids").collect();
    let text = |name: &str| field(form.text(name), violations, name);
    let mut domain = choices.domain(form.text("domain"));
    domain.error = message_at(violations, "domain");
    let mut group = choices.group(form.text("group_id"));
    group.error = message_at(violations, "group_id");
    let mut countries = text("countries");
    countries.error = countries.error.or_else(|| message_at(violations, "geo_blocklists"));
    let mut target_url = field(&with_scheme(form.text("target_url")), violations, "target_url");
    target_url.error = target_url.error.map(way_fields::with_labels);
    let mut name = text("name");
    if target_url.error.is_some() && name.value.is_empty() {
        // It would have been named after the target.
        name.error = None;
    }
    RedirectForm {
        target_url,
        slug: text("slug"),
        domain,
        name,
        note: text("note"),
        group,
        tags: text("tags"),
        tags_shown: form.given(placement_fields::TAGS_SHOWN).map(str::to_owned),
        is_active: form.is_checked("is_active"),
        is_active_error: message_at(violations, "is_active"),
        life,
        limit: limit_fields::typed(member, form, content.and_then(|content| content.click_limit), violations),
        password: password_fields::typed(member, form, has_password, violations),
        way: way_fields::typed(form, content.map(|content| &content.way), violations),
        preview: preview_fields::typed(
            member,
            form,
            content.and_then(|content| content.preview.as_ref()),
            violations,
        ),
        antibot_enabled: form.is_checked("antibot_enabled"),
        antibot_error: message_at(violations, "antibot_enabled"),
        analytics_enabled: before.is_none().then(|| form.is_checked("analytics_enabled")),
        countries,
        pixels: offered(pixels, &chosen),
        pixels_error: message_at(violations, "pixel_ids"),
    }
}

/// The form with what is stored.
pub(super) fn stored(
    visit: &Visit,
    member: &Member,
    single: &RedirectWithPixels,
    choices: &Choices,
    pixels: &[Pixel],
    shown_in: &Preferences,
) -> RedirectForm {
    let redirect = &single.redirect;
    let chosen: Vec<String> = single.pixels.iter().map(|pixel| pixel.id.to_string()).collect();
    let chosen: Vec<&str> = chosen.iter().map(String::as_str).collect();
    let hostname = redirect.placement.hostname(&visit.app().system);
    RedirectForm {
        target_url: Field::of(redirect.content.target_url.as_str()),
        slug: Field::of(redirect.placement.slug().map_or("", signpost_domain::Slug::as_str)),
        domain: choices.domain(hostname.map_or("", signpost_domain::Hostname::as_str)),
        name: Field::of(redirect.name.as_str()),
        note: Field::of(redirect.note.as_ref().map_or("", signpost_domain::Note::as_str)),
        group: choices.group(&redirect.group_id.map(|id| id.to_string()).unwrap_or_default()),
        tags: Field::of(placement_fields::joined(&redirect.tags)),
        tags_shown: Some(placement_fields::joined(&redirect.tags)),
        is_active: redirect.is_active,
        life: life_fields::stored(&redirect.life, shown_in),
        limit: limit_fields::stored(member, redirect.content.click_limit),
        password: password_fields::stored(member, redirect.has_password),
        way: way_fields::stored(Some(&redirect.content.way)),
        preview: preview_fields::stored(member, redirect.content.preview.as_ref()),
        antibot_enabled: redirect.content.antibot_enabled,
        countries: Field::of(country_codes(&redirect.content.geo_blocklist)),
        pixels: offered(pixels, &chosen),
        ..RedirectForm::default()
    }
}

pub(super) fn country_codes(blocklist: &GeoBlocklist) -> String {
    blocklist.countries().iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

fn offered(pixels: &[Pixel], chosen: &[&str]) -> Vec<Choice> {
    let choice = |pixel: &Pixel| {
        let id = pixel.id.to_string();
        let label = match &pixel.name {
            Some(name) => format!("{name} ({})", vendor_name(pixel.code.pixel_type())),
            None => format!("{} {}", vendor_name(pixel.code.pixel_type()), pixel.code.as_str()),
        };
        let is_chosen = chosen.contains(&id.as_str());
        Choice::new(id, label, is_chosen)
    };
    pixels.iter().map(choice).collect()
}

/// The body with which the API creates such a redirect.
pub(super) fn example_body() -> Value {
    json!({ "name": "Autumn sale", "target_url": "https://example.com/autumn" })
}

/// The body with which the API changes this redirect to itself, without the fields that have no value.
pub(super) fn update_body(single: &RedirectWithPixels) -> Value {
    let redirect = &single.redirect;
    let mut body = Map::new();
    body.insert("name".to_owned(), json!(redirect.name.as_str()));
    body.insert("target_url".to_owned(), json!(redirect.content.target_url.as_str()));
    body.insert("is_active".to_owned(), json!(redirect.is_active));
    life_fields::add_to_body(&mut body, &redirect.life);
    if let Some(limit) = redirect.content.click_limit {
        body.insert(MaxClicks::FIELD.to_owned(), json!(limit.max().get()));
    }
    way_fields::add_to_body(&mut body, &redirect.content.way);
    preview_fields::add_to_body(&mut body, redirect.content.preview.as_ref());
    body.into()
}
