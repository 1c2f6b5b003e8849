//! Creating links: the way that single and bulk creation of either kind share, so that an item of a batch is judged
//! like a request of its own.

use std::collections::HashSet;

use signpost_domain::{
    Address, Id, Link, LinkContext, LinkDraft, PlanResource, Refusal, Rejection, Slug, SlugChoice,
};

use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::ports::{InsertLinksError, Insertion, StoreError, UnitOfWork};
use crate::unit_of_work::retried;

/// How many slugs are drawn for a link before generation gives up. With the seven characters of D21 even a system
/// domain with a billion links has a free one at the first draw in 99.9 of 100 cases, so hardly any batch costs the
/// statements of a second round.
const DRAWS: u32 = 10;

/// Creates one link.
///
/// # Errors
/// [`AppError::Invalid`] with every violation; [`AppError::Refused`] with the first that applies of: no such
/// domain, the domain is not active, a slug is required, the slug is reserved, a feature that the plan lacks, no such
/// group, the plan's limit, the address is taken.
pub(crate) async fn create_one<D: LinkDraft>(
    app: &Application,
    caller: &Caller,
    draft: D,
    context: &LinkContext<'_>,
) -> Result<D::Link, AppError> {
    let outcome = create_all(app, caller, vec![Ok(draft)], context).await?.pop();
    let outcome = outcome.ok_or_else(|| StoreError::unavailable("a creation without an outcome"))?;
    Ok(outcome?)
}

/// Creates links as if one after another, each unless something stands against it, and commits them together (D30).
/// The answer says of each, in the same order, what became of it. An item that is rejected already stays so.
///
/// # Errors
/// Something broke, and nothing was created.
pub(crate) async fn create_all<D: LinkDraft>(
    app: &Application,
    caller: &Caller,
    drafts: Vec<Result<D, Rejection>>,
    context: &LinkContext<'_>,
) -> Result<Vec<Result<D::Link, Rejection>>, AppError> {
    // Ids are given out in the order of the batch (D29), and once, however often the unit of work is run.
    let drafts: Vec<_> = drafts.into_iter().map(|draft| draft.map(|draft| (app.ids.next(), draft))).collect();
    retried(|| async {
        let mut batch = Batch::new(app, &drafts, context)?;
        if !batch.waiting.is_empty() {
            let mut work = app.store.begin().await?;
            batch.insert(app, caller, work.as_mut(), context).await?;
            if batch.outcomes.iter().any(Result::is_ok) {
                work.commit().await?;
            }
        }
        Ok(batch.outcomes)
    })
    .await
}

type Identified<D> = (Id<<D as LinkDraft>::Kind>, D);

/// A batch on its way into the store.
struct Batch<'a, D: LinkDraft> {
    /// What became of each item so far; those that wait for the store stand as built.
    outcomes: Vec<Result<D::Link, Rejection>>,
    waiting: Vec<Waiting<'a, D>>,
    /// The addresses that items of this batch have taken.
    claimed: HashSet<Address>,
}

/// An item that the store has not judged yet.
struct Waiting<'a, D: LinkDraft> {
    index: usize,
    draft: &'a Identified<D>,
    link: Link,
}

impl<'a, D: LinkDraft> Batch<'a, D> {
    fn new(
        app: &Application,
        drafts: &'a [Result<Identified<D>, Rejection>],
        context: &LinkContext<'_>,
    ) -> Result<Self, AppError> {
        let mut batch = Self { outcomes: vec![], waiting: vec![], claimed: HashSet::new() };
        for (index, draft) in drafts.iter().enumerate() {
            let built = match draft {
                Ok(draft) => build(app, draft, context)?.inspect(|link| {
                    batch.waiting.push(Waiting { index, draft, link: link.clone().into() });
                }),
                Err(rejection) => Err(rejection.clone()),
            };
            batch.outcomes.push(built);
        }
        Ok(batch)
    }

    /// Lets the store judge the items, again and again for those whose drawn slug is taken.
    async fn insert(
        &mut self,
        app: &Application,
        caller: &Caller,
        work: &mut dyn UnitOfWork,
        context: &LinkContext<'_>,
    ) -> Result<(), AppError> {
        for _ in 0..DRAWS {
            let waiting = std::mem::take(&mut self.waiting);
            let limit = caller.plan().limits.of(PlanResource::Links);
            for (item, insertion) in insert_links(work, caller, waiting, limit).await? {
                match insertion {
                    Insertion::Done => self.claimed.extend(item.link.placement().address()),
                    Insertion::GroupMissing => self.refuse(item.index, Refusal::GroupNotFound),
                    Insertion::LimitReached => {
                        let resource = PlanResource::Links;
                        self.refuse(item.index, Refusal::PlanLimitReached { resource, limit });
                    }
                    Insertion::AddressTaken => self.give_way(app, item, context)?,
                }
            }
            if self.waiting.is_empty() {
                return Ok(());
            }
        }
        Err(AppError::NoFreeSlug { attempts: DRAWS })
    }

    fn refuse(&mut self, index: usize, refusal: Refusal) {
        self.settle(index, Err(refusal.into()));
    }

    fn settle(&mut self, index: usize, outcome: Result<D::Link, Rejection>) {
        if let Some(place) = self.outcomes.get_mut(index) {
            *place = outcome;
        }
    }

    /// The address of an item is taken: one that was drawn is drawn anew, another is refused.
    fn give_way(
        &mut self,
        app: &Application,
        item: Waiting<'a, D>,
        context: &LinkContext<'_>,
    ) -> Result<(), AppError> {
        let Waiting { index, draft, link } = item;
        if *draft.1.slug() != SlugChoice::Generate {
            let is_ours = link.placement().address().is_some_and(|address| self.claimed.contains(&address));
            self.refuse(index, if is_ours { Refusal::DuplicateSlugInBatch } else { Refusal::AddressTaken });
            return Ok(());
        }
        let built = build(app, draft, context)?;
        if let Ok(link) = &built {
            self.waiting.push(Waiting { index, draft, link: link.clone().into() });
        }
        self.settle(index, built);
        Ok(())
    }
}

/// What the store makes of each item.
async fn insert_links<'a, D: LinkDraft>(
    work: &mut dyn UnitOfWork,
    caller: &Caller,
    waiting: Vec<Waiting<'a, D>>,
    limit: u64,
) -> Result<impl Iterator<Item = (Waiting<'a, D>, Insertion)> + use<'a, D>, AppError> {
    let links: Vec<Link> = waiting.iter().map(|item| item.link.clone()).collect();
    let insertions = match work.insert_links(caller.account_id(), &links, limit).await {
        Ok(insertions) if insertions.len() == links.len() => insertions,
        Ok(_) => {
            return Err(StoreError::unavailable("the store has not said what became of each link").into());
        }
        Err(InsertLinksError::AccountMissing) => return Err(AppError::AccountGone),
        Err(InsertLinksError::Store(error)) => return Err(error.into()),
    };
    Ok(waiting.into_iter().zip(insertions))
}

/// The link of a draft, with the slug that it names or with one that is drawn.
fn build<D: LinkDraft>(
    app: &Application,
    draft: &Identified<D>,
    context: &LinkContext<'_>,
) -> Result<Result<D::Link, Rejection>, AppError> {
    let (id, draft) = draft;
    let slug = match draft.slug() {
        SlugChoice::Generate => Some(draw_slug(app)?),
        SlugChoice::Root => None,
        SlugChoice::Exactly(slug) => Some(slug.clone()),
    };
    Ok(draft.create_with_slug(*id, slug, context))
}

fn draw_slug(app: &Application) -> Result<Slug, AppError> {
    let mut bytes = [0; 16];
    app.randomness.fill(&mut bytes)?;
    Ok(Slug::from_random(bytes))
}
