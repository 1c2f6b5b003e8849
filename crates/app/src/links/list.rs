//! Lists links of one kind (contract "List filters for links", D32).

use signpost_domain::id::GroupKind;
use signpost_domain::{
    ExternalId, GroupFilter, HostReference, IdReference, InstantRange, Link, LinkFilter, LinkKind,
    LinkStates, Page, PageLimit, PagePosition, Permission, SearchText, Site, Slug, StateFilter, TagFilter,
    TargetHost, Timestamp,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The filters and the page of a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListLinks {
    /// `group_id`: `None` for any, `Some(None)` for links without a group.
    pub group: Option<Option<IdReference<GroupKind>>>,
    /// `domain`
    pub domain: Option<HostReference>,
    /// `slug`
    pub slug: Option<Slug>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// `has_password`
    pub has_password: Option<bool>,
    /// `state`
    pub states: Option<LinkStates>,
    /// `external_id`
    pub external_id: Option<ExternalId>,
    /// `tag`, `tag_all` and `without_tag`
    pub tags: TagFilter,
    /// `has_rules`
    pub has_rules: Option<bool>,
    /// `target_host`
    pub target_host: Option<TargetHost>,
    /// `created_after` and `created_before`
    pub created: InstantRange,
    /// `updated_after` and `updated_before`
    pub updated: InstantRange,
    /// `q`
    pub search: Option<SearchText>,
    /// `limit`
    pub limit: PageLimit,
    /// `cursor`
    pub after: Option<PagePosition>,
}

/// One page of the caller's links of one kind, newest first. A group or a domain that the caller does not have gives an
/// empty page, not an error. The filter by states is as of `now`, which is also the instant to show the links at.
///
/// # Errors
/// [`AppError::TooManySearches`] if the filter makes it a search, and the account has too many of them in flight.
pub async fn list(
    app: &Application,
    caller: &Caller,
    kind: LinkKind,
    query: ListLinks,
    now: Timestamp,
) -> Result<Page<Link>, AppError> {
    caller.require(Permission::Read)?;
    kind_page(app, caller, kind, query, now).await
}

/// [`list`] for a caller that may read.
pub(super) async fn kind_page(
    app: &Application,
    caller: &Caller,
    kind: LinkKind,
    query: ListLinks,
    now: Timestamp,
) -> Result<Page<Link>, AppError> {
    let (limit, after) = (query.limit, query.after);
    let Some(filter) = query.into_filter(app, now) else { return Ok(Page::empty()) };
    let _search = if filter.is_search() { Some(caller.search()?) } else { None };
    Ok(app.store.links(caller.account_id(), kind, &filter, limit, after).await?)
}

impl ListLinks {
    /// The filter without the page, with the states that links have at `now`; `None` if it names a group or a domain that nobody can
    /// have, so that no link matches.
    pub(super) fn into_filter(self, app: &Application, now: Timestamp) -> Option<LinkFilter> {
        let Self {
            group,
            domain,
            slug,
            is_active,
            has_password,
            states,
            external_id,
            tags,
            has_rules,
            target_host,
            created,
            updated,
            search,
            limit: _,
            after: _,
        } = self;
        let group = match group {
            None => GroupFilter::Any,
            Some(None) => GroupFilter::Ungrouped,
            Some(Some(reference)) => GroupFilter::In(reference.id()?),
        };
        let site = match domain {
            None => None,
            Some(HostReference::Hostname(hostname)) if app.system.answers_to(&hostname) => Some(Site::System),
            Some(HostReference::Hostname(hostname)) => Some(Site::Custom(hostname)),
            Some(HostReference::Malformed) => return None,
        };
        Some(LinkFilter {
            group,
            site,
            slug,
            is_active,
            has_password,
            state: states.map(|states| StateFilter { states, at: now }),
            external_id,
            tags,
            has_rules,
            target_host,
            created,
            updated,
            search,
        })
    }
}
