//! Which addresses an account's links occupy.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use signpost_domain::{AccountId, Address, Link, LinkFilter, LinkId, LinkKind, PageLimit};

use crate::application::Application;
use crate::ports::StoreError;

/// How many links are read at once.
const AT_ONCE: u64 = 100;

/// The account's links by their addresses. The store says whether an address is occupied, but not by which link; so the
/// account's links are read once, when the first address is occupied, and a hash of each address is kept: some 40 bytes
/// a link.
pub(super) struct OwnAddresses {
    account: AccountId,
    hashes: RandomState,
    ids: Option<HashMap<u64, LinkId>>,
}

impl OwnAddresses {
    pub(super) fn of(account: AccountId) -> Self {
        Self { account, hashes: RandomState::new(), ids: None }
    }

    /// The account's link at an address, as it is now; `None` if there is none of this account. Of two addresses with one
    /// hash one would be missed, and be taken for another account's: among a million links, one time in ten million.
    pub(super) async fn link_at(
        &mut self,
        app: &Application,
        address: &Address,
    ) -> Result<Option<Link>, StoreError> {
        let ids = match self.ids.take() {
            Some(ids) => ids,
            None => self.read(app).await?,
        };
        let id = ids.get(&self.hashes.hash_one(address)).copied();
        self.ids = Some(ids);
        let Some(id) = id else { return Ok(None) };
        let link = app.store.link(self.account, id).await?;
        Ok(link.filter(|link| link.placement().address().as_ref() == Some(address)))
    }

    /// Notes a link that was created since.
    pub(super) fn add(&mut self, link: &Link) {
        if let (Some(ids), Some(address)) = (&mut self.ids, link.placement().address()) {
            ids.insert(self.hashes.hash_one(address), link.id());
        }
    }

    async fn read(&self, app: &Application) -> Result<HashMap<u64, LinkId>, StoreError> {
        let at_once = PageLimit::new(AT_ONCE).unwrap_or_default();
        let mut ids = HashMap::new();
        for kind in [LinkKind::Redirect, LinkKind::Landing] {
            let mut after = None;
            loop {
                let page =
                    app.store.links(self.account, kind, &LinkFilter::default(), at_once, after).await?;
                for link in page.items {
                    if let Some(address) = link.placement().address() {
                        ids.insert(self.hashes.hash_one(address), link.id());
                    }
                }
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
        }
        Ok(ids)
    }
}
