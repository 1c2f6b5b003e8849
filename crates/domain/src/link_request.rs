//! Requests for links, and the rules that creations, updates and items of batches share (D8, D22, D33).

use std::fmt::Debug;

use crate::change::Change;
use crate::external_id::ExternalId;
use crate::group::named_group;
use crate::host_blocklist::HostBlocklist;
use crate::id::{GroupKind, Id};
use crate::life::{Life, LifeRequest};
use crate::link::{Content, Link};
use crate::link_context::LinkContext;
use crate::link_password::LinkPassword;
use crate::placement::{Placement, PlacementChange, site_for_new_link};
use crate::plan::{Feature, FeatureSet};
use crate::reference::{HostReference, IdReference};
use crate::refusal::{Refusal, Rejection};
use crate::revision::Revision;
use crate::slug::Slug;
use crate::tag::Tags;
use crate::text::{Name, Note};
use crate::violation::{FieldError, Violation, ViolationCode, Violations};

/// The readable fields of a request, and its violations. Each layer adds the violations that only it can find, so that one
/// answer lists all (D8). A request with violations changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Submitted<T> {
    /// The readable fields. An invalid field counts as absent.
    pub value: T,
    /// The violations so far.
    pub violations: Violations,
}

impl<T> Submitted<T> {
    /// A request without violations so far.
    pub const fn valid(value: T) -> Self {
        Self { value, violations: Violations::new() }
    }
}

/// The request of a creation or an update: a change for each field. The default changes nothing. A creation changes an
/// empty link, so an absent field gets its default (D28).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkRequest<R> {
    /// `name`, or `title` of a landing page. A creation must have it.
    pub name: Option<Name>,
    /// `slug`. Null is the root of the custom domain. A creation without it gets a random slug (D21).
    pub slug: Change<Slug>,
    /// `domain`. Null is the system domain. A creation without it uses the system domain too.
    pub domain: Change<HostReference>,
    /// `note`
    pub note: Change<Note>,
    /// `external_id`
    pub external_id: Change<ExternalId>,
    /// `group_id`. Null takes the link out of its group.
    pub group: Change<IdReference<GroupKind>>,
    /// `tags`; null removes all.
    pub tags: Option<Tags>,
    /// `is_active`; true in a creation without it.
    pub is_active: Option<bool>,
    /// `starts_at`, `expires_at` and `fallback_url`
    pub life: LifeRequest,
    /// `password`; null removes it (D131).
    pub password: Change<LinkPassword>,
    /// `analytics_enabled`; true in a creation without it. Updates do not have it (D28).
    pub analytics_enabled: Option<bool>,
    /// The fields of this kind of links.
    pub content: R,
}

impl<R> LinkRequest<R> {
    /// The same request with the fields of its kind changed in place.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut R)) -> Self {
        change(&mut self.content);
        self
    }

    /// The same request with fields of another kind.
    #[must_use]
    pub fn with_content<S>(self, content: S) -> LinkRequest<S> {
        let Self {
            name,
            slug,
            domain,
            note,
            external_id,
            group,
            tags,
            is_active,
            life,
            password,
            analytics_enabled,
            content: _,
        } = self;
        LinkRequest {
            name,
            slug,
            domain,
            note,
            external_id,
            group,
            tags,
            is_active,
            life,
            password,
            analytics_enabled,
            content,
        }
    }

    /// The two fields that place the link.
    #[must_use]
    pub fn placement(&self) -> PlacementChange {
        PlacementChange { domain: self.domain.clone(), slug: self.slug.clone() }
    }
}

/// The rules of the fields that only one kind of links has.
pub trait ContentRules: Content {
    /// The request for these fields.
    type Request: Clone + Debug + Default + Eq + Send + Sync;

    /// The field that holds the link's name.
    const NAME_FIELD: &'static str;

    /// The content after `request`, which changes the current content, or creates it. Adds violations to the judgement. `None`
    /// if a required field is missing.
    fn requested(request: &Self::Request, judgement: &mut Judgement<'_, Self>) -> Option<Self>;

    /// Judges the content after `request` together with what links of both kinds have. Adds violations to the judgement.
    fn judge(
        &self,
        _request: &LinkRequest<Self::Request>,
        _life: &Life,
        _judgement: &mut Judgement<'_, Self>,
    ) {
    }

    /// Violations that do not depend on the link. An update lists them even if the link does not exist.
    fn violations_without_link(_request: &Self::Request, _blocklist: &HostBlocklist) -> Violations {
        Violations::new()
    }

    /// A link can start to use a feature only if the plan has it. A link keeps the features that it already uses (D15).
    fn check_features(&self, _before: Option<&Self>, _features: FeatureSet) -> Result<(), Refusal> {
        Ok(())
    }
}

/// The input of the rules of a kind, apart from the kind's own fields, and the violations that they find.
pub struct Judgement<'a, C: Content> {
    /// The link before the request; `None` in a creation.
    pub before: Option<&'a Link<C>>,
    /// Where the link lives after the request; `None` if that is refused, or unknown because `slug` or `domain` could not be
    /// read.
    pub placement: Option<&'a Placement>,
    /// The field of the request that moves the link.
    pub moved_by: &'static str,
    /// The violations of fields that could not be read. Their values after the request are unknown.
    pub unreadable: &'a Violations,
    /// The rest of the input.
    pub context: &'a LinkContext<'a>,
    /// The violations found so far.
    pub found: Violations,
}

impl<C: ContentRules> Link<C> {
    /// Builds the link that a creation asks for. `generated` is its slug if the request has none; without it, only the
    /// violations count.
    ///
    /// # Errors
    /// [`Rejection::Invalid`] with every violation; otherwise the first [`Refusal`] that applies.
    pub fn create(
        id: Id<C::Kind>,
        request: &Submitted<LinkRequest<C::Request>>,
        generated: Option<Slug>,
        context: &LinkContext<'_>,
    ) -> Result<Self, Rejection> {
        let LinkRequest { domain, slug, .. } = &request.value;
        let slug = match slug {
            Change::Keep => generated,
            Change::Clear => None,
            Change::Set(slug) => Some(slug.clone()),
        };
        let placement =
            site_for_new_link(domain.clone().applied_to(None), context.system, context.named_domains)
                .and_then(|site| Placement::new(site, slug));
        Self::create_at(id, request, placement, context)
    }

    /// The same at a placement that was validated before, such as that of a lost link.
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn create_at(
        id: Id<C::Kind>,
        request: &Submitted<LinkRequest<C::Request>>,
        placement: Result<Placement, Refusal>,
        context: &LinkContext<'_>,
    ) -> Result<Self, Rejection> {
        checked(&Subject::New(id), request, placement, context)
    }

    /// The link that an update makes of this one; itself, with the same `updated_at`, if the request changes nothing
    /// (D33). Applying the request to the result changes nothing more, unless it sets a password: only the hash of the last one is
    /// known, so each is taken for another one (D131).
    ///
    /// # Errors
    /// As [`create`](Self::create).
    pub fn apply(
        &self,
        request: &Submitted<LinkRequest<C::Request>>,
        context: &LinkContext<'_>,
    ) -> Result<Self, Rejection> {
        let placement =
            self.placement.changed(request.value.placement(), context.system, context.named_domains);
        checked(&Subject::Existing(self), request, placement, context)
    }
}

/// The link that a request is about.
enum Subject<'a, C: Content> {
    New(Id<C::Kind>),
    Existing(&'a Link<C>),
}

/// Violations come before refusals, and the group comes last, because only the store knows whether it exists (D2).
fn checked<C: ContentRules>(
    subject: &Subject<'_, C>,
    request: &Submitted<LinkRequest<C::Request>>,
    placement: Result<Placement, Refusal>,
    rules: &LinkContext<'_>,
) -> Result<Link<C>, Rejection> {
    let Submitted { value: request, violations } = request;
    let before = match subject {
        Subject::New(_) => None,
        Subject::Existing(link) => Some(*link),
    };
    let is_placed = !violations.are_about("slug") && !violations.are_about("domain");
    let mut judgement = Judgement {
        before,
        placement: placement.as_ref().ok().filter(|_| is_placed),
        moved_by: if request.slug.is_keep() { "domain" } else { "slug" },
        unreadable: violations,
        context: rules,
        found: Violations::new(),
    };
    let name = request.name.clone().or_else(|| before.map(|link| link.name.clone()));
    if name.is_none() {
        judgement.found.push(required(C::NAME_FIELD));
    }
    let content = C::requested(&request.content, &mut judgement);
    let life = Life::requested(&request.life, &mut judgement);
    if let Some(content) = &content {
        content.judge(request, &life, &mut judgement);
    }
    let mut violations = violations.clone();
    violations.append_about_others(judgement.found);
    let (Some(name), Some(content), true) = (name, content, violations.is_empty()) else {
        return Err(Rejection::Invalid(violations));
    };
    let placement = placement?;
    content.check_features(before.map(|link| &link.content), rules.features)?;
    let sets_password = matches!(request.password, Change::Set(_));
    if sets_password && !rules.features.contains(Feature::LinkAccess) {
        return Err(Refusal::FeatureNotAvailable(Feature::LinkAccess).into());
    }
    let group_id = match request.group {
        Change::Keep => before.and_then(|link| link.group_id),
        Change::Set(reference) => Some(named_group(reference)?),
        Change::Clear => None,
    };
    let mut link = Link {
        id: match subject {
            Subject::New(id) => *id,
            Subject::Existing(link) => link.id,
        },
        name,
        // A link can move only to a domain that serves links (D23).
        is_domain_active: before
            .is_none_or(|link| link.is_domain_active || link.placement.site() != placement.site()),
        placement,
        is_active: request.is_active.or(before.map(|link| link.is_active)).unwrap_or(true),
        life,
        has_password: LinkPassword::is_there_after(
            &request.password,
            before.is_some_and(|link| link.has_password),
        ),
        note: request.note.clone().applied_to(before.and_then(|link| link.note.clone())),
        external_id: request.external_id.clone().applied_to(before.and_then(|link| link.external_id.clone())),
        analytics_enabled: match before {
            Some(link) => link.analytics_enabled,
            None => request.analytics_enabled.unwrap_or(true),
        },
        group_id,
        tags: requested_tags(request.tags.as_ref(), before.map(|link| &link.tags)),
        created_at: before.map_or(rules.now, |link| link.created_at),
        updated_at: before.map_or(rules.now, |link| link.updated_at),
        revision: before.map_or(Revision::FIRST, |link| link.revision),
        content,
    };
    if let Some(before) = before
        && (sets_password || link != *before)
    {
        link.mark_changed(rules.now);
    }
    Ok(link)
}

/// The tags that a link has after a request. Another spelling of the tags that it has changes nothing (D122).
fn requested_tags(requested: Option<&Tags>, before: Option<&Tags>) -> Tags {
    let changed = requested.filter(|requested| before.is_none_or(|before| !before.same_as(requested)));
    changed.or(before).cloned().unwrap_or_default()
}

/// The violation of a creation without a required field.
pub(crate) fn required(field: &'static str) -> Violation {
    FieldError::new(ViolationCode::Required, "is required").at(field)
}

#[cfg(test)]
#[path = "link_request_tests.rs"]
pub(crate) mod tests;
