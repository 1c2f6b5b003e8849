//! Creating links: the way that single and bulk creation of either kind share, so that an item of a batch is judged
//! like a request of its own.

use std::collections::{HashMap, HashSet};

use signpost_domain::{
    Address, Hostname, Id, Link, LinkContext, LinkDraft, LinkId, NamedDomains, PageContent, PlanResource,
    Refusal, Rejection, Slug, SlugChoice,
};

use super::rules::LinkRules;
use crate::app_error::AppError;
use crate::application::Application;
use crate::caller::Caller;
use crate::idempotency::{Conclusion, Operation};
use crate::ports::{InsertLinksError, Insertion, UnitOfWork};

/// How many slugs are drawn for a link before generation gives up. With the seven characters of D21 and ten million links
/// on the system domain, one full batch in 1,600 needs a second draw, and none a third in anybody's lifetime.
const DRAWS: u32 = 10;

/// Creates one link. If it is a landing page, `page` is what is on it.
///
/// # Errors
/// [`AppError::Invalid`] with every violation; [`AppError::Refused`] with the first that applies of: no such
/// domain, the domain is not active, a slug is required, the slug is reserved, a feature that the plan lacks, no such
/// group, the plan's limit, the address is taken.
pub(crate) async fn create_one<D: LinkDraft>(
    rules: &LinkRules<'_>,
    caller: &Caller,
    draft: D,
    page: Option<&PageContent>,
    conclusion: Conclusion<'_, D::Link>,
) -> Result<D::Link, AppError> {
    // A refusal is remembered otherwise than an outcome of a batch, so it is told as one.
    let conclusion = conclusion.of_part(|outcomes: &Outcomes<D>| outcomes.first()?.as_ref().ok().cloned());
    let operation = Operation::new(rules.app, caller, conclusion);
    let drafts = Drafts::new(rules, vec![Ok(draft)]);
    operation
        .run(|| async {
            let outcome = create(&operation, rules, caller, &drafts, page).await?.pop();
            Ok(outcome.ok_or(AppError::NoOutcome)??)
        })
        .await
}

/// What became of each item.
type Outcomes<D> = Vec<Result<<D as LinkDraft>::Link, Rejection>>;

/// Creates links as if one after another, each unless something stands against it, and commits them together (D30).
/// The answer says of each, in the same order, what became of it. An item that is rejected already stays so.
///
/// # Errors
/// Something broke, and nothing was created.
pub(crate) async fn create_all<D: LinkDraft>(
    rules: &LinkRules<'_>,
    caller: &Caller,
    drafts: Vec<Result<D, Rejection>>,
    conclusion: Conclusion<'_, Outcomes<D>>,
) -> Result<Outcomes<D>, AppError> {
    let operation = Operation::new(rules.app, caller, conclusion);
    let drafts = Drafts::new(rules, drafts);
    operation.run(|| create(&operation, rules, caller, &drafts, None)).await
}

/// What the attempts have in common.
struct Drafts<D: LinkDraft> {
    /// With the ids that their links will have: given out in the order of the batch (D29), and once, however often the unit
    /// of work is run.
    items: Vec<Result<Identified<D>, Rejection>>,
    /// The hostnames that they name, each once, without those of the system domain.
    hostnames: Vec<Hostname>,
}

impl<D: LinkDraft> Drafts<D> {
    fn new(rules: &LinkRules<'_>, drafts: Vec<Result<D, Rejection>>) -> Self {
        let named = drafts.iter().filter_map(|draft| draft.as_ref().ok()?.domain());
        let hostnames = rules.custom_hostnames(named);
        let identified = |draft| Identified { id: rules.app.ids.next(), draft };
        Self { items: drafts.into_iter().map(|draft| draft.map(identified)).collect(), hostnames }
    }
}

/// One attempt.
async fn create<D: LinkDraft>(
    operation: &Operation<'_, Outcomes<D>>,
    rules: &LinkRules<'_>,
    caller: &Caller,
    drafts: &Drafts<D>,
    page: Option<&PageContent>,
) -> Result<Outcomes<D>, AppError> {
    let mut work = None;
    let named_domains = if drafts.hostnames.is_empty() {
        NamedDomains::default()
    } else {
        rules.hold(work.insert(operation.begin().await?).as_mut(), &drafts.hostnames).await?
    };
    let context = rules.context(&named_domains);
    let mut creation = Creation::new(rules.app, caller, &drafts.items, page, &context)?;
    if !creation.waiting.is_empty() {
        let work = match &mut work {
            Some(work) => work,
            None => work.insert(operation.begin().await?),
        };
        creation.insert(work.as_mut()).await?;
    }
    let outcomes: Result<Outcomes<D>, AppError> =
        creation.outcomes.into_iter().map(|outcome| outcome.ok_or(AppError::NoOutcome)).collect();
    let outcomes = outcomes?;
    operation.conclude(work, outcomes.iter().any(Result::is_ok), &outcomes).await?;
    Ok(outcomes)
}

/// A draft with the id that its link will have.
struct Identified<D: LinkDraft> {
    id: Id<D::Kind>,
    draft: D,
}

/// One attempt to create links.
struct Creation<'a, D: LinkDraft> {
    app: &'a Application,
    caller: &'a Caller,
    context: &'a LinkContext<'a>,
    page: Option<&'a PageContent>,
    /// What became of each item; `None` while that is open.
    outcomes: Vec<Option<Result<D::Link, Rejection>>>,
    /// The items that the store has not judged yet.
    waiting: Vec<Waiting<'a, D>>,
    /// The addresses that items of this batch have taken.
    claimed: HashSet<Address>,
    /// The items whose addresses others had taken before, with these addresses.
    taken: Vec<(usize, Address)>,
}

struct Waiting<'a, D: LinkDraft> {
    index: usize,
    draft: &'a Identified<D>,
    link: D::Link,
}

impl<'a, D: LinkDraft> Creation<'a, D> {
    fn new(
        app: &'a Application,
        caller: &'a Caller,
        drafts: &'a [Result<Identified<D>, Rejection>],
        page: Option<&'a PageContent>,
        context: &'a LinkContext<'a>,
    ) -> Result<Self, AppError> {
        let outcomes = drafts.iter().map(|_| None).collect();
        let (waiting, claimed, taken) = (vec![], HashSet::new(), vec![]);
        let mut creation = Self { app, caller, context, page, outcomes, waiting, claimed, taken };
        for (index, draft) in drafts.iter().enumerate() {
            match draft {
                Ok(draft) => creation.build(index, draft)?,
                Err(rejection) => creation.settle(index, Err(rejection.clone())),
            }
        }
        Ok(creation)
    }

    /// Builds the link of an item, with the slug that its draft names or with one that is drawn.
    fn build(&mut self, index: usize, draft: &'a Identified<D>) -> Result<(), AppError> {
        let slug = match draft.draft.slug() {
            SlugChoice::Generate => Some(draw_slug(self.app)?),
            SlugChoice::Root => None,
            SlugChoice::Exactly(slug) => Some(slug.clone()),
        };
        match draft.draft.create_with_slug(draft.id, slug, self.context) {
            Ok(link) => self.waiting.push(Waiting { index, draft, link }),
            Err(rejection) => self.settle(index, Err(rejection)),
        }
        Ok(())
    }

    /// Lets the store judge the items, again and again for those whose drawn slug is taken.
    async fn insert(&mut self, work: &mut dyn UnitOfWork) -> Result<(), AppError> {
        let limit = self.caller.plan().limits.of(PlanResource::Links);
        for _ in 0..DRAWS {
            let waiting = std::mem::take(&mut self.waiting);
            let links: Vec<Link> = waiting.iter().map(|item| item.link.clone().into()).collect();
            let insertions = match work.insert_links(self.caller.account_id(), &links, limit).await {
                Ok(insertions) => insertions,
                Err(InsertLinksError::AccountMissing) => return Err(AppError::AccountGone),
                Err(InsertLinksError::Store(error)) => return Err(error.into()),
            };
            for ((item, link), insertion) in waiting.into_iter().zip(links).zip(insertions) {
                let refusal = match insertion {
                    Insertion::Done => {
                        self.write_content(work, &link).await?;
                        self.claimed.extend(link.placement().address());
                        self.settle(item.index, Ok(item.link));
                        continue;
                    }
                    Insertion::AddressTaken if *item.draft.draft.slug() == SlugChoice::Generate => {
                        self.build(item.index, item.draft)?;
                        continue;
                    }
                    Insertion::AddressTaken => self.taken_by(item.index, &link),
                    Insertion::GroupMissing => Refusal::GroupNotFound,
                    Insertion::LimitReached => {
                        Refusal::PlanLimitReached { resource: PlanResource::Links, limit }
                    }
                };
                self.settle(item.index, Err(refusal.into()));
            }
            if self.waiting.is_empty() {
                return self.name_existing(work).await;
            }
        }
        Err(AppError::NoFreeSlug { attempts: DRAWS })
    }

    async fn write_content(&self, work: &mut dyn UnitOfWork, link: &Link) -> Result<(), AppError> {
        match (link, self.page) {
            (Link::Landing(landing), Some(page)) if *page != PageContent::default() => {
                Ok(work.write_page_content(self.caller.account_id(), landing.id, page).await?)
            }
            (Link::Landing(_) | Link::Redirect(_), _) => Ok(()),
        }
    }

    /// What stands in the way of an item's link: an item of this batch, or a link that was there before. Which link that
    /// is, is for [`name_existing`](Self::name_existing) to say.
    fn taken_by(&mut self, index: usize, link: &Link) -> Refusal {
        let Some(address) = link.placement().address() else {
            return Refusal::AddressTaken { existing: None };
        };
        if self.claimed.contains(&address) {
            return Refusal::DuplicateSlugInBatch;
        }
        self.taken.push((index, address));
        Refusal::AddressTaken { existing: None }
    }

    /// Names the caller's own links that have the addresses which were taken (D20): one question for the whole batch.
    async fn name_existing(&mut self, work: &mut dyn UnitOfWork) -> Result<(), AppError> {
        let taken = std::mem::take(&mut self.taken);
        if taken.is_empty() {
            return Ok(());
        }
        let addresses: HashSet<&Address> = taken.iter().map(|(_, address)| address).collect();
        let addresses: Vec<Address> = addresses.into_iter().cloned().collect();
        let found = work.links_at(self.caller.account_id(), &addresses).await?;
        let found: HashMap<Address, LinkId> = found.into_iter().collect();
        for (index, address) in taken {
            if let Some(id) = found.get(&address) {
                self.settle(index, Err(Refusal::AddressTaken { existing: Some(*id) }.into()));
            }
        }
        Ok(())
    }

    fn settle(&mut self, index: usize, outcome: Result<D::Link, Rejection>) {
        if let Some(place) = self.outcomes.get_mut(index) {
            *place = Some(outcome);
        }
    }
}

fn draw_slug(app: &Application) -> Result<Slug, AppError> {
    let mut bytes = [0; 16];
    app.randomness.fill(&mut bytes)?;
    Ok(Slug::from_random(bytes))
}
