//! Counts of the data that an export omits.

use std::collections::HashSet;
use std::convert::Infallible;
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use signpost_domain::analytics::UtcDay;
use signpost_domain::{AccountId, AnyContent, LandingId, Link, PageContent, PixelId, PlanResource, Usage};

use crate::application::Application;
use crate::ports::{StoreError, Upkeep};

/// How many steps of packing come before the count of clicks. It bounds the wait beside a busy node.
const PACKING_STEPS: usize = 20;

/// The longest time that clicks wait to be packed, and some more.
const WAIT: Duration = Duration::from_mins(2);

/// How many landing pages are read concurrently.
const CONCURRENT_READS: usize = 8;

/// Counts of the data that an account's export omits. API keys are not counted: the store has only their hashes, so no
/// export can carry them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Landing pages with more content than a title.
    pub page_contents: u64,
    /// Redirects that fire pixels.
    pub redirects_with_pixels: u64,
    /// Links with a password. Records say so, and have no passwords (D131).
    pub passwords: u64,
    /// Resources without records. Custom domains count in any state; links carry their hostnames.
    pub resources: Usage,
    /// Recorded clicks of all kinds, those of deleted links included.
    pub clicks: u64,
    /// Groups and links whose rows the store cannot read. The log names each (ADR 35).
    pub unreadable: u64,
}

impl LeftOut {
    /// Whether the export carries everything.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Counts what the records of these links omit.
    pub(super) async fn count_links(
        &mut self,
        app: &Application,
        account: AccountId,
        links: &[Link],
    ) -> Result<(), StoreError> {
        let (mut landings, mut pixel_ids) = (vec![], vec![]);
        for link in links {
            self.passwords += u64::from(link.has_password);
            match &link.content {
                AnyContent::Landing => landings.push(LandingId::from_bytes(link.id.to_bytes())),
                AnyContent::Redirect(content) if !content.pixel_ids.as_slice().is_empty() => {
                    pixel_ids.push(content.pixel_ids.as_slice());
                }
                AnyContent::Redirect(_) => {}
            }
        }
        self.page_contents += pages_with_content(app, account, landings).await?;
        self.redirects_with_pixels += with_pixels(app, account, &pixel_ids).await?;
        Ok(())
    }

    /// Counts rows that the store could not read.
    pub(super) fn count_unreadable(&mut self, rows: usize) {
        self.unreadable = self.unreadable.saturating_add(u64::try_from(rows).unwrap_or(u64::MAX));
    }

    /// Counts what has no records: resources and clicks.
    pub(super) async fn count_rest(
        &mut self,
        app: &Application,
        account: AccountId,
        usage: &Usage,
    ) -> Result<(), StoreError> {
        let Ok(resources) = Usage::try_of_each(|resource| {
            Ok::<_, Infallible>(if has_records(resource) { 0 } else { usage.of(resource) })
        });
        self.resources = resources;
        self.clicks = recorded_clicks(app, account).await?;
        Ok(())
    }
}

/// Whether an export carries these resources. Links carry their tags.
const fn has_records(resource: PlanResource) -> bool {
    matches!(resource, PlanResource::Links | PlanResource::Groups | PlanResource::Tags)
}

/// The number of an account's recorded clicks. The store adds up the numbers of its segments, without reading a click.
///
/// The clicks of the last minute wait to be packed, and are not counted before. A node packs them when they have waited for
/// [`WAIT`], so this packs as of that much later. If the store cannot be written, they are missing from the count.
async fn recorded_clicks(app: &Application, account: AccountId) -> Result<u64, StoreError> {
    for _ in 0..PACKING_STEPS {
        match app.click_store.pack(app.clock.now().plus(WAIT)).await {
            Ok(packed) if packed.upkeep == Upkeep::More => {}
            Ok(_) => break,
            Err(error) => {
                tracing::debug!(%error, "clicks that wait to be packed are not counted");
                break;
            }
        }
    }
    packed_clicks(app, account).await
}

/// The number of an account's clicks that are packed: without those of the last minute, and without writing anything.
pub(crate) async fn packed_clicks(app: &Application, account: AccountId) -> Result<u64, StoreError> {
    Ok(app.click_store.old_clicks(account, UtcDay::LAST).await?.map_or(0, |old| old.clicks))
}

/// How many of the landing pages have content. Corrupt content counts too, so that one broken page does not stop the
/// export.
async fn pages_with_content(
    app: &Application,
    account: AccountId,
    ids: Vec<LandingId>,
) -> Result<u64, StoreError> {
    let has_content = async |id| match app.store.landing_page(account, id).await {
        Ok(page) => Ok(page.is_some_and(|page| page.content != PageContent::default())),
        Err(StoreError::Corrupt { .. }) => Ok(true),
        Err(error) => Err(error),
    };
    let reads = stream::iter(ids).map(has_content).buffer_unordered(CONCURRENT_READS);
    reads.try_fold(0, async |count, has_content| Ok(count + u64::from(has_content))).await
}

/// How many of these lists name an existing pixel. A redirect keeps the ids of deleted pixels.
async fn with_pixels(app: &Application, account: AccountId, lists: &[&[PixelId]]) -> Result<u64, StoreError> {
    let named: HashSet<PixelId> = lists.iter().copied().flatten().copied().collect();
    if named.is_empty() {
        return Ok(0);
    }
    let named: Vec<PixelId> = named.into_iter().collect();
    let pixels = match app.store.pixels_with_ids(account, &named).await {
        Ok(pixels) => pixels,
        // One broken pixel does not stop the export. Any of the lists may name it, so all are counted.
        Err(StoreError::Corrupt { .. }) => return Ok(u64::try_from(lists.len()).unwrap_or(u64::MAX)),
        Err(error) => return Err(error),
    };
    let known: HashSet<PixelId> = pixels.into_iter().map(|pixel| pixel.id).collect();
    let count = lists.iter().filter(|ids| ids.iter().any(|id| known.contains(id))).count();
    Ok(u64::try_from(count).unwrap_or(u64::MAX))
}
