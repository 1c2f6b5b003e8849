//! A parsed record of a link.

use signpost_domain::{
    Address, AnyContent, Change, ContentRules, ExternalId, FieldError, HostReference, Id, LandingRequest,
    Link, LinkContext, LinkId, LinkKind, LinkPassword, LinkRequest, Name, Note, PageContent, Placement,
    RedirectContent, RedirectContentRequest, Rejection, Site, Slug, Submitted, TargetUrl, ViolationCode,
    Violations,
};

use super::field_reader::{Instants, RowFieldReader};
use super::fields::{self, Field, PartChanges};
use super::group_choice::GroupChoice;

/// A link as a record describes it. A field that the record leaves out gets its default if the link is created, and is not
/// compared if the link exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkEntry {
    pub(super) id: Option<LinkId>,
    /// Whether the link has no address, because its domain was removed (D22).
    is_lost: bool,
    /// Whether the record says that the link has a password, or that it has none. Exports say it, and have no passwords.
    has_password: Option<bool>,
    /// Without the group, which a record can name in two ways.
    request: LinkRequest<EntryContent>,
    pub(super) group: GroupChoice,
    instants: Instants,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum EntryContent {
    Redirect(Box<RedirectContentRequest>, PartChanges),
    Landing,
}

impl LinkEntry {
    /// Reads a record.
    ///
    /// # Errors
    /// All violations, including those that concern several valid fields together.
    pub(super) fn read(
        mut fields: RowFieldReader,
        kind: LinkKind,
        rules: &LinkContext<'_>,
    ) -> Result<Self, Violations> {
        let id = fields.optional(Field::Id, |text| id_of_kind(text, kind));
        let domain = fields.optional(Field::Domain, |text| Ok(HostReference::parse(text)));
        let slug = fields.nullable(Field::Slug, Slug::parse).unwrap_or_default();
        let is_lost = fields.flag(Field::IsLost).unwrap_or_default();
        if is_lost && domain.is_some() {
            fields.refuse::<()>(
                Field::Domain,
                ViolationCode::InvalidValue,
                "must be absent from a lost link",
            );
        }
        if is_lost && id.is_none() {
            let message = "is required of a lost link: without an address, only its id tells it apart";
            fields.refuse::<()>(Field::Id, ViolationCode::Required, message);
        }
        let (name, content) = match kind {
            LinkKind::Redirect => {
                let name = fields.optional(Field::Name, Name::parse);
                let (content, parts) = fields::read_redirect(&mut fields, id.is_some());
                (name, EntryContent::Redirect(Box::new(content), parts))
            }
            LinkKind::Landing => (fields.required(Field::Title, Name::parse), EntryContent::Landing),
        };
        let note = fields.nullable(Field::Note, Note::parse).unwrap_or_default();
        let external_id = fields.nullable(Field::ExternalId, ExternalId::parse).unwrap_or_default();
        let group = GroupChoice::read(&mut fields);
        let has_password = fields.flag(Field::HasPassword);
        let password = fields.nullable(Field::Password, LinkPassword::choose).unwrap_or_default();
        if has_password == Some(false) && matches!(password, Change::Set(_)) {
            let message = "must not be false beside a `password`";
            fields.refuse::<()>(Field::HasPassword, ViolationCode::InvalidValue, message);
        }
        let tags = fields.tags(Field::Tags);
        let request = LinkRequest {
            name,
            slug,
            domain: domain.map_or(Change::Keep, Change::Set),
            note,
            external_id,
            group: Change::Keep,
            tags,
            is_active: fields.flag(Field::IsActive),
            life: fields::read_life(&mut fields),
            password,
            analytics_enabled: fields.flag(Field::AnalyticsEnabled),
            content,
        };
        let instants = fields.instants(rules.now);
        let violations = fields.finish();
        match group {
            Some(group) if violations.is_empty() => {
                Ok(Self { id, is_lost, has_password, request, group, instants })
            }
            Some(_) | None => Err(all_violations(request, violations, rules)),
        }
    }

    /// Whether the import has to derive a slug.
    pub(super) const fn needs_slug(&self) -> bool {
        !self.is_lost && self.request.slug.is_keep()
    }

    /// The slug that it names.
    pub(super) const fn named_slug(&self) -> Option<&Slug> {
        match &self.request.slug {
            Change::Set(slug) => Some(slug),
            Change::Keep | Change::Clear => None,
        }
    }

    /// The password that a new link gets.
    pub(super) const fn password(&self) -> Option<&LinkPassword> {
        match &self.request.password {
            Change::Set(password) => Some(password),
            Change::Keep | Change::Clear => None,
        }
    }

    /// The address with this slug; `None` for a lost link, or if no link can have that address.
    pub(super) fn address(&self, slug: Option<Slug>, rules: &LinkContext<'_>) -> Option<Address> {
        if self.is_lost {
            return None;
        }
        Placement::new(site(&self.request.domain, rules)?, slug).ok()?.address()
    }

    /// Builds the link, as the API's creation would (D28). `slug` is used if the record has none.
    ///
    /// # Errors
    /// As [`Link::create`]. A record of a link with a password must have the password: without it, the link would be open to all.
    pub(super) fn create(
        &self,
        id: [u8; 16],
        slug: Option<Slug>,
        rules: &LinkContext<'_>,
    ) -> Result<Link, Rejection> {
        if self.has_password == Some(true) && self.password().is_none() {
            let message =
                "is required of a link with a password: exports have none. Add one, or remove `has_password`";
            let error = FieldError::new(ViolationCode::Required, message);
            return Err(Rejection::Invalid(error.at(LinkPassword::FIELD).into()));
        }
        let group = self.group.reference().map_or(Change::Keep, Change::Set);
        let request = LinkRequest { group, ..self.request.clone() };
        let lost = self.is_lost.then(|| Placement::Lost { slug: self.named_slug().cloned() });
        let mut link = match request.content.clone() {
            EntryContent::Redirect(content, _) => {
                let name =
                    request.name.clone().or_else(|| content.target_url.as_ref().map(TargetUrl::default_name));
                let request = LinkRequest { name, ..request }.with_content(*content);
                created::<RedirectContent>(id, request, slug, lost, rules)?
            }
            EntryContent::Landing => {
                let content = LandingRequest::default().content;
                created::<PageContent>(id, request.with_content(content), slug, lost, rules)?
            }
        };
        (link.created_at, link.updated_at) = self.instants.or_now(rules.now);
        Ok(link)
    }

    /// The bits of a new id for a record that has none. They are `fresh`, with the time of the record's creation, because
    /// lists are sorted by id (D1).
    pub(super) fn dated(&self, fresh: [u8; 16]) -> [u8; 16] {
        let Some(created_at) = self.instants.created_at else { return fresh };
        let [_, _, time @ ..] = created_at.unix_millis().to_be_bytes();
        let mut bits = fresh;
        for (bit, part) in bits.iter_mut().zip(time) {
            *bit = part;
        }
        bits
    }

    /// The fields in which a stored link differs, in the order of the columns. The dates are not compared, because callers
    /// cannot set them, and neither are passwords, because only the hash is stored: what is compared is whether there is one.
    pub(super) fn differences(&self, link: &Link, rules: &LinkContext<'_>) -> Vec<Field> {
        // The place and the group are compared by functions of their own.
        let LinkRequest {
            name,
            slug: _,
            domain: _,
            note,
            external_id,
            group: _,
            tags,
            is_active,
            life,
            password,
            analytics_enabled,
            content,
        } = &self.request;
        let mut differing = vec![];
        let mut compare = |field, is_same: bool| {
            if !is_same {
                differing.push(field);
            }
        };
        self.compare_place(&link.placement, rules, &mut compare);
        let name_field = match (content, &link.content) {
            (EntryContent::Redirect(content, parts), AnyContent::Redirect(stored)) => {
                fields::compare_redirect(content, parts, stored, &mut compare);
                Field::Name
            }
            (EntryContent::Landing, AnyContent::Landing) => Field::Title,
            (EntryContent::Redirect(..), AnyContent::Landing)
            | (EntryContent::Landing, AnyContent::Redirect(_)) => {
                compare(Field::Object, false);
                return differing;
            }
        };
        // A record without a name accepts any: a new redirect is named after its target, and an existing one keeps its name.
        compare(name_field, name.as_ref().is_none_or(|name| *name == link.name));
        compare(Field::Note, note.clone().applied_to(link.note.clone()) == link.note);
        let stored_external_id = link.external_id.clone();
        compare(
            Field::ExternalId,
            external_id.clone().applied_to(stored_external_id.clone()) == stored_external_id,
        );
        let (group_field, group_is_same) = self.group.compared(link.group_id);
        compare(group_field, group_is_same);
        compare(Field::Tags, tags.as_ref().is_none_or(|tags| tags.same_as(&link.tags)));
        compare(Field::IsActive, is_active.is_none_or(|flag| flag == link.is_active));
        fields::compare_life(life, &link.life, &mut compare);
        let has_password = self.has_password.or(match password {
            Change::Keep => None,
            Change::Set(_) => Some(true),
            Change::Clear => Some(false),
        });
        compare(Field::HasPassword, has_password.is_none_or(|flag| flag == link.has_password));
        compare(Field::AnalyticsEnabled, analytics_enabled.is_none_or(|flag| flag == link.analytics_enabled));
        differing.sort_unstable();
        differing
    }

    fn compare_place(
        &self,
        kept: &Placement,
        rules: &LinkContext<'_>,
        compare: &mut impl FnMut(Field, bool),
    ) {
        let LinkRequest { domain, slug, .. } = &self.request;
        if self.is_lost {
            return match kept {
                Placement::Lost { slug: kept } => compare(Field::Slug, self.named_slug() == kept.as_ref()),
                Placement::System { .. } | Placement::Custom { .. } => compare(Field::IsLost, false),
            };
        }
        // The record has neither a domain nor a slug.
        if domain.is_keep() && slug.is_keep() {
            return;
        }
        let Some(Address { site: kept_site, slug: kept_slug }) = kept.address() else {
            return compare(Field::IsLost, false);
        };
        compare(Field::Domain, site(domain, rules) == Some(kept_site));
        compare(Field::Slug, slug.clone().applied_to(kept_slug.clone()) == kept_slug);
    }
}

/// The violations of single fields, and those that depend on several fields: the rules about targets.
fn all_violations(
    request: LinkRequest<EntryContent>,
    violations: Violations,
    rules: &LinkContext<'_>,
) -> Violations {
    let EntryContent::Redirect(content, _) = request.content.clone() else { return violations };
    let Some(target_url) = &content.target_url else { return violations };
    let name = request.name.clone().or_else(|| Some(target_url.default_name()));
    let value = LinkRequest { name, ..request }.with_content(*content);
    let request = Submitted { value, violations };
    match Link::<RedirectContent>::create(Id::from_bytes([0; 16]), &request, None, rules) {
        Err(Rejection::Invalid(violations)) => violations,
        Ok(_) | Err(Rejection::Refused(_)) => request.violations,
    }
}

/// The site that a record names, even if no link can be created there now.
fn site(domain: &Change<HostReference>, rules: &LinkContext<'_>) -> Option<Site> {
    match domain {
        Change::Keep | Change::Clear => Some(Site::System),
        Change::Set(HostReference::Hostname(hostname)) if rules.system.answers_to(hostname) => {
            Some(Site::System)
        }
        Change::Set(HostReference::Hostname(hostname)) => Some(Site::Custom(hostname.clone())),
        Change::Set(HostReference::Malformed) => None,
    }
}

fn id_of_kind(text: &str, kind: LinkKind) -> Result<LinkId, FieldError> {
    let message = match kind {
        LinkKind::Redirect => "must be the id of a redirect (`rdr_…`)",
        LinkKind::Landing => "must be the id of a landing page (`lnd_…`)",
    };
    let id: Option<LinkId> = text.parse().ok();
    id.filter(|id| id.kind() == kind).ok_or_else(|| FieldError::new(ViolationCode::InvalidFormat, message))
}

fn created<C: ContentRules>(
    id: [u8; 16],
    request: LinkRequest<C::Request>,
    slug: Option<Slug>,
    lost: Option<Placement>,
    rules: &LinkContext<'_>,
) -> Result<Link, Rejection> {
    let (id, request) = (Id::from_bytes(id), Submitted::valid(request));
    let link = match lost {
        Some(placement) => Link::<C>::create_at(id, &request, Ok(placement), rules),
        None => Link::<C>::create(id, &request, slug, rules),
    };
    link.map(Link::into_any)
}
