//! Landing pages (contract "Landing").

use serde::Serialize;
use signpost_app::Application;
use signpost_domain::{GroupId, Landing, LandingId, Timestamp};

use super::text::Text;

/// A landing page as the API shows it.
#[derive(Serialize)]
pub(crate) struct LandingBody {
    id: Text<LandingId>,
    object: &'static str,
    title: String,
    slug: Option<String>,
    url: Option<String>,
    is_active: bool,
    note: Option<String>,
    group_id: Option<Text<GroupId>>,
    domain: Option<String>,
    created_at: Text<Timestamp>,
    updated_at: Text<Timestamp>,
}

impl LandingBody {
    /// The landing page; its address depends on where the installation lives.
    pub(crate) fn new(landing: &Landing, app: &Application) -> Self {
        let Landing {
            id,
            title,
            placement,
            is_active,
            note,
            // Never shown (D28).
            analytics_enabled: _,
            group_id,
            created_at,
            updated_at,
        } = landing;
        Self {
            id: Text(*id),
            object: "landing",
            title: title.as_str().to_owned(),
            slug: placement.slug().map(|slug| slug.as_str().to_owned()),
            url: placement.url(&app.system, app.custom_domain_scheme),
            is_active: *is_active,
            note: note.as_ref().map(|note| note.as_str().to_owned()),
            group_id: group_id.map(Text),
            domain: placement.hostname(&app.system).map(|hostname| hostname.as_str().to_owned()),
            created_at: Text(*created_at),
            updated_at: Text(*updated_at),
        }
    }
}
