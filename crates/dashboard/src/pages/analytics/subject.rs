//! What statistics are about.

use signpost_app::analytics::LinkChoice;
use signpost_app::links;
use signpost_domain::analytics::ReportSubject;
use signpost_domain::{HostReference, IdReference, Link, LinkId, LinkKind};

use super::state::State;
use crate::failure::Failure;
use crate::visit::{Member, Visit};

/// What statistics are about.
pub(super) enum Subject {
    Link(Box<Link>),
    Account,
}

impl Subject {
    /// The link in the path.
    pub(super) async fn link(visit: &Visit, member: &Member) -> Result<Self, Failure> {
        let id: LinkId = visit.part("id").parse().map_err(|_| Failure::NOT_FOUND)?;
        Ok(Self::Link(Box::new(links::one(visit.app(), &member.caller, id).await?)))
    }

    pub(super) fn of_report(&self) -> ReportSubject {
        match self {
            Self::Link(link) => ReportSubject::Link(link.id().kind()),
            Self::Account => ReportSubject::Account,
        }
    }

    /// The path of the page.
    pub(super) fn path(&self, member: &Member) -> String {
        let account = member.caller.account_id();
        match self {
            Self::Link(link) => format!("/{account}/links/{}/analytics", link.id()),
            Self::Account => format!("/{account}/analytics"),
        }
    }

    /// The path of the API.
    pub(super) fn api_path(&self) -> String {
        match self {
            Self::Link(link) => match link.id().kind() {
                LinkKind::Redirect => format!("/v1/redirects/{}/analytics", link.id()),
                LinkKind::Landing => format!("/v1/landings/{}/analytics", link.id()),
            },
            Self::Account => "/v1/analytics".to_owned(),
        }
    }
}

/// The links of the account that a state is about.
pub(super) fn links_of(state: &State) -> LinkChoice {
    LinkChoice {
        group: match state.group.as_str() {
            "" => None,
            "none" => Some(None),
            id => Some(Some(IdReference::parse(id))),
        },
        domain: Some(state.domain.as_str()).filter(|domain| !domain.is_empty()).map(HostReference::parse),
    }
}
