//! What a record of a link means.

use signpost_domain::{
    Address, Change, FieldError, GeoBlocklist, HostReference, Id, IncompleteRedirect, LandingDraft, Link,
    LinkContext, LinkDraft, LinkId, LinkKind, Name, Note, Placement, RedirectDraft, Rejection, Site, Slug,
    SlugChoice, TargetUrl, ViolationCode, Violations,
};

use super::field::Field;
use super::field_reader::{FieldReader, Instants};
use super::group_choice::GroupChoice;

/// A link as a record describes it. What the record leaves out is `None` or `Keep`: it gets its default if the link is
/// created, and is not compared if the link is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LinkEntry {
    pub(super) id: Option<LinkId>,
    pub(super) place: Place,
    content: Content,
    note: Change<Note>,
    pub(super) group: GroupChoice,
    is_active: Option<bool>,
    analytics_enabled: Option<bool>,
    instants: Instants,
}

/// Where the link is to live.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// On the system domain or a custom one.
    At { domain: Option<HostReference>, slug: SlugChoice },
    /// Nowhere: its domain was removed (D22).
    Lost { slug: Option<Slug> },
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Content {
    Redirect {
        name: Option<Name>,
        target_url: TargetUrl,
        antibot_enabled: Option<bool>,
        geo_blocklist: Option<GeoBlocklist>,
    },
    Landing {
        title: Name,
    },
}

impl LinkEntry {
    /// Reads a record.
    ///
    /// # Errors
    /// All that is wrong with it, also what would be wrong with the fields that could be read.
    pub(super) fn read(
        mut fields: FieldReader,
        kind: LinkKind,
        rules: &LinkContext<'_>,
    ) -> Result<Self, Violations> {
        let id = fields.optional(Field::Id, |text| id_of_kind(text, kind));
        let domain = fields.optional(Field::Domain, |text| Ok(HostReference::parse(text)));
        let slug = fields.nullable(Field::Slug, Slug::parse);
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
        let place = slug.clone().map(|slug| place(is_lost, domain.clone(), slug));
        let content = match kind {
            LinkKind::Redirect => redirect(&mut fields),
            LinkKind::Landing => {
                fields.required(Field::Title, Name::parse).map(|title| Content::Landing { title })
            }
        };
        let note = fields.nullable(Field::Note, Note::parse);
        let group = GroupChoice::read(&mut fields);
        let is_active = fields.flag(Field::IsActive);
        let analytics_enabled = fields.flag(Field::AnalyticsEnabled);
        let instants = fields.instants(rules.now);
        let violations = fields.finish();
        if violations.is_empty()
            && let (Some(place), Some(content), Some(note), Some(group)) =
                (place, content.clone(), note, group)
        {
            return Ok(Self { id, place, content, note, group, is_active, analytics_enabled, instants });
        }
        let target_url = match content {
            Some(Content::Redirect { target_url, .. }) => Some(target_url),
            Some(Content::Landing { .. }) | None => None,
        };
        let slug = slug.map(choice).filter(|_| !is_lost);
        Err(IncompleteRedirect { target_url, slug, domain, pixels: vec![], violations }.all_violations(rules))
    }

    /// Whether a slug is to be found for it.
    pub(super) fn wants_a_slug(&self) -> bool {
        matches!(&self.place, Place::At { slug: SlugChoice::Generate, .. })
    }

    /// The slug that it names.
    pub(super) const fn named_slug(&self) -> Option<&Slug> {
        match &self.place {
            Place::At { slug: SlugChoice::Exactly(slug), .. } => Some(slug),
            Place::At { slug: SlugChoice::Root | SlugChoice::Generate, .. } => None,
            Place::Lost { slug } => slug.as_ref(),
        }
    }

    /// The address that it has with this slug; `None` if it has none, or none that a link can have.
    pub(super) fn address(&self, slug: Option<Slug>, context: &LinkContext<'_>) -> Option<Address> {
        let Place::At { domain, slug: _ } = &self.place else { return None };
        Placement::new(site(domain.as_ref(), context)?, slug).ok()?.address()
    }

    /// Builds the link, as the API's creation would (D28), with an id and a slug.
    ///
    /// # Errors
    /// As [`LinkDraft::create_with_slug`].
    pub(super) fn create(
        &self,
        id: [u8; 16],
        slug: Option<Slug>,
        context: &LinkContext<'_>,
    ) -> Result<Link, Rejection> {
        let Self { id: _, place, content, note, group, is_active, analytics_enabled, instants } = self;
        let note = note.clone().applied_to(None);
        let group = group.reference();
        let (domain, is_lost) = match place {
            Place::At { domain, slug: _ } => (domain.clone(), false),
            Place::Lost { slug: _ } => (None, true),
        };
        let mut link = match content {
            Content::Redirect { name, target_url, antibot_enabled, geo_blocklist } => {
                let name = name.clone().unwrap_or_else(|| Name::of_target(target_url));
                let defaults = RedirectDraft::new(name, target_url.clone());
                let draft = RedirectDraft {
                    domain,
                    note,
                    group,
                    is_active: is_active.unwrap_or(defaults.is_active),
                    antibot_enabled: antibot_enabled.unwrap_or(defaults.antibot_enabled),
                    geo_blocklist: geo_blocklist.clone().unwrap_or_default(),
                    analytics_enabled: analytics_enabled.unwrap_or(defaults.analytics_enabled),
                    ..defaults
                };
                built(&draft, id, slug, is_lost, context)?
            }
            Content::Landing { title } => {
                let defaults = LandingDraft::new(title.clone());
                let draft = LandingDraft {
                    domain,
                    note,
                    group,
                    is_active: is_active.unwrap_or(defaults.is_active),
                    analytics_enabled: analytics_enabled.unwrap_or(defaults.analytics_enabled),
                    ..defaults
                };
                built(&draft, id, slug, is_lost, context)?
            }
        };
        let (created_at, updated_at) = match &mut link {
            Link::Redirect(redirect) => (&mut redirect.created_at, &mut redirect.updated_at),
            Link::Landing(landing) => (&mut landing.created_at, &mut landing.updated_at),
        };
        (*created_at, *updated_at) = instants.or_now(context.now);
        Ok(link)
    }

    /// The bits of the id that the link gets if the record names none: fresh ones, but for the time in them, which is that
    /// of its creation, because links are listed by their ids (D1).
    pub(super) fn dated(&self, fresh: [u8; 16]) -> [u8; 16] {
        let Some(created_at) = self.instants.created_at else { return fresh };
        let [_, _, time @ ..] = created_at.unix_millis().to_be_bytes();
        let mut bits = fresh;
        for (bit, part) in bits.iter_mut().zip(time) {
            *bit = part;
        }
        bits
    }

    /// The fields in which a link differs from what the record says of it. When it was created and changed is not
    /// compared: nobody sets that.
    pub(super) fn differences(&self, link: &Link, context: &LinkContext<'_>) -> Vec<Field> {
        let Self { id: _, place, content, note, group, is_active, analytics_enabled, instants: _ } = self;
        let mut differing = vec![];
        let mut compare = |field, is_same: bool| {
            if !is_same {
                differing.push(field);
            }
        };
        let has_note = |kept: &Option<Note>| &note.clone().applied_to(kept.clone()) == kept;
        place.compare(link.placement(), context, &mut compare);
        let (group_field, group_is_same) = group.compared(link.group_id());
        match (content, link) {
            (
                Content::Redirect { name, target_url, antibot_enabled, geo_blocklist },
                Link::Redirect(kept),
            ) => {
                compare(Field::Name, name.as_ref().is_none_or(|name| *name == kept.name));
                compare(Field::TargetUrl, *target_url == kept.target_url);
                compare(Field::Note, has_note(&kept.note));
                compare(group_field, group_is_same);
                compare(Field::IsActive, is_active.is_none_or(|flag| flag == kept.is_active));
                let antibot_is_same = antibot_enabled.is_none_or(|flag| flag == kept.antibot_enabled);
                compare(Field::AntibotEnabled, antibot_is_same);
                let countries_are_same =
                    geo_blocklist.as_ref().is_none_or(|countries| *countries == kept.geo_blocklist);
                compare(Field::GeoBlocklists, countries_are_same);
                let analytics_are_same = analytics_enabled.is_none_or(|flag| flag == kept.analytics_enabled);
                compare(Field::AnalyticsEnabled, analytics_are_same);
            }
            (Content::Landing { title }, Link::Landing(kept)) => {
                compare(Field::Title, *title == kept.title);
                compare(Field::Note, has_note(&kept.note));
                compare(group_field, group_is_same);
                compare(Field::IsActive, is_active.is_none_or(|flag| flag == kept.is_active));
                let analytics_are_same = analytics_enabled.is_none_or(|flag| flag == kept.analytics_enabled);
                compare(Field::AnalyticsEnabled, analytics_are_same);
            }
            (Content::Redirect { .. }, Link::Landing(_)) | (Content::Landing { .. }, Link::Redirect(_)) => {
                compare(Field::Object, false);
            }
        }
        differing
    }
}

impl Place {
    fn compare(&self, kept: &Placement, context: &LinkContext<'_>, compare: &mut impl FnMut(Field, bool)) {
        match self {
            Self::Lost { slug } => match kept {
                Placement::Lost { slug: kept } => compare(Field::Slug, slug == kept),
                Placement::System { .. } | Placement::Custom { .. } => compare(Field::IsLost, false),
            },
            // It says nothing of its place.
            Self::At { domain: None, slug: SlugChoice::Generate } => {}
            Self::At { domain, slug } => {
                let Some(Address { site: kept_site, slug: kept_slug }) = kept.address() else {
                    return compare(Field::IsLost, false);
                };
                compare(Field::Domain, site(domain.as_ref(), context) == Some(kept_site));
                match slug {
                    SlugChoice::Generate => {}
                    SlugChoice::Root => compare(Field::Slug, kept_slug.is_none()),
                    SlugChoice::Exactly(slug) => compare(Field::Slug, kept_slug.as_ref() == Some(slug)),
                }
            }
        }
    }
}

/// The site that a record names, whether or not a link can be created there now.
fn site(domain: Option<&HostReference>, context: &LinkContext<'_>) -> Option<Site> {
    match domain {
        None => Some(Site::System),
        Some(HostReference::Hostname(hostname)) if context.system.answers_to(hostname) => Some(Site::System),
        Some(HostReference::Hostname(hostname)) => Some(Site::Custom(hostname.clone())),
        Some(HostReference::Malformed) => None,
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

fn choice(slug: Change<Slug>) -> SlugChoice {
    match slug {
        Change::Keep => SlugChoice::Generate,
        Change::Clear => SlugChoice::Root,
        Change::Set(slug) => SlugChoice::Exactly(slug),
    }
}

fn place(is_lost: bool, domain: Option<HostReference>, slug: Change<Slug>) -> Place {
    if is_lost {
        Place::Lost { slug: slug.applied_to(None) }
    } else {
        Place::At { domain, slug: choice(slug) }
    }
}

fn redirect(fields: &mut FieldReader) -> Option<Content> {
    let name = fields.optional(Field::Name, Name::parse);
    let target_url = fields.required(Field::TargetUrl, TargetUrl::parse);
    let antibot_enabled = fields.flag(Field::AntibotEnabled);
    let geo_blocklist = fields.countries(Field::GeoBlocklists);
    Some(Content::Redirect { name, target_url: target_url?, antibot_enabled, geo_blocklist })
}

fn built<D: LinkDraft>(
    draft: &D,
    id: [u8; 16],
    slug: Option<Slug>,
    is_lost: bool,
    context: &LinkContext<'_>,
) -> Result<Link, Rejection> {
    let id = Id::from_bytes(id);
    let link = if is_lost {
        draft.clone().create(id, Placement::Lost { slug }, context)?
    } else {
        draft.create_with_slug(id, slug, context)?
    };
    Ok(link.into())
}
