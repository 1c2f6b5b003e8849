//! The links that a question is about.

use std::collections::BTreeSet;

use signpost_domain::analytics::{LinkScope, Period, TimeZone};
use signpost_domain::id::GroupKind;
use signpost_domain::{
    FieldError, GroupFilter, HostReference, IdReference, LinkId, LinkIdKind, Refusal, Site, ViolationCode,
    Violations,
};

use super::turns::{Turn, Turns};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::links;

/// Selects links of an account. The default selects all links, including deleted ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LinkChoice {
    /// `group_id`: `None` for any, `Some(None)` for links without a group.
    pub group: Option<Option<IdReference<GroupKind>>>,
    /// `domain`
    pub domain: Option<HostReference>,
}

/// A question with more links than this takes a turn before it reads their ids.
const FEW_LINKS: usize = 10_000;

impl LinkChoice {
    /// The links that are in the group and on the domain now. As in lists, a group or domain that the caller does not have
    /// selects no links. If they are very many, it first waits for one of these turns, without a time limit. Their ids must not
    /// outlive the turn.
    pub(super) async fn scope_in_turn(
        &self,
        app: &Application,
        caller: &Caller,
        turns: &Turns<()>,
    ) -> Result<(LinkScope, Option<Turn<()>>), AppError> {
        let (group, site) = match self.filter(app) {
            Filter::All => return Ok((LinkScope::All, None)),
            Filter::Nothing => return Ok((LinkScope::Some(BTreeSet::new()), None)),
            Filter::By(group, site) => (group, site),
        };
        let most = app.analytics.max_links;
        let few = FEW_LINKS.min(most);
        if let Some(scope) = link_ids(app, caller, group, site.as_ref(), few).await? {
            return Ok((scope, None));
        }
        if few == most {
            return Err(too_many_links(group, most));
        }
        let turn = turns.turn(()).await;
        match link_ids(app, caller, group, site.as_ref(), most).await? {
            Some(scope) => Ok((scope, Some(turn))),
            None => Err(too_many_links(group, most)),
        }
    }

    fn filter(&self, app: &Application) -> Filter {
        let Self { group, domain } = self;
        let group = match group {
            None => GroupFilter::Any,
            Some(None) => GroupFilter::Ungrouped,
            Some(Some(IdReference::Id(id))) => GroupFilter::In(*id),
            Some(Some(IdReference::Malformed)) => return Filter::Nothing,
        };
        let site = match domain {
            None => None,
            Some(HostReference::Hostname(hostname)) if app.system.answers_to(hostname) => Some(Site::System),
            Some(HostReference::Hostname(hostname)) => Some(Site::Custom(hostname.clone())),
            Some(HostReference::Malformed) => return Filter::Nothing,
        };
        if group == GroupFilter::Any && site.is_none() { Filter::All } else { Filter::By(group, site) }
    }
}

/// What a choice means for the store.
enum Filter {
    All,
    Nothing,
    By(GroupFilter, Option<Site>),
}

/// The ids of the links; `None` if they are more than `most`.
async fn link_ids(
    app: &Application,
    caller: &Caller,
    group: GroupFilter,
    site: Option<&Site>,
    most: usize,
) -> Result<Option<LinkScope>, AppError> {
    let ids = app.store.link_ids(caller.account_id(), group, site, most.saturating_add(1)).await?;
    Ok((ids.len() <= most).then(|| LinkScope::Some(ids.into_iter().collect())))
}

fn too_many_links(group: GroupFilter, most: usize) -> AppError {
    let field = if group == GroupFilter::Any { "domain" } else { "group_id" };
    let message = format!("must have at most {most} links; ask about the whole account");
    let violation = FieldError::new(ViolationCode::OutOfRange, message).at(field);
    AppError::Invalid(Violations::from(violation))
}

/// The id of the caller's link with this id, if its visits are recorded.
///
/// # Errors
/// The kind's `…NotFound` (D2), [`Refusal::AnalyticsNotConfigured`] (D50).
pub(super) async fn recorded_link<K: LinkIdKind>(
    app: &Application,
    caller: &Caller,
    id: IdReference<K>,
) -> Result<LinkId, AppError> {
    let link = links::any(app, caller, id).await?;
    if link.analytics_enabled { Ok(link.id()) } else { Err(Refusal::AnalyticsNotConfigured.into()) }
}

/// Refuses a period that is longer than the caller's plan allows (D49).
pub(super) fn check_range(caller: &Caller, period: Period, zone: &TimeZone) -> Result<(), AppError> {
    let days = caller.plan().limits.analytics_days;
    if period.has_at_most_days(days, zone) {
        Ok(())
    } else {
        Err(Refusal::AnalyticsRangeTooLong { days }.into())
    }
}
