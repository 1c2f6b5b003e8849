//! Landing pages (contract "Landing").

use serde::Serialize;
use signpost_app::Application;
use signpost_domain::{GroupId, Landing, LandingId, LandingPage, PageContent, Timestamp};

use super::text::Text;
use super::widget::ShownWidget;

/// A landing page as lists show it.
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

/// A landing page as creation, retrieval and update show it (D27).
#[derive(Serialize)]
pub(crate) struct SingleLandingBody {
    #[serde(flatten)]
    landing: LandingBody,
    description: Option<String>,
    avatar_url: Option<String>,
    theme: &'static str,
    accent_color: Option<String>,
    search_engines: bool,
    widgets: Vec<ShownWidget>,
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

impl SingleLandingBody {
    /// The landing page with what is on it.
    pub(crate) fn new(page: &LandingPage, app: &Application) -> Self {
        let LandingPage { landing, content } = page;
        let PageContent { description, avatar_url, theme, accent_color, search_engines, widgets } = content;
        Self {
            landing: LandingBody::new(landing, app),
            description: description.as_ref().map(|description| description.as_str().to_owned()),
            avatar_url: avatar_url.as_ref().map(|url| url.as_str().to_owned()),
            theme: theme.as_str(),
            accent_color: accent_color.as_ref().map(|color| color.as_str().to_owned()),
            search_engines: *search_engines,
            widgets: widgets.as_slice().iter().map(ShownWidget::from).collect(),
        }
    }
}
