//! The content of an account's landing pages, a page of the list at a time.

use signpost_domain::{AccountId, LandingPage, LinkFilter, LinkKind, PageLimit, PagePosition, Permission};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// The part of the list that is read next.
enum Part {
    First,
    After(PagePosition),
    Over,
}

/// A running export of landing pages with their content, newest first. It holds one part of the list.
pub struct PageExport {
    account: AccountId,
    next: Part,
}

impl PageExport {
    /// Starts the export of the caller's account.
    ///
    /// # Errors
    /// The caller may not read.
    pub fn start(caller: &Caller) -> Result<Self, AppError> {
        caller.require(Permission::Read)?;
        Ok(Self { account: caller.account_id(), next: Part::First })
    }

    /// The next landing pages, possibly none of a part; `None` at the end. One that is deleted meanwhile is left out.
    ///
    /// # Errors
    /// The store broke.
    pub async fn next(&mut self, app: &Application) -> Result<Option<Vec<LandingPage>>, AppError> {
        let after = match self.next {
            Part::First => None,
            Part::After(position) => Some(position),
            Part::Over => return Ok(None),
        };
        let filter = LinkFilter::default();
        let listed = app.store.links(self.account, LinkKind::Landing, &filter, PageLimit::MAX, after).await?;
        self.next = listed.next.map_or(Part::Over, Part::After);
        let mut pages = Vec::with_capacity(listed.items.len());
        for link in listed.items {
            let Some(landing) = link.into_landing() else { continue };
            pages.extend(app.store.landing_page(self.account, landing.id).await?);
        }
        Ok(Some(pages))
    }
}
