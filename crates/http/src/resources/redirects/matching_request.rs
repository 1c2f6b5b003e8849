//! The body of a change by filter: the filters of the list, and the patch (D124).

use signpost_app::links::{ListLinks, UpdateMatching};
use signpost_domain::id::{GroupKind, RedirectKind};
use signpost_domain::routing::Rules;
use signpost_domain::{
    AccountId, Change, ExternalId, FieldError, HostReference, IdReference, InstantRange, LinkPassword,
    LinkState, LinkStates, PrefixReplacement, RedirectPatch, SearchText, Slug, TagChange, TagFilter, TagName,
    Tags, TargetHost, TargetPrefix, Timestamp, ViolationCode, Violations,
};
use signpost_strict_json::Json;
use utoipa::openapi::schema::{KnownFormat, SchemaFormat};

use super::{antibot_enabled, geo_blocklists, pixel_ids};
use crate::cursor::{CursorScope, MOST_CHARACTERS, SealedCursor, foreign_cursor};
use crate::extract::{
    Action, Field, ObjectReader, boolean, field, object, properties, reference, text, texts,
};
use crate::openapi::parameters::target_host;
use crate::resources::groups;
use crate::resources::link_fields::{group_id, is_active, note};
use crate::resources::link_life;
use crate::resources::link_list_query::{self, TAG_PARAMETERS};
use crate::resources::links::LinkEndpoints as _;
use crate::resources::redirect_ways;
use crate::resources::tags::tag_name;
use crate::schema::{
    CURSOR, Components, SLUG, WITHOUT_NUL, boolean as boolean_schema, closed_object, examples,
    external_id as external_id_schema, list, matching, named, named_as, only, string,
};

/// The field with the filters.
const FILTER: &str = "filter";

/// The field with the position at which an earlier call stopped.
const CURSOR_FIELD: &str = "cursor";

/// The field of the patch with the tags to take off.
const REMOVE_TAGS: &str = "remove_tags";

/// The component with the states that a filter knows.
const STATE: &str = "LinkState";

/// The body, as far as it is readable.
pub(super) struct Sent {
    filter: Option<Filter>,
    patch: Option<Patch>,
    is_dry_run: bool,
    cursor: Change<SealedCursor>,
}

/// The filters of the list (D11, D126).
struct Filter {
    /// Whether all redirects are meant if there are no filters.
    all: bool,
    links: ListLinks,
}

/// The patch, with the tags as they were sent.
struct Patch {
    added: Tags,
    removed: Tags,
    /// The fields but the tags.
    others: RedirectPatch,
}

impl Sent {
    pub(super) fn read(body: &mut ObjectReader<'_>) -> Self {
        let filter = field(FILTER, object(|filter| Some(read_filter(filter))), || {
            named_as(
                "RedirectFilter",
                "The redirects to change: those that match all of these filters, at least one. For all \
                 redirects, send `all`."
                    .to_owned(),
            )
        });
        let patch = field(RedirectPatch::FIELD, object(|patch| Some(read_patch(patch))), || {
            named_as("RedirectsPatch", "The change. Absent fields stay unchanged.".to_owned())
        });
        let dry_run = field("dry_run", boolean(), || {
            boolean_schema(
                "Whether nothing is written: the answer has the same counts, and the first ten redirects that would \
                 change, before and after. The key needs the scope `read` too. Left out: `false`.",
            )
        });
        let cursor = field(CURSOR_FIELD, text(parse_cursor), || {
            let description = "`next_cursor` of the previous call, unchanged, with the same filter and `dry_run`. Left out or \
                               null: from the newest redirect.";
            matching(string(description), CURSOR)
                .format(Some(SchemaFormat::Custom("cursor".to_owned())))
                .max_length(usize::try_from(MOST_CHARACTERS).ok())
        });
        Self {
            filter: body.required(filter),
            patch: body.required(patch),
            is_dry_run: body.optional(dry_run).unwrap_or_default(),
            cursor: body.nullable(cursor),
        }
    }

    /// The request and the scope of its cursors, or all violations.
    pub(super) fn into_request(
        self,
        account: AccountId,
        mut violations: Violations,
    ) -> Result<(UpdateMatching, CursorScope), Violations> {
        let Self { filter, patch, is_dry_run, cursor } = self;
        let filter = filter.and_then(|filter| filter.into_links(&mut violations));
        let patch = patch.and_then(|patch| patch.into_patch(&mut violations));
        let mut after = None;
        let scope = filter.as_ref().map(|filter| scope_of(account, filter, is_dry_run));
        if let (Some(scope), Change::Set(sealed)) = (&scope, cursor) {
            after = scope.open(sealed);
            if after.is_none() {
                violations.push(foreign_cursor().at(CURSOR_FIELD));
            }
        }
        let (Some(links), Some(patch), Some(scope)) = (filter, patch, scope) else { return Err(violations) };
        let links = ListLinks { after, ..links };
        violations.into_result((UpdateMatching { links, patch, is_dry_run }, scope))
    }
}

/// The scope of the cursors. A dry run has its own, so that its position cannot make a run leave out links.
fn scope_of(account: AccountId, filter: &ListLinks, is_dry_run: bool) -> CursorScope {
    let list = if is_dry_run { "redirects/update-matching/dry" } else { "redirects/update-matching" };
    link_list_query::scope(CursorScope::new(account, list), filter)
}

fn parse_cursor(text: &str) -> Result<SealedCursor, FieldError> {
    let most = usize::try_from(MOST_CHARACTERS).unwrap_or(usize::MAX);
    if text.chars().count() > most {
        return Err(FieldError::new(ViolationCode::TooLong, "must have at most 512 characters"));
    }
    SealedCursor::parse(text).ok_or_else(foreign_cursor)
}

impl Filter {
    /// Without a filter, only `all` says that all links are meant: a client that loses its filters must not change every link.
    fn into_links(self, violations: &mut Violations) -> Option<ListLinks> {
        let Self { all, links } = self;
        if all || links != ListLinks::default() {
            return Some(links);
        }
        let message = "must have at least one filter, or `all`";
        violations.push(FieldError::new(ViolationCode::Required, message).at(FILTER));
        None
    }
}

impl Patch {
    fn into_patch(self, violations: &mut Violations) -> Option<RedirectPatch> {
        let Self { added, removed, others } = self;
        let at = format!("{}.{REMOVE_TAGS}", RedirectPatch::FIELD);
        let tags = TagChange::new(added, removed).map_err(|error| violations.push(error.at(at))).ok()?;
        Some(RedirectPatch { tags, ..others })
    }
}

fn read_filter(filter: &mut ObjectReader<'_>) -> Filter {
    let [tag, tag_all, without_tag] = TAG_PARAMETERS;
    let all = filter.optional(all()).is_some();
    let links = ListLinks {
        group: filter.optional(group_filter()),
        domain: filter.optional(field("domain", reference(HostReference::parse), || {
            string("Only redirects on this hostname. Case and one final dot are ignored.")
        })),
        slug: filter.optional(field("slug", text(Slug::parse), || {
            string("Only redirects with exactly this slug, on any domain or without one; case matters.")
                .max_length(Some(Slug::MAX_CHARS))
                .pattern(Some(SLUG))
                .examples(["autumn-sale"])
        })),
        is_active: filter.optional(field("is_active", boolean(), || {
            boolean_schema("Only redirects that are switched on, or only those that are not.")
        })),
        has_password: filter.optional(field(LinkPassword::SHOWN_FIELD, boolean(), || {
            boolean_schema("Only redirects that ask for a password, or only those that do not.")
        })),
        states: filter.optional(states()).and_then(LinkStates::new),
        external_id: filter.optional(field(ExternalId::FIELD, text(ExternalId::parse), || {
            external_id_schema(examples::EXTERNAL_ID)
                .description(Some("Only the redirect with exactly this external id."))
        })),
        tags: TagFilter {
            any: names(filter, tag, 1, "Only redirects with any of these tags."),
            all: names(filter, tag_all, 1, "Only redirects with all of these tags."),
            none: names(filter, without_tag, 1, "Only redirects without any of these tags."),
        },
        target_host: filter.optional(field(TargetHost::FIELD, text(TargetHost::parse), || {
            target_host().description(Some(
                "Only redirects whose target is on this host or on a host under it. Case and one final dot are ignored, and an \
                 international name may be in ASCII or in Unicode.",
            ))
        })),
        has_rules: filter.optional(field(Rules::HAS_FIELD, boolean(), || {
            boolean_schema("Only redirects with rules, or only those without any.")
        })),
        created: InstantRange {
            from: filter.optional(instant("created_after", "created at this instant or later")),
            to: filter.optional(instant("created_before", "created at this instant or earlier")),
        },
        updated: InstantRange {
            from: filter.optional(instant("updated_after", "whose last change was at this instant or later")),
            to: filter
                .optional(instant("updated_before", "whose last change was at this instant or earlier")),
        },
        search: filter.optional(field("q", text(SearchText::parse), || {
            let description = "Only redirects with this text in their name, slug or target; case is ignored.";
            matching(string(description), WITHOUT_NUL)
                .min_length(Some(1))
                .max_length(Some(SearchText::MAX_CHARS))
        })),
        ..ListLinks::default()
    };
    Filter { all, links }
}

/// `all`, which can only be true.
fn all() -> impl Field<()> {
    let read = |value: &Json, path: &str, violations: &mut Violations| {
        let is_true = boolean()(value, path, violations)?;
        if !is_true {
            violations.push(FieldError::new(ViolationCode::InvalidValue, "must be true").at(path));
        }
        is_true.then_some(())
    };
    field("all", read, || only(boolean_schema("All redirects are meant, so no filter is needed."), true))
}

fn group_filter() -> impl Field<Option<IdReference<GroupKind>>> {
    field("group_id", reference(link_list_query::group_of), || {
        string("Only redirects in this group; with `none`, only those without a group.")
            .examples([groups::EXAMPLE_ID])
    })
}

/// Any of some states, at the instant of the call.
fn states() -> impl Field<Vec<LinkState>> {
    field(LinkStates::FIELD, texts(1..=LinkState::ALL.len(), LinkState::parse), || {
        list("Only redirects whose `state` is one of these when the call begins.", named(STATE))
            .min_items(Some(1))
            .max_items(Some(LinkState::ALL.len()))
    })
}

fn instant(name: &'static str, redirects: &'static str) -> impl Field<Timestamp> {
    field(name, text(Timestamp::parse), move || {
        string(&format!("Only redirects {redirects}. With `Z` or an offset."))
            .format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
            .examples([examples::CREATED_AT])
    })
}

/// Names of tags, at least `least`; none without the field.
fn names(
    object: &mut ObjectReader<'_>,
    name: &'static str,
    least: usize,
    about: &'static str,
) -> Vec<TagName> {
    let names = field(name, texts(least..=Tags::MAX, TagName::parse), move || {
        list(&format!("{about} Case does not matter."), tag_name("The name of a tag"))
            .min_items((least > 0).then_some(least))
            .max_items(Some(Tags::MAX))
    });
    object.optional(names).unwrap_or_default()
}

fn read_patch(patch: &mut ObjectReader<'_>) -> Patch {
    let noun = RedirectKind::WORDS.noun;
    let is_active = patch.optional(is_active());
    let group = patch.nullable(group_id(Action::Update, noun));
    let about_added = "The tags to add. A name without a tag creates it, within the plan's limit.";
    // Both lists were read with their bound.
    let added = Tags::new(names(patch, "add_tags", 0, about_added)).unwrap_or_default();
    let about_removed = "The tags to take off, of which `add_tags` names none.";
    let removed = Tags::new(names(patch, REMOVE_TAGS, 0, about_removed)).unwrap_or_default();
    let others = RedirectPatch {
        is_active,
        group,
        antibot_enabled: patch.optional(antibot_enabled()),
        geo_blocklist: patch.nullable(geo_blocklists(Action::Update)),
        pixels: patch.nullable(pixel_ids(Action::Update)),
        note: patch.nullable(note(Action::Update)),
        life: link_life::read(patch, Action::Update),
        way: redirect_ways::read(patch, Action::Update),
        target_prefix: patch.optional(replace_target_prefix()),
        ..RedirectPatch::default()
    };
    Patch { added, removed, others }
}

fn replace_target_prefix() -> impl Field<PrefixReplacement> {
    field("replace_target_prefix", object(read_replacement), || {
        let description =
            "Gives the targets that begin with `from` another beginning. Other targets stay as they are.";
        named_as("TargetPrefixReplacement", description.to_owned())
    })
}

fn read_replacement(replacement: &mut ObjectReader<'_>) -> Option<PrefixReplacement> {
    let about_from = "The beginning of the targets to change, compared character by character.";
    let from = replacement.required(prefix("from", about_from, "https://old.example.com/"));
    let about_to = "The beginning that they get. The new target follows the rules of `target_url`. If this continues `from`, \
                    targets that begin with it stay as they are; otherwise a target that would still begin with `from` fails.";
    let to = replacement.required(prefix("to", about_to, "https://new.example.com/shop/"));
    Some(PrefixReplacement { from: from?, to: to? })
}

fn prefix(name: &'static str, about: &'static str, example: &'static str) -> impl Field<TargetPrefix> {
    field(name, text(TargetPrefix::parse), move || {
        string(about).min_length(Some(1)).max_length(Some(TargetPrefix::MAX_CHARS)).examples([example])
    })
}

/// The components about the body.
pub(super) fn components() -> Components {
    let sent = closed_object(
        "A change of the redirects that match a filter.",
        properties(|body| drop(Sent::read(body))),
    );
    let filter = closed_object(
        "Filters of redirects, which must all match. They are those of the list of redirects.",
        properties(|filter| drop(read_filter(filter))),
    );
    let patch =
        closed_object("A change of many redirects alike.", properties(|patch| drop(read_patch(patch))));
    let replacement = closed_object(
        "Another beginning for targets.",
        properties(|replacement| drop(read_replacement(replacement))),
    );
    let state = string("A state of links, as filters know it.")
        .enum_values(Some(LinkState::ALL.map(LinkState::as_str)))
        .examples([LinkState::Scheduled.as_str()]);
    vec![
        ("RedirectsUpdateMatching", sent.into()),
        (STATE, state.into()),
        ("RedirectFilter", filter.into()),
        ("RedirectsPatch", patch.into()),
        ("TargetPrefixReplacement", replacement.into()),
    ]
}

#[cfg(test)]
mod tests {
    use signpost_domain::PagePosition;

    use super::*;

    #[test]
    fn d124_the_cursor_of_a_dry_run_is_refused_by_the_run() {
        let account = AccountId::from_bytes([7; 16]);
        let [dry, run] = [true, false].map(|is_dry| scope_of(account, &ListLinks::default(), is_dry));
        let position = PagePosition::behind([1; 16]);
        let sealed = parse_cursor(&dry.seal(position)).unwrap();
        assert_eq!((dry.open(sealed), run.open(sealed)), (Some(position), None));
    }
}
