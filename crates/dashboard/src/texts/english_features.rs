//! The features of plans in English.

use signpost_domain::Feature;

pub(super) const fn feature(feature: Feature) -> &'static str {
    match feature {
        Feature::CustomDomains => "Custom domains",
        Feature::Pixels => "Pixels",
        Feature::GeoBlocking => "Country blocking",
        Feature::Antibot => "Bot protection",
        Feature::LinkAccess => "Limits on visits",
        Feature::Routing => "Rules and splits",
        Feature::LinkPreviews => "Cards of links in messengers",
    }
}
