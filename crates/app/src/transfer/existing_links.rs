//! Finds the stored links at the ids and addresses of rows.

use std::collections::HashMap;

use signpost_domain::{AccountId, Address, Link, LinkId};

use super::entry::LinkToCreate;
use crate::application::Application;
use crate::ports::StoreError;

/// The stored links that rows refer to.
pub(super) struct ExistingLinks {
    /// The account's links that have the id of a row.
    pub(super) by_id: HashMap<LinkId, Link>,
    /// The links at the addresses of the other rows. A row without a slug has the address of its first derived slug.
    pub(super) occupants: HashMap<Address, Occupant>,
}

/// A link at an address.
#[derive(Clone)]
pub(super) enum Occupant {
    /// A link of the account.
    Own(Box<Link>),
    /// A link of another account.
    Foreign,
}

/// Finds the links of all rows at once.
pub(super) async fn find(
    app: &Application,
    account: AccountId,
    entries: &[LinkToCreate],
) -> Result<ExistingLinks, StoreError> {
    let ids: Vec<LinkId> = entries.iter().filter_map(|entry| entry.link.id).collect();
    let by_id = links_with_ids(app, account, &ids).await?;
    let is_found = |entry: &&LinkToCreate| entry.link.id.is_some_and(|id| by_id.contains_key(&id));
    let addresses = entries.iter().filter(|entry| !is_found(entry)).filter_map(|entry| entry.address.clone());
    let addresses: Vec<Address> = addresses.collect();
    let occupants = links_at(app, account, &addresses).await?;
    Ok(ExistingLinks { by_id, occupants })
}

/// The links at those of `addresses` that are taken.
pub(super) async fn links_at(
    app: &Application,
    account: AccountId,
    addresses: &[Address],
) -> Result<HashMap<Address, Occupant>, StoreError> {
    if addresses.is_empty() {
        return Ok(HashMap::new());
    }
    let occupied = app.store.occupied(account, addresses).await?;
    let ids: Vec<LinkId> = occupied.iter().filter_map(|(_, id)| *id).collect();
    let mut links = links_with_ids(app, account, &ids).await?;
    let mut occupants = HashMap::with_capacity(occupied.len());
    for (address, id) in occupied {
        let occupant = match id {
            None => Occupant::Foreign,
            Some(id) => match links.remove(&id) {
                Some(link) if link.placement.address().as_ref() == Some(&address) => {
                    Occupant::Own(Box::new(link))
                }
                // It was deleted or moved meanwhile. The insertion decides by the current state.
                Some(_) | None => continue,
            },
        };
        occupants.insert(address, occupant);
    }
    Ok(occupants)
}

async fn links_with_ids(
    app: &Application,
    account: AccountId,
    ids: &[LinkId],
) -> Result<HashMap<LinkId, Link>, StoreError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let links = app.store.links_with_ids(account, ids).await?;
    Ok(links.into_iter().map(|link| (link.id(), link)).collect())
}
