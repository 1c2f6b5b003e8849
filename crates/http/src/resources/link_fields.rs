//! Fields that landing pages and redirects share (D20–D23, D28).

use serde_json::json;
use signpost_domain::id::GroupKind;
use signpost_domain::{
    Change, ExternalId, HostReference, IdReference, LinkRequest, Name, Note, Slug, TagName, Tags,
};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaFormat};

use super::tags::{tag_name, tag_name_shown};
use super::{link_life, link_password};
use crate::extract::{Action, Field, ObjectReader, boolean, field, reference, text, texts};
use crate::schema::{
    SLUG, WITHOUT_NUL, boolean as boolean_schema, examples, external_id as external_id_schema, id_pattern,
    list, matching, string,
};

/// Reads the fields that follow the name. `noun` is the link's name in descriptions.
pub(super) fn read<R: Default>(
    body: &mut ObjectReader<'_>,
    action: Action,
    noun: &'static str,
    name: Option<Name>,
) -> LinkRequest<R> {
    let slug = body.nullable(slug(action, noun));
    let external_id = match action {
        Action::Create => body.nullable(external_id("")),
        Action::Update => body.nullable(external_id(" Null clears it.")),
        // The path has it.
        Action::Put => Change::Keep,
    };
    let tags = body.nullable(tags(action));
    // The contract lists these fields in different orders for creations and updates.
    let (domain, note) = match action {
        Action::Create | Action::Put => {
            let domain = body.nullable(domain(action, noun));
            (domain, body.nullable(note(action)))
        }
        Action::Update => {
            let note = body.nullable(note(action));
            (body.nullable(domain(action, noun)), note)
        }
    };
    LinkRequest {
        name,
        slug,
        domain,
        note,
        external_id,
        tags: read_tags(tags),
        group: body.nullable(group_id(action, noun)),
        is_active: body.optional_or(action, true, is_active()),
        life: link_life::read(body, action),
        password: link_password::read(body, action),
        ..LinkRequest::default()
    }
}

/// Reads `analytics_enabled`, which only creations have (D28, D50).
pub(super) fn read_analytics_enabled(body: &mut ObjectReader<'_>, action: Action) -> Option<bool> {
    let analytics_enabled = field("analytics_enabled", boolean(), || {
        boolean_schema(
            "Whether visits are counted. Fixed at the creation for the link's life, and never shown.",
        )
    });
    match action {
        Action::Create | Action::Put => body.optional_or(action, true, analytics_enabled),
        Action::Update => None,
    }
}

fn slug(action: Action, noun: &'static str) -> impl Field<Slug> {
    field("slug", text(Slug::parse), move || {
        let meaning = match action {
            Action::Put => {
                "Left out: a new link gets 7 random characters. Null: the root of its custom domain."
                    .to_owned()
            }
            Action::Create => {
                "Left out: 7 random characters. Null: the root of the custom domain that `domain` names."
                    .to_owned()
            }
            Action::Update => {
                format!("Null frees the address and moves the {noun} to the root of its custom domain.")
            }
        };
        slug_schema(&format!(
            "The part of the address after the hostname; case matters. {meaning} Some are reserved on the system domain."
        ))
        .pattern(Some(SLUG))
    })
}

/// `slug` as it is shown.
pub(super) fn slug_shown() -> ObjectBuilder {
    matching(
        slug_schema("The part of the address after the hostname; null at the root of a custom domain."),
        SLUG,
    )
}

fn slug_schema(description: &str) -> ObjectBuilder {
    string(description).max_length(Some(Slug::MAX_CHARS)).examples(["autumn-sale"])
}

/// `domain` (D22, D23)
fn domain(action: Action, noun: &'static str) -> impl Field<HostReference> {
    field("domain", reference(HostReference::parse), move || {
        let meaning = match action {
            Action::Create => "Left out or null: the system domain.".to_owned(),
            Action::Put => "Null: the system domain.".to_owned(),
            Action::Update => format!("Null moves the {noun} back to the system domain."),
        };
        string(&format!(
            "The hostname that the link lives on: the system hostname, or one of the account's own domains, which must \
             be active. Case, spaces around it and one final dot do not matter. {meaning}"
        ))
        .examples(["links.example.org"])
    })
}

/// `domain` as it is shown.
pub(super) fn domain_shown() -> ObjectBuilder {
    string(
        "The hostname that the link lives on; the same value is accepted where a link is created or moved. Null \
         only if the link lost its domain.",
    )
    .examples(["go.example.com"])
}

/// `url`: the public address.
pub(super) fn url() -> ObjectBuilder {
    let description = "The public address, built from domain and slug; null only if the link lost its domain. Its QR code is \
                       at this address followed by `/qr.svg` or `/qr.png`, with the parameters `size`, `margin`, `level`, \
                       `color`, `background` and `download=1`.";
    matching(string(description), "^https?://")
        .format(Some(SchemaFormat::Custom("uri".to_owned())))
        .examples(["https://go.example.com/autumn-sale"])
}

pub(super) fn note(action: Action) -> impl Field<Note> {
    field("note", text(Note::parse), move || {
        note_schema(match action {
            Action::Create | Action::Put => "A private note, never shown to visitors; kept as it is.",
            Action::Update => "A private note, never shown to visitors; kept as it is. Null clears it.",
        })
    })
}

/// `note` as it is shown.
pub(super) fn note_shown() -> ObjectBuilder {
    note_schema("A private note, never shown to visitors.")
}

fn note_schema(description: &str) -> ObjectBuilder {
    matching(string(description), WITHOUT_NUL)
        .max_length(Some(Note::MAX_CHARS))
        .examples(["For the autumn newsletter"])
}

fn external_id(about_null: &'static str) -> impl Field<ExternalId> {
    field(ExternalId::FIELD, text(ExternalId::parse), move || {
        external_id_schema(examples::EXTERNAL_ID).description(Some(format!(
            "The link's id in your own system, which no other link of the account may have.{about_null}"
        )))
    })
}

/// `external_id` as it is shown.
pub(super) fn external_id_shown() -> ObjectBuilder {
    let description = "The link's id in your own system; null if you gave it none.";
    external_id_schema(examples::EXTERNAL_ID).description(Some(description))
}

/// `tags` (D122)
fn tags(action: Action) -> impl Field<Vec<TagName>> {
    field(Tags::FIELD, texts(0..=Tags::MAX, TagName::parse), move || {
        let of_null = match action {
            Action::Create => "Left out or null: none.",
            Action::Put => "Null: none.",
            Action::Update => "They replace all that it has; null or `[]` removes them.",
        };
        let description = format!(
            "The names of the link's tags, in any order. A name without a tag creates it, within the plan's limit; case does not \
             matter, and a name that is given again is dropped. {of_null}"
        );
        list(&description, tag_name("The name of a tag")).max_items(Some(Tags::MAX))
    })
}

/// The tags of a link after the request; `None` if it leaves them alone.
fn read_tags(sent: Change<Vec<TagName>>) -> Option<Tags> {
    match sent {
        Change::Keep => None,
        Change::Clear => Some(Tags::default()),
        // The list was read with its bound.
        Change::Set(names) => Tags::new(names).ok(),
    }
}

/// `tags` as they are shown.
pub(super) fn tags_shown() -> ArrayBuilder {
    let description = "The names of the link's tags, in alphabetical order, each as the tag spells it.";
    list(description, tag_name_shown("The name of a tag.")).max_items(Some(Tags::MAX))
}

pub(super) fn group_id(action: Action, noun: &'static str) -> impl Field<IdReference<GroupKind>> {
    field("group_id", reference(IdReference::parse), move || {
        let meaning = match action {
            Action::Create => "Left out or null: none.",
            Action::Put => "Null: none.",
            Action::Update => "Null takes it out of its group.",
        };
        group_id_shown(&format!("The group to put the {noun} into. {meaning}"))
    })
}

/// `group_id` as it is shown.
pub(super) fn group_id_shown(description: &str) -> ObjectBuilder {
    matching(string(description), id_pattern("grp")).examples([json!(super::groups::EXAMPLE_ID), json!(null)])
}

pub(super) fn is_active() -> impl Field<bool> {
    field("is_active", boolean(), is_active_shown)
}

/// `is_active` as it is shown.
pub(super) fn is_active_shown() -> ObjectBuilder {
    boolean_schema("Whether the link is switched on. `state` says whether it works now.")
}
