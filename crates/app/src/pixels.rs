//! Use cases of pixels (contract "Redirect", D5, D36).

use signpost_domain::id::PixelKind;
use signpost_domain::{
    AuditAction, Feature, IdReference, Name, Page, PageLimit, PagePosition, Permission, Pixel, PixelCode,
    PixelId, PlanResource, Refusal,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::audit::{Deed, record};
use crate::caller::Caller;
use crate::idempotency::{Idempotency, Operation};
use crate::unit_of_work::{Attempts, commit};

const NOT_FOUND: Refusal = Refusal::NotFound("pixel");

/// The pixel to create.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPixel {
    /// `pixel_type` and `pixel_id`
    pub code: PixelCode,
    /// `name`
    pub name: Option<Name>,
}

/// Creates a pixel. Two pixels may have the same code.
///
/// # Errors
/// [`Refusal::FeatureNotAvailable`], [`Refusal::PlanLimitReached`].
pub async fn create(
    app: &Application,
    caller: &Caller,
    command: NewPixel,
    idempotency: Idempotency<'_, Pixel>,
) -> Result<Pixel, AppError> {
    caller.require(Permission::WriteLinks)?;
    let NewPixel { code, name } = command;
    let pixel = Pixel { id: app.ids.next(), code, name, created_at: app.clock.now() };
    let limit = caller.plan().limits.of(PlanResource::Pixels);
    let operation = Operation::new(app, caller, idempotency);
    operation
        .run(|| async {
            if !caller.plan().features.contains(Feature::Pixels) {
                return Err(Refusal::FeatureNotAvailable(Feature::Pixels).into());
            }
            let mut work = operation.begin().await?;
            let inserted = work.insert_pixel(caller.account_id(), &pixel, limit).await;
            inserted.map_err(|error| AppError::not_inserted(error, PlanResource::Pixels, limit))?;
            operation.finish(Some(work), true, &pixel).await?;
            Ok(pixel.clone())
        })
        .await
}

/// One page of the caller's pixels, newest first.
pub async fn list(
    app: &Application,
    caller: &Caller,
    limit: PageLimit,
    after: Option<PagePosition>,
) -> Result<Page<Pixel>, AppError> {
    caller.require(Permission::Read)?;
    Ok(app.store.pixels(caller.account_id(), limit, after).await?)
}

/// The caller's pixel with this id.
///
/// # Errors
/// [`Refusal::NotFound`] (D2).
pub async fn get(app: &Application, caller: &Caller, id: IdReference<PixelKind>) -> Result<Pixel, AppError> {
    caller.require(Permission::Read)?;
    let id = id.id().ok_or(NOT_FOUND)?;
    let pixel = app.store.pixel(caller.account_id(), id).await?;
    Ok(pixel.ok_or(NOT_FOUND)?)
}

/// Deletes a pixel. It disappears from all redirects.
///
/// # Errors
/// [`Refusal::NotFound`] (D2).
pub async fn delete(
    app: &Application,
    caller: &Caller,
    id: IdReference<PixelKind>,
) -> Result<PixelId, AppError> {
    caller.require(Permission::WriteLinks)?;
    let id = id.id().ok_or(NOT_FOUND)?;
    let attempts = Attempts::at(app);
    attempts
        .run(|| async {
            let mut work = attempts.begin().await?;
            if !work.delete_pixel(caller.account_id(), id).await? {
                return Err(NOT_FOUND.into());
            }
            let deed = Deed::of(caller, AuditAction::PixelDeleted, id.to_string());
            record(app, work.as_mut(), deed).await?;
            commit(app, work).await?;
            Ok(id)
        })
        .await
}
