//! The installation and the account for which tests make links.

use std::collections::BTreeSet;

use crate::country_code::CountryCode;
use crate::geo_blocklist::GeoBlocklist;
use crate::host_blocklist::HostBlocklist;
use crate::id::{Id, PixelId, RuleId, WidgetId};
use crate::link::Link;
use crate::link_context::{LinkContext, PartIds};
use crate::link_request::{ContentRules, LinkRequest, Submitted};
use crate::placement::NamedDomains;
use crate::plan::FeatureSet;
use crate::public_address::SystemDomain;
use crate::redirect::RedirectRequest;
use crate::refusal::Rejection;
use crate::routing::SplitKey;
use crate::slug::Slug;
use crate::target_url::TargetUrl;
use crate::text::Name;
use crate::timestamp::Timestamp;
use crate::violation::ViolationCode;

/// An installation at `go.example.com` that blocks `blocked.example.net`, and an account with the pixels 1 and 2.
pub(crate) struct World {
    pub(crate) system: SystemDomain,
    pub(crate) blocklist: HostBlocklist,
    pub(crate) features: FeatureSet,
    pub(crate) named_domains: NamedDomains,
    pub(crate) known_pixels: BTreeSet<PixelId>,
}

impl PartIds for World {
    fn next_widget_id(&self) -> WidgetId {
        WidgetId::from_bytes([7; 16])
    }

    fn next_rule_id(&self) -> RuleId {
        RuleId::from_bytes([8; 16])
    }

    fn next_split_key(&self) -> SplitKey {
        SplitKey::from_bytes([9; 16])
    }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            system: SystemDomain::new("https://go.example.com", vec![]).unwrap(),
            blocklist: HostBlocklist::parse("blocked.example.net").unwrap(),
            features: FeatureSet::all(),
            named_domains: NamedDomains::default(),
            known_pixels: [pixel(1), pixel(2)].into(),
        }
    }

    pub(crate) fn at(&self, millis: i64) -> LinkContext<'_> {
        LinkContext {
            system: &self.system,
            features: self.features,
            blocklist: &self.blocklist,
            named_domains: &self.named_domains,
            known_pixels: &self.known_pixels,
            part_ids: self,
            now: at(millis),
        }
    }

    /// Creates a link at the instant 1,000, with the slug `mine` unless the request says otherwise.
    pub(crate) fn create<C: ContentRules>(
        &self,
        request: LinkRequest<C::Request>,
    ) -> Result<Link<C>, Rejection> {
        self.create_submitted(&Submitted::valid(request))
    }

    pub(crate) fn create_submitted<C: ContentRules>(
        &self,
        request: &Submitted<LinkRequest<C::Request>>,
    ) -> Result<Link<C>, Rejection> {
        Link::create(Id::from_bytes([1; 16]), request, Some(slug("mine")), &self.at(1_000))
    }

    /// Updates a link at the instant 2,000.
    pub(crate) fn update<C: ContentRules>(
        &self,
        link: &Link<C>,
        request: LinkRequest<C::Request>,
    ) -> Result<Link<C>, Rejection> {
        link.apply(&Submitted::valid(request), &self.at(2_000))
    }
}

pub(crate) fn at(millis: i64) -> Timestamp {
    Timestamp::from_unix_millis(millis).unwrap()
}

pub(crate) fn pixel(number: u8) -> PixelId {
    PixelId::from_bytes([number; 16])
}

pub(crate) fn slug(text: &str) -> Slug {
    Slug::parse(text).unwrap()
}

pub(crate) fn target(text: &str) -> TargetUrl {
    TargetUrl::parse(text).unwrap()
}

pub(crate) fn blocks(codes: &[&str]) -> GeoBlocklist {
    GeoBlocklist::new(codes.iter().map(|code| CountryCode::parse(code).unwrap()).collect())
}

/// The creation of a redirect to `https://example.com/`.
pub(crate) fn new_redirect() -> RedirectRequest {
    RedirectRequest::new(Name::parse("Mine").unwrap(), target("https://example.com/"))
}

pub(crate) fn fields(rejection: Rejection) -> Vec<(String, ViolationCode)> {
    match rejection {
        Rejection::Invalid(violations) => {
            violations.iter().map(|violation| (violation.field().to_owned(), violation.code())).collect()
        }
        Rejection::Refused(refusal) => panic!("refused: {refusal}"),
    }
}
