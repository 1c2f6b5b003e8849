//! From a public address to where it leads (D24, D44, D54).

use signpost_domain::{Address, Hostname, Site, Slug, TargetUrl};

use crate::application::Application;
use crate::ports::StoreError;

/// How many of our own addresses a visit is led through before it counts as a loop (D24).
const MOST_HOPS: u32 = 5;

/// Where a public address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// To this target, which is none of our own addresses.
    Redirect(TargetUrl),
    /// Nowhere, for whatever reason: visitors are not told which (D54).
    NotThere,
}

/// Where the address made of `hostname` and `slug` (`None` for the root) leads. A target on another of our own
/// addresses is followed, at most five deep; a longer chain or a loop leads nowhere.
///
/// # Errors
/// The store broke; that is not the same as "nothing there".
pub async fn resolve(
    app: &Application,
    hostname: &Hostname,
    slug: Option<Slug>,
) -> Result<Resolution, StoreError> {
    // Only active custom domains resolve links (D44), and no account has one yet.
    let (true, Some(slug)) = (app.system.answers_to(hostname), slug) else { return Ok(Resolution::NotThere) };
    let blocklist = app.target_blocklist.current();
    let mut slug = slug;
    for _ in 0..=MOST_HOPS {
        let address = Address { site: Site::System, slug: Some(slug) };
        let Some(link) = app.store.published_link(&address).await? else { return Ok(Resolution::NotThere) };
        let target = link.target_url;
        if !link.is_active || link.is_suspended || blocklist.contains(target.host()) {
            return Ok(Resolution::NotThere);
        }
        match app.system.own_address_of(&target) {
            Some(next) => slug = next,
            None => return Ok(Resolution::Redirect(target)),
        }
    }
    Ok(Resolution::NotThere)
}
