//! Changing many links a bounded number at a time, so that none of it holds the one writer for long.

use std::collections::BTreeMap;

use diesel::prelude::*;
use signpost_domain::{AccountId, GroupId, Timestamp};

use crate::columns::IdBytes;
use crate::failure::Failure;
use crate::groups::later_of;
use crate::rows::redirect::REDIRECT;
use crate::schema::{accounts, groups, links};

/// A link to be changed: its id and its kind.
type Found = (Vec<u8>, i32);

/// Links of each kind.
#[derive(Debug, Default, Clone, Copy)]
struct Count {
    landings: i64,
    redirects: i64,
}

impl Count {
    const fn add(&mut self, kind: i32) {
        if kind == REDIRECT { self.redirects += 1 } else { self.landings += 1 }
    }
}

/// Deletes up to `at_most` of the account's links and moves the counts of the account and of their groups.
pub(crate) fn delete(
    connection: &mut SqliteConnection,
    account: AccountId,
    at_most: u16,
) -> Result<u16, Failure> {
    let account = IdBytes::from(account);
    let found: Vec<(Found, Option<Vec<u8>>)> = links::table
        .filter(links::account_id.eq(account))
        .select(((links::id, links::kind), links::group_id))
        .limit(i64::from(at_most))
        .load(connection)?;
    let mut in_groups: BTreeMap<Vec<u8>, Count> = BTreeMap::new();
    let mut ids = Vec::with_capacity(found.len());
    for ((id, kind), group) in found {
        ids.push(id);
        if let Some(group) = group {
            in_groups.entry(group).or_default().add(kind);
        }
    }
    let deleted = diesel::delete(links::table.filter(links::id.eq_any(ids))).execute(connection)?;
    for (group, count) in in_groups {
        discount(connection, account, &group, count)?;
    }
    let fewer = i64::try_from(deleted).unwrap_or_default();
    diesel::update(accounts::table.find(account))
        .set(accounts::links_count.eq(accounts::links_count - fewer))
        .execute(connection)?;
    Ok(u16::try_from(deleted).unwrap_or(at_most))
}

/// Takes up to `at_most` links out of a group and moves its counts.
pub(crate) fn ungroup(
    connection: &mut SqliteConnection,
    account: AccountId,
    group: GroupId,
    at_most: u16,
    now: Timestamp,
) -> Result<u16, Failure> {
    let bytes = group.to_bytes();
    let (account, group) = (IdBytes::from(account), IdBytes::from(group));
    let found: Vec<Found> = links::table
        .filter(links::account_id.eq(account))
        .filter(links::group_id.eq(group))
        .select((links::id, links::kind))
        .limit(i64::from(at_most))
        .load(connection)?;
    let mut count = Count::default();
    let mut ids = Vec::with_capacity(found.len());
    for (id, kind) in found {
        ids.push(id);
        count.add(kind);
    }
    let taken = diesel::update(links::table.filter(links::id.eq_any(ids)))
        .set((
            links::group_id.eq(None::<IdBytes>),
            links::updated_at.eq(later_of(links::updated_at, now.unix_millis())),
        ))
        .execute(connection)?;
    discount(connection, account, &bytes, count)?;
    Ok(u16::try_from(taken).unwrap_or(at_most))
}

/// Counts so many links less in a group.
fn discount(
    connection: &mut SqliteConnection,
    account: IdBytes,
    group: &[u8],
    count: Count,
) -> QueryResult<()> {
    let Count { landings, redirects } = count;
    diesel::update(groups::table.filter(groups::account_id.eq(account)).filter(groups::id.eq(group)))
        .set((
            groups::landings_count.eq(groups::landings_count - landings),
            groups::redirects_count.eq(groups::redirects_count - redirects),
        ))
        .execute(connection)?;
    Ok(())
}
