//! The links that a question is about.

use signpost_domain::analytics::{LinkScope, Period, TimeZone};
use signpost_domain::id::GroupKind;
use signpost_domain::{
    FieldError, GroupFilter, HostReference, IdReference, LinkId, LinkIdKind, Refusal, Site, ViolationCode,
    Violations,
};

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

impl LinkChoice {
    /// The links that are in the group and on the domain now. As in lists, a group or domain that the caller does not have
    /// selects no links.
    pub(super) async fn scope(&self, app: &Application, caller: &Caller) -> Result<LinkScope, AppError> {
        let nothing = LinkScope::Some(std::collections::BTreeSet::new());
        let Self { group, domain } = self;
        let group = match group {
            None => GroupFilter::Any,
            Some(None) => GroupFilter::Ungrouped,
            Some(Some(IdReference::Id(id))) => GroupFilter::In(*id),
            Some(Some(IdReference::Malformed)) => return Ok(nothing),
        };
        let site = match domain {
            None => None,
            Some(HostReference::Hostname(hostname)) if app.system.answers_to(hostname) => Some(Site::System),
            Some(HostReference::Hostname(hostname)) => Some(Site::Custom(hostname.clone())),
            Some(HostReference::Malformed) => return Ok(nothing),
        };
        if group == GroupFilter::Any && site.is_none() {
            return Ok(LinkScope::All);
        }
        let most = app.analytics.max_links;
        let one_more = most.saturating_add(1);
        let ids = app.store.link_ids(caller.account_id(), group, site.as_ref(), one_more).await?;
        if ids.len() > most {
            let field = if group == GroupFilter::Any { "domain" } else { "group_id" };
            let message = format!("must have at most {most} links; ask about the whole account");
            let violation = FieldError::new(ViolationCode::OutOfRange, message).at(field);
            return Err(AppError::Invalid(Violations::from(violation)));
        }
        Ok(LinkScope::Some(ids.into_iter().collect()))
    }
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
