//! Creates or changes the link with an external id (D121).

use signpost_domain::{
    Change, ExternalId, Id, IdReference, Link, LinkIdKind, LinkRequest, Permission, Precondition, Refusal,
    Submitted, Unmet, ViolationCode, Violations,
};

use super::passwords::hash_changes;
use super::resource::LinkResource;
use super::{create, update};
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::Idempotency;
use crate::ports::StoreError;

/// How often other requests may create or delete the link between the look and the change.
const ATTEMPTS: usize = 5;

/// What became of the link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Put<S> {
    /// It is new.
    Created(S),
    /// It existed. This is the link after the change.
    Changed(S),
}

/// Creates the caller's link with this external id, or changes it field by field as [`update`](fn@super::update) does. The
/// store decides whether it exists: of several requests at once, one creates it.
///
/// # Errors
/// Those of [`create`](fn@super::create) and of [`update`](fn@super::update), except that the link is not found. If a link of
/// the other kind has the external id, [`AppError::Invalid`].
pub async fn put<C: LinkResource>(
    app: &Application,
    caller: &Caller,
    external_id: &ExternalId,
    request: Submitted<LinkRequest<C::Request>>,
    precondition: &Precondition,
) -> Result<Put<C::Single>, AppError> {
    caller.require(Permission::WriteLinks)?;
    let password = hash_changes(app, caller, [Some(&request)]).await?.pop().unwrap_or_default();
    let named = std::slice::from_ref(external_id);
    let mut was_without_room = false;
    for _ in 0..ATTEMPTS {
        let found = app.store.links_with_external_ids(caller.account_id(), named).await?;
        let Some((_, id)) = found.into_iter().next() else {
            if !precondition.holds_for(None) {
                return Err(Refusal::PreconditionFailed(Unmet::Missing).into());
            }
            let mut creation = request.clone();
            creation.value.external_id = Change::Set(external_id.clone());
            match create::create_hashed::<C>(app, caller, creation, password.clone(), Idempotency::disabled())
                .await
            {
                Err(AppError::Invalid(violations)) if is_about_taken_id(&violations) => continue,
                // The last free place of the plan may have gone to this link.
                Err(AppError::Refused(Refusal::PlanLimitReached { .. })) if !was_without_room => {
                    was_without_room = true;
                    continue;
                }
                created => return created.map(Put::Created),
            }
        };
        if id.kind() != C::Kind::LINK_KIND {
            return Err(AppError::Invalid(ExternalId::taken_by(Some(id)).into()));
        }
        let not_found = C::Kind::LINK_KIND.not_found();
        let id = IdReference::Id(Id::from_bytes(id.to_bytes()));
        let check = |link: &Link| {
            if link.external_id.as_ref() != Some(external_id) {
                // It was given another one after the look.
                return Err(not_found.clone().into());
            }
            Ok(precondition.check(link.revision)?)
        };
        match update::update_that::<C>(app, caller, id, request.clone(), password.clone(), check).await {
            Err(AppError::Refused(refusal)) if refusal == not_found => {}
            changed => return changed.map(Put::Changed),
        }
    }
    Err(StoreError::unavailable("the link with an external id appears and disappears").into())
}

/// Whether another request has created the link meanwhile.
fn is_about_taken_id(violations: &Violations) -> bool {
    let mut all = violations.iter();
    all.any(|one| one.field() == ExternalId::FIELD && one.code() == ViolationCode::AlreadyTaken)
}
