//! A redirect: what it is, how one is built, and what a PATCH does to it (contract "Redirect", D22–D28, D33).

use crate::change::Change;
use crate::geo_blocklist::GeoBlocklist;
use crate::group::named_group;
use crate::id::{GroupId, PixelId, PixelKind, RedirectId};
use crate::link_context::LinkContext;
use crate::pixel::PixelIds;
use crate::placement::{Placement, PlacementChange};
use crate::plan::{Feature, FeatureSet};
use crate::redirect_requests::{RedirectDraft, RedirectPatch};
use crate::reference::IdReference;
use crate::refusal::{Refusal, Rejection};
use crate::target_url::TargetUrl;
use crate::text::{Name, Note};
use crate::timestamp::Timestamp;
use crate::violation::{FieldError, ViolationCode, Violations};

/// A link that sends its visitors on to another address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// Its id, which also tells when it was created relative to others (D1).
    pub id: RedirectId,
    /// Its name, for the account's eyes.
    pub name: Name,
    /// Where visitors are sent.
    pub target_url: TargetUrl,
    /// Where it lives.
    pub placement: Placement,
    /// Whether it resolves.
    pub is_active: bool,
    /// A private note, never shown to visitors.
    pub note: Option<Note>,
    /// Whether known bots are turned away.
    pub antibot_enabled: bool,
    /// Whether visits are counted; fixed for the link's life and never shown (D28).
    pub analytics_enabled: bool,
    /// The group it is in.
    pub group_id: Option<GroupId>,
    /// The countries whose visitors are turned away.
    pub geo_blocklist: GeoBlocklist,
    /// The pixels that fire on its visitors. Those that were deleted since are not to be shown.
    pub pixel_ids: PixelIds,
    /// When it was created.
    pub created_at: Timestamp,
    /// When one of its fields last changed (D33).
    pub updated_at: Timestamp,
}

impl Redirect {
    /// Builds the redirect that `draft` asks for at `placement` (which [`Placement::new`] has judged).
    ///
    /// # Errors
    /// [`Rejection::Invalid`] with every violation; else the first [`Refusal`] that applies.
    pub fn create(
        id: RedirectId,
        draft: RedirectDraft,
        placement: Placement,
        context: &LinkContext<'_>,
    ) -> Result<Self, Rejection> {
        let RedirectDraft {
            name,
            target_url,
            slug: _,
            domain: _,
            note,
            group,
            is_active,
            antibot_enabled,
            geo_blocklist,
            pixels,
            analytics_enabled,
        } = draft;
        let mut violations = violations_of_new_target(&target_url, Some(&placement), context);
        violations.append(violations_of_pixels(&pixels, context));
        let pixel_ids = pixel_ids(&pixels, &mut violations);
        violations.into_result(()).map_err(Rejection::Invalid)?;
        let mut redirect = Self {
            id,
            name,
            target_url,
            placement,
            is_active,
            note,
            antibot_enabled,
            analytics_enabled,
            group_id: None,
            geo_blocklist,
            pixel_ids,
            created_at: context.now,
            updated_at: context.now,
        };
        redirect.check_features(None, context.features)?;
        redirect.group_id = group.map(named_group).transpose()?;
        Ok(redirect)
    }

    /// The redirect that `patch` makes of this one; itself, with the same `updated_at`, if the patch changes
    /// nothing (D33). Applying the result's patch again changes nothing more.
    ///
    /// # Errors
    /// [`Rejection::Invalid`] with every violation; else the first [`Refusal`] that applies.
    pub fn apply(&self, patch: RedirectPatch, context: &LinkContext<'_>) -> Result<Self, Rejection> {
        let RedirectPatch {
            name,
            target_url,
            slug,
            note,
            domain,
            group,
            is_active,
            antibot_enabled,
            geo_blocklist,
            pixels,
        } = patch;
        // The field to blame for a loop is the one that closed it.
        let blamed = match (&target_url, &slug) {
            (Some(_), _) => "target_url",
            (None, Change::Set(_) | Change::Clear) => "slug",
            (None, Change::Keep) => "domain",
        };
        let target_given = target_url.is_some();
        let placement =
            self.placement.changed(PlacementChange { domain, slug }, context.system, context.named_domains);
        let target_url = target_url.unwrap_or_else(|| self.target_url.clone());

        let mut violations = Violations::new();
        if target_given {
            check_target_is_allowed(&target_url, context, &mut violations);
        }
        if let Ok(placement) = &placement
            && (target_given || *placement != self.placement)
        {
            check_no_loop(&target_url, placement, blamed, context, &mut violations);
        }
        let pixel_ids = match pixels {
            Change::Keep => self.pixel_ids.clone(),
            Change::Clear => PixelIds::default(),
            Change::Set(pixels) => {
                violations.append(violations_of_pixels(&pixels, context));
                pixel_ids(&pixels, &mut violations)
            }
        };
        violations.into_result(()).map_err(Rejection::Invalid)?;

        let mut patched = Self {
            id: self.id,
            name: name.unwrap_or_else(|| self.name.clone()),
            target_url,
            is_active: is_active.unwrap_or(self.is_active),
            note: note.applied_to(self.note.clone()),
            antibot_enabled: antibot_enabled.unwrap_or(self.antibot_enabled),
            analytics_enabled: self.analytics_enabled,
            group_id: self.group_id,
            placement: placement?,
            geo_blocklist: geo_blocklist.applied_to(Some(self.geo_blocklist.clone())).unwrap_or_default(),
            pixel_ids,
            created_at: self.created_at,
            updated_at: self.updated_at,
        };
        patched.check_features(Some(self), context.features)?;
        patched.group_id = match group {
            Change::Keep => self.group_id,
            Change::Set(reference) => Some(named_group(reference)?),
            Change::Clear => None,
        };
        if patched != *self {
            patched.updated_at = context.now.max(self.updated_at);
        }
        Ok(patched)
    }

    /// A plan must have a feature for a link to begin to use it. What a link already has, it keeps.
    fn check_features(&self, before: Option<&Self>, features: FeatureSet) -> Result<(), Refusal> {
        let antibot_before = before.is_some_and(|link| link.antibot_enabled);
        if self.antibot_enabled && !antibot_before && !features.contains(Feature::Antibot) {
            return Err(Refusal::FeatureNotAvailable(Feature::Antibot));
        }
        let blocked_before = |country| before.is_some_and(|link| link.geo_blocklist.blocks(country));
        let blocks_more = self.geo_blocklist.countries().iter().any(|country| !blocked_before(*country));
        if blocks_more && !features.contains(Feature::GeoBlocking) {
            return Err(Refusal::FeatureNotAvailable(Feature::GeoBlocking));
        }
        let fired_before = |pixel| before.is_some_and(|link| link.pixel_ids.as_slice().contains(pixel));
        let fires_more = self.pixel_ids.as_slice().iter().any(|pixel| !fired_before(pixel));
        if fires_more && !features.contains(Feature::Pixels) {
            return Err(Refusal::FeatureNotAvailable(Feature::Pixels));
        }
        Ok(())
    }
}

/// What is wrong with the target of a new link: that it is on the operator's list, or the link's own address.
pub(crate) fn violations_of_new_target(
    target: &TargetUrl,
    placement: Option<&Placement>,
    context: &LinkContext<'_>,
) -> Violations {
    let mut violations = Violations::new();
    check_target_is_allowed(target, context, &mut violations);
    if let Some(placement) = placement {
        check_no_loop(target, placement, "target_url", context, &mut violations);
    }
    violations
}

/// Pixels that are not the caller's (D6).
pub(crate) fn violations_of_pixels(
    pixels: &[IdReference<PixelKind>],
    context: &LinkContext<'_>,
) -> Violations {
    let mut violations = Violations::new();
    for (index, pixel) in pixels.iter().enumerate() {
        if !pixel.id().is_some_and(|id| context.known_pixels.contains(&id)) {
            let error = FieldError::new(ViolationCode::InvalidValue, "is not a pixel of this account");
            violations.push(error.at(format!("pixel_ids[{index}]")));
        }
    }
    violations
}

/// The pixels that a request names, each once; malformed ids are violations already.
fn pixel_ids(pixels: &[IdReference<PixelKind>], violations: &mut Violations) -> PixelIds {
    let ids: Vec<PixelId> = pixels.iter().filter_map(|pixel| pixel.id()).collect();
    PixelIds::new(ids).unwrap_or_else(|error| {
        violations.push(error.at("pixel_ids"));
        PixelIds::default()
    })
}

/// The operator's list (D24): refused when a link is written.
fn check_target_is_allowed(target: &TargetUrl, context: &LinkContext<'_>, violations: &mut Violations) {
    if context.blocklist.contains(target.host()) {
        let error = FieldError::new(ViolationCode::InvalidValue, "points at a host that may not be a target");
        violations.push(error.at("target_url").of_value(target.as_str()));
    }
}

/// A link must not point at its own public address (D24).
fn check_no_loop(
    target: &TargetUrl,
    placement: &Placement,
    field: &'static str,
    context: &LinkContext<'_>,
    violations: &mut Violations,
) {
    if placement.is_addressed_by(target, context.system) {
        let error = FieldError::new(
            ViolationCode::InvalidValue,
            "would make the link point at its own public address",
        );
        let violation = error.at(field);
        // Of the other fields that can close a loop, the value at fault is not known here.
        let is_target = field == "target_url";
        violations.push(if is_target { violation.of_value(target.as_str()) } else { violation });
    }
}

#[cfg(test)]
#[path = "redirect_tests.rs"]
mod tests;
