//! The fields of landing pages, as forms have them.

use serde_json::{Map, Value, json};
use signpost_domain::{
    Change, Description, LandingPage, LandingRequest, LanguageTag, Name, PageContentRequest, Preferences,
    Submitted, Theme, Violations,
};

use super::placement_fields::{self, Choices, Purpose, missing};
use super::{life_fields, password_fields};
use crate::form_body::FormBody;
use crate::pages::{field, message_at};
use crate::views::{Field, LandingForm, LifeForm};
use crate::visit::{Member, Visit};

/// Reads a form. `before` is the page that it changes.
pub(super) fn read(
    visit: &Visit,
    form: &FormBody,
    before: Option<&LandingPage>,
    preferences: &Preferences,
) -> Submitted<LandingRequest> {
    let purpose = Purpose::after(before);
    let mut violations = Violations::new();
    let title = form.non_empty("title").ok_or_else(missing).and_then(Name::parse);
    let name = title.map_err(|error| violations.push(error.at("title"))).ok();
    let note_before = before.and_then(|page| page.note.as_ref());
    let shared = placement_fields::read(visit, form, purpose, note_before, &mut violations);
    let life = life_fields::read(visit, form, before, preferences, &mut violations);
    let password = password_fields::read(form, &mut violations);
    let shown = before.and_then(|page| page.content.description.as_ref()).map(Description::as_str);
    let description =
        placement_fields::text_change(form, "description", shown, Description::parse, &mut violations);
    let theme = Theme::parse(form.text("theme")).map_err(|error| violations.push(error.at("theme"))).ok();
    // Only the form of a creation has it.
    let language = placement_fields::text_change(form, "language", None, LanguageTag::parse, &mut violations);
    let language = if form.given("language").is_some() { language } else { Change::Keep };
    let content = PageContentRequest { description, theme, language, ..PageContentRequest::default() };
    Submitted { value: LandingRequest { name, life, password, content, ..shared }, violations }
}

/// An empty form.
pub(super) fn empty(visit: &Visit, member: &Member, choices: &Choices, life: LifeForm) -> LandingForm {
    LandingForm {
        life,
        password: password_fields::stored(member, false),
        domain: choices.domain(visit.app().system.hostname().as_str()),
        group: choices.group(""),
        is_active: true,
        theme: Theme::Auto,
        language: Some(Field::of(visit.language().unwrap_or_default())),
        analytics_enabled: Some(true),
        ..LandingForm::default()
    }
}

/// The form with what was typed. `before` is the page that it changes.
pub(super) fn typed(
    member: &Member,
    form: &FormBody,
    before: Option<&LandingPage>,
    choices: &Choices,
    violations: &Violations,
    life: LifeForm,
) -> LandingForm {
    let text = |name: &str| field(form.text(name), violations, name);
    let mut domain = choices.domain(form.text("domain"));
    domain.error = message_at(violations, "domain");
    let mut group = choices.group(form.text("group_id"));
    group.error = message_at(violations, "group_id");
    LandingForm {
        title: text("title"),
        description: text("description"),
        slug: text("slug"),
        domain,
        note: text("note"),
        group,
        tags: text("tags"),
        tags_shown: form.given(placement_fields::TAGS_SHOWN).map(str::to_owned),
        is_active: form.is_checked("is_active"),
        life,
        password: password_fields::typed(
            member,
            form,
            before.is_some_and(|page| page.has_password),
            violations,
        ),
        theme: Theme::parse(form.text("theme")).unwrap_or_default(),
        theme_error: message_at(violations, "theme"),
        language: before.is_none().then(|| text("language")),
        analytics_enabled: before.is_none().then(|| form.is_checked("analytics_enabled")),
    }
}

/// The form with what is stored.
pub(super) fn stored(
    visit: &Visit,
    member: &Member,
    page: &LandingPage,
    choices: &Choices,
    shown_in: &Preferences,
) -> LandingForm {
    let hostname = page.placement.hostname(&visit.app().system);
    LandingForm {
        title: Field::of(page.name.as_str()),
        description: Field::of(page.content.description.as_ref().map_or("", Description::as_str)),
        slug: Field::of(page.placement.slug().map_or("", signpost_domain::Slug::as_str)),
        domain: choices.domain(hostname.map_or("", signpost_domain::Hostname::as_str)),
        note: Field::of(page.note.as_ref().map_or("", signpost_domain::Note::as_str)),
        group: choices.group(&page.group_id.map(|id| id.to_string()).unwrap_or_default()),
        tags: Field::of(placement_fields::joined(&page.tags)),
        tags_shown: Some(placement_fields::joined(&page.tags)),
        is_active: page.is_active,
        life: life_fields::stored(&page.life, shown_in),
        password: password_fields::stored(member, page.has_password),
        theme: page.content.theme,
        ..LandingForm::default()
    }
}

/// The body with which the API creates such a page.
pub(super) fn example_body() -> Value {
    json!({ "title": "All about us", "widgets": [{ "type": "link", "title": "Our shop", "url": "https://example.com" }] })
}

/// The body with which the API changes this page to itself, without the fields that have no value.
pub(super) fn update_body(page: &LandingPage) -> Value {
    let mut body = Map::new();
    body.insert("title".to_owned(), json!(page.name.as_str()));
    body.insert("is_active".to_owned(), json!(page.is_active));
    life_fields::add_to_body(&mut body, &page.life);
    body.into()
}
