//! A redirect: a link that sends its visitors on to another address (contract "Redirect", D24, D26, D28, D36).

use std::collections::BTreeSet;

use crate::change::Change;
use crate::click_limit::{ClickLimit, ClickLimitRequest};
use crate::geo_blocklist::GeoBlocklist;
use crate::id::{PixelId, RedirectKind};
use crate::life::Life;
use crate::link::{AnyContent, Content, Link};
use crate::link_preview::LinkPreview;
use crate::link_request::{ContentRules, Judgement, LinkRequest, required};
use crate::pixel::PixelIds;
use crate::plan::{Feature, FeatureSet};
use crate::refusal::Refusal;
use crate::revision::Revision;
use crate::routing::{Rules, RulesRequest};
use crate::target_url::TargetUrl;
use crate::text::Name;
use crate::violation::{FieldError, ViolationCode, Violations};
use crate::way::{Way, WayRequest};

/// A link that sends its visitors on to another address.
pub type Redirect = Link<RedirectContent>;

/// The request of a creation or an update of a redirect.
pub type RedirectRequest = LinkRequest<RedirectContentRequest>;

/// The fields that only redirects have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedirectContent {
    /// Where visitors are sent.
    pub target_url: TargetUrl,
    /// Whether known bots are turned away.
    pub antibot_enabled: bool,
    /// The countries whose visitors are turned away.
    pub geo_blocklist: GeoBlocklist,
    /// The pixels that fire on visitors. Answers omit deleted ones.
    pub pixel_ids: PixelIds,
    /// How visitors are sent on (D132).
    pub way: Way,
    /// How many visits are sent on at most (D128). What is taken of it is as of the moment at which the link was read: an update
    /// does not write it.
    pub click_limit: Option<ClickLimit>,
    /// Which visitors are sent elsewhere (D133).
    pub rules: Rules,
    /// The card that link previewers get (D135).
    pub preview: Option<LinkPreview>,
}

impl RedirectContent {
    /// A target, with the defaults of every other field.
    #[must_use]
    pub fn to(target_url: TargetUrl) -> Self {
        Self {
            target_url,
            antibot_enabled: false,
            geo_blocklist: GeoBlocklist::default(),
            pixel_ids: PixelIds::default(),
            way: Way::default(),
            click_limit: None,
            rules: Rules::default(),
            preview: None,
        }
    }
}

/// The request for the fields that only redirects have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RedirectContentRequest {
    /// `target_url`. A creation must have it.
    pub target_url: Option<TargetUrl>,
    /// `antibot_enabled`; false in a creation without it.
    pub antibot_enabled: Option<bool>,
    /// `geo_blocklists`; null lifts all blocks.
    pub geo_blocklist: Change<GeoBlocklist>,
    /// `pixel_ids`; null removes all. An item without an id is a violation already.
    pub pixels: Change<Vec<Option<PixelId>>>,
    /// `redirect_status`, `forward_query` and `utm`
    pub way: WayRequest,
    /// `max_clicks`
    pub click_limit: ClickLimitRequest,
    /// `rules`
    pub rules: RulesRequest,
    /// `preview`. It replaces all three parts; null removes them.
    pub preview: Change<LinkPreview>,
}

impl RedirectContentRequest {
    /// The pixels that the request names.
    #[must_use]
    pub fn named_pixels(&self) -> &[Option<PixelId>] {
        match &self.pixels {
            Change::Set(pixels) => pixels,
            Change::Keep | Change::Clear => &[],
        }
    }

    /// Reads an item of `pixel_ids`.
    ///
    /// # Errors
    /// `invalid_value` for a malformed id, as for one that no pixel of the account has (D6).
    pub fn parse_pixel(text: &str) -> Result<PixelId, FieldError> {
        text.parse().map_err(|_| unknown_pixel())
    }
}

impl RedirectRequest {
    /// The creation of a redirect with the required fields only.
    #[must_use]
    pub fn new(name: Name, target_url: TargetUrl) -> Self {
        let content =
            RedirectContentRequest { target_url: Some(target_url), ..RedirectContentRequest::default() };
        Self { name: Some(name), content, ..Self::default() }
    }
}

impl Content for RedirectContent {
    type Kind = RedirectKind;

    fn into_any(self) -> AnyContent {
        AnyContent::Redirect(self)
    }

    fn click_limit(&self) -> Option<ClickLimit> {
        self.click_limit
    }
}

impl ContentRules for RedirectContent {
    type Request = RedirectContentRequest;

    const NAME_FIELD: &'static str = "name";

    fn requested(request: &RedirectContentRequest, judgement: &mut Judgement<'_, Self>) -> Option<Self> {
        let next_revision = judgement.before.map_or(Revision::FIRST, |link| link.revision.next());
        let before = judgement.before.map(|link| &link.content);
        let RedirectContentRequest {
            target_url,
            antibot_enabled,
            geo_blocklist,
            pixels,
            way,
            click_limit,
            rules,
            preview,
        } = request;
        let target_before = before.map(|content| &content.target_url);
        judgement.judge_destination("target_url", target_url.as_ref(), target_before);
        let rules = rules.judged(judgement);
        let Judgement { context, found, .. } = judgement;
        let target_url = target_url.as_ref().or(target_before);
        if target_url.is_none() {
            found.push(required("target_url"));
        }
        let pixel_ids = match pixels {
            Change::Keep => before.map(|content| content.pixel_ids.clone()).unwrap_or_default(),
            Change::Clear => PixelIds::default(),
            Change::Set(pixels) => {
                found.append(unknown_pixels(pixels, context.known_pixels, ""));
                pixel_ids(pixels, found)
            }
        };
        let limit_before = before.and_then(|content| content.click_limit);
        let next_count = ClickLimit::name_of_count(context.now, next_revision);
        let click_limit = ClickLimit::requested(*click_limit, limit_before, next_count, found);
        let geo_blocklist_before = before.map(|content| content.geo_blocklist.clone());
        Some(Self {
            target_url: target_url?.clone(),
            antibot_enabled: antibot_enabled
                .unwrap_or_else(|| before.is_some_and(|content| content.antibot_enabled)),
            geo_blocklist: geo_blocklist.clone().applied_to(geo_blocklist_before).unwrap_or_default(),
            pixel_ids,
            way: way.applied_to(before.map(|content| &content.way)),
            click_limit,
            rules,
            preview: preview.clone().applied_to(before.and_then(|content| content.preview.clone())),
        })
    }

    fn judge(&self, request: &RedirectRequest, life: &Life, judgement: &mut Judgement<'_, Self>) {
        self.judge_way(request, life, judgement);
    }

    fn check_features(&self, before: Option<&Self>, features: FeatureSet) -> Result<(), Refusal> {
        let antibot_before = before.is_some_and(|content| content.antibot_enabled);
        if self.antibot_enabled && !antibot_before && !features.contains(Feature::Antibot) {
            return Err(Refusal::FeatureNotAvailable(Feature::Antibot));
        }
        let blocked_before = |country| before.is_some_and(|content| content.geo_blocklist.blocks(country));
        let blocks_more = self.geo_blocklist.countries().iter().any(|country| !blocked_before(*country));
        if blocks_more && !features.contains(Feature::GeoBlocking) {
            return Err(Refusal::FeatureNotAvailable(Feature::GeoBlocking));
        }
        let fired_before = |pixel| before.is_some_and(|content| content.pixel_ids.as_slice().contains(pixel));
        let fires_more = self.pixel_ids.as_slice().iter().any(|pixel| !fired_before(pixel));
        if fires_more && !features.contains(Feature::Pixels) {
            return Err(Refusal::FeatureNotAvailable(Feature::Pixels));
        }
        let limit_before = before.and_then(|content| content.click_limit);
        if ClickLimit::is_new_value(limit_before, self.click_limit) && !features.contains(Feature::LinkAccess)
        {
            return Err(Refusal::FeatureNotAvailable(Feature::LinkAccess));
        }
        let keeps_rules = before.is_some_and(|content| self.rules.is_subset_of(&content.rules));
        if !self.rules.is_empty() && !keeps_rules && !features.contains(Feature::Routing) {
            return Err(Refusal::FeatureNotAvailable(Feature::Routing));
        }
        let keeps_preview = before.is_some_and(|content| content.preview == self.preview);
        if self.preview.is_some() && !keeps_preview && !features.contains(Feature::LinkPreviews) {
            return Err(Refusal::FeatureNotAvailable(Feature::LinkPreviews));
        }
        Ok(())
    }
}

/// The violations of pixels that the account does not have (D6), in the object of the request at `prefix`.
pub(crate) fn unknown_pixels(
    pixels: &[Option<PixelId>],
    known: &BTreeSet<PixelId>,
    prefix: &str,
) -> Violations {
    let mut violations = Violations::new();
    let unknown = |pixel: &Option<PixelId>| pixel.filter(|id| !known.contains(id));
    for (index, pixel) in pixels.iter().map(unknown).enumerate() {
        if let Some(pixel) = pixel {
            let field = format!("{prefix}pixel_ids[{index}]");
            violations.push(unknown_pixel().at(field).of_value(pixel.to_string()));
        }
    }
    violations
}

fn unknown_pixel() -> FieldError {
    FieldError::new(ViolationCode::InvalidValue, "is not a pixel of this account")
}

/// The pixels that a request names, each once.
fn pixel_ids(pixels: &[Option<PixelId>], violations: &mut Violations) -> PixelIds {
    let ids: Vec<PixelId> = pixels.iter().flatten().copied().collect();
    PixelIds::new(ids).unwrap_or_else(|error| {
        violations.push(error.at("pixel_ids"));
        PixelIds::default()
    })
}

#[cfg(test)]
#[path = "redirect_tests.rs"]
mod tests;
