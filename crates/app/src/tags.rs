//! Use cases of tags (D122). Links get their tags when they are created or changed.

use signpost_domain::id::TagKind;
use signpost_domain::{
    AuditAction, IdReference, Page, PageLimit, PagePosition, Permission, Tag, TagId, TagName,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::ports::RenameTagError;
use crate::unit_of_work::{Attempts, commit};

/// How many links one unit of work takes off a tag.
const LINKS_AT_ONCE: u16 = 1_000;

/// One page of the caller's tags, newest first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Tag>, AppError> {
    caller.require(Permission::Read)?;
    Ok(app.store.tags(caller.account_id(), limit, after).await?)
}

/// Renames a tag and returns it. If another tag has the name, the links go over to that tag, a thousand at a time (ADR 23), and the
/// answer is that tag; the last unit of work also deletes the tag that they leave. An interrupted merge can be repeated.
///
/// # Errors
/// [`Tag::NOT_FOUND`].
pub async fn rename(
    app: &Application,
    caller: &Caller,
    id: IdReference<TagKind>,
    name: TagName,
) -> Result<Tag, AppError> {
    caller.require(Permission::WriteLinks)?;
    let id = id.id().ok_or(Tag::NOT_FOUND)?;
    loop {
        if let Some(tag) = rename_or_merge_some(app, caller, id, &name).await? {
            return Ok(tag);
        }
    }
}

/// Renames the tag, or moves up to a thousand of its links to the tag that has the name. `None` if more are left.
async fn rename_or_merge_some(
    app: &Application,
    caller: &Caller,
    id: TagId,
    name: &TagName,
) -> Result<Option<Tag>, AppError> {
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let before = work.lock_tag(account, id).await?.ok_or(Tag::NOT_FOUND)?;
            let mut object = format!("{id} {name}");
            let mut renamed = None;
            if before == *name {
                return Ok(Some(work.locked_tag(account, id).await?));
            }
            match work.rename_tag(account, id, name).await {
                Ok(()) => renamed = Some(work.locked_tag(account, id).await?),
                Err(RenameTagError::Store(error)) => return Err(error.into()),
                Err(RenameTagError::NameTaken(other)) => {
                    if work.lock_tag(account, other).await?.is_none() {
                        // It was deleted meanwhile, so the name is free.
                        return Ok(None);
                    }
                    if work.move_tagged_links(account, id, other, LINKS_AT_ONCE).await? < LINKS_AT_ONCE {
                        work.delete_tag(account, id).await?;
                        renamed = Some(work.locked_tag(account, other).await?);
                        object = format!("{id} into {other} {name}");
                    }
                }
            }
            if renamed.is_some() {
                record(app, work.as_mut(), Deed::of(caller, AuditAction::TagRenamed, object)).await?;
            }
            commit(app, work).await?;
            Ok(renamed)
        })
        .await
}

/// Deletes a tag. It is taken off its links, a thousand at a time (ADR 23); the last unit of work also deletes the tag.
///
/// # Errors
/// [`Tag::NOT_FOUND`].
pub async fn delete(app: &Application, caller: &Caller, id: IdReference<TagKind>) -> Result<TagId, AppError> {
    caller.require(Permission::WriteLinks)?;
    let id = id.id().ok_or(Tag::NOT_FOUND)?;
    while !delete_or_shrink(app, caller, id).await? {}
    Ok(id)
}

/// Takes the tag off up to a thousand links, and deletes it if none is left. Returns whether it is deleted.
async fn delete_or_shrink(app: &Application, caller: &Caller, id: TagId) -> Result<bool, AppError> {
    let account = caller.account_id();
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            let name = work.lock_tag(account, id).await?.ok_or(Tag::NOT_FOUND)?;
            let is_last = work.untag_links(account, id, LINKS_AT_ONCE).await? < LINKS_AT_ONCE;
            if is_last {
                work.delete_tag(account, id).await?;
                let deed = Deed::of(caller, AuditAction::TagDeleted, format!("{id} {name}"));
                record(app, work.as_mut(), deed).await?;
            }
            commit(app, work).await?;
            Ok(is_last)
        })
        .await
}
