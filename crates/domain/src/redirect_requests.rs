//! What creations and updates of redirects ask for (D28, contract "PATCH /v1/redirects/{id}").

use crate::change::Change;
use crate::geo_blocklist::GeoBlocklist;
use crate::id::{GroupKind, PixelKind, RedirectId, RedirectKind};
use crate::link_context::LinkContext;
use crate::link_draft::LinkDraft;
use crate::placement::{Placement, SlugChoice, site_for_new_link};
use crate::redirect::{Redirect, violations_of_new_target, violations_of_pixels};
use crate::reference::{HostReference, IdReference};
use crate::refusal::Rejection;
use crate::slug::Slug;
use crate::target_url::TargetUrl;
use crate::text::{Name, Note};
use crate::violation::Violations;

/// What a creation asks for. Fields are valid by themselves; [`Redirect::create`](crate::Redirect::create) judges them together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectDraft {
    /// `name`
    pub name: Name,
    /// `target_url`
    pub target_url: TargetUrl,
    /// `slug`
    pub slug: SlugChoice,
    /// `domain`; `None`, also for null, is the system domain.
    pub domain: Option<HostReference>,
    /// `note`
    pub note: Option<Note>,
    /// `group_id`
    pub group: Option<IdReference<GroupKind>>,
    /// `is_active`
    pub is_active: bool,
    /// `antibot_enabled`
    pub antibot_enabled: bool,
    /// `geo_blocklists`
    pub geo_blocklist: GeoBlocklist,
    /// `pixel_ids`
    pub pixels: Vec<IdReference<PixelKind>>,
    /// `analytics_enabled`
    pub analytics_enabled: bool,
}

impl RedirectDraft {
    /// A draft with the defaults of every field that a creation may leave out.
    #[must_use]
    pub fn new(name: Name, target_url: TargetUrl) -> Self {
        Self {
            name,
            target_url,
            slug: SlugChoice::default(),
            domain: None,
            note: None,
            group: None,
            is_active: true,
            antibot_enabled: false,
            geo_blocklist: GeoBlocklist::default(),
            pixels: vec![],
            analytics_enabled: true,
        }
    }
}

impl LinkDraft for RedirectDraft {
    type Kind = RedirectKind;
    type Link = Redirect;

    fn slug(&self) -> &SlugChoice {
        &self.slug
    }

    fn domain(&self) -> Option<&HostReference> {
        self.domain.as_ref()
    }

    fn violations_without_placement(&self, context: &LinkContext<'_>) -> Violations {
        let mut violations = violations_of_new_target(&self.target_url, None, context);
        violations.append(violations_of_pixels(&self.pixels, context));
        violations
    }

    fn create(
        self,
        id: RedirectId,
        placement: Placement,
        context: &LinkContext<'_>,
    ) -> Result<Redirect, Rejection> {
        Redirect::create(id, self, placement, context)
    }
}

/// A creation with violations in it: what could be read, and what is wrong so far. It can only be refused; it is
/// kept so that the answer lists every violation at once (D8), also those that show only when fields are looked
/// at together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IncompleteRedirect {
    /// `target_url`, if it is valid by itself.
    pub target_url: Option<TargetUrl>,
    /// `slug`, if it is valid by itself.
    pub slug: Option<SlugChoice>,
    /// `domain`, if it is valid by itself.
    pub domain: Option<HostReference>,
    /// `pixel_ids`, with a malformed one in place of what could not be read.
    pub pixels: Vec<IdReference<PixelKind>>,
    /// What is wrong with single fields.
    pub violations: Violations,
}

impl IncompleteRedirect {
    /// A creation of which nothing could be read.
    #[must_use]
    pub fn unreadable(violations: Violations) -> Box<Self> {
        Box::new(Self { target_url: None, slug: None, domain: None, pixels: vec![], violations })
    }

    /// Everything that is wrong with the request.
    #[must_use]
    pub fn all_violations(self, context: &LinkContext<'_>) -> Violations {
        let Self { target_url, slug, domain, pixels, mut violations } = self;
        let placement =
            site_for_new_link(domain, context.system, context.named_domains).ok().and_then(|site| {
                let slug = match slug? {
                    SlugChoice::Generate => return None,
                    SlugChoice::Root => None,
                    SlugChoice::Exactly(slug) => Some(slug),
                };
                Placement::new(site, slug).ok()
            });
        if let Some(target_url) = target_url {
            violations.append(violations_of_new_target(&target_url, placement.as_ref(), context));
        }
        violations.append_about_others(violations_of_pixels(&pixels, context));
        violations
    }
}

/// What a PATCH asks for; only the fields present are changed. The default changes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedirectPatch {
    /// `name`
    pub name: Option<Name>,
    /// `target_url`
    pub target_url: Option<TargetUrl>,
    /// `slug`; null is the root of the custom domain.
    pub slug: Change<Slug>,
    /// `note`
    pub note: Change<Note>,
    /// `domain`; null is the system domain.
    pub domain: Change<HostReference>,
    /// `group_id`; null ungroups the link.
    pub group: Change<IdReference<GroupKind>>,
    /// `is_active`
    pub is_active: Option<bool>,
    /// `antibot_enabled`
    pub antibot_enabled: Option<bool>,
    /// `geo_blocklists`; null lifts all blocks.
    pub geo_blocklist: Change<GeoBlocklist>,
    /// `pixel_ids`; null removes all.
    pub pixels: Change<Vec<IdReference<PixelKind>>>,
}
