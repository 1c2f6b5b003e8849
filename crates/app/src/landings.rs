//! The content of landing pages: the part of the use cases of [`links`](crate::links) that redirects lack.
//! The store keeps it apart from the link's row (D27, D34).

use std::collections::BTreeMap;

use signpost_domain::{AccountId, LandingId, LandingPage, Link, PageContent, Pixel, PixelId};

use crate::application::Application;
use crate::caller::Caller;
use crate::links::LinkResource;
use crate::ports::{StoreError, UnitOfWork};

impl LinkResource for PageContent {
    type Single = LandingPage;

    fn single(page: LandingPage, _: &BTreeMap<PixelId, Pixel>) -> LandingPage {
        page
    }

    async fn find(
        app: &Application,
        caller: &Caller,
        id: LandingId,
        _: Option<&Link>,
    ) -> Result<Option<LandingPage>, StoreError> {
        app.store.landing_page(caller.account_id(), id).await
    }

    async fn complete(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        link: Link,
        _: &mut BTreeMap<PixelId, Pixel>,
    ) -> Result<Option<LandingPage>, StoreError> {
        let Some(landing) = link.into_landing() else { return Ok(None) };
        let content = work.page_content(account, landing.id).await?;
        Ok(Some(landing.with_content(content)))
    }

    async fn write_content(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        before: &LandingPage,
        after: &LandingPage,
    ) -> Result<(), StoreError> {
        if before.content == after.content {
            return Ok(());
        }
        work.write_page_content(account, after.id, &after.content).await
    }

    async fn write_new_contents(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        created: &[&LandingPage],
    ) -> Result<(), StoreError> {
        // A new page is empty.
        let empty = PageContent::default();
        let filled = created.iter().filter(|page| page.content != empty);
        let contents: Vec<_> = filled.map(|page| (page.id, &page.content)).collect();
        if contents.is_empty() { Ok(()) } else { work.write_page_contents(account, &contents).await }
    }
}
