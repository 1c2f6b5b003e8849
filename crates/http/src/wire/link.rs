//! Links of either kind; the id's prefix and `object` tell them apart.

use serde::Serialize;
use signpost_app::Application;
use signpost_domain::analytics::RecentClicks;
use signpost_domain::{Link, Timestamp};

use super::landing::LandingBody;
use super::redirect::RedirectBody;
use super::text::Text;

/// A link as lists and bulk results show it.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum LinkBody {
    /// A landing page.
    Landing(LandingBody),
    /// A redirect.
    Redirect(RedirectBody),
}

impl LinkBody {
    /// The link; its address depends on where the installation lives.
    pub(crate) fn new(link: &Link, app: &Application) -> Self {
        match link {
            Link::Landing(landing) => Self::Landing(LandingBody::new(landing, app)),
            Link::Redirect(redirect) => Self::Redirect(RedirectBody::new(redirect, app)),
        }
    }
}

/// A link as lists show it, with its clicks if these were asked for (D66).
#[derive(Serialize)]
pub(crate) struct ListedLinkBody {
    #[serde(flatten)]
    link: LinkBody,
    #[serde(flatten)]
    clicks: Option<RecentClicksBody>,
}

#[derive(Serialize)]
struct RecentClicksBody {
    clicks_7d: u64,
    last_clicked_at: Option<Text<Timestamp>>,
}

impl ListedLinkBody {
    /// The link and its clicks, if there are any to be shown.
    pub(crate) fn new(link: &Link, clicks: Option<RecentClicks>, app: &Application) -> Self {
        let clicks = clicks.map(|RecentClicks { link: _, clicks, last }| RecentClicksBody {
            clicks_7d: clicks,
            last_clicked_at: last.map(Text),
        });
        Self { link: LinkBody::new(link, app), clicks }
    }
}
