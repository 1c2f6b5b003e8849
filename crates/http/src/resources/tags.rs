//! Tags: `/v1/tags` (D122). Links create them, by naming them.

use actix_web::{HttpResponse, web};
use serde_json::{Value, json};
use signpost_app::Application;
use signpost_app::tags;
use signpost_domain::id::TagKind;
use signpost_domain::{Tag, TagId, TagName, Timestamp, Violations};
use utoipa::openapi::schema::ObjectBuilder;

use crate::api_error::ApiError;
use crate::cursor::CursorScope;
use crate::endpoint::RouteMethod;
use crate::extract::{
    Admitted, Field, NoInput, ObjectReader, OnlyBody, OnlyQuery, PageQuery, PathId, field, properties, text,
};
use crate::openapi::errors;
use crate::openapi::operation::{Endpoint, body, ok};
use crate::openapi::parameters::{OF_OTHER_LISTS, path_id};
use crate::schema::{
    Components, closed_object, count, created_at, examples, id, kind, matching, open_object, shown, string,
    tag_name_pattern,
};
use crate::sections::Section;
use crate::wire::{self, DeletionBody, ListBody, Text};

/// The path of the list, and the prefix of each tag's path.
const PATH: &str = "/v1/tags";

const ONE: &str = "/v1/tags/{id}";

/// A tag's id.
const EXAMPLE_ID: &str = "tag_019b5a3bd41e7c90a1b2c3d4e5f60718";

const EXAMPLE_NAME: &str = "Sale";

const DELETED: &str = "The tag is deleted; its links stay, without it.";

/// What the API says about tags.
pub(crate) static SECTION: Section = Section {
    tag: "Tags",
    description: "Names by which links are found; a link has up to 20. A link that names a new one creates it.",
    endpoints,
    schemas: components,
    parameters: || vec![path_id("TagId", EXAMPLE_ID, "A tag's id.")],
};

shown! {
    /// A tag as the API shows it.
    struct TagBody {
        id: Text<TagId> = id(EXAMPLE_ID, "The tag's id."),
        object: &'static str = kind("tag"),
        name: String = tag_name_shown("The tag's name."),
        links_count: u64 = count("How many links have the tag, of both kinds."),
        created_at: Text<Timestamp> = created_at(),
    }
}

impl From<&Tag> for TagBody {
    fn from(tag: &Tag) -> Self {
        let Tag { id, name, links_count, created_at } = tag;
        Self {
            id: Text(*id),
            object: "tag",
            name: name.as_str().to_owned(),
            links_count: *links_count,
            created_at: Text(*created_at),
        }
    }
}

/// The OpenAPI components of tags.
fn components() -> Components {
    let shown = open_object(
        "A tag. To list its links, use the filter `tag` of the link lists with its name.",
        TagBody::properties(),
    );
    let sent = properties(|body| {
        read_name(body);
    });
    vec![
        ("Tag", shown.into()),
        ("TagPatch", closed_object("The new name of a tag.", sent).into()),
        ("TagList", wire::page_of("Tag", "One page of tags, newest first.")),
        ("DeletedTag", wire::deleted::<TagKind>("tag", EXAMPLE_ID)),
    ]
}

/// The name of a tag in an answer.
pub(super) fn tag_name_shown(description: &str) -> ObjectBuilder {
    string(description).min_length(Some(1)).max_length(Some(TagName::MAX_CHARS)).examples([EXAMPLE_NAME])
}

/// The name of a tag in a request: trimmed before its characters are counted.
pub(super) fn tag_name(what: &str) -> ObjectBuilder {
    let description = format!(
        "{what}: 1 to {} characters without control characters and commas. Surrounding white space is removed before the \
         characters are counted.",
        TagName::MAX_CHARS
    );
    matching(string(&description), tag_name_pattern()).examples([EXAMPLE_NAME])
}

fn name() -> impl Field<TagName> {
    field("name", text(TagName::parse), || tag_name("The tag's name"))
}

fn read_name(body: &mut ObjectReader<'_>) -> Option<TagName> {
    body.required(name())
}

fn name_of(body: OnlyBody) -> Result<TagName, Violations> {
    let (mut body, mut violations) = body.reader()?;
    let name = read_name(&mut body);
    violations.append(body.finish());
    match name {
        Some(name) => violations.into_result(name),
        None => Err(violations),
    }
}

/// `GET /v1/tags`
pub(crate) async fn list(
    app: web::Data<Application>,
    caller: Admitted,
    input: OnlyQuery,
) -> Result<HttpResponse, ApiError> {
    let scope = CursorScope::new(caller.account_id(), "tags");
    let PageQuery { limit, after } = input.page(&scope)?;
    let page = tags::list(&app, &caller, limit, after).await?;
    wire::ok(&ListBody::new(page.map(|tag| TagBody::from(&tag)), &scope))
}

/// `PATCH /v1/tags/{id}`: the answer is the tag that has the name then, which is another one if it had the name before.
pub(crate) async fn rename(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<TagKind>,
    body: OnlyBody,
) -> Result<HttpResponse, ApiError> {
    let tag = tags::rename(&app, &caller, id.0, name_of(body)?).await?;
    wire::ok(&TagBody::from(&tag))
}

/// `DELETE /v1/tags/{id}` (D5): the tag's links stay.
pub(crate) async fn delete(
    app: web::Data<Application>,
    caller: Admitted,
    id: PathId<TagKind>,
    _: NoInput,
) -> Result<HttpResponse, ApiError> {
    let id = tags::delete(&app, &caller, id.0).await?;
    wire::ok(&DeletionBody::new(id, "tag", DELETED))
}

/// A tag.
fn example() -> Value {
    json!({
        "id": EXAMPLE_ID,
        "object": "tag",
        "name": EXAMPLE_NAME,
        "links_count": 12,
        "created_at": examples::CREATED_AT,
    })
}

/// The operations, in the order of the documentation page.
fn endpoints() -> Vec<Endpoint> {
    vec![listing(), renaming(), deletion()]
}

fn listing() -> Endpoint {
    Endpoint {
        summary: "List tags",
        description: "Lists the account's tags, newest first, each with the number of its links.",
        parameters: OF_OTHER_LISTS,
        success: ok("One page.", "TagList", examples::page_of(&example())),
        ..Endpoint::new("listTags", RouteMethod::Get, PATH, || web::to(list))
    }
}

fn renaming() -> Endpoint {
    Endpoint {
        summary: "Rename a tag",
        description: "Changes the name of a tag, which all its links show at once. If another tag has the name, whatever its \
                      case, the two become one: the links of this tag get the other one, this tag is deleted, and the answer \
                      is the other one. With very many links that happens in steps. `updated_at` and `revision` of links do \
                      not change.",
        parameters: &["TagId"],
        body: Some(body("TagPatch", [("name", "A name", json!({"name": "Sales"}))])),
        success: ok("The tag that has the name.", "Tag", example()),
        others: vec![errors::no_such("tag")],
        ..Endpoint::new("renameTag", RouteMethod::Patch, ONE, || web::to(rename))
    }
}

fn deletion() -> Endpoint {
    Endpoint {
        summary: "Delete a tag",
        description: "Deletes a tag and takes it off its links, in steps if there are very many. `updated_at` and `revision` of \
                      links do not change.",
        parameters: &["TagId"],
        success: ok("The tag is deleted.", "DeletedTag", examples::deletion(EXAMPLE_ID, "tag", DELETED)),
        others: vec![errors::no_such("tag")],
        ..Endpoint::new("deleteTag", RouteMethod::Delete, ONE, || web::to(delete))
    }
}
