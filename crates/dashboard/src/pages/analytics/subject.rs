//! What statistics are about.

use signpost_app::AppError;
use signpost_app::analytics::LinkChoice;
use signpost_app::{groups, links};
use signpost_domain::analytics::ReportSubject;
use signpost_domain::{Group, HostReference, IdReference, Link, LinkId, LinkKind, Refusal};

use super::state::State;
use crate::failure::Failure;
use crate::frame::TEXTS;
use crate::views::StateLink;
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

/// What the links of an account have in common that statistics are about, as pages and files name it.
pub(super) struct Scope {
    /// The group, or that the links have none.
    pub(super) group: Option<ScopedGroup>,
    /// The domain.
    pub(super) domain: Option<String>,
}

/// The group of a [`Scope`].
pub(super) enum ScopedGroup {
    /// Links without a group.
    None,
    /// A group of the account.
    Named(Box<Group>),
    /// An id that the account does not have.
    Unknown(String),
}

impl ScopedGroup {
    /// The label of the group.
    pub(super) fn label(&self) -> &str {
        match self {
            Self::None => TEXTS.without_group,
            Self::Named(group) => group.name.as_str(),
            Self::Unknown(id) => id,
        }
    }
}

impl Scope {
    /// What a state limits the links to.
    pub(super) async fn of(visit: &Visit, member: &Member, state: &State) -> Result<Self, Failure> {
        let group = match state.group.as_str() {
            "" => None,
            "none" => Some(ScopedGroup::None),
            id => Some(match groups::get(visit.app(), &member.caller, IdReference::parse(id)).await {
                Ok(group) => ScopedGroup::Named(Box::new(group)),
                Err(AppError::Refused(Refusal::GroupNotFound)) => ScopedGroup::Unknown(id.to_owned()),
                Err(error) => return Err(error.into()),
            }),
        };
        Ok(Self { group, domain: Some(state.domain.clone()).filter(|domain| !domain.is_empty()) })
    }

    /// The title of a page about these links.
    pub(super) fn title(&self) -> String {
        let words = TEXTS.analytics;
        let of_group = match &self.group {
            None => None,
            Some(ScopedGroup::None) => Some(words.title_ungrouped.to_owned()),
            Some(ScopedGroup::Named(group)) => Some((words.title_of_group)(group.name.as_str())),
            Some(ScopedGroup::Unknown(id)) => Some((words.title_of_group)(id)),
        };
        match (of_group, &self.domain) {
            (None, None) => words.title.to_owned(),
            (Some(title), None) => title,
            (None, Some(domain)) => (words.title_of)(domain),
            (Some(title), Some(domain)) => (words.title_on)(&title, domain),
        }
    }

    /// The filters of these links, with the states without them.
    pub(super) fn filters(&self, state: &State) -> Vec<StateLink> {
        let words = TEXTS.analytics;
        let filter = |name, value: &str, without: State| StateLink {
            label: (words.is)(name, value),
            href: without.address(),
            is_current: true,
        };
        let group = self.group.as_ref();
        let group = group.map(|group| filter(TEXTS.group, group.label(), state.without_group()));
        let domain = self.domain.as_ref();
        let domain = domain.map(|domain| filter(words.domain, domain, state.without_domain()));
        group.into_iter().chain(domain).collect()
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
