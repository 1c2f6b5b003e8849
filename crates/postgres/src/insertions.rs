//! Inserting links, any number of them in the same few statements (D30).
//!
//! What is promised is the outcome of inserting them one after the other. What is done is to count first in their groups
//! and insert them at once, as if nothing stood against any of them; then to hold the account, and take back what came
//! after its limit.

use std::collections::BTreeSet;

use diesel::prelude::*;
use diesel_async::{AsyncPgConnection, RunQueryDsl};
use signpost_app::ports::Insertion;
use signpost_domain::{AccountId, Link};

use crate::columns::{IdBytes, signed};
use crate::counters;
use crate::failure::Failure;
use crate::group_counts::GroupMoves;
use crate::rows::new_links::NewLinks;
use crate::schema::links;

/// Inserts links, each unless something stands against it, and moves the counts of the account and of their groups. Says
/// of each what became of it; `None` if there is no such account.
pub(crate) async fn insert(
    connection: &mut &AsyncPgConnection,
    account: AccountId,
    links: &[Link],
    links_limit: u64,
) -> Result<Option<Vec<Insertion>>, Failure> {
    refuse_repeated_ids(links)?;
    let mut entering = GroupMoves::of(account);
    for link in links {
        if let Some(group) = link.group_id() {
            entering.enter(group, link.kind());
        }
    }
    let groups = entering.apply_where_possible(connection).await?;
    let has_its_group = |link: &Link| link.group_id().is_none_or(|group| groups.contains(&group.into()));
    let candidates: Vec<&Link> = links.iter().filter(|link| has_its_group(link)).collect();
    let inserted = if candidates.is_empty() {
        BTreeSet::new()
    } else {
        let inserted: Vec<IdBytes> = NewLinks::of(account, &candidates).load(connection).await?;
        inserted.into_iter().collect()
    };
    let Some(count) = counters::move_links(connection, account, signed(inserted.len())).await? else {
        return Ok(None);
    };

    let mut room = links_limit.saturating_sub(count);
    let mut insertions = Vec::with_capacity(links.len());
    let mut excess = Vec::new();
    let mut leaving = GroupMoves::of(account);
    for link in links {
        let is_in = inserted.contains(&link.id().into());
        let insertion = if !has_its_group(link) {
            Insertion::GroupMissing
        } else if room == 0 {
            if is_in {
                excess.push(IdBytes::from(link.id()));
            }
            Insertion::LimitReached
        } else if is_in {
            room -= 1;
            Insertion::Done
        } else {
            Insertion::AddressTaken
        };
        match (insertion, link.group_id()) {
            (Insertion::LimitReached | Insertion::AddressTaken, Some(group)) => {
                leaving.leave(group, link.kind());
            }
            // A group that is not there was not counted in.
            (Insertion::Done | Insertion::GroupMissing, _) | (_, None) => {}
        }
        insertions.push(insertion);
    }
    if !excess.is_empty() {
        let too_many = signed(excess.len());
        diesel::delete(links::table.filter(links::id.eq_any(excess))).execute(connection).await?;
        counters::move_links(connection, account, -too_many).await?;
    }
    leaving.apply(connection).await?;
    Ok(Some(insertions))
}

/// Two links with one id are a defect; and if they had one address too, the first would count for both.
fn refuse_repeated_ids(links: &[Link]) -> Result<(), Failure> {
    let mut seen = BTreeSet::new();
    match links.iter().find(|link| !seen.insert(link.id().to_bytes())) {
        None => Ok(()),
        Some(link) => Err(Failure::Other(format!("two links to be inserted have the id {}", link.id()))),
    }
}

#[cfg(test)]
mod tests {
    use signpost_domain::{Id, Landing};
    use signpost_port_contracts::samples;

    use super::*;

    /// With one address too, the second would be kept out by the first, and go unnoticed.
    #[test]
    fn a_batch_that_has_an_id_twice_is_refused_whatever_the_addresses() {
        let redirect = samples::redirect("a");
        let id = Id::from_bytes(redirect.id.to_bytes());
        let same_id = Landing { id, ..samples::landing("b") };
        for repeated in [Link::from(redirect.clone()), Link::from(same_id)] {
            let links = [Link::from(redirect.clone()), samples::landing("c").into(), repeated];
            assert!(matches!(refuse_repeated_ids(&links), Err(Failure::Other(_))));
            assert!(refuse_repeated_ids(&links[..2]).is_ok());
        }
    }
}
