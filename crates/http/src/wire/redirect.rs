//! Redirects (contract "Redirect", D27).

use serde::Serialize;
use signpost_app::Application;
use signpost_app::redirects::RedirectWithPixels;
use signpost_domain::{CountryCode, GeoBlocklist, GroupId, Redirect, RedirectId, Timestamp};

use super::pixel::PixelBody;
use super::text::Text;

/// A redirect as lists show it.
#[derive(Serialize)]
pub(crate) struct RedirectBody {
    id: Text<RedirectId>,
    object: &'static str,
    name: String,
    url: Option<String>,
    target_url: String,
    slug: Option<String>,
    is_active: bool,
    note: Option<String>,
    antibot_enabled: bool,
    group_id: Option<Text<GroupId>>,
    domain: Option<String>,
    created_at: Text<Timestamp>,
    updated_at: Text<Timestamp>,
}

/// A redirect as creation, retrieval and update show it (D27).
#[derive(Serialize)]
pub(crate) struct SingleRedirectBody {
    #[serde(flatten)]
    redirect: RedirectBody,
    pixels: Vec<PixelBody>,
    geo_blocklists: GeoBlocklistBody,
}

#[derive(Serialize)]
struct GeoBlocklistBody {
    countries: Vec<&'static str>,
}

impl RedirectBody {
    /// The redirect; its address depends on where the installation lives.
    pub(crate) fn new(redirect: &Redirect, app: &Application) -> Self {
        let Redirect {
            id,
            name,
            target_url,
            placement,
            is_active,
            note,
            antibot_enabled,
            // Never shown (D28).
            analytics_enabled: _,
            group_id,
            // Not in lists (D27).
            geo_blocklist: _,
            pixel_ids: _,
            created_at,
            updated_at,
        } = redirect;
        Self {
            id: Text(*id),
            object: "redirect",
            name: name.as_str().to_owned(),
            url: placement.url(&app.system, app.custom_domain_scheme),
            target_url: target_url.as_str().to_owned(),
            slug: placement.slug().map(|slug| slug.as_str().to_owned()),
            is_active: *is_active,
            note: note.as_ref().map(|note| note.as_str().to_owned()),
            antibot_enabled: *antibot_enabled,
            group_id: group_id.map(Text),
            domain: placement.hostname(&app.system).map(|hostname| hostname.as_str().to_owned()),
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
        }
    }
}

impl SingleRedirectBody {
    /// The redirect with everything that is shown of it.
    pub(crate) fn new(single: &RedirectWithPixels, app: &Application) -> Self {
        let RedirectWithPixels { redirect, pixels } = single;
        Self {
            redirect: RedirectBody::new(redirect, app),
            pixels: pixels.iter().map(PixelBody::from).collect(),
            geo_blocklists: GeoBlocklistBody::from(&redirect.geo_blocklist),
        }
    }
}

impl From<&GeoBlocklist> for GeoBlocklistBody {
    fn from(blocklist: &GeoBlocklist) -> Self {
        Self {
            countries: blocklist.countries().iter().map(|country| CountryCode::as_str(*country)).collect(),
        }
    }
}
