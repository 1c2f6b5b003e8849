//! From a public address to where it leads (D24, D44, D54).

use signpost_domain::{Address, Hostname, Name, Site, Slug, TargetUrl};

use crate::application::Application;
use crate::ports::{PublishedContent, PublishedLink, StoreError};

/// How many of our own addresses a visit is led through before it counts as a loop (D24).
const MOST_HOPS: u32 = 5;

/// Where a public address leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Resolution {
    /// To this target, which is none of our own addresses.
    Redirect(TargetUrl),
    /// To a landing page, which is shown.
    Landing {
        /// Its title.
        title: Name,
    },
    /// By way of redirects to a landing page at another of our addresses: this is the page's own public URL.
    LandingElsewhere {
        /// As the API shows it.
        url: String,
    },
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
    for hop in 0..=MOST_HOPS {
        let address = Address { site: Site::System, slug: Some(slug.clone()) };
        let Some(link) = app.store.published_link(&address).await? else { return Ok(Resolution::NotThere) };
        let PublishedLink { content, is_active, is_suspended } = link;
        if !is_active || is_suspended {
            return Ok(Resolution::NotThere);
        }
        let target = match content {
            PublishedContent::Landing { title } if hop == 0 => return Ok(Resolution::Landing { title }),
            // A page is shown at its own address only, so whoever was led here is sent there.
            PublishedContent::Landing { .. } => {
                return Ok(Resolution::LandingElsewhere { url: app.system.url_of(&slug) });
            }
            PublishedContent::Redirect { target_url } => target_url,
        };
        if blocklist.contains(target.host()) {
            return Ok(Resolution::NotThere);
        }
        match app.system.own_address_of(&target) {
            Some(next) => slug = next,
            None => return Ok(Resolution::Redirect(target)),
        }
    }
    Ok(Resolution::NotThere)
}
