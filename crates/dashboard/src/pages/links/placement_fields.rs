//! The fields that the forms of both kinds of links share, and the choices that they offer.

use signpost_app::domains;
use signpost_app::groups;
use signpost_domain::{
    Change, FieldError, Group, GroupId, HostReference, IdReference, LinkRequest, LinkState, Note, PageLimit,
    PlanResource, Slug, TagName, Tags, ViolationCode, Violations,
};

use crate::failure::Failure;
use crate::form_body::{FormBody, with_line_feeds};
use crate::frame::TEXTS;
use crate::views::{Choice, Select};
use crate::visit::{Member, Visit};

/// What the forms of links offer to choose from.
pub(crate) struct Choices {
    /// The system domain, and the account's own domains that serve links.
    pub(crate) hostnames: Vec<String>,
    /// The newest groups of the account.
    pub(crate) groups: Vec<Group>,
}

impl Choices {
    /// Reads them: the newest hundred of each.
    pub(crate) async fn read(visit: &Visit, member: &Member) -> Result<Self, Failure> {
        let app = visit.app();
        let limit = PageLimit::new(100).unwrap_or_default();
        let groups = groups::list(app, &member.caller, limit, None).await?.items;
        // The session's own statement has counted them.
        let has_domains = member.caller.usage().of(PlanResource::Domains) > 0;
        let domains =
            if has_domains { domains::list(app, &member.caller, limit, None).await?.items } else { vec![] };
        let own = domains.into_iter().filter(|scheduled| scheduled.domain.status.serves_links());
        let own = own.map(|scheduled| scheduled.domain.hostname.to_string());
        Ok(Self {
            hostnames: std::iter::once(app.system.hostname().to_string()).chain(own).collect(),
            groups,
        })
    }

    /// The hostnames. One that is not among them, and none of a link without an address, stay a choice, so that saving a form
    /// does not move the link.
    pub(super) fn domain(&self, chosen: &str) -> Select {
        let is_known = self.hostnames.iter().any(|hostname| hostname == chosen);
        let other = (!is_known && !chosen.is_empty()).then_some(chosen);
        let hostnames = self.hostnames.iter().map(String::as_str).chain(other);
        let hostnames = hostnames.map(|hostname| Choice::new(hostname, hostname, hostname == chosen));
        let lost = chosen.is_empty().then(|| Choice::new("", (TEXTS.life.state_name)(LinkState::Lost), true));
        Select { options: lost.into_iter().chain(hostnames).collect(), error: None }
    }

    /// The groups, and none.
    pub(super) fn group(&self, chosen: &str) -> Select {
        let is_known = self.groups.iter().any(|group| group.id.to_string() == chosen);
        let other = (!is_known && !chosen.is_empty()).then(|| Choice::new(chosen, chosen, true));
        let choice = |group: &Group| {
            let id = group.id.to_string();
            let is_chosen = id == chosen;
            Choice::new(id, group.name.as_str(), is_chosen)
        };
        let none = Choice::new("", TEXTS.without_group, chosen.is_empty());
        let options = std::iter::once(none).chain(self.groups.iter().map(choice)).chain(other).collect();
        Select { options, error: None }
    }

    /// The name of a group.
    pub(super) fn group_name(&self, id: GroupId) -> Option<&str> {
        self.groups.iter().find(|group| group.id == id).map(|group| group.name.as_str())
    }
}

/// Whether a form creates a link or changes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// An empty slug is generated, except on an own domain, where it means the root.
    Create,
    /// Every shown field is sent, and is the new value.
    Update,
}

impl Purpose {
    /// A form changes what was there before, or else creates.
    pub(super) const fn after<T>(before: Option<&T>) -> Self {
        match before {
            Some(_) => Self::Update,
            None => Self::Create,
        }
    }
}

/// Reads the shared fields. The name is up to the kind.
pub(super) fn read<R: Default>(
    visit: &Visit,
    form: &FormBody,
    purpose: Purpose,
    note_before: Option<&Note>,
    violations: &mut Violations,
) -> LinkRequest<R> {
    let system = &visit.app().system;
    let host = HostReference::parse(form.text("domain"));
    let is_system = match &host {
        HostReference::Hostname(hostname) => system.answers_to(hostname),
        HostReference::Malformed => form.non_empty("domain").is_none(),
    };
    let stays_lost = purpose == Purpose::Update && form.non_empty("domain").is_none();
    let domain = match () {
        () if stays_lost => Change::Keep,
        () if is_system => Change::Clear,
        () => Change::Set(host),
    };
    let slug = match form.non_empty("slug").map(str::trim) {
        Some(slug) => match Slug::parse(slug) {
            Ok(slug) => Change::Set(slug),
            Err(error) => {
                violations.push(error.at("slug").of_value(slug));
                Change::Keep
            }
        },
        None if stays_lost || is_system && purpose == Purpose::Create => Change::Keep,
        None => Change::Clear,
    };
    let note = text_change(form, "note", note_before.map(Note::as_str), Note::parse, violations);
    let group = match form.non_empty("group_id") {
        Some(group) => Change::Set(IdReference::parse(group)),
        None => Change::Clear,
    };
    LinkRequest {
        slug,
        domain,
        note,
        group,
        tags: tags(form, violations),
        is_active: Some(form.is_checked("is_active")),
        analytics_enabled: (purpose == Purpose::Create).then(|| form.is_checked("analytics_enabled")),
        ..LinkRequest::default()
    }
}

/// The field with the tags as the form was shown with them.
pub(super) const TAGS_SHOWN: &str = "tags_shown";

/// The tags that a form names. `None` leaves them alone: without the field, or with the text that the form was shown with.
fn tags(form: &FormBody, violations: &mut Violations) -> Option<Tags> {
    let text = form.given(Tags::FIELD)?;
    // A tag that was renamed meanwhile would come back under its old name, because a rename moves no revision (D122).
    if form.given(TAGS_SHOWN) == Some(text) {
        return None;
    }
    let names = tag_names(text).and_then(Tags::new);
    names.map_err(|error| violations.push(error.at(Tags::FIELD))).ok()
}

/// The names in a text that separates them by commas. Commas without a name between them are ignored.
pub(super) fn tag_names(text: &str) -> Result<Vec<TagName>, FieldError> {
    let typed = text.split(TagName::SEPARATOR).map(str::trim).filter(|name| !name.is_empty());
    typed.map(TagName::parse).collect()
}

/// The names of tags as a text field has them.
pub(super) fn joined(tags: &Tags) -> String {
    tags.iter().map(TagName::as_str).collect::<Vec<_>>().join(", ")
}

/// What a text field asks for. The line ends of browsers alone are no change.
pub(super) fn text_change<T>(
    form: &FormBody,
    name: &str,
    before: Option<&str>,
    parse: impl FnOnce(&str) -> Result<T, FieldError>,
    violations: &mut Violations,
) -> Change<T> {
    let typed = form.text(name);
    if before.is_some_and(|before| with_line_feeds(before) == typed) {
        return Change::Keep;
    }
    if typed.is_empty() {
        return Change::Clear;
    }
    match parse(typed) {
        Ok(text) => Change::Set(text),
        Err(error) => {
            violations.push(error.at(name));
            Change::Keep
        }
    }
}

/// The error about a field that must not be empty.
pub(super) fn missing() -> FieldError {
    FieldError::new(ViolationCode::Required, "must not be empty")
}
