//! A change that one request makes to many redirects alike (D124).

use crate::change::Change;
use crate::click_limit::ClickLimitRequest;
use crate::geo_blocklist::GeoBlocklist;
use crate::id::{GroupKind, PixelId};
use crate::life::LifeRequest;
use crate::link_context::LinkContext;
use crate::link_request::Submitted;
use crate::redirect::{Redirect, RedirectContentRequest, RedirectRequest, unknown_pixels};
use crate::reference::IdReference;
use crate::refusal::Rejection;
use crate::routing::RulesRequest;
use crate::tag::{TagChange, Tags};
use crate::target_url::TargetUrl;
use crate::text::{Note, exceeds};
use crate::violation::{FieldError, Violation, ViolationCode, Violations};
use crate::way::WayRequest;

/// A change that one request makes to many redirects alike. The default changes nothing. Addresses, external ids, names,
/// whole targets, cards and passwords belong to a single redirect, so it has none of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedirectPatch {
    /// `is_active`
    pub is_active: Option<bool>,
    /// `group_id`. Null takes the redirects out of their groups.
    pub group: Change<IdReference<GroupKind>>,
    /// `add_tags` and `remove_tags`
    pub tags: TagChange,
    /// `antibot_enabled`
    pub antibot_enabled: Option<bool>,
    /// `geo_blocklists`; null lifts all blocks.
    pub geo_blocklist: Change<GeoBlocklist>,
    /// `pixel_ids`; null removes all. An item without an id is a violation already.
    pub pixels: Change<Vec<Option<PixelId>>>,
    /// `note`
    pub note: Change<Note>,
    /// `starts_at`, `expires_at` and `fallback_url`
    pub life: LifeRequest,
    /// `redirect_status`, `forward_query` and `utm`
    pub way: WayRequest,
    /// `replace_target_prefix`
    pub target_prefix: Option<PrefixReplacement>,
}

impl RedirectPatch {
    /// The name of the field that has it.
    pub const FIELD: &'static str = "patch";

    /// The pixels that it names.
    pub fn named_pixels(&self) -> impl Iterator<Item = PixelId> {
        let named: &[Option<PixelId>] = match &self.pixels {
            Change::Set(pixels) => pixels,
            Change::Keep | Change::Clear => &[],
        };
        named.iter().flatten().copied()
    }

    /// Violations that all redirects would have, such as unknown pixels. The states of domains do not count.
    #[must_use]
    pub fn violations_without_link(&self, context: &LinkContext<'_>) -> Violations {
        let prefix = format!("{}.", Self::FIELD);
        let mut violations = match &self.pixels {
            Change::Set(pixels) => unknown_pixels(pixels, context.known_pixels, &prefix),
            Change::Keep | Change::Clear => Violations::new(),
        };
        violations.append(self.life.violations_without_link(&prefix, context));
        let (change, no_password) = (self.content(None), Change::Keep);
        violations.append(WayRequest::violations_without_link(&prefix, &change, &self.life, &no_password));
        violations
    }

    /// The redirect that it makes of this one, by the rules of a single update; the same redirect if it changes nothing. Fields of
    /// violations are those of a single update too.
    ///
    /// # Errors
    /// As [`Link::apply`](crate::Link::apply).
    pub fn apply(&self, redirect: &Redirect, context: &LinkContext<'_>) -> Result<Redirect, Rejection> {
        redirect.apply(&self.update_of(redirect), context)
    }

    /// The single update that changes this redirect in the same way.
    fn update_of(&self, redirect: &Redirect) -> Submitted<RedirectRequest> {
        let Self {
            is_active,
            group,
            tags,
            note,
            life,
            target_prefix,
            // In the content.
            antibot_enabled: _,
            geo_blocklist: _,
            pixels: _,
            way: _,
        } = self;
        let mut violations = Violations::new();
        let tags = redirect.tags.changed(tags);
        let tags = tags.map_err(|error| violations.push(error.at(Tags::FIELD))).ok();
        let replaced =
            target_prefix.as_ref().and_then(|prefix| prefix.replaced_in(&redirect.content.target_url));
        let target_url =
            replaced.and_then(|target| target.map_err(|violation| violations.push(violation)).ok());
        let content = self.content(target_url);
        let value = RedirectRequest {
            note: note.clone(),
            group: *group,
            tags,
            is_active: *is_active,
            life: life.clone(),
            content,
            ..RedirectRequest::default()
        };
        Submitted { value, violations }
    }

    /// The change of the content, with this target.
    fn content(&self, target_url: Option<TargetUrl>) -> RedirectContentRequest {
        RedirectContentRequest {
            target_url,
            antibot_enabled: self.antibot_enabled,
            geo_blocklist: self.geo_blocklist.clone(),
            pixels: self.pixels.clone(),
            way: self.way.clone(),
            // D124: a change by filter sets no limit.
            click_limit: ClickLimitRequest::default(),
            // Nor rules, and another prefix of targets changes only `target_url`.
            rules: RulesRequest::default(),
            // A card belongs to a single redirect.
            preview: Change::Keep,
        }
    }
}

/// The beginning of a target: 1 to 2048 characters. Only a whole target can be validated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TargetPrefix(String);

impl TargetPrefix {
    /// The maximum length in Unicode scalar values.
    pub const MAX_CHARS: usize = TargetUrl::MAX_CHARS;

    /// Reads a beginning. Nothing is trimmed.
    ///
    /// # Errors
    /// `too_short` if it is empty, `too_long` above [`Self::MAX_CHARS`].
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        if text.is_empty() {
            return Err(FieldError::new(ViolationCode::TooShort, "must have at least 1 character"));
        }
        if exceeds(text, Self::MAX_CHARS) {
            return Err(FieldError::new(ViolationCode::TooLong, "must have at most 2048 characters"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Another beginning for the targets that begin in one way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrefixReplacement {
    /// The beginning of the targets that change.
    pub from: TargetPrefix,
    /// The beginning that they get.
    pub to: TargetPrefix,
}

impl PrefixReplacement {
    /// What a target becomes, or the violation of `target_url`; `None` if it stays. The same request changes no target twice. So a
    /// target stays too if `to` only continues `from`, and the target begins with `to`: otherwise `http` would become `https`, and then
    /// `httpss`. No target may begin with `from` again: otherwise `/x/x/` without an `x/` would lose the other one next time.
    fn replaced_in(&self, target: &TargetUrl) -> Option<Result<TargetUrl, Violation>> {
        let Self { from: TargetPrefix(from), to: TargetPrefix(to) } = self;
        let continues = to.starts_with(from.as_str());
        if continues && target.as_str().starts_with(to.as_str()) {
            return None;
        }
        let rest = target.as_str().strip_prefix(from.as_str())?;
        let text = format!("{to}{rest}");
        let replaced = TargetUrl::parse(&text).and_then(|replaced| {
            if continues || !replaced.as_str().starts_with(from.as_str()) {
                return Ok(replaced);
            }
            let message = "would still begin with `from`, so the same request would change it again";
            Err(FieldError::new(ViolationCode::InvalidValue, message))
        });
        Some(replaced.map_err(|error| error.at("target_url").of_value(text)))
    }
}

#[cfg(test)]
#[path = "redirect_patch_tests.rs"]
mod tests;
