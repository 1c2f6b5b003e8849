//! Lists links of both kinds together.

use signpost_domain::{Link, LinkKind, Page, PagePosition, Permission, Timestamp};

use super::list::{ListLinks, kind_page};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;

/// One page of the caller's links of both kinds, newest first. It takes two reads of the store, each of one page. The filter by states
/// is as of `now`, which is also the instant to show the links at.
///
/// # Errors
/// [`AppError::TooManySearches`] if the filter makes it a search, and the account has too many of them in flight.
pub async fn list_all(
    app: &Application,
    caller: &Caller,
    query: ListLinks,
    now: Timestamp,
) -> Result<Page<Link>, AppError> {
    caller.require(Permission::Read)?;
    let redirects = kind_page(app, caller, LinkKind::Redirect, query.clone(), now).await?;
    let limit = usize::from(query.limit.get());
    let landings = kind_page(app, caller, LinkKind::Landing, query, now).await?;
    Ok(merged(redirects, landings, limit))
}

/// The first page of what two lists have together, if each is given as its own first page.
fn merged(one: Page<Link>, other: Page<Link>, limit: usize) -> Page<Link> {
    // Beyond its own page a list may have links that are newer than the rest of the other page.
    let known_down_to = [one.next, other.next].into_iter().flatten().map(PagePosition::to_bytes).max();
    let left_out = one.left_out + other.left_out;
    let mut items: Vec<Link> = one.items.into_iter().chain(other.items).collect();
    items.sort_unstable_by_key(|link| std::cmp::Reverse(link.id().to_bytes()));
    items.retain(|link| known_down_to.is_none_or(|bound| link.id().to_bytes() >= bound));
    let mut next = known_down_to;
    if items.len() > limit {
        items.truncate(limit);
        next = items.last().map(|last| last.id().to_bytes());
    }
    Page { items, next: next.map(PagePosition::behind), left_out }
}
