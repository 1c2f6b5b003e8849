//! Links of either kind; the id's prefix and `object` tell them apart.

use serde::Serialize;
use signpost_app::Application;
use signpost_domain::Link;

use super::landing::LandingBody;
use super::redirect::RedirectBody;

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
