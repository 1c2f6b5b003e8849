//! Importing: making of each record the group or the link that it describes, unless it is there already.

use std::collections::BTreeSet;

use futures_util::{StreamExt, stream};
use signpost_domain::{
    AccountId, Address, Batch, Group, GroupId, HostBlocklist, Link, LinkContext, Plan, PlanResource, Refusal,
};

use super::draws::DRAWS;
use super::entry::{Entry, NewLink, Refused, Run};
use super::group_entry::GroupEntry;
use super::insertion::{GroupInsertion, LinkInsertion, insert_groups, insert_links};
use super::named_groups::NamedGroups;
use super::occupancy::{Found, look, may_be_occupied};
use super::outcome::{Imported, ImportedRow};
use super::own_addresses::OwnAddresses;
use super::record::ImportRow;
use super::rehearsal::Rehearsal;
use super::results::Results;
use crate::accounts::{OperatorError, require_plan};
use crate::application::Application;
use crate::links::LinkRules;
use crate::ports::{Insertion, StoreError};

/// How many rows are looked up at once.
const LOOKED_UP_AT_ONCE: usize = 8;

/// Whether an import writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportMode {
    /// It creates what is not there.
    Write,
    /// It only says what would become of each row. What the store alone decides, under concurrency, it cannot know.
    Rehearse,
}

/// An import into an account that is under way.
///
/// What a row describes is there already if the account has something with the row's id; else if it has a link at the
/// row's address; else, for a row without id and slug, if it has a link at one of the slugs that the row leads to. Then
/// it is compared and never changed, so a second import of the same file changes nothing, and an import that was cut short
/// is completed by another. Otherwise the row is judged by the rules of the API's creation, the plan's features and limits
/// included, and created with the id and the dates that it names.
pub struct Import {
    account: AccountId,
    plan: Plan,
    own: OwnAddresses,
    named_groups: NamedGroups,
    rehearsal: Option<Rehearsal>,
}

impl Import {
    /// Begins an import.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`]; [`OperatorError::NoSuchPlan`] if the account is on a plan that the configuration
    /// does not have. Or the store broke.
    pub async fn start(
        app: &Application,
        account: AccountId,
        mode: ImportMode,
    ) -> Result<Self, OperatorError> {
        let missing = || OperatorError::NoSuchAccount(account);
        let plan = app.store.account(account).await?.ok_or_else(missing)?.plan;
        let plan = require_plan(app, &plan)?.clone();
        let rehearsal = match mode {
            ImportMode::Write => None,
            ImportMode::Rehearse => {
                let usage = app.store.usage(account).await?.ok_or_else(missing)?;
                Some(Rehearsal::new(usage, plan.limits))
            }
        };
        let (own, named_groups) = (OwnAddresses::of(account), NamedGroups::of(account));
        Ok(Self { account, plan, own, named_groups, rehearsal })
    }

    /// How many groups were created, or would have been, because a row named them. They have no rows of their own.
    #[must_use]
    pub const fn groups_created(&self) -> u64 {
        self.named_groups.created()
    }

    /// Imports rows, in their order. What is new among them is created together: after a crash, all of it is there or, for
    /// the groups and for the links, none. The answer says of each row, in the same order, what became of it.
    ///
    /// # Errors
    /// [`OperatorError::NoSuchAccount`] if it was deleted meanwhile. Or the store broke; the same file can be imported
    /// again.
    pub async fn rows(
        &mut self,
        app: &Application,
        rows: Batch<ImportRow>,
    ) -> Result<Vec<ImportedRow>, OperatorError> {
        let blocklist: &HostBlocklist = &app.target_blocklist.current();
        // Files name no pixels.
        let no_pixels = BTreeSet::new();
        let rules = LinkRules {
            app,
            account: self.account,
            features: self.plan.features,
            blocklist,
            known_pixels: &no_pixels,
        };
        let references: Vec<_> =
            rows.iter().filter_map(|row| row.record.as_ref().ok()?.named_domain()).collect();
        let named_domains = rules.look_up(&rules.custom_hostnames(&references)).await?;
        let context = &rules.context(&named_domains);
        let mut results = Results::new(rows.iter().map(|row| row.line));
        let mut run = Run::default();
        for (index, ImportRow { line: _, record }) in rows.into_items().into_iter().enumerate() {
            let entry = match record {
                Ok(record) => Entry::read(record, context).map_err(Imported::from),
                Err(message) => Err(Imported::unreadable(message)),
            };
            match entry {
                Ok(entry) => {
                    if let Some(id) = entry.id()
                        && !run.ids.insert(id)
                    {
                        // An earlier row may be about to create what this one names.
                        self.run(&rules, context, std::mem::take(&mut run), &mut results).await?;
                        run.ids.insert(id);
                    }
                    run.add(index, entry);
                }
                Err(outcome) => results.refuse(index, outcome),
            }
        }
        self.run(&rules, context, run, &mut results).await?;
        Ok(results.all()?)
    }

    async fn run(
        &mut self,
        rules: &LinkRules<'_>,
        context: &LinkContext<'_>,
        run: Run,
        results: &mut Results,
    ) -> Result<(), OperatorError> {
        let Run { groups, links, ids: _ } = run;
        self.groups(rules.app, context, groups, results).await?;
        self.links(rules, context, links, results).await
    }

    async fn groups(
        &mut self,
        app: &Application,
        context: &LinkContext<'_>,
        entries: Vec<(usize, GroupEntry)>,
        results: &mut Results,
    ) -> Result<(), OperatorError> {
        let mut new = vec![];
        for (index, entry) in entries {
            match self.group(app, entry.id).await? {
                Some(group) => {
                    results.group(index, Imported::compared(entry.differences(&group)), entry.id);
                }
                None => new.push((index, entry.create(context.now))),
            }
        }
        if let Some(rehearsal) = &mut self.rehearsal {
            for (index, group) in new {
                let id = group.id;
                results.group(index, rehearsal.create_group(group), id);
            }
            return Ok(());
        }
        let limit = self.plan.limits.of(PlanResource::Groups);
        let (indices, groups): (Vec<_>, Vec<_>) = new.into_iter().unzip();
        let insertions = insert_groups(app, self.account, &groups, limit).await?;
        for ((index, group), insertion) in indices.into_iter().zip(groups).zip(insertions) {
            match insertion {
                Some(GroupInsertion::Done) => {
                    self.named_groups.add(&group);
                    results.group(index, Imported::Created, group.id);
                }
                Some(GroupInsertion::LimitReached) => {
                    results.refuse(index, Imported::groups_limit_reached(limit));
                }
                None => results.refuse(index, Imported::untakable()),
            }
        }
        Ok(())
    }

    async fn group(&self, app: &Application, id: GroupId) -> Result<Option<Group>, StoreError> {
        if let Some(group) = self.rehearsal.as_ref().and_then(|rehearsal| rehearsal.group(id)) {
            return Ok(Some(group.clone()));
        }
        app.store.group(self.account, id).await
    }

    async fn links(
        &mut self,
        rules: &LinkRules<'_>,
        context: &LinkContext<'_>,
        entries: Vec<NewLink>,
        results: &mut Results,
    ) -> Result<(), OperatorError> {
        let (app, account) = (rules.app, self.account);
        let rehearsed = self.rehearsal.iter().flat_map(Rehearsal::groups);
        let (entries, ambiguous) = self.named_groups.look_up(app, rehearsed, entries, context.now).await?;
        for (index, outcome) in ambiguous {
            results.refuse(index, outcome);
        }
        let looks = entries.iter().map(|entry| look(app, account, entry, context));
        let found: Vec<_> = stream::iter(looks).buffered(LOOKED_UP_AT_ONCE).collect().await;
        let (mut new, mut refused) = (vec![], vec![]);
        for (entry, found) in entries.into_iter().zip(found) {
            let index = entry.index;
            let earlier = self.rehearsal.as_ref().and_then(|rehearsal| {
                entry.link.id.and_then(|id| rehearsal.compared_by_id(id, entry.fingerprint))
            });
            if let Some(outcome) = earlier {
                results.refuse(index, outcome);
                continue;
            }
            match self.judge(app, context, entry, found?).await? {
                Judgement::There { link, outcome } => results.link(app, index, outcome, &link),
                Judgement::Refused(row) => refused.push(row),
                Judgement::New(entry, link) => new.push((*entry, *link)),
            }
        }
        if self.rehearsal.is_some() {
            return self.rehearse(app, new, refused, results).await;
        }
        refused.extend(self.create(rules, new, results).await?);
        // Meanwhile, or by another of these rows, what a row describes may have come to be.
        for Refused { entry, address, outcome } in refused {
            match self.occupant(app, address).await? {
                Some(link) => {
                    let outcome = Imported::compared(entry.link.differences(&link, context));
                    results.link(app, entry.index, outcome, &link);
                }
                None => results.refuse(entry.index, outcome),
            }
        }
        Ok(())
    }

    /// Whether what an entry describes is there, and otherwise the link to be created.
    async fn judge(
        &mut self,
        app: &Application,
        context: &LinkContext<'_>,
        entry: NewLink,
        found: Found,
    ) -> Result<Judgement, OperatorError> {
        let compared = |link: Link| {
            let outcome = Imported::compared(entry.link.differences(&link, context));
            Judgement::There { link: Box::new(link), outcome }
        };
        let Found { by_id, mut is_occupied } = found;
        if let Some(link) = by_id {
            return Ok(compared(link));
        }
        let mut slug = entry.first_slug(self.account);
        let mut attempt = 0;
        let is_taken = loop {
            let address = entry.link.address(slug.clone(), context);
            let Some(address) = address.filter(|_| is_occupied) else { break false };
            match self.own.link_at(app, &address).await? {
                Some(link) if !entry.link.wants_a_slug() => return Ok(compared(link)),
                Some(link) if entry.link.differences(&link, context).is_empty() => return Ok(compared(link)),
                None if !entry.link.wants_a_slug() => break true,
                // Some other link happens to have the slug.
                Some(_) | None => {}
            }
            attempt += 1;
            if attempt == DRAWS {
                break true;
            }
            let next = entry.fingerprint.slug(self.account, attempt);
            is_occupied = match entry.link.address(Some(next.clone()), context) {
                Some(address) => may_be_occupied(app, &address, context).await?,
                None => false,
            };
            slug = Some(next);
        };
        let fresh = match entry.link.id {
            Some(id) => id.to_bytes(),
            None => entry.link.dated(app.ids.next_bits()),
        };
        let address = entry.link.address(slug.clone(), context);
        let outcome = match entry.link.create(fresh, slug, context) {
            Err(rejection) => rejection.into(),
            Ok(_) if is_taken => Refusal::AddressTaken { existing: None }.into(),
            Ok(link) => return Ok(Judgement::New(Box::new(entry), Box::new(link))),
        };
        Ok(Judgement::Refused(Refused { entry, address, outcome }))
    }

    async fn rehearse(
        &mut self,
        app: &Application,
        new: Vec<(NewLink, Link)>,
        mut refused: Vec<Refused>,
        results: &mut Results,
    ) -> Result<(), OperatorError> {
        for (entry, link) in new {
            let missing = link.group_id().and_then(|id| self.named_groups.missing(id)).cloned();
            let has_its_group = match link.group_id() {
                Some(id) if missing.is_none() => self.group(app, id).await?.is_some(),
                Some(_) | None => true,
            };
            let Some(rehearsal) = &mut self.rehearsal else { continue };
            let mut outcome = Imported::WouldCreate;
            if let Some(group) = missing {
                outcome = rehearsal.create_group(group.clone());
                if outcome == Imported::WouldCreate {
                    self.named_groups.add(&group);
                }
            }
            if outcome == Imported::WouldCreate {
                outcome = rehearsal.create_link(&link, entry.fingerprint, has_its_group);
            }
            if outcome.code().is_some() {
                refused.push(Refused { entry, address: link.placement().address(), outcome });
            } else {
                results.rehearsed(app, entry.index, outcome, entry.link.id, &link);
            }
        }
        for Refused { entry, address, outcome } in refused {
            let earlier = self.rehearsal.as_ref().and_then(|rehearsal| {
                address.and_then(|address| rehearsal.compared_by_address(&address, entry.fingerprint))
            });
            results.refuse(entry.index, earlier.unwrap_or(outcome));
        }
        Ok(())
    }

    /// Creates links, and gives back those that the store refused.
    async fn create(
        &mut self,
        rules: &LinkRules<'_>,
        new: Vec<(NewLink, Link)>,
        results: &mut Results,
    ) -> Result<Vec<Refused>, OperatorError> {
        let groups_limit = self.plan.limits.of(PlanResource::Groups);
        let groups = new.iter().filter_map(|(_, link)| link.group_id()).collect();
        let without_group = self.named_groups.create_missing(rules.app, groups, groups_limit).await?;
        let mut refused = vec![];
        let (mut entries, mut links) = (vec![], vec![]);
        for (entry, link) in new {
            let address = link.placement().address();
            if let Some(outcome) = link.group_id().and_then(|id| without_group.get(&id)) {
                refused.push(Refused { entry, address, outcome: outcome.clone() });
            } else {
                entries.push(entry);
                links.push(link);
            }
        }
        let limit = self.plan.limits.of(PlanResource::Links);
        let insertions = insert_links(rules, &links, limit).await?;
        for ((entry, link), insertion) in entries.into_iter().zip(links).zip(insertions) {
            let outcome = match insertion {
                Some(LinkInsertion::Judged(Insertion::Done)) => {
                    self.own.add(&link);
                    results.link(rules.app, entry.index, Imported::Created, &link);
                    continue;
                }
                Some(LinkInsertion::Judged(Insertion::GroupMissing)) => Refusal::GroupNotFound.into(),
                Some(LinkInsertion::Judged(Insertion::LimitReached)) => {
                    Refusal::PlanLimitReached { resource: PlanResource::Links, limit }.into()
                }
                Some(LinkInsertion::Judged(Insertion::AddressTaken)) => {
                    Refusal::AddressTaken { existing: None }.into()
                }
                Some(LinkInsertion::DomainGone) => Refusal::DomainNotFound.into(),
                Some(LinkInsertion::DomainNotActive) => Refusal::DomainNotActive.into(),
                None => Imported::untakable(),
            };
            refused.push(Refused { entry, address: link.placement().address(), outcome });
        }
        Ok(refused)
    }

    /// The account's link at an address.
    async fn occupant(
        &mut self,
        app: &Application,
        address: Option<Address>,
    ) -> Result<Option<Link>, StoreError> {
        let Some(address) = address else { return Ok(None) };
        if app.store.published_link(&address).await?.is_none() {
            return Ok(None);
        }
        self.own.link_at(app, &address).await
    }
}

enum Judgement {
    There { link: Box<Link>, outcome: Imported },
    Refused(Refused),
    New(Box<NewLink>, Box<Link>),
}
