//! Creating a pixel (D36).

use signpost_domain::{Feature, Name, Pixel, PixelCode, PlanResource, Refusal};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Conclusion, Operation};
use crate::ports::InsertPixelError;

/// What the request asks for.
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
    conclusion: Conclusion<'_, Pixel>,
) -> Result<Pixel, AppError> {
    let NewPixel { code, name } = command;
    let pixel = Pixel { id: app.ids.next(), code, name, created_at: app.clock.now() };
    let limit = caller.plan().limits.of(PlanResource::Pixels);
    let operation = Operation::new(app, caller, conclusion);
    operation
        .run(|| async {
            if !caller.plan().features.contains(Feature::Pixels) {
                return Err(Refusal::FeatureNotAvailable(Feature::Pixels).into());
            }
            let mut work = operation.begin().await?;
            match work.insert_pixel(caller.account_id(), &pixel, limit).await {
                Ok(()) => {}
                Err(InsertPixelError::AccountMissing) => return Err(AppError::AccountGone),
                Err(InsertPixelError::LimitReached) => {
                    return Err(Refusal::PlanLimitReached { resource: PlanResource::Pixels, limit }.into());
                }
                Err(InsertPixelError::Store(error)) => return Err(error.into()),
            }
            operation.conclude(Some(work), true, &pixel).await?;
            Ok(pixel.clone())
        })
        .await
}
