//! Creating a redirect (D28).

use signpost_domain::{
    IncompleteRedirect, LinkContext, Placement, PlanResource, Redirect, RedirectDraft, RedirectId, Refusal,
    Slug, SlugChoice, site_for_new_link,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{InsertRedirectError, UnitOfWork};
use crate::unit_of_work::retried;

/// How many slugs are drawn before generation gives up. With the seven characters of D21 even a system domain
/// with a billion links has a free one at the first draw in 99.9 of 100 cases.
const DRAWS: u32 = 10;

/// What the request asks for: a whole draft, or what can be read of one with violations in it.
pub type CreateRedirect = Result<RedirectDraft, IncompleteRedirect>;

/// Creates a redirect.
///
/// # Errors
/// [`AppError::Invalid`] with every violation; [`AppError::Refused`] with the first that applies of: no such
/// domain, the domain is not active, a slug is required, the slug is reserved, a feature that the plan lacks, no such
/// group, the plan's limit, the address is taken.
pub async fn create(
    app: &Application,
    caller: &Caller,
    command: CreateRedirect,
) -> Result<Redirect, AppError> {
    let now = app.clock.now();
    let blocklist = app.target_blocklist.current();
    let context = app.link_context(caller.plan().features, &blocklist, now);
    let draft = command.map_err(|incomplete| AppError::Invalid(incomplete.all_violations(&context)))?;
    let id = app.ids.next();
    retried(|| async {
        let mut work = app.store.begin().await?;
        let redirect = insert(app, caller, work.as_mut(), id, &draft, &context).await?;
        work.commit().await?;
        Ok(redirect)
    })
    .await
}

async fn insert(
    app: &Application,
    caller: &Caller,
    work: &mut dyn UnitOfWork,
    id: RedirectId,
    draft: &RedirectDraft,
    context: &LinkContext<'_>,
) -> Result<Redirect, AppError> {
    let limit = caller.plan().limits.of(PlanResource::Links);
    for _ in 0..DRAWS {
        let (slug, drawn) = match &draft.slug {
            SlugChoice::Generate => (Some(draw_slug(app)?), true),
            SlugChoice::Root => (None, false),
            SlugChoice::Exactly(slug) => (Some(slug.clone()), false),
        };
        let redirect = build(id, draft, slug, context)?;
        match work.insert_redirect(caller.account_id(), &redirect, limit).await {
            Ok(()) => return Ok(redirect),
            Err(InsertRedirectError::AddressTaken) if drawn => {}
            Err(InsertRedirectError::AddressTaken) => return Err(Refusal::AddressTaken.into()),
            Err(InsertRedirectError::GroupMissing) => return Err(Refusal::GroupNotFound.into()),
            Err(InsertRedirectError::AccountMissing) => return Err(AppError::AccountGone),
            Err(InsertRedirectError::LimitReached) => {
                return Err(Refusal::PlanLimitReached { resource: PlanResource::Links, limit }.into());
            }
            Err(InsertRedirectError::Store(error)) => return Err(error.into()),
        }
    }
    Err(AppError::NoFreeSlug { attempts: DRAWS })
}

/// What is wrong with the request comes before what refuses it, so the target is judged also when the placement
/// is refused.
fn build(
    id: RedirectId,
    draft: &RedirectDraft,
    slug: Option<Slug>,
    context: &LinkContext<'_>,
) -> Result<Redirect, AppError> {
    let placement = site_for_new_link(draft.domain.clone(), context.system, context.named_domain)
        .and_then(|site| Placement::new(site, slug));
    match placement {
        Ok(placement) => Ok(Redirect::create(id, draft.clone(), placement, context)?),
        Err(refusal) => {
            draft.violations_without_placement(context).into_result(()).map_err(AppError::Invalid)?;
            Err(refusal.into())
        }
    }
}

fn draw_slug(app: &Application) -> Result<Slug, AppError> {
    let mut bytes = [0; 16];
    app.randomness.fill(&mut bytes)?;
    Ok(Slug::from_random(bytes))
}
