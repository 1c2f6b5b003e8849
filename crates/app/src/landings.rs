//! The content of landing pages: the part of the use cases of [`links`](crate::links) that redirects lack.
//! The store keeps it apart from the link's row (D27, D34).

use std::collections::BTreeMap;

use signpost_domain::{AccountId, Landing, LandingId, LandingPage, Link, PageContent, Pixel, PixelId};

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
        links: Vec<Link>,
        _: &mut BTreeMap<PixelId, Pixel>,
    ) -> Result<Vec<LandingPage>, StoreError> {
        let landings: Vec<Landing> = links.into_iter().filter_map(Link::into_landing).collect();
        if landings.is_empty() {
            return Ok(vec![]);
        }
        let ids: Vec<LandingId> = landings.iter().map(|landing| landing.id).collect();
        let found = work.page_contents(account, &ids).await?;
        let mut found: BTreeMap<LandingId, PageContent> = found.into_iter().collect();
        let page = |landing: Landing| Some((found.remove(&landing.id)?, landing));
        let with_contents = landings.into_iter().filter_map(page);
        Ok(with_contents.map(|(content, landing)| landing.with_content(content)).collect())
    }

    async fn write_contents(
        work: &mut dyn UnitOfWork,
        account: AccountId,
        changes: &[(&LandingPage, &LandingPage)],
    ) -> Result<(), StoreError> {
        let rewritten = changes.iter().filter(|(before, after)| before.content != after.content);
        let contents: Vec<_> = rewritten.map(|(_, after)| (after.id, &after.content)).collect();
        if contents.is_empty() { Ok(()) } else { work.write_page_contents(account, &contents).await }
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
