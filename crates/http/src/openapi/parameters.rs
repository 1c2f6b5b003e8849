//! Parameters: the components under `#/components/parameters`.

use serde_json::json;
use signpost_domain::routing::Rules;
use signpost_domain::{
    ExternalId, IdempotencyKey, LinkPassword, LinkState, LinkStates, SearchText, Slug, Tags, TargetHost,
};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, Required};

use crate::cursor::MOST_CHARACTERS;
use crate::schema::{
    AnySchema, CURSOR as CURSOR_PATTERN, SLUG, WITHOUT_NUL, examples, external_id, id, matching,
};

/// A parameter, by the name of its component.
pub(crate) type Name = &'static str;

/// The last parameters of every list.
const PAGE: [Name; 2] = ["Limit", CURSOR];

/// The parameter that leads to the next page.
pub(crate) const CURSOR: Name = "Cursor";

/// The parameters of the lists of links (contract "List filters for links", D32).
pub(crate) const OF_LINK_LISTS: &[Name] = &[
    "GroupFilter",
    "DomainFilter",
    "SlugFilter",
    "ActiveFilter",
    "PasswordFilter",
    "StateFilter",
    "ExternalIdFilter",
    TAG_FILTERS[0],
    TAG_FILTERS[1],
    TAG_FILTERS[2],
    "TargetHostFilter",
    "RulesFilter",
    "CreatedAfter",
    "CreatedBefore",
    "UpdatedAfter",
    "UpdatedBefore",
    "SearchFilter",
    "WithClicks",
    PAGE[0],
    PAGE[1],
];

/// The filters by tags (D126).
const TAG_FILTERS: [Name; 3] = ["TagFilter", "AllTagsFilter", "WithoutTagFilter"];

/// The parameters of the other lists.
pub(crate) const OF_OTHER_LISTS: &[Name] = &PAGE;

/// The parameters that every POST has in addition to its own (D12).
pub(crate) const IDEMPOTENCY_KEY: Name = "IdempotencyKey";

/// The parameter of changes that take a precondition (D120).
pub(crate) const IF_MATCH: Name = "IfMatch";

/// The parameter of creations that must not change what exists (D120).
pub(crate) const IF_NONE_MATCH: Name = "IfNoneMatch";

/// The components of parameters that several sections share: the name and the parameter of each.
pub(crate) fn shared() -> impl Iterator<Item = (Name, Parameter)> {
    let all = filters().into_iter().chain(of_pages_and_conditions());
    all.map(|(name, parameter)| (name, parameter.build()))
}

/// The filters of lists of links (D11, D126).
fn filters() -> Vec<(Name, ParameterBuilder)> {
    vec![
        (
            "GroupFilter",
            in_query("group_id", text()).description(Some(
                "Only links in this group; with `none`, only links without a group. An unknown group has no links.",
            )),
        ),
        (
            "DomainFilter",
            in_query("domain", text()).description(Some(
                "Only links on this hostname. Case and one final dot are ignored. An unknown hostname has no links.",
            )),
        ),
        (
            "SlugFilter",
            in_query("slug", text().max_length(Some(Slug::MAX_CHARS)).pattern(Some(SLUG)).examples(["autumn-sale"]))
                .description(Some(
                    "Only links with exactly this slug, on any domain or without one; case matters. Links at the root of a \
                     domain have no slug.",
                )),
        ),
        (
            "ActiveFilter",
            in_query("is_active", ObjectBuilder::new().schema_type(Type::Boolean))
                .description(Some("Only links that are switched on, or only those that are not.")),
        ),
        (
            "PasswordFilter",
            in_query(LinkPassword::SHOWN_FIELD, ObjectBuilder::new().schema_type(Type::Boolean))
                .description(Some("Only links that ask for a password, or only those that do not.")),
        ),
        (
            "StateFilter",
            in_query(LinkStates::FIELD, states()).description(Some(
                "Only links whose `state` is this, or one of these, separated by commas, at the instant of the request. A later page has the \
                 states at its own. An open list: newer versions may have further states.",
            )),
        ),
        (
            "ExternalIdFilter",
            in_query(ExternalId::FIELD, external_id(examples::EXTERNAL_ID))
                .description(Some("Only the link with exactly this external id. An unknown one has no links.")),
        ),
        (TAG_FILTERS[0], tag_filter("tag", "with any of these tags. An unknown tag has no links")),
        (TAG_FILTERS[1], tag_filter("tag_all", "with all of these tags. An unknown tag has no links")),
        (TAG_FILTERS[2], tag_filter("without_tag", "without any of these tags. An unknown tag leaves out no link")),
        (
            "TargetHostFilter",
            in_query(TargetHost::FIELD, target_host()).description(Some(
                "Only redirects whose target is on this host or on a host under it, such as `www.example.com`. Case and one final dot \
                 are ignored, and an international name may be in ASCII or in Unicode. Landing pages have no target.",
            )),
        ),
        (
            "RulesFilter",
            in_query(Rules::HAS_FIELD, ObjectBuilder::new().schema_type(Type::Boolean))
                .description(Some("Only redirects with rules, or only links without any. Landing pages have none.")),
        ),
        ("CreatedAfter", instant_filter("created_after", "created at this instant or later")),
        ("CreatedBefore", instant_filter("created_before", "created at this instant or earlier")),
        ("UpdatedAfter", instant_filter("updated_after", "whose last change was at this instant or later")),
        ("UpdatedBefore", instant_filter("updated_before", "whose last change was at this instant or earlier")),
        (
            "SearchFilter",
            in_query(
                "q",
                matching(text(), WITHOUT_NUL).min_length(Some(1)).max_length(Some(SearchText::MAX_CHARS)),
            )
            .description(Some(
                "Only links with this text in their name or title, slug or target; case is ignored.",
            )),
        ),
    ]
}

/// The parameters of pages, and those that come as headers.
fn of_pages_and_conditions() -> [(Name, ParameterBuilder); 5] {
    [
        (
            "Limit",
            in_query(
                "limit",
                ObjectBuilder::new()
                    .schema_type(Type::Integer)
                    .minimum(Some(1))
                    .maximum(Some(100))
                    .default(Some(json!(25))),
            )
            .description(Some("The maximum number of items per page.")),
        ),
        (
            CURSOR,
            in_query(
                "cursor",
                matching(text(), CURSOR_PATTERN)
                    .format(Some(SchemaFormat::Custom("cursor".to_owned())))
                    .max_length(usize::try_from(MOST_CHARACTERS).ok()),
            )
            .description(Some(
                "`pagination.next_cursor` of the previous page, unchanged, with the same filters. The service accepts only \
                 values that it issued for this list and these filters. Their form may change.",
            )),
        ),
        (
            IF_MATCH,
            in_header("If-Match", text().examples(["\"r3\""])).description(Some(
                "The `ETag` of the version that the change is meant for, or a list of up to 100; `*` for any version. If the \
                 resource has another revision, the answer is 412 and nothing changes.",
            )),
        ),
        (
            IF_NONE_MATCH,
            in_header("If-None-Match", text().pattern(Some("^\\*$")).examples(["*"]))
                .description(Some("`*` allows only a creation: if the resource exists, the answer is 412.")),
        ),
        (IDEMPOTENCY_KEY, in_header("Idempotency-Key", idempotency_key()).description(Some(
            "For 24 hours, a second request with the same key, path and body changes nothing and gets the answer to the \
             first. Choose a new key for each intended change, such as a random UUID.",
        ))),
    ]
}

fn idempotency_key() -> ObjectBuilder {
    text()
        .min_length(Some(1))
        .max_length(Some(IdempotencyKey::MAX_CHARS))
        .pattern(Some("^[!-~]+$"))
        .examples(["8e03978e-40d5-43e8-bc93-6894a57f9324"])
}

/// A text.
pub(crate) fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// The `{id}` of a path, as the component `name`.
pub(crate) fn path_id(name: Name, example: &str, what: &str) -> (Name, Parameter) {
    let malformed = "A malformed id is treated like an unknown one.";
    (name, in_path("id", id(example, what)).description(Some(malformed)).build())
}

/// The host of targets (D126). A schema cannot tell which texts are hosts.
pub(crate) fn target_host() -> ObjectBuilder {
    text().min_length(Some(1)).max_length(Some(TargetHost::MAX_CHARS)).examples([examples::TARGET_HOST])
}

/// The states of a filter (D126).
fn states() -> ObjectBuilder {
    let names = LinkState::ALL.map(LinkState::as_str).join("|");
    text().pattern(Some(format!("^({names})(,({names}))*$"))).examples([examples::STATES])
}

/// A filter by an instant (D126).
fn instant_filter(name: Name, links: &str) -> ParameterBuilder {
    let instant = text()
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
        .examples([examples::CREATED_AT]);
    in_query(name, instant).description(Some(format!(
        "Only links {links}. With `Z` or an offset; encode its plus sign as `%2B`."
    )))
}

/// A filter by the names of tags (D126). A schema cannot count what commas separate.
fn tag_filter(name: Name, links: &str) -> ParameterBuilder {
    in_query(name, text().min_length(Some(1)).examples(["mail,Sale"])).description(Some(format!(
        "Only links {links}. Up to {} names, separated by commas; case does not matter.",
        Tags::MAX
    )))
}

/// The `{external_id}` of a path, as the component `name` (D121).
pub(crate) fn path_external_id(name: Name, example: &str) -> (Name, Parameter) {
    let description = "The link's id in your own system, percent-encoded as UTF-8.";
    (name, in_path(ExternalId::FIELD, external_id(example)).description(Some(description)).build())
}

/// A parameter in the path.
pub(crate) fn in_path(name: &str, schema: ObjectBuilder) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Path)
        .required(Required::True)
        .schema(Some(schema))
}

fn in_header(name: &str, schema: ObjectBuilder) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Header)
        .required(Required::False)
        .schema(Some(schema))
}

/// A parameter in the query.
pub(crate) fn in_query(name: &str, schema: impl Into<AnySchema>) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(ParameterIn::Query)
        .required(Required::False)
        .schema(Some(schema))
}

/// A reference to a component.
pub(crate) fn reference(name: Name) -> Ref {
    Ref::new(format!("#/components/parameters/{name}"))
}
