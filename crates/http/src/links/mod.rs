//! Endpoints that landing pages and redirects have alike, one a file, each for either kind.

pub(crate) mod bulk_delete;
pub(crate) mod delete;
pub(crate) mod list;

use signpost_domain::LinkIdKind;
use signpost_domain::id::{LandingKind, RedirectKind};

/// What the endpoints of a kind of links say that those of the other do not.
pub(crate) trait LinkResource: LinkIdKind {
    /// The value of `object`.
    const OBJECT: &'static str;
    /// What the cursors of the kind's list are bound to (D11).
    const LIST: &'static str;
    /// The field that names the links of a bulk deletion.
    const IDS: &'static str;
    /// What people are told when one is deleted.
    const DELETED: &'static str;
}

impl LinkResource for LandingKind {
    const OBJECT: &'static str = "landing";
    const LIST: &'static str = "landings";
    const IDS: &'static str = "landing_ids";
    const DELETED: &'static str = "The landing page is deleted and its address is free.";
}

impl LinkResource for RedirectKind {
    const OBJECT: &'static str = "redirect";
    const LIST: &'static str = "redirects";
    const IDS: &'static str = "redirect_ids";
    const DELETED: &'static str = "The redirect is deleted and its address is free.";
}
